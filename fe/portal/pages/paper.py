"""Receipts of series B: ranges, receipts on paper, and the e-CF that replace them (docs/contingency.md)."""

import dataclasses
from datetime import date

import trio

from fe.accounts import paper as flow
from fe.contingency import Mode, replace_by
from fe.ecf.catalogue import EcfType
from fe.ecf.dates import local, show_day
from fe.ecf.document import NotADocument
from fe.ecf.json_text import write_canonical_json
from fe.ecf.paper import TYPES, PaperOfTomorrow, PaperRefused, is_ncf, ncf_of
from fe.ecf.parse import Malformed, parse_json
from fe.ecf.problems import Problem
from fe.ecf.texts import Text
from fe.http.messages import say
from fe.identifiers import PORTAL_KEY, ClientRequestId
from fe.issuing.paper import MAX_PAYLOAD, BadPaper, examine, printed_document
from fe.issuing.paper_replacing import AT_ONCE, PaperReplacer, PaperState, paper_state
from fe.limits import LimitReached, TurnTimeout
from fe.offload.pool import ApartFailed
from fe.portal import receipt_words as words
from fe.portal.page_types import Needs, Page
from fe.portal.printing import PRINTING_FAILED, options_asked
from fe.portal.receipt import drafts
from fe.portal.replies import Refused, Reply, not_found
from fe.portal.visit import Visit
from fe.printing import NotPrintable, TooManyPages, paper_pdf
from fe.store.records import modes, paper, paper_ranges
from fe.store.records.paper import AskedPaper, PaperRecord

#: Seconds that a large receipt waits for its turn in the pool.
_PATIENCE = 20.0
#: Bytes of content and logo up to which a receipt is printed in a thread of this process, one at a time.
_SMALL = 64 * 1024
_PRINTING = trio.CapacityLimiter(1)
STATES = {
    PaperState.OPEN: ("warn", Text("To be replaced", "Por reemplazar")),
    PaperState.ISSUED: ("soft", Text("e-CF sent, no result yet", "e-CF enviado, sin resultado")),
    PaperState.REJECTED: (
        "bad",
        Text("e-CF rejected: correct it and issue again", "e-CF rechazado: corrija y emita de nuevo"),
    ),
    PaperState.REPLACED: ("ok", Text("Replaced", "Reemplazado")),
}
#: By prefix: the type in words.
KINDS = {prefix: words.TYPE_NAMES[of] for prefix, of in TYPES.items()}
#: Characters of a draft's content.
_MOST = 4 * MAX_PAYLOAD
_BAD_DATE = Text("A date has the form 2026-12-31.", "Escriba la fecha así: 2026-12-31.")
_RECORDED = Text("The range was recorded.", "Se registró el rango.")
_DELETED = Text("The range was deleted.", "Se borró el rango.")
_ENTERED = Text("{ncf} was entered.", "Se registró {ncf}.")
_DONE = Text("e-CF issued: {issued}. Not issued: {refused}.", "e-CF emitidos: {issued}. No emitidos: {refused}.")
_NOTHING = Text("No paper receipt waits for its e-CF.", "Ningún comprobante en papel espera su e-CF.")
_TOO_FAST = Text(
    "Too many receipts at once: try again in a moment.", "Demasiados comprobantes a la vez: intente en un momento."
)


async def show(visit: Visit) -> Reply:
    """Show ranges and paper receipts, the open ones alone or all."""
    return await _show(visit)


async def _show(
    visit: Visit, problem: Text | None = None, status: int = 200, why: dict[str, Problem] | None = None
) -> Reply:
    every = "all" in visit.query
    after = visit.query.get("after", "")
    found = await visit.read_list(
        paper.listed, visit.environment, after=after if is_ncf(after) else "", only_open=not every
    )
    tried = await visit.read(paper.tried, visit.environment, found)
    of_request = {one.ncf: tried.get(one.request_id) for one in found if one.request_id is not None}
    period = await visit.read(modes.current, visit.environment)
    return visit.page(
        "company/paper.html",
        status,
        ranges=await visit.read(paper_ranges.listed, visit.environment),
        receipts=[(one, of_request.get(one.ncf), paper_state(one, of_request.get(one.ncf))) for one in found],
        left=(await visit.read(paper.still_open)).get(visit.environment),
        more=found[-1].ncf if len(found) == paper.PAGE else None,
        every=every,
        states=STATES,
        kinds=KINDS,
        ncf_of=ncf_of,
        replace_by=replace_by,
        problem=problem,
        why=why or {},
        most=AT_ONCE,
        in_contingency=period is not None and period.mode is Mode.CONTINGENCY,
    )


