"""What a check finds, and for whom it is made."""

from dataclasses import dataclass
from enum import StrEnum

from fe.config import Settings
from fe.store.postgres.roles import FRONT, OPERATOR, PORTAL, READONLY, RECEPTION, WORKER, LoginRights


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
    """What is to work here: as in `fe run --role`, the command line, and `fe migrate`."""

    ALL = "all"
    HTTP = "http"
    ACTORS = "actors"
    RECEIVE = "receive"
    PORTAL = "portal"
    CLI = "cli"
    OWNER = "owner"


_TAKES = {
    Role.ALL: (FRONT, WORKER),
    Role.HTTP: (FRONT,),
    Role.ACTORS: (WORKER,),
    Role.RECEIVE: (RECEPTION,),
    Role.PORTAL: (PORTAL,),
    Role.CLI: (OPERATOR,),
    Role.OWNER: (),
}


def role_of_login(rights: LoginRights) -> Role:
    """Tell what is to work with a login, by what it may take."""
    ours = rights.roles - {READONLY}
    if rights.is_superuser:
        return Role.ALL
    if rights.is_owner and not ours:
        return Role.OWNER
    if PORTAL in ours and ours <= {PORTAL, OPERATOR}:
        return Role.PORTAL
    return next((role for role in Role if ours == set(_TAKES[role])), Role.ALL)


def takes(role: Role, settings: Settings) -> tuple[str, ...]:
    """Tell which roles each takes in the database: as `database_roles` of a process, and the command line its own."""
    found = list(_TAKES[role])
    if role is Role.ALL and settings.reception_bind:
        found.append(RECEPTION)
    if role is Role.ALL and settings.portal_bind:
        found.append(PORTAL)
    if PORTAL in found and settings.portal_operators:
        found.append(OPERATOR)
    return tuple(found)


def healthy(findings: list[Finding]) -> bool:
    """Tell whether the service may be expected to work."""
    return all(finding.state is not State.FAILED for finding in findings)
