"""Records of series B: ranges, and receipts issued on paper in a declared contingency (docs/contingency.md).

Only numbers issued inside a contingency that was notified to the authority are valid.
"""

from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from fe.accounts.audited_changes import Author, note
from fe.contingency import TERMS, Clock, Mode
from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.ecf.ids import new_id
from fe.ecf.paper import (
    IN_DOUBT,
    NEVER_ENTERED,
    NoSuchPaper,
    PaperConflict,
    PaperRefused,
    ncf_of,
    read_ncf,
    replaced_elsewhere,
)
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import Text
from fe.lifecycle import FINAL
from fe.store.postgres.db import Conn, Database
from fe.store.records import modes, paper, paper_ranges
from fe.store.records.paper import AskedPaper, EnteredBefore, ExaminedPaper, NewPaper, PaperRecord
from fe.store.records.paper_ranges import PaperRange
from fe.store.records.tenants import Tenant

_MAX_NUMBER = 99_999_999

_BAD_RANGE = Text(
    "the range goes from 1 or more to 99,999,999 or less, its first number not above its last",
    "el rango va de 1 o más a 99,999,999 o menos, con el primer número no mayor que el último",
)
_TWO_TYPES = Text(
    "a range has numbers of one type: the first is {first}, the last {last}",
    "un rango tiene números de un solo tipo: el primero es {first}, el último {last}",
)
_RANGE_OVER = Text(
    "the range has expired: its last day {day} is over", "el rango está vencido: su último día, {day}, ya pasó"
)
_MANY_RANGES = Text(f"at most {paper_ranges.MOST_RANGES} ranges", f"a lo sumo {paper_ranges.MOST_RANGES} rangos")
_OVERLAP = Text(
    "{first}-{last} overlaps {other_first}-{other_last}, recorded {at} by {by}",
    "{first}-{last} se traslapa con {other_first}-{other_last}, registrado el {at} por {by}",
)
_RANGE_USED = Text(
    "paper receipts have numbers of this range: it stays", "hay comprobantes en papel de este rango: se conserva"
)
_NO_RANGE = Text(
    "{ncf} lies in none of the ranges of {prefix}: record the range that the authority authorised first",
    "{ncf} no está en ningún rango {prefix}: registre primero el rango que autorizó la DGII",
)
_NONE_LEFT = Text(
    "there is no number of {prefix} left that has not expired: record another range",
    "no quedan números {prefix} vigentes: registre otro rango",
)
_NO_PERIOD = Text(
    "{day} lies in no declared contingency on record: a number of series B is valid only in one; record it first, with "
    "its start",
    "{day} no está dentro de ninguna contingencia declarada que esté registrada: un número de la serie B solo vale en "
    "una; regístrela primero, con su inicio",
)
_NOT_NOW = Text(
    "the service issues numbers of series B only while a declared contingency is on record",
    "el servicio emite números de la serie B solo mientras esté registrada una contingencia declarada",
)
_UNNAMED = Text(
    "`ncf` and `clientRequestId` are missing: send `ncf`, the number on the paper; or, for the service to draw a "
    "number, a `clientRequestId`, with which a repeat draws no other one",
    "faltan `ncf` y `clientRequestId`: envíe `ncf`, el número del papel; o, para que el servicio asigne un número, un "
    "`clientRequestId`, con el que una repetición no asigna otro",
)
_TWICE = Text(
    "{ncf} was entered already: {total} of {day}, entered {at} by {by}",
    "{ncf} ya se registró: {total} del {day}, registrado el {at} por {by}",
)
_REPLACED = Text("{ncf} has its e-CF already: {e_ncf}", "{ncf} ya tiene su e-CF: {e_ncf}")
_ON_ITS_WAY = Text(
    "the e-CF that replaces {ncf} is on its way: wait for its result; an accepted one is corrected by a note",
    "el e-CF que reemplaza a {ncf} está en camino: espere su resultado; uno aceptado se corrige con una nota",
)
_JUST_BEGUN = Text(
    "an e-CF to replace {ncf} was begun within the last hour, and may be on its way: issue it again, or correct it in "
    "an hour",
    "en la última hora se empezó un e-CF para reemplazar a {ncf}, que puede estar en camino: emítalo de nuevo, o "
    "corríjalo en una hora",
)


