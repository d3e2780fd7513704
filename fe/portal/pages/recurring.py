"""Recurring receipts: begun from an issued one, their days and lines changed, their turns tried again or skipped."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid4

from fe.catalogue.fields import EntryId
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.dates import local, read_day
from fe.ecf.document import Document, NotADocument
from fe.ecf.identity import tax_id
from fe.ecf.lines import DISCOUNT, sub_total
from fe.ecf.money import CENT, ZERO, exact, number
from fe.ecf.parse import parse_json
from fe.ecf.reading import rows, section, text
from fe.ecf.texts import Text
from fe.identifiers import PORTAL_KEY, UserId
from fe.issuing.recurring import (
    OF_A_TURN,
    STATES,
    BadTemplate,
    OtherVersion,
    RecurringConflict,
    TurnAction,
    content_of,
    decide,
    delete,
    next_days,
    next_due,
    put,
    read_template,
)
from fe.issuing.recurring_days import next_day
from fe.portal.page_types import Needs, Page
from fe.portal.pages.new_receipt import MAX_FIELDS, MAX_FORM_BYTES, source_of, who_issued
from fe.portal.receipt.copies import NOTES, the_same_again
from fe.portal.receipt.entry import amount_typed
from fe.portal.receipt.paths import take
from fe.portal.receipt_words import kind_of
from fe.portal.replies import CHANGED_MEANWHILE, Refused, Reply, not_found
from fe.portal.visit import Form, Visit
from fe.store.portal.receipt import ReceiptRecord
from fe.store.postgres.db import Conn
from fe.store.records import recurring, sequences
from fe.store.records.catalogue import CUSTOMERS
from fe.store.records.recurring import RecurringContent, RecurringRecord, RecurringState, TurnState

PAGE = 50
_NAME = 120
#: Fields of a line in the form, each with the line's place behind.
_OF_LINE = ("name", "quantity", "price")
_STATES = {
    RecurringState.ACTIVE: Text("active", "activo"),
    RecurringState.PAUSED: Text("paused", "en pausa"),
    RecurringState.ENDED: Text("ended", "terminado"),
}
_COLOURS = {
    TurnState.WAITING: "soft",
    TurnState.ISSUED: "ok",
    TurnState.HELD: "bad",
    TurnState.SKIPPED: "soft",
    TurnState.MISSED: "warn",
}
_SAVED = Text("Saved. The next one is issued on {day}.", "Guardado. El próximo se emite el {day}.")
_SAVED_ALONE = Text("Saved.", "Guardado.")
_DELETED = Text("Deleted. Its receipts stay.", "Eliminado. Sus comprobantes se conservan.")
_ASKED = Text("The service is on it.", "El servicio lo está procesando.")
_SKIPPED = Text("Skipped.", "Omitido.")
_NUMBER = Text("{label}: a whole number from {least} to {most}.", "{label}: un número entero de {least} a {most}.")
_DAY = Text("Day of the month", "Día del mes")
_EVERY = Text("Every how many months", "Cada cuántos meses")
_PAYMENT = Text("Days to pay", "Días para pagar")
_NO_NAME = Text("Give it a name.", "Póngale un nombre.")
_NO_DATE = Text("Enter a date.", "Escriba una fecha.")
_NEVER = Text(
    "It would never be issued: the first one is due on {day}. Choose that day or a later one, or leave it empty.",
    "No se emitiría nunca: el primero toca el {day}. Elija ese día o uno posterior, o déjelo vacío.",
)
_LINE = Text(
    "Line {place}: a name, a quantity and a price are needed.",
    "Línea {place}: falta el nombre, la cantidad o el precio.",
)
_NO_LINE = Text("One line stays at least.", "Debe quedar al menos una línea.")


class _Wrong(Exception):
    """Something in the form is wrong: the value of `field`, or the form as a whole."""

    def __init__(self, said: Text, field: str = "") -> None:
        super().__init__(said.en)
        self.text = said
        self.field = field


_ERRORS = (_Wrong, BadTemplate, RecurringConflict, NotADocument)


def _problems(error: Exception) -> Mapping[str, Text]:
    """Return the text of one of `_ERRORS` under the name of its field, '' where it has none."""
    if isinstance(error, NotADocument):
        return {"": error.problems[0].text}
    assert isinstance(error, _Wrong | BadTemplate | RecurringConflict)
    return {error.field if isinstance(error, _Wrong) else "": error.text}


@dataclass(slots=True)
class _Line:
    place: int
    name: str
    quantity: str
    price: str
    discount: Decimal | None


async def listed(visit: Visit) -> Reply:
    """List recurring receipts of an environment."""
    after = visit.query.get("after", "").replace("\0", "")[:64]
    found = await visit.read_list(recurring.listed, visit.environment, after=after, limit=PAGE + 1)
    return visit.page(
        "company/recurring_list.html",
        rows=found[:PAGE],
        more=found[PAGE - 1].id if len(found) > PAGE else None,
        states=_STATES,
    )


async def new(visit: Visit) -> Reply:
    """Show the form to repeat an issued receipt."""
    record, source = await _repeatable(visit, visit.query.get("from", ""))
    return await _new_form(visit, record, source)


async def _new_form(
    visit: Visit,
    record: ReceiptRecord,
    source: Document,
    problems: Mapping[str, Text] = MappingProxyType({}),
    status: int = 200,
) -> Reply:
    issued = local(record.signed_at or record.submitted_at).date()
    buyer = section(section(source.content, "Encabezado"), "Comprador")
    lines = _lines(source.content)
    name = text(buyer, "RazonSocialComprador") or (lines[0].name if lines else "")
    typed = {
        "name": name[:_NAME],
        "day": str(issued.day),
        "every": "1",
        "starts_on": next_day(issued.day, 1, issued.replace(day=1), issued).isoformat(),
        "ends_on": "",
        "payment_days": _payment_days(source, issued),
    }
    if visit.method == "POST":
        typed = {name: visit.form.get(name) for name in typed}
    return visit.page(
        "company/recurring_new.html",
        status,
        record=record,
        typed=typed,
        lines=lines,
        customer=await _customer(visit, source),
        is_linked=visit.method == "GET" or visit.form.has("customer"),
        problems=problems,
    )


def _payment_days(source: Document, issued: date) -> str:
    until = read_day(str(source.get("Encabezado.IdDoc.FechaLimitePago") or ""))
    return "" if until is None else str(max((until - issued).days, 0))


async def _customer(visit: Visit, source: Document) -> str | None:
    """Return the id of the catalogue's customer with the buyer's RNC."""
    rnc = tax_id(source.buyer_rnc or "")
    found = [] if rnc is None else await visit.read(CUSTOMERS.by_key, rnc.digits, limit=1)
    return found[0].id if found else None


async def create(visit: Visit) -> Reply:
    """Repeat an issued receipt every month."""
    record, source = await _repeatable(visit, visit.form.get("from"))
    assert source.type is not None
    payload = the_same_again(source, source.type, visit.company.tenant.issuer)
    payload.setdefault("Encabezado", {}).setdefault("IdDoc", {})["TipoeCF"] = source.type.value
    for path in OF_A_TURN:
        take(payload, path)
    issuer = await who_issued(visit, record)
    drawn = sequences.of_number(await visit.read(sequences.listed, visit.environment), record.e_ncf)
    try:
        schedule = _schedule(visit.form)
        content = RecurringContent(
            id=str(uuid4()),
            state=RecurringState.ACTIVE,
            starts_on=_date(visit.form, "starts_on"),
            customer=await _customer(visit, source) if visit.form.has("customer") else None,
            payload=read_template(payload),
            as_user=None,
            as_user_id=UserId(UUID(issuer)) if issuer else None,
            notify=None,
            sequence=None if drawn is None else drawn.name or None,
            **schedule,
        )
        _check_end(visit, content, None)
        made = await visit.change(_write(visit, content, None, 0))
    except _ERRORS as wrong:
        return await _new_form(visit, record, source, _problems(wrong), 400)
    return await visit.go(visit.within(f"recurring/{made.recurring_id}"), _saved(made))


async def show(visit: Visit) -> Reply:
    """Show one: its days, its preview, its turns, and its lines to change."""
    return await _shown(visit, await _find(visit))


async def _shown(
    visit: Visit,
    found: RecurringRecord,
    problems: Mapping[str, Text] = MappingProxyType({}),
    status: int = 200,
    *,
    sent: Form | None = None,
) -> Reply:
    """Show one. `sent`: the form of its changes, to be shown again with its problem."""
    payload = parse_json(found.payload)
    typed = {
        "name": found.name,
        "day": str(found.day),
        "every": str(found.every),
        "ends_on": "" if found.ends_on is None else found.ends_on.isoformat(),
        "payment_days": "" if found.payment_days is None else str(found.payment_days),
    }
    lines = _lines(payload)
    if sent is not None:
        typed = {name: sent.get(name) for name in typed}
        for line in lines:
            line.name, line.quantity, line.price = (sent.get(f"{name}-{line.place}") for name in _OF_LINE)
    head = section(section(payload, "Encabezado"), "Comprador")
    turns = await visit.read(recurring.turns, found.recurring_id)
    customer = None
    if found.customer is not None:
        stored = await visit.read(CUSTOMERS.one, EntryId(found.customer))
        customer = (found.customer, None if stored is None else stored.entry.name)
    return visit.page(
        "company/recurring.html",
        status,
        found=found,
        kind=kind_of(Root.ECF, EcfType(str(section(section(payload, "Encabezado"), "IdDoc")["TipoeCF"]))),
        buyer=text(head, "RazonSocialComprador"),
        rnc=text(head, "RNCComprador"),
        customer=customer,
        typed=typed,
        lines=lines,
        days=next_days(found),
        turns=turns,
        is_waiting=any(turn.state is TurnState.WAITING for turn in turns),
        is_credit=found.payment_days is not None,
        states=_STATES,
        turn_states=STATES,
        colours=_COLOURS,
        says=lambda said: [Text(*one) for one in said or ()],
        problems=problems,
    )


async def change(visit: Visit) -> Reply:
    """Change name, days and lines."""
    found = await _find(visit)
    try:
        payload = _with_lines(parse_json(found.payload), visit.form)
        content = replace(content_of(found), payload=read_template(payload), **_schedule(visit.form))
        _check_end(visit, content, found)
        made = await visit.change(_write(visit, content, found, _version(visit.form)))
    except _ERRORS as wrong:
        return await _shown(visit, found, _problems(wrong), 400, sent=visit.form)
    except OtherVersion:
        raise Refused(409, CHANGED_MEANWHILE) from None
    return await visit.go(visit.within(f"recurring/{found.recurring_id}"), _saved(made))


async def set_state(visit: Visit) -> Reply:
    """Pause it, go on with it, end it, free it from its customer, or delete it."""
    found, wanted = await _find(visit), visit.form.get("do")
    if wanted == "delete":

        async def remove(conn: Conn) -> None:
            await delete(conn, visit.tenant_id, visit.environment, found.id, version=_version(visit.form))
            await visit.note(conn, "recurring receipt deleted", found.id, {"name": found.name}, None)

        try:
            await visit.change(remove)
        except OtherVersion:
            raise Refused(409, CHANGED_MEANWHILE) from None
        return await visit.go(visit.within("recurring"), _DELETED)
    if wanted == "no-customer":
        content = replace(content_of(found), customer=None)
    else:
        try:
            content = replace(content_of(found), state=RecurringState(wanted))
        except ValueError:
            raise Refused(400, CHANGED_MEANWHILE) from None
    try:
        made = await visit.change(_write(visit, content, found, _version(visit.form)))
    except OtherVersion:
        raise Refused(409, CHANGED_MEANWHILE) from None
    return await visit.go(visit.within(f"recurring/{found.recurring_id}"), _saved(made))


async def turn(visit: Visit) -> Reply:
    """Issue a turn now, or skip it."""
    found = await _find(visit)
    try:
        action = TurnAction(visit.form.get("do"))
        month = date.fromisoformat(f"{visit.params['month']}-01")
    except ValueError:
        raise not_found() from None

    async def work(conn: Conn) -> None:
        await decide(conn, visit.tenant_id, visit.environment, found.id, month, action, now=visit.now)
        about = {"name": found.name, "month": f"{month:%Y-%m}", "action": action.value}
        await visit.note(conn, "recurring turn decided", found.id, None, about)

    try:
        await visit.change(work)
    except RecurringConflict as conflict:
        return await _shown(visit, found, _problems(conflict), 409)
    said = _SKIPPED if action is TurnAction.SKIP else _ASKED
    return await visit.go(visit.within(f"recurring/{found.recurring_id}"), said)


def _check_end(visit: Visit, content: RecurringContent, found: RecurringRecord | None) -> None:
    """Refuse an end before the first turn. After a turn, an early end is a person's way to end it. Raises _Wrong."""
    if content.ends_on is None or (found is not None and found.last_month is not None):
        return
    first = next_due(content, found, visit.now)
    if content.ends_on < first:
        raise _Wrong(_NEVER.fill(day=f"{first:%d-%m-%Y}"), "ends_on")


