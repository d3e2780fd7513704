"""Result of a check, and the role that it is made for."""

from dataclasses import dataclass
from enum import StrEnum

from fe.config import Settings
from fe.store.postgres.roles import FRONT, OPERATOR, PORTAL, READONLY, RECEPTION, SHARE, WORKER, LoginRights


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check; `remedy` says what to do, or is empty."""

    check: str
    state: State
    says: str
    remedy: str = ""


class Role(StrEnum):
    """Role to check: as in `fe run --role`, the command line, or `fe migrate`."""

    ALL = "all"
    HTTP = "http"
    ACTORS = "actors"
    RECEIVE = "receive"
    PORTAL = "portal"
    SHARE = "share"
    CLI = "cli"
    OWNER = "owner"


_TAKES = {
    Role.ALL: (FRONT, WORKER),
    Role.HTTP: (FRONT,),
    Role.ACTORS: (WORKER,),
    Role.RECEIVE: (RECEPTION,),
    Role.PORTAL: (PORTAL,),
    Role.SHARE: (SHARE,),
    Role.CLI: (OPERATOR,),
    Role.OWNER: (),
}


def role_of_login(rights: LoginRights) -> Role:
    """Derive the role from the login's rights."""
    ours = rights.roles - {READONLY}
    if rights.is_superuser:
        return Role.ALL
    if rights.is_owner and not ours:
        return Role.OWNER
    if PORTAL in ours and ours <= {PORTAL, OPERATOR}:
        return Role.PORTAL
    return next((role for role in Role if ours == set(_TAKES[role])), Role.ALL)


def takes(role: Role, settings: Settings) -> tuple[str, ...]:
    """Return the database roles of each role, as `database_roles` of a process, and of the command line."""
    found = list(_TAKES[role])
    if role is Role.ALL and settings.reception_bind:
        found.append(RECEPTION)
    if role is Role.ALL and settings.portal_bind:
        found.append(PORTAL)
    if role is Role.ALL and settings.share_bind:
        found.append(SHARE)
    if PORTAL in found and settings.portal_operators:
        found.append(OPERATOR)
    return tuple(found)


def healthy(findings: list[Finding]) -> bool:
    """Return whether the service can be expected to work."""
    return all(finding.state is not State.FAILED for finding in findings)
