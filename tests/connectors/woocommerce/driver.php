<?php

/**
 * A shop as a process: WordPress's own hooks, options, translations and REST server, the plugin as its ZIP has it, and
 * the stand-ins of shop.php. Takes orders in lines of JSON, as tests/clients/driver.php does.
 */

declare(strict_types=1);

[, $wordpress, $plugins, $languages] = $argv;
define('ABSPATH', "$wordpress/");
define('WPINC', 'wp-includes');
define('WP_PLUGIN_DIR', $plugins);
define('WPMU_PLUGIN_DIR', "$plugins/mu");
define('WP_CONTENT_DIR', dirname($plugins));
define('WP_LANG_DIR', $languages);
define('WP_DEBUG', true);
define('OBJECT', 'OBJECT');
define('DAY_IN_SECONDS', 86400);

/** Options live in WordPress's cache alone. */
final class wpdb
{
    public string $options = 'wp_options';

    public function __call(string $name, array $arguments): mixed
    {
        return in_array($name, ['insert', 'update', 'delete', 'query'], true) ? 1 : null;
    }
}

// What WordPress has in files that need a database, a session or a browser.
function current_user_can($capability)
{
    return $GLOBALS['person'] === 'staff';
}

function get_current_user_id()
{
    return is_int($GLOBALS['person']) ? $GLOBALS['person'] : 0;
}

function wp_create_nonce($action = -1)
{
    return 'nonce';
}

function add_settings_error($setting, $code, $message, $type = 'error')
{
    $GLOBALS['settings_errors'][] = $message;
}

function settings_errors($setting = '')
{
}

function settings_fields($group)
{
}

function submit_button($text = null, $type = 'primary')
{
    echo '<button>', esc_html($text ?? 'Save'), '</button>';
}

function add_submenu_page($parent, $title, $menu, $capability, $slug, $callback = '')
{
    $GLOBALS['pages'][$slug] = $callback;
}

foreach (['load', 'compat', 'plugin', 'cache', 'functions', 'class-wp-error', 'pomo/mo', 'l10n', 'formatting', 'kses', 'http',
    'link-template', 'rest-api', 'class-wp-http-response', 'rest-api/class-wp-rest-response',
    'class-wp-list-util', 'rest-api/class-wp-rest-request', 'rest-api/class-wp-rest-server', 'class-wp-textdomain-registry'] as $file) {
    $file = ABSPATH . WPINC . "/$file.php";
    !is_file($file) || require_once $file;
}
wp_cache_init();
$wpdb = new wpdb();
$options = ['blog_charset' => 'UTF-8', 'siteurl' => 'https://shop.example', 'home' => 'https://shop.example', 'permalink_structure' => ''];
wp_cache_set('alloptions', $options, 'options');
!class_exists('WP_Textdomain_Registry') || $wp_textdomain_registry = new WP_Textdomain_Registry();
$wp_plugin_paths = [];
$locale = 'en_US';
$person = 0;
$_SERVER['REQUEST_URI'] = '/wp-admin/admin.php';
require __DIR__ . '/shop.php';
require "$plugins/fe-ecf-woocommerce/fe-ecf-woocommerce.php";
foreach (['plugins_loaded', 'init', 'woocommerce_init', 'action_scheduler_init', 'admin_init', 'admin_menu'] as $hook) {
    do_action($hook);
}
error_reporting(E_ALL & ~E_DEPRECATED); // WordPress 6.1 on PHP 8.2
set_error_handler(fn ($number, $message, $file, $line) => error_reporting() & $number
    ? throw new ErrorException($message, 0, $number, $file, $line) : true);

function items(array $lines): array
{
    $classes = ['line_item' => WC_Order_Item_Product::class, 'fee' => WC_Order_Item_Fee::class];
    $classes += ['shipping' => WC_Order_Item_Shipping::class, 'tax' => WC_Order_Item_Tax::class];
    $items = [];
    foreach ($lines as $place => $line) {
        $items[$line['type']][$place + 1] = $classes[$line['type']]::made($place + 1, $line + ['taxes' => []]);
    }
    return $items;
}

