"""The receipt of one column: rows that the roll of a PDF and a receipt printer draw, each by its own means."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from fe.printing.labels import LEGENDS, label
from fe.printing.options import FiscalStanding, PrintOptions
from fe.printing.read import Adjustment, Currency, Item, PrintedReceipt, show, show_quantity

#: A label by its name, with values in place of its braces.
Speaker = Callable[..., str]
Tone = Literal["normal", "strong", "title", "soft", "alert"]


@dataclass(frozen=True, slots=True)
class Words:
    """A text over as many lines as it needs."""

    text: str
    tone: Tone = "normal"
    centered: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A label, and a value aligned right."""

    left: str
    right: str
    tone: Tone = "normal"


@dataclass(frozen=True, slots=True)
class Line:
    """A line from edge to edge."""


@dataclass(frozen=True, slots=True)
class QrCode:
    """The QR code, centered."""

    url: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The place of the logo."""


Row = Words | Pair | Line | QrCode | Picture


def ticket_rows(receipt: PrintedReceipt, options: PrintOptions, url: str, mark: str) -> Iterator[Row]:
    """Lay a receipt out as rows. Each line takes two: what it is, and its quantity, price, ITBIS and value."""
    language = options.language

    def words(name: str, **values: object) -> str:
        return label(name, language, **values)

    issuer, buyer, modified = receipt.issuer, receipt.buyer, receipt.modified
    if options.logo is not None:
        yield Picture()
    yield Words(issuer.trade_name or issuer.name, "title", centered=True)
    if issuer.trade_name:
        yield Words(issuer.name, "strong", centered=True)
    yield Words(f"{words('rnc')}: {issuer.rnc}", centered=True)
    if issuer.branch:
        yield Words(f"{words('branch')}: {issuer.branch}", centered=True)
    for line in issuer.lines:
        yield Words(line, "soft", centered=True)
    yield Words(f"{words('issued')}: {receipt.issued}", centered=True)
    if mark:
        yield Words(mark.upper(), "strong", centered=True)
    yield Line()
    yield Words(receipt.title, "strong", centered=True)
    yield Pair(f"{words('ncf' if receipt.is_paper else 'e_ncf')}:", receipt.e_ncf, "strong")
    if receipt.expires:
        yield Pair(f"{words('expires')}:", receipt.expires)
    if modified is not None:
        yield Pair(f"{words('modified')}:", modified.ncf)
        yield Words(modified.words)
        if modified.reason:
            yield Words(f"{words('reason')}: {modified.reason}", "soft")
    note = standing_note(options)
    if note:
        yield Words(note, "alert")
    if buyer is not None:
        yield Line()
        for name, value in (
            ("buyer_name", buyer.name),
            ("buyer_rnc", buyer.rnc),
            ("foreign_id", buyer.foreign_id),
            ("country", buyer.country),
        ):
            if value:
                yield Words(f"{words(name)}: {value}")
    yield Line()
    yield Pair(" · ".join(map(words, ("quantity", "unit", "price", "vat"))), words("value"), "soft")
    yield Line()
    for item in receipt.items:
        yield from _item(item, words)
    yield Line()
    yield from _totals(receipt, words)
    for name, value in receipt.facts:
        yield Words(words("due", day=value) if name == "due" else f"{words(name)}: {value}", "soft")
    if options.footer:
        yield Line()
        for line in options.footer.splitlines():
            yield Words(line, "soft", centered=True)
    if receipt.is_paper:
        return
    yield Line()
    yield QrCode(url)
    yield Words(f"{words('code')}: {receipt.code}", centered=True)
    yield Words(f"{words('signed')}: {receipt.signed}", centered=True)


def standing_note(options: PrintOptions) -> str:
    """Return the mark of a test and the legend that the standing asks for, or an empty text."""
    standing = options.standing
    if standing in (FiscalStanding.PREVIEW, FiscalStanding.VOID):
        return label(standing, options.language)
    test = label("test", options.language) if options.environment == "testecf" else ""
    legend = LEGENDS[standing] if standing in (FiscalStanding.DEFERRED, FiscalStanding.CONTINGENCY) else ""
    return ". ".join(filter(None, (test, legend)))


def adjustment_words(one: Adjustment, words: Speaker) -> str:
    """Return the label of a discount or surcharge of the whole document."""
    percent = "" if one.percent is None else f" {show_quantity(one.percent)}%"
    named = f" ({one.words})" if one.words else ""
    return f"{words('discount' if one.is_discount else 'surcharge')}{percent}{named}:"


def currency_words(abroad: Currency, words: Speaker) -> str:
    """Return a line's price and value in another currency, each with its label and the currency's code."""
    return " · ".join(f"{words(one.name)} {abroad.code}: {show(one.amount)}" for one in abroad.amounts)


def _item(item: Item, words: Speaker) -> Iterator[Row]:
    yield Words(f"E  {item.name}" if item.exempt else item.name, "strong")
    if item.description:
        yield Words(item.description, "soft")
    excise = (
        ("degrees", "" if item.degrees is None else show_quantity(item.degrees)),
        ("retail", "" if item.retail is None else show(item.retail)),
        ("specific", show(item.specific) if item.specific else ""),
        ("ad_valorem", show(item.ad_valorem) if item.ad_valorem else ""),
    )
    if any(shown for _, shown in excise):
        yield Words(" · ".join(f"{words(name)}: {shown}" for name, shown in excise if shown), "soft")
    quantity = " ".join(filter(None, (show_quantity(item.quantity), item.unit)))
    # Without a blank after the colon: where the line breaks, the label stays with its amount.
    yield Pair(f"{quantity} × {show(item.price)} · {words('vat')}:{show(item.vat)}", show(item.value))
    if item.discount:
        yield Words(f"{words('discount')}: -{show(item.discount)}", "soft")
    if item.surcharge:
        yield Words(f"{words('surcharge')}: {show(item.surcharge)}", "soft")
    if item.abroad is not None:
        yield Words(currency_words(item.abroad, words), "soft")


def _totals(receipt: PrintedReceipt, words: Speaker) -> Iterator[Row]:
    for one in receipt.adjustments:
        yield Pair(adjustment_words(one, words), ("-" if one.is_discount else "") + show(one.amount))
    for row in receipt.totals:
        yield Pair(f"{row.words or words(row.name, percent=row.percent)}:", show(row.amount))
    yield Pair(f"{words('total')}:", f"RD$ {show(receipt.total)}", "title")
    for row in receipt.after_total:
        yield Pair(f"{row.words or words(row.name)}:", show(row.amount))
    currency = receipt.currency
    if currency is not None:
        rate = "" if currency.rate is None else show_quantity(currency.rate)
        yield Words(words("in_currency", currency=currency.code, rate=rate), "strong")
        for row in currency.amounts:
            yield Pair(f"{words(row.name)} {currency.code}:", show(row.amount), "soft")