def _write(visit: Visit, content: RecurringContent, before: RecurringRecord | None, version: int) -> Any:
    async def work(conn: Conn) -> RecurringRecord:
        made = await put(
            conn,
            visit.tenant_id,
            visit.environment,
            content,
            now=visit.now,
            api_key_id=PORTAL_KEY if before is None else before.api_key_id,
            by=visit.by_whom,
            version=version,
        )
        then = None if before is None else _noted(before)
        await visit.note(conn, "recurring receipt set", content.id, then, _noted(made))
        return made

    return work


def _noted(record: RecurringRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "state": record.state.value,
        "day": record.day,
        "every": record.every,
        "endsOn": None if record.ends_on is None else record.ends_on.isoformat(),
        "payload": record.payload.decode(),
    }


def _saved(made: RecurringRecord) -> Text:
    return _SAVED_ALONE if made.next_on is None else _SAVED.fill(day=f"{made.next_on:%d-%m-%Y}")


def _schedule(form: Form) -> dict[str, Any]:
    """Read name and days. Raises _Wrong."""
    name = form.get("name")
    if not name or len(name) > _NAME or not name.isprintable():
        raise _Wrong(_NO_NAME, "name")
    return {
        "name": name,
        "day": _whole(form, "day", _DAY, 1, 31),
        "every": _whole(form, "every", _EVERY, 1, 12),
        "ends_on": _date(form, "ends_on"),
        "payment_days": _whole(form, "payment_days", _PAYMENT, 0, 365) if form.get("payment_days") else None,
    }


