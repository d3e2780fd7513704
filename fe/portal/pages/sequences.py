"""Number sequences: progress, outlook, state of the numbers, and changes."""

import re
from dataclasses import replace

from fe.accounts import audited_changes, number_fates
from fe.accounts import sequences as flow
from fe.accounts.number_fates import RATE_DAYS, STRETCH, Outlook
from fe.accounts.sequences import BadSequence, NoSequence, NumberSent, PassedOver, SequenceExists
from fe.ecf.dates import local
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import TenantId
from fe.portal import receipt_words as words
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.sequence_forms import TypedSequence, as_it_is, empty, page_of, state_of, typed
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.records import sequences, tenants
from fe.store.records.sequences import Sequence, sequence_key

#: The types by the prefix of their numbers, as receipts are called everywhere in the portal.
_KINDS = {of.prefix: name for of, name in words.TYPE_NAMES.items()}
_NUMBER = re.compile(r"[0-9]{1,10}")
_CREATED = Text("Sequence created.", "Secuencia creada.")
_OVER = Text(
    "The last day has passed: write the one that the DGII gave.",
    "La fecha de vencimiento ya pasó: escriba la que dio la DGII.",
)
_DELETED = Text("The sequence is deleted.", "Secuencia eliminada.")
_USED = Text(
    "Numbers of it were used: switch it off instead, so that it can be seen what became of them.",
    "Ya se usaron números de esta secuencia: desactívela, y así se sigue viendo qué pasó con ellos.",
)
_CHANGED = Text("The sequence is changed.", "Secuencia guardada.")


#: The API's warnings about a new sequence, without field names.
_REMARKS = {
    "sequence-expired": Text(
        "Its last day has passed: it gives no numbers.", "Su fecha de vencimiento ya pasó: no asigna números."
    ),
    "sequence-without-end": Text(
        "Its last day is missing: receipts of this type need it, and fail without it.",
        "Falta su fecha de vencimiento: los comprobantes de este tipo la necesitan y fallan sin ella.",
    ),
}


class _Asks(Exception):
    """A change would leave many numbers unused: it is asked first whether that is meant."""

    def __init__(self, lost: PassedOver) -> None:
        super().__init__(lost)
        self.lost = lost


async def listed(visit: Visit) -> Reply:
    """Show the sequences of an environment."""
    return await _list(visit)


async def _list(
    visit: Visit, status: int = 200, problem: Text | None = None, given: TypedSequence | None = None
) -> Reply:
    shown = await visit.read(_outlooks, visit)
    known = {one.sequence.key for one in shown}
    return visit.page(
        "company/sequences.html",
        status,
        shown=shown,
        kinds=_KINDS,
        typed=given or replace(empty(), prefix=next((code for code in _KINDS if code not in known), "")),
        problem=problem,
        rate_days=RATE_DAYS,
    )


async def _outlooks(conn: Conn, tenant_id: TenantId, visit: Visit) -> list[Outlook]:
    found = await sequences.listed(conn, tenant_id, visit.environment)
    return await number_fates.outlooks(conn, tenant_id, visit.environment, found, visit.now)


async def create(visit: Visit) -> Reply:
    """Create a sequence where there is none of its prefix."""
    given = typed(visit.form)
    try:
        made = await visit.change(_create, visit, given)
    except LocalizedError as refused:
        return await _list(visit, _status(refused), refused.text, given)
    return await visit.go(visit.within(page_of(made)), _with_remarks(visit, _CREATED, made))


async def _create(conn: Conn, visit: Visit, given: TypedSequence) -> Sequence:
    minimum, maximum = given.number("minimum"), given.number("maximum")
    last_day = given.last_day
    if last_day is not None and last_day < local(visit.now).date():
        raise LocalizedError(_OVER)
    return await audited_changes.create_sequence(
        conn,
        visit.author,
        visit.company.tenant,
        visit.environment,
        given.key,
        minimum=1 if minimum is None else minimum,
        maximum=flow.LARGEST if maximum is None else maximum,
        last_day=last_day,
        is_active=given.is_active,
    )


async def one(visit: Visit) -> Reply:
    """Show a sequence with the state of its numbers."""
    return await _page(visit)


async def _page(
    visit: Visit, status: int = 200, problem: Text | None = None, given: TypedSequence | None = None
) -> Reply:
    outlook = next((one for one in await visit.read(_outlooks, visit) if one.sequence.key == _key(visit)), None)
    if outlook is None:
        raise not_found()
    sequence = outlook.sequence
    upto = _upto(visit, sequence)
    first = max(sequence.min_number, upto - STRETCH + 1)
    runs = await visit.read(number_fates.runs, visit.environment, sequence, first=first, last=upto)
    return visit.page(
        "company/sequence.html",
        status,
        outlook=outlook,
        sequence=sequence,
        kind=_KINDS[sequence.prefix],
        state=state_of(sequence),
        typed=given or as_it_is(sequence),
        problem=problem,
        users=await visit.read(tenants.users_of) if sequence.name else [],
        runs=list(reversed(runs)),
        first=first,
        upto=upto,
        older=first - 1 if first > sequence.min_number else None,
        rate_days=RATE_DAYS,
    )


