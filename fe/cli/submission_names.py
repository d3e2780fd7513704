"""Which submission an operator means: by its taxLogId, its trackId, its e-NCF, or what its client calls it."""

from fe.cli.failures import Failure
from fe.identifiers import SubmissionId
from fe.lifecycle import Status
from fe.store.postgres.db import Database
from fe.store.records import label_lookup as named

#: Whose number is free again.
_WITHOUT_NUMBER = frozenset({Status.REJECTED, Status.ERROR})


async def submission_named(db: Database, name: str) -> SubmissionId:
    """Find the one that is meant. Raises Failure when there is none, or when only a person can tell which.

    A number may be several submissions': meant is the one that has it, where the others were refused.
    """
    found = await db.run(named.named, name)
    if not found:
        raise Failure(f"there is no submission {name}")
    holders = [one for one in found if one.status not in _WITHOUT_NUMBER]
    if len(found) == 1 or len(holders) == 1:
        return (holders or found)[0].subject
    every = ", ".join(f"{one.subject} of {one.tenant} ({one.environment}, {one.status})" for one in found)
    raise Failure(f"{name} is {len(found)} submissions', say which by its taxLogId: {every}")
