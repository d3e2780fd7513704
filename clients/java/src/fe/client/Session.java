package fe.client;

import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.DoubleConsumer;
import java.util.function.DoubleSupplier;
import javax.net.ssl.SSLHandshakeException;

/** One client's standing with the service: its token, and how it calls, and calls again. Threads may share it. */
final class Session {
    static final String JSON = "application/json";
    private static final String PREFIX = "/api/v1/fe";
    /** Seconds before its end at which a token is renewed. */
    private static final long RENEWED_BEFORE = 60;
    private static final int EXCERPT = 200;
    /** How much longer than the headers a body may take: above 0, so that a timeout to connect is told as one. */
    private static final long BODY_MILLIS = 500;

    private final String base;
    private final String credentials;
    private final String cacheKey;
    private final String language;
    private final Retries retries;
    private final TokenCache cache;
    private final HttpClient http;
    private final Duration timeout;
    private final DoubleSupplier chance;
    final DoubleConsumer sleep;
    /** Seconds that only go forward. */
    final DoubleSupplier clock;

    private String token;
    private double renewAt;

    /** A call: path, query, body, and how it is repeated. */
    record Asked(String method, String path, Map<String, Object> query, Json body, boolean isRepeatable, double longer,
            String requestId, String mediaType) {}

    /** A good answer: JSON, or bytes of another type. */
    record Answer(Json body, byte[] bytes, HttpHeaders headers) {}

    Session(String baseUrl, String keyId, String secret, Map<String, Object> options, DoubleConsumer sleep,
            DoubleSupplier clock, DoubleSupplier chance) {
        if (baseUrl == null || !baseUrl.matches("(?i)https?://[^/].*")) {
            throw new IllegalArgumentException("the base URL is missing, such as https://fe.example.com");
        }
        String path = URI.create(baseUrl).getPath().replaceAll("^/+|/+$", "");
        base = baseUrl.replaceAll("/+$", "") + (path.isEmpty() ? PREFIX : "");
        credentials = Json.object("apiKeyId", keyId, "apiSecret", secret).toString();
        cacheKey = "fe-token-" + digest(base + " " + credentials).substring(0, 32);
        language = (String) options.get("language");
        retries = (Retries) options.getOrDefault("retries", new Retries());
        cache = (TokenCache) options.get("tokenCache");
        timeout = (Duration) options.getOrDefault("timeout", Duration.ofSeconds(30));
        this.sleep = sleep;
        this.clock = clock;
        this.chance = chance;
        // Redirects would take the token elsewhere.
        http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(timeout.compareTo(Duration.ofSeconds(10)) < 0 ? timeout : Duration.ofSeconds(10)).build();
    }

    /** Call with a token, which is renewed where it is over; again where that is safe. */
    Answer exchange(Asked asked) {
        String content = asked.body == null ? null : asked.body.toString(); // once: every try sends the same bytes
        String url = base + asked.path + queryOf(asked.query);
        Duration patience = timeout.plusMillis((long) (asked.longer * 1000));
        String refused = null;
        for (int tried = 1;;) {
            String used = usableToken(refused);
            try {
                return send(asked.method, url, content, used, patience, asked.mediaType);
            } catch (FeError.WrongCredentials error) {
                // Over before we thought so, or revoked: a new one tells.
                error.clientRequestId = asked.requestId;
                if (refused != null) {
                    throw error;
                }
                refused = used;
            } catch (FeError error) {
                error.clientRequestId = asked.requestId;
                pauseOrThrow(error, tried++, asked.isRepeatable);
            }
        }
    }

    /** Get a new token, whatever there is. */
    synchronized Json login() {
        for (int tried = 1;; tried++) {
            double began = clock.getAsDouble();
            try {
                Json said = send("POST", base + "/login", credentials, null, timeout, JSON).body;
                long lasts = said.get("expiresIn").amount().longValue() - RENEWED_BEFORE;
                token = said.get("accessToken").text();
                renewAt = began + lasts;
                if (cache != null) {
                    long until = System.currentTimeMillis() / 1000 + lasts;
                    cache.set(cacheKey, Json.object("token", token, "until", until).toString(), lasts);
                }
                return said;
            } catch (FeError error) {
                pauseOrThrow(error, tried, true);
            }
        }
    }

    /** The token, one that was not refused: one thread logs in, and the others wait for it. */
    private synchronized String usableToken(String refused) {
        if (token == null || token.equals(refused) || clock.getAsDouble() >= renewAt) {
            if (cache == null) {
                login();
            } else {
                cache.alone(cacheKey, () -> findOrLogIn(refused));
            }
        }
        return token;
    }