def _upto(visit: Visit, sequence: Sequence) -> int:
    """Return the highest number to show: the requested one, within the used range."""
    asked = visit.query.get("upto", "")
    used = max(sequence.current_number - 1, sequence.min_number)
    if not _NUMBER.fullmatch(asked):
        return used
    return min(max(int(asked), sequence.min_number), sequence.max_number)


def _key(visit: Visit) -> str:
    key = sequence_key(visit.params["prefix"], visit.query.get("name"))
    try:
        flow.check_key(key)
    except BadSequence:
        raise not_found() from None
    return key


async def change(visit: Visit) -> Reply:
    """Change a sequence. A change that leaves many numbers unused needs confirmation."""
    given = typed(visit.form)
    try:
        made = await visit.change(_change, visit, given)
    except _Asks as asks:
        return await _confirm(visit, given, asks.lost)
    except NoSequence:
        raise not_found() from None
    except LocalizedError as refused:
        return await _page(visit, _status(refused), refused.text, given)
    return await visit.go(visit.within(page_of(made)), _with_remarks(visit, _CHANGED, made))


async def _change(conn: Conn, visit: Visit, given: TypedSequence) -> Sequence:
    before = await _find(conn, visit)
    visit.require_unchanged(state_of(before))
    wanted = given.changes(before)
    made = await audited_changes.change_sequence(
        conn, visit.author, visit.company.tenant, visit.environment, before.key, wanted
    )
    if before.name and set(given.users) != set(before.user_emails):
        made = await audited_changes.assign_sequence(
            conn, visit.author, visit.company.tenant, visit.environment, before.key, given.users
        )
    lost = flow.passed_over(before, made)
    if lost is not None and lost.is_far and lost.count > _agreed(visit):
        raise _Asks(lost)  # and with it nothing is changed
    return made


async def delete(visit: Visit) -> Reply:
    """Delete a sequence of which no number was used."""
    try:
        await visit.change(_delete, visit)
    except NoSequence:
        raise not_found() from None
    except LocalizedError as refused:
        return await _page(visit, 409, refused.text)
    return await visit.go(visit.within("sequences"), _DELETED)


async def _delete(conn: Conn, visit: Visit) -> None:
    found = await _find(conn, visit)
    visit.require_unchanged(state_of(found))
    if found.current_number != found.min_number:
        raise LocalizedError(_USED)
    await audited_changes.delete_sequence(conn, visit.author, visit.company.tenant, visit.environment, found.key)


def _agreed(visit: Visit) -> int:
    """Return how many numbers may stay unused, as confirmed."""
    text = visit.form.get("agreed")
    return int(text) if _NUMBER.fullmatch(text) else 0


async def _find(conn: Conn, visit: Visit) -> Sequence:
    """The sequence as it stays until the transaction ends. Raises NoSequence."""
    found = await sequences.locked(conn, visit.tenant_id, visit.environment, _key(visit))
    if found is None:
        raise NoSequence(_key(visit))
    return found


async def _confirm(visit: Visit, given: TypedSequence, lost: PassedOver) -> Reply:
    found = await visit.read(_outlooks, visit)
    outlook = next(one for one in found if one.sequence.key == _key(visit))
    return visit.page(
        "company/sequence_confirm.html", 409, outlook=outlook, sequence=outlook.sequence, typed=given, lost=lost
    )


def _with_remarks(visit: Visit, done: Text, made: Sequence) -> Text:
    for remark in flow.remarks(made, visit.now):
        said = _REMARKS[remark.code]
        done = Text(f"{done.en} {said.en}", f"{done.es} {said.es}")
    return done


def _status(refused: LocalizedError) -> int:
    return 409 if isinstance(refused, NumberSent | SequenceExists) else 400


_THERE = "/companies/<int:company>/<environment>/sequences"
PAGES = (
    Page("GET", _THERE, Needs.READ, listed),
    Page("POST", _THERE, Needs.WRITE, create),
    Page("GET", f"{_THERE}/<prefix>", Needs.READ, one),
    Page("POST", f"{_THERE}/<prefix>", Needs.WRITE, change),
    Page("POST", f"{_THERE}/<prefix>/delete", Needs.WRITE, delete),
)
