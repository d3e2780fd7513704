package fe.client;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Makes calls by the Java client, as driver.mjs does by the TypeScript one. */
public final class Driver {
    private static final BufferedReader IN = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private static final Set<String> OF_EVERY_RECORD = Set.of("json", "toString", "hashCode");
    private static Path tokens;
    private static double now;

    public static void main(String[] arguments) throws Exception {
        tokens = Path.of(arguments[0]);
        for (Json order = next(); order.isObject(); order = next()) {
            try {
                if (!order.get("types").isNull()) {
                    tell("result", typed(order.get("types")));
                    continue;
                }
                tell("result", order.get("calls").isNull() ? called(order) : judged(order));
            } catch (IllegalArgumentException refused) {
                tell("refused", refused.getMessage());
            } catch (FeError error) {
                tell("error", fields(error));
            }
        }
    }

    private static Json next() throws Exception {
        String line = IN.readLine();
        return line == null ? Json.of(null) : Json.parse(line);
    }

    private static void tell(String name, Object value) {
        OUT.println(Json.object(name, value));
    }

    private static Object called(Json order) {
        now = 0;
        TokenCache cache = TokenCache.inFolder(tokens.resolve(UUID.randomUUID().toString()));
        Fe fe = client(order, cache, Duration.ofSeconds(30));
        if (!order.get("patience").isNull()) {
            fe.login();
            // Which finds the token in the cache.
            fe = client(order, cache, duration(order.get("patience")));
        }
        Json first = order.get("args").at(0);
        String id = first.text();
        Object document = id == null ? first : id;
        List<Option> listed = new ArrayList<>();
        order.get("options").members().forEach((name, value) -> listed.add(option(name, value)));
        Option[] options = listed.toArray(Option[]::new);
        return switch (order.get("call").text()) {
            case "call" -> fe.call(id, order.get("args").at(1).text(), order.get("args").at(2));
            case "submit" -> fe.submit(document, options);
            case "submit_and_wait" -> fe.submitAndWait(document, options);
            case "status" -> fe.status(id, options);
            case "preview" -> fe.preview(document, options);
            case "pdf" -> bytes(fe.pdf(id, options));
            case "received_ticket" -> bytes(fe.receivedTicket(id, options));
            case "batch" -> fe.batch(first, options);
            case "invoices" -> all(fe.invoices(options));
            case "received" -> all(fe.received(options));
            case "approve" -> fe.approve(id, options);
            case "reject" -> fe.reject(id, order.get("args").at(1).text(), options);
            case "test_webhook" -> fe.testWebhook(options);
            case "requests" -> all(fe.requests(options));
            case "webhook_endpoints" -> fe.webhookEndpoints();
            case "set_webhook_endpoint" -> fe.setWebhookEndpoint(id, order.get("args").at(1));
            case "delete_webhook_endpoint" -> fe.deleteWebhookEndpoint(id);
            default -> throw new IllegalStateException("no call " + order);
        };
    }

    private static Fe client(Json order, TokenCache cache, Duration timeout) {
        Retries retries = new Retries(order.get("tries").amount().intValue(), 0.5, 60);
        return new Fe(order.get("url").text(), "fak_0", "secret", Driver::sleep, () -> now, () -> 0.0,
                Option.retries(retries), Option.tokenCache(cache), Option.timeout(timeout));
    }

    private static void sleep(double seconds) {
        now += seconds;
        OUT.println("{\"slept\":" + seconds + "}");
        try {
            IN.readLine();
        } catch (java.io.IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Option option(String name, Json value) {
        return switch (name) {
            case "client_request_id" -> Option.clientRequestId(value.text());
            case "strict" -> Option.strict(value.isTrue());
            case "layout" -> Option.layout(value.text());
            case "qr" -> Option.qr(value.text());
            case "timeout" -> Option.timeout(duration(value));
            case "until" -> Option.untilSigned();
            case "state" -> Option.state(value.text());
            case "endpoint" -> Option.endpoint(value.text());
            case "since" -> Option.since(value.text());
            case "key" -> Option.key(value.text());
            case "status" -> Option.status(value.text());
            case "request_id" -> Option.requestId(value.text());
            case "rnc" -> Option.rnc(value.text());
            case "approval_status" -> Option.approvalStatus(value.text());
            case "metadata" -> {
                Map<String, String> labels = new LinkedHashMap<>();
                value.members().forEach((label, each) -> labels.put(label, each.text()));
                yield Option.metadata(labels);
            }
            case "page_size" -> Option.pageSize(value.amount().intValue());
            default -> throw new IllegalStateException("no option " + name);
        };
    }

    private static Duration duration(Json seconds) {
        return Duration.ofMillis((long) (seconds.amount().doubleValue() * 1000));
    }

    private static Json bytes(byte[] content) {
        return Json.object("bytes", new String(content, StandardCharsets.UTF_8));
    }

    private static List<Json> all(Iterable<Json> pages) {
        List<Json> all = new ArrayList<>();
        pages.forEach(all::add);
        return all;
    }

    private static Map<String, Object> fields(FeError error) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", error.getClass().getSimpleName() + "Error");
        fields.put("client_request_id", error.clientRequestId);
        fields.put("items", error.items);
        if (error instanceof FeError.BrokenAnswer broken) {
            fields.put("status", broken.status);
        } else if (error instanceof FeError.Api api) {
            fields.put("status", api.status);
            fields.put("request_id", api.requestId);
            fields.put("retry_after", api.retryAfter == null ? null : api.retryAfter.longValue());
            fields.put("problems", api.problems.isEmpty() ? null : api.problems);
        }
        fields.values().removeIf(value -> value == null);
        return fields;
    }

    private static List<Boolean> judged(Json order) {
        List<Boolean> judged = new ArrayList<>();
        for (Json call : order.get("calls")) {
            Map<String, String> headers = new HashMap<>();
            call.get("headers").members().forEach((name, value) -> headers.put(name, value.text()));
            byte[] body = call.get("body").text().getBytes(StandardCharsets.UTF_8);
            boolean isValid;
            try {
                Webhook.verify(order.get("secret").text(), headers, body, call.get("now").amount().longValue());
                isValid = true;
            } catch (FeError.WebhookRefused refused) {
                isValid = false;
            }
            judged.add(isValid);
        }
        return judged;
    }

    /** Members of each value as its type reads it. */
    private static List<Object> typed(Json values) throws ReflectiveOperationException {
        List<Object> read = new ArrayList<>();
        for (Json each : values) {
            Class<?> type = Class.forName("fe.client.Types$" + each.at(0).text());
            read.add(members(type.getMethod("from", Json.class).invoke(null, Json.parse(each.at(1).text()))));
        }
        return read;
    }

    private static Object members(Object value) throws ReflectiveOperationException {
        if (value instanceof List<?> list) {
            List<Object> read = new ArrayList<>();
            for (Object each : list) {
                read.add(members(each));
            }
            return read;
        } else if (!(value instanceof Record)) {
            return value;
        }
        Map<String, Object> read = new LinkedHashMap<>();
        for (Method each : value.getClass().getDeclaredMethods()) {
            if (each.getParameterCount() == 0 && !OF_EVERY_RECORD.contains(each.getName())) {
                read.put(each.getName(), members(each.invoke(value)));
            }
        }
        return read;
    }
}
