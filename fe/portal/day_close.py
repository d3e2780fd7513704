"""The close of a shop's day: sums of its receipts by type, form of payment, user and sequence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from fe.accounts.months import PURCHASES, sign_of
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.money import ZERO
from fe.ecf.payments import FORMS, ON_CREDIT, UNSTATED
from fe.ecf.schema.codes import CODES
from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.month.period import OneDay
from fe.store.portal import day_lines
from fe.store.portal.day_lines import MOST, DayLine
from fe.store.postgres.db import Conn
from fe.store.records import month_sums, sequences
from fe.store.records.month_sums import IssuedSum
from fe.store.records.sequences import Sequence as NumberSequence

_NOT_SOLD = (Status.REJECTED, Status.ERROR)
_RETURNS = Text("Credit notes (they state no form)", "Notas de crédito (no indican forma de pago)")
_UNSTATED = Text("Paid at once, form not stated", "Al contado, sin forma de pago indicada")
_NOT_KEPT = Text(
    "Form not kept (signed by an earlier version)", "Forma de pago no guardada (firmado con una versión anterior)"
)
_FORM_NAMES = {code.value: Text(code.meaning, code.meaning_es) for code in CODES["payment-form"]} | {
    UNSTATED: _UNSTATED,
    ON_CREDIT: Text("sale on credit", "venta a crédito"),
}


@dataclass(frozen=True, slots=True)
class DaySum:
    """Receipts that have something in common; credit notes are subtracted."""

    name: Text | str
    receipts: int
    itbis: Decimal
    total: Decimal


@dataclass(frozen=True, slots=True)
class NumberSpan:
    """The first and the last number that a sequence gave."""

    sequence: str
    first: str
    last: str
    receipts: int


@dataclass(frozen=True, slots=True)
class DayClose:
    """A day: sold is what was not rejected and did not fail. `unsigned` receipts have no amounts yet.

    Of a day with more than MOST receipts only `types`, `sold` and `own_purchases` are there, of receipts with verdicts.
    """

    day: date
    types: Sequence[DaySum]
    sold: DaySum
    own_purchases: DaySum
    payments: Sequence[DaySum]
    users: Sequence[DaySum]
    numbers: Sequence[NumberSpan]
    waiting: Sequence[DayLine]
    refused: Sequence[DayLine]
    unsigned: int
    is_cut: bool


async def read(
    conn: Conn, tenant_id: TenantId, environment: Environment, day: date, name_of: Callable[[str], Text | str]
) -> DayClose:
    """Read a day: three statements, or two with more than MOST receipts. `name_of` names a type by its code."""
    still_open = await month_sums.still_open(conn, tenant_id, environment, OneDay(day))
    unsigned = sum(not one.is_signed for one in still_open)
    lines = await day_lines.of_day(conn, tenant_id, environment, day)
    if len(lines) > MOST:
        ended = await month_sums.issued(conn, tenant_id, environment, OneDay(day))
        return _closed(day, [one for one in ended if one.status not in _NOT_SOLD], (), (), unsigned, name_of)
    return _closed(
        day,
        [one for one in lines if one.status not in _NOT_SOLD],
        lines,
        await sequences.listed(conn, tenant_id, environment),
        unsigned,
        name_of,
    )


def _closed(
    day: date,
    sold: Sequence[DayLine] | Sequence[IssuedSum],
    lines: Sequence[DayLine],
    ranges: Sequence[NumberSequence],
    unsigned: int,
    name_of: Callable[[str], Text | str],
) -> DayClose:
    sales = [one for one in sold if one.ecf_type not in PURCHASES]
    lines_sold = [one for one in sales if isinstance(one, DayLine)]
    codes = sorted({one.ecf_type for one in sold})
    users = sorted({one.issued_by or "" for one in lines_sold})
    return DayClose(
        day=day,
        types=[_sum(name_of(code), [one for one in sold if one.ecf_type == code]) for code in codes],
        sold=_sum(Text("Sold", "Vendido"), sales),
        own_purchases=_sum(
            Text("Own purchases", "Compras propias"), [one for one in sold if one.ecf_type in PURCHASES]
        ),
        payments=_payments(lines_sold),
        users=[
            _sum(
                user or Text("Without a user", "Sin usuario"),
                [one for one in lines_sold if (one.issued_by or "") == user],
            )
            for user in users
        ]
        if len(users) > 1
        else [],
        numbers=_numbers(lines, ranges),
        waiting=[one for one in lines if one.status in (Status.QUEUED, Status.PROCESSING)],
        refused=[one for one in lines if one.status in _NOT_SOLD],
        unsigned=unsigned,
        is_cut=not lines and bool(sold),
    )


def _sum(name: Text | str, found: Iterable[DayLine | IssuedSum]) -> DaySum:
    receipts, itbis, total = 0, ZERO, ZERO
    for one in found:
        receipts += 1 if isinstance(one, DayLine) else one.receipts
        itbis += sign_of(one.ecf_type) * one.itbis
        total += sign_of(one.ecf_type) * one.total
    return DaySum(name, receipts, itbis, total)


def _payments(sales: Sequence[DayLine]) -> list[DaySum]:
    """Sum the amounts by form of payment: their sum is what was sold."""
    names = {f"paid{form}": _FORM_NAMES[form] for form in (*FORMS, UNSTATED)}
    counts = dict.fromkeys([*names.values(), _RETURNS, _NOT_KEPT], 0)
    sums = dict.fromkeys(counts, ZERO)
    for one in sales:
        amounts = one.amounts or {}
        parts = {name: Decimal(amounts[key]) for key, name in names.items() if key in amounts}
        if one.ecf_type == EcfType.CREDIT_NOTE:
            parts = {_RETURNS: -one.total}
        elif not parts:
            parts = {_NOT_KEPT: one.total}
        for name, amount in parts.items():
            counts[name] += 1
            sums[name] += amount
    return [DaySum(name, count, ZERO, sums[name]) for name, count in counts.items() if count]


def _numbers(lines: Sequence[DayLine], ranges: Sequence[NumberSequence]) -> list[NumberSpan]:
    of_sequence: dict[str, list[str]] = {}
    for one in lines:
        sequence = sequences.of_number(ranges, one.e_ncf)
        of_sequence.setdefault(one.e_ncf[:3] if sequence is None else sequence.label, []).append(one.e_ncf)
    return [
        NumberSpan(name, min(numbers), max(numbers), len(set(numbers))) for name, numbers in sorted(of_sequence.items())
    ]
