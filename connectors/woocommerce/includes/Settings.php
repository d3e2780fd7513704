<?php

declare(strict_types=1);

namespace FeEcf;

use FeClient\{Fe, Retries};

/** What the shop's administrator has set, and the client that follows from it. */
final class Settings
{
    public const OPTION = 'fe_ecf_settings';
    public const ENVIRONMENT = 'fe_ecf_environment';
    private const SITE = 'fe_ecf_site';
    private const SINCE = 'fe_ecf_since';

    public function get(string $name): string
    {
        $all = get_option(self::OPTION);
        return is_array($all) ? (string) ($all[$name] ?? '') : '';
    }

    /** The API secret; a constant of wp-config.php keeps it out of the database. */
    public function secret(): string
    {
        return defined('FE_ECF_SECRET') ? (string) constant('FE_ECF_SECRET') : $this->get('secret');
    }

    public function isComplete(): bool
    {
        return $this->get('url') !== '' && $this->get('key') !== '' && $this->secret() !== '';
    }

    /** Whether an order of this status is issued: paid ones, or completed ones alone. */
    public function issuesAt(string $status): bool
    {
        return $status === 'completed' || ($status === 'processing' && $this->get('when') !== 'completed');
    }

    /**
     * Id of this shop, part of every clientRequestId. It is made once and lies in the database with the orders: a shop
     * that is restored from a copy has the id of the copy, and so issues none of its orders again.
     */
    public function site(): string
    {
        $site = get_option(self::SITE);
        if (!is_string($site) || $site === '') {
            add_option(self::SITE, bin2hex(random_bytes(6)), '', false);
            $site = get_option(self::SITE);
        }
        return (string) $site;
    }

    /** Moment since which orders are issued: when the settings became complete for the first time. */
    public function since(): int
    {
        if (!get_option(self::SINCE) && $this->isComplete()) {
            add_option(self::SINCE, (string) time(), '', false);
        }
        return (int) get_option(self::SINCE);
    }

    /** The client. Action Scheduler repeats later what fails, so a job does not wait long here. */
    public function client(): Fe
    {
        return new Fe(
            $this->get('url'),
            $this->get('key'),
            $this->secret(),
            timeout: 20.0,
            retries: new Retries(tries: 2, longestPause: 5.0),
            language: str_starts_with(determine_locale(), 'es') ? 'es' : 'en',
        );
    }
}
