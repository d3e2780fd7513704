"""The scene of a run: Postgres behind proxies, the simulated authority, the service's processes, and the tenants."""

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import trio
from cryptography.hazmat.primitives.hashes import SHA256

from fe.accounts.provision import add_certificate, create_key, create_tenant, put_sequence
from fe.config import named_keys
from fe.ecf.catalogue import Environment
from fe.ecf.selfmade import to_p12
from fe.metering import aggregator
from fe.secrets.vault import Vault
from fe.store.postgres.db import Database, open_database
from fe.store.records import agents, billing
from fe.store.records.agents import AgentId
from tests import citus
from tests.cli.running import SECRETS, environment
from tests.factories.companies import credential_of_today
from tests.faults.clients import Account, Key
from tests.faults.documents import (
    DRAWN_UNTIL,
    EXPIRES,
    GRANTED_UNTIL,
    PREFIXES,
    SHORT_PREFIX,
    SHORT_UNTIL,
    till_credential,
)
from tests.faults.hooks import KEYS, Listener, open_reception, provision, write_roots
from tests.faults.mails import SENDER, MailRelay, switch_on
from tests.faults.modes import declare_papers
from tests.faults.nemesis import Mood, Rig
from tests.faults.nodes import Nodes
from tests.faults.parts import Part, Tell
from tests.faults.postgres import Postgres
from tests.faults.proxy import FaultProxy
from tests.faults.standby import Pair
from tests.faults.watchman import Watchman
from tests.ports import free_port
from tests.receiving.supplier import OURS

ROOT = Path(__file__).resolve().parents[2]

#: Issuers, each with its environment.
TENANTS = (
    ("131880738", Environment.TESTECF),
    ("131880681", Environment.ECF),
    ("131880657", Environment.TESTECF),
    ("101000015", Environment.ECF),
)
_KEYS_EACH = 8
#: Billed since before any clock of the run, however wrong.
_PRICE, _EVER = Decimal("0.035"), datetime(2026, 1, 1, tzinfo=UTC)
_PASSPHRASE = "correct horse"
#: A process that ends while it starts is noticed at once; this is for one that hangs.
_READY_SECONDS = 600.0

#: Everything that takes long in life is short here, in proportion; the pool and the threads are small, to be used up.
SETTINGS = {
    "poll_seconds": "0.3",
    "lease_seconds": "8",
    "time_scale": "0.1",
    "authority_timeout": "2",
    "grace_seconds": "2",
    "database_connections": "6",
    "trusted_proxies": "127.0.0.1/32",
    "metrics_bind": "127.0.0.1:0",
    "log_level": "warning",
}


@dataclass(frozen=True)
class Scene:
    """A scene that is set."""

    rig: Rig
    #: Past the proxies.
    dsn: str
    accounts: Sequence[Account]
    issuers: Mapping[int, Mapping[str, str]]
    urls: Sequence[str]
    authority_journal: Path
    listener: Listener
    relay: MailRelay
    reception: Part
    #: Where suppliers call.
    reception_port: int


