"""Looking a deployment over: what has to hold for the service to work here, and what to do where it does not.

Nothing is changed, neither in the database nor at the authority. Each check says one thing; one that cannot be made
because of another is left out with its reason, so that the first line that is wrong is the one to begin with.
"""

import resource
import shutil
import socket
import ssl
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path
from time import monotonic

import httpx
import psycopg

from fe.authority.hosts import Hosts, Operation
from fe.authority.transport import default_tls
from fe.clock import Clock
from fe.config import ConfigError, Settings, is_loopback, require
from fe.ecf.catalogue import Environment
from fe.hsm import open_vault, require_usable
from fe.start_checks import require_startable
from fe.store.postgres.errors import StoreError, words
from fe.store.postgres.migrate import missing_migrations, verify
from fe.store.postgres.roles import FRONT, OPERATOR, WORKER
from fe.vault import Tampered, Vault

#: How far clocks may differ before somebody should look (ops/runbooks/clock-skew.md), and before tokens fail.
_SKEW = timedelta(seconds=2)
_TOKEN_SKEW = timedelta(seconds=30)
#: A certifier needs days to issue a new certificate.
_EXPIRES_SOON = timedelta(days=30)
#: Room on a disk: below the first somebody should look, below the second writing fails soon.
_ROOM, _NO_ROOM = 2 * 1024**3, 256 * 1024**2
#: Files a process opens beside its clients' connections.
_OTHER_FILES = 128
_OLDEST_SERVER = 150000


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


_TAKES = {Role.ALL: (FRONT, WORKER), Role.HTTP: (FRONT,), Role.ACTORS: (WORKER,), Role.CLI: (OPERATOR,)}


async def examine(
    settings: Settings, role: Role, environment: Environment, *, clock: Clock, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Finding]:
    """Make every check in turn. `settings` name a database. Raises nothing that a check could say instead.

    The database is asked by blocking calls: nothing else runs beside this. `tls` is how the authority is recognised;
    without it by the certificates that this machine trusts.
    """
    yield _settings(settings)
    yield _secrets(settings, role)
    if role is not Role.CLI:
        yield _listeners(settings)
    yield _files(settings)
    yield _disk("disk", settings.data_dir)
    for finding in _database(settings, role, clock):
        yield finding
    if role in (Role.ALL, Role.ACTORS):
        async for finding in _authority(settings, environment, clock, tls or default_tls()):
            yield finding


def _settings(settings: Settings) -> Finding:
    try:
        require_startable(settings)
    except ConfigError as wrong:
        return Finding("settings", State.FAILED, str(wrong), "change what the line names: docs/configuration.md")
    if settings.development:
        return Finding("settings", State.WARNING, "in order, for development", "leave FE_DEVELOPMENT out in production")
    return Finding("settings", State.OK, "in order")


def _secrets(settings: Settings, role: Role) -> Finding:
    try:
        if role in (Role.ALL, Role.HTTP):
            require(settings.jwt_keys, "FE_JWT_KEYS")
        if role is not Role.ACTORS:
            require(settings.api_key_pepper, "FE_API_KEY_PEPPER")
        if role is not Role.HTTP:
            require_usable(open_vault(settings))
    except ConfigError as wrong:
        return Finding(
            "secrets", State.FAILED, str(wrong), "docs/operations.md, Who is given what, has a file for each role"
        )
    if role is Role.HTTP and settings != settings.without_key_encryption_key():
        return Finding(
            "secrets",
            State.WARNING,
            "the front is given the key-encryption key, which it does not need",
            "take FE_KEK, FE_KEK_FILE and FE_PKCS11_* out of its environment",
        )
    return Finding("secrets", State.OK, "all that this role needs are there")


