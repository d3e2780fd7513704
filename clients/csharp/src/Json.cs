using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Text;

namespace FeClient
{
    /// <summary>
    /// A value of JSON: what is sent and what is answered. No amount becomes a binary float. What is not there is a value
    /// that is missing, so that a path can be followed without checks: `answer["totals"]["montoTotal"].Amount`.
    /// </summary>
    public sealed class Json : IEnumerable<Json>
    {
        private sealed class Number { internal string Digits; }

        private const int Deepest = 100;
        private static readonly Json Missing = new Json(null);
        private static readonly Json[] Nothing = new Json[0];
        private readonly object value; // a Dictionary, a List, a string, a Number, a bool, or null

        private Json(object value) { this.value = value; }

        /// <summary>
        /// Convert requests of Types, anonymous objects, dictionaries, lists, texts, whole numbers, decimal, bool and
        /// null. Throws ArgumentException for a double or a float: its digits are not those that were typed.
        /// </summary>
        public static Json Of(object given) => Of(given, "");

        private static Json Of(object given, string path)
        {
            if (given is Json json) return json;
            if (given is Types.Request request) return request.ToJson();
            if (given == null || given is string || given is bool) return new Json(given);
            if (given is decimal || given is int || given is long || given is short || given is byte)
                return new Json(new Number { Digits = ((IFormattable)given).ToString(null, CultureInfo.InvariantCulture) });
            if (given is double || given is float)
                throw new ArgumentException(path + " is a binary float: give a decimal or a text such as \"118.50\"");
            var members = new Dictionary<string, Json>();
            if (given is IDictionary map)
            {
                foreach (DictionaryEntry each in map) members[(string)each.Key] = Of(each.Value, Below(path, each.Key));
                return new Json(members);
            }
            if (given is IEnumerable list)
                return new Json(list.Cast<object>().Select((each, place) => Of(each, path + "[" + place + "]")).ToList());
            foreach (PropertyInfo property in given.GetType().GetProperties())
                members[property.Name] = Of(property.GetValue(given, null), Below(path, property.Name));
            return new Json(members);
        }

        private static string Below(string path, object name) => path.Length == 0 ? "" + name : path + "." + name;

        /// <summary>Read a text. Throws FormatException where it is not JSON.</summary>
        public static Json Parse(string text) => new Reader(text).Whole();

        /// <summary>The member of this name; missing where there is none.</summary>
        public Json this[string name] => Members.TryGetValue(name, out Json found) ? found : Missing;

        /// <summary>The item at this place, from 0; missing where there is none.</summary>
        public Json this[int place] => place >= 0 && place < Items.Count ? Items[place] : Missing;

        /// <summary>The items of a list; empty for anything else.</summary>
        public IReadOnlyList<Json> Items => value as IReadOnlyList<Json> ?? Nothing;

        /// <summary>The members of an object; empty for anything else.</summary>
        public IReadOnlyDictionary<string, Json> Members =>
            value as IReadOnlyDictionary<string, Json> ?? new Dictionary<string, Json>();

        public IEnumerator<Json> GetEnumerator() => Items.GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

        /// <summary>The text, or the number as it was written; null for anything else.</summary>
        public string Text => value is Number number ? number.Digits : value as string;

        /// <summary>The number, also of a text such as "118.50"; null where there is none.</summary>
        public decimal? Amount => Text == null ? (decimal?)null : decimal.Parse(Text, NumberStyles.Float, CultureInfo.InvariantCulture);

        public bool IsTrue => value is bool yes && yes;

        /// <summary>Whether this is false, and not merely missing.</summary>
        public bool IsFalse => value is bool yes && !yes;

        /// <summary>Whether this is null or missing.</summary>
        public bool IsNull => value == null;

        internal bool IsObject => value is IReadOnlyDictionary<string, Json>;

        /// <summary>This as JSON. A number with a fraction is written as a text, which the service takes as it is.</summary>
        public override string ToString()
        {
            var written = new StringBuilder();
            Write(written);
            return written.ToString();
        }

        private void Write(StringBuilder to)
        {
            if (IsObject)
            {
                to.Append('{');
                foreach (KeyValuePair<string, Json> member in Members)
                {
                    if (to[to.Length - 1] != '{') to.Append(',');
                    Quote(member.Key, to);
                    to.Append(':');
                    member.Value.Write(to);
                }
                to.Append('}');
            }
            else if (value is IReadOnlyList<Json>)
            {
                to.Append('[');
                for (int place = 0; place < Items.Count; place++)
                {
                    if (place > 0) to.Append(',');
                    Items[place].Write(to);
                }
                to.Append(']');
            }
            else if (value is Number number && number.Digits.IndexOfAny(new[] { '.', 'e', 'E' }) < 0) to.Append(number.Digits);
            else if (Text != null) Quote(Text, to);
            else to.Append(value == null ? "null" : IsTrue ? "true" : "false");
        }