async def add_range(
    db: Database, by: Author, tenant: Tenant, environment: Environment, first: str, last: str, expires_on: date
) -> PaperRange:
    """Record a range. Raises PaperRefused, PaperConflict."""
    prefix, from_number = read_ncf(first)
    other, to_number = read_ncf(last)
    if other != prefix:
        raise PaperRefused(_TWO_TYPES.fill(first=prefix, last=other))
    if not 1 <= from_number <= to_number <= _MAX_NUMBER:
        raise PaperRefused(_BAD_RANGE)
    if expires_on < by.today:
        raise PaperRefused(_RANGE_OVER.fill(day=expires_on.isoformat()))
    new = PaperRange(
        new_id(by.at), environment, prefix, from_number, to_number, from_number, expires_on, by.at, by.by_whom
    )

    async def make(conn: Conn) -> None:
        if len(await paper_ranges.listed(conn, tenant.tenant_id, environment)) >= paper_ranges.MOST_RANGES:
            raise PaperConflict(_MANY_RANGES)
        await paper_ranges.add(conn, tenant.tenant_id, new)
        await note(conn, tenant, by, "paper range recorded", f"{first}-{last}", None, show_range(new))

    try:
        await db.transact_for(tenant.tenant_id, make)
    except paper_ranges.RangesOverlap:
        found = await db.run_for(tenant.tenant_id, paper_ranges.listed, environment)
        there = next((one for one in found if one.prefix == prefix and _meets(one, from_number, to_number)), None)
        shown = {} if there is None else show_range(there)
        raise PaperConflict(
            _OVERLAP.fill(
                first=first,
                last=last,
                other_first=shown.get("first", "?"),
                other_last=shown.get("last", "?"),
                at="?" if there is None else local(there.recorded_at).date().isoformat(),
                by="?" if there is None else there.recorded_by,
            )
        ) from None
    return new


def _meets(one: PaperRange, first: int, last: int) -> bool:
    return one.first_number <= last and first <= one.last_number


async def delete_range(conn: Conn, by: Author, tenant: Tenant, one: PaperRange) -> None:
    """Delete a range without receipts, in a transaction. Raises PaperConflict."""
    try:
        is_there = await paper_ranges.delete(conn, tenant.tenant_id, one.environment, one.range_id)
    except paper_ranges.RangeInUse:
        raise PaperConflict(_RANGE_USED) from None
    if is_there:
        shown = show_range(one)
        await note(conn, tenant, by, "paper range deleted", f"{shown['first']}-{shown['last']}", shown, None)


def show_range(one: PaperRange) -> dict[str, Any]:
    """Show a range in a record."""
    return {
        "environment": one.environment.value,
        "first": ncf_of(one.prefix, one.first_number),
        "last": ncf_of(one.prefix, one.last_number),
        "expiresOn": one.expires_on.isoformat(),
    }


def _expired(ncf: str, day: date) -> Problem:
    return Problem(
        code="paper-expired",
        path="issuedOn",
        message=f"{ncf} was issued after the last day of its range, {day.isoformat()}: the authority may refuse it",
        message_es=f"{ncf} se emitió después del último día de su rango, {day.isoformat()}: la DGII puede rechazarlo",
        found=ncf,
        fix="check number and date; if they are right, ask the authority",
        fix_es="verifique el número y la fecha; si son correctos, consulte a la DGII",
        severity=Severity.CONDITIONAL,
    )


def _too_late(ncf: str, last: date) -> Problem:
    return Problem(
        code="paper-after-15-days",
        path="issuedOn",
        message=f"{ncf} was issued after the 15 days of its contingency, which ended on {last.isoformat()}",
        message_es=f"{ncf} se emitió después de los 15 días de su contingencia, que terminaron el {last.isoformat()}",
        found=ncf,
        fix="check the date, and ask the authority if it is right",
        fix_es="verifique la fecha y, si es correcta, consulte a la DGII",
        severity=Severity.CONDITIONAL,
    )


# -- recording ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entered:
    """A stored receipt, whether it is new, and remarks."""

    record: PaperRecord
    is_new: bool
    remarks: tuple[Problem, ...]


async def enter(
    db: Database, by: Author, tenant: Tenant, environment: Environment, asked: AskedPaper, examined: ExaminedPaper
) -> Entered:
    """Store a paper receipt; a repeat with the same content changes nothing. Raises PaperRefused, PaperConflict."""
    if asked.ncf is None and asked.client_request_id is None:
        raise PaperRefused(_UNNAMED)
    try:
        return await db.transact_for(tenant.tenant_id, _enter, by, tenant, environment, asked, examined)
    except EnteredBefore:  # another request was first: now it can be seen
        return await db.transact_for(tenant.tenant_id, _enter, by, tenant, environment, asked, examined)


async def _enter(
    conn: Conn, by: Author, tenant: Tenant, environment: Environment, asked: AskedPaper, examined: ExaminedPaper
) -> Entered:
    there = await paper.find(conn, tenant.tenant_id, environment, asked.ncf, asked.client_request_id)
    if there is not None:
        return _again(there, asked, examined)
    found = await _placed(conn, by, tenant, environment, asked, examined)
    elsewhere = await paper.replaced_elsewhere(conn, tenant.tenant_id, environment, found.new.ncf, by.at)
    if elsewhere is not None:
        raise PaperConflict(replaced_elsewhere(found.new.ncf, *elsewhere))
    await paper.add(conn, tenant.tenant_id, found.new, at=by.at, by=by.by_whom)
    shown = {"issuedOn": found.new.issued_on.isoformat(), "total": str(examined.total)}
    await note(conn, tenant, by, "paper receipt entered", found.new.ncf, None, shown)
    made = await paper.find(conn, tenant.tenant_id, environment, found.new.ncf)
    assert made is not None
    return Entered(made, True, (*examined.remarks, *found.remarks))


