package fe.client;

import static fe.client.Option.and;
import static fe.client.Option.taken;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleConsumer;
import java.util.function.DoubleSupplier;

/**
 * The service, for one API key. Threads may share it, and should: they share its token, too.
 *
 * <pre>{@code
 * Fe fe = new Fe("https://fe.example.com", "fak_0123456789ab", "...");
 * Json verdict = fe.submitAndWait(receipt, Option.clientRequestId("order-1001"));
 * }</pre>
 *
 * <p>Every call throws a FeError. A document is a payload as Json, Map or a builder of Types, or finished XML as a
 * String.
 */
public final class Fe {
    private static final Set<String> FINAL = Set.of("Aceptado", "Aceptado Condicional", "Rechazado", "error");
    /** Most receipts and bytes of one request; the service's own limit of bytes is 1 MiB. */
    private static final int BATCH_ITEMS = 500;
    private static final int BATCH_BYTES = 1_000_000;
    /** Ids of one request of `decide`. */
    private static final int DECIDED = 100;
    private static final double LONGEST_WAIT = 30;
    private static final double ASK_AGAIN = 5;

    private static final String[] CHECKED = {"asUser", "asUserId", "simulate", "sequence"};
    private static final String[] RECEIPT = and(CHECKED, "clientRequestId", "strict", "notify", "metadata");
    private static final String[] ON_PAPER = {"layout", "language"};
    private static final String[] CONTENT = {
        "tipoEcf", "issuedFrom", "issuedTo", "totalFrom", "totalTo", "text", "from", "to", "encf", "rnc", "limit",
    };

    private final Session session;
    private final boolean strict;

    /**
     * Take where the service is and a key of it; nothing is sent yet. `baseUrl` ends with /api/v1/fe; of a bare host that
     * is added. Options: timeout, retries, language, strict, tokenCache.
     */
    public Fe(String baseUrl, String keyId, String secret, Option... options) {
        this(baseUrl, keyId, secret, Fe::pause, () -> System.nanoTime() / 1e9,
                () -> ThreadLocalRandom.current().nextDouble(), options);
    }

    /** For tests: with a clock and pauses of theirs. */
    Fe(String baseUrl, String keyId, String secret, DoubleConsumer sleep, DoubleSupplier clock, DoubleSupplier chance,
            Option... options) {
        Map<String, Object> given =
                taken("Fe", options, "timeout", "retries", "language", "strict", "tokenCache");
        strict = (boolean) given.getOrDefault("strict", true);
        session = new Session(baseUrl, keyId, secret, given, sleep, clock, chance);
    }

    /** Get a new token now. Every other call gets one by itself, and renews it; this tells whether the key is good. */
    public Json login() {
        return session.login();
    }

    /**
     * Call anything that has no method here: `call("PUT", "/printing", body)`. A GET is repeated where that may help,
     * anything else only where nothing was sent. `body` may be null.
     */
    public Json call(String method, String path, Json body) {
        return session.exchange(new Session.Asked(method, path, Map.of(), body, method.equals("GET"), 0, null,
                Session.JSON)).body();
    }

    /**
     * Submit a receipt. It is stored once, also when the call is repeated after a lost answer; its verdict comes later.
     *
     * <p>With a clientRequestId of your own (your order's number) you may repeat the call yourself, tomorrow or in another
     * process, without issuing twice; without one the client makes one for this call, and errors carry it. Options:
     * clientRequestId, asUser, asUserId, strict, simulate, notify, sequence, metadata.
     *
     * <p>Throws FeError.Invalid with `problems`, FeError.ReusedId, and what every call may throw.
     */
    public Json submit(Object document, Option... options) {
        return submit(document, taken("submit", options, RECEIPT));
    }

    private Json submit(Object document, Map<String, Object> options) {
        Map<String, Object> body = handedIn(document);
        body.put("strict", strict);
        body.putAll(options);
        String id = (String) body.computeIfAbsent("clientRequestId", name -> newId());
        Json taken = post("/invoices", body, id);
        if (taken.get("bodyMatched").isFalse()) {
            FeError reused = new FeError.ReusedId(taken);
            reused.clientRequestId = id;
            throw reused;
        }
        return taken;
    }

