"""Dead letters: found, understood, looked at before anything is done, and then replayed or given up."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from urllib.parse import urlencode
from uuid import UUID

from fe.accounts import approvals
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import ReplayPlanId, SubmissionId
from fe.lifecycle import Stage
from fe.operations.replay import preview
from fe.operations.why import LIMITS, explain
from fe.operations.why import PAGES as ON_PAGES
from fe.portal import receipt_words as words
from fe.portal.csv_cells import CSV_TYPE, Cell, csv_file
from fe.portal.document_facts import total_in
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import (
    FILTERS,
    FormProblem,
    acting,
    chosen,
    executed,
    go_to_approval,
    may_alone,
    uuid_of,
)
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.queue import dead_letters, diagnosis
from fe.store.queue.audit import LONGEST_REASON
from fe.store.queue.dead_letters import DeadLetter, DeadLetterFilter, DeadLetterGroup, DeadLetterLine
from fe.store.records import submissions

_SHOWN = 100
#: The most that one form is about; the rest comes after it.
_MAX_CHOSEN = 5000
_PREVIEWED = 50
_GROUPS_SHOWN = 50
#: Companies of a cause that are named.
_NAMED = 5
#: Companies and causes that a review counts by name.
_COUNTED = 10
_HEADS = (
    *("eNCF", "taxLogId", "Empresa", "Ambiente", "Etapa", "Detenido desde", "Envíos", "Monto total"),
    *("Error (inglés)", "Causa (inglés)"),
)

_NONE = Text("Choose at least one dead letter.", "Elija al menos un envío detenido.")
_PACE = Text("The pace is a number from 0.01 to 1000 a second.", "El ritmo es un número de 0.01 a 1000 por segundo.")
_NOTE = Text(
    f"The note has at most {LONGEST_REASON} characters.", f"La nota tiene {LONGEST_REASON} caracteres como máximo."
)


async def index(visit: Visit) -> Reply:
    """List dead letters, the longest dead first."""
    given = {name: visit.query.get(name, "").strip() for name in FILTERS}
    problem: Text | None = None
    found: list[DeadLetterLine] = []
    try:
        which = await chosen(visit, given)
        found = await visit.operators.run(dead_letters.lines, which, _SHOWN + 1)
    except FormProblem as wrong:
        problem = wrong.text
    groups: list[DeadLetterGroup] = []
    if not problem:
        groups = await visit.operators.run(dead_letters.grouped, which)
    lines, causes = found[:_SHOWN], _by_cause(groups)[:_GROUPS_SHOWN]
    named = {one.tenant for cause in causes for one in cause.tenants[:_NAMED]}
    return visit.page(
        "operators/dead_letters.html",
        400 if problem else 200,
        found=lines,
        groups=causes,
        named=_NAMED,
        export=urlencode({name: value for name, value in given.items() if value}),
        has_more=len(found) > _SHOWN,
        companies=sorted({one.tenant for one in lines} | named),
        given=given,
        problem=problem,
        stages=list(Stage),
        environments=list(Environment),
        max_chosen=_MAX_CHOSEN,
    )


@dataclass(frozen=True, slots=True)
class Cause:
    """Dead letters of one cause, stage and environment: what a group's button is about."""

    cause: str
    stage: Stage
    environment: Environment
    tenants: list[DeadLetterGroup]

    @property
    def count(self) -> int:
        """How many there are, of all tenants."""
        return sum(one.count for one in self.tenants)

    def query(self, given: dict[str, str]) -> str:
        """Write the filter that chooses these of those that `given` chooses."""
        mine = {"error": self.cause, "stage": self.stage.value, "environment": self.environment.value}
        return urlencode({name: value for name, value in (given | mine).items() if value})

    @property
    def oldest(self) -> datetime:
        """Since when the oldest is a dead letter."""
        return min(one.oldest for one in self.tenants)


def _by_cause(groups: Sequence[DeadLetterGroup]) -> list[Cause]:
    alike = groupby(groups, lambda one: (one.cause, one.stage, one.environment))
    return [Cause(*key, list(found)) for key, found in alike]


async def export(visit: Visit) -> Reply:
    """Return the dead letters of a filter as a file for spreadsheets."""
    given = {name: visit.query.get(name, "").strip() for name in FILTERS}
    found = await visit.operators.run(dead_letters.listed, await chosen(visit, given), _MAX_CHOSEN)
    rows: list[Sequence[Cell]] = [
        (
            one.e_ncf,
            str(one.subject),
            one.tenant,
            one.environment.value,
            one.stage.value,
            one.died_at,
            one.sends,
            total_in(one.qr_code_url),
            one.error,
            one.cause,
        )
        for one in found
    ]
    return visit.file(f"dead-letters-{visit.now:%Y-%m-%d}.csv", CSV_TYPE, csv_file(_HEADS, rows))


async def one(visit: Visit) -> Reply:
    """Show one: what it waits for, what was sent, what a replay would do, and what happened to it."""
    subject = SubmissionId(uuid_of(visit, "subject"))
    waiting = await visit.operators.run(diagnosis.why, subject)
    if waiting is None:
        raise not_found()
    found = await visit.operators.run(dead_letters.listed, DeadLetterFilter(subjects=(subject,)), 1)
    events = await visit.operators.run(submissions.timeline, waiting.tenant_id, subject)
    return visit.page(
        "operators/dead_letter.html",
        waiting=waiting,
        answer=explain(waiting, LIMITS, ON_PAGES),
        preview=preview(found[0], visit.now, ON_PAGES) if found else None,
        events=events,
        badge=words.status_badge(waiting.status, is_given_up=waiting.dead_since is not None),
        event_words=words.event_words,
    )


