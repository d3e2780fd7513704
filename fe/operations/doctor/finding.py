"""What a check finds, and for whom it is made."""

from dataclasses import dataclass
from enum import StrEnum

from fe.store.postgres.roles import FRONT, OPERATOR, WORKER


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `remedy` says what to do about it, and is empty where there is nothing to do."""

    check: str
    state: State
    says: str
    remedy: str = ""


class Role(StrEnum):
    """What is to work here: as in `fe run --role`, and the command line."""

    ALL = "all"
    HTTP = "http"
    ACTORS = "actors"
    CLI = "cli"


#: The roles that each takes in the database.
TAKES = {Role.ALL: (FRONT, WORKER), Role.HTTP: (FRONT,), Role.ACTORS: (WORKER,), Role.CLI: (OPERATOR,)}


def healthy(findings: list[Finding]) -> bool:
    """Tell whether the service may be expected to work."""
    return all(finding.state is not State.FAILED for finding in findings)
