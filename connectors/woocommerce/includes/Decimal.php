<?php

declare(strict_types=1);

namespace FeEcf;

/** An exact amount: whole millionths in an integer. WooCommerce keeps at most six decimals. */
final class Decimal
{
    private const UNIT = 1_000_000;

    private function __construct(private readonly int $millionths)
    {
    }

    /** Read what WooCommerce stores: a text, an integer, or a float, of which the shortest exact text counts. */
    public static function of(mixed $value): self
    {
        $text = match (true) {
            is_float($value) => json_encode(round($value, 6)),
            $value === null, $value === '' => '0',
            default => trim((string) $value),
        };
        if (!preg_match('/^(-?)(\d{1,12})(?:\.(\d*))?$/D', $text, $part)) {
            throw new \InvalidArgumentException("this is no amount: $text");
        }
        $digits = str_pad($part[3] ?? '', 7, '0');
        $number = (int) $part[2] * self::UNIT + (int) substr($digits, 0, 6) + ($digits[6] >= '5' ? 1 : 0);
        return new self($part[1] === '-' ? -$number : $number);
    }

    public function plus(self $other): self
    {
        return new self($this->millionths + $other->millionths);
    }

    public function minus(self $other): self
    {
        return new self($this->millionths - $other->millionths);
    }

    public function abs(): self
    {
        return new self(abs($this->millionths));
    }

    /** Divide by a quantity. */
    public function over(self $quantity): self
    {
        $whole = intdiv($this->millionths, $quantity->millionths);
        $rest = $this->millionths % $quantity->millionths;
        // Six more digits by long division: an amount times a million could overflow.
        for ($place = 0; $place < 6; $place++) {
            $rest *= 10;
            $whole = $whole * 10 + intdiv($rest, $quantity->millionths);
            $rest %= $quantity->millionths;
        }
        return new self(is_int($whole) ? $whole : throw new \InvalidArgumentException('the amount is too large'));
    }

    /** The part of it that `$share` is of `$whole`, in centavos. */
    public function part(self $share, self $whole): self
    {
        $product = intdiv($this->millionths, 10_000) * intdiv($share->millionths, 10_000);
        if (!is_int($product)) {
            throw new \InvalidArgumentException('the amount is too large');
        }
        return new self(intdiv($product, intdiv($whole->millionths, 10_000)) * 10_000);
    }

    /** Round half up, away from zero. */
    public function round(int $places = 2): self
    {
        $step = 10 ** (6 - $places);
        return new self(intdiv($this->millionths + ($this->millionths < 0 ? -1 : 1) * intdiv($step, 2), $step) * $step);
    }

    public function compare(self $other): int
    {
        return $this->millionths <=> $other->millionths;
    }

    public function sign(): int
    {
        return $this->millionths <=> 0;
    }

    public function text(int $places = 2): string
    {
        $rounded = $this->round($places)->millionths;
        $whole = intdiv(abs($rounded), self::UNIT);
        $fraction = substr(sprintf('%06d', abs($rounded) % self::UNIT), 0, $places);
        return ($rounded < 0 ? '-' : '') . $whole . ($places > 0 ? ".$fraction" : '');
    }
}