def _listeners(settings: Settings) -> Finding:
    """See who else may hear what is said in clear text: TLS ends before us, so what we listen on is inside."""
    open_ones = [
        name
        for name, bind in (
            ("FE_HTTP_BIND", settings.http_bind),
            ("FE_RECEPTION_BIND", settings.reception_bind),
            ("FE_METRICS_BIND", settings.metrics_bind),
        )
        if bind and not is_loopback(bind.rpartition(":")[0])
    ]
    if open_ones:
        return Finding(
            "listeners",
            State.WARNING,
            f"{' and '.join(open_ones)}: other machines are served in clear text",
            "let only the proxy that speaks TLS, and Prometheus, reach them, over a network that is theirs alone",
        )
    return Finding("listeners", State.OK, "only this machine is served in clear text")


def _files(settings: Settings) -> Finding:
    allowed, needed = resource.getrlimit(resource.RLIMIT_NOFILE)[0], settings.max_connections + _OTHER_FILES
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        return Finding(
            "open files",
            State.WARNING,
            f"{allowed} may be open, and FE_MAX_CONNECTIONS with what else there is may come to {needed}",
            f"LimitNOFILE={needed} in the unit, or fewer FE_MAX_CONNECTIONS",
        )
    return Finding("open files", State.OK, f"{allowed} may be open")


def _disk(check: str, path: Path) -> Finding:
    there = path.resolve()
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    says = f"{free / 1024**3:.1f} GiB free at {there}"
    if free < _NO_ROOM:
        return Finding(check, State.FAILED, says, "make room: logs and the embedded database cannot be written")
    if free < _ROOM:
        return Finding(check, State.WARNING, says, "make room before it is full")
    return Finding(check, State.OK, says)


def _database(settings: Settings, role: Role, clock: Clock) -> list[Finding]:
    assert settings.database_url is not None
    found: list[Finding] = []
    dsn = settings.database_url
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as conn, conn.transaction():
            conn.execute("SET TRANSACTION READ ONLY")
            found += [_server(conn), _login(conn, role), _clock_of_database(conn, clock)]
            found.append(_migrations(conn))
    except psycopg.Error as error:
        return [
            *found,
            Finding(
                "database",
                State.FAILED,
                words(error),
                "see that FE_DATABASE_URL names it, that it runs, and that it lets this machine in (pg_hba.conf)",
            ),
        ]
    if found[-1].state is State.FAILED:
        return [
            *found,
            *(Finding(check, State.SKIPPED, "after the migrations") for check in ("rights", "certificates")),
        ]
    with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as conn:
        found.append(_left_to_everybody(conn))
    for taken in _TAKES[role]:
        found.append(_rights(dsn, taken, settings))
    found.append(
        _writing(dsn) if role in (Role.ALL, Role.HTTP) else Finding("writing", State.SKIPPED, "the front asks")
    )
    if role is not Role.HTTP:
        found.append(_certificates(dsn, settings, _TAKES[role][-1], clock()))
    return found


def _server(conn: psycopg.Connection) -> Finding:
    version = conn.info.server_version
    standby = conn.execute("SELECT pg_is_in_recovery(), current_setting('synchronous_commit')").fetchone()
    assert standby is not None
    says = f"Postgres {version // 10000}.{version % 10000} answers"
    if version < _OLDEST_SERVER:
        return Finding("database", State.FAILED, says, "this release needs Postgres 15 or newer")
    if standby[0]:
        return Finding("database", State.FAILED, f"{says} and is a standby", "name the primary in FE_DATABASE_URL")
    if standby[1] == "off":
        return Finding(
            "database",
            State.FAILED,
            f"{says}, with synchronous_commit off: what was accepted may be lost in a crash",
            "ALTER SYSTEM SET synchronous_commit = on",
        )
    return Finding("database", State.OK, says)


_ABOVE = """
    SELECT rolsuper, rolbypassrls, rolcreaterole,
           (SELECT count(*) FROM pg_roles AS r
             WHERE r.rolname IN ('fe_front', 'fe_worker', 'fe_operator') AND pg_has_role(session_user, r.oid, 'MEMBER'))
      FROM pg_roles WHERE rolname = session_user
"""


