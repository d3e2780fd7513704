"""Received receipts approved or rejected many at once: chosen in the list, confirmed, and what became of each."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import PORTAL_KEY
from fe.issuing.decide import MAX_REASON, decision_on, is_reason, take_in
from fe.lifecycle import Stage
from fe.portal import receipt_words as words
from fe.portal.document_facts import name_shown
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Refused, Reply, redirect
from fe.portal.visit import Visit
from fe.store.portal import changes
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import TenantDisabled
from fe.store.records import approvals, received, waiting
from fe.store.records.approvals import DecisionOutcome, DecisionResult, Word
from fe.store.records.received import ApprovalStatus, ReceivedRecord

#: Decisions by the names of their buttons.
_DECISIONS = {"approve": ApprovalStatus.APPROVED, "reject": ApprovalStatus.REJECTED}
#: Reasons that are offered; any other may be typed.
REASONS = (
    Text("The goods did not arrive complete", "La mercancía no llegó completa"),
    Text("We did not order this", "No hicimos este pedido"),
    Text("The price is not the agreed one", "El precio no es el acordado"),
    Text("The ITBIS is not correct", "El ITBIS no es correcto"),
    Text("It repeats another receipt", "Repite otro comprobante"),
)

WHY = Text(
    f"Say why, in up to {MAX_REASON} characters: the issuer and the DGII read it.",
    f"Indique el motivo, en {MAX_REASON} caracteres como máximo: lo leen el emisor y la DGII.",
)
DISABLED = Text(
    "The company is disabled: nothing is decided for it.", "La empresa está desactivada: no se decide nada por ella."
)
_IN_THE_WAY = {
    DecisionOutcome.CONTRARY: Text("It was decided otherwise before.", "Ya se había decidido lo contrario."),
    DecisionOutcome.ELSEWHERE: Text(
        "An answer from your system is on its way.", "Hay una respuesta en camino, enviada por su sistema."
    ),
}
_NONE_CHOSEN = Text("Tick the receipts first.", "Marque primero los comprobantes.")


@dataclass(frozen=True, slots=True)
class AnsweredReceipt:
    """The outcome of one receipt. `word` is the decision that counts, `by_whom` its person; None if there is none."""

    record: ReceivedRecord
    is_new: bool
    problem: Text | None
    word: Word | None
    by_whom: str | None


async def choose(visit: Visit) -> Reply:
    """Go to the page that asks for confirmation, or back where nothing is ticked."""
    ids = _ids(visit.form.every("id"))
    if not ids or visit.form.get("do") not in _DECISIONS:
        return await visit.go(visit.within("received"), _NONE_CHOSEN)
    chosen = ",".join(map(str, ids))
    return redirect(visit.within(f"received/decide?do={visit.form.get('do')}&ids={chosen}"))


async def confirm(visit: Visit) -> Reply:
    """Say how many receipts are decided and their sum; nothing is decided yet."""
    return await _confirm(visit, visit.query.get("do", ""), visit.query.get("ids", "").split(","))


async def _confirm(visit: Visit, do: str, ids: list[str], problem: Text | None = None, status: int = 200) -> Reply:
    records = await _find(visit, ids)
    if not records or do not in _DECISIONS:
        return await visit.go(visit.within("received"), _NONE_CHOSEN)
    pending = [one for one in records if one.approval_status is ApprovalStatus.PENDING]
    return visit.page(
        "company/received_confirm.html",
        status,
        do=do,
        records=records,
        pending=pending,
        total=_sum(pending),
        problem=problem,
        reason=visit.form.get("reason"),
        reasons=REASONS,
        longest=MAX_REASON,
        words=words,
        name_shown=name_shown,
    )


async def decide(visit: Visit) -> Reply:
    """Decide each by itself. A form that is sent again finds each decided, and says so."""
    do, ids = visit.form.get("do"), list(visit.form.every("id"))
    reason = visit.form.get("reason") if do == "reject" else None
    if reason is not None and not is_reason(reason):
        return await _confirm(visit, do, ids, WHY, 400)
    records = await _find(visit, ids)
    if not records or do not in _DECISIONS:
        return await visit.go(visit.within("received"), _NONE_CHOSEN)
    outcomes = [(record, *await _outcome(visit, record, reason)) for record in records]
    people = await visit.read(changes.by_subject, "received decided", [str(one.received_id) for one in records])
    done: list[AnsweredReceipt] = []
    for record, is_new, problem in outcomes:
        word = await visit.read(approvals.word_on, record.received_id)
        done.append(AnsweredReceipt(record, is_new, problem, word, people.get(str(record.received_id))))
    return visit.page(
        "company/received_decided.html",
        do=do,
        done=done,
        decided=[one for one in done if one.problem is None],
        total=_sum([one.record for one in done if one.problem is None]),
        is_mine=lambda one: one.by_whom == visit.by_whom,
        words=words,
        name_shown=name_shown,
    )


async def _outcome(visit: Visit, record: ReceivedRecord, reason: str | None) -> tuple[bool, Text | None]:
    """Decide about one; tell whether it is decided now, and what stands in the way."""
    try:
        decided = await take_decision(visit, record, reason)
    except LocalizedError as refused:
        return False, refused.text
    return decided.outcome is DecisionOutcome.ACCEPTED, _IN_THE_WAY.get(decided.outcome)


async def take_decision(
    visit: Visit, record: ReceivedRecord, reason: str | None, *, once: bool = False
) -> DecisionResult:
    """Take a decision in, as POST /received/{id}/approve and /reject do; `once` for each form.

    Raises Refused where the company is disabled, and LocalizedError where the receipt is another taxpayer's.
    """
    decision, new = decision_on(record, reason, visit.tenant_id, PORTAL_KEY, visit.now)
    said = {"decision": "approved" if reason is None else "rejected", "reason": reason, "eNCF": record.e_ncf}

    async def take(conn: Conn) -> DecisionResult:
        decided = await approvals.decide(conn, visit.tenant_id, decision, new, visit.now)
        if decided.outcome is DecisionOutcome.ACCEPTED:
            shown = {**said, "taxLogId": str(decided.submission_id)}
            await visit.note(conn, "received decided", str(record.received_id), None, shown)
        return decided

    await visit.portal.submitting.require_permission(new)
    try:
        decided = await take_in(
            lambda: visit.change(take) if once else visit.portal.db.transact_for(visit.tenant_id, take)
        )
    except TenantDisabled:
        raise Refused(409, DISABLED) from None
    if decided.outcome is DecisionOutcome.ACCEPTED:
        visit.portal.wakeups.notify(Stage.SIGN)
    return decided


async def _find(visit: Visit, ids: list[str]) -> list[ReceivedRecord]:
    """Find the receipts of this environment among these, in their order."""
    wanted = _ids(ids)
    found = {one.received_id: one for one in await visit.read(received.of_ids, wanted)} if wanted else {}
    return [found[one] for one in wanted if one in found and found[one].environment is visit.environment]


def _ids(texts: object) -> list[UUID]:
    """Read ids, each once, waiting.PAGE at most; others are left out."""
    found: dict[UUID, None] = {}
    for text in texts if isinstance(texts, list | tuple) else ():
        try:
            found[UUID(text)] = None
        except ValueError:
            continue
    return list(found)[: waiting.PAGE]


def _sum(records: list[ReceivedRecord]) -> Decimal:
    return sum((one.total for one in records), Decimal("0.00"))


_LIST = "/companies/<int:company>/<environment>/received"
PAGES = (
    Page("POST", f"{_LIST}/choose", Needs.ANSWER, choose),
    Page("GET", f"{_LIST}/decide", Needs.ANSWER, confirm),
    Page("POST", f"{_LIST}/decide", Needs.ANSWER, decide),
)