@asynccontextmanager
async def set_scene(
    folder: Path,
    seed: int,
    tell: Tell,
    *,
    program: Sequence[str] = ("-m", "fe"),
    http: int = 2,
    actors: int = 2,
    settings: Mapping[str, str] | None = None,
    prepare: Callable[[str], None] = lambda dsn: None,
    standby: bool = False,
) -> AsyncIterator[Scene]:
    """Start everything in `folder`, and stop it at the end of the block.

    `program` replaces the service in Python's command line, for example with a broken variant. `prepare` is called with
    the DSN of the migrated database before anything starts. With `standby`, every commit waits for a second server.
    """
    watchman = Watchman()
    binaries = citus.programs()
    one = Pair if standby else Postgres
    postgres = one(folder, watchman) if binaries is None else Nodes(folder, watchman, binaries)
    try:
        await postgres.make()
        await postgres.make_database("fe")
        dsn = postgres.dsn("fe")
        await trio.to_thread.run_sync(prepare, dsn)
        hooks = await trio.open_tcp_listeners(0, host="127.0.0.1")
        listener = Listener(hooks[0].socket.getsockname()[1], seed)
        smtp = await trio.open_tcp_listeners(0, host="127.0.0.1")
        relay = MailRelay(smtp[0].socket.getsockname()[1], seed)
        async with open_database(dsn, max_size=2) as db:
            accounts, issuers = await _provision(db)
            tenants = [account.tenant_id for account in accounts]
            await provision(db, listener, tenants)
            for tenant in tenants:
                await switch_on(db, tenant)
            await open_reception(db, tenants[[rnc for rnc, _ in TENANTS].index(OURS)])
        async with trio.open_nursery() as nursery:
            if isinstance(postgres, Pair):
                await postgres.follow(nursery)
            nursery.start_soon(listener.run, hooks)
            nursery.start_soon(relay.run, smtp)
            authority, mood, urls, journal = await _start_authority(nursery, folder, watchman, tell, seed, issuers)
            proxies: dict[str, FaultProxy] = {}
            roots = write_roots(folder)
            parts: list[Part] = []
            ports = [free_port() for _ in range(http)]
            reception_port = free_port()
            for number in range(http + actors + 1):
                role, index = ("http", number) if number < http else ("actors", number - http)
                if number == http + actors:
                    role, index = "receive", 0
                name = f"{role}-{index + 1}"
                proxies[name] = FaultProxy(postgres.port)
                await nursery.start(proxies[name].serve)
                told = environment(
                    database_url=postgres.dsn("fe", port=proxies[name].port),
                    data_dir=str(folder),
                    http_bind=f"127.0.0.1:{ports[index] if role == 'http' else 0}",
                    authority_ecf_url=urls["ecf"],
                    authority_fc_url=urls["fc"],
                    authority_status_url=urls["status"],
                    webhook_keys=KEYS,
                    mail_relay=f"smtp://127.0.0.1:{relay.port}",
                    mail_from=SENDER,
                    reception_bind=f"127.0.0.1:{reception_port}" if role == "receive" else "",
                    reception_roots=str(roots) if role == "receive" else "",
                    **SETTINGS,
                    **(settings or {}),
                    **_near(postgres, name),
                )
                # The first that takes in also signs: what it takes in goes straight to its signer.
                command = [sys.executable, *program, "run", "--role", "all" if name == "http-1" else role]
                part = Part(name, partial(list, command), told | _import_path(), folder, watchman, tell, seed)
                parts.append(part)
                await nursery.start(part.keep_running)
            rig = Rig(parts[:http], parts[http:-1], authority, mood, postgres, proxies, urls["management"], tell)
            bases = [f"http://127.0.0.1:{port}" for port in ports]
            await _until_ready([f"{base}/readyz" for base in bases], parts)
            doors = [f"{base}/api/v1/fe" for base in bases]
            rig.dsn, rig.tenants = dsn, [(one.tenant_id, Environment(one.environment)) for one in accounts]
            yield Scene(rig, dsn, accounts, issuers, doors, journal, listener, relay, parts[-1], reception_port)
            async with trio.open_nursery() as ending:
                for part in [*parts, authority]:
                    ending.start_soon(part.end)
            nursery.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True):
            await postgres.close()
        watchman.close()


def _near(postgres: Postgres, name: str) -> dict[str, str]:
    """On a cluster one of those that work claims what lies on the first worker, from there; the others reach both."""
    if name != "actors-1" or not isinstance(postgres, Nodes):
        return {}
    return {"database_near": postgres.workers[0].dsn("fe")}


def _import_path() -> dict[str, str]:
    return {"PYTHONPATH": str(ROOT)}


