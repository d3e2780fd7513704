"""Plan the simulation (step 4): draw its numbers from the sequences of certecf, and keep the plan.

In the certification no number is used twice, whatever the verdict on it was (docs/decisions/certification.md).
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fe.certification.to_do import CannotRun, ToDo
from fe.ecf.autofill import says_when_its_range_ends
from fe.ecf.catalogue import EcfType
from fe.ecf.dates import local, show_day
from fe.ecf.ids import new_id
from fe.ecf.texts import Text
from fe.issuing import certification_simulation as simulation
from fe.issuing.certification_runs import UNDER_WAY, require_replaceable
from fe.store.postgres.db import Conn, Database
from fe.store.records import certification, sequences
from fe.store.records.catalogue import CUSTOMERS, PRODUCTS
from fe.store.records.certification import ENVIRONMENT, CertificationPath, NewCase, RunKind, RunUnderWay
from fe.store.records.sequences import Change
from fe.store.records.tenants import Tenant

#: Numbers behind the last plan among which free ones are looked for.
_AHEAD = 200


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """The receipts of a plan in the order of sending, and what a person should know of their numbers."""

    receipts: Sequence[simulation.PlannedReceipt]
    warnings: Sequence[Text]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Numbers of a type, the last day of their range, and a number outside of a plan that had an influence on them."""

    numbers: Sequence[str]
    last_day: str | None
    passed_over: str | None = None
    begins_behind: str | None = None


async def plan_simulation(
    db: Database, tenant: Tenant, *, by: str, now: datetime, replace: bool = False
) -> SimulationPlan:
    """Plan the receipts of the simulation with numbers of their own, in place of the present plan. Raises CannotRun."""
    present = await db.run_for(tenant.tenant_id, certification.open_run, RunKind.SIMULATION)
    if present is not None:
        await require_replaceable(db, tenant, present, replace=replace)
    try:
        return await db.transact_for(tenant.tenant_id, _plan, tenant, by, now)
    except RunUnderWay:  # another person was faster
        raise CannotRun(UNDER_WAY) from None


async def _plan(conn: Conn, tenant: Tenant, by: str, now: datetime) -> SimulationPlan:
    begun = await certification.find(conn, tenant.tenant_id)
    path = CertificationPath.OWN if begun is None else begun.path
    wanted = Counter[EcfType]()
    for kind, count in simulation.COUNTS[path].items():
        wanted[simulation.type_of(kind)] += count
    drawn = {ecf_type: await _draw(conn, tenant, ecf_type, count, now) for ecf_type, count in wanted.items()}
    if missing := [ecf_type.prefix for ecf_type, found in drawn.items() if found is None]:
        raise CannotRun(_no_numbers(missing), ToDo.RANGE, prefix=missing[0])
    found = {ecf_type: one for ecf_type, one in drawn.items() if one is not None}
    today = local(now).date()
    planned = simulation.plan(
        path,
        {ecf_type: one.numbers for ecf_type, one in found.items()},
        {ecf_type: one.last_day for ecf_type, one in found.items()},
        customers=[one.entry for one in await CUSTOMERS.listed(conn, tenant.tenant_id)],
        products=[one.entry for one in await PRODUCTS.listed(conn, tenant.tenant_id)],
        today=today,
    )
    content = simulation.write_plan(planned)
    issuer = str(tenant.issuer["RNCEmisor"])
    receipts = simulation.in_sending_order(planned)
    await certification.load(
        conn,
        tenant.tenant_id,
        new_id(now),
        [NewCase(f"{issuer}{one.e_ncf}", one.e_ncf, one.is_small) for one in receipts],
        kind=RunKind.SIMULATION,
        at=now,
        by=by,
        name=f"simulation-{today:%Y%m%d}.json",
        digest=hashlib.sha256(content).digest(),
        content=content,
    )
    return SimulationPlan(receipts, _warnings(list(found.values())))


async def _draw(conn: Conn, tenant: Tenant, ecf_type: EcfType, count: int, now: datetime) -> _Drawn | None:
    """Draw numbers that were neither used nor planned; None where the range has not enough.

    They go on behind the last plan, and pass over numbers that were sent outside of a plan. Where there is no plan yet,
    or too few are free behind it, they begin where the sequence is, as numbers before may be used elsewhere.
    """
    prefix = ecf_type.prefix
    sequence = await sequences.locked(conn, tenant.tenant_id, ENVIRONMENT, prefix)
    if sequence is None or not sequence.is_active:
        return None
    ends = sequence.last_day
    if (ends is None and says_when_its_range_ends(ecf_type)) or (ends is not None and ends < local(now).date()):
        return None
    last = min(sequence.max_number, simulation.LAST_NUMBER)
    issuer = str(tenant.issuer["RNCEmisor"])

    def written(number: int) -> str:
        return f"{prefix}{number:010}"

    bounds = written(sequence.min_number), written(last)
    used = await certification.used_numbers(conn, tenant.tenant_id, issuer, *bounds)
    held, planned = (0 if one is None else int(one[3:]) for one in (used.highest_held, used.highest_planned))
    behind = max(sequence.current_number, held + 1, planned + 1)
    free: list[str] = []
    if planned and sequence.current_number in (held + 1, planned + 1):  # else a person moved the sequence on
        ahead = [written(number) for number in range(planned + 1, min(planned + _AHEAD, last) + 1)]
        taken = await certification.held_among(conn, tenant.tenant_id, issuer, ahead)
        free = [number for number in ahead if number not in taken]
    if len(free) < count:
        free = [written(number) for number in range(behind, min(behind + count - 1, last) + 1)]
    if len(free) < count:
        return None
    numbers = free[:count]
    following = max(int(numbers[-1][3:]) + 1, sequence.current_number)
    await sequences.change(conn, tenant.tenant_id, ENVIRONMENT, prefix, Change(next_number=following), at=now)
    has_gaps = used.held < held - sequence.min_number + 1
    # The set of step 2 has gaps of its own: its numbers are planned.
    jumps = has_gaps and held > planned and behind == held + 1 and numbers[0] == written(behind)
    return _Drawn(
        numbers,
        show_day(ends) if ends is not None and says_when_its_range_ends(ecf_type) else None,
        passed_over=used.highest_held if held >= int(numbers[0][3:]) else None,
        begins_behind=used.highest_held if jumps else None,
    )


def _warnings(drawn: Sequence[_Drawn]) -> list[Text]:
    """Tell of numbers that were sent outside of a plan."""
    found = []
    if passed := ", ".join(one.passed_over for one in drawn if one.passed_over):
        found.append(
            Text(
                f"numbers sent outside of a plan are passed over: {passed}",
                f"se pasan por alto números enviados fuera de un plan: {passed}",
            )
        )
    if jumped := ", ".join(one.begins_behind for one in drawn if one.begins_behind):
        found.append(
            Text(
                f"the plan begins behind numbers that were sent outside of it: {jumped}. Numbers before them may have "
                "been used elsewhere, and none is used twice, not even a rejected one.",
                f"el plan empieza después de números enviados fuera de él: {jumped}. Los anteriores pueden haberse "
                "usado en otro sistema, y ninguno se usa dos veces, ni siquiera uno rechazado.",
            )
        )
    return found


def _no_numbers(prefixes: Sequence[str]) -> Text:
    named = ", ".join(prefixes)
    return Text(
        f"there are not enough numbers of {named} in {ENVIRONMENT}",
        f"no hay suficientes números de {named} en {ENVIRONMENT}",
    )
