<?php

/** Errors of the client, a class for each kind. A rejection by the tax authority is not an error: it is a verdict. */

declare(strict_types=1);

namespace FeClient;

/** Base of all errors. Its message is for people. */
class FeError extends \RuntimeException
{
    /** Id that the receipt was submitted under. Repeated with this id it is issued once at most. */
    public ?string $clientRequestId = null;

    /** Of a batch that went in several requests: the results before the request that failed. */
    public ?array $items = null;
}

/** No connection could be made: nothing was sent, so nothing has happened. */
final class ServerAwayError extends FeError
{
}

/** The call may have reached the service, but its answer did not come: the result is unknown. */
class AnswerLostError extends FeError
{
}

/** The answer did not come in time. */
final class TimedOutError extends AnswerLostError
{
}

/** The answer is not the service's; it may be from a proxy in between. */
final class BrokenAnswerError extends AnswerLostError
{
    public function __construct(public readonly int $status, public readonly string $excerpt)
    {
        parent::__construct("HTTP $status with a body that is not the service's: $excerpt");
    }
}

/** The service refused the call; this carries its message, and the id by which its operator finds the call. */
class ApiError extends FeError
{
    /** @param list<array<string, mixed>> $problems all problems of the document, the cause first */
    final public function __construct(
        public readonly int $status,
        string $message,
        public readonly array $problems = [],
        public readonly ?string $requestId = null,
        public readonly ?float $retryAfter = null,
    ) {
        parent::__construct("$message (HTTP $status)");
    }

    /** @internal Make the error of an answer; `$body` is null where a proxy answered something else than JSON. */
    public static function of(int $status, ?array $body, string $excerpt, ?string $requestId, ?float $retryAfter): self
    {
        $class = match (true) {
            $status === 400 => InvalidError::class,
            $status === 401 => WrongCredentialsError::class,
            $status === 403 => ForbiddenError::class,
            $status === 404 => NotThereError::class,
            $status === 409 => ConflictError::class,
            $status === 429 => ThrottledError::class,
            $status === 408, $status >= 500 => UnavailableError::class,
            default => self::class,
        };
        $problems = is_array($body['problems'] ?? null) ? $body['problems'] : [];
        return new $class($status, (string) ($body['message'] ?? $excerpt), $problems, $requestId, $retryAfter);
    }
}

/** 400: the request or its document cannot be what it should be; `problems` says why. Repeating does not help. */
final class InvalidError extends ApiError
{
}

/** 401: the key or its secret is wrong, revoked or expired. */
final class WrongCredentialsError extends ApiError
{
}

/** 403: the key may not do this. */
final class ForbiddenError extends ApiError
{
}

/** 404: there is no such thing of yours. */
final class NotThereError extends ApiError
{
}

/** 409: not in the state that it is in. */
final class ConflictError extends ApiError
{
}

/** 429: too many calls; `retryAfter` says when to go on. */
final class ThrottledError extends ApiError
{
}

/** 408 or 5xx: the service, or a proxy before it, cannot do it at the moment. */
final class UnavailableError extends ApiError
{
}

/** The clientRequestId was used before, with another document: that one counts, and this was not issued. */
final class ReusedIdError extends FeError
{
    /** @param array<string, mixed> $first the answer about the first one */
    public function __construct(public readonly array $first)
    {
        parent::__construct("the clientRequestId was used before, for another document ({$first['taxLogId']})");
    }
}

/** There was no verdict in time. The receipt is still on its way: go on with `wait`, and do not issue it again. */
final class NoVerdictYetError extends FeError
{
    /** @param array<string, mixed> $submission the submission as it was last seen */
    public function __construct(public readonly array $submission)
    {
        parent::__construct("{$submission['taxLogId']} is still {$submission['status']}");
    }
}

/** A call that claims to be a webhook was not made by the service, or not lately, or is no event. */
final class WebhookRefusedError extends FeError
{
}
