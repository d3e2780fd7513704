"""Submissions over HTTP: handing one in, asking after it, fetching its XML, and the history."""

from datetime import datetime
from functools import partial
from typing import Any

import trio

from fe.clock import Clock
from fe.flows.accept import accept, prepare
from fe.http.envelopes import NewInvoice
from fe.http.parameters import read_history_query, read_track_or_id
from fe.http.reading import read_body
from fe.http.shown import show_item, show_record
from fe.http.wire import Call, Caller, Reply
from fe.metrics import Metrics
from fe.store import submissions
from fe.store.db import Database
from fe.store.submissions import Accepted, NewSubmission, Record
from fe.store.wakeups import Wakeups

#: Bodies above this are read in a thread: parsing them would hold up everybody else's requests.
_LARGE = 64 * 1024
_NOT_FOUND = {"found": False}


class Invoices:
    """The handlers of /invoices."""

    def __init__(self, db: Database, wakeups: Wakeups, clock: Clock, metrics: Metrics) -> None:
        self._db = db
        self._wakeups = wakeups
        self._clock = clock
        self._metrics = metrics
        self._readers = trio.CapacityLimiter(2)

    async def create(self, call: Call) -> Reply:
        """Take a submission in: 202, or 200 with the first one when its clientRequestId was used before."""
        caller = call.identity
        raw = await call.body()
        now = self._clock()
        if len(raw) > _LARGE:
            new = await trio.to_thread.run_sync(partial(_read, raw, caller, now), limiter=self._readers)
        else:
            new = _read(raw, caller, now)
        # A client that leaves cancels this handler at its next checkpoint. Before the commit nothing has happened;
        # after it the submission goes its way, and a repeat with the same clientRequestId is told of it.
        accepted = await accept(self._db, self._wakeups, new, now)
        if accepted.outcome == "deduped":
            self._metrics.deduped.labels("same" if accepted.body_matched else "different").inc()
            return Reply(200, _show_deduped(accepted, caller))
        self._metrics.accepted.labels(caller.environment, new.format).inc()
        return Reply(202, _show_accepted(accepted, caller))

    async def show(self, call: Call) -> Reply:
        """Show a submission by taxLogId or trackId; what matches nothing is 200 {found: false}."""
        record = await self._find(call)
        return Reply(200, _NOT_FOUND if record is None else show_record(record))

    async def xml(self, call: Call) -> Reply:
        """Show the document: signed, or before that what the client sent as XML, or nothing yet."""
        record = await self._find(call)
        if record is None:
            return Reply(200, _NOT_FOUND)
        kind, content = await self._db.run(submissions.xml, call.identity.tenant_id, record.submission_id)
        source = kind if kind == "signed" or record.format == "xml" else None
        return Reply(
            200,
            {
                "taxLogId": str(record.submission_id),
                "environment": record.environment,
                "status": record.status,
                "source": source,
                "xml": content.decode() if source else None,
            },
        )

    async def history(self, call: Call) -> Reply:
        """List the tenant's submissions, newest first."""
        query = read_history_query(call.query())
        page = await self._db.run(
            submissions.history,
            call.identity.tenant_id,
            limit=query.limit,
            offset=(query.page - 1) * query.limit,
            since=query.since,
            until=query.until,
        )
        return Reply(
            200,
            {
                "page": query.page,
                "limit": query.limit,
                "total": page.total,
                "items": [show_item(record) for record in page.items],
            },
        )

    async def _find(self, call: Call) -> Record | None:
        wanted = read_track_or_id(call.params["track_or_id"])
        if wanted is None:
            return None
        return await self._db.run(submissions.find, call.identity.tenant_id, wanted)


def _read(raw: bytes, caller: Caller, now: datetime) -> NewSubmission:
    draft = read_body(NewInvoice, raw).as_draft()
    return prepare(draft, caller.tenant_id, caller.environment, caller.api_key_id, now)


def _show_accepted(accepted: Accepted, caller: Caller) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "taxLogId": str(accepted.submission_id),
        "status": accepted.status,
        "environment": caller.environment,
        "billable": caller.environment.billable,
        "message": "Accepted for processing. Ask GET /invoices/{taxLogId} for the verdict.",
    }
    if accepted.e_ncf is not None:
        shown["eNCF"] = accepted.e_ncf
    return shown


def _show_deduped(accepted: Accepted, caller: Caller) -> dict[str, Any]:
    same = "" if accepted.body_matched else " Its body was another one; the first is what counts."
    shown: dict[str, Any] = {
        "taxLogId": str(accepted.submission_id),
        "status": accepted.status,
        "environment": caller.environment,
        "deduped": True,
        "bodyMatched": accepted.body_matched,
        "message": f"This clientRequestId was used before; nothing was processed again.{same}",
    }
    if accepted.e_ncf is not None:
        shown["eNCF"] = accepted.e_ncf
    return shown