def _again(there: PaperRecord, asked: AskedPaper, examined: ExaminedPaper) -> Entered:
    is_same = (
        there.payload == examined.content
        and asked.ncf in (None, there.ncf)
        and asked.issued_on in (None, there.issued_on)
        and (asked.ncf is not None or asked.client_request_id == there.client_request_id)
    )
    if not is_same:
        raise PaperConflict(said_twice(there))
    return Entered(there, False, examined.remarks)


def said_twice(there: PaperRecord) -> Text:
    """Name the earlier entry of a number."""
    return _TWICE.fill(
        ncf=there.ncf,
        total=f"RD$ {there.total:,}",
        day=there.issued_on.isoformat(),
        at=local(there.entered_at).strftime("%Y-%m-%d %H:%M"),
        by=there.entered_by,
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    new: NewPaper
    remarks: tuple[Problem, ...]


async def _placed(
    conn: Conn, by: Author, tenant: Tenant, environment: Environment, asked: AskedPaper, examined: ExaminedPaper
) -> _Placed:
    """Find the range and the contingency of a receipt; without a number draw one."""
    day = asked.issued_on or by.today
    period = await modes.contingency_on(conn, tenant.tenant_id, environment, day)
    remarks = []
    if asked.ncf is None:
        current = await modes.current(conn, tenant.tenant_id, environment)
        if current is None or current.mode is not Mode.CONTINGENCY:
            raise PaperConflict(_NOT_NOW)
        drawn = await paper_ranges.draw(conn, tenant.tenant_id, environment, examined.prefix, by.today)
        if drawn is None:
            raise PaperConflict(_NONE_LEFT.fill(prefix=examined.prefix))
        of, number = drawn
    else:
        prefix, number = read_ncf(asked.ncf)
        found = await paper_ranges.of_number(conn, tenant.tenant_id, environment, prefix, number)
        if found is None:
            raise PaperConflict(_NO_RANGE.fill(ncf=asked.ncf, prefix=prefix))
        of = found
        if of.expires_on < day:
            remarks.append(_expired(asked.ncf, of.expires_on))
    if period is None:
        raise PaperConflict(_NO_PERIOD.fill(day=day.isoformat()))
    ncf = ncf_of(of.prefix, number)
    last = local(period.began_at + TERMS[Clock.PERIOD]).date()
    if day > last:
        remarks.append(_too_late(ncf, last))
    new = NewPaper(
        environment,
        ncf,
        of.range_id,
        period.period_id,
        day,
        asked.client_request_id,
        examined.content,
        examined.buyer_rnc,
        examined.buyer_name,
        examined.total,
        examined.itbis,
    )
    return _Placed(new, tuple(remarks))


async def correct(
    conn: Conn, by: Author, tenant: Tenant, environment: Environment, asked: AskedPaper, examined: ExaminedPaper
) -> Entered:
    """Write another content and date of a receipt whose e-CF was not issued, or not accepted. In a transaction.

    Without a date it keeps the one that was entered. Raises PaperRefused, NoSuchPaper, PaperConflict.
    """
    assert asked.ncf is not None
    there = await paper.locked(conn, tenant.tenant_id, environment, asked.ncf)
    if there is None:
        raise NoSuchPaper(NEVER_ENTERED.fill(ncf=asked.ncf))
    if there.replaced_at is not None:
        raise PaperConflict(_REPLACED.fill(ncf=asked.ncf, e_ncf=there.e_ncf))
    if there.request_id is not None:
        tried = (await paper.tried(conn, tenant.tenant_id, environment, [there])).get(there.request_id)
        if tried is None:
            # Its submission may be on its way to the database, with the content of now.
            if not await paper.free_lost_try(conn, tenant.tenant_id, there, at=by.at):
                raise PaperConflict(_JUST_BEGUN.fill(ncf=asked.ncf))
        elif tried.status not in FINAL:
            raise PaperConflict(_ON_ITS_WAY.fill(ncf=asked.ncf))
        elif tried.is_in_doubt:
            raise PaperConflict(IN_DOUBT.fill(e_ncf=tried.e_ncf))
    asked = replace(asked, issued_on=asked.issued_on or there.issued_on)
    found = await _placed(conn, by, tenant, environment, asked, examined)
    await paper.correct(conn, tenant.tenant_id, found.new, at=by.at, by=by.by_whom)
    old = {"issuedOn": there.issued_on.isoformat(), "total": str(there.total)}
    new = {"issuedOn": found.new.issued_on.isoformat(), "total": str(examined.total)}
    await note(conn, tenant, by, "paper receipt corrected", there.ncf, old, new)
    made = await paper.find(conn, tenant.tenant_id, environment, there.ncf)
    assert made is not None
    return Entered(made, False, (*examined.remarks, *found.remarks))
