"""New receipts: choose a type, fill in the form, validate and issue, as the API does (fe/issuing).

A form is one receipt: its id is part of the clientRequestId, so that repeats issue it once. The typed text is kept as a
draft under that id, and each answer to an unfinished form leads to the draft's page. So the browser may go back, reload
or close the tab.
"""

from dataclasses import replace
from decimal import Decimal
from http import HTTPStatus
from typing import Any
from uuid import UUID

import structlog
import trio

from fe.catalogue.fields import EntryId
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.dates import local
from fe.ecf.document import Document, NotADocument
from fe.ecf.ids import new_id, read_id
from fe.ecf.json_text import write_json
from fe.ecf.parse import Malformed, parse_json
from fe.ecf.problems import Repair
from fe.ecf.texts import Text
from fe.identifiers import ClientRequestId, SubmissionId
from fe.issuing.accept import remarks
from fe.issuing.issuers import ForbiddenIssuer
from fe.issuing.prepare import read
from fe.limits import LimitReached
from fe.portal.forms import digest
from fe.portal.page_types import Needs, Page
from fe.portal.pages.sign_in import set_language
from fe.portal.receipt import choices, drafts, messages
from fe.portal.receipt.checking import CheckedReceipt, Issuing, found
from fe.portal.receipt.copies import NOTES, note_for, the_same_again
from fe.portal.receipt.currency import convert_prices
from fe.portal.receipt.doubts import doubts
from fe.portal.receipt.drafts import OpenDraft
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.receipt.habits import begun, habits_of
from fe.portal.receipt.layout import ISSUE_DATE, layout
from fe.portal.receipt.paths import NoPlace, mend
from fe.portal.receipt.remembering import remember
from fe.portal.receipt.view import paper_of, sequences_of, show_form, why_none
from fe.portal.receipt.withholding import compute_withheld
from fe.portal.receipt_advice import AdvisedStep, advice_on, explained, next_step
from fe.portal.replies import CHANGED_MEANWHILE, RESUMED, Refused, Reply, not_found, redirect
from fe.portal.visit import Visit
from fe.store.portal import receipt, receipts
from fe.store.portal.receipt import ReceiptRecord
from fe.store.postgres.errors import DatabaseUnavailable, NoNumber, TenantDisabled
from fe.store.records import sequences, tenants
from fe.store.records.catalogue import PRODUCTS
from fe.store.records.submissions import Accepted

#: A thousand lines fit: the most that the portal reads at all (fe/portal/form_reader.py). A line has a dozen fields.
MAX_FORM_BYTES = 1024 * 1024
MAX_FIELDS = 20_000
#: Characters of a search.
MAX_QUERY = 100
_REPAIRS = ("set", "rename", "remove")
_log = structlog.get_logger(__name__)


async def choose(visit: Visit) -> Reply:
    """Show the types, each with its purpose and whether it has a number; lead to that of the last sale unless asked."""
    habits = None if "types" in visit.query else await habits_of(visit)
    if habits is not None:
        return redirect(visit.within(f"new/{habits.type.value}"))
    known = await sequences_of(visit)
    types = [(paper_of(of), known.get(of.prefix), why_none(known.get(of.prefix), visit)) for of in EcfType]
    return visit.page("receipt/types.html", types=types, unfinished=await drafts.unfinished(visit))


async def copy(visit: Visit) -> Reply:
    """Redirect to the form of a receipt's type, filled in from it."""
    record, source = await source_of(visit, visit.query.get("from", ""))
    if source.type is None:
        raise not_found()
    return redirect(visit.within(f"new/{source.type.value}") + f"?from={record.submission_id}")


async def fill_in(visit: Visit) -> Reply:
    """Show the form of a type, empty or filled in from another receipt."""
    of = _type(visit)
    if "from" not in visit.query:
        entry = begun(ReceiptEntry.empty(layout(of)), await habits_of(visit, of))
        return await show_form(visit, entry, new_form(visit), unfinished=await drafts.unfinished(visit))
    record, source = await source_of(visit, visit.query.get("from", ""))
    issuer = await who_issued(visit, record)
    entry = ReceiptEntry.of(layout(of), copied(visit, of, record, source), issuer or "")
    said = None if issuer is not None else messages.say("issued-by-nobody-here", email=record.as_user or "")
    said = await _sequence_first(visit, record) or said
    return await show_form(visit, entry, new_form(visit), message=said)


