using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

namespace FeClient
{
    /// <summary>Whether a call was made by the service: to be asked before anything in it is believed.</summary>
    public static class Webhook
    {
        private const long Tolerance = 300;

        /// <summary>
        /// Check a call by its Standard Webhooks headers, and return its event.
        ///
        /// `secret` is as it was shown, `whsec_` and all; `headers` have names in any case; `body` are the very bytes that
        /// came, before anything parsed them. Store a call once, under its `webhook-id`: one whose answer was lost comes
        /// again. Throws WebhookRefusedException: not ours, changed, or older than five minutes. Answer 401 then.
        /// </summary>
        public static Json Verify(string secret, IEnumerable<KeyValuePair<string, string>> headers, byte[] body) =>
            Verify(secret, headers, body, DateTimeOffset.UtcNow.ToUnixTimeSeconds());

        internal static Json Verify(string secret, IEnumerable<KeyValuePair<string, string>> headers, byte[] body, long now)
        {
            var given = headers.ToDictionary(each => each.Key.ToLowerInvariant(), each => each.Value);
            Func<string, string> Header = name => given.ContainsKey(name) ? given[name] : "";
            string moment = Header("webhook-timestamp");
            if (!Regex.IsMatch(moment, "^[0-9]{1,12}\\z")) throw new WebhookRefusedException("webhook-timestamp is no moment");
            if (Math.Abs(now - long.Parse(moment)) > Tolerance)
                throw new WebhookRefusedException("the call is too old, or a clock is wrong");
            byte[] key;
            try
            {
                key = Convert.FromBase64String(secret.StartsWith("whsec_", StringComparison.Ordinal) ? secret.Substring(6) : secret);
            }
            catch (FormatException error)
            {
                throw new ArgumentException("the secret is not one of a webhook", error);
            }
            // With an empty key anybody could sign.
            if (key.Length == 0) throw new ArgumentException("the secret is not one of a webhook");
            string right;
            using (var hmac = new HMACSHA256(key))
            {
                byte[] signed = Encoding.UTF8.GetBytes(Header("webhook-id") + "." + moment + ".").Concat(body).ToArray();
                right = "v1," + Convert.ToBase64String(hmac.ComputeHash(signed));
            }
            bool fits = false;
            foreach (string one in Header("webhook-signature").Split(' ')) fits |= IsSame(one, right);
            if (!fits) throw new WebhookRefusedException("no signature in webhook-signature fits");
            try
            {
                Json read = Json.Parse(Encoding.UTF8.GetString(body));
                if (read["event"].Text != null) return read;
            }
            catch (FormatException)
            {
                // Said below.
            }
            throw new WebhookRefusedException("the body is no event");
        }

        /// <summary>Compare in a time that does not tell how far two texts agree.</summary>
        private static bool IsSame(string one, string other)
        {
            int differs = one.Length ^ other.Length;
            for (int i = 0; i < Math.Min(one.Length, other.Length); i++) differs |= one[i] ^ other[i];
            return differs == 0;
        }
    }
}
