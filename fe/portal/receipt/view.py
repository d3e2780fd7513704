"""How the form of a receipt is shown."""

import json
import re
from functools import partial

import trio

from fe.ecf.catalogue import EcfType
from fe.ecf.dates import last_day, local, read_day
from fe.ecf.problems import Problem
from fe.ecf.texts import Text
from fe.ecf.words import words_of
from fe.http.pages.papers import PAPERS, Paper
from fe.portal.receipt.checking import CheckedReceipt
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.receipt.labels import label, plainly
from fe.portal.receipt.layout import list_id
from fe.portal.receipt.messages import NO_NUMBER
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store import sequences, tenants
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.sequences import Sequence
from fe.store.tenants import User

#: A longer form is made in a thread: others are answered meanwhile.
_LONG = 50
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def paper_of(of: EcfType) -> Paper:
    """What a type is called, and what it is for."""
    return next(paper for paper in PAPERS if paper.type is of and paper.slug == of.value)


def why_none(sequence: Sequence | None, visit: Visit) -> str | None:
    """Why no number can be drawn: a key of NO_NUMBER; None where one can."""
    if sequence is None or not sequence.is_active:
        return "none"
    if sequence.expire_at is not None and last_day(sequence.expire_at) < local(visit.now).date():
        return "expired"
    return "used up" if sequence.current_number > sequence.max_number else None


async def sequences_of(visit: Visit) -> dict[str, Sequence]:
    """The company's sequences in this environment, by prefix."""
    listed = await visit.read(sequences.listed, visit.environment)
    return {one.prefix: one for one in listed}


async def show_form(
    visit: Visit,
    entry: ReceiptEntry,
    form_id: str,
    *,
    checked: CheckedReceipt | None = None,
    message: Text | None = None,
    status: int = 200,
) -> Reply:
    """Answer with the form. `message` is said above it, `checked` beside what it is about."""
    of = entry.layout.type
    sequence: Sequence | None = None
    users: list[User] = []
    reason: str | None = None
    try:
        sequence = (await sequences_of(visit)).get(of.prefix)
        users = await visit.read(tenants.users_of)
        reason = why_none(sequence, visit)
    except DatabaseUnavailable:
        if message is None:
            raise  # whoever has something to say of what was typed says it even so
    render = partial(
        visit.page,
        "receipt/form.html",
        status,
        entry=entry,
        layout=entry.layout,
        paper=paper_of(of),
        form_id=form_id,
        sequence=sequence,
        no_number=None if reason is None else NO_NUMBER[reason],
        users=users,
        checked=checked,
        wrong=checked.notices.beside if checked else {},
        message=message,
        as_date=_as_date,
        label=label,
        list_id=list_id,
        say=say,
        say_fix=say_fix,
        repair_of=repair_of,
        about=_about,
    )
    if sum(map(len, entry.rows.values())) <= _LONG:
        return render()
    return await trio.to_thread.run_sync(render)


def _as_date(value: str) -> str | None:
    """What a field of dates shows: the day as browsers write it; None for what is no day, which is shown as typed."""
    if not value or _ISO_DAY.fullmatch(value):
        return value
    day = read_day(value)
    return None if day is None else day.isoformat()


def say(problem: Problem) -> Text:
    """What is wrong."""
    return Text(plainly(problem.message, spanish=False), plainly(problem.message_es, spanish=True))


def say_fix(problem: Problem) -> Text | None:
    """What to do about it."""
    if problem.fix is None:
        return None
    return Text(plainly(problem.fix, spanish=False), plainly(problem.fix_es or problem.fix, spanish=True))


def repair_of(problem: Problem) -> str | None:
    """What the button that mends a problem carries; None where only a person knows what is right."""
    repair = problem.repair
    if repair is None or not repair.certain or isinstance(repair.value, (dict, list)):
        return None
    fields = {"op": repair.op, "path": repair.path, "value": repair.value, "to": repair.to}
    return json.dumps({name: value for name, value in fields.items() if value is not None})


def _about(path: str) -> Text:
    """What an element is, in plain words."""
    words = words_of("ECF", path)
    return Text(words.en, words.es)