async def _provision(db: Database) -> tuple[list[Account], dict[int, Mapping[str, str]]]:
    """Make the tenants, all with one certificate: it is their numbers that are to be told apart."""
    now = datetime.now(UTC)
    vault = Vault(named_keys(SECRETS["FE_KEK"]))
    pepper = bytes.fromhex(SECRETS["FE_API_KEY_PEPPER"])
    credential = credential_of_today()
    p12 = to_p12(credential, _PASSPHRASE)
    accounts: list[Account] = []
    issuers: dict[int, Mapping[str, str]] = {}
    for number, (rnc, where) in enumerate(TENANTS, 1):
        issuer = {"RNCEmisor": rnc, "RazonSocialEmisor": f"Comercial {number} SRL", "DireccionEmisor": "Calle 1"}
        tenant = await db.transact(create_tenant, f"tenant {number}", issuer, today=now.date())
        await db.transact(
            add_certificate, vault, tenant, None, p12=p12, passphrase=_PASSPHRASE, opened=credential, now=now
        )
        for prefix, last in [*((prefix, DRAWN_UNTIL) for prefix in PREFIXES), (SHORT_PREFIX, SHORT_UNTIL)]:
            await db.transact(put_sequence, tenant, where, prefix, maximum=last, expires=EXPIRES, now=now)
        await aggregator.restart(db, tenant.tenant_id)  # from now on its days are kept
        await db.run(billing.enable, tenant.tenant_id, subscription_id=f"sub_{number}", unit_price=_PRICE, at=_EVER)
        till = till_credential().certificate.fingerprint(SHA256()).hex()
        lease: dict[str, Any] = {"epoch": 0, "nonce": uuid4(), "certificate": till, "at": now}
        await db.run(agents.lease, tenant.tenant_id, where, AgentId(uuid4()), **lease)
        await declare_papers(db, tenant.tenant_id, where, now)
        keys = [await db.transact(create_key, tenant, where, pepper=pepper) for _ in range(_KEYS_EACH)]
        issuers[tenant.tenant_id] = issuer
        accounts.append(
            Account(
                tenant.tenant_id,
                where.value,
                [Key(key.record.api_key_id, key.secret) for key in keys],
                f"10.0.0.{number}",
            )
        )
    return accounts, issuers


async def _start_authority(
    nursery: trio.Nursery,
    folder: Path,
    watchman: Watchman,
    tell: Tell,
    seed: int,
    issuers: Mapping[int, Mapping[str, str]],
) -> tuple[Part, Mood, dict[str, str], Path]:
    port, management = free_port(), free_port()
    journal, world = folder / "authority.jsonl", folder / "world.json"
    world.write_text(json.dumps({"ranges": _ranges(issuers)}), encoding="utf-8")
    mood = Mood(seed)

    def command() -> list[str]:
        chance = mood.options()
        where = ["--port", str(port), "--management-port", str(management)]
        kept = ["--state", str(journal), "--world", str(world)]
        return [sys.executable, "-m", "fe", "authority", "simulate", *where, *kept, *chance]

    part = Part("authority", command, environment() | _import_path(), folder, watchman, tell, seed)
    await nursery.start(part.keep_running)
    base = f"http://127.0.0.1:{port}"
    urls = {"ecf": base, "fc": base, "status": base, "management": f"http://127.0.0.1:{management}"}
    await _until_ready([f"{urls['management']}/healthz"], [part])
    return part, mood, urls, journal


def _ranges(issuers: Mapping[int, Mapping[str, str]]) -> list[dict[str, Any]]:
    """Ranges that the authority has granted; some documents use numbers beyond them."""
    prefixes = [*PREFIXES, SHORT_PREFIX]
    return [
        {"issuer": issuer["RNCEmisor"], "type": prefix, "from": 1, "to": GRANTED_UNTIL}
        for issuer in issuers.values()
        for prefix in prefixes
    ]


class DoesNotStart(Exception):
    """A part ends again and again before anything went wrong; the message is its last words."""


async def _until_ready(urls: Sequence[str], parts: Sequence[Part]) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=2.0) as client:
        with trio.fail_after(_READY_SECONDS):
            for url in urls:
                while True:
                    try:
                        if (await client.get(url)).status_code == 200:
                            break
                    except httpx.TransportError:
                        pass  # it does not listen yet
                    for part in parts:
                        if part.lives > 2:
                            raise DoesNotStart(f"{part.name}: {part.last_words()}")
                    await trio.sleep(0.05)
