<?php

declare(strict_types=1);

namespace FeClient;

/** @internal JSON in which no amount becomes a binary float. */
final class Json
{
    private const NUMBER = '/"(?:[^"\\\\]++|\\\\.)*+"(*SKIP)(*FAIL)|-?\d++(?:\.\d++(?:[eE][+-]?\d++)?|[eE][+-]?\d++)/';

    /** Write a body. Throws InvalidArgumentException for a float: its digits are not those that were typed. */
    public static function write(#[\SensitiveParameter] mixed $value): string
    {
        self::refuseFloats($value, '');
        $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES;
        try {
            return json_encode($value, $flags);
        } catch (\JsonException $error) {
            // Not chained: the trace of that one has the value, which may be a secret.
            throw new \InvalidArgumentException("this cannot be sent as JSON: {$error->getMessage()}");
        }
    }

    /** Read an object as an array; null: it is none. A number with a fraction is a text with every digit it has. */
    public static function read(string $text): ?array
    {
        $exact = preg_replace(self::NUMBER, '"$0"', $text);
        $value = json_decode($exact ?? '', true, 512, JSON_BIGINT_AS_STRING);
        return is_array($value) && !array_is_list($value) ? $value : null;
    }

    private static function refuseFloats(#[\SensitiveParameter] mixed $value, string $path): void
    {
        if (is_float($value)) {
            throw new \InvalidArgumentException("$path is a float: write amounts as text, such as \"118.50\"");
        }
        foreach (is_iterable($value) || $value instanceof \stdClass ? $value : [] as $name => $each) {
            self::refuseFloats($each, $path === '' ? (string) $name : "$path.$name");
        }
    }
}