async def add_range(visit: Visit) -> Reply:
    """Record a range."""
    form = visit.form
    try:
        expires_on = date.fromisoformat(form.get("expires_on"))
    except ValueError:
        return await _show(visit, _BAD_DATE, 400)
    first, last = form.get("first").upper(), form.get("last").upper()
    try:
        await flow.add_range(
            visit.portal.db, visit.author, visit.company.tenant, visit.environment, first, last, expires_on
        )
    except PaperRefused as refused:
        return await _show(visit, refused.text, 400)
    return await visit.go(visit.within("contingency/paper"), _RECORDED)


async def delete_range(visit: Visit) -> Reply:
    """Delete a range without receipts."""
    found = await visit.read(paper_ranges.listed, visit.environment)
    one = next((one for one in found if one.range_id == visit.params["range_id"]), None)
    if one is None:
        raise not_found()
    try:
        await visit.change(flow.delete_range, visit.author, visit.company.tenant, one)
    except PaperRefused as refused:
        return await _show(visit, refused.text, 409)
    return await visit.go(visit.within("contingency/paper"), _DELETED)


async def replace(visit: Visit) -> Reply:
    """Issue the e-CF of the open receipts."""
    portal = visit.portal
    try:
        done = await PaperReplacer(portal.db, portal.submitting, portal.quotas).issue(
            visit.tenant_id,
            visit.environment,
            None,
            api_key_id=PORTAL_KEY,
            by=visit.by_whom,
            now=visit.now,
            http_request=visit.request_id,
        )
    except LimitReached:
        return await _show(visit, _TOO_FAST, 429)
    if not done:
        return await visit.go(visit.within("contingency/paper"), _NOTHING)
    refused = {one.ncf: one.problems[0] for one in done if one.problems}
    said = _DONE.fill(issued=sum(one.is_new for one in done), refused=len(refused))
    if refused:
        return await _show(visit, said, 409, refused)
    return await visit.go(visit.within("contingency/paper"), said)


async def show_one(visit: Visit) -> Reply:
    """Show a paper receipt and its e-CF."""
    record = await _find(visit)
    tried = await visit.read(paper.tried, visit.environment, [record])
    of_it = None if record.request_id is None else tried.get(record.request_id)
    state = paper_state(record, of_it)
    return visit.page(
        "company/paper_receipt.html",
        record=record,
        tried=of_it,
        state=STATES[state],
        kind=KINDS[record.ncf[:3]],
        type=TYPES[record.ncf[:3]].value,
        can_correct=state in (PaperState.OPEN, PaperState.REJECTED),
        replace_by=replace_by(record.period_began_at, record.period_ended_at),
    )


async def printed(visit: Visit) -> Reply:
    """Print a paper receipt as PDF, without QR code."""
    record = await _find(visit)
    options = dataclasses.replace(await options_asked(visit), environment=visit.environment)
    try:
        content = await trio.to_thread.run_sync(printed_document, record, visit.company.tenant.issuer)
        expires = show_day(record.expires_on)
        given = content, record.ncf, expires, record.entered_at, options
        if len(record.payload) + len(options.logo or b"") <= _SMALL:
            made = await trio.to_thread.run_sync(paper_pdf, *given, limiter=_PRINTING)
        else:
            made = await visit.portal.printers.run(visit.tenant_id, paper_pdf, *given, within=_PATIENCE)
    except (NotADocument, NotPrintable, TooManyPages):
        raise Refused(409, say("not-printable")) from None
    except (ApartFailed, TurnTimeout):
        raise Refused(503, PRINTING_FAILED) from None
    return visit.file(f"{record.ncf}.pdf", "application/pdf", made, inline=True)


async def ask(visit: Visit) -> Reply:
    """Ask for number and day of a receipt that was typed into the form of new receipts."""
    return await _ask(visit, await _draft(visit))


