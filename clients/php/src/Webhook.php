<?php

declare(strict_types=1);

namespace FeClient;

/** Whether a call was made by the service: to be asked before anything in it is believed. */
final class Webhook
{
    /**
     * Check a call by its Standard Webhooks headers, and return its event.
     *
     * `$secret` is as it was shown, `whsec_` and all; `$headers` are names in any case, such as those of
     * `getallheaders()`; `$body` are the very bytes that came: `file_get_contents('php://input')`. Store a call once,
     * under its `webhook-id`: one whose answer was lost comes again.
     *
     * Throws WebhookRefusedError: not ours, changed on its way, or older than five minutes. Answer 401 then.
     *
     * @param array<string, string|list<string>> $headers
     * @return array<string, mixed> `event` names the kind; new kinds and fields may come
     */
    public static function verify(
        #[\SensitiveParameter] string $secret,
        array $headers,
        string $body,
        ?int $now = null,
        int $tolerance = 300,
    ): array {
        $moment = self::header($headers, 'webhook-timestamp');
        if (!preg_match('/^[0-9]{1,12}$/D', $moment)) {
            throw new WebhookRefusedError('webhook-timestamp is no moment');
        }
        if (abs(($now ?? time()) - (int) $moment) > $tolerance) {
            throw new WebhookRefusedError('the call is too old, or a clock is wrong');
        }
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        if ($key === false || $key === '') {
            throw new \InvalidArgumentException('the secret is not one of a webhook');
        }
        $signed = self::header($headers, 'webhook-id') . ".$moment.$body";
        $right = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
        $fits = false;
        foreach (explode(' ', self::header($headers, 'webhook-signature')) as $one) {
            $fits = hash_equals($right, $one) || $fits;
        }
        if (!$fits) {
            throw new WebhookRefusedError('no signature in webhook-signature fits');
        }
        $event = Json::read($body);
        if (!is_string($event['event'] ?? null)) {
            throw new WebhookRefusedError('the body is no event');
        }
        return $event;
    }

    private static function header(array $headers, string $name): string
    {
        foreach ($headers as $given => $value) {
            if (strtolower((string) $given) === $name) {
                return is_array($value) ? (string) reset($value) : (string) $value;
            }
        }
        return '';
    }
}
