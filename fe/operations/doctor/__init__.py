"""Looking a deployment over: what has to hold for the service to work here, and what to do where it does not.

Nothing is changed, neither in the database nor at the authority. Each check says one thing; one that cannot be made
because of another is left out with its reason, so that the first line that is wrong is the one to begin with.
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
    """Make every check in turn. `settings` name a database. Raises nothing that a check could say instead.

    The database is asked by blocking calls: nothing else runs beside this. `tls` is how the authority is recognised;
    without it by the certificates that this machine trusts. Without a role it is that of the database's login.
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
