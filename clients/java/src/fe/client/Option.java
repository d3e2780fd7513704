package fe.client;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An option of a call or of the client: made by a method of its name. A call refuses one that it does not take. */
public final class Option {
    final String name;
    final Object value;

    private Option(String name, Object value) {
        this.name = name;
        this.value = value;
    }

    /** Your id of a receipt, such as the order's number: under one id there is one receipt. */
    public static Option clientRequestId(String id) { return new Option("clientRequestId", id); }

    /** E-mail address of the user with whose certificate is signed. */
    public static Option asUser(String address) { return new Option("asUser", address); }

    public static Option asUserId(String id) { return new Option("asUserId", id); }

    /** Whether a receipt that would not be sent is refused at once, which is usual; else it ends as `error`. */
    public static Option strict(boolean isStrict) { return new Option("strict", isStrict); }

    /** What becomes of a receipt in a sandbox: `Json.object("outcome", "rejected", "code", 4)`. */
    public static Option simulate(Json outcome) {
        Members.refuseUnknown("simulate", outcome.members().keySet(), Members.SIMULATE);
        return new Option("simulate", outcome);
    }

    /** Address that the accepted receipt is mailed to. */
    public static Option notify(String address) { return new Option("notify", address); }

    /** Name of the sequence that gives the number, where you have several of a type. */
    public static Option sequence(String name) { return new Option("sequence", name); }

    /** Labels of yours, which come back with the submission; of a list, one label with its value. */
    public static Option metadata(Map<String, String> labels) { return new Option("metadata", labels); }

    /** How long to wait: for a verdict (180 s), or, of the client, for an answer (30 s). */
    public static Option timeout(Duration timeout) { return new Option("timeout", timeout); }

    /** Wait for the signature alone: then the receipt can be printed. */
    public static Option untilSigned() { return new Option("until", "signed"); }

    /** Have `status` wait for this many seconds, 30 at most. */
    public static Option waiting(int seconds) { return new Option("wait", seconds); }

    /** `letter`, `a4`, `80mm` or `58mm`. */
    public static Option layout(String layout) { return new Option("layout", layout); }

    /** `es` or `en`: of a print, or, of the client, of messages. */
    public static Option language(String language) { return new Option("language", language); }

    /** `native` or `raster`, for printers without a command for QR codes. */
    public static Option qr(String how) { return new Option("qr", how); }

    /** First day or timestamp of a list. */
    public static Option since(String moment) { return new Option("from", moment); }

    /** Last day or timestamp of a list. */
    public static Option until(String moment) { return new Option("to", moment); }

    public static Option state(String state) { return new Option("state", state); }

    public static Option encf(String number) { return new Option("encf", number); }

    /** RNC of the other side: buyer or supplier. */
    public static Option rnc(String rnc) { return new Option("rnc", rnc); }

    public static Option approvalStatus(String status) { return new Option("approvalStatus", status); }

    public static Option tipoEcf(String type) { return new Option("tipoEcf", type); }

    public static Option issuedFrom(String day) { return new Option("issuedFrom", day); }

    public static Option issuedTo(String day) { return new Option("issuedTo", day); }

    public static Option totalFrom(String amount) { return new Option("totalFrom", amount); }

    public static Option totalTo(String amount) { return new Option("totalTo", amount); }

    public static Option text(String words) { return new Option("text", words); }

    /** Fate of the number: reserved, used, reusable, unknown or void. */
    public static Option numberFate(String fate) { return new Option("numberFate", fate); }

    /** Id of the API key that made the failed requests. */
    public static Option key(String keyId) { return new Option("key", keyId); }

    /** Status of a failed request: `400`, `4xx` or `5xx`. */
    public static Option status(String status) { return new Option("status", status); }

    /** `X-Request-Id` of a failed request. */
    public static Option requestId(String id) { return new Option("requestId", id); }

    /** Name of one of several webhook endpoints. */
    public static Option endpoint(String name) { return new Option("endpoint", name); }

    /** Items of a page of a list: 200. */
    public static Option pageSize(int items) { return new Option("limit", items); }

    /** Why a received document is rejected. */
    public static Option reason(String reason) { return new Option("reason", reason); }

    public static Option days(int days) { return new Option("days", days); }

    /** Add the day that is not over. */
    public static Option today() { return new Option("today", true); }

    /** Of the client: how often a call is tried, and how long it pauses between. */
    public static Option retries(Retries retries) { return new Option("retries", retries); }

    /** Of the client: keeps the token for other processes. */
    public static Option tokenCache(TokenCache cache) { return new Option("tokenCache", cache); }

    /** The options by their names. Throws IllegalArgumentException for one that the call does not take. */
    static Map<String, Object> taken(String call, Option[] given, String... known) {
        Map<String, Object> taken = new LinkedHashMap<>();
        for (Option option : given) {
            taken.put(option.name, option.value);
        }
        Members.refuseUnknown(call, taken.keySet(), List.of(known));
        return taken;
    }

    static String[] and(String[] names, String... more) {
        String[] all = Arrays.copyOf(names, names.length + more.length);
        System.arraycopy(more, 0, all, names.length, more.length);
        return all;
    }
}