        private static void Quote(string text, StringBuilder to)
        {
            to.Append('"');
            foreach (char c in text)
            {
                if (c == '"' || c == '\\') to.Append('\\').Append(c);
                else if (c < ' ' || char.IsSurrogate(c)) to.Append("\\u").Append(((int)c).ToString("x4"));
                else to.Append(c);
            }
            to.Append('"');
        }

        private sealed class Reader
        {
            private readonly string text;
            private int at;

            internal Reader(string text) { this.text = text; }

            internal Json Whole()
            {
                Json read = Value(0);
                while (at < text.Length && IsWhite(text[at])) at++;
                if (at < text.Length) throw Broken("goes on");
                return read;
            }

            private Json Value(int depth)
            {
                char c = Next();
                if (depth > Deepest) throw Broken("is too deep");
                if (c == '{') return Object(depth);
                if (c == '[') return List(depth);
                if (c == '"') return new Json(String());
                if (c == '-' || (c >= '0' && c <= '9')) return new Json(Digits());
                foreach (var literal in new Dictionary<string, object> { { "true", true }, { "false", false }, { "null", null } })
                {
                    if (string.CompareOrdinal(text, at, literal.Key, 0, literal.Key.Length) != 0) continue;
                    at += literal.Key.Length;
                    return new Json(literal.Value);
                }
                throw Broken("is no value");
            }

            private Json Object(int depth)
            {
                var members = new Dictionary<string, Json>();
                for (at++; !Closes('}', members.Count == 0);)
                {
                    if (Next() != '"') throw Broken("has no name");
                    string name = String();
                    if (Next() != ':') throw Broken("has no colon");
                    at++;
                    members[name] = Value(depth + 1);
                }
                return new Json(members);
            }

            private Json List(int depth)
            {
                var items = new List<Json>();
                for (at++; !Closes(']', items.Count == 0);) items.Add(Value(depth + 1));
                return new Json(items);
            }

            /// <summary>Whether this bracket comes; else take the comma before what follows.</summary>
            private bool Closes(char bracket, bool isFirst)
            {
                char c = Next();
                if (c == bracket)
                {
                    at++;
                    return true;
                }
                if (isFirst) return false;
                if (c != ',') throw Broken("has no comma");
                at++;
                if (Next() == bracket) throw Broken("ends with a comma");
                return false;
            }

            private string String()
            {
                var read = new StringBuilder();
                for (at++; at < text.Length; at++)
                {
                    char c = text[at];
                    if (c == '"')
                    {
                        at++;
                        return read.ToString();
                    }
                    if (c < ' ') throw Broken("has a control character");
                    if (c != '\\')
                    {
                        read.Append(c);
                        continue;
                    }
                    at++;
                    char escaped = at < text.Length ? text[at] : ' ';
                    int place = "\"\\/bfnrt".IndexOf(escaped);
                    int code = 0;
                    if (escaped == 'u' && at + 4 < text.Length && int.TryParse(text.Substring(at + 1, 4),
                        NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code))
                    {
                        read.Append((char)code);
                        at += 4;
                    }
                    else if (place >= 0) read.Append("\"\\/\b\f\n\r\t"[place]);
                    else throw Broken("has an escape that is none");
                }
                throw Broken("ends within a text");
            }

            private Number Digits()
            {
                int began = at;
                while (at < text.Length && "+-.eE0123456789".IndexOf(text[at]) >= 0) at++;
                string digits = text.Substring(began, at - began);
                if (!double.TryParse(digits, NumberStyles.Float, CultureInfo.InvariantCulture, out _)) throw Broken("has no number");
                return new Number { Digits = digits };
            }

            private char Next()
            {
                while (at < text.Length && IsWhite(text[at])) at++;
                if (at == text.Length) throw Broken("ends too early");
                return text[at];
            }

            private static bool IsWhite(char c) => c == ' ' || c == '\t' || c == '\r' || c == '\n';

            private FormatException Broken(string how) => new FormatException("the JSON " + how + ", at " + at);
        }
    }
}