    /**
     * Submit a receipt as `submit` does, and wait for its verdict: `status` says what it was, `Rechazado` included.
     *
     * <p>Options: those of `submit`, timeout (180 s), untilSigned. Throws FeError.NoVerdictYet after the timeout. Then it
     * is still on its way: go on with `await`, or call this again with the same clientRequestId.
     */
    public Json submitAndWait(Object document, Option... options) {
        Map<String, Object> given = taken("submitAndWait", options, and(RECEIPT, "timeout", "until"));
        double ends = session.clock.getAsDouble() + seconds(given.remove("timeout"));
        boolean untilSigned = given.remove("until") != null;
        String id = (String) given.computeIfAbsent("clientRequestId", name -> newId());
        Json taken = submit(document, given);
        try {
            return await(taken.get("taxLogId").text(), ends, untilSigned);
        } catch (FeError error) {
            error.clientRequestId = id;
            throw error;
        }
    }

    /**
     * Wait until a submission has its verdict, or its signature. Troubles on the way are borne until the timeout.
     *
     * <p>Options: timeout (180 s), untilSigned. Throws FeError.NotThere where nothing of yours has that id,
     * FeError.NoVerdictYet after the timeout, or the trouble that lasted until then.
     */
    public Json await(String trackOrId, Option... options) {
        Map<String, Object> given = taken("await", options, "timeout", "until");
        double ends = session.clock.getAsDouble() + seconds(given.get("timeout"));
        return await(trackOrId, ends, given.containsKey("until"));
    }

    private Json await(String trackOrId, double ends, boolean untilSigned) {
        while (true) {
            double began = session.clock.getAsDouble();
            int asked = (int) Math.max(0, Math.min(LONGEST_WAIT, ends - began));
            FeError trouble;
            Double again;
            try {
                Map<String, Object> query = new LinkedHashMap<>(Map.of("wait", asked));
                query.put("until", untilSigned ? "signed" : null);
                Session.Answer answer = session.exchange(
                        new Session.Asked("GET", one(trackOrId), query, null, true, asked, null, Session.JSON));
                Json seen = answer.body();
                if (found(seen) == null) {
                    String message = "nothing of yours has the id " + trackOrId;
                    throw new FeError.NotThere(200, message, seen, null, null);
                }
                if ((untilSigned && seen.get("readyToPrint").isTrue()) || FINAL.contains(seen.get("status").text())) {
                    return seen;
                }
                trouble = new FeError.NoVerdictYet(seen);
                again = Session.retryAfter(answer.headers());
            } catch (FeError.ServerAway | FeError.AnswerLost | FeError.Throttled | FeError.Unavailable error) {
                trouble = error;
                again = error instanceof FeError.Api api ? api.retryAfter : null;
            }
            double now = session.clock.getAsDouble();
            if (now >= ends) {
                throw trouble;
            }
            // After a whole wait ask again at once; after an early answer wait as the answer says.
            if (!(trouble instanceof FeError.NoVerdictYet) || asked <= 0 || now - began < asked) {
                session.sleep.accept(Math.min(ends - now, again == null ? ASK_AGAIN : again));
            }
        }
    }

    /** Ask how it stands with a submission; null: nothing has that id. Options: waiting, untilSigned. */
    public Json status(String trackOrId, Option... options) {
        Map<String, Object> query = taken("status", options, "wait", "until");
        int wait = (int) query.getOrDefault("wait", 0);
        return found(session.exchange(
                new Session.Asked("GET", one(trackOrId), query, null, true, wait, null, Session.JSON)).body());
    }

    /** Fetch the document of a submission: once signed, the legal proof. Null: nothing of yours has that id. */
    public Json xml(String trackOrId) {
        return found(get(one(trackOrId) + "/xml", Map.of()));
    }

    /** Read every event of a submission, oldest first. Null: nothing of yours has that id. */
    public Json timeline(String trackOrId) {
        return found(get(one(trackOrId) + "/timeline", Map.of()));
    }

