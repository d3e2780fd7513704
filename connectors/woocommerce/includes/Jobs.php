<?php

declare(strict_types=1);

namespace FeEcf;

/** When something is done: WordPress's hooks mark orders and refunds, Action Scheduler works on them in the background. */
final class Jobs
{
    public const ISSUE = 'fe_ecf_issue';
    private const SWEEP = 'fe_ecf_sweep';
    private const GROUP = 'fe-ecf';
    private const SWEPT_EVERY = 900;
    private const SWEPT = 500;

    public function __construct(private readonly Settings $settings, private readonly Issuer $issuer)
    {
    }

    public function register(): void
    {
        add_action('woocommerce_order_status_processing', fn ($id) => $this->paid((int) $id));
        add_action('woocommerce_order_status_completed', fn ($id) => $this->paid((int) $id));
        add_action('woocommerce_order_refunded', fn ($id, $refundId) => $this->refunded((int) $id, (int) $refundId), 10, 2);
        add_action(self::ISSUE, fn ($id) => $this->issuer->run((int) $id));
        add_action(self::SWEEP, fn () => $this->sweep());
        add_action('action_scheduler_init', function (): void {
            if (!as_has_scheduled_action(self::SWEEP, [], self::GROUP)) {
                as_schedule_recurring_action(time() + 60, self::SWEPT_EVERY, self::SWEEP, [], self::GROUP);
            }
        });
    }

    public static function stop(): void
    {
        foreach ([self::SWEEP, self::ISSUE] as $hook) {
            as_unschedule_all_actions($hook, [], self::GROUP);
        }
    }

    /** Have an order worked on, once, however often this is called. */
    public static function schedule(int $id, int $seconds = 0): void
    {
        // `unique` of Action Scheduler looks at the hook alone in some versions, so what is pending is looked up here.
        $query = ['hook' => self::ISSUE, 'args' => [$id], 'group' => self::GROUP, 'status' => 'pending', 'per_page' => 1];
        if (!as_get_scheduled_actions($query, 'ids')) {
            as_schedule_single_action(time() + $seconds, self::ISSUE, [$id], self::GROUP);
        }
    }

    public function paid(int $id): void
    {
        $order = wc_get_order($id);
        if (!$order instanceof \WC_Order || !$this->settings->isComplete()) {
            return;
        }
        $state = State::of($order);
        if (!$this->settings->issuesAt($order->get_status()) || ($state->isKnown() && !$state->get('skipped'))) {
            return;
        }
        $state->save(['skipped' => null], isOpen: true);
        self::schedule($id);
    }

    public function refunded(int $id, int $refundId): void
    {
        $order = wc_get_order($id);
        $refund = wc_get_order($refundId);
        // An order that this plugin did not issue gets no credit note of it.
        if (!$order instanceof \WC_Order || !$refund || !State::of($order)->isKnown() || State::of($refund)->isKnown()) {
            return;
        }
        State::of($refund)->save([], isOpen: true);
        self::schedule($refundId);
    }

    /** Find what a process that died, or hooks that never ran, left undone. */
    public function sweep(): void
    {
        if (!$this->settings->isComplete()) {
            return;
        }
        $every = ['limit' => self::SWEPT, 'return' => 'ids', 'orderby' => 'date', 'order' => 'ASC'];
        $open = ['type' => ['shop_order', 'shop_order_refund'], 'meta_key' => State::OPEN, 'meta_value' => 'yes'];
        foreach (wc_get_orders($open + $every) as $id) {
            self::schedule((int) $id);
        }
        $since = max($this->settings->since(), time() - 7 * DAY_IN_SECONDS);
        $missed = ['meta_key' => State::OPEN, 'meta_compare' => 'NOT EXISTS', 'date_created' => ">$since"] + $every;
        $issued = array_values(array_filter(['processing', 'completed'], $this->settings->issuesAt(...)));
        $statuses = array_map(fn (string $status): string => "wc-$status", $issued);
        foreach (wc_get_orders(['type' => 'shop_order', 'status' => $statuses] + $missed) as $id) {
            $this->paid((int) $id);
        }
        foreach (wc_get_orders(['type' => 'shop_order_refund'] + $missed) as $id) {
            $refund = wc_get_order($id);
            if ($refund) {
                $this->refunded((int) $refund->get_parent_id(), (int) $id);
            }
        }
    }
}
