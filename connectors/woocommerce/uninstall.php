<?php

/** Removes the settings and the secrets. The orders' receipts stay, and so does the id of the site, which keeps an order from being issued twice. */

declare(strict_types=1);

defined('WP_UNINSTALL_PLUGIN') || exit;

delete_option('fe_ecf_settings');
delete_option('fe_ecf_environment');