async def _selection(visit: Visit) -> tuple[list[DeadLetter], dict[str, str]]:
    """Return the ticked dead letters, or all that match the filters. Raises FormProblem."""
    given = {name: visit.form.get(name) for name in FILTERS}
    if visit.form.get("which") == "all":
        which, hidden = await chosen(visit, given), {"which": "all", **given}
    else:
        names = [*visit.form.every("id"), *visit.form.get("ids").split(",")]
        try:
            subjects = sorted({UUID(name) for name in names if name})
        except ValueError:
            raise FormProblem(_NONE) from None
        which = DeadLetterFilter(subjects=[SubmissionId(subject) for subject in subjects[:_MAX_CHOSEN]])
        hidden = {"which": "chosen", "ids": ",".join(str(subject) for subject in subjects[:_MAX_CHOSEN])}
    found = await visit.operators.run(dead_letters.listed, which, _MAX_CHOSEN)
    return found, hidden


async def review(visit: Visit) -> Reply:
    """Say what a replay of the selection would do, row by row and counted; nothing is done."""
    found, hidden = await _selection(visit)
    if not found:
        raise FormProblem(_NONE)
    return await _review(visit, found, hidden)


async def _review(
    visit: Visit, found: Sequence[DeadLetter], hidden: dict[str, str], problem: Text | None = None, about: str = ""
) -> Reply:
    both = [await may_alone(visit, "replay", len(found)), await may_alone(visit, "discard", len(found))]
    previews = [preview(one, visit.now, ON_PAGES) for one in found]
    return visit.page(
        "operators/review.html",
        400 if problem else 200,
        previews=previews[:_PREVIEWED],
        total=len(found),
        is_most=len(found) == _MAX_CHOSEN,
        would=Counter(one.kind for one in previews).most_common(10),
        companies=Counter(one.tenant for one in found).most_common(_COUNTED),
        companies_left=max(0, len({one.tenant for one in found}) - _COUNTED),
        causes=Counter(one.cause for one in found).most_common(_COUNTED),
        obstacles=Counter(what for one in previews for what in one.obstacles).most_common(10),
        hidden=hidden,
        frozen=approvals.frozen(found),
        needs_second=not all(both),
        problem=problem,
        about=about,
        typed=visit.form,
    )


async def replay(visit: Visit) -> Reply:
    """Set the selection going again, as a plan that the service carries on."""
    found, hidden = await _selection(visit)
    visit.require_unchanged(approvals.frozen(found))
    try:
        by = acting(visit)
        per_second = _pace(visit)
    except LocalizedError as wrong:
        return await _review(visit, found, hidden, wrong.text, "replay")
    plan_id = ReplayPlanId(f"replay-{new_id(visit.now).hex}")
    request = approvals.replay_request(
        approvals.frozen(found),
        plan_id,
        canary=visit.form.has("canary"),
        per_second=per_second,
        stop_on_failure=visit.form.has("stop_on_failure"),
    )
    alone = await may_alone(visit, "replay", len(found))
    action_id = await visit.run_operation(approvals.ask, "replay", request, by, "portal", alone=alone)
    if not alone:
        return await go_to_approval(visit, action_id)
    if not await executed(visit, action_id):  # there is no plan: what became of it says why
        return await visit.go(f"/operators/approvals/{action_id}")
    wake(visit)
    return await visit.go(f"/operators/replays/{plan_id}")


async def discard(visit: Visit) -> Reply:
    """Give the selection up: its clients see an error."""
    found, hidden = await _selection(visit)
    visit.require_unchanged(approvals.frozen(found))
    try:
        by = acting(visit)
        note = visit.form.get("note") or None
        if note is not None and len(note) > LONGEST_REASON:
            raise FormProblem(_NOTE)
    except LocalizedError as wrong:
        return await _review(visit, found, hidden, wrong.text, "discard")
    request = approvals.discard_request(approvals.frozen(found), note)
    alone = await may_alone(visit, "discard", len(found))
    action_id = await visit.run_operation(approvals.ask, "discard", request, by, "portal", alone=alone)
    if not alone:
        return await go_to_approval(visit, action_id)
    await executed(visit, action_id)
    return await visit.go(f"/operators/approvals/{action_id}")


def wake(visit: Visit) -> None:
    """Let what carries plans on look at once, where it runs in this process."""
    if visit.portal.plans is not None:
        visit.portal.plans.wake()


def _pace(visit: Visit) -> Decimal:
    pace = visit.form.get("per_second", "5")
    plain = pace.replace(".", "", 1)
    if not (plain.isascii() and plain.isdigit()) or len(pace) > 16 or not Decimal("0.01") <= Decimal(pace) <= 1000:
        raise FormProblem(_PACE)
    return Decimal(pace)


PAGES = (
    Page("GET", "/operators/dead-letters.csv", Needs.OPERATE, export),
    Page("GET", "/operators/dead-letters", Needs.OPERATE, index),
    Page("POST", "/operators/dead-letters/review", Needs.OPERATE, review, max_body_bytes=1024 * 1024),
    Page("POST", "/operators/dead-letters/replay", Needs.OPERATE, replay, max_body_bytes=1024 * 1024),
    Page("POST", "/operators/dead-letters/discard", Needs.OPERATE, discard, max_body_bytes=1024 * 1024),
    Page("GET", "/operators/dead-letters/<subject>", Needs.OPERATE, one),
)
