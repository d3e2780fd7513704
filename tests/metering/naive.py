"""A model of a tenant's usage as plain lists: slow, short, and written apart from sql/."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId
from fe.lifecycle import Status


@dataclass
class Document:
    """One submission: what happened to it, and when."""

    subject: SubmissionId
    environment: Environment
    submitted_at: datetime
    place: str = "waiting"
    answered_at: datetime | None = None
    verdict_at: datetime | None = None
    failed_at: datetime | None = None
    status: Status = Status.QUEUED

    @property
    def ended_at(self) -> datetime | None:
        return self.verdict_at or self.failed_at


def utc_day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def p95(latencies: Iterable[float]) -> float:
    """The least value up to which 95 of 100 lie."""
    ordered = sorted(latencies)
    return ordered[math.ceil(len(ordered) * 0.95) - 1]


def days_of(documents: Iterable[Document], until: date) -> dict[tuple[date, str], dict[str, Any]]:
    """Return what GET /usage should report before `until`, without requests; latencies are lists of milliseconds."""
    found: dict[tuple[date, str], dict[str, Any]] = {}

    def day(moment: datetime, document: Document) -> dict[str, Any]:
        names = ("submitted", "accepted", "conditional", "rejected", "pending")
        fresh: dict[str, Any] = {**dict.fromkeys(names, 0), "latencies": []}
        return found.setdefault((utc_day(moment), document.environment.value), fresh)

    verdicts = {Status.ACCEPTED: "accepted", Status.CONDITIONAL: "conditional", Status.REJECTED: "rejected"}
    for document in documents:
        submitted = day(document.submitted_at, document)
        submitted["submitted"] += 1
        if document.ended_at is None or utc_day(document.ended_at) > utc_day(document.submitted_at):
            submitted["pending"] += 1
        if document.verdict_at is not None:
            day(document.verdict_at, document)[verdicts[document.status]] += 1
        if document.answered_at is not None:
            milliseconds = (document.answered_at - document.submitted_at).total_seconds() * 1000
            day(document.answered_at, document)["latencies"].append(milliseconds)
    return {key: value for key, value in found.items() if key[0] < until}