async def _sequence_first(visit: Visit, record: ReceiptRecord) -> Text | None:
    """Return the advice for a receipt rejected for its sequence, while the sequence is unchanged."""
    codes = [code for code, _ in explained(record)]
    sequence = sequences.of_number(await visit.read(sequences.listed, visit.environment), record.e_ncf)
    if record.environment is not visit.environment or next_step(record, codes, sequence) is not AdvisedStep.SEQUENCE:
        return None
    return next(advice_on(code).text for code in codes if advice_on(code).step is AdvisedStep.SEQUENCE)


async def send(visit: Visit) -> Reply:
    """Run the pressed button's action; show the form again, or the issued receipt."""
    entry = _entry(visit)
    form_id = _form_id(visit)
    action, _, what = visit.form.get("do").partition(":")
    if action in _SWITCHES:
        return await _SWITCHES[action](visit, entry, form_id, what)
    if action == "add":
        entry.add_row(what)
        return await to_draft(visit, form_id, OpenDraft(entry))
    if action == "product":
        found = await visit.read(PRODUCTS.one, EntryId(what))
        if found is not None:
            choices.choose_product(entry, choices.of_product(found))
        return await to_draft(visit, form_id, OpenDraft(entry))
    if action == "remove":
        key, _, number = what.partition(":")
        entry.remove_row(key, int(number) if number.isascii() and number.isdigit() and len(number) < 6 else 0)
        return await to_draft(visit, form_id, OpenDraft(entry))
    if action == "repair":
        entry = _repaired(entry, what)
    await choices.complete(visit, entry)
    convert_prices(entry)
    compute_withheld(entry)
    if action != "issue":
        return await to_draft(visit, form_id, OpenDraft(entry, is_checked=True))
    work = _work(visit, entry, form_id)
    try:
        return await _issue(visit, work, form_id)
    except _Stopped as stopped:
        if stopped.status == HTTPStatus.SERVICE_UNAVAILABLE:  # nothing can be kept now
            said = stopped.checked
            return await show_form(visit, entry, form_id, checked=said, message=stopped.text, status=stopped.status)
        draft = OpenDraft(entry, is_checked=True, message=stopped.text, status=stopped.status)
        return await to_draft(visit, form_id, draft)


async def to_draft(visit: Visit, form_id: str, draft: OpenDraft) -> Reply:
    """Save the draft and redirect to its page. If it cannot be saved, show the form itself."""
    try:
        await drafts.save(visit, form_id, draft)
    except DatabaseUnavailable as away:
        _log.warning("draft could not be saved", reason=str(away))
        return await show_form(
            visit, draft.entry, form_id, message=draft.message or messages.say("not-now"), status=503
        )
    return await visit.go(visit.within(f"new/{draft.entry.layout.type.value}/{form_id}"))


async def _save(visit: Visit, entry: ReceiptEntry, form_id: str, _: str) -> Reply:
    """Save the draft while the person types; a script calls this."""
    await drafts.save(visit, form_id, OpenDraft(entry))
    return Reply(HTTPStatus.NO_CONTENT, b"")


async def _switch_language(visit: Visit, entry: ReceiptEntry, form_id: str, wanted: str) -> Reply:
    await set_language(visit, wanted)
    return await to_draft(visit, form_id, OpenDraft(entry))


async def _switch_environment(visit: Visit, entry: ReceiptEntry, form_id: str, wanted: str) -> Reply:
    """Lead to the same form in another environment, as another receipt."""
    if wanted not in list(Environment):
        raise not_found()
    other_id = form_id if wanted == visit.environment else new_form(visit)
    await drafts.save(visit, other_id, OpenDraft(entry), Environment(wanted))
    return await visit.go(visit.at(f"{wanted}/new/{entry.layout.type.value}/{other_id}"))


