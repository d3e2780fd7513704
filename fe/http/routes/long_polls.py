"""Long polls: a status query that waits for the signature or the end of its submission."""

import math
from dataclasses import dataclass, field

import structlog
import trio

from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import FINAL
from fe.limits import ConcurrencyLimit, ShareTaken, TokenBucket
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import submissions
from fe.store.records.submissions import Record
from fe.store.records.verdict_notices import VerdictNotices

#: How often a waiting query is looked after, in case a notification was lost: at first, and at the longest.
_FIRST_LOOK, _MAX_LOOK = 0.5, 5.0
#: Seconds between two checks; all queries of a tenant that are due share one statement.
_LOOK_TOGETHER = 0.5
#: Of a signature there is no notice, and it comes soon: seconds until the first look, and between looks at the longest.
_FIRST_LOOK_SIGNED, _MAX_LOOK_SIGNED = 0.05, 1.0

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Wait:
    """One query that waits."""

    tenant_id: TenantId
    submission_id: SubmissionId
    #: When it is looked after next, and how long after that again.
    due: float
    look: float


@dataclass
class LongPolls:
    """Waits for verdicts. One per process."""

    db: Database
    verdicts: VerdictNotices
    #: Requests in work, by Authorization and by tenant. A query that waits is not in work.
    admission: ConcurrencyLimit[bytes | None]
    requests: ConcurrencyLimit[TenantId]
    #: Queries that wait. One that finds no slot is answered at once with the current state.
    slots: ConcurrencyLimit[TenantId]
    #: The rate of such answers per tenant.
    answers: TokenBucket[TenantId] | None
    _scopes: set[trio.CancelScope] = field(default_factory=set)
    #: In the order in which they came.
    _waits: dict[int, _Wait] = field(default_factory=dict)
    #: Set while queries wait: without any, nothing is checked.
    _has_come: trio.Event = field(default_factory=trio.Event)
    _ending: bool = False

    def require_patience(self, tenant_id: TenantId) -> None:
        """Raise ShareTaken for a tenant without a free slot that has had its rate of answers without a wait."""
        if not self.slots.fits(tenant_id):
            if self.slots.has_share(tenant_id):
                self.slots.count_refusal()
            if self.answers is not None and not self.answers.try_take(tenant_id, trio.current_time()):
                raise ShareTaken

    async def for_the_end(
        self, tenant_id: TenantId, record: Record, seconds: float, *, authorization: bytes, signed: bool = False
    ) -> Record:
        """Give the record as it is when the submission ends, or when `seconds` are over, or when we shut down.

        With `signed` as it is when it is signed, too. At once where all slots are taken, or those of this tenant.
        """

        def is_over() -> bool:
            return record.status in FINAL or (signed and record.signed_at is not None)

        if is_over() or self._ending or not self.slots.fits(tenant_id):
            return record
        look = _FIRST_LOOK_SIGNED if signed else math.inf
        with (
            self.slots.held(tenant_id),
            self.requests.paused(tenant_id),
            self.admission.paused(authorization),
            trio.move_on_after(seconds) as scope,
        ):
            self._scopes.add(scope)
            now = trio.current_time()
            wait = _Wait(tenant_id, record.submission_id, now + _FIRST_LOOK, _FIRST_LOOK)
            self._waits[id(wait)] = wait
            self._has_come.set()
            try:
                while not is_over():
                    # We listen before we look, so that a verdict which comes in between is not missed.
                    with self.verdicts.event(record.submission_id) as event:
                        found = await self.db.run_for(tenant_id, submissions.find, record.submission_id)
                        record = record if found is None else found
                        if not is_over():
                            with trio.move_on_after(look):
                                await event.wait()
                    look = min(look * 2, _MAX_LOOK_SIGNED) if signed else math.inf
            finally:
                del self._waits[id(wait)]
                self._scopes.discard(scope)
        return record

    def release(self) -> None:
        """Answer all waiting queries with the current state, and let no others wait: the process is shutting down."""
        self._ending = True
        for scope in self._scopes:
            scope.cancel()

    async def run(self) -> None:
        """Check queries whose notification may have been lost, all of a tenant in one statement, until cancelled."""
        while True:
            if not self._waits:
                self._has_come = trio.Event()
                await self._has_come.wait()
            await trio.sleep(_LOOK_TOGETHER)
            for tenant_id, submission_ids in self._due().items():
                try:
                    ended = await self.db.run_for(tenant_id, submissions.ended, sorted(submission_ids))
                except ANY_OF_THE_DATABASE as error:
                    _log.warning("nobody looked after long polls", error=error)  # it is their turn again
                else:
                    self.verdicts.wake(ended)

    def _due(self) -> dict[TenantId, set[SubmissionId]]:
        """The queries that are due, by tenant; each is due again after twice as long, up to the maximum."""
        now = trio.current_time()
        due: dict[TenantId, set[SubmissionId]] = {}
        for wait in self._waits.values():
            if wait.due <= now:
                wait.look = min(wait.look * 2, _MAX_LOOK)
                wait.due = now + wait.look
                due.setdefault(wait.tenant_id, set()).add(wait.submission_id)
        return due
