using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace FeClient
{
    /// <summary>How a client is to behave; each has a usual value.</summary>
    public sealed class FeOptions
    {
        /// <summary>After which a call without an answer has failed.</summary>
        public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(30);

        public Retries Retries { get; set; } = new Retries();

        /// <summary>What messages come in: `es`, `en`.</summary>
        public string Language { get; set; }

        /// <summary>The service refuses at once a receipt that would not be sent; false: it ends as `error`.</summary>
        public bool Strict { get; set; } = true;

        /// <summary>Keeps the token for other processes: a program that is started for each sale needs it.</summary>
        public ITokenCache TokenCache { get; set; }

        // For tests: pauses, seconds that only go forward, and chance.
        internal Func<double, Task> Sleep = seconds => Task.Delay(TimeSpan.FromSeconds(seconds));
        internal Func<double> Clock = () => System.Diagnostics.Stopwatch.GetTimestamp() / (double)System.Diagnostics.Stopwatch.Frequency;
        internal Func<double> Chance = () => (Guid.NewGuid().GetHashCode() & 1023) / 1023.0;
    }

    /// <summary>
    /// How often a call is tried in all, and how many seconds it pauses between.
    ///
    /// A call whose answer was lost, or was 408, 429 or 5xx, is tried again only if doing it twice does what doing it once
    /// does. A call that could not connect is always tried again: nothing was sent. Where the service asks for more than
    /// `LongestPause` (`Retry-After`), the error is thrown at once.
    /// </summary>
    public sealed class Retries
    {
        public int Tries { get; set; } = 5;
        public double FirstPause { get; set; } = 0.5;
        public double LongestPause { get; set; } = 60;

        internal double? Pause(FeException error, int tried, bool isRepeatable, double chance)
        {
            bool mayHelp = error is AnswerLostException || error is ThrottledException || error is UnavailableException;
            if (tried >= Tries || !(error is ServerAwayException || (isRepeatable && mayHelp))) return null;
            if (error is ApiException api && api.RetryAfter != null)
                return api.RetryAfter <= LongestPause ? api.RetryAfter : null;
            return Math.Min(FirstPause * Math.Pow(2, tried - 1), LongestPause) * (1 - chance / 4);
        }
    }

    /// <summary>Keeps tokens where other processes find them: a key may log in five times a minute only.</summary>
    public interface ITokenCache
    {
        /// <summary>What was kept under this key, or null.</summary>
        string Get(string key);

        /// <summary>Keep a value, for so many seconds; it holds when it ends.</summary>
        void Set(string key, string value, long seconds);

        /// <summary>Let one process at a time go on until what this returns is disposed of; null: the cache cannot.</summary>
        IDisposable Lock(string key);
    }

    /// <summary>Files in a folder that only this user reads.</summary>
    public sealed class FileTokenCache : ITokenCache
    {
        private readonly string folder;

        [DllImport("libc", SetLastError = true)]
        private static extern int chmod(string path, uint mode);

        /// <summary>`folder` is made where it is missing; the usual one is below the user's local application data.</summary>
        public FileTokenCache(string folder = null)
        {
            this.folder = folder
                ?? Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData), "fe-client");
            Directory.CreateDirectory(this.folder);
            // On Windows the user's own folders have such rights already.
            if (Path.DirectorySeparatorChar == '/' && chmod(this.folder, 0x1C0) != 0) // rwx------
                throw new IOException(this.folder + " must be a folder of this user");
        }

        public string Get(string key) => File.Exists(Name(key)) ? File.ReadAllText(Name(key)) : null;

        public void Set(string key, string value, long seconds)
        {
            string written = Name(key) + "." + Guid.NewGuid().ToString("N");
            File.WriteAllText(written, value);
            if (File.Exists(Name(key))) File.Replace(written, Name(key), null);
            else File.Move(written, Name(key));
        }

        public IDisposable Lock(string key)
        {
            for (int tried = 0; ; tried++)
            {
                FileStream file = null;
                try
                {
                    // Mono does not keep other processes from a file that is not shared, and macOS does not lock a part.
                    file = new FileStream(Name(key) + ".lock", FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
                    file.Lock(0, 1);
                    return file;
                }
                catch (PlatformNotSupportedException) when (file != null)
                {
                    return file;
                }
                catch (IOException) when (tried < 600)
                {
                    file?.Dispose();
                    Thread.Sleep(100);
                }
            }
        }

        private string Name(string key) => Path.Combine(folder, key + ".json");
    }
}