async def _switch_type(visit: Visit, entry: ReceiptEntry, form_id: str, wanted: str) -> Reply:
    """Lead to the same form as another type."""
    if wanted not in list(EcfType):
        raise not_found()
    return await to_draft(visit, form_id, OpenDraft(ReceiptEntry.of_draft(layout(EcfType(wanted)), entry.draft())))


async def _on_paper(visit: Visit, entry: ReceiptEntry, form_id: str, _: str) -> Reply:
    """Keep the draft, and ask for the number that the receipt has on paper."""
    await choices.complete(visit, entry)
    convert_prices(entry)
    compute_withheld(entry)
    await drafts.save(visit, form_id, OpenDraft(entry))
    return await visit.go(visit.within(f"contingency/paper/new/{entry.layout.type.value}/{form_id}"))


async def _convert(visit: Visit, entry: ReceiptEntry, form_id: str, _: str) -> Reply:
    """Convert prices that were typed in another currency to pesos."""
    is_done = convert_prices(entry, typed_in_other=True)
    draft = OpenDraft(entry) if is_done else OpenDraft(entry, message=messages.say("no-rate"), status=400)
    return await to_draft(visit, form_id, draft)


async def _total(visit: Visit, entry: ReceiptEntry, form_id: str, _: str) -> Reply:
    """Compute the totals that the script does not: those with taxes beside ITBIS, and with other fields."""
    convert_prices(entry)
    try:
        checked = await _checked(_work(visit, entry, form_id))
    except _Stopped:
        return Reply(HTTPStatus.NO_CONTENT, b"")
    return Reply(HTTPStatus.OK, write_json(checked.totals), (("Content-Type", "application/json"),))


_SWITCHES = {
    "save": _save,
    "total": _total,
    "convert": _convert,
    "paper": _on_paper,
    "language": _switch_language,
    "environment": _switch_environment,
    "type": _switch_type,
}


async def options(visit: Visit) -> Reply:
    """List customers or products of the catalogue, for the script that searches while a person types."""
    find = choices.products if visit.query.get("of") == "product" else choices.customers
    found = await find(visit, visit.query.get("q", "")[:MAX_QUERY], choices.FOUND)
    return visit.page("receipt/options.html", choices=found)


def _work(visit: Visit, entry: ReceiptEntry, form_id: str) -> Issuing:
    return Issuing(visit.portal, visit.tenant_id, visit.environment, entry, visit.now, _request_id(visit, form_id))


async def open_draft(visit: Visit) -> Reply:
    """Show a form as it was left. The receipt that was issued with it is shown in its place."""
    of, form_id = _type(visit), str(visit.params["draft"])
    draft = await drafts.find(visit, of, visit.params["draft"])
    if draft is None:
        issued = await visit.read_list(receipts.search, _request_id(visit, form_id))
        if issued:
            return redirect(visit.at(f"{issued[0].environment}/submissions/{issued[0].submission_id}"))
        return await visit.go(visit.within(f"new/{of.value}"), messages.say("no-draft"))
    checked, message, status = None, draft.message, draft.status
    if draft.is_checked:
        try:
            checked = await _checked(_work(visit, draft.entry, form_id))
            checked.doubts = await doubts(visit, draft.entry)
        except _Stopped as stopped:
            message, status = stopped.text, stopped.status
    return await show_form(visit, draft.entry, form_id, checked=checked, message=message, status=status)


async def discard(visit: Visit) -> Reply:
    """Delete a draft."""
    await drafts.end(visit, str(visit.params["draft"]))
    return await visit.go(visit.within(f"new/{_type(visit).value}"), messages.say("discarded"))


async def resume(visit: Visit) -> Reply:
    """Show a form of an earlier session with its typed text; do nothing else."""
    entry = _entry(visit)
    form_id = str(read_id(visit.form.get("form")) or new_id(visit.now))
    return await show_form(visit, entry, form_id, message=RESUMED, status=403)


class _Stopped(Exception):
    """Show the form again with errors above it and beside its fields."""

    def __init__(self, status: int, text: Text, checked: CheckedReceipt | None = None) -> None:
        super().__init__(status, text.en)
        self.status = status
        self.text = text
        self.checked = checked


