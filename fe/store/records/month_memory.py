"""LRU cache of a month's numbers and received receipts: a long history is read once, and then only its news.

A held number stays held, by its receipt or by a later one. A received receipt and its amounts are neither changed nor
deleted; which of them the tenant rejected is read each time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

from fe.cache import ExpiringCache
from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.store.postgres.db import Conn
from fe.store.records import number_gaps, received_sums
from fe.store.records.number_gaps import A_BLOCK, MOST_GAPS, NumberGap, NumberStretch
from fe.store.records.received_sums import ReceivedPart, ReceivedSum

_REMEMBERED_MONTHS = 100_000
#: Prefixes of tenants; of each, runs of held numbers, no shorter than a block of the walk.
_REMEMBERED_PREFIXES, _REMEMBERED_RUNS = 20_000, 500

_Run = tuple[int, int]
_Sums = Mapping[str, ReceivedSum]


class MonthMemory:
    """Counts numbers and sums received receipts, and caches both. One per process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._received: ExpiringCache[tuple[TenantId, Environment, YearMonth], tuple[_Sums, UUID]] = ExpiringCache(
            _REMEMBERED_MONTHS
        )
        self._held: ExpiringCache[tuple[TenantId, Environment, str], Sequence[_Run]] = ExpiringCache(
            _REMEMBERED_PREFIXES
        )

    async def received(
        self, conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth
    ) -> Sequence[ReceivedSum]:
        """Sum the received receipts of a month, by type."""
        key = tenant_id, environment, month
        known, until = self._received.get(key) or ({}, None)
        parts = await received_sums.received(conn, tenant_id, environment, month, self._clock(), until)
        settled = _add(known, [part for part in parts if part.is_settled])
        if parts and not any(part.without_amounts for part in parts):
            # Never back: what came between a clock set back and before would be counted twice.
            later = parts[0].settled_until
            self._received.put(key, (settled, later if until is None else max(until, later)))
        found = _add(settled, [part for part in parts if not part.is_settled])
        if found:
            found = _add(found, await received_sums.rejected(conn, tenant_id, environment, month))
        return [found[code] for code in sorted(found)]

    async def numbers(
        self,
        conn: Conn,
        tenant_id: TenantId,
        environment: Environment,
        stretches: Mapping[str, Sequence[NumberStretch]],
    ) -> Mapping[str, tuple[int, Sequence[NumberGap]]]:
        """Count the numbers of stretches that signed receipts have, by prefix, and list the first MOST_GAPS gaps."""
        unknown: list[NumberStretch] = []
        held = dict.fromkeys(stretches, 0)
        for prefix, many in stretches.items():
            runs = self._held.get((tenant_id, environment, prefix)) or ()
            for first, last in many:
                pieces = without(int(first[3:]), int(last[3:]), runs)
                held[prefix] += int(last[3:]) - int(first[3:]) + 1 - sum(end - begin + 1 for begin, end in pieces)
                unknown += [(f"{prefix}{begin:010}", f"{prefix}{end:010}") for begin, end in pieces]
        walks = await number_gaps.walk_numbers(conn, tenant_id, environment, unknown) if unknown else {}
        found: dict[str, tuple[int, Sequence[NumberGap]]] = {}
        for prefix in stretches:
            walk = walks.get(prefix)
            found[prefix] = (held[prefix], ()) if walk is None else (held[prefix] + walk.held, walk.gaps[:MOST_GAPS])
            if walk is not None:
                gaps = [(gap.first, gap.last) for gap in walk.gaps]
                new = [*walk.full, *(run for first, last in walk.looked_at for run in without(first, last, gaps))]
                self._remember((tenant_id, environment, prefix), new)
        return found

    def _remember(self, key: tuple[TenantId, Environment, str], new: Iterable[_Run]) -> None:
        """Join runs to those that are known. Short ones are not worth their place: around each the walk goes on."""
        joined: list[_Run] = []
        for first, last in sorted([*(self._held.get(key) or ()), *new]):
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = joined[-1][0], max(joined[-1][1], last)
            else:
                joined.append((first, last))
        long = [run for run in joined if run[1] - run[0] >= A_BLOCK]
        self._held.put(key, long[-_REMEMBERED_RUNS:])


def without(first: int, last: int, runs: Iterable[_Run]) -> list[_Run]:
    """Return what of the numbers from `first` to `last` is in none of the runs, which are in order and apart."""
    found = []
    for begin, end in runs:
        if begin > last:
            break
        if end < first:
            continue
        if begin > first:
            found.append((first, begin - 1))
        first = end + 1
    if first <= last:
        found.append((first, last))
    return found


def _add(known: _Sums, parts: Iterable[ReceivedPart | ReceivedSum]) -> _Sums:
    sums = dict(known)
    for part in parts:
        before = sums.get(part.ecf_type) or ReceivedSum(part.ecf_type, 0, Decimal(0), Decimal(0), 0)
        sums[part.ecf_type] = replace(
            before,
            receipts=before.receipts + part.receipts,
            total=before.total + part.total,
            itbis=before.itbis + part.itbis,
            without_amounts=before.without_amounts + part.without_amounts,
            rejected=before.rejected + part.rejected,
        )
    return sums
