<?php

declare(strict_types=1);

namespace FeClient;

/** @internal One client's standing with the service: its token, and how it calls, and calls again. */
final class Session
{
    public const JSON = 'application/json';
    private const PREFIX = '/api/v1/fe';
    /** Seconds before its end at which a token is renewed. */
    private const RENEWED_BEFORE = 60;

    private readonly string $base;
    private readonly string $credentials;
    private readonly string $cacheKey;
    private readonly Http $http;
    private ?string $token = null;
    private float $renewAt = 0.0;

    /**
     * @param \Closure(float): mixed $sleep
     * @param \Closure(): float $clock seconds that only go forward
     * @param \Closure(): float $chance
     */
    public function __construct(
        string $baseUrl,
        string $keyId,
        #[\SensitiveParameter] string $secret,
        public float $timeout,
        private readonly Retries $retries,
        private readonly ?string $language,
        private readonly ?object $cache,
        private readonly \Closure $sleep,
        public readonly \Closure $clock,
        private readonly \Closure $chance,
    ) {
        if (!preg_match('#^https?://[^/]+#i', $baseUrl)) {
            throw new \InvalidArgumentException('the base URL is missing, such as https://fe.example.com');
        }
        $path = trim((string) parse_url($baseUrl, PHP_URL_PATH), '/');
        $this->base = rtrim($baseUrl, '/') . ($path === '' ? self::PREFIX : '');
        $this->credentials = Json::write(['apiKeyId' => $keyId, 'apiSecret' => $secret]);
        $this->cacheKey = 'fe-token-' . substr(hash('sha256', "{$this->base} {$this->credentials}"), 0, 32);
        $this->http = new Http();
    }

    /** Do as `exchange`, and return the body alone. */
    public function call(string $method, string $path, mixed ...$more): array|string
    {
        return $this->exchange($method, $path, ...$more)[0];
    }

    /**
     * Call with a token, which is renewed where it is over; again where that is safe. Returns body and headers.
     *
     * `$wait` is how much longer than usual the answer may take, `$requestId` what errors are to carry.
     *
     * @return array{0: array<string, mixed>|string, 1: array<string, string>}
     */
    public function exchange(
        string $method,
        string $path,
        array $query = [],
        mixed $body = null,
        bool $isRepeatable = true,
        float $wait = 0.0,
        ?string $requestId = null,
        string $mediaType = self::JSON,
    ): array {
        $content = $body === null ? null : Json::write($body); // once: every try sends the same bytes
        $url = $this->base . $path . self::queryOf($query);
        $refused = null;
        for ($tried = 1;;) {
            try {
                $token = $this->usableToken($refused);
                $headers = ["Authorization: Bearer $token", ...$this->headers($content)];
                return $this->http->send($method, $url, $headers, $content, $this->timeout + $wait, $mediaType);
            } catch (FeError $error) {
                if (!isset($token)) {
                    throw $error; // of the login, which was repeated there
                }
                $error->clientRequestId = $requestId;
                if ($error instanceof WrongCredentialsError) {
                    // Over before we thought so, or revoked: a new one tells.
                    if ($refused !== null) {
                        throw $error;
                    }
                    [$refused, $token] = [$token, null];
                    continue;
                }
                $this->pauseOrThrow($error, $tried++, $isRepeatable);
                $token = null;
            }
        }
    }

    /** Get a new token, whatever there is. */
    public function login(): array
    {
        for ($tried = 1;; $tried++) {
            $began = ($this->clock)();
            try {
                $headers = $this->headers($this->credentials);
                $url = "{$this->base}/login";
                [$said] = $this->http->send('POST', $url, $headers, $this->credentials, $this->timeout, self::JSON);
            } catch (FeError $error) {
                $this->pauseOrThrow($error, $tried, true);
                continue;
            }
            $lasts = (int) $said['expiresIn'] - self::RENEWED_BEFORE;
            $this->token = $said['accessToken'];
            $this->renewAt = $began + $lasts;
            $kept = ['token' => $this->token, 'until' => time() + $lasts];
            $this->cache?->set($this->cacheKey, $kept, $lasts);
            return $said;
        }
    }

    public function sleep(float $seconds): void
    {
        ($this->sleep)($seconds);
    }

    private function usableToken(?string $refused): string
    {
        if ($this->token === null || $this->token === $refused || ($this->clock)() >= $this->renewAt) {
            $renew = function () use ($refused): void {
                $kept = $this->cache?->get($this->cacheKey);
                if (is_array($kept) && $kept['token'] !== $refused && $kept['until'] > time()) {
                    $this->token = $kept['token'];
                    $this->renewAt = ($this->clock)() + $kept['until'] - time();
                } else {
                    $this->login();
                }
            };
            $this->cache instanceof FileCache ? $this->cache->alone($this->cacheKey, $renew) : $renew();
        }
        return $this->token;
    }

    private function pauseOrThrow(FeError $error, int $tried, bool $isRepeatable): void
    {
        $pause = $this->retries->pause($error, $tried, $isRepeatable, ($this->chance)());
        if ($pause === null) {
            throw $error;
        }
        $this->sleep($pause);
    }

    /** @return list<string> */
    private function headers(?string $content): array
    {
        return [
            ...($this->language === null ? [] : ["Accept-Language: {$this->language}"]),
            ...($content === null ? [] : ['Content-Type: ' . self::JSON]),
        ];
    }

    private static function queryOf(array $query): string
    {
        $said = [];
        foreach ($query as $name => $value) {
            $text = match (true) {
                $value instanceof \DateTimeInterface => $value->format(DATE_RFC3339_EXTENDED),
                is_bool($value) => $value ? 'true' : 'false',
                default => $value,
            };
            $said[$name] = $text;
        }
        $text = http_build_query($said, '', '&', PHP_QUERY_RFC3986); // leaves out what is null
        return $text === '' ? '' : "?$text";
    }
}
