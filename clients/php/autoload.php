<?php

/** Loads the client where there is no Composer: `require 'fe-client/autoload.php';`. */

declare(strict_types=1);

foreach (['Errors', 'Members', 'Json', 'FileCache', 'Retries', 'Http', 'Session', 'Webhook', 'Fe'] as $file) {
    require_once __DIR__ . "/src/$file.php";
}
// Some 210 classes, which a program without them does not read.
spl_autoload_register(function (string $class): void {
    if (str_starts_with($class, 'FeClient\\Types\\')) {
        require_once __DIR__ . '/src/Types.php';
    }
});
