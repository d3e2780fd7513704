"""The close of a shop's day: sums of its receipts by type, form of payment, user and sequence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from fe.accounts.months import PURCHASES, sign_of
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.money import ZERO
from fe.ecf.payments import UNSTATED
from fe.ecf.schema.codes import CODES
from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.month.period import OneDay
from fe.store.portal import day_sums
from fe.store.portal.day_sums import PAID, DayLine, DayPart
from fe.store.postgres.db import Conn
from fe.store.records import month_sums, sequences
from fe.store.records.month_sums import IssuedSum, LeftOut

_NOT_SOLD = (Status.REJECTED, Status.ERROR)
_WAITING = (Status.QUEUED, Status.PROCESSING)
_RETURNS = Text("Credit notes (they state no form)", "Notas de crédito (no indican forma de pago)")
_UNSTATED = Text("Paid at once, form not stated", "Al contado, sin forma de pago indicada")
_NOT_KEPT = Text(
    "Form not kept (signed by an earlier version)", "Forma de pago no guardada (firmado con una versión anterior)"
)
#: Forms of payment by FormaPago, and UNSTATED.
FORM_NAMES = {code.value: Text(code.meaning, code.meaning_es) for code in CODES["payment-form"]} | {
    UNSTATED: _UNSTATED,
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

    `waiting` and `refused` count receipts, and their lines list them, MOST_LISTED at most. `is_cut`: of a day with more
    than MOST receipts only `types`, `sold` and `own_purchases` are there, of receipts with a verdict.
    """

    day: date
    types: Sequence[DaySum]
    sold: DaySum
    own_purchases: DaySum
    payments: Sequence[DaySum]
    users: Sequence[DaySum]
    numbers: Sequence[NumberSpan]
    waiting: int
    waiting_lines: Sequence[DayLine]
    refused: int
    refused_lines: Sequence[DayLine]
    unsigned: int
    is_cut: bool
    left_out: LeftOut


async def read(
    conn: Conn, tenant_id: TenantId, environment: Environment, day: date, name_of: Callable[[str], Text | str]
) -> DayClose:
    """Read a day: five statements, and one more for each kind of receipts that are not accepted.

    `name_of` names a type by its code.
    """
    still_open = await month_sums.still_open(conn, tenant_id, environment, OneDay(day))
    ranges = await sequences.listed(conn, tenant_id, environment)
    found = await day_sums.parts(conn, tenant_id, environment, day, ranges)
    parts: Sequence[DayPart] = found or ()
    every: Sequence[DayPart] | Sequence[IssuedSum] = parts
    if found is None:
        every = await month_sums.issued(conn, tenant_id, environment, OneDay(day))
    sold = [one for one in every if one.status not in _NOT_SOLD]
    sales = [one for one in sold if one.ecf_type not in PURCHASES]
    sales_parts = [one for one in parts if one.status not in _NOT_SOLD and one.ecf_type not in PURCHASES]
    waiting, refused = (sum(one.receipts for one in every if one.status in states) for states in (_WAITING, _NOT_SOLD))
    return DayClose(
        day=day,
        types=[
            _sum(name_of(code), [one for one in sold if one.ecf_type == code])
            for code in sorted({one.ecf_type for one in sold})
        ],
        sold=_sum(Text("Sold", "Vendido"), sales),
        own_purchases=_sum(
            Text("Own purchases", "Compras propias"), [one for one in sold if one.ecf_type in PURCHASES]
        ),
        payments=_payments(sales_parts),
        users=_users(sales_parts),
        numbers=_numbers(parts),
        waiting=waiting,
        waiting_lines=await day_sums.lines(conn, tenant_id, environment, day, _WAITING) if waiting else (),
        refused=refused,
        refused_lines=await day_sums.lines(conn, tenant_id, environment, day, _NOT_SOLD) if refused else (),
        unsigned=sum(one.unsigned for one in still_open),
        is_cut=found is None,
        left_out=await month_sums.left_out(conn, tenant_id, environment, OneDay(day)),
    )


def _sum(name: Text | str, found: Sequence[DayPart | IssuedSum]) -> DaySum:
    return DaySum(
        name,
        sum(one.receipts for one in found),
        sum((sign_of(one.ecf_type) * one.itbis for one in found), ZERO),
        sum((sign_of(one.ecf_type) * one.total for one in found), ZERO),
    )


def _users(sales: Sequence[DayPart]) -> list[DaySum]:
    """Sum by user, where there is more than one."""
    users = sorted({one.issued_by or "" for one in sales})
    if len(users) < 2:
        return []
    nobody = Text("Without a user", "Sin usuario")
    return [_sum(user or nobody, [one for one in sales if (one.issued_by or "") == user]) for user in users]


def _payments(sales: Sequence[DayPart]) -> list[DaySum]:
    """Sum the amounts by form of payment: their sum is what was sold."""
    returns = [one for one in sales if one.ecf_type == EcfType.CREDIT_NOTE]
    paid = [one for one in sales if one.ecf_type != EcfType.CREDIT_NOTE]
    sums = [
        DaySum(
            FORM_NAMES[form],
            sum(one.paid_receipts[place] for one in paid),
            ZERO,
            sum((one.paid[place] for one in paid), ZERO),
        )
        for place, form in enumerate(PAID)
    ]
    without = sum((one.total_without_form for one in paid), ZERO)
    sums += [_sum(_RETURNS, returns), DaySum(_NOT_KEPT, sum(one.without_form for one in paid), ZERO, without)]
    return [one for one in sums if one.receipts]


def _numbers(parts: Sequence[DayPart]) -> list[NumberSpan]:
    of_sequence: dict[str, list[DayPart]] = {}
    for one in parts:
        of_sequence.setdefault(one.sequence, []).append(one)
    return [
        NumberSpan(
            name,
            min(one.first_number for one in found),
            max(one.last_number for one in found),
            sum(one.receipts for one in found),
        )
        for name, found in sorted(of_sequence.items())
    ]
