"""A service as processes, and tenants that use it."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import httpx
import trio

from fe.accounts.keys import SCOPES
from fe.accounts.provision import add_certificate, create_key, put_sequence
from fe.config import named_keys
from fe.ecf.catalogue import Environment
from fe.ecf.selfmade import to_p12
from fe.http.auth.tokens import Tokens
from fe.identifiers import ApiKeyId
from fe.integrator.stack import Stack, open_stack
from fe.secrets.vault import Vault
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.records import tenants
from tests.factories.companies import credential_of_today
from tests.factories.tenants import ISSUER, rows
from tests.system.test_road import invoice
from tests.waiting import PATIENCE, PAUSING

ENVIRONMENT = Environment.TESTECF
#: Requests on their way at once.
_AT_ONCE = 8


@dataclass
class Worked:
    """A stack and what its tenants call it with."""

    stack: Stack
    db: Database
    processes: int
    tokens: list[str]
    client: httpx.AsyncClient
    sent: int = 0
    #: The request id and the taxLogId of each acceptance.
    accepted: list[tuple[str, str]] = field(default_factory=list)

    @property
    def metrics_urls(self) -> list[str]:
        """Where each process tells its metrics: one port after the other."""
        first = httpx.URL(self.stack.metrics_url)
        assert first.port is not None
        return [str(first.copy_with(port=first.port + index)) for index in range(self.processes)]

    async def submit(self, tokens: Sequence[str]) -> None:
        """One receipt for each token."""
        limiter = trio.CapacityLimiter(_AT_ONCE)

        async def one(token: str, number: int) -> None:
            async with limiter:
                answer = await self.client.post(
                    "/invoices",
                    json={"format": "structured", "payload": invoice(number), "clientRequestId": f"r-{number}"},
                    headers={"Authorization": f"Bearer {token}"},
                )
                assert answer.status_code == 202, answer.text
                self.accepted.append((answer.headers["X-Request-Id"], answer.json()["taxLogId"]))

        async with trio.open_nursery() as nursery:
            for token in tokens:
                self.sent += 1
                nursery.start_soon(one, token, self.sent)

    async def until_all_ended(self, *, seconds: float = 600) -> None:
        with trio.fail_after(seconds):
            while await rows(self.db, "SELECT tenant_id FROM outbox LIMIT 1"):  # noqa: ASYNC110  (other processes)
                await trio.sleep(0.1)

    async def scrape(self) -> str:
        answer = await self.client.get(self.stack.metrics_url)
        assert answer.status_code == 200
        return answer.text


@asynccontextmanager
async def worked(
    *,
    count: int,
    with_certificates: int,
    processes: int = 1,
    settings: Mapping[str, str] | None = None,
    environments: Sequence[Environment] = (ENVIRONMENT,),
    reception_roots: bytes | None = None,
) -> AsyncIterator[Worked]:
    """Start a service with `count` tenants. The submissions of those without a certificate end as errors."""
    chosen = {"FE_POLL_SECONDS": "0.5", "FE_MAX_IN_FLIGHT": "50", **(settings or {})}
    async with (
        open_stack(settings=chosen, processes=processes, reception_roots=reception_roots) as stack,
        open_database(stack.dsn, max_size=4) as db,
        httpx.AsyncClient(base_url=stack.base_url, timeout=PATIENCE, trust_env=False, limits=PAUSING) as client,
    ):
        keys = await _make_tenants(db, stack, count, with_certificates, environments)
        tokens = Tokens(named_keys(stack.environment["FE_JWT_KEYS"]))
        now = datetime.now(UTC)
        yield Worked(stack, db, processes, [tokens.issue(key, SCOPES, now) for key in keys], client)


async def _make_tenants(
    db: Database, stack: Stack, count: int, with_certificates: int, environments: Sequence[Environment]
) -> list[ApiKeyId]:
    """Make the tenants; the API keys of those with certificates come first. All sign alike: making RSA keys is slow."""
    vault = Vault(named_keys(stack.environment["FE_KEK"]))
    now = datetime.now(UTC)
    credential = credential_of_today()
    passphrase = secrets.token_hex(8)
    p12 = to_p12(credential, passphrase)

    async def make(conn: Conn) -> list[ApiKeyId]:
        made = []
        for number in range(count):
            environment = environments[number % len(environments)]
            tenant = await tenants.create(conn, f"tenant {number}", ISSUER)
            assert tenant is not None
            key = await create_key(conn, tenant, environment, pepper=b"pepper")
            made.append(key.record.api_key_id)
            await put_sequence(conn, tenant, environment, "E31", expires=now.date() + timedelta(days=400), now=now)
            if number < with_certificates:
                await add_certificate(
                    conn, vault, tenant, None, p12=p12, passphrase=passphrase, opened=credential, now=now
                )
        return made

    return await db.transact(make)
