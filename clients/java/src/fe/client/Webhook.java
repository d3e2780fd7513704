package fe.client;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Whether a call was made by the service: to be asked before anything in it is believed. */
public final class Webhook {
    private static final long TOLERANCE = 300;

    private Webhook() {}

    /**
     * Check a call by its Standard Webhooks headers, and return its event.
     *
     * <p>`secret` is as it was shown, `whsec_` and all; `headers` have names in any case; `body` are the very bytes that
     * came, before anything parsed them. Store a call once, under its `webhook-id`: one whose answer was lost comes again.
     *
     * <p>Throws FeError.WebhookRefused: not ours, changed on its way, or older than five minutes. Answer 401 then.
     */
    public static Json verify(String secret, Map<String, String> headers, byte[] body) {
        return verify(secret, headers, body, System.currentTimeMillis() / 1000);
    }

    static Json verify(String secret, Map<String, String> headers, byte[] body, long now) {
        String moment = header(headers, "webhook-timestamp");
        if (!moment.matches("[0-9]{1,12}")) {
            throw new FeError.WebhookRefused("webhook-timestamp is no moment");
        }
        if (Math.abs(now - Long.parseLong(moment)) > TOLERANCE) {
            throw new FeError.WebhookRefused("the call is too old, or a clock is wrong");
        }
        byte[] right = ("v1," + signature(secret, header(headers, "webhook-id") + "." + moment + ".", body))
                .getBytes(StandardCharsets.UTF_8);
        boolean fits = false;
        for (String one : header(headers, "webhook-signature").split(" ")) {
            fits |= MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), right);
        }
        if (!fits) {
            throw new FeError.WebhookRefused("no signature in webhook-signature fits");
        }
        try {
            Json event = Json.parse(new String(body, StandardCharsets.UTF_8));
            if (event.get("event").text() != null) {
                return event;
            }
        } catch (IllegalArgumentException broken) {
            // Said below.
        }
        throw new FeError.WebhookRefused("the body is no event");
    }

    private static String signature(String secret, String before, byte[] body) {
        byte[] key;
        try {
            key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update(before.getBytes(StandardCharsets.UTF_8));
            return Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (IllegalArgumentException error) {
            throw new IllegalArgumentException("the secret is not one of a webhook", error);
        } catch (GeneralSecurityException never) {
            throw new IllegalStateException(never);
        }
    }

    private static String header(Map<String, String> headers, String name) {
        for (Map.Entry<String, String> header : headers.entrySet()) {
            if (header.getKey() != null && header.getKey().equalsIgnoreCase(name)) {
                return header.getValue();
            }
        }
        return "";
    }
}
