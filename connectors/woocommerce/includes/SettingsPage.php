<?php

declare(strict_types=1);

namespace FeEcf;

/** WooCommerce > e-CF. A secret that was saved is never shown again; an empty field keeps it. */
final class SettingsPage
{
    private const PAGE = 'fe-ecf';
    private const CHECK = 'fe_ecf_check';
    private const SECRETS = ['secret', 'webhook'];
    private const NEEDED = ['E31', 'E32', 'E34'];

    public function __construct(private readonly Settings $settings)
    {
    }

    public function register(): void
    {
        add_action('admin_init', fn () => register_setting(self::PAGE, Settings::OPTION, [
            'type' => 'array',
            'sanitize_callback' => fn (mixed $given): array => $this->clean(is_array($given) ? $given : []),
        ]));
        add_action('admin_menu', fn () => add_submenu_page(
            'woocommerce',
            __('e-CF', 'fe-ecf-woocommerce'),
            __('e-CF', 'fe-ecf-woocommerce'),
            'manage_woocommerce',
            self::PAGE,
            fn () => $this->show(),
        ));
        add_filter('option_page_capability_' . self::PAGE, fn (): string => 'manage_woocommerce');
        add_action('admin_post_' . self::CHECK, function (): void {
            current_user_can('manage_woocommerce') || wp_die('', '', 403);
            check_admin_referer(self::CHECK);
            set_transient(self::CHECK, $this->check(), 60);
            wp_safe_redirect(admin_url('admin.php?page=' . self::PAGE));
            exit;
        });
    }

    /** @return array<string, string> what is kept of a form */
    public function clean(array $given): array
    {
        $text = fn (string $name): string => trim(sanitize_text_field((string) ($given[$name] ?? '')));
        $kept = ['url' => untrailingslashit(esc_url_raw($text('url'))), 'key' => $text('key'), 'sequence' => $text('sequence')];
        $host = (string) wp_parse_url($kept['url'], PHP_URL_HOST);
        $isLocal = in_array($host, ['localhost', '127.0.0.1'], true);
        if ($kept['url'] !== '' && !str_starts_with($kept['url'], 'https://') && !$isLocal) {
            $wrong = __('The address of the service must begin with https://.', 'fe-ecf-woocommerce');
            add_settings_error(Settings::OPTION, 'url', $wrong);
            $kept['url'] = $this->settings->get('url');
        }
        // A saved secret goes to the address it was saved for, and to no other that somebody writes here.
        $isMoved = $kept['url'] !== $this->settings->get('url') && $this->settings->get('secret') !== '';
        if ($isMoved && trim((string) ($given['secret'] ?? '')) === '') {
            $again = __('The address has changed: write the secret of the API key again.', 'fe-ecf-woocommerce');
            add_settings_error(Settings::OPTION, 'secret', $again);
            $kept['url'] = $this->settings->get('url');
        }
        foreach (self::SECRETS as $name) {
            $written = trim((string) ($given[$name] ?? '')); // as it is: a secret is no text to be cleaned
            $kept[$name] = $written !== '' ? $written : $this->settings->get($name);
        }
        $kept['when'] = $text('when') === 'completed' ? 'completed' : 'processing';
        $kept['mail'] = $text('mail') === 'yes' ? 'yes' : 'no';
        return $kept;
    }

    /** Log in, and say to which environment the key belongs and which sequences are missing. */
    public function check(): string
    {
        try {
            $client = $this->settings->client();
            $environment = (string) $client->login()['environment'];
            $wanted = $this->settings->get('sequence');
            $active = [];
            foreach ($client->ncf()['items'] as $sequence) {
                if ($sequence['isActive'] && (string) ($sequence['name'] ?? '') === $wanted) {
                    $active[] = $sequence['prefix'];
                }
            }
        } catch (\FeClient\FeError | \InvalidArgumentException $error) {
            return sprintf(__('No connection: %s', 'fe-ecf-woocommerce'), $error->getMessage());
        }
        update_option(Settings::ENVIRONMENT, $environment, false);
        $this->settings->since();
        $said = sprintf(__('Connected. Environment: %s.', 'fe-ecf-woocommerce'), $environment);
        $missing = array_diff(self::NEEDED, $active);
        $text = __('Sequences that are missing: %s.', 'fe-ecf-woocommerce');
        return $missing ? "$said " . sprintf($text, implode(', ', $missing)) : $said;
    }