def _login(conn: psycopg.Connection, role: Role) -> Finding:
    row = conn.execute(_ABOVE).fetchone()
    assert row is not None
    is_super, bypasses, makes_roles, takes = row
    login = conn.info.user
    if is_super or bypasses or makes_roles:
        which = "a superuser" if is_super else "above row-level security" if bypasses else "one that makes roles"
        return Finding(
            "login",
            State.WARNING,
            f"the login {login} is {which}: what holds tenants apart in the database does not hold it",
            "give each kind of process a login of its own: docs/operations.md, Who logs in to the database",
        )
    if takes > len(_TAKES[role]):
        return Finding(
            "login",
            State.WARNING,
            f"the login {login} may take {takes} roles: RESET ROLE would lead from one to the other",
            "give each kind of process a login of its own: docs/operations.md, Who logs in to the database",
        )
    return Finding("login", State.OK, f"{login} may take no more than it needs")


_LEFT = """
    SELECT has_database_privilege('fe_readonly', current_database(), 'TEMPORARY'),
           has_function_privilege('fe_readonly', 'pg_catalog.lo_create(oid)', 'EXECUTE')
"""


def _left_to_everybody(conn: psycopg.Connection) -> Finding:
    """See that what a server lets everybody do was taken away, as far as the migration could (sql/0016_guards.sql)."""
    row = conn.execute(_LEFT).fetchone()
    assert row is not None
    remedies = [
        *(["REVOKE TEMPORARY ON DATABASE ... FROM PUBLIC, as its owner"] if row[0] else []),
        *(["the REVOKE for large objects of docs/operations.md, as an administrator"] if row[1] else []),
    ]
    if remedies:
        says = "every login may make temporary tables or large objects, outside every policy"
        return Finding("server's own rights", State.WARNING, says, " and ".join(remedies))
    return Finding("server's own rights", State.OK, "no temporary tables, no large objects")


def _clock_of_database(conn: psycopg.Connection, clock: Clock) -> Finding:
    before = clock()
    row = conn.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    ahead = before + (clock() - before) / 2 - row[0]
    return _skew("clock (database)", ahead, "the database's")


def _skew(check: str, ahead: timedelta, whose: str, *, grain: timedelta = timedelta(0)) -> Finding:
    """Tell how far our clock is ahead of another, which may itself be told no finer than `grain`."""
    says = f"ours is {ahead.total_seconds():+.1f} s from {whose}"
    if abs(ahead) <= _SKEW + grain:
        return Finding(check, State.OK, says)
    state = State.WARNING if abs(ahead) <= _TOKEN_SKEW else State.FAILED
    return Finding(check, state, says, "see which of the two is wrong, and keep it: ops/runbooks/clock-skew.md")


def _migrations(conn: psycopg.Connection) -> Finding:
    try:
        missing = missing_migrations(conn)
    except StoreError as wrong:
        return Finding("migrations", State.FAILED, str(wrong), "run what the line says, as the owner")
    if missing:
        says = f"{len(missing)} are still to be run, first {missing[0]}"
        return Finding("migrations", State.FAILED, says, "run `fe migrate` as the owner (docs/operations.md)")
    return Finding("migrations", State.OK, "all of this release are applied")


def _rights(dsn: str, role: str, settings: Settings) -> Finding:
    try:
        verify(dsn, role, connections=settings.database_connections)
    except StoreError as wrong:
        return Finding(f"rights ({role})", State.FAILED, str(wrong), "let an administrator run what the line says")
    return Finding(f"rights ({role})", State.OK, "the login takes it, and row-level security holds it")


def _writing(dsn: str) -> Finding:
    """See that a row can be written, and leave none: what a full disk or a standby would refuse."""
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as conn, conn.transaction(force_rollback=True):
            conn.execute("SELECT set_config('role', %s, true)", (FRONT,))
            conn.execute("SELECT probe_writing(gen_random_uuid())")
    except psycopg.Error as error:
        return Finding("writing", State.FAILED, words(error), "see to the room on the database's disks")
    return Finding("writing", State.OK, "a row can be written")


