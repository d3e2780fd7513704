using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace FeClient
{
    /// <summary>
    /// The service, for one API key. Threads may share it, and should: they share its token, too.
    ///
    /// Every call throws a FeException. A document is a payload (anonymous objects, dictionaries, Json, Types), or
    /// finished XML as a string. `GetAwaiter().GetResult()` is safe in a program without async: no call comes back to
    /// its context.
    /// </summary>
    public sealed class Fe
    {
        private static readonly string[] FinalStatuses = { "Aceptado", "Aceptado Condicional", "Rechazado", "error" };
        // Most receipts and bytes of one request; the service's own limit of bytes is 1 MiB.
        private const int BatchItems = 500;
        private const int BatchBytes = 1000000;
        private static readonly string[] Content =
        {
            "tipoEcf", "issuedFrom", "issuedTo", "totalFrom", "totalTo", "text", "from", "to", "encf", "rnc", "limit",
        };
        private static readonly string[] InvoiceFilter =
            Content.Concat(new[] { "state", "clientRequestId", "asUser", "metadata", "numberFate" }).ToArray();
        private static readonly string[] ReceivedFilter = Content.Concat(new[] { "approvalStatus" }).ToArray();
        private static readonly string[] RequestFilter = { "from", "to", "key", "status", "requestId", "limit" };
        private const int Decided = 100; // ids of one request of DecideAsync
        private const double LongestWait = 30;
        private const double AskAgain = 5;

        private readonly Session session;
        private readonly bool isStrict;

        /// <summary>
        /// Take where the service is and a key of it; nothing is sent yet. `baseUrl` ends with /api/v1/fe; of a bare host
        /// that is added.
        /// </summary>
        public Fe(string baseUrl, string keyId, string secret, FeOptions options = null)
        {
            options = options ?? new FeOptions();
            isStrict = options.Strict;
            session = new Session(baseUrl, keyId, secret, options);
        }

        /// <summary>Get a new token now. Every other call gets one by itself; this tells whether the key is good.</summary>
        public Task<Json> LoginAsync(CancellationToken cancel = default(CancellationToken)) => session.Login(cancel);

        /// <summary>
        /// Call anything that has no method here: `CallAsync("PUT", "/printing", new { footer = "Gracias" })`. A GET is
        /// repeated where that may help, anything else only where nothing was sent.
        /// </summary>
        public Task<Json> CallAsync(string method, string path, object body = null,
            CancellationToken cancel = default(CancellationToken)) =>
            Body(new Session.Asked
            {
                Method = method, Path = path, Body = body == null ? null : Json.Of(body), IsRepeatable = method == "GET",
            }, cancel);

        /// <summary>
        /// Submit a receipt. It is stored once, also when the call is repeated after a lost answer; its verdict comes later.
        ///
        /// With a `clientRequestId` of your own (your order's number) you may repeat the call yourself, tomorrow or in
        /// another process, without issuing twice; without one the client makes one for this call, and errors carry it.
        /// `metadata` are your own labels. Throws InvalidException with `Problems`, ReusedIdException, and what every call
        /// may throw.
        /// </summary>
        public async Task<Json> SubmitAsync(object document, string clientRequestId = null, string asUser = null,
            string asUserId = null, bool? strict = null, object simulate = null, string notify = null, string sequence = null,
            IDictionary<string, string> metadata = null, CancellationToken cancel = default(CancellationToken))
        {
            string id = clientRequestId ?? NewId();
            Dictionary<string, object> body = HandedIn(document, asUser, asUserId, simulate, sequence);
            body["strict"] = strict ?? isStrict;
            body["notify"] = notify;
            body["metadata"] = metadata;
            body["clientRequestId"] = id;
            Json taken = await Post("/invoices", body, id, cancel).ConfigureAwait(false);
            if (taken["bodyMatched"].IsFalse) throw new ReusedIdException(taken) { ClientRequestId = id };
            return taken;
        }

        /// <summary>
        /// Submit a receipt as `SubmitAsync` does, and wait for its verdict: `status` says what it was, `Rechazado` included.
        ///
        /// `untilSigned` waits for the signature alone: then it can be printed. Throws NoVerdictYetException after `timeout`
        /// (180 s). Then it is still on its way: go on with `WaitAsync`, or call this again with the same id.
        /// </summary>
        public async Task<Json> SubmitAndWaitAsync(object document, TimeSpan? timeout = null, bool untilSigned = false,
            string clientRequestId = null, string asUser = null, string asUserId = null, bool? strict = null,
            object simulate = null, string notify = null, string sequence = null, IDictionary<string, string> metadata = null,
            CancellationToken cancel = default(CancellationToken))
        {
            string id = clientRequestId ?? NewId();
            double ends = session.Now + Seconds(timeout);
            Json taken = await SubmitAsync(document, id, asUser, asUserId, strict, simulate, notify, sequence, metadata, cancel)
                .ConfigureAwait(false);
            try
            {
                return await WaitUntil(taken["taxLogId"].Text, ends, untilSigned, cancel).ConfigureAwait(false);
            }
            catch (FeException error)
            {
                error.ClientRequestId = id;
                throw;
            }
        }

        /// <summary>
        /// Wait until a submission has its verdict, or its signature. Troubles on the way are borne until `timeout` (180 s).
        ///
        /// Throws NotThereException where nothing of yours has that id, NoVerdictYetException after `timeout`, or the
        /// trouble that lasted until then.
        /// </summary>
        public Task<Json> WaitAsync(string trackOrId, TimeSpan? timeout = null, bool untilSigned = false,
            CancellationToken cancel = default(CancellationToken)) =>
            WaitUntil(trackOrId, session.Now + Seconds(timeout), untilSigned, cancel);

        private async Task<Json> WaitUntil(string trackOrId, double ends, bool untilSigned, CancellationToken cancel)
        {
            while (true)
            {
                double began = session.Now;
                int asked = (int)Math.Max(0, Math.Min(LongestWait, ends - began));
                FeException trouble;
                double? again;
                try
                {
                    Session.Answer answer = await session.Exchange(StatusOf(trackOrId, asked, untilSigned), cancel)
                        .ConfigureAwait(false);
                    Json seen = answer.Body;
                    if (Found(seen) == null) throw new NotThereException("nothing of yours has the id " + trackOrId);
                    bool isSigned = untilSigned && seen["readyToPrint"].IsTrue;
                    if (isSigned || FinalStatuses.Contains(seen["status"].Text)) return seen;
                    trouble = new NoVerdictYetException(seen);
                    again = answer.RetryAfter;
                }
                catch (FeException error) when (error is ServerAwayException || error is AnswerLostException
                    || error is ThrottledException || error is UnavailableException)
                {
                    trouble = error;
                    again = (error as ApiException)?.RetryAfter;
                }
                double now = session.Now;
                if (now >= ends) throw trouble;
                // After a whole wait ask again at once; after an early answer wait as the answer says.
                if (!(trouble is NoVerdictYetException) || asked <= 0 || now - began < asked)
                    await session.Sleep(Math.Min(ends - now, again ?? AskAgain)).ConfigureAwait(false);
                cancel.ThrowIfCancellationRequested();
            }
        }

        /// <summary>Ask how it stands with a submission, for up to `wait` seconds (30 at most); null: nothing has that id.</summary>
        public async Task<Json> StatusAsync(string trackOrId, int wait = 0, bool untilSigned = false,
            CancellationToken cancel = default(CancellationToken)) =>
            Found(await Body(StatusOf(trackOrId, wait == 0 ? (int?)null : wait, untilSigned), cancel).ConfigureAwait(false));

        /// <summary>Fetch the document of a submission: once signed, the legal proof. Null: nothing of yours has that id.</summary>
        public Task<Json> XmlAsync(string trackOrId, CancellationToken cancel = default(CancellationToken)) =>
            Find(One(trackOrId) + "/xml", cancel);

        /// <summary>Read every event of a submission, oldest first. Null: nothing of yours has that id.</summary>
        public Task<Json> TimelineAsync(string trackOrId, CancellationToken cancel = default(CancellationToken)) =>
            Find(One(trackOrId) + "/timeline", cancel);

        /// <summary>Print a receipt as PDF. Throws NotThereException, and ConflictException while it is not signed.</summary>
        public Task<byte[]> PdfAsync(string trackOrId, string layout = null, string language = null,
            CancellationToken cancel = default(CancellationToken)) =>
            Bytes(One(trackOrId) + "/pdf", "application/pdf", cancel, layout, language);

        /// <summary>Print a receipt as bytes for a receipt printer (ESC/POS). Throws as `PdfAsync` does.</summary>
        public Task<byte[]> TicketAsync(string trackOrId, string layout = null, string language = null, string qr = null,
            CancellationToken cancel = default(CancellationToken)) =>
            Bytes(One(trackOrId) + "/ticket", "application/octet-stream", cancel, layout, language, qr);

        /// <summary>Draw a receipt's QR code as PNG. Throws as `PdfAsync` does.</summary>
        public Task<byte[]> QrPngAsync(string trackOrId, CancellationToken cancel = default(CancellationToken)) =>
            Bytes(One(trackOrId) + "/qr.png", "image/png", cancel);

        /// <summary>Draw a receipt's QR code as SVG. Throws as `PdfAsync` does.</summary>
        public Task<byte[]> QrSvgAsync(string trackOrId, CancellationToken cancel = default(CancellationToken)) =>
            Bytes(One(trackOrId) + "/qr.svg", "image/svg+xml", cancel);

        /// <summary>List all problems of a receipt, without submitting it.</summary>
        public Task<Json> ValidateAsync(object document, string asUser = null, string asUserId = null, object simulate = null,
            string sequence = null, CancellationToken cancel = default(CancellationToken)) =>
            Post("/invoices/validate", HandedIn(document, asUser, asUserId, simulate, sequence), null, cancel);

        /// <summary>Show a receipt as it would be signed now: number, totals, defaults and problems. No number is drawn.</summary>
        public Task<Json> PreviewAsync(object document, string asUser = null, string asUserId = null, object simulate = null,
            string sequence = null, CancellationToken cancel = default(CancellationToken)) =>
            Post("/invoices/preview", HandedIn(document, asUser, asUserId, simulate, sequence), null, cancel);

        /// <summary>
        /// Submit many receipts; the result has, in their order, the answer that `SubmitAsync` would have given for each.
        ///
        /// Each has `format` and `payload` or `xml`, and best a `clientRequestId` of yours; the client adds one if there is
        /// none. More than 500, or more than one request can hold, go in several requests; an error then carries the
        /// results before it as `Items`.
        /// </summary>
        public Task<IReadOnlyList<Json>> BatchAsync(IEnumerable<object> items, bool? strict = null,
            CancellationToken cancel = default(CancellationToken))
        {
            var parts = new List<List<Json>>();
            int size = BatchBytes;
            foreach (object given in items)
            {
                Dictionary<string, object> item = Json.Of(given).Members.ToDictionary(each => each.Key, each => (object)each.Value);
                Members.RefuseUnknown("batch", item.Keys, Members.Item);
                if (!item.TryGetValue("clientRequestId", out object id) || ((Json)id).IsNull) item["clientRequestId"] = NewId();
                Json json = Json.Of(item);
                int length = Encoding.UTF8.GetByteCount(json.ToString()) + 1;
                if (size + length > BatchBytes || parts[parts.Count - 1].Count == BatchItems)
                {
                    parts.Add(new List<Json>());
                    size = 0;
                }
                parts[parts.Count - 1].Add(json);
                size += length;
            }
            return InParts("/invoices/batch", parts.Select(part => (object)new { items = part, strict = strict ?? isStrict }), cancel);
        }

        /// <summary>
        /// List your submissions, newest first, a page at a time: `cursor` is `nextCursor` of the page before, null at first
        /// and after the last. `filter` has the names of the description: `new { state = "Aceptado", from = "2026-01-01" }`.
        /// </summary>
        public Task<Json> InvoicesAsync(object filter = null, string cursor = null,
            CancellationToken cancel = default(CancellationToken)) =>
            Page("/invoices", "InvoicesAsync", filter, cursor, InvoiceFilter, cancel);

        /// <summary>List what suppliers issued to you, newest first, a page at a time, as `InvoicesAsync` does.</summary>
        public Task<Json> ReceivedAsync(object filter = null, string cursor = null,
            CancellationToken cancel = default(CancellationToken)) =>
            Page("/received", "ReceivedAsync", filter, cursor, ReceivedFilter, cancel);

        /// <summary>Show a document that a supplier issued to you. Null: there is none with that id.</summary>
        public Task<Json> ReceivedDocumentAsync(string receivedId, CancellationToken cancel = default(CancellationToken)) =>
            Find(Supplied(receivedId), cancel);

        /// <summary>Fetch it byte for byte, and the acknowledgement that was given for it. Null: there is none.</summary>
        public Task<Json> ReceivedXmlAsync(string receivedId, CancellationToken cancel = default(CancellationToken)) =>
            Find(Supplied(receivedId) + "/xml", cancel);

        /// <summary>Print a document that a supplier issued to you as PDF. Throws NotThereException.</summary>
        public Task<byte[]> ReceivedPdfAsync(string receivedId, string layout = null, string language = null,
            CancellationToken cancel = default(CancellationToken)) =>
            Bytes(Supplied(receivedId) + "/pdf", "application/pdf", cancel, layout, language);

        /// <summary>Print it as bytes for a receipt printer (ESC/POS). Throws NotThereException.</summary>
        public Task<byte[]> ReceivedTicketAsync(string receivedId, string layout = null, string language = null,
            string qr = null, CancellationToken cancel = default(CancellationToken)) =>
            Bytes(Supplied(receivedId) + "/ticket", "application/octet-stream", cancel, layout, language, qr);

        /// <summary>Draw its QR code as PNG. Throws NotThereException.</summary>
        public Task<byte[]> ReceivedQrPngAsync(string receivedId, CancellationToken cancel = default(CancellationToken)) =>
            Bytes(Supplied(receivedId) + "/qr.png", "image/png", cancel);

        /// <summary>Draw its QR code as SVG. Throws NotThereException.</summary>
        public Task<byte[]> ReceivedQrSvgAsync(string receivedId, CancellationToken cancel = default(CancellationToken)) =>
            Bytes(Supplied(receivedId) + "/qr.svg", "image/svg+xml", cancel);

        /// <summary>Approve a received document. Throws NotThereException, ConflictException: the contrary was said.</summary>
        public Task<Json> ApproveAsync(string receivedId, string clientRequestId = null, string asUser = null,
            string asUserId = null, CancellationToken cancel = default(CancellationToken)) =>
            Decide(receivedId, "approve", null, clientRequestId, asUser, asUserId, cancel);

        /// <summary>Reject a received document, for a reason that its issuer and the authority read.</summary>
        public Task<Json> RejectAsync(string receivedId, string reason, string clientRequestId = null, string asUser = null,
            string asUserId = null, CancellationToken cancel = default(CancellationToken)) =>
            Decide(receivedId, "reject", reason, clientRequestId, asUser, asUserId, cancel);

        /// <summary>
        /// Approve or reject (`approved`, `rejected`) many received documents; a rejection has a reason. Repeating it is
        /// safe. `statusCode` of each says what became of it; an error carries the results before it as `Items`.
        /// </summary>
        public Task<IReadOnlyList<Json>> DecideAsync(string decision, IReadOnlyList<string> ids, string reason = null,
            string asUser = null, string asUserId = null, CancellationToken cancel = default(CancellationToken)) =>
            InParts("/received/approvals", Enumerable.Range(0, (ids.Count + Decided - 1) / Decided).Select(part =>
                (object)Known(new Dictionary<string, object>
                {
                    { "decision", decision }, { "ids", ids.Skip(part * Decided).Take(Decided).ToList() },
                    { "reason", reason }, { "asUser", asUser }, { "asUserId", asUserId },
                })), cancel);

        /// <summary>List the number sequences that are configured, and the types there are.</summary>
        public Task<Json> NcfAsync(CancellationToken cancel = default(CancellationToken)) =>
            Body(new Session.Asked { Path = "/ncf" }, cancel);

        /// <summary>Show what was used on each of the last days; `today` adds the day that is not over.</summary>
        public Task<Json> UsageAsync(int? days = null, bool? today = null, CancellationToken cancel = default(CancellationToken)) =>
            Body(new Session.Asked
            {
                Path = "/usage", Query = new Dictionary<string, object> { { "days", days }, { "today", today } },
            }, cancel);

        /// <summary>
        /// List your failed requests of the last 30 days, newest first, a page at a time, as `InvoicesAsync` does: `filter`
        /// has `from`, `to`, `key`, `status` (400, "4xx", "5xx") and `requestId`.
        /// </summary>
        public Task<Json> RequestsAsync(object filter = null, string cursor = null,
            CancellationToken cancel = default(CancellationToken)) =>
            Page("/requests", "RequestsAsync", filter, cursor, RequestFilter, cancel);

        /// <summary>List every webhook endpoint of the environment, the one named `default` included.</summary>
        public async Task<IReadOnlyList<Json>> WebhookEndpointsAsync(CancellationToken cancel = default(CancellationToken)) =>
            (await Body(new Session.Asked { Path = "/webhooks/endpoints" }, cancel).ConfigureAwait(false))["items"].Items;

        /// <summary>
        /// Set one of several endpoints, by its name: `url`, `enabled`, `events`, `headers`. The first answer has its
        /// `secret`, which is shown only then.
        /// </summary>
        public Task<Json> SetWebhookEndpointAsync(string name, object webhook,
            CancellationToken cancel = default(CancellationToken))
        {
            Json body = Json.Of(webhook);
            Members.RefuseUnknown("SetWebhookEndpointAsync", body.Members.Keys, Members.Webhook);
            return Body(new Session.Asked { Method = "PUT", Path = Endpoint(name), Body = body }, cancel);
        }

        /// <summary>Delete an endpoint: what it was not delivered ends as failed. Throws NotThereException.</summary>
        public Task<Json> DeleteWebhookEndpointAsync(string name, CancellationToken cancel = default(CancellationToken)) =>
            Body(new Session.Asked { Method = "DELETE", Path = Endpoint(name) }, cancel);

        /// <summary>
        /// Have the webhook, or one of several endpoints, called now with an event `test`. It is not repeated by itself.
        /// </summary>
        public Task<Json> TestWebhookAsync(string endpoint = null, CancellationToken cancel = default(CancellationToken)) =>
            CallAsync("POST", (endpoint == null ? "/webhooks" : Endpoint(endpoint)) + "/test", null, cancel);

        private Task<Json> Decide(string receivedId, string verb, string reason, string clientRequestId, string asUser,
            string asUserId, CancellationToken cancel)
        {
            string id = clientRequestId ?? NewId();
            var body = new Dictionary<string, object>
            {
                { "clientRequestId", id }, { "reason", reason }, { "asUser", asUser }, { "asUserId", asUserId },
            };
            return Post(Supplied(receivedId) + "/" + verb, body, id, cancel);
        }

        private async Task<Json> Page(string path, string call, object filter, string cursor, string[] known,
            CancellationToken cancel)
        {
            var query = new Dictionary<string, object> { { "limit", 200 }, { "cursor", cursor } };
            foreach (KeyValuePair<string, Json> each in Json.Of(filter).Members)
            {
                Members.RefuseUnknown(call, new[] { each.Key }, known);
                if (each.Value.Text != null) query[each.Key] = each.Value.Text;
                foreach (KeyValuePair<string, Json> label in each.Value.Members)
                    query[each.Key + "[" + label.Key + "]"] = label.Value.Text;
            }
            return await Body(new Session.Asked { Path = path, Query = query }, cancel).ConfigureAwait(false);
        }

        private async Task<Json> Body(Session.Asked asked, CancellationToken cancel) =>
            (await session.Exchange(asked, cancel).ConfigureAwait(false)).Body;

        private async Task<Json> Find(string path, CancellationToken cancel) =>
            Found(await Body(new Session.Asked { Path = path }, cancel).ConfigureAwait(false));

        private Task<Json> Post(string path, IDictionary<string, object> body, string requestId, CancellationToken cancel) =>
            Body(new Session.Asked { Method = "POST", Path = path, Body = Json.Of(Known(body)), RequestId = requestId }, cancel);

        private async Task<byte[]> Bytes(string path, string mediaType, CancellationToken cancel, string layout = null,
            string language = null, string qr = null)
        {
            var query = new Dictionary<string, object> { { "layout", layout }, { "language", language }, { "qr", qr } };
            var asked = new Session.Asked { Path = path, Query = query, MediaType = mediaType };
            return (await session.Exchange(asked, cancel).ConfigureAwait(false)).Bytes;
        }

        /// <summary>Send bodies one after the other, and join the items of their answers.</summary>
        private async Task<IReadOnlyList<Json>> InParts(string path, IEnumerable<object> bodies, CancellationToken cancel)
        {
            var answered = new List<Json>();
            foreach (object body in bodies)
            {
                try
                {
                    var asked = new Session.Asked { Method = "POST", Path = path, Body = Json.Of(body) };
                    answered.AddRange((await Body(asked, cancel).ConfigureAwait(false))["items"].Items);
                }
                catch (FeException error)
                {
                    error.Items = answered;
                    throw;
                }
            }
            return answered;
        }

        private static Session.Asked StatusOf(string trackOrId, int? wait, bool untilSigned) => new Session.Asked
        {
            Path = One(trackOrId),
            Query = new Dictionary<string, object> { { "wait", wait }, { "until", untilSigned ? "signed" : null } },
            Longer = wait ?? 0,
        };

        private static Dictionary<string, object> HandedIn(object document, string asUser, string asUserId, object simulate,
            string sequence)
        {
            Json outcome = simulate == null ? null : Json.Of(simulate);
            if (outcome != null) Members.RefuseUnknown("simulate", outcome.Members.Keys, Members.Simulate);
            bool isXml = document is string;
            return new Dictionary<string, object>
            {
                { "format", isXml ? "xml" : "structured" },
                { isXml ? "xml" : "payload", isXml ? document : Json.Of(new { payload = document })["payload"] },
                { "asUser", asUser }, { "asUserId", asUserId }, { "simulate", outcome }, { "sequence", sequence },
            };
        }

        private static Dictionary<string, object> Known(IDictionary<string, object> values) =>
            values.Where(each => each.Value != null).ToDictionary(each => each.Key, each => each.Value);

        private static Json Found(Json answer) => answer["found"].IsFalse ? null : answer;

        private static double Seconds(TimeSpan? timeout) => timeout?.TotalSeconds ?? 180;

        private static string One(string trackOrId) => "/invoices/" + Uri.EscapeDataString(trackOrId);

        private static string Supplied(string receivedId) => "/received/" + Uri.EscapeDataString(receivedId);

        private static string Endpoint(string name) => "/webhooks/endpoints/" + Uri.EscapeDataString(name);

        private static string NewId() => Guid.NewGuid().ToString();
    }
}
