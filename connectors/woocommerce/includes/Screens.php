<?php

declare(strict_types=1);

namespace FeEcf;

use FeClient\FeError;

/** Where people see receipts: the order's page in the administration, "my account", the order mail; and the PDF. */
final class Screens
{
    private const ENDPOINT = 'fe_ecf_pdf';

    public function __construct(private readonly Settings $settings, private readonly Issuer $issuer)
    {
    }

    public function register(): void
    {
        add_action('add_meta_boxes', function (): void {
            $screen = wc_get_page_screen_id('shop-order');
            add_meta_box('fe-ecf', __('e-CF', 'fe-ecf-woocommerce'), fn ($post) => $this->box($post), $screen, 'side');
        });
        add_filter('woocommerce_order_actions', function (array $actions): array {
            return $actions + ['fe_ecf_again' => __('Issue the e-CF again', 'fe-ecf-woocommerce')];
        });
        add_action('woocommerce_order_action_fe_ecf_again', function (\WC_Order $order): void {
            foreach ([$order, ...$order->get_refunds()] as $each) {
                $this->issuer->again(State::of($each));
            }
        });
        // WooCommerce shows these to the order's owner alone.
        add_action('woocommerce_order_details_after_order_table', fn ($order) => print $this->receipts($order, false));
        add_action('woocommerce_email_after_order_table', function ($order, $toShop = false, $isPlain = false): void {
            print $isPlain ? $this->plain($order) : $this->receipts($order, false);
        }, 10, 3);
        add_action('woocommerce_api_' . self::ENDPOINT, fn () => $this->serve());
    }

    /** The receipts of an order and its refunds, as HTML. */
    public function receipts(\WC_Order $order, bool $isForShop): string
    {
        $html = '';
        foreach ($this->printable($order) as $state) {
            $links = [];
            foreach ($this->links($state, $isForShop) as $url => $label) {
                $links[] = '<a href="' . esc_url($url) . '">' . esc_html($label) . '</a>';
            }
            $said = sprintf(__('%1$s, security code %2$s', 'fe-ecf-woocommerce'), $state->text('number'), $state->text('code'));
            $html .= '<p><strong>e-CF ' . esc_html($said) . '</strong>' . esc_html($this->mark($state)) . '<br>'
                . implode(' · ', $links) . '</p>';
        }
        return $html;
    }

    /** The PDF of an order's or refund's receipt; null: this person may not have it, or there is none. */
    public function pdf(int $id, string $key): ?string
    {
        $order = wc_get_order($id);
        $state = $order instanceof \WC_Abstract_Order ? State::of($order) : null;
        $shown = $state?->shown();
        if ($state === null || $shown === null || !$state->isAccepted() || !$this->maySee($shown, $key)) {
            return null;
        }
        return $this->settings->client()->pdf($state->text('track'));
    }

    private function serve(): never
    {
        nocache_headers();
        $id = absint($_GET['order'] ?? 0);
        $key = is_string($_GET['key'] ?? null) ? wp_unslash($_GET['key']) : '';
        try {
            $pdf = $this->pdf($id, $key);
        } catch (FeError) {
            wp_die(esc_html__('The receipt cannot be fetched now: try again later.', 'fe-ecf-woocommerce'), '', 503);
        }
        if ($pdf === null) {
            wp_die(esc_html__('There is no such receipt of yours.', 'fe-ecf-woocommerce'), '', 404);
        }
        header('Content-Type: application/pdf');
        header('X-Content-Type-Options: nosniff');
        header('Content-Disposition: inline; filename="e-CF-' . $id . '.pdf"');
        echo $pdf;
        exit;
    }

    /** The shop's people, the customer who is logged in, and who has the order's own key, as in WooCommerce's links. */
    private function maySee(\WC_Order $order, string $key): bool
    {
        $owner = (int) $order->get_customer_id();
        return current_user_can('edit_shop_orders')
            || ($owner > 0 && $owner === get_current_user_id())
            || ($key !== '' && hash_equals((string) $order->get_order_key(), $key));
    }

    private function box(mixed $post): void
    {
        $order = $post instanceof \WP_Post ? wc_get_order($post->ID) : $post;
        if (!$order instanceof \WC_Order) {
            return;
        }
        echo $this->receipts($order, true);
        foreach ([$order, ...$order->get_refunds()] as $each) {
            $state = State::of($each);
            if ($state->isKnown() && !$state->isAccepted()) {
                $name = sprintf(__('Order %s', 'fe-ecf-woocommerce'), $each->get_id());
                $status = $state->text('status') ?: __('not issued yet', 'fe-ecf-woocommerce');
                echo '<p>' . esc_html("$name: {$state->text('number')} $status") . '</p>';
            }
        }
    }

    private function plain(\WC_Order $order): string
    {
        $text = '';
        foreach ($this->printable($order) as $state) {
            $text .= "\ne-CF {$state->text('number')}{$this->mark($state)}\n";
            $text .= implode("\n", array_keys($this->links($state, false))) . "\n";
        }
        return $text;
    }

    /** @return list<State> */
    private function printable(\WC_Order $order): array
    {
        $states = array_map(State::of(...), [$order, ...$order->get_refunds()]);
        return array_values(array_filter($states, fn (State $state): bool => $state->isAccepted()));
    }

    /** @return array<string, string> label by address */
    private function links(State $state, bool $isForShop): array
    {
        $query = ['order' => $state->order->get_id()];
        if (!$isForShop) {
            $query['key'] = (string) $state->shown()?->get_order_key();
        }
        $links = [add_query_arg($query, WC()->api_request_url(self::ENDPOINT)) => __('PDF', 'fe-ecf-woocommerce')];
        $links += [$state->text('link') => __('Page of the receipt', 'fe-ecf-woocommerce')];
        $links += [$state->text('qr') => __('Check it at the DGII', 'fe-ecf-woocommerce')];
        return array_filter($links, fn (string $url): bool => $url !== '', ARRAY_FILTER_USE_KEY);
    }

    private function mark(State $state): string
    {
        $isReal = in_array($state->get('environment'), [null, 'ecf'], true);
        return $isReal ? '' : ' ' . __('(test, without fiscal value)', 'fe-ecf-woocommerce');
    }
}