    private Void findOrLogIn(String refused) {
        String text = cache.get(cacheKey);
        Json kept = text == null ? Json.object() : keptIn(text);
        String found = kept.get("token").text();
        double left = found == null ? 0 : kept.get("until").amount().doubleValue() - System.currentTimeMillis() / 1000.0;
        if (found != null && !found.equals(refused) && left > 0) {
            token = found;
            renewAt = clock.getAsDouble() + left;
        } else {
            login();
        }
        return null;
    }

    /** What a cache kept; nothing where it is broken, as a file may be after a power cut. */
    private static Json keptIn(String text) {
        try {
            Json kept = Json.parse(text);
            return kept.get("token").text() == null || kept.get("until").amount() == null ? Json.object() : kept;
        } catch (IllegalArgumentException broken) {
            return Json.object();
        }
    }

    private void pauseOrThrow(FeError error, int tried, boolean isRepeatable) {
        Double pause = retries.pause(error, tried, isRepeatable, chance.getAsDouble());
        if (pause == null) {
            throw error;
        }
        sleep.accept(pause);
    }

    private Answer send(String method, String url, String content, String bearer, Duration patience, String mediaType) {
        HttpRequest.BodyPublisher body = content == null
                ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(content);
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url)).method(method, body).timeout(patience)
                .header("Accept", mediaType);
        if (content != null) {
            request.header("Content-Type", JSON);
        }
        if (bearer != null) {
            request.header("Authorization", "Bearer " + bearer);
        }
        if (language != null) {
            request.header("Accept-Language", language);
        }
        CompletableFuture<HttpResponse<byte[]>> answer =
                http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        try {
            // The timeout of a request ends with the headers of its answer, so the body needs one of its own.
            return read(answer.get(patience.toMillis() + BODY_MILLIS, TimeUnit.MILLISECONDS), mediaType);
        } catch (ExecutionException failed) {
            throw whatWentWrong(failed.getCause());
        } catch (TimeoutException error) {
            answer.cancel(true);
            throw new FeError.TimedOut(error);
        } catch (InterruptedException error) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw new FeError.Interrupted(error);
        }
    }

    private static FeError whatWentWrong(Throwable error) {
        if (error instanceof HttpConnectTimeoutException || error instanceof ConnectException
                || error instanceof SSLHandshakeException) {
            return new FeError.ServerAway(error);
        } else if (error instanceof HttpTimeoutException) {
            return new FeError.TimedOut(error);
        }
        return new FeError.AnswerLost("the answer was lost: " + error, error);
    }

    private static Answer read(HttpResponse<byte[]> response, String mediaType) {
        String text = new String(response.body(), StandardCharsets.UTF_8);
        String excerpt = text.substring(0, Math.min(EXCERPT, text.length()));
        HttpHeaders headers = response.headers();
        int status = response.statusCode();
        boolean isJson = mediaType.equals(JSON);
        Json body = Json.of(null);
        if (isJson || status >= 400) {
            try {
                body = Json.parse(text);
            } catch (IllegalArgumentException broken) {
                // Not the service's: said below.
            }
        }
        if (status >= 400) {
            String requestId = headers.firstValue("X-Request-Id").orElse(null);
            throw FeError.Api.of(status, body, excerpt, requestId, retryAfter(headers));
        }
        boolean isRight = isJson
                ? body.isObject() : headers.firstValue("Content-Type").orElse("").split(";")[0].equals(mediaType);
        if (status < 200 || status >= 300 || !isRight) {
            throw new FeError.BrokenAnswer(status, excerpt);
        }
        return new Answer(body, response.body(), headers);
    }

    /** Seconds to wait, where an answer says so: as a number, or as a proxy may, as a date beside its own `Date`. */
    static Double retryAfter(HttpHeaders headers) {
        String said = headers.firstValue("Retry-After").orElse("").strip();
        if (said.matches("[0-9]{1,9}")) {
            return Double.valueOf(said);
        }
        try {
            ZonedDateTime until = ZonedDateTime.parse(said, DateTimeFormatter.RFC_1123_DATE_TIME);
            String date = headers.firstValue("Date").orElse("");
            ZonedDateTime now = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME);
            return (double) Math.max(0, Duration.between(now, until).toSeconds());
        } catch (DateTimeException none) {
            return null;
        }
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String queryOf(Map<String, Object> query) {
        StringJoiner said = new StringJoiner("&", "?", "").setEmptyValue("");
        query.forEach((name, value) -> {
            if (value != null) {
                said.add(encoded(name) + "=" + encoded(value.toString()));
            }
        });
        return said.toString();
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException never) {
            throw new IllegalStateException(never);
        }
    }
}