def _whole(form: Form, name: str, label: Text, least: int, most: int) -> int:
    typed = form.get(name)
    value = int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 4 else -1
    if not least <= value <= most:
        raise _Wrong(_NUMBER.fill(label=label, least=least, most=most), name)
    return value


def _date(form: Form, name: str) -> date | None:
    typed = form.get(name)
    if not typed:
        return None
    try:
        found = date.fromisoformat(typed)
    except ValueError:
        raise _Wrong(_NO_DATE, name) from None
    if not 2000 <= found.year <= 2200:
        raise _Wrong(_NO_DATE, name)
    return found


def _version(form: Form) -> int:
    typed = form.get("version")
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 10 else -1


def _lines(payload: Mapping[str, Any]) -> list[_Line]:
    found = []
    for place, item in enumerate(rows(payload, "DetallesItems", "Item"), 1):
        price = number(item.get("PrecioUnitarioItem"))
        shown = "" if price is None else f"{max(price, price.quantize(CENT), key=_decimals):f}"
        with exact():
            off = number(item.get(DISCOUNT.total))
            off = sub_total(item, DISCOUNT) if off is None else off
        found.append(_Line(place, text(item, "NombreItem") or "", text(item, "CantidadItem") or "", shown, off or None))
    return found


def _decimals(value: Decimal) -> int:
    return -int(value.as_tuple().exponent)


