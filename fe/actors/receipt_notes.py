"""Notes wait for the verdict of the receipt that they modify: sent earlier, they are rejected (code 614).

Invoice and note may be submitted within a second, or wait together for the authority (authority.md#types, "Notes and
references"). A receipt issued elsewhere is unknown here, and no note waits for it.
"""

from datetime import timedelta

from fe.ecf.modified import number_modified_in
from fe.identifiers import SubmissionId
from fe.queue.outcome import Retry
from fe.store.postgres.db import Database
from fe.store.queue.inputs import OutgoingDocument
from fe.store.queue.outbox import Work
from fe.store.records import numbers

#: A row that waits is tried again after an eighth of the time that it has waited.
_SHARE = 8
_SOONEST, _LATEST = timedelta(seconds=1), timedelta(seconds=60)


async def undecided_receipt(db: Database, work: Work, document: OutgoingDocument) -> SubmissionId | None:
    """Return the submission whose verdict a signed document has to wait for, if there is one.

    Cancelled, nothing has happened.
    """
    number = number_modified_in(document.content)
    if number is None:
        return None
    return await db.run(numbers.undecided, work, number, document.issuer_rnc)


def gap_after(waited: timedelta) -> timedelta:
    """Return how long to wait again after having waited this long."""
    return min(max(waited / _SHARE, _SOONEST), _LATEST)


def wait_for(receipt: SubmissionId, waited: timedelta) -> Retry:
    """Return a retry that counts no failure."""
    reason = f"waits for the verdict of the receipt that it modifies, taxLogId {receipt}"
    return Retry(reason, gap_after(waited), counts=False, name="given back")
