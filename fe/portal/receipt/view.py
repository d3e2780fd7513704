"""How the form of a receipt is shown."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import trio

from fe.ecf.catalogue import EcfType
from fe.ecf.dates import last_day, local, read_day
from fe.ecf.field_help import help_of
from fe.ecf.identity import CHECK_DIGIT
from fe.ecf.money import number
from fe.ecf.paper import TYPES
from fe.ecf.problems import Problem
from fe.ecf.schema.model import Code
from fe.ecf.texts import Text
from fe.ecf.totals import SHAPES
from fe.http.pages.papers import PAPERS, Paper
from fe.identifiers import UserId
from fe.portal.forms import digest
from fe.portal.receipt import choices, withholding
from fe.portal.receipt.checking import CheckedReceipt
from fe.portal.receipt.choices import Choice
from fe.portal.receipt.drafts import Unfinished
from fe.portal.receipt.entry import MORE, ReceiptEntry
from fe.portal.receipt.labels import label, of_supplier, plainly
from fe.portal.receipt.layout import (
    ISSUE_DATE,
    NOT_STATED,
    OFFERED_PAYMENTS,
    PAYMENT_TERMS,
    QUICK_PAYMENTS,
    WITHHOLDING,
    FormSection,
    Layout,
    Table,
    list_id,
)
from fe.portal.receipt.messages import MESSAGES, next_number, no_number
from fe.portal.receipt.notices import NUMBER, USER
from fe.portal.receipt.paths import plain
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import paper_ranges, sequences, tenants
from fe.store.records.sequences import Sequence as NumberSequence
from fe.store.records.tenants import User

#: A longer form is made in a thread: others are answered meanwhile.
_LONG = 50
#: Types whose customer may pay in cash and get change.
_TAKES_CASH = (EcfType.CREDIT_FISCAL, EcfType.CONSUMER, EcfType.SPECIAL_REGIME, EcfType.GOVERNMENTAL)
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def paper_of(of: EcfType) -> Paper:
    """A type's name and purpose."""
    return next(paper for paper in PAPERS if paper.type is of and paper.slug == of.value)


def why_none(sequence: NumberSequence | None, visit: Visit) -> str | None:
    """Why no number can be drawn, as `no_number` takes it; None where one can."""
    if sequence is None or not sequence.is_active:
        return "none"
    if sequence.expire_at is not None and last_day(sequence.expire_at) < local(visit.now).date():
        return "expired"
    return "used up" if sequence.own_left <= 0 else None


async def sequences_of(visit: Visit) -> dict[str, NumberSequence]:
    """The company's sequences in this environment, by prefix: the one without a name, where there is one."""
    listed = await visit.read(sequences.listed, visit.environment)
    return {one.prefix: one.at(visit.now) for one in reversed(listed)}