def _with_lines(payload: dict[str, Any], form: Form) -> dict[str, Any]:
    """Put typed lines in; one without name, quantity and price is taken out. Raises _Wrong."""
    kept = []
    for place, item in enumerate(payload["DetallesItems"]["Item"], 1):
        name, *typed = (form.get(f"{one}-{place}") for one in _OF_LINE)
        if not name and not any(typed):
            continue
        quantity, price = (number(amount_typed(one)) for one in typed)
        if not name or quantity is None or quantity <= ZERO or price is None or price < ZERO:
            raise _Wrong(_LINE.fill(place=place))
        new = {**item, "NombreItem": name, "CantidadItem": f"{quantity:f}", "PrecioUnitarioItem": f"{price:f}"}
        if (quantity, price) != (number(item.get("CantidadItem")), number(item.get("PrecioUnitarioItem"))):
            new.pop("MontoItem", None)
        new.pop("NumeroLinea", None)
        kept.append(new)
    if not kept:
        raise _Wrong(_NO_LINE)
    payload["DetallesItems"]["Item"] = kept
    return payload


async def _repeatable(visit: Visit, submission: str) -> tuple[ReceiptRecord, Document]:
    record, source = await source_of(visit, submission)
    if source.type is None or source.type in NOTES or record.environment is not visit.environment:
        raise not_found()
    return record, source


async def _find(visit: Visit) -> RecurringRecord:
    found = await visit.read(recurring.find, visit.params["recurring"])
    if found is None or found.environment is not visit.environment:
        raise not_found()
    return found


_BASE = "/companies/<int:company>/<environment>/recurring"
PAGES = (
    Page("GET", _BASE, Needs.READ, listed),
    Page("GET", f"{_BASE}/new", Needs.WRITE, new),
    Page("POST", f"{_BASE}/new", Needs.WRITE, create),
    Page("GET", f"{_BASE}/<uuid:recurring>", Needs.READ, show),
    Page(
        "POST",
        f"{_BASE}/<uuid:recurring>",
        Needs.WRITE,
        change,
        max_body_bytes=MAX_FORM_BYTES,
        max_fields=MAX_FIELDS,
    ),
    Page("POST", f"{_BASE}/<uuid:recurring>/state", Needs.WRITE, set_state),
    Page("POST", f"{_BASE}/<uuid:recurring>/turns/<month>", Needs.WRITE, turn),
)
