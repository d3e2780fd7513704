using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace FeClient
{
    /// <summary>One client's standing with the service: its token, and how it calls, and calls again.</summary>
    internal sealed class Session
    {
        internal const string JsonType = "application/json";
        private const string Prefix = "/api/v1/fe";
        private const long RenewedBefore = 60; // seconds before its end at which a token is renewed
        private const int Excerpt = 200;

        private readonly string root;
        private readonly string credentials;
        private readonly string cacheKey;
        private readonly FeOptions options;
        private readonly SemaphoreSlim alone = new SemaphoreSlim(1);
        // Writes have connections of their own: on one that was used before, a transport may repeat a POST by itself.
        private readonly HttpClient reads = Client(false);
        private readonly HttpClient writes = Client(true);
        private string token;
        private double renewAt;

        internal sealed class Asked
        {
            internal string Method = "GET";
            internal string Path;
            internal IDictionary<string, object> Query;
            internal Json Body;
            internal bool IsRepeatable = true;
            internal double Longer;
            internal string RequestId;
            internal string MediaType = JsonType;
        }

        internal sealed class Answer
        {
            internal Json Body;
            internal byte[] Bytes;
            internal double? RetryAfter;
        }

        internal Session(string baseUrl, string keyId, string secret, FeOptions options)
        {
            if (!Uri.TryCreate(baseUrl, UriKind.Absolute, out Uri address) || !address.Scheme.StartsWith("http"))
                throw new ArgumentException("the base URL is missing, such as https://fe.example.com");
            root = baseUrl.TrimEnd('/') + (address.AbsolutePath.Trim('/').Length == 0 ? Prefix : "");
            credentials = Json.Of(new { apiKeyId = keyId, apiSecret = secret }).ToString();
            this.options = options;
            using (SHA256 hash = SHA256.Create())
            {
                byte[] digest = hash.ComputeHash(Encoding.UTF8.GetBytes(root + " " + credentials));
                cacheKey = "fe-token-" + string.Concat(digest.Take(16).Select(each => each.ToString("x2")));
            }
        }

        internal double Now => options.Clock();

        internal Task Sleep(double seconds) => options.Sleep(seconds);

        /// <summary>Call with a token, which is renewed where it is over; again where that is safe.</summary>
        internal async Task<Answer> Exchange(Asked asked, CancellationToken cancel)
        {
            // Once: every try sends the same bytes. A write without a body is one that a transport may repeat by itself.
            string content = asked.Body?.ToString() ?? (asked.Method == "GET" || asked.Method == "DELETE" ? null : "{}");
            string url = root + asked.Path + QueryOf(asked.Query);
            TimeSpan patience = options.Timeout + TimeSpan.FromSeconds(asked.Longer);
            string refused = null;
            for (int tried = 1; ;)
            {
                string used = await UsableToken(refused, cancel).ConfigureAwait(false);
                double? pause;
                try
                {
                    return await Send(asked.Method, url, content, used, patience, asked.MediaType, cancel).ConfigureAwait(false);
                }
                catch (WrongCredentialsException error)
                {
                    // Over before we thought so, or revoked: a new one tells.
                    error.ClientRequestId = asked.RequestId;
                    if (refused != null) throw;
                    refused = used;
                    continue;
                }
                catch (FeException error)
                {
                    error.ClientRequestId = asked.RequestId;
                    pause = options.Retries.Pause(error, tried++, asked.IsRepeatable, options.Chance());
                    if (pause == null) throw;
                }
                await Sleep(pause.Value).ConfigureAwait(false);
                cancel.ThrowIfCancellationRequested();
            }
        }

        /// <summary>Get a new token, whatever there is.</summary>
        internal async Task<Json> Login(CancellationToken cancel)
        {
            for (int tried = 1; ; tried++)
            {
                double began = Now;
                double? pause;
                try
                {
                    Answer answer = await Send("POST", root + "/login", credentials, null, options.Timeout, JsonType, cancel)
                        .ConfigureAwait(false);
                    long lasts = (long)answer.Body["expiresIn"].Amount.Value - RenewedBefore;
                    token = answer.Body["accessToken"].Text;
                    renewAt = began + lasts;
                    options.TokenCache?.Set(cacheKey, Json.Of(new { token, until = UnixTime() + lasts }).ToString(), lasts);
                    return answer.Body;
                }
                catch (FeException error)
                {
                    pause = options.Retries.Pause(error, tried, true, options.Chance());
                    if (pause == null) throw;
                }
                await Sleep(pause.Value).ConfigureAwait(false);
            }
        }

        /// <summary>The token, one that was not refused: one task logs in, and the others wait for it.</summary>
        private async Task<string> UsableToken(string refused, CancellationToken cancel)
        {
            await alone.WaitAsync(cancel).ConfigureAwait(false);
            try
            {
                if (token != null && token != refused && Now < renewAt) return token;
                using (options.TokenCache?.Lock(cacheKey))
                {
                    string text = options.TokenCache?.Get(cacheKey);
                    Json kept = KeptIn(text);
                    double left = (double)(kept["until"].Amount ?? 0) - UnixTime();
                    if (kept["token"].Text == null || kept["token"].Text == refused || left <= 0)
                        await Login(cancel).ConfigureAwait(false);
                    else
                    {
                        token = kept["token"].Text;
                        renewAt = Now + left;
                    }
                    return token;
                }
            }
            finally
            {
                alone.Release();
            }
        }

        /// <summary>What a cache kept; nothing where it is broken, as a file may be after a power cut.</summary>
        private static Json KeptIn(string text)
        {
            try
            {
                return Json.Parse(text ?? "{}");
            }
            catch (FormatException)
            {
                return Json.Parse("{}");
            }
        }

        private async Task<Answer> Send(string method, string url, string content, string bearer, TimeSpan patience,
            string mediaType, CancellationToken cancel)
        {
            using (var request = new HttpRequestMessage(new HttpMethod(method), new Uri(url)))
            using (var ending = CancellationTokenSource.CreateLinkedTokenSource(cancel))
            {
                ending.CancelAfter(patience);
                request.Headers.Accept.ParseAdd(mediaType);
                if (content != null) request.Content = new StringContent(content, new UTF8Encoding(false), JsonType);
                if (bearer != null) request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", bearer);
                if (options.Language != null) request.Headers.AcceptLanguage.ParseAdd(options.Language);
                try
                {
                    HttpClient http = method == "GET" ? reads : writes;
                    using (HttpResponseMessage response = await http.SendAsync(request, ending.Token).ConfigureAwait(false))
                    {
                        byte[] bytes = await response.Content.ReadAsByteArrayAsync().ConfigureAwait(false);
                        return Read(response, bytes, mediaType);
                    }
                }
                catch (Exception error) when (!(error is FeException) && !cancel.IsCancellationRequested)
                {
                    if (ending.IsCancellationRequested) throw new TimedOutException(error);
                    if (WasNeverSent(error)) throw new ServerAwayException(error);
                    throw new AnswerLostException("the answer was lost: " + error.Message, error);
                }
            }
        }

        private static bool WasNeverSent(Exception error)
        {
            for (Exception each = error; each != null; each = each.InnerException)
            {
                if (each is AuthenticationException) return true;
                if (each is WebException web && (web.Status == WebExceptionStatus.ConnectFailure
                    || web.Status == WebExceptionStatus.NameResolutionFailure
                    || web.Status == WebExceptionStatus.TrustFailure
                    || web.Status == WebExceptionStatus.SecureChannelFailure)) return true;
                if (each is SocketException socket && (socket.SocketErrorCode == SocketError.ConnectionRefused
                    || socket.SocketErrorCode == SocketError.HostNotFound
                    || socket.SocketErrorCode == SocketError.TryAgain
                    || socket.SocketErrorCode == SocketError.NoData
                    || socket.SocketErrorCode == SocketError.HostUnreachable
                    || socket.SocketErrorCode == SocketError.NetworkUnreachable)) return true;
            }
            return false;
        }

        private static Answer Read(HttpResponseMessage response, byte[] bytes, string mediaType)
        {
            string text = Encoding.UTF8.GetString(bytes);
            string excerpt = text.Substring(0, Math.Min(Excerpt, text.Length));
            int status = (int)response.StatusCode;
            bool isJson = mediaType == JsonType;
            Json body = Json.Of(null);
            if (isJson || status >= 400)
            {
                try
                {
                    body = Json.Parse(text);
                }
                catch (FormatException)
                {
                    // Not the service's: said below.
                }
            }
            double? again = RetryAfter(response);
            if (status >= 400)
            {
                response.Headers.TryGetValues("X-Request-Id", out IEnumerable<string> ids);
                throw ApiException.Of(status, body, excerpt, ids?.FirstOrDefault(), again);
            }
            bool isRight = isJson ? body.IsObject : response.Content.Headers.ContentType?.MediaType == mediaType;
            if (status < 200 || status >= 300 || !isRight) throw new BrokenAnswerException(status, excerpt);
            return new Answer { Body = body, Bytes = bytes, RetryAfter = again };
        }

        /// <summary>Seconds to wait: as a number, or as a proxy may say, as a date beside its own `Date`.</summary>
        private static double? RetryAfter(HttpResponseMessage response)
        {
            RetryConditionHeaderValue said = response.Headers.RetryAfter;
            if (said?.Delta != null) return said.Delta.Value.TotalSeconds;
            if (said?.Date == null || response.Headers.Date == null) return null;
            return Math.Max(0, (said.Date.Value - response.Headers.Date.Value).TotalSeconds);
        }

        private static HttpClient Client(bool closes)
        {
            // Redirects would take the token elsewhere.
            var client = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false });
            client.Timeout = Timeout.InfiniteTimeSpan;
            client.DefaultRequestHeaders.ConnectionClose = closes;
            client.DefaultRequestHeaders.ExpectContinue = false;
            return client;
        }

        private static string QueryOf(IDictionary<string, object> query)
        {
            IEnumerable<string> said = (query ?? new Dictionary<string, object>()).Where(each => each.Value != null)
                .Select(each => Uri.EscapeDataString(each.Key) + "=" + Uri.EscapeDataString(SaidAs(each.Value)));
            string text = string.Join("&", said);
            return text.Length == 0 ? "" : "?" + text;
        }

        private static string SaidAs(object value) =>
            value is bool yes ? (yes ? "true" : "false") : Convert.ToString(value, System.Globalization.CultureInfo.InvariantCulture);

        private static long UnixTime() => DateTimeOffset.UtcNow.ToUnixTimeSeconds();
    }
}
