"""A tenant's month in one environment: sums of what was issued and received, and an account of the numbers drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from typing import NamedTuple

import trio

from fe.accounts.received_facts import facts_of
from fe.ecf.catalogue import EcfType, Environment
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.month.period import OneDay, YearMonth
from fe.store.postgres.db import Conn
from fe.store.postgres.tenant_scope import fetch_together
from fe.store.records import month_sums, number_gaps, received_sums, sequences, voidings
from fe.store.records.month_memory import MonthMemory
from fe.store.records.month_sums import IssuedSum, LeftOut, OpenSum, SequenceSum
from fe.store.records.number_gaps import NumberGap, NumberStretch
from fe.store.records.received_sums import ReceivedSum
from fe.store.records.sequences import Sequence as NumberSequence

#: Received documents whose amounts one request computes; what is left is computed by the next.
MOST_COMPUTED = 2000
_ACCEPTED = (Status.ACCEPTED, Status.CONDITIONAL)
#: Types that are costs of the issuer, not sales.
PURCHASES = (EcfType.PURCHASES, EcfType.MINOR_EXPENSES, EcfType.PAYMENTS_ABROAD)
_ZERO = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class NumberAccount:
    """Numbers of one type that receipts have, from the first to the last of the month.

    `drawn` is the sum of the counts from `accepted` to `other_months`: receipts with another day of issue.
    `without_receipt` is beside it: all numbers of the gaps, however far apart a client chose its numbers, but
    of a type with several sequences not those between them.
    """

    prefix: str
    first: str
    last: str
    drawn: int
    accepted: int
    rejected: int
    failed: int
    still_open: int
    other_months: int
    without_receipt: int
    #: Of `without_receipt`: void.
    void: int
    gaps: Sequence[NumberGap]


@dataclass(frozen=True, slots=True)
class MonthTotals:
    """Amounts of accepted receipts, credit notes subtracted. `itbis_charged` is of sales."""

    sales: Decimal
    itbis_charged: Decimal
    base18: Decimal
    base16: Decimal
    base0: Decimal
    exempt: Decimal
    own_purchases: Decimal
    itbis_withheld: Decimal
    isr_withheld: Decimal
    received: Decimal
    itbis_paid: Decimal

    @property
    def other_taxes(self) -> Decimal:
        """Taxes beside ITBIS in `sales`, as selective taxes; right where no receipt is `without_amounts`."""
        return self.sales - self.itbis_charged - self.base18 - self.base16 - self.base0 - self.exempt


@dataclass(frozen=True, slots=True)
class MonthReport:
    """A month. `is_complete` is false while amounts of received documents are not computed for all of them.

    `has_too_many_for_sequences`: `by_sequence` is empty because there are more receipts than it sums.
    """

    month: YearMonth
    environment: Environment
    issued: Sequence[IssuedSum]
    received: Sequence[ReceivedSum]
    still_open: Sequence[OpenSum]
    numbers: Sequence[NumberAccount]
    #: Of the types that have several sequences.
    by_sequence: Sequence[SequenceSum]
    is_complete: bool
    left_out: LeftOut
    has_too_many_for_sequences: bool = False

    @property
    def totals(self) -> MonthTotals:
        """Add the types up."""
        accepted = [one for one in self.issued if one.status in _ACCEPTED]
        sales = [one for one in self.issued if _is_sale(one)]

        def of(name: str, found: Sequence[IssuedSum] | Sequence[ReceivedSum]) -> Decimal:
            return sum((sign_of(one.ecf_type) * Decimal(getattr(one, name)) for one in found), _ZERO)

        return MonthTotals(
            sales=of("total", sales),
            itbis_charged=of("itbis", sales),
            base18=of("base18", sales),
            base16=of("base16", sales),
            base0=of("base0", sales),
            exempt=of("exempt", sales),
            own_purchases=of("total", [one for one in accepted if one.ecf_type in PURCHASES]),
            itbis_withheld=of("itbis_withheld", accepted),
            isr_withheld=of("isr_withheld", accepted),
            received=of("total", self.received),
            itbis_paid=of("itbis", self.received),
        )


def sign_of(ecf_type: str) -> int:
    """Return -1 for a credit note, which is subtracted, else 1."""
    return -1 if ecf_type == EcfType.CREDIT_NOTE else 1


async def sold(conn: Conn, tenant_id: TenantId, environment: Environment, day: date) -> tuple[Decimal, Decimal]:
    """Sum the accepted sales of a day, and of its month; those of the last seconds may not be in it."""
    periods = (OneDay(day), YearMonth.of(day))
    asked = [month_sums.issued_asked(tenant_id, environment, one, lately=False) for one in periods]
    of_day, of_month = (
        sum((sign_of(one.ecf_type) * one.total for one in found if _is_sale(one)), _ZERO)
        for found in await fetch_together(conn, *asked)
    )
    return of_day, of_month


def _is_sale(one: IssuedSum) -> bool:
    return one.status in _ACCEPTED and one.ecf_type not in PURCHASES


async def report(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    month: YearMonth,
    memory: MonthMemory,
    *,
    with_open: bool = True,
) -> MonthReport:
    """Read a month: ten statements at most, over sums, a queue, and the month's numbers.

    Without `with_open`, for a role that may not see whose rows wait, open receipts count among `other_months`.
    """
    # First: receipts that end after it are in no sum yet, or in those of days.
    left_out = await month_sums.left_out(conn, tenant_id, environment, month, with_open=with_open)
    received, is_complete = await memory.received(conn, tenant_id, environment, month), True
    if any(one.without_amounts for one in received):
        is_complete = await _compute_amounts(conn, tenant_id, environment, month)
        received = await memory.received(conn, tenant_id, environment, month)
    issued = await month_sums.issued(conn, tenant_id, environment, month, lately=left_out.lately)
    waiting = await month_sums.still_open(conn, tenant_id, environment, month) if with_open else []
    prefixes = {one.first_number[:3] for one in issued} | {one.prefix for one in waiting if one.prefix is not None}
    failed = {}
    if any(one.status is Status.ERROR for one in issued):
        failed = await month_sums.failed_holders(conn, tenant_id, environment, month)
    ranges = await sequences.listed(conn, tenant_id, environment)
    ends = {prefix: _ends(prefix, issued, waiting) for prefix in sorted(prefixes)}
    stretches = {
        prefix: drawn_between(*both, [one for one in ranges if one.prefix == prefix]) for prefix, both in ends.items()
    }
    walked = await memory.numbers(conn, tenant_id, environment, stretches) if ends else {}
    void: Mapping[str, int] = {}
    if ends:
        asked = {prefix: (int(first[3:]), int(last[3:])) for prefix, (first, last) in ends.items()}
        void = await voidings.void_within(conn, tenant_id, environment, asked)
    numbers = []
    for prefix, (first, last) in ends.items():
        held, gaps = walked[prefix]
        stretch = sum(int(end[3:]) - int(begin[3:]) + 1 for begin, end in stretches[prefix])
        if len(stretches[prefix]) > 1:
            of_all = await number_gaps.numbers_held(conn, tenant_id, environment, [(first, last)])
            held, stretch = of_all, stretch + of_all - held
        of_type = [one for one in issued if one.first_number.startswith(prefix)]
        still_open = [one for one in waiting if one.prefix == prefix]
        counts = _Counts(failed.get(prefix, 0), held, stretch, void.get(prefix, 0))
        numbers.append(_account(prefix, (first, last), of_type, still_open, counts, gaps))
    named = {one.prefix for one in ranges if one.name}
    several = [one for one in ranges if one.prefix in named]
    types = {one.prefix[1:] for one in several}
    accepted = sum(one.receipts for one in issued if one.status in _ACCEPTED and one.ecf_type in types)
    too_many = accepted > month_sums.MOST_BY_SEQUENCE
    tills: Sequence[SequenceSum] = []
    if several and not too_many:
        tills = await month_sums.by_sequence(conn, tenant_id, environment, month, several)
    return MonthReport(month, environment, issued, received, waiting, numbers, tills, is_complete, left_out, too_many)


def _ends(prefix: str, issued: Sequence[IssuedSum], waiting: Sequence[OpenSum]) -> tuple[str, str]:
    """Return the first and the last number of a type in the month."""
    known: list[IssuedSum | OpenSum] = [one for one in issued if one.first_number.startswith(prefix)]
    known += [one for one in waiting if one.prefix == prefix]
    return min(one.first_number for one in known), max(one.last_number for one in known)


class _Counts(NamedTuple):
    """Counts of numbers between the ends of a type: of failed receipts, of receipts at all, in all, and void ones."""

    failed: int
    held: int
    stretch: int
    void: int


def _account(
    prefix: str,
    ends: tuple[str, str],
    of_type: Sequence[IssuedSum],
    still_open: Sequence[OpenSum],
    counts: _Counts,
    gaps: Sequence[NumberGap],
) -> NumberAccount:
    first, last = ends
    # A number that was drawn for a receipt that is not signed yet is held by none.
    unsigned = {int(e_ncf[3:]) for one in still_open for e_ncf in one.unsigned_numbers}
    gaps, held = _split(gaps, sorted(unsigned)), counts.held + len(unsigned)

    def count(*states: Status) -> int:
        return sum(one.receipts for one in of_type if one.status in states)

    unanswered = sum(one.receipts for one in still_open)
    accepted, rejected = count(*_ACCEPTED), count(Status.REJECTED)
    return NumberAccount(
        prefix=prefix,
        first=first,
        last=last,
        drawn=held,
        accepted=accepted,
        rejected=rejected,
        failed=counts.failed,
        still_open=unanswered,
        other_months=held - accepted - rejected - counts.failed - unanswered,
        without_receipt=counts.stretch - held,
        void=counts.void,
        gaps=gaps,
    )


def _split(gaps: Sequence[NumberGap], unsigned: Sequence[int]) -> list[NumberGap]:
    """Take the numbers of unsigned receipts out of gaps."""
    found = []
    for gap in gaps:
        first = gap.first
        for number in (one for one in unsigned if gap.first <= one <= gap.last):
            if number > first:
                found.append(NumberGap(first, number - 1))
            first = number + 1
        if first <= gap.last:
            found.append(NumberGap(first, gap.last))
    return found


def drawn_between(first: str, last: str, ranges: Sequence[NumberSequence]) -> Sequence[NumberStretch]:
    """Return the numbers from `first` to `last` that the sequences of their type gave: all, where one range did."""
    prefix, low, high = first[:3], int(first[3:]), int(last[3:])
    gave = []
    for one in sequences.known_ranges(ranges):
        is_own = one.first == one.sequence.min_number
        end = one.sequence.current_number - 1 if is_own else one.last
        gave.append((max(low, one.first), min(high, end)))
    stretches = [(f"{prefix}{begin:010}", f"{prefix}{end:010}") for begin, end in gave if begin <= end]
    return stretches if len(stretches) > 1 else [(first, last)]


async def _compute_amounts(conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth) -> bool:
    """Compute and keep the amounts of received documents that have none; tell whether all have them now."""
    for _ in range(MOST_COMPUTED // received_sums.A_BATCH):
        documents = await received_sums.without_amounts(conn, tenant_id, environment, month)
        if not documents:
            return True
        read = partial(facts_of, [content for _, content in documents])
        found = await trio.to_thread.run_sync(read)
        ids = [received_id for received_id, _ in documents]
        await received_sums.keep_amounts(conn, tenant_id, list(zip(ids, found, strict=True)))
    return not await received_sums.without_amounts(conn, tenant_id, environment, month)