    /** Print a receipt as PDF. Options: layout, language. Throws FeError.NotThere, FeError.Conflict: not signed yet. */
    public byte[] pdf(String trackOrId, Option... options) {
        return bytes(one(trackOrId) + "/pdf", "application/pdf", taken("pdf", options, ON_PAPER));
    }

    /** Print a receipt as bytes for a receipt printer (ESC/POS). Options: layout, language, qr. Throws as `pdf` does. */
    public byte[] ticket(String trackOrId, Option... options) {
        Map<String, Object> query = taken("ticket", options, and(ON_PAPER, "qr"));
        return bytes(one(trackOrId) + "/ticket", "application/octet-stream", query);
    }

    /** Draw a receipt's QR code as PNG. Throws as `pdf` does. */
    public byte[] qrPng(String trackOrId) {
        return bytes(one(trackOrId) + "/qr.png", "image/png", Map.of());
    }

    /** Draw a receipt's QR code as SVG. Throws as `pdf` does. */
    public byte[] qrSvg(String trackOrId) {
        return bytes(one(trackOrId) + "/qr.svg", "image/svg+xml", Map.of());
    }

    /** List all problems of a receipt, without submitting it. Options: asUser, asUserId, simulate, sequence. */
    public Json validate(Object document, Option... options) {
        Map<String, Object> body = handedIn(document);
        body.putAll(taken("validate", options, CHECKED));
        return post("/invoices/validate", body, null);
    }

    /** Show a receipt as it would be signed now: number, totals, defaults and problems. Options as of `validate`. */
    public Json preview(Object document, Option... options) {
        Map<String, Object> body = handedIn(document);
        body.putAll(taken("preview", options, CHECKED));
        return post("/invoices/preview", body, null);
    }

    /**
     * Submit many receipts; the result has, in their order, the answer that `submit` would have given for each.
     *
     * <p>Each has `format` and `payload` or `xml`, and best a `clientRequestId` of yours; the client adds one if there is
     * none. More than 500, or more than one request can hold, go in several requests; an error then carries the results
     * before it as `items`. Options: strict.
     */
    public List<Json> batch(Iterable<?> items, Option... options) {
        Object isStrict = taken("batch", options, "strict").getOrDefault("strict", strict);
        List<List<Json>> parts = new ArrayList<>();
        int size = BATCH_BYTES;
        for (Object given : items) {
            Map<String, Object> item = new LinkedHashMap<>(Json.of(given).members());
            Members.refuseUnknown("batch", item.keySet(), Members.ITEM);
            if (Json.of(item.get("clientRequestId")).isNull()) {
                item.put("clientRequestId", newId());
            }
            Json json = Json.of(item);
            int length = json.toString().getBytes(StandardCharsets.UTF_8).length + 1;
            if (size + length > BATCH_BYTES || parts.get(parts.size() - 1).size() == BATCH_ITEMS) {
                parts.add(new ArrayList<>());
                size = 0;
            }
            parts.get(parts.size() - 1).add(json);
            size += length;
        }
        return inParts("/invoices/batch", parts.stream().map(part -> Map.of("items", part, "strict", isStrict)).toList());
    }

    /**
     * Go through your submissions, newest first, fetching as it goes. Options: since, until, state, encf, clientRequestId,
     * rnc (the buyer's), asUser, tipoEcf, issuedFrom, issuedTo, totalFrom, totalTo, text, pageSize, metadata,
     * numberFate.
     */
    public Iterable<Json> invoices(Option... options) {
        String[] known = and(CONTENT, "state", "clientRequestId", "asUser", "metadata", "numberFate");
        Map<String, Object> query = taken("invoices", options, known);
        if (query.remove("metadata") instanceof Map<?, ?> labels) {
            labels.forEach((name, value) -> query.put("metadata[" + name + "]", value));
        }
        return pages("/invoices", query);
    }

    /** Go through what suppliers issued to you, newest first. Options: those of `invoices`, and approvalStatus. */
    public Iterable<Json> received(Option... options) {
        return pages("/received", taken("received", options, and(CONTENT, "approvalStatus")));
    }

