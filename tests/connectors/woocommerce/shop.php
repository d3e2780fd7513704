<?php

/**
 * Stand-ins for WooCommerce and Action Scheduler: the methods that the plugin calls, which behave as WooCommerce's do.
 *
 * Orders live in a store; `wc_get_order` gives a fresh copy, and only what is saved is seen by the next one. Amounts are
 * texts. A change of status and a refund fire WooCommerce's hooks. Jobs wait until the test runs them.
 */

declare(strict_types=1);

final class Store
{
    /** @var array<int, WC_Abstract_Order> */
    public static array $orders = [];
    /** @var array<int, list<string>> */
    public static array $notes = [];
    /** @var array<int, array{hook: string, args: array, group: string, at: int}> */
    public static array $jobs = [];
    public static int $next = 1000;
    /** Whether the process of a job dies `before` or `after` it keeps the id of the submission. */
    public static string $dies = '';
}

class WC_Data
{
    protected int $id = 0;
    protected array $meta = [];

    public function __construct(protected array $data = [])
    {
    }

    public function get_id()
    {
        return $this->id;
    }

    public function get_meta($key = '', $single = true, $context = 'view')
    {
        return $this->meta[$key] ?? '';
    }

    public function update_meta_data($key, $value, $meta_id = 0)
    {
        $this->meta[$key] = $value;
    }
}

class WC_Product extends WC_Data
{
    public function is_virtual()
    {
        return $this->data['virtual'];
    }
}

class WC_Order_Item extends WC_Data
{
    public static function made(int $id, array $data): static
    {
        $item = new static($data);
        $item->id = $id;
        $item->meta = $data['meta'] ?? [];
        return $item;
    }

    public function get_name($context = 'view')
    {
        return $this->data['name'];
    }

    public function get_total($context = 'view')
    {
        return $this->data['total'];
    }

    public function get_total_tax($context = 'view')
    {
        return (string) array_sum(array_map(floatval(...), $this->data['taxes'])) ?: '0';
    }

    public function get_taxes($context = 'view')
    {
        return ['total' => $this->data['taxes']];
    }

    /** The item as a refund has it: WooCommerce copies it, with negative amounts. */
    public function returned(int $id, array $line): static
    {
        $minus = fn (string $amount): string => (string) (-1 * (float) $amount);
        $data = ['total' => $minus($line['total']), 'taxes' => array_map($minus, $line['taxes'])] + $this->data;
        $data = ['quantity' => -1 * ($line['quantity'] ?? 0), 'meta' => ['_refunded_item_id' => $this->id]] + $data;
        return static::made($id, $data);
    }
}

final class WC_Order_Item_Product extends WC_Order_Item
{
    public function get_quantity($context = 'view')
    {
        return $this->data['quantity'];
    }

    public function get_subtotal($context = 'view')
    {
        return $this->data['subtotal'] ?? $this->data['total'];
    }

    public function get_subtotal_tax($context = 'view')
    {
        return $this->data['subtotal_tax'] ?? $this->get_total_tax();
    }

    public function get_product()
    {
        return new WC_Product(['virtual' => $this->data['virtual'] ?? false]);
    }
}

final class WC_Order_Item_Fee extends WC_Order_Item
{
}

final class WC_Order_Item_Shipping extends WC_Order_Item
{
}

final class WC_Order_Item_Tax extends WC_Order_Item
{
    public function get_rate_id($context = 'view')
    {
        return $this->data['rate_id'];
    }

    public function get_rate_percent($context = 'view')
    {
        return $this->data['percent'];
    }
}

abstract class WC_Abstract_Order extends WC_Data
{
    /** @var array<string, array<int, WC_Order_Item>> */
    protected array $items = [];

    public static function stored(array $data, array $items, array $meta = []): static
    {
        $order = new static($data);
        $order->id = ++Store::$next;
        $order->items = $items;
        $order->meta = $meta;
        Store::$orders[$order->id] = clone $order;
        return $order;
    }

    public function get_items($types = 'line_item')
    {
        return array_reduce((array) $types, fn (array $all, $type): array => $all + ($this->items[$type] ?? []), []);
    }

    public function get_item($item_id, $load_from_db = true)
    {
        return $this->get_items(['line_item', 'fee', 'shipping'])[$item_id] ?? false;
    }

    public function get_parent_id($context = 'view')
    {
        return $this->data['parent'] ?? 0;
    }

    public function get_currency($context = 'view')
    {
        return $this->data['currency'] ?? 'DOP';
    }

    public function get_prices_include_tax($context = 'view')
    {
        return $this->data['included'] ?? false;
    }

    public function get_total($context = 'view')
    {
        return $this->data['total'];
    }