_CERTIFICATES = "SELECT p12, not_after, retired_at IS NULL FROM certificates"


def _certificates(dsn: str, settings: Settings, role: str, now: datetime) -> Finding:
    """See that what tenants sign with is valid, and that the keys that open it are here. Counts only: no tenant."""
    lacking: Counter[str] = Counter()
    expired = soon = total = broken = 0
    try:
        keks = set(open_vault(settings).key_ids)
        with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as conn, conn.transaction():
            conn.execute("SET TRANSACTION READ ONLY")
            conn.execute("SELECT set_config('role', %s, true)", (role,))
            for p12, not_after, in_use in conn.execute(_CERTIFICATES):
                total += in_use
                expired += in_use and not_after <= now
                soon += in_use and now < not_after <= now + _EXPIRES_SOON
                try:
                    kek = Vault.kek_of(bytes(p12))
                except Tampered:
                    broken += 1
                else:
                    lacking[kek] += kek not in keks
    except (psycopg.Error, ConfigError) as error:
        return Finding("certificates", State.FAILED, words(error), "see to what the line says, and look again")
    missing = ", ".join(sorted(kek for kek, count in lacking.items() if count))
    if missing or broken:
        says = f"{lacking.total()} need keys that are not configured ({missing or 'none'}), {broken} are damaged"
        return Finding(
            "certificates", State.FAILED, says, "add the missing keys to FE_KEK: ops/runbooks/rotate-secrets.md"
        )
    says = f"{total} in use; {expired} have expired, {soon} will within {_EXPIRES_SOON.days} days"
    if expired or soon:
        return Finding("certificates", State.WARNING, says, "ops/runbooks/certificate-expiry.md")
    return Finding("certificates", State.OK, says)


async def _authority(
    settings: Settings, environment: Environment, clock: Clock, tls: ssl.SSLContext
) -> AsyncIterator[Finding]:
    try:
        hosts = Hosts(settings.authority_ecf_url, settings.authority_fc_url, settings.authority_status_url)
    except ValueError as wrong:
        yield Finding("authority", State.FAILED, str(wrong), "change FE_AUTHORITY_*_URL")
        return
    where = hosts.locate(Operation.SEED, environment)
    url = f"{'https' if where.origin.tls else 'http'}://{where.origin.authority}{where.target}"
    started = monotonic()
    try:
        async with httpx.AsyncClient(verify=tls, trust_env=False, timeout=settings.authority_timeout) as client:
            before = clock()
            async with client.stream("GET", url, headers={"User-Agent": "fe"}) as reply:
                halfway = before + (clock() - before) / 2
    except (httpx.HTTPError, OSError) as away:
        says = f"{where.origin.authority} cannot be reached: {words(away)}"
        yield Finding("authority", State.FAILED, says, _why(where.origin.host))
        return
    says = f"{where.origin.authority} ({environment.value}) answers with {reply.status_code}"
    if reply.status_code != httpx.codes.OK:
        yield Finding("authority", State.WARNING, says, "ops/runbooks/authority-down.md")
    else:
        yield Finding("authority", State.OK, f"{says}, in {(monotonic() - started) * 1000:.0f} ms")
    try:
        theirs = parsedate_to_datetime(reply.headers["date"]).astimezone(UTC)
    except (KeyError, ValueError):
        yield Finding("clock (authority)", State.SKIPPED, "its answer has no Date")
        return
    # A Date is told in whole seconds, cut off.
    yield _skew("clock (authority)", halfway - theirs, "the authority's", grain=timedelta(seconds=1))


def _why(host: str) -> str:
    """Tell the commonest reasons apart: no name, or no way."""
    try:
        socket.getaddrinfo(host, None)
    except OSError:
        return "its name does not resolve here: see to DNS"
    return "see to the way out (firewall, proxy, CA certificates); then ops/runbooks/authority-down.md"


def healthy(findings: list[Finding]) -> bool:
    """Tell whether the service may be expected to work."""
    return all(finding.state is not State.FAILED for finding in findings)
