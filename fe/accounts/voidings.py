"""Voiding of number ranges: proposals, requests and their record, shared by API, portal and command line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from fe.accounts.audited_changes import Author, note
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.ids import new_id
from fe.ecf.texts import LocalizedError, Text
from fe.ecf.voiding import REASONS, NumberRange, in_order
from fe.identifiers import ClientRequestId, TenantId
from fe.lifecycle import NumberFate, Status
from fe.month.period import YearMonth
from fe.month.report_608 import MOST_NUMBERS, VoidedNumber
from fe.store.postgres.db import Conn
from fe.store.records import sequences, voidable, voiding_queue, voidings
from fe.store.records.sequences import Sequence as NumberSequence
from fe.store.records.tenants import Tenant
from fe.store.records.voidable import Taken
from fe.store.records.voidings import NewVoiding, NotVoidable, Voiding

_NOT_HERE = Text(
    "the authority voids no numbers in certification: use testecf, or production",
    "la DGII no anula números en certificación: use testecf o producción",
)
_NO_RNC = Text(
    "enter the company's RNC first: it stands in the ANECF",
    "escriba primero el RNC de la empresa: va en el ANECF",
)
_REASON = Text("the reason is a number from 1 to 8", "el tipo de anulación es un número de 1 a 8")
_OUTSIDE = Text(
    "{e_ncf}: this range is not within one that a sequence here has or had",
    "{e_ncf}: este rango no está dentro de uno que una secuencia tenga o haya tenido aquí",
)
_VOIDED = Text(
    "{e_ncf} is void already, or a voiding of it is under way",
    "{e_ncf} ya está anulado, o su anulación está en curso",
)
_WAITING = Text(
    "{e_ncf} is of a receipt without a result yet ({submission}): wait for its result",
    "{e_ncf} es de un comprobante sin resultado todavía ({submission}): espere su resultado",
)
_IN_DOUBT = Text(
    "{e_ncf} may be at the authority ({submission}): it cannot be voided until its result is known",
    "{e_ncf} puede estar en la DGII ({submission}): no puede anularse hasta saber su resultado",
)
_ACCEPTED = Text(
    "{e_ncf} is of an accepted receipt ({submission}): cancel it with a credit note (E34, code 1)",
    "{e_ncf} es de un comprobante aceptado ({submission}): anúlelo con una nota de crédito (E34, código 1)",
)
_HANDED_OUT = Text(
    "{e_ncf} is of a signed receipt ({submission}) that may have been printed or handed out: it cannot be voided; if"
    " its number is free again, issue the corrected receipt with it",
    "{e_ncf} es de un comprobante firmado ({submission}) que pudo imprimirse o entregarse: no puede anularse; si su"
    " número quedó libre, emita con él el comprobante corregido",
)
_OF_AN_AGENT = Text(
    "{e_ncf}: the numbers of {name} are those of a till that may have signed with them offline: release the sequence"
    " first (PATCH /ncf, agentId null)",
    "{e_ncf}: los números de {name} son de una caja que puede haber firmado con ellos sin línea: libere primero la"
    " secuencia (PATCH /ncf, agentId null)",
)
_OTHER = Text(
    "this clientRequestId was used for a voiding of other numbers",
    "este clientRequestId se usó para anular otros números",
)
_TOO_MANY = Text(
    "more than {most} numbers were voided in this month: the 608 takes one line for each",
    "en este mes se anularon más de {most} números: el 608 lleva una línea por cada uno",
)


#: Held numbers that one look goes through, of all sequences together and of each at least.
_LOOK, _FEWEST_LOOKED_AT = 15_000, 1_000


class VoidingRefused(LocalizedError):
    """A request for a voiding was refused; nothing was written. The message says what to do."""


class VoidingConflict(VoidingRefused):
    """The clientRequestId was used for another request."""


class TooManyVoided(LocalizedError):
    """A month's void numbers do not fit into its 608."""

    def __init__(self) -> None:
        super().__init__(_TOO_MANY.fill(most=MOST_NUMBERS))


