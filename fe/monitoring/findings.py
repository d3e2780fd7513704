"""Measurements of one process since it last recorded the status of the service (service_status.py)."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(slots=True)
class Measurements:
    """The latest measurements of a process; None: there was none."""

    #: How late the oldest due row of each stage and environment is, in seconds.
    late: Mapping[tuple[str, ...], float] | None = None
    #: How late the oldest due webhook is, in seconds, of endpoints that answer.
    webhooks_late: float | None = None
    #: Whether the database takes a front's writes.
    writable: bool | None = None
    #: Requests to submit, and those of them that ended with 5xx.
    handled: int = 0
    failed: int = 0
