<?php

/**
 * Plugin Name: fe e-CF for WooCommerce
 * Description: Issues electronic fiscal receipts (e-CF, Dominican Republic) for paid orders, and credit notes for refunds.
 * Version: 0.1.0
 * Requires at least: 6.1
 * Requires PHP: 8.2
 * Requires Plugins: woocommerce
 * WC requires at least: 8.2
 * Text Domain: fe-ecf-woocommerce
 * Domain Path: /languages
 * License: GPL-3.0-or-later
 * License URI: https://www.gnu.org/licenses/gpl-3.0.html
 */

declare(strict_types=1);

namespace FeEcf;

defined('ABSPATH') || exit;

if (!class_exists(\FeClient\Fe::class)) {
    require_once __DIR__ . '/fe-client/autoload.php';
}
$parts = ['Decimal', 'TaxId', 'Settings', 'SettingsPage', 'State', 'Payload', 'Jobs', 'Issuer', 'Checkout', 'Screens', 'Calls'];
foreach ($parts as $part) {
    require_once __DIR__ . "/includes/$part.php";
}

add_action('before_woocommerce_init', function (): void {
    foreach (['custom_order_tables', 'cart_checkout_blocks'] as $feature) {
        \Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility($feature, __FILE__, true);
    }
});
// One Spanish translation serves every Spanish locale (es_DO, es_ES, ...).
add_filter('load_textdomain_mofile', function (string $file, string $domain): string {
    $isOurs = $domain === 'fe-ecf-woocommerce' && str_starts_with(determine_locale(), 'es');
    return $isOurs && !is_readable($file) ? __DIR__ . '/languages/fe-ecf-woocommerce-es.mo' : $file;
}, 10, 2);
add_action('init', fn () => load_plugin_textdomain('fe-ecf-woocommerce', false, basename(__DIR__) . '/languages'), -1);
add_action('plugins_loaded', function (): void {
    if (!class_exists('WooCommerce')) {
        return;
    }
    $settings = new Settings();
    $issuer = new Issuer($settings);
    (new Jobs($settings, $issuer))->register();
    (new Checkout())->register();
    (new Screens($settings, $issuer))->register();
    (new Calls($settings, $issuer))->register();
    (new SettingsPage($settings))->register();
});
register_deactivation_hook(__FILE__, fn () => Jobs::stop());
