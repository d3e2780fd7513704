"""The pictures of docs/operations: `python -m tests.ops.scene` plays some minutes of a service's life and draws them.

A service of two processes with tenants, suppliers and tenants' own systems around it, and a real Prometheus beside it.
In the middle the authority is away for a while, and one process is killed.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

import httpx
import trio
from cryptography.hazmat.primitives.serialization import Encoding

from fe.accounts.provision import add_certificate, put_sequence
from fe.config import named_keys
from fe.ecf.catalogue import Environment
from fe.ecf.selfmade import to_p12
from fe.lifecycle import WebhookEvent
from fe.secrets.vault import Vault
from fe.store.postgres.db import Conn
from fe.store.records import billing, receivers, tenants
from fe.store.records.receivers import Receiver
from tests.factories.certificates import default_root
from tests.factories.companies import credential_of_today
from tests.faults.hooks import WHERE, Listener, Supplier
from tests.ops.live import prometheus
from tests.ops.material import ROOT
from tests.ops.worked import Worked, worked
from tests.receiving.supplier import ISSUER, OURS
from tests.system.test_road import consumer_invoice, invoice

#: When the authority goes and comes back, and when a process is killed: parts of the whole.
AWAY, BACK, KILLED = 0.35, 0.5, 0.75
#: Intervals of hours take minutes here: the scene runs this many times as fast.
FASTER = 20
_EVENTS = [WebhookEvent.RECEIVED_ECF, WebhookEvent.ACCEPTED, WebhookEvent.REJECTED, WebhookEvent.ERROR]
_SECRET = "correct horse"


async def be_used(service: Worked) -> None:
    """Act as clients, second by second: receipts of two types, queries, mistakes, failed logins."""
    number = 0
    while True:
        number += 1
        with suppress(httpx.HTTPError):  # the process that was asked may be killed
            await use(service.client, service.tokens[number % len(service.tokens)], number)
        await trio.sleep(0.12)


async def use(client: httpx.AsyncClient, token: str, number: int) -> None:
    """One turn of it."""
    headers = {"Authorization": f"Bearer {token}"}
    payload = consumer_invoice(number) if number % 3 == 0 else invoice(number)
    body = {"format": "structured", "payload": payload, "clientRequestId": f"r-{number - (number % 11 == 0)}"}
    taken = await client.post("/invoices", json=body, headers=headers)
    if taken.status_code < 300:
        await client.get(f"/invoices/{taken.json()['taxLogId']}", headers=headers)
    if number % 5 == 0:
        await client.get("/invoices", headers=headers)
        await client.get("/usage", headers=headers)
    if number % 17 == 0:
        await client.post("/login", json={"apiKeyId": "fak_0123456789ab", "apiSecret": "wrong"})
    if number % 23 == 0:
        await client.post("/invoices", content=b"{", headers=headers | {"Content-Type": "application/json"})
        await client.get("/invoices", headers={"Authorization": "Bearer none"})


async def set_up(service: Worked, listener: Listener) -> None:
    """Bill who issues in production, give every tenant a webhook, and let one receive from suppliers."""
    since = datetime(2026, 1, 1, tzinfo=UTC)
    now = datetime.now(UTC)

    async def more(conn: Conn) -> None:
        for tenant in await tenants.everyone(conn):
            await billing.enable(conn, tenant.tenant_id, subscription_id="sub_1", unit_price=Decimal(2), at=since)
            await put_sequence(
                conn, tenant, Environment.ECF, "E34", maximum=9, expires=now.date() + timedelta(days=9), now=now
            )
        buyer = await tenants.create(conn, "a buyer", ISSUER)
        assert buyer is not None
        credential, vault = credential_of_today(), Vault(named_keys(service.stack.environment["FE_KEK"]))
        p12 = to_p12(credential, _SECRET)
        await add_certificate(conn, vault, buyer, None, p12=p12, passphrase=_SECRET, opened=credential, now=now)
        await receivers.open_reception(conn, Receiver(buyer.tenant_id, WHERE, OURS, False))

    await service.db.transact(more)
    for token in service.tokens:
        put = {"url": f"http://127.0.0.1:{listener.port}/1", "events": _EVENTS}
        answer = await service.client.put("/webhooks", json=put, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text


async def order(service: Worked, *faults: dict[str, object]) -> None:
    """Tell the authority what is to go wrong from now on, and nothing else."""
    async with httpx.AsyncClient(base_url=service.stack.authority["management"], trust_env=False) as management:
        (await management.delete("/faults")).raise_for_status()
        for fault in ({"plan": {"slow": 0.01, "try-again": 0.03, "reset-after": 0.01}, "seed": 7}, *faults):
            (await management.post("/faults", json=fault)).raise_for_status()


def children_of(pid: int) -> list[int]:
    """The processes that a process started."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()))


async def play(service: Worked, seconds: float) -> None:
    """Play the incidents of the time that the pictures show."""
    began = trio.current_time()
    await order(service)
    await trio.sleep_until(began + AWAY * seconds)
    await order(service, {"kind": "unavailable", "times": 0})
    await trio.sleep_until(began + BACK * seconds)
    await order(service)
    await trio.sleep_until(began + KILLED * seconds)
    os.kill(children_of(service.stack.processes["service"].pid)[-1], signal.SIGKILL)
    await trio.sleep_until(began + seconds)


async def run(seconds: float, into: Path) -> None:
    """Play it and draw it."""
    roots = default_root().certificate.public_bytes(Encoding.PEM)
    with tempfile.TemporaryDirectory(prefix="fe-scene-") as folder:
        async with (
            worked(
                count=6,
                with_certificates=6,
                processes=2,
                environments=(Environment.ECF, Environment.ECF, Environment.TESTECF),
                reception_roots=roots,
            ) as service,
            httpx.AsyncClient(trust_env=False, timeout=10.0) as client,
            trio.open_nursery() as nursery,
        ):
            hooks = await trio.open_tcp_listeners(0, host="127.0.0.1")
            listener = Listener(hooks[0].socket.getsockname()[1], 7)
            nursery.start_soon(listener.run, hooks)
            await set_up(service, listener)
            assert service.stack.reception_url is not None
            supplier = Supplier(int(service.stack.reception_url.rpartition(":")[2]))
            nursery.start_soon(supplier.run, client)
            nursery.start_soon(be_used, service)
            async with prometheus(Path(folder), service.metrics_urls, faster=FASTER, every=4) as asked:
                await play(service, seconds)
                await draw(str(asked.base_url), seconds / 60, into)
            nursery.cancel_scope.cancel()


async def draw(prometheus_url: str, minutes: float, into: Path) -> None:
    """Draw all dashboards, by the command that operators have."""
    told = ["--prometheus", prometheus_url, "--minutes", str(minutes), "--rate-interval", "15s", "--into", str(into)]
    await trio.run_process([sys.executable, "-m", "ops.grafana.pictures", *told], cwd=ROOT, stderr=subprocess.STDOUT)


def main() -> int:
    """Play and draw."""
    options = argparse.ArgumentParser(prog="python -m tests.ops.scene", description=__doc__)
    options.add_argument("--seconds", type=float, default=420.0)
    options.add_argument("--into", type=Path, default=ROOT / "docs" / "operations", metavar="FOLDER")
    asked = options.parse_args()
    trio.run(partial(run, asked.seconds, asked.into))
    return 0


if __name__ == "__main__":
    sys.exit(main())
