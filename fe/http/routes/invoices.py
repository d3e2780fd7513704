"""Submissions over HTTP: submitting a document, asking for its status, fetching its XML, and the history."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import cast

import trio

from fe.archiving.documents import ReceiptDocuments
from fe.clock import Clock
from fe.contingency import Mode
from fe.ecf.catalogue import Environment
from fe.ecf.document import NotADocument
from fe.ecf.identity import E_NCF_FORM
from fe.ecf.parse import MAX_BYTES, refuse_crowd
from fe.ecf.problems import Problem
from fe.http.api_headers import ARCHIVED
from fe.http.calls import ApiReply, Call, Caller
from fe.http.errors import ApiError, describe, refusal
from fe.http.invoice_bodies import read_draft, read_key, read_submission, read_submissions
from fe.http.languages import Language, serialize_problems
from fe.http.messages import say
from fe.http.models.receipt_facts import serialize_facts
from fe.http.models.responses import (
    ACCEPTED,
    BATCH,
    DEDUPED,
    NOT_FOUND,
    PAGE,
    PREVIEW,
    STRETCH,
    SUBMISSION,
    TIMELINE,
    VALIDATION,
    XML,
    AcceptedSubmission,
    Batch,
    BatchItem,
    Deduped,
    InvoicePreview,
    SubmissionXml,
    Timeline,
    Validation,
)
from fe.http.models.serializers import (
    serialize_event,
    serialize_item,
    serialize_record,
    takes_approval,
)
from fe.http.paging import list_reply, read_in_turn
from fe.http.parameters import WAIT_MAX, WAITS_UNTIL, read_choice, read_history_query, read_number, read_track_or_id
from fe.http.routes.document_slots import DocumentSlots
from fe.http.routes.large_invoices import DraftApart, LargeInvoice
from fe.http.routes.long_polls import LongPolls
from fe.identifiers import ClientRequestId, TenantId
from fe.issuing.accept import remarks
from fe.issuing.deferral import is_deferred_in
from fe.issuing.document_size import LARGE_BYTES, is_large
from fe.issuing.issuers import ForbiddenIssuer
from fe.issuing.prepare import Draft
from fe.issuing.preview import UNREADABLE, ReceiptPreview, preview_of
from fe.issuing.submitting import Submitting, WouldNotBeSent
from fe.issuing.validate import DraftInThreads, ToValidate, is_fatal
from fe.lifecycle import Status
from fe.limits import ConcurrencyLimit, DocumentQuota, Limited
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import counterparty, history, modes, paper, submissions, tenant_context
from fe.store.records.paper import TRY_PREFIX
from fe.store.records.submissions import Accepted, NewSubmission, Record

_E_NCF = re.compile(E_NCF_FORM)
#: An id of a client's own, as one writes it into a path.
_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,120}")
_NOT_FOUND = NOT_FOUND.write({"found": False})
#: When to ask again, in seconds (interface.md#limits).
_POLLING = {Status.QUEUED: "5", Status.PROCESSING: "30"}


class Invoices:
    """The handlers of /invoices."""

    def __init__(
        self,
        db: Database,
        documents: ReceiptDocuments,
        lists: ConcurrencyLimit[TenantId],
        submitting: Submitting,
        waiting: LongPolls,
        quotas: DocumentQuota,
        apart: Apart,
        clock: Clock,
        metrics: Metrics,
        *,
        simulated: bool = False,
    ) -> None:
        """Take what it works with; `simulated`: the authority is its simulator, and does what clients ask of it."""
        self._simulated = simulated
        self._db = db
        self._documents = documents
        self._lists = lists
        self._submitting = submitting
        self._waiting = waiting
        self._quotas = quotas
        self._apart = apart
        self._clock = clock
        self._metrics = metrics
        self._slots = DocumentSlots(metrics)
        self._totals = history.Totals()

    async def create(self, call: Call) -> ApiReply:
        """Take a submission in: 202, or 200 with the first one when its clientRequestId was used before."""
        said = call.announced(MAX_BYTES) if "content-length" in call.headers else 0
        if said <= LARGE_BYTES:
            return await self._create(call, 0)
        with self._slots.held(call.identity.tenant_id, said):  # who has its share of large ones is not read
            return await self._create(call, said)

    async def _create(self, call: Call, held: int) -> ApiReply:
        """Accept a receipt; `held` bytes are counted for it already."""
        caller = call.identity
        key = read_key(call)
        raw = await call.body()
        call.limit_by(self._quotas.take(caller.tenant_id, len(raw), trio.current_time()))
        now = self._clock()
        if is_large(raw):
            refuse_crowd(raw)
            # Until its turn comes a large document is bytes; then it is read, and validated if it is to be, apart.
            async with self._slots.turn(caller.tenant_id, 0 if held else len(raw)):
                large = LargeInvoice(raw, caller, now, self._apart, key, sandbox=self._is_sandbox(caller))
                new, strict = await large.take_in()
                await self._submitting.require_permission(new)
                warnings = await self._refuse_what_would_not_be_sent(new, large, now) if strict else list(new.remarks)
                await self._slots.may_store(caller.tenant_id, len(raw))
        else:
            new, draft = read_submission(raw, caller, now, key, self._is_sandbox(caller))
            warnings = list(new.remarks)
            await self._submitting.require_permission(new)
            if draft is not None:
                async with self._slots.slot(caller.tenant_id, len(raw)):
                    candidate = DraftInThreads(draft, self._submitting.threads)
                    warnings = await self._refuse_what_would_not_be_sent(new, candidate, now)
        # A client that leaves cancels this handler at its next checkpoint when the request came through Quart; on the
        # fast path it is noticed when the answer is sent. Either way nothing has happened before the commit; after it
        # the submission is processed, and a repeat with the same clientRequestId is answered with it. A batch that has
        # begun goes on without the client.
        if call.span.context is not None:
            new = replace(new, trace=call.span.context)
        accepted = await self._submitting.acceptance.accept(new, now)
        call.span.annotate(submission=str(accepted.submission_id), outcome=accepted.outcome)
        self._submitting.note(accepted, new, call.request_id, call.span.trace_id)
        if accepted.outcome == "deduped":
            return ApiReply(200, DEDUPED.write(_serialize_deduped(accepted, caller, new, call.language)))
        return ApiReply(202, ACCEPTED.write(_serialize_accepted(accepted, caller, new, warnings, call.language)))

    async def create_many(self, call: Call) -> ApiReply:
        """Take a batch in, each of its receipts by itself: 200, and what became of each in their order.

        A client that leaves cancels this handler between transactions: what was committed is processed, and a repeat
        with the same clientRequestIds is answered with it.
        """
        caller = call.identity
        if "idempotency-key" in call.headers:
            raise ApiError(400, say("no-key-of-batch"))
        raw = await call.body()
        call.limit_by(self._quotas.take(caller.tenant_id, len(raw), trio.current_time()))
        now, sandbox = self._clock(), self._is_sandbox(caller)
        if large := is_large(raw):
            async with self._slots.turn(caller.tenant_id, len(raw)):
                batch = await self._apart.run(caller.tenant_id, read_submissions, raw, caller, now, sandbox)
                await self._slots.may_store(caller.tenant_id, len(raw))
        else:
            batch = read_submissions(raw, caller, now, sandbox)
        read = batch.receipts
        call.limit_by(self._quotas.add(caller.tenant_id, len(read) - 1, trio.current_time()))
        refused: dict[int, Exception] = {}
        taken: dict[int, tuple[NewSubmission, list[Problem]]] = {}
        for place, receipt in enumerate(read):
            if isinstance(receipt, Exception):
                refused[place] = receipt
                continue
            new, draft = receipt
            try:
                await self._submitting.require_permission(new)
                warnings = list(new.remarks)
                if draft is not None:
                    candidate = self._candidate(draft, caller, apart=large)
                    async with self._slots.slot(caller.tenant_id, len(new.original)):
                        warnings = await self._refuse_what_would_not_be_sent(new, candidate, now)
                taken[place] = new, warnings
            except (ForbiddenIssuer, NotADocument, ApiError, Limited) as wrong:
                refused[place] = wrong
        news = [new for new, _ in taken.values()]
        outcomes = iter(await self._submitting.acceptance.accept_together(news, now))
        items: list[BatchItem] = []
        for place in range(len(read)):
            new_, warnings = taken.get(place, (None, []))
            outcome = refused[place] if new_ is None else next(outcomes)
            if isinstance(outcome, Accepted) and new_ is not None:
                self._submitting.note(outcome, new_, call.request_id, call.span.trace_id)
                items.append(_serialize_taken(outcome, caller, new_, warnings, call.language))
            elif isinstance(outcome, Exception):
                items.append(cast(BatchItem, describe(outcome).fields(call.language)))
                if reason := refusal(outcome):
                    self._metrics.refused.labels(reason).inc()
        answer: Batch = {"items": items}
        if batch.remarks:
            answer["warnings"] = serialize_problems(batch.remarks, call.language)
        return ApiReply(200, BATCH.write(answer))

    def _candidate(self, draft: Draft, caller: Caller, *, apart: bool) -> ToValidate:
        if apart:
            return DraftApart(draft, caller.tenant_id, self._apart)
        return DraftInThreads(draft, self._submitting.threads)

    def _is_sandbox(self, caller: Caller) -> bool:
        """Tell whether this caller may say what becomes of its receipts: never of production's."""
        return self._simulated and caller.environment is not Environment.ECF

    async def validate(self, call: Call) -> ApiReply:
        """Validate a document as if it were submitted now, and keep nothing."""
        problems, _ = await self._examined(call)
        answer: Validation = {"valid": not is_fatal(problems), "problems": serialize_problems(problems, call.language)}
        return ApiReply(200, VALIDATION.write(answer))

    async def preview(self, call: Call) -> ApiReply:
        """Validate a document, and show it as it would be signed now; no number is drawn, and nothing is kept."""
        problems, shown = await self._examined(call, previews=True)
        answer: InvoicePreview = {
            "valid": not is_fatal(problems),
            "problems": serialize_problems(problems, call.language),
            **serialize_facts(shown.ecf_type, shown.buyer_rnc, shown.facts),
            "eNCF": shown.e_ncf,
            "payload": None if shown.payload is None else dict(shown.payload),
            "xml": shown.xml,
        }
        return ApiReply(200, PREVIEW.write(answer))

    async def _examined(self, call: Call, *, previews: bool = False) -> tuple[list[Problem], ReceiptPreview]:
        caller, said = call.identity, call.announced(MAX_BYTES)
        found = None
        with self._slots.held(caller.tenant_id, said):
            raw = await call.body()
            call.limit_by(self._quotas.take(caller.tenant_id, len(raw), trio.current_time()))
            refuse_crowd(raw)
            if not is_large(raw):
                found = await self._examined_here(raw, caller, previews=previews)
            elif said > LARGE_BYTES:
                found = await self._examined_apart(raw, caller, held=said, previews=previews)
        if found is None:  # large by its lines alone: it does not wait among the bytes of small ones
            found = await self._examined_apart(raw, caller, held=0, previews=previews)
        return found

    async def _examined_here(
        self, raw: bytes, caller: Caller, *, previews: bool
    ) -> tuple[list[Problem], ReceiptPreview]:
        async with self._slots.slot(caller.tenant_id, 0):
            now = self._clock()
            read = partial(read_draft, raw, self._is_sandbox(caller))
            draft = await trio.to_thread.run_sync(read, limiter=self._submitting.threads)
            candidate = DraftInThreads(draft, self._submitting.threads)
            problems = await self._submitting.validate(candidate, caller.tenant_id, caller.environment, now)
            if not previews or candidate.completed is None:
                return problems, UNREADABLE
            show = partial(preview_of, candidate.completed)
            return problems, await trio.to_thread.run_sync(show, limiter=self._submitting.threads)

    async def _examined_apart(
        self, raw: bytes, caller: Caller, *, held: int, previews: bool
    ) -> tuple[list[Problem], ReceiptPreview]:
        """Validate a large receipt in another process; `held` of its bytes are counted already."""
        async with self._slots.turn(caller.tenant_id, 0 if held else len(raw)):
            now = self._clock()
            candidate = LargeInvoice(raw, caller, now, self._apart, sandbox=self._is_sandbox(caller), previews=previews)
            problems = await self._submitting.validate(candidate, caller.tenant_id, caller.environment, now)
            return problems, candidate.preview

    async def show(self, call: Call) -> ApiReply:
        """Show a submission by taxLogId or trackId; what matches nothing is 200 {found: false}."""
        query = call.query()
        seconds = read_number(query, "wait", default=0, minimum=0, maximum=WAIT_MAX)
        signed = read_choice(query, "until", WAITS_UNTIL) == "signed"
        if seconds:
            self._waiting.require_patience(call.identity.tenant_id)
        record = await self._find(call)
        if record is None:
            return await self._not_found(call)
        if seconds:
            authorization = call.headers["authorization"].encode("latin-1")
            record = await self._waiting.for_the_end(
                call.identity.tenant_id, record, seconds, authorization=authorization, signed=signed
            )
        if record.status is Status.ERROR:
            confirmed = await self._db.confirmed_for(call.identity.tenant_id, submissions.find, record.submission_id)
            if confirmed is None:
                return await self._not_found(call)
            record = confirmed
        again = _POLLING.get(record.status)
        other = None
        if takes_approval(record):
            other = await self._db.run_for(call.identity.tenant_id, counterparty.other_side, record.submission_id)
        legend = await self._legend(call.identity.tenant_id, record)
        replaces = None
        if (record.client_request_id or "").startswith(TRY_PREFIX):
            replaces = await self._db.run_for(
                call.identity.tenant_id, paper.replaced_with, record.environment, record.client_request_id
            )
        shown = serialize_record(record, other, call.language, legend=legend, replaces=replaces)
        answer = SUBMISSION.write(shown)
        return ApiReply(200, answer, (("Retry-After", again),) if again else ())

    async def _legend(self, tenant_id: TenantId, record: Record) -> Mode | None:
        """Return the mode whose legend it carries on paper until its verdict."""
        mode = await modes.mode_of_legend(self._db, tenant_id, record)
        if mode is Mode.DEFERRED:
            found = await self._documents.xml(tenant_id, record.submission_id)
            return mode if is_deferred_in(found.content) else None
        return mode

    async def xml(self, call: Call) -> ApiReply:
        """Show the document: signed, or before that what the client sent as XML, or nothing yet."""
        record = await self._find(call)
        if record is None:
            return await self._not_found(call)
        found = await self._documents.xml(call.identity.tenant_id, record.submission_id)
        source = found.kind if found.kind == "signed" or record.format != "structured" else None
        answer: SubmissionXml = {
            "taxLogId": str(record.submission_id),
            "environment": record.environment,
            "status": record.status,
            "source": source,
            "xml": found.content.decode() if source else None,
        }
        return ApiReply(200, XML.write(answer), ARCHIVED if found.is_archived else ())

    async def timeline(self, call: Call) -> ApiReply:
        """List a submission's events, oldest first."""
        record = await self._find(call)
        if record is None:
            return await self._not_found(call)
        events = await self._db.run_for(call.identity.tenant_id, submissions.timeline, record.submission_id)
        answer: Timeline = {
            "taxLogId": str(record.submission_id),
            "environment": record.environment,
            "status": record.status,
            "events": [serialize_event(event) for event in events],
        }
        return ApiReply(200, TIMELINE.write(answer))

    async def history(self, call: Call) -> ApiReply:
        """List the tenant's submissions, newest first: one page and how many there are, or what follows a cursor."""
        query = read_history_query(call.query())
        tenant_id = call.identity.tenant_id
        if query.cursor is not None:
            found = await read_in_turn(
                self._db, self._lists, tenant_id, history.after, query.chosen, limit=query.limit, cursor=query.cursor
            )
        else:
            found = await read_in_turn(
                self._db,
                self._lists,
                tenant_id,
                history.page,
                query.chosen,
                limit=query.limit,
                offset=(query.page - 1) * query.limit,
                totals=self._totals,
                now=self._clock(),
            )
        await self._confirm(tenant_id, found.records)
        return list_reply(
            query,
            found.records,
            None if query.cursor is not None else found.total,
            serialize_item,
            attrgetter("submission_id"),
            PAGE,
            STRETCH,
            found.looked_until,
            call.language,
        )

    async def _confirm(self, tenant_id: TenantId, records: Sequence[Record]) -> None:
        """Confirm a list from which a client concludes that a receipt was taken in, or that it will not be sent.

        All other states were made by a worker, whose claim waited for the standby after the receipt, or come from the
        authority, which will say them again.
        """
        own = [record for record in records if record.status in (Status.QUEUED, Status.ERROR)]
        if own and not await self._db.confirmed_for(tenant_id, submissions.are_there, own):
            raise DatabaseUnavailable("another server took over, which does not know all of a list")

    async def _not_found(self, call: Call) -> ApiReply:
        """Answer {found: false}, with a hint where the id is an e-NCF or one of the client's own."""
        wanted, caller = call.params["track_or_id"], call.identity
        hint = None
        if _E_NCF.fullmatch(wanted):
            hint = say("looks-like-e-ncf")
        elif _REQUEST_ID.fullmatch(wanted):
            own = ClientRequestId(wanted)
            if await self._db.run_for(caller.tenant_id, tenant_context.is_known_request, caller.environment, own):
                hint = say("is-a-request-id")
        if hint is None:
            return ApiReply(200, _NOT_FOUND)
        return ApiReply(200, NOT_FOUND.write({"found": False, "hint": hint.said(call.language)}))

    async def _find(self, call: Call) -> Record | None:
        wanted = read_track_or_id(call.params["track_or_id"])
        if wanted is None:
            return None
        return await self._db.run_for(call.identity.tenant_id, submissions.find, wanted)

    async def _refuse_what_would_not_be_sent(
        self, new: NewSubmission, candidate: ToValidate, now: datetime
    ) -> list[Problem]:
        """Do what `strict: true` asks for. Gives the remarks."""
        try:
            return await self._submitting.require_sendable(new, candidate, now)
        except WouldNotBeSent as refused:
            problems = refused.problems
            raise ApiError(400, problems[0].text, problems=serialize_problems(problems)) from None