async def _draft(visit: Visit) -> drafts.OpenDraft:
    if visit.params["type"] not in list(EcfType):
        raise not_found()
    found = await drafts.find(visit, EcfType(visit.params["type"]), visit.params["draft"])
    if found is None:
        raise not_found()
    return found


async def _ask(
    visit: Visit,
    draft: drafts.OpenDraft,
    problems: list[Text] | None = None,
    status: int = 200,
    *,
    there: PaperRecord | None = None,
    wrong_day: Text | None = None,
) -> Reply:
    """Show the form; `there` is what was entered under the number, which can be corrected."""
    of = draft.entry.layout.type
    prefix = next(prefix for prefix, one in TYPES.items() if one is of)
    period = await visit.read(modes.current, visit.environment)
    ranges = await visit.read(paper_ranges.listed, visit.environment)
    return visit.page(
        "company/paper_new.html",
        status,
        problems=problems or [],
        prefix=prefix,
        kind=KINDS[prefix],
        ranges=[one for one in ranges if one.prefix == prefix],
        ncf_of=ncf_of,
        day=local(visit.now).date() if there is None else there.issued_on,
        today=local(visit.now).date(),
        wrong_day=wrong_day,
        draws=period is not None and period.mode is Mode.CONTINGENCY,
        may_correct=there is not None,
        here=f"contingency/paper/new/{of.value}/{visit.params['draft']}",
        back=f"new/{of.value}/{visit.params['draft']}",
    )


async def enter(visit: Visit) -> Reply:
    """Store a paper receipt, or write another content of one."""
    form, draft = visit.form, await _draft(visit)
    tenant, environment = visit.company.tenant, visit.environment
    ncf = form.get("ncf").upper() or None
    try:
        day = date.fromisoformat(form.get("issued_on")) if form.get("issued_on") else None
    except ValueError:
        return await _ask(visit, draft, status=400, wrong_day=_BAD_DATE)
    try:
        payload = parse_json(write_canonical_json(draft.entry.payload()), max_bytes=_MOST)
        request = None if ncf else ClientRequestId(f"portal:{visit.params['draft']}")
        asked = AskedPaper(payload, ncf, day, request)
        examined = await trio.to_thread.run_sync(examine, asked, tenant.issuer, visit.now)
        if ncf and form.has("correct"):
            done = await visit.change(flow.correct, visit.author, tenant, environment, asked, examined)
        else:
            done = await flow.enter(visit.portal.db, visit.author, tenant, environment, asked, examined)
    except BadPaper as bad:
        return await _ask(visit, draft, [one.text for one in bad.problems[:10]], 400)
    except Malformed as bad:
        return await _ask(visit, draft, [bad.text], 400)
    except PaperOfTomorrow as refused:
        return await _ask(visit, draft, status=400, wrong_day=refused.text)
    except PaperRefused as refused:
        there = await visit.read(paper.find, environment, ncf) if ncf is not None and is_ncf(ncf) else None
        return await _ask(visit, draft, [refused.text], 409, there=there)
    await drafts.end(visit, str(visit.params["draft"]))
    said = _ENTERED.fill(ncf=done.record.ncf)
    for one in done.remarks:
        said = Text(f"{said.en} {one.message}.", f"{said.es} {one.message_es}.")
    return await visit.go(visit.within(f"contingency/paper/{done.record.ncf}"), said)


async def _find(visit: Visit) -> PaperRecord:
    ncf = visit.params["ncf"]
    found = await visit.read(paper.find, visit.environment, ncf) if is_ncf(ncf) else None
    if found is None:
        raise not_found()
    return found


_LIST = "/companies/<int:company>/<environment>/contingency/paper"
_NEW = f"{_LIST}/new/<type>/<uuid:draft>"
PAGES = (
    Page("GET", _LIST, Needs.READ, show),
    Page("POST", f"{_LIST}/ranges", Needs.WRITE, add_range),
    Page("POST", f"{_LIST}/ranges/<uuid:range_id>/delete", Needs.WRITE, delete_range),
    Page("POST", f"{_LIST}/replace", Needs.WRITE, replace),
    Page("GET", _NEW, Needs.WRITE, ask),
    Page("POST", _NEW, Needs.WRITE, enter),
    Page("GET", f"{_LIST}/<ncf>", Needs.READ, show_one),
    Page("GET", f"{_LIST}/<ncf>/pdf", Needs.READ, printed),
)
