"""The writers of a submission's outcomes: one table. Each calls one function of sql/functions/outbox."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import structlog

from fe.actors.outcomes import (
    Adopted,
    Decided,
    Failed,
    Intent,
    LostNumber,
    Processing,
    Received,
    SendAgain,
    Signed,
    Unresolved,
    codes_of,
)
from fe.ecf.ids import moment_of
from fe.identifiers import SubmissionId
from fe.lifecycle import Stage, Status
from fe.monitoring.metrics import Metrics
from fe.monitoring.submission_log import SILENT, SubmissionLog
from fe.monitoring.tracing import trace_id_of
from fe.queue.outcome import InDoubt, Outcome, Park, Retry, Writer
from fe.queue.stage import WorkKind
from fe.store.postgres.db import Conn
from fe.store.queue import claim, outbox, signed_by, steps
from fe.store.queue.outbox import Work
from fe.store.records import sequences

_log = structlog.get_logger(__name__)

Written = Sequence[Outcome | None]


def _apart(items: Sequence[tuple[Work, Any]]) -> tuple[list[Work], list[Any]]:
    return [work for work, _ in items], [outcome for _, outcome in items]


def _where_ours(outcomes: Sequence[Outcome], ours: Sequence[bool]) -> Written:
    return [outcome if is_ours else None for outcome, is_ours in zip(outcomes, ours, strict=True)]


def _on_record(outcomes: Sequence[Adopted | Decided], ours: Sequence[bool], at: datetime) -> Written:
    """Return the outcomes written, with the recorded moment, so that metrics agree with the database."""
    return [replace(outcome, at=at) if is_ours else None for outcome, is_ours in zip(outcomes, ours, strict=True)]


async def _signed(conn: Conn, items: Sequence[tuple[Work, Signed]], at: datetime) -> Written:
    works, outcomes = _apart(items)
    leases = [outcome.lease if outcome.then is not None else None for outcome in outcomes]
    answers = await steps.signed(conn, works, [outcome.document for outcome in outcomes], at=at, leases=leases)
    written: Mapping[str, Callable[[Signed], Outcome | None]] = {
        "going on": lambda outcome: outcome,
        "signed": lambda outcome: replace(outcome, then=None),
        "taken": lambda _: LostNumber(),
        "lost": lambda _: None,
    }
    return [written[answer](outcome) for answer, outcome in zip(answers, outcomes, strict=True)]


async def _intent(conn: Conn, items: Sequence[tuple[Work, Intent]], at: datetime) -> Written:
    works, outcomes = _apart(items)
    leases, digests = [outcome.lease for outcome in outcomes], [outcome.digest for outcome in outcomes]
    answers = await steps.intend_to_send(conn, works, at=at, leases=leases, digests=digests)
    said: Mapping[str, Callable[[Intent], Outcome | None]] = {
        "go": lambda outcome: outcome,
        "in doubt": lambda _: Unresolved(),
        "lost": lambda _: None,
    }
    return [said[answer](outcome) for answer, outcome in zip(answers, outcomes, strict=True)]


async def _received(conn: Conn, items: Sequence[tuple[Work, Received]], at: datetime) -> Written:
    works, outcomes = _apart(items)
    leases = [outcome.lease if outcome.then is not None else None for outcome in outcomes]
    answers = await _have_received(conn, works, outcomes, at, leases)
    written: Mapping[str, Callable[[Received], Outcome | None]] = {
        "going on": lambda outcome: replace(outcome, at=at),
        "received": lambda outcome: replace(outcome, at=at, then=None),
        "lost": lambda _: None,
    }
    return [written[answer](outcome) for answer, outcome in zip(answers, outcomes, strict=True)]


async def _adopted(conn: Conn, items: Sequence[tuple[Work, Adopted]], at: datetime) -> Written:
    works, outcomes = _apart(items)
    answers = await _have_received(conn, works, outcomes, at, [None] * len(works))
    return _on_record(outcomes, [answer != "lost" for answer in answers], at)


async def _have_received(
    conn: Conn,
    works: Sequence[Work],
    outcomes: Sequence[Received | Adopted],
    at: datetime,
    leases: Sequence[timedelta | None],
) -> Sequence[outbox.ReceivedAnswer]:
    return await outbox.received(
        conn,
        works,
        at=at,
        track_ids=[outcome.track_id for outcome in outcomes],
        afters=[outcome.after for outcome in outcomes],
        replies=[outcome.reply for outcome in outcomes],
        leases=leases,
    )


async def _processing(conn: Conn, items: Sequence[tuple[Work, Processing]], at: datetime) -> Written:
    works, outcomes = _apart(items)
    afters, responses = [outcome.after for outcome in outcomes], [outcome.response for outcome in outcomes]
    return _where_ours(outcomes, await outbox.processing(conn, works, at=at, afters=afters, responses=responses))


async def _send_again(conn: Conn, items: Sequence[tuple[Work, SendAgain]], at: datetime) -> Written:
    works, outcomes = _apart(items)
    afters, reasons = [outcome.after for outcome in outcomes], [outcome.reason for outcome in outcomes]
    return _where_ours(outcomes, await outbox.resend(conn, works, at=at, afters=afters, reasons=reasons))


R = TypeVar("R", Decided, Failed)


async def _looked_into(conn: Conn, items: Sequence[tuple[Work, R]]) -> Sequence[tuple[Work, R]]:
    """Add the signing process to each rejection, and pause the sequence of a number that another document has.

    Before the rejection is written. Rejections are rare, so one by one.
    """
    found = list(items)
    for n, (work, outcome) in enumerate(items):
        if not (outcome.taken or _is_rejected(outcome)):
            continue
        signer = await signed_by.signer_of(conn, work.tenant_id, work.subject)
        pauses = await sequences.pause_for(conn, work.tenant_id, work.subject) if outcome.taken else None
        found[n] = work, replace(outcome, signed_by=signer, pauses=pauses)
    return found


def _is_rejected(outcome: Decided | Failed) -> bool:
    """Whether the authority rejected or refused it."""
    if isinstance(outcome, Decided):
        return outcome.status is Status.REJECTED
    return bool(codes_of(outcome))


async def _decided(conn: Conn, items: Sequence[tuple[Work, Decided]], at: datetime) -> Written:
    works, outcomes = _apart(await _looked_into(conn, items))
    ours = await outbox.verdict(
        conn,
        works,
        at=at,
        statuses=[outcome.status for outcome in outcomes],
        track_ids=[outcome.track_id for outcome in outcomes],
        responses=[outcome.response for outcome in outcomes],
        fates=[outcome.fate for outcome in outcomes],
    )
    return _on_record(outcomes, ours, at)


async def _failed(conn: Conn, items: Sequence[tuple[Work, Failed]], at: datetime) -> Written:
    works, outcomes = _apart(await _looked_into(conn, items))
    responses, fates = [outcome.response for outcome in outcomes], [outcome.fate for outcome in outcomes]
    return _where_ours(outcomes, await outbox.failure(conn, works, at=at, responses=responses, fates=fates))


async def _in_doubt(conn: Conn, items: Sequence[tuple[Work, InDoubt]], at: datetime) -> Written:
    works, outcomes = _apart(items)
    afters, errors = [outcome.after for outcome in outcomes], [outcome.reason for outcome in outcomes]
    return _where_ours(outcomes, await outbox.doubt(conn, works, at=at, afters=afters, errors=errors))


async def _retry(conn: Conn, items: Sequence[tuple[Work, Retry]], at: datetime) -> Written:
    works, outcomes = _apart(items)
    ours = await outbox.retry(
        conn,
        works,
        at=at,
        afters=[outcome.after for outcome in outcomes],
        counts=[outcome.counts for outcome in outcomes],
        errors=[outcome.reason for outcome in outcomes],
    )
    return _where_ours(outcomes, ours)


async def _park(conn: Conn, items: Sequence[tuple[Work, Park]], at: datetime) -> Written:
    works, outcomes = _apart(items)
    errors = [outcome.reason for outcome in outcomes]
    return _where_ours(outcomes, await outbox.dead_letter(conn, works, at=at, errors=errors))


WRITERS: Mapping[type[Outcome], Writer[Work]] = {
    Signed: _signed,
    Intent: _intent,
    Received: _received,
    Adopted: _adopted,
    Processing: _processing,
    SendAgain: _send_again,
    Decided: _decided,
    Failed: _failed,
    InDoubt: _in_doubt,
    Retry: _retry,
    Park: _park,
}


def submission_kind(
    metrics: Metrics,
    ended: Callable[[SubmissionId], None] = lambda _: None,
    log: SubmissionLog = SILENT,
    *,
    traced: bool = False,
) -> WorkKind[Work]:
    """Return submissions as a kind of work. `ended` is called with each that has ended, for long polls.

    With `traced`, rows come with their trace context.
    """

    def seconds_until(subject: SubmissionId, at: datetime) -> float:
        return max((at - moment_of(subject)).total_seconds(), 0.0)

    def written(work: Work, outcome: Outcome) -> None:
        subject, environment, trace_id = work.subject, work.environment, trace_id_of(work.trace)
        if isinstance(outcome, Decided | Failed) and _is_rejected(outcome):
            metrics.rejections.count(environment, work.tenant_id, codes_of(outcome), outcome.signed_by)
            if outcome.pauses is not None:
                metrics.numbers_held_elsewhere.labels(environment).inc()
                _log.error(
                    "another document holds a number that a sequence gave",
                    submission=str(subject),
                    tenant_id=work.tenant_id,
                    environment=environment,
                    sequence=outcome.pauses,
                    runbook="numbers-held-elsewhere.md",
                )
        match outcome:
            case Received(at=datetime() as at) | Adopted(at=datetime() as at):
                metrics.observe_first_answer(environment, seconds_until(subject, at), str(subject))
                if isinstance(outcome, Received):
                    log.info(
                        "a submission was sent",
                        subject,
                        environment=environment,
                        track_id=outcome.track_id,
                        trace_id=trace_id,
                    )
            case Decided(status=status, ecf_type=ecf_type, at=datetime() as at):
                ended(subject)
                seconds = seconds_until(subject, at)
                if work.stage is not Stage.TRACK:  # a tracked one had its first answer at its receipt
                    metrics.observe_first_answer(environment, seconds, str(subject))
                metrics.observe_end(environment, status, ecf_type, seconds, str(subject), trace_id)
                log.info(
                    "a submission has its verdict",
                    subject,
                    environment=environment,
                    status=status,
                    seconds=round(seconds, 3),
                    trace_id=trace_id,
                )
            case Failed() | LostNumber():
                ended(subject)
                metrics.observe_end(environment, Status.ERROR, "unknown", None, str(subject))
                log.warn(
                    "a submission ended as an error",
                    subject,
                    environment=environment,
                    stage=work.stage,
                    trace_id=trace_id,
                )
            case Retry(reason=reason, counts=True):
                log.info(
                    "a submission will be tried again",
                    subject,
                    environment=environment,
                    stage=work.stage,
                    attempt=work.attempt,
                    reason=reason,
                    trace_id=trace_id,
                )
            case InDoubt(reason=reason):
                log.warn(
                    "it is not known whether a submission arrived",
                    subject,
                    environment=environment,
                    reason=reason,
                    trace_id=trace_id,
                )
            case Park(reason=reason):
                log.warn(
                    "a submission gave up and waits for an operator",
                    subject,
                    environment=environment,
                    stage=work.stage,
                    reason=reason,
                    trace_id=trace_id,
                )

    return WorkKind(
        outbox,
        WRITERS,
        are_open=outbox.have_open_sends,
        together=partial(claim.claim_together, traced=True) if traced else claim.claim_together,
        written=written,
        subject="submission",
        on_nodes=True,
    )
