"""Check the authority: do both hosts answer, and is its clock close to ours?"""

import socket
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from time import monotonic

import httpx

from fe.authority.hosts import Host, Hosts, Location, Operation
from fe.clock import Clock
from fe.config import Settings
from fe.ecf.catalogue import Environment
from fe.operations.doctor.clocks import skew
from fe.operations.doctor.finding import Finding, State
from fe.store.postgres.errors import words


async def check_authority(
    settings: Settings, environment: Environment, clock: Clock, tls: ssl.SSLContext
) -> AsyncIterator[Finding]:
    """Ask the authority for a seed and its time; then check the host of summaries."""
    try:
        hosts = Hosts(settings.authority_ecf_url, settings.authority_fc_url, settings.authority_status_url)
    except ValueError as wrong:
        yield Finding("authority", State.FAILED, str(wrong), "change FE_AUTHORITY_*_URL")
        return
    async with httpx.AsyncClient(verify=tls, trust_env=False, timeout=settings.authority_timeout) as client:
        found, heard = await _ask(client, "authority", hosts.locate(Operation.SEED, environment), environment, clock)
        yield found
        if heard is not None:
            yield _clock_of(*heard)
        summaries = hosts.locate(Operation.SUMMARY_PAGE, environment)
        found, _ = await _ask(client, "authority (summaries)", summaries, environment, clock)
        yield found


async def _ask(
    client: httpx.AsyncClient, check: str, where: Location, environment: Environment, clock: Clock
) -> tuple[Finding, tuple[httpx.Headers, datetime] | None]:
    """Send a request; return the result, the answer's headers, and the time, without the body."""
    url = f"{'https' if where.origin.tls else 'http'}://{where.origin.authority}{where.target}"
    started, before = monotonic(), clock()
    try:
        async with client.stream("GET", url, headers={"User-Agent": "fe"}) as reply:
            halfway = before + (clock() - before) / 2
    except (httpx.HTTPError, OSError) as away:
        says = f"{where.origin.authority} cannot be reached: {words(away)}"
        return Finding(check, State.FAILED, says, _why(where.origin.host)), None
    says = f"{where.origin.authority} ({environment.value}) answers with {reply.status_code}"
    # The QR page of an unknown document only shows that the host answers.
    well = reply.status_code == httpx.codes.OK or (where.host is Host.FC and not reply.is_server_error)
    if not well:
        return Finding(check, State.WARNING, says, "ops/runbooks/authority-down.md"), (reply.headers, halfway)
    return Finding(check, State.OK, f"{says}, in {(monotonic() - started) * 1000:.0f} ms"), (reply.headers, halfway)


def _clock_of(headers: httpx.Headers, halfway: datetime) -> Finding:
    try:
        theirs = parsedate_to_datetime(headers["date"]).astimezone(UTC)
    except (KeyError, ValueError, OverflowError):
        return Finding("clock (authority)", State.SKIPPED, "its answer has no Date")
    # Date has whole seconds, rounded down.
    return skew("clock (authority)", halfway - theirs, "the authority's", grain=timedelta(seconds=1))


def _why(host: str) -> str:
    """Distinguish the commonest errors: unknown name, or no route."""
    try:
        socket.getaddrinfo(host, None)
    except OSError:
        return "its name does not resolve here: see to DNS"
    return "see to the way out (firewall, proxy, CA certificates); then ops/runbooks/authority-down.md"