def _serialize_accepted(
    accepted: Accepted, caller: Caller, new: NewSubmission, warnings: list[Problem], language: Language
) -> AcceptedSubmission:
    shown = {
        "taxLogId": str(accepted.submission_id),
        "status": Status.QUEUED,
        "environment": caller.environment,
        "billable": caller.environment.billable,
        "message": say("taken-in").said(language),
        **serialize_facts(new.ecf_type, new.buyer_rnc, new.facts),
        "readyToPrint": False,
    }
    fields = cast(AcceptedSubmission, shown)
    if accepted.e_ncf is not None:
        fields["eNCF"] = accepted.e_ncf
    if all_warnings := [*warnings, *remarks(accepted)]:
        fields["warnings"] = serialize_problems(all_warnings, language)
    return fields


def _serialize_taken(
    accepted: Accepted, caller: Caller, new: NewSubmission, warnings: list[Problem], language: Language
) -> BatchItem:
    fields: AcceptedSubmission | Deduped
    if accepted.outcome == "deduped":
        status, fields = 200, _serialize_deduped(accepted, caller, new, language)
    else:
        status, fields = 202, _serialize_accepted(accepted, caller, new, warnings, language)
    return cast(BatchItem, {"statusCode": status, **fields})


def _serialize_deduped(accepted: Accepted, caller: Caller, new: NewSubmission, language: Language) -> Deduped:
    said = say("used-before" if accepted.body_matched else "used-before-for-another")
    fields: Deduped = {
        "taxLogId": str(accepted.submission_id),
        "status": accepted.status,
        "environment": caller.environment,
        "deduped": True,
        "bodyMatched": accepted.body_matched,
        "message": said.said(language),
    }
    if accepted.body_matched:
        fields = cast(Deduped, {**fields, **serialize_facts(new.ecf_type, new.buyer_rnc, new.facts)})
    if accepted.e_ncf is not None:
        fields["eNCF"] = accepted.e_ncf
    if new.remarks:
        fields["warnings"] = serialize_problems(new.remarks, language)
    return fields