    public function get_status($context = 'view')
    {
        return $this->data['status'];
    }

    public function save_meta_data()
    {
        $dies = str_contains($this->meta['_fe_ecf'] ?? '', '"track"') ? Store::$dies : '';
        if ($dies === 'before') {
            throw new Error('the process died');
        }
        $stored = clone Store::$orders[$this->id];
        $stored->meta = $this->meta;
        Store::$orders[$this->id] = $stored;
        if ($dies === 'after') {
            throw new Error('the process died');
        }
    }

    /** As a copy from before has it. */
    public function restore(): void
    {
        $this->meta = array_filter($this->meta, fn (string $key): bool => !str_starts_with($key, '_fe_ecf'), ARRAY_FILTER_USE_KEY);
        $this->save_meta_data();
    }
}

final class WC_Order extends WC_Abstract_Order
{
    public function update_status($new_status, $note = '', $manual = false)
    {
        $this->data['status'] = $new_status;
        Store::$orders[$this->id] = clone $this;
        do_action("woocommerce_order_status_$new_status", $this->id, $this);
    }

    public function add_order_note($note, $is_customer_note = 0, $added_by_user = false, $meta_data = [])
    {
        Store::$notes[$this->id][] = $note;
    }

    public function get_refunds()
    {
        $mine = fn (WC_Abstract_Order $each): bool => $each->get_parent_id() === $this->id;
        return array_map(fn ($each) => clone $each, array_values(array_filter(Store::$orders, $mine)));
    }

    public function get_billing_company($context = 'view')
    {
        return $this->data['company'] ?? '';
    }

    public function get_formatted_billing_full_name()
    {
        return 'Ana Núñez';
    }

    public function get_billing_email($context = 'view')
    {
        return 'ana@example.com';
    }

    public function get_payment_method($context = 'view')
    {
        return $this->data['payment'] ?? 'cod';
    }

    public function get_order_number()
    {
        return (string) $this->id;
    }

    public function get_order_key($context = 'view')
    {
        return "wc_order_key{$this->id}";
    }

    public function get_customer_id($context = 'view')
    {
        return $this->data['customer'] ?? 0;
    }
}

final class WC_Order_Refund extends WC_Abstract_Order
{
    public function get_amount($context = 'view')
    {
        return $this->data['amount'];
    }

    public function get_reason($context = 'view')
    {
        return $this->data['reason'] ?? '';
    }
}

final class WooCommerce
{
    public ?object $cart = null;

    public function api_request_url($request, $ssl = null)
    {
        return "https://shop.example/?wc-api=$request";
    }
}

function WC()
{
    return $GLOBALS['woocommerce'] ??= new WooCommerce();
}

function wc_get_order($the_order = false)
{
    return isset(Store::$orders[$the_order]) ? clone Store::$orders[$the_order] : false;
}

function wc_get_orders($args)
{
    $found = [];
    foreach (Store::$orders as $id => $order) {
        $type = $order instanceof WC_Order ? 'shop_order' : 'shop_order_refund';
        $value = $order->get_meta($args['meta_key']);
        $isMeant = isset($args['meta_value']) ? $value === $args['meta_value'] : $value === '';
        $status = 'wc-' . ($order instanceof WC_Order ? $order->get_status() : 'completed');
        if (in_array($type, (array) $args['type'], true) && $isMeant && in_array($status, $args['status'] ?? [$status], true)) {
            $found[] = $id;
        }
    }
    return array_slice($found, 0, $args['limit']);
}

function wc_get_page_screen_id($for)
{
    return 'woocommerce_page_wc-orders';
}

function woocommerce_register_additional_checkout_field($options)
{
    $GLOBALS['checkout_fields'][$options['id']] = $options;
}

function as_schedule_single_action($timestamp, $hook, $args = [], $group = '', $unique = false, $priority = 10)
{
    Store::$jobs[] = ['hook' => $hook, 'args' => $args, 'group' => $group, 'at' => $timestamp];
    return array_key_last(Store::$jobs) + 1;
}

function as_schedule_recurring_action($timestamp, $interval, $hook, $args = [], $group = '', $unique = false, $priority = 10)
{
    return as_schedule_single_action($timestamp, $hook, $args, $group);
}

function as_get_scheduled_actions($args = [], $return_format = OBJECT)
{
    $isMeant = fn (array $job): bool => array_intersect_key($args, $job) === array_intersect_key($job, $args);
    return $args['status'] === 'pending' ? array_keys(array_filter(Store::$jobs, $isMeant)) : [];
}

function as_has_scheduled_action($hook, $args = null, $group = '')
{
    return as_get_scheduled_actions(compact('hook', 'args', 'group') + ['status' => 'pending']) !== [];
}