async def show_form(
    visit: Visit,
    entry: ReceiptEntry,
    form_id: str,
    *,
    checked: CheckedReceipt | None = None,
    message: Text | None = None,
    status: int = 200,
    unfinished: Unfinished | None = None,
) -> Reply:
    """Answer with the form. `message` is shown above it, and the problems in `checked` beside their fields.

    `unfinished` is the draft that is offered in place of an empty form.
    """
    of = entry.layout.type
    sequence: NumberSequence | None = None
    of_type: list[NumberSequence] = []
    next_numbers: dict[str, Text] = {}
    users: list[User] = []
    buttons: list[Choice] = []
    offered: dict[str, list[Choice]] = {}
    on_paper = False
    try:
        listed = await visit.read(sequences.listed, visit.environment)
        of_type = [one.at(visit.now) for one in listed if one.prefix == of.prefix]
        if checked is None and message is None and entry.sequence not in [one.name for one in of_type]:
            entry.sequence = "" if not of_type else of_type[0].name  # remembered, and of another type
        users = await visit.read(tenants.users_of)
        user = UserId(UUID(entry.as_user)) if entry.as_user else None
        sequence = sequences.drawn_from(of_type, entry.sequence, user_id=user)
        reason = why_none(sequence, visit)
        next_numbers = {
            one.name: _next_number(sequences.drawn_from(of_type, one.name, user_id=user), visit) for one in of_type
        }
        on_paper = any(TYPES[one.prefix] is of for one in await visit.read(paper_ranges.listed, visit.environment))
        if of in choices.OFFERED:
            offered["customer"] = await choices.customers(visit, "", choices.LISTED)
            offered["product"] = await choices.products(visit, "", choices.LISTED)
            buttons = [one for one in offered["product"] if "item.PrecioUnitarioItem" in one.fills][: choices.BUTTONS]
    except DatabaseUnavailable:
        if message is None:
            raise  # typed values with problems are shown all the same
    missing = None if reason is None else no_number(reason, f"{of.prefix} {entry.sequence}".rstrip())
    if missing is not None and checked is not None:
        checked.notices.beside.pop(NUMBER, None)  # the reason is said in its place
        message = missing if message == MESSAGES["nothing-done"] else message
    wrong = checked.notices.beside if checked else {}
    said, fixed = (of_sides(say), of_sides(say_fix)) if of in WITHHOLDING else (say, say_fix)
    render = partial(
        visit.page,
        "receipt/form.html",
        status,
        entry=entry,
        layout=entry.layout,
        paper=paper_of(of),
        form_id=form_id,
        action=visit.within(f"new/{of.value}"),
        agreed=digest(entry.payload()) if checked and not checked.fatal and not entry.unread else None,
        of_type=of_type,
        no_number=missing,
        next_numbers=next_numbers,
        users=users,
        checked=checked,
        wrong=wrong,
        wrong_in=partial(_wrong_in, wrong),
        other_payments=_other_payments(entry),
        options_open=any(_is_filled(entry, wrong, one) for one in entry.layout.sections if not one.first)
        or _is_paid_otherwise(entry)
        or bool(entry.as_user or entry.more or wrong.keys() & {MORE, USER})
        or any(one.field == MORE for one in entry.unread),
        kept_words=_kept_words,
        today=local(visit.now).date().isoformat(),
        issue_date=ISSUE_DATE,
        buttons=buttons,
        on_paper=on_paper,
        offered=offered,
        percents=withholding.OFFERED if of in WITHHOLDING else {},
        takes_cash=of in _TAKES_CASH,
        vat=json.dumps(vat_of(of)),
        message=message,
        unfinished=unfinished,
        as_date=_as_date,
        label=label,
        list_id=list_id,
        say=said,
        say_fix=fixed,
        listed=_listed(entry, wrong, said, fixed) if checked else [],
        repair_of=repair_of,
        about=partial(help_of, "ECF"),
    )
    if sum(map(len, entry.rows.values())) <= _LONG:
        return render()
    return await trio.to_thread.run_sync(render)


def vat_of(of: EcfType) -> dict[str, object]:
    """Which rates (IndicadorFacturacion) a type has: what the script needs to compute its total."""
    return {"rates": SHAPES[of].vat, "exempt": SHAPES[of].exempt}


def _is_filled(entry: ReceiptEntry, wrong: Mapping[str, object], section: FormSection) -> bool:
    return entry.says(section) or any(one.name in wrong for one in section.fields)


def _next_number(sequence: NumberSequence | None, visit: Visit) -> Text:
    reason = why_none(sequence, visit)
    if sequence is None or reason is not None:
        return no_number(reason or "none", "" if sequence is None else sequence.label)
    number = f"{sequence.prefix}{sequence.next_number:010}"
    return next_number(number, sequence.last_day)


def _other_payments(entry: ReceiptEntry) -> list[Code]:
    """Ways of payment that are no buttons, and the one that the receipt has if it is offered to none."""
    if entry.layout.payment is None:
        return []
    value = entry.values[PAYMENT_TERMS]
    codes = entry.layout.payment.codes
    odd = [] if not value or value in {code.value for code in codes} else [Code(value, value, value)]
    return [*(code for code in codes[len(QUICK_PAYMENTS) :] if code.value in (value, *OFFERED_PAYMENTS)), *odd]


def _is_paid_otherwise(entry: ReceiptEntry) -> bool:
    others = {code.value for code in _other_payments(entry)} - {NOT_STATED}
    return entry.values.get(PAYMENT_TERMS) in others


@dataclass(slots=True)
class _Listed:
    """A problem in the list above the form. `anchor` is the first field that it is about."""

    anchor: str
    text: Text
    fix: Text | None


def _listed(
    entry: ReceiptEntry,
    beside: Mapping[str, Sequence[Problem]],
    said: Callable[[Problem], Text | None],
    fixed: Callable[[Problem], Text | None],
) -> list[_Listed]:
    """List the problems of fields with the places of these; what is said of several fields of a row is said once."""
    of_fields = [(id, said(one) or Text("", ""), fixed(one)) for id, problems in beside.items() for one in problems]
    of_fields += [(one.field, one.text, None) for one in entry.unread]
    places: dict[tuple[Text, Text, Text | None], list[str]] = {}
    for id, text, fix in of_fields:
        places.setdefault((_row_of(entry.layout, id), text, fix), []).append(id)
    found = []
    for (row, text, fix), ids in places.items():
        labels = [_label_of(entry.layout, id) for id in ids]
        es = ", ".join(filter(None, (row.es, *(one.es for one in labels if f"«{one.es}»" not in text.es))))
        en = ", ".join(filter(None, (row.en, *(one.en for one in labels if f"«{one.en}»" not in text.en))))
        placed = Text(f"{en}: {text.en}" if en else text.en, f"{es}: {text.es}" if es else text.es)
        found.append(_Listed(NUMBER if ids[0] == NUMBER else f"f-{ids[0]}", placed, fix))
    return found


