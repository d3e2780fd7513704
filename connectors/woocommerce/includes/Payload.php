<?php

declare(strict_types=1);

namespace FeEcf;

/** An order cannot become a receipt as it is; the message says why, to the shop's people. */
final class Unfit extends \RuntimeException
{
}

/** The document of an order (31, 32) or of a refund (34). */
final class Payload
{
    private const KINDS = ['line_item', 'fee', 'shipping'];
    private const LONGEST_NAME = 80;
    /** Words in the names of card gateways. */
    private const CARDS = '/card|stripe|paypal|woocommerce_payments|azul|square|braintree|ppcp/';

    /** @var array<int|string, string> percent of each tax rate */
    private array $percents = [];
    /** @var list<array<string, mixed>> */
    private array $lines = [];
    /** @var array<string, Decimal> discounts of the whole, by IndicadorFacturacion */
    private array $discounts = [];

    private function __construct(private readonly \WC_Order $order, private readonly bool $isIncluded)
    {
        if ($order->get_currency() !== 'DOP') {
            throw new Unfit(__('Only orders in Dominican pesos (DOP) are issued.', 'fe-ecf-woocommerce'));
        }
        foreach ($order->get_items('tax') as $tax) {
            $this->percents[$tax->get_rate_id()] = Decimal::of($tax->get_rate_percent())->text();
        }
    }

    /** @return array<string, mixed> */
    public static function ofOrder(\WC_Order $order): array
    {
        $rnc = self::buyerOf($order);
        $made = new self($order, (bool) $order->get_prices_include_tax());
        foreach ($order->get_items(self::KINDS) as $item) {
            $made->add($item, $made->indicator($item), false);
        }
        $idDoc = ['TipoeCF' => $rnc === '' ? '32' : '31'] + $made->idDoc();
        $idDoc['TablaFormasPago'] = ['FormaDePago' => [['FormaPago' => self::formOfPayment($order)]]];
        $company = trim((string) $order->get_billing_company());
        $name = $company !== '' ? $company : trim((string) $order->get_formatted_billing_full_name());
        $buyer = ['RNCComprador' => $rnc, 'RazonSocialComprador' => mb_substr($name, 0, 150)];
        return $made->document($idDoc, $rnc === '' ? [] : ['Comprador' => $buyer], Decimal::of($order->get_total()));
    }

    /** @return array<string, mixed> */
    public static function ofRefund(\WC_Abstract_Order $refund, \WC_Order $order, string $number): array
    {
        // What was given back is given back with its tax, however the shop's prices are.
        $made = new self($order, true);
        $amount = Decimal::of($refund->get_amount());
        $isWhole = $amount->compare(Decimal::of($order->get_total())) === 0;
        $items = $refund->get_items(self::KINDS);
        if ($items && $made->sum($items)->abs()->compare($amount) === 0) {
            foreach ($items as $item) {
                $first = $order->get_item((int) $item->get_meta('_refunded_item_id'));
                $made->add($item, $made->indicator($first ?: $item), true);
            }
        } elseif ($isWhole) {
            foreach ($order->get_items(self::KINDS) as $item) {
                $made->add($item, $made->indicator($item), false);
            }
        } else {
            $made->spread($amount);
        }
        $reference = ['NCFModificado' => $number, 'CodigoModificacion' => $isWhole ? '1' : '3'];
        $reason = mb_substr(wp_strip_all_tags((string) $refund->get_reason(), true), 0, 90);
        if ($reason !== '') {
            $reference['RazonModificacion'] = $reason;
        }
        $document = $made->document(['TipoeCF' => '34'] + $made->idDoc(), [], $amount);
        return $document + ['InformacionReferencia' => $reference];
    }

    /** The buyer's RNC or cédula, of the classic checkout or of the block; '': a consumer. */
    public static function buyerOf(\WC_Order $order): string
    {
        $said = (string) $order->get_meta(Checkout::META) ?: (string) $order->get_meta(Checkout::BLOCK_META);
        return TaxId::read($said)
            ?? throw new Unfit(sprintf(__('%s is not a valid RNC or cédula.', 'fe-ecf-woocommerce'), $said));
    }

    /** @return array<string, mixed> */
    private function idDoc(): array
    {
        $isTaxed = array_filter($this->lines, fn (array $line): bool => $line['IndicadorFacturacion'] !== '4');
        $included = $isTaxed ? ['IndicadorMontoGravado' => $this->isIncluded ? '1' : '0'] : [];
        return $included + ['TipoIngresos' => '01', 'TipoPago' => '1'];
    }

    /**
     * The total is stated, because it was paid: the service computes bases and taxes, and allows for centavos of rounding.
     *
     * @return array<string, mixed>
     */
    private function document(array $idDoc, array $more, Decimal $total): array
    {
        if (!$this->lines) {
            throw new Unfit(__('There is no line with an amount.', 'fe-ecf-woocommerce'));
        }
        $header = ['IdDoc' => $idDoc] + $more + ['Totales' => ['MontoTotal' => $total->text()]];
        $document = ['Encabezado' => $header, 'DetallesItems' => ['Item' => $this->lines]];
        $rows = [];
        foreach ($this->discounts as $indicator => $amount) {
            $rows[] = [
                'TipoAjuste' => 'D',
                'DescripcionDescuentooRecargo' => __('Discount', 'fe-ecf-woocommerce'),
                'TipoValor' => '$',
                'MontoDescuentooRecargo' => $amount->text(),
                'IndicadorFacturacionDescuentooRecargo' => (string) $indicator,
            ];
        }
        return $document + ($rows ? ['DescuentosORecargos' => ['DescuentoORecargo' => $rows]] : []);
    }

