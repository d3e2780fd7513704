"""Invariants of modes and terms: I14 (alarms of the terms), I15 (deferred sending) and I16 (paper receipts)."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from fe.contingency import ALARMS, Clock
from fe.ecf.dates import read_moment
from fe.lifecycle import EventKind, Status
from tests.faults.history import History, by_submission

#: How long an intake may go on with an authorisation that has ended, and how far clocks of a run are apart.
GOES_ON = timedelta(seconds=33)
APART = timedelta(seconds=3)

_URGENT = ALARMS[Clock.SENDING][1]


def late_are_alarmed(history: History) -> Iterator[tuple[str, str]]:
    """I14: each document past its clock is counted by the gauge of the alarms, from the signature in its bytes."""
    signed: dict[object, datetime] = {}
    for row in history.database.submissions:
        at = None if row.signature_time is None else read_moment(row.signature_time)
        if at is not None:
            signed[row.submission_id] = at
    for sample in history.samples:
        late = [one for one in sample.waiting if one in signed and sample.at - signed[one] >= _URGENT]
        if len(late) > sample.urgent:
            yield str(late[0]), f"{len(late)} documents are late at {sample.at}, and the alarm counts {sample.urgent}"


def deferred_only_with_authorisation(history: History) -> Iterator[tuple[str, str]]:
    """I15: a document with IndicadorEnvioDiferido was taken in during an authorisation, or just after it."""
    events_of = by_submission(history.database.events)
    for row in history.database.submissions:
        if not row.is_deferred:
            continue
        taken = next((one.at for one in events_of.get(row.submission_id, ()) if one.kind == EventKind.ACCEPTED), None)
        if taken is not None and not any(
            (one.tenant_id, one.environment) == (row.tenant_id, row.environment)
            and one.began_at - APART <= taken
            and (one.ended_at is None or taken <= one.ended_at + GOES_ON)
            for one in history.database.deferrals
        ):
            yield str(row.submission_id), "deferred, and no authorisation was in force"


def paper_replaced_once(history: History) -> Iterator[tuple[str, str]]:
    """I16: of the e-CF that name a paper receipt in their bytes, the authority accepted at most one."""
    accepted = defaultdict[tuple[int, str, str], list[str | None]](list)
    for row in history.database.submissions:
        if row.replaces is not None and row.status in (Status.ACCEPTED, Status.CONDITIONAL):
            accepted[row.tenant_id, row.environment, row.replaces].append(row.e_ncf)
    for (_, _, ncf), numbers in accepted.items():
        if len(numbers) > 1:
            yield ncf, f"{len(numbers)} e-CF replace it: {numbers}"