def _row_of(layout: Layout, id: str) -> Text:
    """Name the row of a field, as `Line 2`; nothing where it is in none."""
    name, _, number = id.rpartition("-")
    table = next((one for one in layout.tables if name.startswith(f"{one.key}.")), None)
    return Text("", "") if table is None else Text(f"{table.one.en} {number}", f"{table.one.es} {number}")


_LABELS = {NUMBER: Text("Number", "Número"), USER: Text("Issued by", "Emitido por")}
_OTHER_FIELDS = Text("Other fields", "Otros campos")


def _label_of(layout: Layout, id: str) -> Text:
    name = id.rpartition("-")[0] or id
    fields = [*layout.fields, *(one for table in layout.tables for one in table.fields)]
    return _LABELS.get(id) or next((one.label for one in fields if one.name == name), _OTHER_FIELDS)


def _wrong_in(wrong: Mapping[str, object], row: int) -> set[str]:
    """Names of the fields of a row that have problems."""
    return {id.rpartition("-")[0] for id in wrong if id.rpartition("-")[2] == str(row)}


def _kept_words(table: Table, row: Mapping[str, str]) -> Text:
    """Say the values that a line has of the one before, as rate and unit: they are folded."""
    said = [code for one in table.fields if one.kept for code in one.codes if code.value == row[one.name]]
    return Text(" · ".join(code.meaning for code in said), " · ".join(code.meaning_es for code in said))


def _as_date(value: str) -> str | None:
    """Return a date field's value as browsers write it; an invalid one as typed."""
    if not value or _ISO_DAY.fullmatch(value):
        return value
    day = read_day(value)
    return None if day is None else day.isoformat()


_BUYER_MISSING = Text(
    "Write the RNC or cédula and the name of the customer.", "Escriba el RNC o la cédula y el nombre del cliente."
)
_THIS_NUMBER = Text("This number", "Este número")
_NUMBER_CHECK = Text("{said}.", "{said}.").fill(said=CHECK_DIGIT.fill(number=_THIS_NUMBER))
_ABOVE_ZERO = {
    "CantidadItem": Text("The quantity has to be greater than 0.", "La cantidad debe ser mayor que 0."),
    "PrecioUnitarioItem": Text("The price cannot be negative.", "El precio no puede ser negativo."),
}


def _said_here(problem: Problem) -> Text | None:
    """Say a problem in the words of the form, where the format's words do not help a person."""
    name = plain(problem.path).rpartition(".")[2]
    if (problem.code, name) == ("missing-element", "Comprador"):
        return _BUYER_MISSING
    if problem.code == "check-digit":
        return _NUMBER_CHECK
    amount = number(problem.found)
    return _ABOVE_ZERO.get(name) if amount is not None and amount <= 0 else None


def say(problem: Problem) -> Text:
    """Return the problem's message."""
    if known := _said_here(problem):
        return known
    return Text(plainly(problem.message, spanish=False), plainly(problem.message_es, spanish=True))


def say_fix(problem: Problem) -> Text | None:
    """Return the advice."""
    if problem.fix is None or _said_here(problem) is not None:
        return None
    return Text(plainly(problem.fix, spanish=False), plainly(problem.fix_es or problem.fix, spanish=True))


def of_sides(said: Callable[[Problem], Text | None]) -> Callable[[Problem], Text | None]:
    """Say problems of the supplier where the format speaks of a buyer."""

    def say_of_supplier(problem: Problem) -> Text | None:
        found = said(problem)
        return None if found is None else of_supplier(found)

    return say_of_supplier


def repair_of(problem: Problem) -> str | None:
    """Return the value of the button that repairs a problem; None if only a person can decide."""
    repair = problem.repair
    if repair is None or not repair.certain or isinstance(repair.value, (dict, list)):
        return None
    fields = {"op": repair.op, "path": repair.path, "value": repair.value, "to": repair.to}
    return json.dumps({name: value for name, value in fields.items() if value is not None})
