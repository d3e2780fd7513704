"""Long polls: a status query that waits for the end of its submission."""

from dataclasses import dataclass, field

import trio

from fe.http.errors import ApiError
from fe.http.rate_limit import Buckets
from fe.http.server.admission import Admission
from fe.http.shares import RETRY_WHEN_FULL, Shares, too_many_requests
from fe.identifiers import TenantId
from fe.lifecycle import FINAL
from fe.store import submissions
from fe.store.postgres.db import Database
from fe.store.submissions import Record
from fe.store.verdict_notices import VerdictNotices

#: How often a waiting query looks by itself, in case a notification was lost: at first, and at the longest.
_FIRST_LOOK, _MAX_LOOK = 0.5, 5.0


@dataclass
class LongPolls:
    """Waits for verdicts. One per process."""

    db: Database
    verdicts: VerdictNotices
    admission: Admission
    #: Requests in work, by tenant: who waits is not in work.
    requests: Shares[TenantId]
    #: Slots to wait in; who finds none is answered at once with what there is.
    slots: Shares[TenantId]
    #: How often a second those of one tenant are answered who find none.
    answers: Buckets
    _scopes: set[trio.CancelScope] = field(default_factory=set)
    _ending: bool = False

    def require_patience(self, tenant_id: TenantId) -> None:
        """See that a query would find a slot, or an answer. Raises ApiError (429): to ask on and on is no wait."""
        if not self.slots.has_capacity(tenant_id):
            try:
                self.answers.take(str(tenant_id), trio.current_time())
            except ApiError:
                raise too_many_requests(RETRY_WHEN_FULL) from None  # and for that long it is refused unheard

    async def for_the_end(self, tenant_id: TenantId, record: Record, seconds: float, *, authorization: bytes) -> Record:
        """Give the record as it is when the submission ends, or when `seconds` are over, or when we shut down.

        At once where all slots are taken, or those of this tenant.
        """
        if record.status in FINAL or self._ending or not self.slots.has_room(tenant_id):
            return record
        with (
            self.slots.held(tenant_id),
            self.requests.released(tenant_id),
            self.admission.waiting(authorization),
            trio.move_on_after(seconds) as scope,
        ):
            self._scopes.add(scope)
            try:
                look = _FIRST_LOOK
                while record.status not in FINAL:
                    # We listen before we look, so that a verdict which comes in between is not missed.
                    with self.verdicts.event(record.submission_id) as event:
                        found = await self.db.run_for(tenant_id, submissions.find, record.submission_id)
                        record = record if found is None else found
                        if record.status not in FINAL:
                            with trio.move_on_after(look):
                                await event.wait()
                    look = min(look * 2, _MAX_LOOK)
            finally:
                self._scopes.discard(scope)
        return record

    def release(self) -> None:
        """Answer everybody who waits with what there is, and let nobody wait any more: we are shutting down."""
        self._ending = True
        for scope in self._scopes:
            scope.cancel()
