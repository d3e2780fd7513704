<?php

declare(strict_types=1);

namespace FeClient;

/** @internal Requests by curl, and what its errors mean. */
final class Http
{
    private const EXCERPT = 200;
    private const NEVER_SENT = [
        CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR,
        CURLE_SSL_CACERT,
    ];

    private ?\CurlHandle $curl = null;

    /**
     * Send a request, and return the body of a good answer, JSON as an array, and its headers.
     *
     * @param list<string> $headers
     * @return array{0: array<string, mixed>|string, 1: array<string, string>}
     */
    public function send(
        string $method,
        string $url,
        #[\SensitiveParameter] array $headers,
        #[\SensitiveParameter] ?string $content,
        float $timeout,
        string $mediaType,
    ): array {
        $said = [];
        $this->curl ??= curl_init();
        curl_reset($this->curl);
        curl_setopt_array($this->curl, [
            CURLOPT_URL => $url,
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => ["Accept: $mediaType", 'Expect:', ...$headers],
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT_MS => (int) ($timeout * 1000),
            CURLOPT_CONNECTTIMEOUT_MS => (int) (min($timeout, 10.0) * 1000),
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            // Redirects would take the token elsewhere.
            CURLOPT_FOLLOWLOCATION => false,
            // On a connection that it used before, curl repeats a POST by itself when that breaks.
            CURLOPT_FRESH_CONNECT => true,
            CURLOPT_FORBID_REUSE => true,
            CURLOPT_HEADERFUNCTION => function ($_, string $line) use (&$said): int {
                [$name, $value] = [...explode(':', $line, 2), ''];
                $said[strtolower(trim($name))] = trim($value);
                return strlen($line);
            },
        ]);
        if ($content !== null) {
            curl_setopt($this->curl, CURLOPT_POSTFIELDS, $content);
        }
        $text = curl_exec($this->curl);
        if ($text === false) {
            throw $this->whatWentWrong();
        }
        return [self::read(curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE), $said, (string) $text, $mediaType), $said];
    }

    /** Seconds to wait, where an answer says so: as a number, or as a proxy may, as a date beside its own `Date`. */
    public static function retryAfter(array $headers): ?float
    {
        $said = $headers['retry-after'] ?? '';
        if (ctype_digit($said)) {
            return (float) $said;
        }
        $until = strtotime($said);
        $now = strtotime($headers['date'] ?? '');
        return $until === false || $now === false ? null : (float) max(0, $until - $now);
    }

    private static function read(int $status, array $headers, string $text, string $mediaType): array|string
    {
        $body = $status >= 400 || $mediaType === Session::JSON ? Json::read($text) : null;
        $excerpt = substr($text, 0, self::EXCERPT);
        if ($status >= 400) {
            $requestId = $headers['x-request-id'] ?? null;
            throw ApiError::of($status, $body, $excerpt, $requestId, self::retryAfter($headers));
        }
        if ($mediaType !== Session::JSON && explode(';', $headers['content-type'] ?? '')[0] === $mediaType) {
            $body = $text;
        }
        if ($status < 200 || $status >= 300 || $body === null) {
            throw new BrokenAnswerError($status, $excerpt);
        }
        return $body;
    }

    private function whatWentWrong(): FeError
    {
        $number = curl_errno($this->curl);
        $words = curl_error($this->curl);
        $wasSent = curl_getinfo($this->curl, CURLINFO_PRETRANSFER_TIME) > 0;
        return match (true) {
            in_array($number, self::NEVER_SENT, true) => new ServerAwayError($words),
            $number !== CURLE_OPERATION_TIMEDOUT => new AnswerLostError($words),
            $wasSent => new TimedOutError($words),
            default => new ServerAwayError($words),
        };
    }
}