    private function add(\WC_Order_Item $item, string $indicator, bool $isReturned): void
    {
        $net = Decimal::of($item->get_total());
        $amount = $this->amount($net, $item->get_total_tax());
        if ($isReturned) {
            [$net, $amount] = [Decimal::of(0)->minus($net), Decimal::of(0)->minus($amount)];
        }
        if ($amount->sign() < 0) { // a fee that takes something off: a discount of the whole, which is net
            $this->discounts[$indicator] = ($this->discounts[$indicator] ?? Decimal::of(0))->plus($net->abs()->round());
            return;
        }
        $isProduct = $item instanceof \WC_Order_Item_Product;
        $before = $isProduct && !$isReturned
            ? $this->amount(Decimal::of($item->get_subtotal()), $item->get_subtotal_tax())
            : $amount;
        if ($before->sign() === 0) {
            return; // free shipping, a line of which nothing was given back
        }
        // An e-CF has two decimals of a quantity: the price is that of the quantity which is sent.
        $quantity = $isProduct ? Decimal::of($item->get_quantity())->abs()->round() : Decimal::of(1);
        $quantity = $quantity->sign() > 0 ? $quantity : Decimal::of(1);
        $isGoods = $isProduct && !(($product = $item->get_product()) && $product->is_virtual());
        $discount = $before->minus($amount);
        $this->line((string) $item->get_name(), $indicator, $isGoods, $quantity, $before->over($quantity), $amount, $discount);
    }

    private function line(
        string $name,
        string $indicator,
        bool $isGoods,
        Decimal $quantity,
        Decimal $price,
        Decimal $amount,
        Decimal $discount,
    ): void {
        $plain = trim(html_entity_decode(wp_strip_all_tags($name, true), ENT_QUOTES, 'UTF-8'));
        $line = [
            'NombreItem' => mb_substr($plain !== '' ? $plain : __('Item', 'fe-ecf-woocommerce'), 0, self::LONGEST_NAME),
            'IndicadorFacturacion' => $indicator,
            'IndicadorBienoServicio' => $isGoods ? '1' : '2',
            'CantidadItem' => $quantity->text(),
            'PrecioUnitarioItem' => $price->text(4),
            'MontoItem' => $amount->text(),
        ];
        $this->lines[] = $line + ($discount->sign() > 0 ? ['DescuentoMonto' => $discount->text()] : []);
    }

    /** A refund that names no lines: its amount over the rates of the order, in proportion. */
    private function spread(Decimal $amount): void
    {
        $sums = [];
        foreach ($this->order->get_items(self::KINDS) as $item) {
            $indicator = $this->indicator($item);
            $gross = $this->amount(Decimal::of($item->get_total()), $item->get_total_tax());
            $sums[$indicator] = ($sums[$indicator] ?? Decimal::of(0))->plus($gross);
        }
        $sums = array_filter($sums, fn (Decimal $sum): bool => $sum->sign() > 0);
        $whole = array_reduce($sums, fn (Decimal $all, Decimal $sum): Decimal => $all->plus($sum), Decimal::of(0));
        $left = $amount;
        foreach ($sums as $indicator => $sum) {
            $part = $indicator === array_key_last($sums) ? $left : $amount->part($sum, $whole);
            $left = $left->minus($part);
            $name = sprintf(__('Refund of order %s', 'fe-ecf-woocommerce'), $this->order->get_order_number());
            $this->line($name, (string) $indicator, false, Decimal::of(1), $part, $part, Decimal::of(0));
        }
    }

    private function amount(Decimal $net, mixed $tax): Decimal
    {
        return ($this->isIncluded ? $net->plus(Decimal::of($tax)) : $net)->round();
    }

    /** @param array<\WC_Order_Item> $items */
    private function sum(array $items): Decimal
    {
        $sum = Decimal::of(0);
        foreach ($items as $item) {
            $sum = $sum->plus($this->amount(Decimal::of($item->get_total()), $item->get_total_tax()));
        }
        return $sum;
    }

    /** IndicadorFacturacion of a line, from the rates that the order itself charged on it. No rate: exempt. */
    private function indicator(\WC_Order_Item $item): string
    {
        $charged = array_filter($item->get_taxes()['total'] ?? [], fn (mixed $tax): bool => (string) $tax !== '');
        $percents = array_unique(array_map(fn ($id): string => $this->percents[$id] ?? '?', array_keys($charged)));
        $known = ['18.00' => '1', '16.00' => '2', '0.00' => '3'];
        return match (true) {
            $percents === [] => '4',
            count($percents) === 1 && isset($known[reset($percents)]) => $known[reset($percents)],
            default => throw new Unfit(sprintf(
                __('"%1$s" has taxes of %2$s %%: an e-CF knows ITBIS of 18, 16 and 0 %%.', 'fe-ecf-woocommerce'),
                $item->get_name(),
                implode(', ', $percents),
            )),
        };
    }

    private static function formOfPayment(\WC_Order $order): string
    {
        $method = (string) $order->get_payment_method();
        $form = match (true) {
            $method === 'cod' => '1',
            in_array($method, ['bacs', 'cheque'], true) => '2',
            preg_match(self::CARDS, $method) === 1 => '3',
            default => '8',
        };
        return (string) apply_filters('fe_ecf_form_of_payment', $form, $order);
    }
}