    private function show(): void
    {
        $environment = (string) get_option(Settings::ENVIRONMENT);
        echo '<div class="wrap"><h1>e-CF</h1>';
        settings_errors(Settings::OPTION);
        $checked = get_transient(self::CHECK);
        if (is_string($checked)) {
            delete_transient(self::CHECK);
            echo '<div class="notice notice-info"><p>' . esc_html($checked) . '</p></div>';
        }
        echo '<p>' . esc_html__('Environment of the key:', 'fe-ecf-woocommerce') . ' ' . esc_html($environment ?: '–') . '</p>';
        echo '<form method="post" action="options.php">';
        settings_fields(self::PAGE);
        echo '<table class="form-table">';
        $this->field('url', __('Address of the service', 'fe-ecf-woocommerce'), 'url');
        $this->field('key', __('Id of the API key', 'fe-ecf-woocommerce'));
        $this->field('secret', __('Secret of the API key', 'fe-ecf-woocommerce'), 'password');
        $this->field('sequence', __('Name of the sequences (empty: those without a name)', 'fe-ecf-woocommerce'));
        $this->choice('when', __('Issue an order when it is', 'fe-ecf-woocommerce'), [
            'processing' => __('paid (processing)', 'fe-ecf-woocommerce'),
            'completed' => __('completed', 'fe-ecf-woocommerce'),
        ]);
        $this->choice('mail', __('The service mails the receipt to the customer', 'fe-ecf-woocommerce'), [
            'no' => __('no', 'fe-ecf-woocommerce'),
            'yes' => __('yes', 'fe-ecf-woocommerce'),
        ]);
        $this->field('webhook', __('Secret of the webhook (optional)', 'fe-ecf-woocommerce'), 'password');
        $address = esc_html__('Address of the webhook', 'fe-ecf-woocommerce');
        echo "<tr><th>$address</th><td><code>" . esc_html(rest_url('fe-ecf/v1/webhook')) . '</code></td></tr></table>';
        submit_button();
        echo '</form><form method="post" action="' . esc_url(admin_url('admin-post.php')) . '">';
        echo '<input type="hidden" name="action" value="' . self::CHECK . '">';
        wp_nonce_field(self::CHECK);
        submit_button(__('Check the connection', 'fe-ecf-woocommerce'), 'secondary');
        echo '</form></div>';
    }

    private function field(string $name, string $label, string $type = 'text'): void
    {
        $isSecret = in_array($name, self::SECRETS, true);
        $isSaved = $name === 'secret' ? $this->settings->secret() !== '' : $this->settings->get($name) !== '';
        $hint = $isSecret && $isSaved ? __('saved; write here to change it', 'fe-ecf-woocommerce') : '';
        printf(
            '<tr><th>%s</th><td><input class="regular-text" type="%s" name="%s[%s]" value="%s" placeholder="%s" autocomplete="off"></td></tr>',
            esc_html($label),
            esc_attr($type),
            esc_attr(Settings::OPTION),
            esc_attr($name),
            esc_attr($isSecret ? '' : $this->settings->get($name)),
            esc_attr($hint),
        );
    }

    /** @param array<string, string> $choices */
    private function choice(string $name, string $label, array $choices): void
    {
        $options = '';
        foreach ($choices as $value => $text) {
            $chosen = $this->settings->get($name) === $value ? ' selected' : '';
            $options .= '<option value="' . esc_attr($value) . "\"$chosen>" . esc_html($text) . '</option>';
        }
        $named = esc_attr(Settings::OPTION . "[$name]");
        echo '<tr><th>' . esc_html($label) . "</th><td><select name=\"$named\">$options</select></td></tr>";
    }
}
