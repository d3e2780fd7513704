package fe.client;

/**
 * How often a call is tried in all, and how many seconds it pauses between.
 *
 * <p>A call whose answer was lost, or was 408, 429 or 5xx, is tried again only if doing it twice does what doing it once
 * does. A call that could not connect is always tried again: nothing was sent. Each pause is twice the one before, less up
 * to a quarter by chance. Where the service asks for more than `longestPause` (`Retry-After`), the error is thrown at once.
 */
public record Retries(int tries, double firstPause, double longestPause) {
    /** Five tries, half a second, a minute. */
    public Retries() {
        this(5, 0.5, 60.0);
    }

    /** Seconds after which to try again; null: not at all. */
    Double pause(FeError error, int tried, boolean isRepeatable, double chance) {
        boolean mayHelp = error instanceof FeError.AnswerLost || error instanceof FeError.Throttled
                || error instanceof FeError.Unavailable;
        if (tried >= tries || !(error instanceof FeError.ServerAway || (isRepeatable && mayHelp))) {
            return null;
        }
        if (error instanceof FeError.Api api && api.retryAfter != null) {
            return api.retryAfter <= longestPause ? api.retryAfter : null;
        }
        return Math.min(firstPause * Math.pow(2, tried - 1), longestPause) * (1 - chance / 4);
    }
}
