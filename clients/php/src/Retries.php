<?php

declare(strict_types=1);

namespace FeClient;

/**
 * How often a call is tried in all, and how long to pause between.
 *
 * A call whose answer was lost, or was 408, 429 or 5xx, is tried again only if doing it twice does what doing it once
 * does. A call that could not connect is always tried again: nothing was sent.
 */
final class Retries
{
    /**
     * `$firstPause`: seconds before the second try; each pause is twice the one before, less up to a quarter by chance.
     * `$longestPause`: where the service asks for more (`Retry-After`), the error is thrown at once.
     */
    public function __construct(
        public readonly int $tries = 5,
        public readonly float $firstPause = 0.5,
        public readonly float $longestPause = 60.0,
    ) {
    }

    /** @internal Seconds after which to try again; null: not at all. */
    public function pause(FeError $error, int $tried, bool $isRepeatable, float $chance): ?float
    {
        $mayHelp = $error instanceof AnswerLostError || $error instanceof ThrottledError
            || $error instanceof UnavailableError;
        if ($tried >= $this->tries || !($error instanceof ServerAwayError || ($isRepeatable && $mayHelp))) {
            return null;
        }
        if ($error instanceof ApiError && $error->retryAfter !== null) {
            return $error->retryAfter <= $this->longestPause ? $error->retryAfter : null;
        }
        return min($this->firstPause * 2 ** ($tried - 1), $this->longestPause) * (1 - $chance / 4);
    }
}