async def _issue(visit: Visit, work: Issuing, form_id: str) -> Reply:
    if visit.company.tenant.disabled_since is not None:
        raise _Stopped(409, messages.say("disabled"))
    checked = None
    try:
        draft, size = await work.read()
        new = await work.admit(draft)
        if not await visit.portal.submitting.is_known(new):
            _count(work, size)
            checked = await _checked(work, is_counted=True)
            stopped = await _what_stops(visit, work, checked)
            # Sent twice at once: the first was accepted while this one was validated, and has its number now.
            if stopped is not None and not await visit.portal.submitting.is_known(new):
                raise stopped
        accepted = await work.issue(new, visit.request_id)
    except NotADocument as error:
        raise _Stopped(400, messages.say("nothing-done"), found(work.entry, list(error.problems))) from None
    except (ForbiddenIssuer, Malformed) as error:
        raise _Stopped(400, error.text, checked) from None
    except NoNumber as none:
        raise _Stopped(409, messages.no_number(none.reason, none.label), checked) from None
    except TenantDisabled:
        raise _Stopped(409, messages.say("disabled"), checked) from None
    except DatabaseUnavailable as away:
        _log.warning("a receipt of the portal may not have been taken in", reason=str(away))
        raise _Stopped(503, messages.say("not-known"), checked) from None
    return await _after(visit, work, accepted, form_id, None if checked is None else checked.change)


async def _what_stops(visit: Visit, work: Issuing, checked: CheckedReceipt) -> _Stopped | None:
    if checked.fatal or work.entry.unread:
        return _Stopped(400, messages.say("nothing-done"), checked)
    if checked.remarks and visit.form.get("seen") != digest(checked.remarks):
        return _Stopped(409, messages.say("remarked"), checked)
    if visit.environment.billable and not await _was_seen(visit, work, checked):
        return _Stopped(409, messages.say("look-over"), checked)
    return None


async def _was_seen(visit: Visit, work: Issuing, checked: CheckedReceipt) -> bool:
    """Whether the total was shown before: when the form was checked, or by the script on the button just pressed."""
    if visit.form.get("agreed") == digest(work.entry.payload()):
        return True
    return visit.form.get("shown") == checked.totals.get("MontoTotal") and not await doubts(visit, work.entry)


async def _after(visit: Visit, work: Issuing, accepted: Accepted, form_id: str, change: Decimal | None) -> Reply:
    there = visit.within(f"submissions/{accepted.submission_id}")
    if accepted.outcome == "deduped" and accepted.body_matched:
        return await visit.go(there, messages.say("issued-before"))
    if accepted.outcome == "deduped":
        said = messages.say("issued-otherwise", number=accepted.e_ncf or "")
        return await to_draft(visit, new_form(visit), OpenDraft(work.entry, message=said, status=409))
    about = {"type": work.entry.layout.type.value, "environment": visit.environment.value, "eNCF": accepted.e_ncf}
    try:
        await visit.portal.db.transact_for(
            visit.tenant_id, visit.note, "receipt issued", str(accepted.submission_id), None, about
        )
        await drafts.end(visit, form_id)
        await remember(visit, work.entry)
    except DatabaseUnavailable as away:  # it is issued, whatever is noted: its clientRequestId says by whom
        _log.warning("issue not recorded in portal", reason=str(away))
    remark = next((one.text for one in remarks(accepted)), None)
    return await visit.go(there, messages.issued(accepted.e_ncf, change, remark))


async def _checked(work: Issuing, *, is_counted: bool = False) -> CheckedReceipt:
    try:
        draft, size = await work.read()
        if not is_counted:
            _count(work, size)
        return await work.check(draft)
    except (ForbiddenIssuer, Malformed) as error:
        raise _Stopped(400, error.text) from None


def _count(work: Issuing, size: int) -> None:
    try:
        work.portal.quotas.take(work.tenant_id, size, trio.current_time())
    except LimitReached:
        raise _Stopped(429, messages.say("too-many")) from None


