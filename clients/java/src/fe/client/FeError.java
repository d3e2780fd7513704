package fe.client;

import java.util.List;

/** Base of all errors, a class for each kind. A rejection by the tax authority is not an error: it is a verdict. */
public class FeError extends RuntimeException {
    /** Id that the receipt was submitted under, or null. Repeated with this id it is issued once at most. */
    public String clientRequestId;

    /** Of a batch that went in several requests: the results before the request that failed; else null. */
    public List<Json> items;

    FeError(String message, Throwable cause) {
        super(message, cause);
    }

    /** No connection could be made: nothing was sent, so nothing has happened. */
    public static final class ServerAway extends FeError {
        ServerAway(Throwable cause) {
            super("no connection: " + cause, cause);
        }
    }

    /** The thread was interrupted: the call may have reached the service. It is not repeated. */
    public static final class Interrupted extends FeError {
        Interrupted(InterruptedException cause) {
            super("the thread was interrupted", cause);
        }
    }

    /** The call may have reached the service, but its answer did not come: the result is unknown. */
    public static class AnswerLost extends FeError {
        AnswerLost(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** The answer did not come in time. */
    public static final class TimedOut extends AnswerLost {
        TimedOut(Throwable cause) {
            super("no answer in time", cause);
        }
    }

    /** The answer is not the service's; it may be from a proxy in between. */
    public static final class BrokenAnswer extends AnswerLost {
        public final int status;
        public final String excerpt;

        BrokenAnswer(int status, String excerpt) {
            super("HTTP " + status + " with a body that is not the service's: " + excerpt, null);
            this.status = status;
            this.excerpt = excerpt;
        }
    }

    /** The service refused the call; this carries its message, and the id by which its operator finds the call. */
    public static class Api extends FeError {
        public final int status;
        /** All problems of the document, the cause first. Empty where the call was not about a document. */
        public final List<Json> problems;
        /** `X-Request-Id` of the answer, or null. */
        public final String requestId;
        /** Seconds after which to try again, where the service said so; else null. */
        public final Double retryAfter;

        Api(int status, String message, Json body, String requestId, Double retryAfter) {
            super(message + " (HTTP " + status + ")", null);
            this.status = status;
            this.problems = body.get("problems").items();
            this.requestId = requestId;
            this.retryAfter = retryAfter;
        }

        static Api of(int status, Json body, String excerpt, String requestId, Double retryAfter) {
            String said = body.get("message").text();
            String message = said == null ? excerpt : said;
            return switch (status) {
                case 400 -> new Invalid(status, message, body, requestId, retryAfter);
                case 401 -> new WrongCredentials(status, message, body, requestId, retryAfter);
                case 403 -> new Forbidden(status, message, body, requestId, retryAfter);
                case 404 -> new NotThere(status, message, body, requestId, retryAfter);
                case 409 -> new Conflict(status, message, body, requestId, retryAfter);
                case 429 -> new Throttled(status, message, body, requestId, retryAfter);
                default -> status == 408 || status >= 500
                        ? new Unavailable(status, message, body, requestId, retryAfter)
                        : new Api(status, message, body, requestId, retryAfter);
            };
        }
    }

    /** 400: the request or its document cannot be what it should be; `problems` says why. Repeating does not help. */
    public static final class Invalid extends Api {
        Invalid(int status, String message, Json body, String requestId, Double retryAfter) {
            super(status, message, body, requestId, retryAfter);
        }
    }

    /** 401: the key or its secret is wrong, revoked or expired. */
    public static final class WrongCredentials extends Api {
        WrongCredentials(int status, String message, Json body, String requestId, Double retryAfter) {
            super(status, message, body, requestId, retryAfter);
        }
    }

    /** 403: the key may not do this. */
    public static final class Forbidden extends Api {
        Forbidden(int status, String message, Json body, String requestId, Double retryAfter) {
            super(status, message, body, requestId, retryAfter);
        }
    }

    /** 404: there is no such thing of yours. */
    public static final class NotThere extends Api {
        NotThere(int status, String message, Json body, String requestId, Double retryAfter) {
            super(status, message, body, requestId, retryAfter);
        }
    }

    /** 409: not in the state that it is in. */
    public static final class Conflict extends Api {
        Conflict(int status, String message, Json body, String requestId, Double retryAfter) {
            super(status, message, body, requestId, retryAfter);
        }
    }

    /** 429: too many calls; `retryAfter` says when to go on. */
    public static final class Throttled extends Api {
        Throttled(int status, String message, Json body, String requestId, Double retryAfter) {
            super(status, message, body, requestId, retryAfter);
        }
    }

    /** 408 or 5xx: the service, or a proxy before it, cannot do it at the moment. */
    public static final class Unavailable extends Api {
        Unavailable(int status, String message, Json body, String requestId, Double retryAfter) {
            super(status, message, body, requestId, retryAfter);
        }
    }

    /** The clientRequestId was used before, with another document: that one counts, and this was not issued. */
    public static final class ReusedId extends FeError {
        /** The answer about the first one. */
        public final Json first;

        ReusedId(Json first) {
            super("the clientRequestId was used before, for another document (" + first.get("taxLogId") + ")", null);
            this.first = first;
        }
    }

    /** There was no verdict in time. The receipt is on its way: go on with `await`, and do not issue it again. */
    public static final class NoVerdictYet extends FeError {
        /** The submission as it was last seen. */
        public final Json submission;

        NoVerdictYet(Json submission) {
            super(submission.get("taxLogId").text() + " is still " + submission.get("status").text(), null);
            this.submission = submission;
        }
    }

    /** A call that claims to be a webhook was not made by the service, or not lately, or is no event. */
    public static final class WebhookRefused extends FeError {
        WebhookRefused(String message) {
            super(message, null);
        }
    }
}
