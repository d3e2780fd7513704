"""Checks of a deployment, each with advice.

Nothing is changed, in the database or at the authority. A check that depends on a failed one is skipped with the
reason, so the first failure is the one to fix first.
"""

import ssl
from collections.abc import AsyncIterator

from fe.clock import Clock
from fe.config import Settings
from fe.ecf.catalogue import Environment
from fe.egress.tls import default_tls
from fe.operations.doctor.authority import check_authority
from fe.operations.doctor.configuration import check_listeners, check_secrets, check_settings, check_trust
from fe.operations.doctor.database import check_database, infer_role
from fe.operations.doctor.finding import Finding, Role, State, healthy
from fe.operations.doctor.machine import check_disk, check_files

__all__ = ["Finding", "Role", "State", "examine", "healthy"]


async def examine(
    settings: Settings, role: Role | None, environment: Environment, *, clock: Clock, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Finding]:
    """Run every check in turn. `settings` name a database. Failures become findings, not exceptions.

    Database calls block: nothing else runs meanwhile. `tls` verifies the authority; default: this machine's trusted
    certificates. Without a role it is derived from the database's login.
    """
    if role is None:
        found, role = infer_role(settings)
        yield found
        if role is None:
            return
    yield check_settings(settings, role)
    yield check_secrets(settings, role)
    if role not in (Role.CLI, Role.OWNER):
        yield check_listeners(settings)
    if role in (Role.ALL, Role.ACTORS, Role.RECEIVE):
        yield check_trust(settings)
    yield check_files(settings)
    yield check_disk("disk", settings.data_dir)
    for finding in check_database(settings, role, clock):
        yield finding
    if role in (Role.ALL, Role.ACTORS):
        async for finding in check_authority(settings, environment, clock, tls or default_tls()):
            yield finding
