<?php

declare(strict_types=1);

namespace FeEcf;

/** The field for the buyer's RNC or cédula: at the classic checkout, in the block, and in the order's billing data. */
final class Checkout
{
    /** WooCommerce itself keeps a field `billing_rnc` of the checkout there. */
    public const META = '_billing_rnc';
    /** WooCommerce keeps an additional field of the block there. */
    public const BLOCK_META = '_wc_other/fe-ecf/rnc';
    /** Total from which a consumer's receipt names its buyer. */
    private const NAMED_FROM = '250000';

    public function register(): void
    {
        add_filter('woocommerce_checkout_fields', function (array $fields): array {
            $field = ['label' => $this->label(), 'required' => false, 'class' => ['form-row-wide'], 'priority' => 31];
            $fields['billing']['billing_rnc'] = $field;
            return $fields;
        });
        add_action('woocommerce_after_checkout_validation', function (array $data, \WP_Error $errors): void {
            $wrong = $this->problem((string) ($data['billing_rnc'] ?? ''), WC()->cart?->get_total('edit'));
            if ($wrong !== null) {
                $errors->add('billing_rnc_validation', $wrong, ['id' => 'billing_rnc']);
            }
        }, 10, 2);
        add_filter('woocommerce_admin_billing_fields', function (array $fields): array {
            return $fields + ['rnc' => ['label' => $this->label(), 'show' => true]];
        });
        add_action('woocommerce_init', function (): void {
            if (!function_exists('woocommerce_register_additional_checkout_field')) {
                return;
            }
            woocommerce_register_additional_checkout_field([
                'id' => 'fe-ecf/rnc',
                'label' => $this->label(),
                'location' => 'order',
                'type' => 'text',
                'required' => false,
                'validate_callback' => function (mixed $value): ?\WP_Error {
                    $wrong = $this->problem((string) $value, null);
                    return $wrong === null ? null : new \WP_Error('fe_ecf_rnc', $wrong);
                },
            ]);
        });
    }

    /** What is wrong with what a buyer typed; null: nothing. */
    public function problem(string $typed, mixed $total): ?string
    {
        $rnc = TaxId::read($typed);
        if ($rnc === null) {
            return __('Write an RNC of 9 digits or a cédula of 11 digits, or leave it empty.', 'fe-ecf-woocommerce');
        }
        if ($rnc === '' && $total !== null && Decimal::of($total)->compare(Decimal::of(self::NAMED_FROM)) >= 0) {
            return __('From RD$250,000 on the receipt names its buyer: write an RNC or cédula.', 'fe-ecf-woocommerce');
        }
        return null;
    }

    private function label(): string
    {
        return __('RNC or cédula (for a tax credit receipt)', 'fe-ecf-woocommerce');
    }
}
