<?php

declare(strict_types=1);

namespace FeEcf;

use FeClient\{Webhook, WebhookRefusedError};

/** The webhook: `POST /wp-json/fe-ecf/v1/webhook` has an order looked at again at once. */
final class Calls
{
    public function __construct(private readonly Settings $settings, private readonly Issuer $issuer)
    {
    }

    public function register(): void
    {
        add_action('rest_api_init', fn () => register_rest_route('fe-ecf/v1', '/webhook', [
            'methods' => 'POST',
            'callback' => fn (\WP_REST_Request $request): \WP_REST_Response => $this->take($request),
            'permission_callback' => '__return_true', // its signature says who calls
        ]));
    }

    /**
     * Verify a call and act on it. A call that comes twice, with one webhook-id or with two, changes nothing the second
     * time: an order that has the verdict is not touched.
     */
    public function take(\WP_REST_Request $request): \WP_REST_Response
    {
        $headers = [];
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            $headers[$name] = (string) $request->get_header($name);
        }
        try {
            $event = Webhook::verify($this->settings->get('webhook'), $headers, (string) $request->get_body());
        } catch (WebhookRefusedError | \InvalidArgumentException) {
            return new \WP_REST_Response(['message' => 'the signature does not fit'], 401);
        }
        $submission = is_array($event['submission'] ?? null) ? $event['submission'] : [];
        $id = (string) ($submission['clientRequestId'] ?? '');
        $form = '/^woo-' . preg_quote($this->settings->site(), '/') . '-(\d+)(-\d+)?$/D';
        $order = preg_match($form, $id, $part) ? wc_get_order((int) $part[1]) : null;
        $state = $order instanceof \WC_Abstract_Order ? State::of($order) : null;
        if ($state === null || $state->get('id') !== $id || $state->get('call') === $headers['webhook-id']) {
            return new \WP_REST_Response(null, 204); // not of this shop, of an earlier attempt, or known
        }
        $state->save(['call' => $headers['webhook-id']]);
        if (!$state->isOpen() && $state->get('status') !== ($submission['status'] ?? null)) {
            $this->issuer->reopen($state);
        }
        $this->issuer->run($order->get_id());
        return new \WP_REST_Response(null, 204);
    }
}
