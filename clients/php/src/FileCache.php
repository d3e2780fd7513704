<?php

declare(strict_types=1);

namespace FeClient;

/**
 * Keeps tokens in files that only this user reads, so that processes of one machine share them.
 *
 * Its `get` and `set` are those of PSR-16; a cache of yours that has them serves as well.
 */
final class FileCache
{
    private readonly string $folder;

    /** `$folder` is made where it is missing; the usual one is below the system's folder for temporary files. */
    public function __construct(?string $folder = null)
    {
        $user = function_exists('posix_geteuid') ? (string) posix_geteuid() : md5(get_current_user());
        $this->folder = $folder ?? sys_get_temp_dir() . "/fe-client-$user";
    }

    public function get(string $key, mixed $default = null): mixed
    {
        $text = @file_get_contents($this->file($key));
        $kept = is_string($text) ? json_decode($text, true) : null;
        return is_array($kept) && ($kept['until'] ?? 0) > time() ? $kept['value'] : $default;
    }

    public function set(string $key, #[\SensitiveParameter] mixed $value, int $seconds): bool
    {
        $file = $this->file($key);
        $new = $file . '.' . bin2hex(random_bytes(6));
        $text = json_encode(['value' => $value, 'until' => time() + $seconds], JSON_THROW_ON_ERROR);
        // Readable by this user alone before there is anything to read; others see the old file or the new one.
        if (!touch($new) || !chmod($new, 0600) || file_put_contents($new, $text) === false || !rename($new, $file)) {
            throw new FeError("the token could not be kept in {$this->folder}");
        }
        return true;
    }

    /** Let one process at a time do something: a key may log in five times a minute only. */
    public function alone(string $key, callable $act): mixed
    {
        $lock = fopen($this->file($key) . '.lock', 'c');
        if ($lock === false || !flock($lock, LOCK_EX)) {
            throw new FeError("nothing can be locked in {$this->folder}");
        }
        try {
            return $act();
        } finally {
            flock($lock, LOCK_UN);
            fclose($lock);
        }
    }

    private function file(string $key): string
    {
        if (!is_dir($this->folder) && !@mkdir($this->folder, 0700, true) && !is_dir($this->folder)) {
            throw new FeError("there is no folder {$this->folder}, and it cannot be made");
        }
        // Below a folder that everybody writes to, another user may have made it first, to read what comes.
        $isOurs = !function_exists('posix_geteuid') || fileowner($this->folder) === posix_geteuid();
        if (is_link($this->folder) || !$isOurs || (PHP_OS_FAMILY !== 'Windows' && fileperms($this->folder) & 0077)) {
            throw new FeError("{$this->folder} must be a folder of this user that nobody else can read (mode 0700)");
        }
        return "{$this->folder}/$key.json";
    }
}
