<?php

declare(strict_types=1);

namespace FeEcf;

/**
 * How it stands with the receipt of an order or refund, in that order's meta data, by WooCommerce's own methods.
 *
 * `_fe_ecf_open` says whether there is something left to do: `yes` or `no`; an order that is not to be issued has none.
 * `_fe_ecf` is JSON as text, because WordPress strips backslashes from texts inside arrays.
 */
final class State
{
    public const OPEN = '_fe_ecf_open';
    private const DATA = '_fe_ecf';
    public const ACCEPTED = ['Aceptado', 'Aceptado Condicional'];
    private const FINAL = ['Aceptado', 'Aceptado Condicional', 'Rechazado', 'error'];

    /** @param array<string, mixed> $data */
    private function __construct(public readonly \WC_Abstract_Order $order, private array $data)
    {
    }

    public static function of(\WC_Abstract_Order $order): self
    {
        $data = json_decode((string) $order->get_meta(self::DATA), true);
        return new self($order, is_array($data) ? $data : []);
    }

    public function get(string $name): mixed
    {
        return $this->data[$name] ?? null;
    }

    public function text(string $name): string
    {
        return (string) ($this->data[$name] ?? '');
    }

    public function isOpen(): bool
    {
        return $this->order->get_meta(self::OPEN) === 'yes';
    }

    public function isKnown(): bool
    {
        return (string) $this->order->get_meta(self::OPEN) !== '';
    }

    public function isAccepted(): bool
    {
        return in_array($this->get('status'), self::ACCEPTED, true);
    }

    public function isFinal(): bool
    {
        return in_array($this->get('status'), self::FINAL, true);
    }

    /** @param array<string, mixed> $changes null takes a member away */
    public function save(array $changes, ?bool $isOpen = null): void
    {
        $this->data = array_filter($changes + $this->data, fn (mixed $value): bool => $value !== null);
        $flags = JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES;
        $this->order->update_meta_data(self::DATA, json_encode($this->data, $flags));
        if ($isOpen !== null) {
            $this->order->update_meta_data(self::OPEN, $isOpen ? 'yes' : 'no');
        }
        $this->order->save_meta_data();
    }

    /** The order that people see: of a refund, the one refunded. */
    public function shown(): ?\WC_Order
    {
        $order = $this->order instanceof \WC_Order ? $this->order : wc_get_order($this->order->get_parent_id());
        return $order instanceof \WC_Order ? $order : null;
    }

    public function note(string $text): void
    {
        $this->shown()?->add_order_note($text);
    }
}
