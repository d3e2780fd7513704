using System;
using System.Collections.Generic;
using System.Linq;

namespace FeClient
{
    /// <summary>Made from the service's description by `python -m clients.generate`: changes belong there.</summary>
    internal static class Members
    {
        internal static readonly string[] Item = { "format", "payload", "clientRequestId", "asUser", "asUserId", "keepSignature", "strict", "simulate", "sequence", "notify", "metadata", "xml" };
        internal static readonly string[] Simulate = { "outcome", "code", "seconds", "now" };
        internal static readonly string[] Webhook = { "url", "enabled", "events", "headers" };

        /// <summary>Refuse names that do not exist: the service would ignore them.</summary>
        internal static void RefuseUnknown(string what, IEnumerable<string> given, string[] members)
        {
            foreach (string name in given.Where(each => !members.Contains(each)))
            {
                string letters = name.Replace("_", "").Replace("-", "");
                string near = members.FirstOrDefault(each => each.Equals(letters, StringComparison.OrdinalIgnoreCase));
                string meant = near == null ? "there are " + string.Join(", ", members) : "did you mean " + near + "?";
                throw new ArgumentException(what + ": there is no " + name + "; " + meant);
            }
        }
    }
}
