"""The authority: does it answer from here, and what time is it there?"""

import socket
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from time import monotonic

import httpx

from fe.authority.hosts import Hosts, Operation
from fe.clock import Clock
from fe.config import Settings
from fe.ecf.catalogue import Environment
from fe.operations.doctor.clocks import skew
from fe.operations.doctor.finding import Finding, State
from fe.store.postgres.errors import words


async def check_authority(
    settings: Settings, environment: Environment, clock: Clock, tls: ssl.SSLContext
) -> AsyncIterator[Finding]:
    """Ask the authority for a seed, and see what time it has."""
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
    yield skew("clock (authority)", halfway - theirs, "the authority's", grain=timedelta(seconds=1))


def _why(host: str) -> str:
    """Tell the commonest reasons apart: no name, or no way."""
    try:
        socket.getaddrinfo(host, None)
    except OSError:
        return "its name does not resolve here: see to DNS"
    return "see to the way out (firewall, proxy, CA certificates); then ops/runbooks/authority-down.md"