def _repaired(entry: ReceiptEntry, what: str) -> ReceiptEntry:
    """The form with a repair done that the page before offered."""
    payload = entry.payload()
    if entry.unread:
        return entry  # keep them: validating reports their errors
    try:
        asked: Any = parse_json(what.encode())
        repair = Repair(asked["op"], asked["path"], asked.get("value"), asked.get("to"))
        if repair.op not in _REPAIRS:
            raise NoPlace(repair.op)
        mend(payload, repair)
    except (Malformed, NoPlace, KeyError, TypeError, AttributeError):
        raise Refused(400, CHANGED_MEANWHILE) from None
    return replace(ReceiptEntry.of(entry.layout, payload, entry.as_user), sequence=entry.sequence)


def _entry(visit: Visit) -> ReceiptEntry:
    """The form as it was sent. A date of issue left as the page had it is that of the day the receipt is issued on."""
    entry = ReceiptEntry.sent(layout(_type(visit)), visit.form)
    if entry.values[ISSUE_DATE] == visit.form.get("today"):
        entry.values[ISSUE_DATE] = ""
    return entry


def _type(visit: Visit) -> EcfType:
    try:
        return EcfType(visit.params["type"])
    except ValueError:
        raise not_found() from None


def new_form(visit: Visit) -> str:
    """Make the id of a form. Ids are in the order of time, so that the person's last receipt is found by them."""
    return str(new_id(visit.now))


def _form_id(visit: Visit) -> str:
    try:
        if visit.form.get("as_user"):
            UUID(visit.form.get("as_user"))
        return str(UUID(visit.form.get("form")))
    except ValueError:
        raise Refused(400, CHANGED_MEANWHILE) from None


def _request_id(visit: Visit, form_id: str) -> ClientRequestId:
    """Store who issued it and with which form, in the receipt's transaction."""
    return ClientRequestId(f"portal:{visit.person.person.person_id}:{form_id}")


async def source_of(visit: Visit, submission: str) -> tuple[ReceiptRecord, Document]:
    """The receipt that a form begins with. Raises Refused."""
    try:
        wanted = SubmissionId(UUID(submission))
    except ValueError:
        raise not_found() from None
    record = await visit.read(receipt.one, wanted)
    if record is None:
        raise not_found()
    documents = await visit.documents(record.submission_id)
    try:
        return record, await trio.to_thread.run_sync(read, record.format, documents["original"])
    except (Malformed, NotADocument):
        raise not_found() from None


async def who_issued(visit: Visit, record: ReceiptRecord) -> str | None:
    """Return the user of the receipt: '' for the company, None for a former user."""
    if record.as_user_id is not None:
        return str(record.as_user_id)
    if record.as_user is None:
        return ""
    wanted = record.as_user.casefold()
    users = await visit.read(tenants.users_of)
    return next((str(one.user_id) for one in users if one.email.casefold() == wanted), None)


def copied(visit: Visit, of: EcfType, record: ReceiptRecord, source: Document) -> dict[str, Any]:
    """The payload of a receipt of the wanted type made from another: a note on it, or the same again."""
    issuer = visit.company.tenant.issuer
    if of not in NOTES or source.type in NOTES:
        return the_same_again(source, of, issuer)
    if record.environment is not visit.environment:
        raise not_found()
    issued = local(record.signed_at or record.submitted_at).date()
    return note_for(source, of, issuer, e_ncf=record.e_ncf, issued=issued, today=local(visit.now).date())


BASE = "/companies/<int:company>/<environment>/new"

PAGES = (
    Page("GET", BASE, Needs.WRITE, choose),
    Page("GET", f"{BASE}/copy", Needs.WRITE, copy),
    Page("GET", f"{BASE}/options", Needs.WRITE, options),
    Page("GET", f"{BASE}/<type>", Needs.WRITE, fill_in),
    Page("GET", f"{BASE}/<type>/<uuid:draft>", Needs.WRITE, open_draft),
    Page("POST", f"{BASE}/<type>/<uuid:draft>", Needs.WRITE, discard),
    Page(
        "POST",
        f"{BASE}/<type>",
        Needs.WRITE,
        send,
        max_body_bytes=MAX_FORM_BYTES,
        max_fields=MAX_FIELDS,
        resume=resume,
    ),
)
