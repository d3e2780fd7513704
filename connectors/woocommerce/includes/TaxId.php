<?php

declare(strict_types=1);

namespace FeEcf;

/** RNC (9 digits) and cédula (11 digits) with their check digits. */
final class TaxId
{
    private const WEIGHTS = [7, 9, 8, 6, 5, 4, 3, 2];

    /** Return the digits of an RNC or cédula, '' of an empty text, and null of what is neither. */
    public static function read(mixed $text): ?string
    {
        $digits = preg_replace('/[\s.\-]/', '', (string) $text);
        if ($digits === '') {
            return '';
        }
        if (!preg_match('/^(\d{9}|\d{11})$/D', $digits)) {
            return null;
        }
        return (strlen($digits) === 9 ? self::isRnc($digits) : self::isCedula($digits)) ? $digits : null;
    }

    private static function isRnc(string $digits): bool
    {
        $sum = 0;
        foreach (self::WEIGHTS as $place => $weight) {
            $sum += $weight * (int) $digits[$place];
        }
        return (int) $digits[8] === (10 - $sum % 11) % 9 + 1;
    }

    private static function isCedula(string $digits): bool
    {
        $sum = 0;
        foreach (str_split(strrev($digits)) as $place => $digit) {
            $value = (int) $digit << ($place & 1);
            $sum += $value > 9 ? $value - 9 : $value;
        }
        return $sum % 10 === 0;
    }
}