    /** Show a document that a supplier issued to you. Null: there is none with that id. */
    public Json receivedDocument(String receivedId) {
        return found(get(supplied(receivedId), Map.of()));
    }

    /** Fetch it byte for byte, and the acknowledgement that was given for it. Null: there is none with that id. */
    public Json receivedXml(String receivedId) {
        return found(get(supplied(receivedId) + "/xml", Map.of()));
    }

    /** Print a document that a supplier issued to you as PDF. Options: layout, language. Throws FeError.NotThere. */
    public byte[] receivedPdf(String receivedId, Option... options) {
        return bytes(supplied(receivedId) + "/pdf", "application/pdf", taken("receivedPdf", options, ON_PAPER));
    }

    /** Print it as bytes for a receipt printer (ESC/POS). Options: layout, language, qr. Throws FeError.NotThere. */
    public byte[] receivedTicket(String receivedId, Option... options) {
        Map<String, Object> query = taken("receivedTicket", options, and(ON_PAPER, "qr"));
        return bytes(supplied(receivedId) + "/ticket", "application/octet-stream", query);
    }

    /** Draw its QR code as PNG. Throws FeError.NotThere. */
    public byte[] receivedQrPng(String receivedId) {
        return bytes(supplied(receivedId) + "/qr.png", "image/png", Map.of());
    }

    /** Draw its QR code as SVG. Throws FeError.NotThere. */
    public byte[] receivedQrSvg(String receivedId) {
        return bytes(supplied(receivedId) + "/qr.svg", "image/svg+xml", Map.of());
    }

    /**
     * Approve a received document. Options: clientRequestId, asUser, asUserId. Throws FeError.NotThere, and
     * FeError.Conflict where the contrary was said before.
     */
    public Json approve(String receivedId, Option... options) {
        return decided(receivedId, "approve", taken("approve", options, "clientRequestId", "asUser", "asUserId"));
    }

    /** Reject a received document, for a reason that its issuer and the authority read. Otherwise as `approve`. */
    public Json reject(String receivedId, String reason, Option... options) {
        Map<String, Object> body = taken("reject", options, "clientRequestId", "asUser", "asUserId");
        body.put("reason", reason);
        return decided(receivedId, "reject", body);
    }

    /**
     * Approve or reject (`approved`, `rejected`) many received documents. Repeating it is safe. Options: reason, asUser,
     * asUserId; a rejection has a reason. `statusCode` of each says what became of it; an error carries the results before
     * it as `items`.
     */
    public List<Json> decide(String decision, List<String> ids, Option... options) {
        Map<String, Object> said = taken("decide", options, "reason", "asUser", "asUserId");
        List<Map<String, Object>> bodies = new ArrayList<>();
        for (int first = 0; first < ids.size(); first += DECIDED) {
            Map<String, Object> body = new LinkedHashMap<>(said);
            body.put("decision", decision);
            body.put("ids", ids.subList(first, Math.min(ids.size(), first + DECIDED)));
            bodies.add(body);
        }
        return inParts("/received/approvals", bodies);
    }

    /** List the number sequences that are configured, and the types there are. */
    public Json ncf() {
        return get("/ncf", Map.of());
    }

    /** Show what was used on each of the last days. Options: days, today. */
    public Json usage(Option... options) {
        return get("/usage", taken("usage", options, "days", "today"));
    }

    /**
     * Go through your failed requests of the last 30 days, newest first. Options: since, until, key, status, requestId,
     * pageSize.
     */
    public Iterable<Json> requests(Option... options) {
        return pages("/requests", taken("requests", options, "from", "to", "key", "status", "requestId", "limit"));
    }

    /** List every webhook endpoint of the environment, the one named `default` included. */
    public List<Json> webhookEndpoints() {
        return get("/webhooks/endpoints", Map.of()).get("items").items();
    }

