<?php

/** Makes calls by the PHP client, as driver.mjs does by the TypeScript one. */

declare(strict_types=1);

use FeClient\{Fe, FeError, FileCache, Json, Retries, Webhook, WebhookRefusedError};

error_reporting(E_ALL);
set_error_handler(fn ($number, $message, $file, $line) => error_reporting() & $number
    ? throw new ErrorException($message, 0, $number, $file, $line) : true);
require $argv[1] . '/autoload.php';
$next = fn (): mixed => json_decode((string) fgets(STDIN), true, flags: JSON_PRESERVE_ZERO_FRACTION);
$tell = fn (array $said) => fwrite(STDOUT, json_encode($said, JSON_THROW_ON_ERROR) . "\n");
$camel = fn (string $name): string => lcfirst(str_replace('_', '', ucwords($name, '_')));

function judged(array $order): array
{
    $valid = function (array $call) use ($order): bool {
        try {
            return is_string(Webhook::verify($order['secret'], $call['headers'], $call['body'], $call['now'])['event']);
        } catch (WebhookRefusedError) {
            return false;
        }
    };
    return array_map($valid, $order['calls']);
}

/** Members of each value as its type reads it. */
function typed(array $order): array
{
    return array_map(fn (array $each): object => "FeClient\\Types\\$each[0]"::from(Json::read($each[1])), $order['types']);
}

$called = function (array $order) use ($next, $tell, $camel, $argv): mixed {
    $now = 0.0;
    $sleep = function (float $seconds) use (&$now, $next, $tell): void {
        $now += $seconds;
        $tell(['slept' => $seconds]);
        $next();
    };
    $clock = function () use (&$now): float {
        return $now;
    };
    $folder = "$argv[2]/" . bin2hex(random_bytes(8));
    $fe = fn (float $timeout): Fe => new Fe(
        $order['url'], 'fak_0', 'secret', $timeout, new Retries($order['tries']), cache: new FileCache($folder),
        sleep: $sleep, clock: $clock, chance: fn (): float => 0.0,
    );
    $client = $fe(30.0);
    if ($order['patience'] !== null) {
        $client->login();
        $client = $fe($order['patience']); // which finds the token in the cache
    }
    $options = array_combine(array_map($camel, array_keys($order['options'])), $order['options']);
    if ($order['call'] === 'call') {
        $options = ['body' => array_pop($order['args'])];
    }
    $result = $client->{$camel($order['call'])}(...$order['args'], ...$options);
    if (is_string($result)) {
        return ['bytes' => $result];
    }
    return $result instanceof Generator ? iterator_to_array($result, false) : $result;
};

while (($order = $next()) !== null) {
    try {
        $tell(['result' => match (true) {
            isset($order['calls']) => judged($order),
            isset($order['types']) => typed($order),
            default => $called($order),
        }]);
    } catch (InvalidArgumentException $refused) {
        $tell(['refused' => $refused->getMessage()]);
    } catch (FeError $error) {
        $fields = [];
        foreach (['status', 'retry_after', 'client_request_id', 'problems', 'request_id', 'items'] as $name) {
            $fields[$name] = $error->{$camel($name)} ?? null;
        }
        $name = (new ReflectionClass($error))->getShortName();
        $tell(['error' => ['name' => $name] + array_filter($fields)]);
    }
}