$commands = [
    'settings' => fn (array $given) => update_option('fe_ecf_settings', $given) ? get_option('fe_ecf_settings') : null,
    'locale' => function (string $to): void {
        $GLOBALS['locale'] = $to;
        unload_textdomain('fe-ecf-woocommerce');
        do_action('init');
    },
    'order' => fn (array $data) => WC_Order::stored($data + ['status' => 'pending'], items($data['items']), $data['meta'] ?? [])->get_id(),
    'status' => fn (int $id, string $to) => wc_get_order($id)->update_status($to),
    'refund' => function (int $id, string $amount, array $lines, string $reason = '', bool $dies = false): int {
        $order = wc_get_order($id);
        $items = [];
        foreach ($lines as $item => $line) {
            $first = $order->get_item((int) $item);
            $type = $first instanceof WC_Order_Item_Product ? 'line_item' : 'shipping';
            $items[$type][100 + (int) $item] = $first->returned(100 + (int) $item, $line);
        }
        $data = ['parent' => $id, 'amount' => $amount, 'total' => "-$amount", 'reason' => $reason, 'status' => 'completed'];
        $refund = WC_Order_Refund::stored($data, $items);
        $dies || do_action('woocommerce_order_refunded', $id, $refund->get_id());
        return $refund->get_id();
    },
    'jobs' => fn () => array_map(fn (array $job) => [$job['hook'], $job['args'], $job['at'] - time()], array_values(Store::$jobs)),
    'work' => function (string $hook = 'fe_ecf_issue'): int {
        $due = array_filter(Store::$jobs, fn (array $job): bool => $job['hook'] === $hook);
        Store::$jobs = array_diff_key(Store::$jobs, $due);
        array_walk($due, fn (array $job) => do_action($job['hook'], ...$job['args']));
        do_action('action_scheduler_init'); // as with each page of a shop
        return count($due);
    },
    'job' => function (int $id, string $dies = ''): void {
        Store::$dies = $dies;
        try {
            do_action('fe_ecf_issue', $id);
        } catch (Error) {
            Store::$jobs = array_filter(Store::$jobs, fn (array $job): bool => $job['args'] !== [$id]);
            Store::$dies = '';
        }
    },
    'see' => function (int $id): array {
        $order = wc_get_order($id);
        $state = json_decode((string) $order->get_meta('_fe_ecf'), true) ?: [];
        return $state + ['open' => $order->get_meta('_fe_ecf_open'), 'notes' => Store::$notes[$id] ?? []];
    },
    'restore' => fn (int $id) => wc_get_order($id)->restore(),
    'again' => fn (int $id) => do_action('woocommerce_order_action_fe_ecf_again', wc_get_order($id)),
    'simulate' => function (?array $asked): void {
        remove_all_filters('fe_ecf_call');
        $asked === null || add_filter('fe_ecf_call', fn (array $call): array => $call + ['simulate' => $asked]);
    },
    'person' => fn (mixed $who) => $GLOBALS['person'] = $who,
    'pdf' => fn (int $id, string $key = '') => bin2hex((string) (new FeEcf\Screens($settings = new FeEcf\Settings(), new FeEcf\Issuer($settings)))->pdf($id, $key)),
    'shown' => function (string $hook, int $id): string {
        ob_start();
        do_action($hook, wc_get_order($id));
        return ob_get_clean();
    },
    'page' => function (): string {
        ob_start();
        ($GLOBALS['pages']['fe-ecf'])();
        return ob_get_clean();
    },
    'check' => fn () => (new FeEcf\SettingsPage(new FeEcf\Settings()))->check(),
    'typed' => function (string $rnc, ?string $total): array {
        WC()->cart = new class ($total) {
            public function __construct(private ?string $total)
            {
            }

            public function get_total($context = 'view')
            {
                return $this->total;
            }
        };
        $errors = new WP_Error();
        do_action('woocommerce_after_checkout_validation', ['billing_rnc' => $rnc], $errors);
        $inBlock = ($GLOBALS['checkout_fields']['fe-ecf/rnc']['validate_callback'])($rnc);
        return [$errors->get_error_messages(), $inBlock?->get_error_message()];
    },
    'webhook' => function (array $headers, string $body): int {
        $request = new WP_REST_Request('POST', '/fe-ecf/v1/webhook');
        $request->set_headers($headers);
        $request->set_body($body);
        return rest_get_server()->dispatch($request)->get_status();
    },
];

while (is_string($line = fgets(STDIN))) {
    [$name, $arguments] = json_decode($line, true);
    try {
        $said = ['result' => $commands[$name](...$arguments)];
    } catch (Throwable $error) {
        $said = ['error' => (string) $error];
    }
    fwrite(STDOUT, json_encode($said, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
}