    /**
     * Set one of several endpoints, by its name: `url`, `enabled`, `events`, `headers`. The first answer has its `secret`,
     * which is shown only then.
     */
    public Json setWebhookEndpoint(String name, Json webhook) {
        Members.refuseUnknown("setWebhookEndpoint", webhook.members().keySet(), Members.WEBHOOK);
        return repeated("PUT", endpoint(name), webhook);
    }

    /** Delete an endpoint: what it was not delivered ends as failed. Throws FeError.NotThere. */
    public Json deleteWebhookEndpoint(String name) {
        return repeated("DELETE", endpoint(name), null);
    }

    /** Have the webhook called now with an event `test`. It is not repeated by itself. Options: endpoint. */
    public Json testWebhook(Option... options) {
        Object endpoint = taken("testWebhook", options, "endpoint").get("endpoint");
        return call("POST", (endpoint == null ? "/webhooks" : endpoint((String) endpoint)) + "/test", null);
    }

    private Json decided(String receivedId, String verb, Map<String, Object> body) {
        String id = (String) body.computeIfAbsent("clientRequestId", name -> newId());
        return post(supplied(receivedId) + "/" + verb, body, id);
    }

    private Json get(String path, Map<String, Object> query) {
        return session.exchange(new Session.Asked("GET", path, query, null, true, 0, null, Session.JSON)).body();
    }

    private Json repeated(String method, String path, Json body) {
        return session.exchange(new Session.Asked(method, path, Map.of(), body, true, 0, null, Session.JSON)).body();
    }

    private Json post(String path, Map<String, Object> body, String requestId) {
        return session.exchange(new Session.Asked("POST", path, Map.of(), Json.of(body), true, 0, requestId,
                Session.JSON)).body();
    }

    private byte[] bytes(String path, String mediaType, Map<String, Object> query) {
        return session.exchange(new Session.Asked("GET", path, query, null, true, 0, null, mediaType)).bytes();
    }

    /** Send bodies one after the other, and join the items of their answers. */
    private List<Json> inParts(String path, List<? extends Map<String, Object>> bodies) {
        List<Json> answered = new ArrayList<>();
        for (Map<String, Object> body : bodies) {
            try {
                answered.addAll(post(path, body, null).get("items").items());
            } catch (FeError error) {
                error.items = answered;
                throw error;
            }
        }
        return answered;
    }

    private Iterable<Json> pages(String path, Map<String, Object> query) {
        query.putIfAbsent("limit", 200);
        return () -> new Iterator<>() {
            private Iterator<Json> page = List.<Json>of().iterator();
            private String cursor;
            private boolean isEnded;

            @Override
            public boolean hasNext() {
                while (!page.hasNext() && !isEnded) {
                    Map<String, Object> asked = new LinkedHashMap<>(query);
                    asked.put("cursor", cursor);
                    Json answer = get(path, asked);
                    page = answer.get("items").iterator();
                    cursor = answer.get("nextCursor").text();
                    isEnded = cursor == null;
                }
                return page.hasNext();
            }

            @Override
            public Json next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                return page.next();
            }
        };
    }

    private static Map<String, Object> handedIn(Object document) {
        Map<String, Object> body = new LinkedHashMap<>();
        boolean isXml = document instanceof String;
        body.put("format", isXml ? "xml" : "structured");
        body.put(isXml ? "xml" : "payload", document);
        return body;
    }

    private static Json found(Json answer) {
        return answer.get("found").isFalse() ? null : answer;
    }

    private static double seconds(Object timeout) {
        return timeout == null ? 180 : ((Duration) timeout).toMillis() / 1000.0;
    }

    private static String one(String trackOrId) {
        return "/invoices/" + Session.encoded(trackOrId);
    }

    private static String supplied(String receivedId) {
        return "/received/" + Session.encoded(receivedId);
    }

    private static String endpoint(String name) {
        return "/webhooks/endpoints/" + Session.encoded(name);
    }

    private static String newId() {
        return UUID.randomUUID().toString();
    }

    private static void pause(double seconds) {
        try {
            Thread.sleep((long) (seconds * 1000));
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new FeError.Interrupted(error);
        }
    }
}