class WhyFree(StrEnum):
    """Why numbers can be voided."""

    #: From the next number on.
    NEVER_DRAWN = "never drawn"
    #: Skipped, or drawn for receipts that ended before they were signed.
    WITHOUT_RECEIPT = "without receipt"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Numbers that can be voided."""

    range: NumberRange
    why: WhyFree


@dataclass(frozen=True, slots=True)
class NewestProposals:
    """Voidable ranges among the newest numbers; `earlier` are the ranges that the look left out."""

    found: Sequence[Proposal]
    earlier: Sequence[NumberRange]


async def propose(
    conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str | None = None
) -> list[Proposal]:
    """List what can be voided, of one type or of all."""
    found: list[Proposal] = []
    for one in await sequences.listed(conn, tenant_id, environment):
        if prefix in (None, one.prefix) and one.agent_id is None:
            whole = NumberRange(EcfType(one.prefix[1:]), one.min_number, one.max_number)
            found += await _of(conn, tenant_id, environment, one, whole)
    return found


async def propose_newest(
    conn: Conn, tenant_id: TenantId, environment: Environment, before: tuple[str, int] | None = None
) -> NewestProposals:
    """List what can be voided among the newest numbers: as fast at any length of history.

    `before`: prefix and number below which the sequence that has it is looked at; no other one is.
    """
    found: list[Proposal] = []
    earlier: list[NumberRange] = []
    ranges = [one for one in await sequences.listed(conn, tenant_id, environment) if one.agent_id is None]
    if before is not None:
        prefix, number = before
        ranges = [one for one in ranges if one.prefix == prefix and one.min_number < number <= one.max_number]
    for one in ranges:
        last = one.max_number if before is None else before[1] - 1
        whole = NumberRange(EcfType(one.prefix[1:]), one.min_number, last)
        look = max(_FEWEST_LOOKED_AT, _LOOK // len(ranges))
        newest = await voidable.newest_within(conn, tenant_id, environment, whole, look)
        found += await _of(conn, tenant_id, environment, one, newest)
        if newest.first > whole.first:
            earlier.append(NumberRange(whole.type, whole.first, newest.first - 1))
    return NewestProposals(found, earlier)


async def _of(
    conn: Conn, tenant_id: TenantId, environment: Environment, of: NumberSequence, within: NumberRange
) -> Iterable[Proposal]:
    found = []
    for one in await voidable.free_ranges(conn, tenant_id, environment, within):
        if one.first < of.current_number:
            passed = NumberRange(one.type, one.first, min(one.last, of.current_number - 1))
            found.append(Proposal(passed, WhyFree.WITHOUT_RECEIPT))
        if one.last >= of.current_number:
            rest = NumberRange(one.type, max(one.first, of.current_number), one.last)
            found.append(Proposal(rest, WhyFree.NEVER_DRAWN))
    return found


async def request(
    conn: Conn,
    by: Author,
    tenant: Tenant,
    environment: Environment,
    ranges: Iterable[NumberRange],
    reason: int,
    *,
    client_request_id: ClientRequestId | None = None,
) -> tuple[Voiding, bool]:
    """Request a voiding; return it, and whether it is new. Run it in a transaction.

    From then on its numbers are neither drawn nor held. Raises VoidingRefused and BadRanges.
    """
    asked = in_order(ranges)
    if environment is Environment.CERTECF:
        raise VoidingRefused(_NOT_HERE)
    if reason not in REASONS:
        raise VoidingRefused(_REASON)
    rnc = tenant.issuer.get("RNCEmisor")
    if not rnc:
        raise VoidingRefused(_NO_RNC)
    new = NewVoiding(new_id(by.at), environment, str(rnc), reason, asked, client_request_id, by.by_whom)
    try:
        voiding_id = await voidings.request(conn, tenant.tenant_id, new, by.at)
    except NotVoidable as refused:
        raise VoidingRefused(_why_not(refused)) from None
    made = await voidings.find(conn, tenant.tenant_id, voiding_id)
    assert made is not None
    is_new = voiding_id == new.voiding_id
    if not is_new and (list(made.ranges) != list(asked) or made.reason != reason):
        raise VoidingConflict(_OTHER)
    if is_new:
        await _require_of_no_agent(conn, tenant.tenant_id, environment, asked)
        shown = {"environment": environment.value, "numbers": made.numbers, "ranges": show_ranges(asked)}
        await note(conn, tenant, by, "numbers voided", str(voiding_id), None, {**shown, "reason": reason})
    return made, is_new


async def _require_of_no_agent(
    conn: Conn, tenant_id: TenantId, environment: Environment, asked: Sequence[NumberRange]
) -> None:
    """Raise VoidingRefused for numbers of a till. Call it where the request has locked the sequences."""
    for one in await sequences.listed(conn, tenant_id, environment):
        for voided in asked if one.agent_id is not None else ():
            if voided.type.prefix == one.prefix and voided.first <= one.max_number and one.min_number <= voided.last:
                raise VoidingRefused(_OF_AN_AGENT.fill(e_ncf=voided.first_e_ncf, name=one.name))


async def settle(
    conn: Conn, by: Author, tenant: Tenant, voiding_id: UUID, *, is_void: bool, left_out: Sequence[str] = ()
) -> bool:
    """Settle a voiding that is in doubt; False where it is not. Run it in a transaction. Raises VoidingRefused."""
    found = await voidings.find(conn, tenant.tenant_id, voiding_id)
    if found is None:
        return False
    for e_ncf in left_out:
        if not any(one.has(e_ncf) for one in found.ranges):
            raise VoidingRefused(Text(f"{e_ncf} is not in this voiding", f"{e_ncf} no está en esta anulación"))
    if not await voiding_queue.settle(conn, tenant.tenant_id, voiding_id, is_void=is_void, left_out=left_out, at=by.at):
        return False
    shown = {"void": is_void, "leftOut": list(left_out)}
    await note(conn, tenant, by, "voiding settled", str(voiding_id), None, shown)
    return True


async def of_month(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth
) -> Sequence[VoidedNumber]:
    """List the numbers that became void in a month, for its 608. Raises TooManyVoided."""
    found = await voidings.voided_on(conn, tenant_id, environment, month.first, month.last)
    if sum(one.count for one in found) > MOST_NUMBERS:
        raise TooManyVoided
    return [
        VoidedNumber(f"{one.prefix}{number:010d}", one.voided_on or month.first, one.reason)
        for one in found
        for number in range(one.first_number, one.last_number + 1)
    ]


def show_ranges(ranges: Iterable[NumberRange]) -> list[str]:
    """Show ranges in a record and on a page."""
    return [one.first_e_ncf if one.count == 1 else f"{one.first_e_ncf} – {one.last_e_ncf}" for one in ranges]


def _why_not(refused: NotVoidable) -> Text:
    if refused.taken is not None:
        return _kept(refused.taken).fill(e_ncf=refused.e_ncf, submission=refused.taken.submission_id)
    return (_VOIDED if refused.why == "voided" else _OUTSIDE).fill(e_ncf=refused.e_ncf)


def _kept(taken: Taken) -> Text:
    if taken.status in (Status.ACCEPTED, Status.CONDITIONAL):
        return _ACCEPTED
    if taken.number_fate is NumberFate.UNKNOWN:
        return _IN_DOUBT
    if taken.status in (Status.QUEUED, Status.PROCESSING):
        return _WAITING
    return _HANDED_OUT
