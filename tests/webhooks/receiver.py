"""A tenant's own system on real sockets, controlled by the test; and the deliverer that calls it."""

import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import trio

from fe.actors.deliverer import Deliverer, Recoverer, delivery_kind, recovery_kind
from fe.clock import Clock, system_clock
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.egress.client import Egress
from fe.egress.target import Policy
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.monitoring.metrics import Metrics
from fe.queue.executor import run_stage
from fe.queue.result_writer import ResultWriter
from fe.queue.stage import StageConfig, StageContext
from fe.secrets.vault import Vault
from fe.store.postgres.db import Database
from fe.store.queue import webhooks
from fe.store.queue.host_lanes import ALL_HOSTS
from fe.store.queue.wakeups import Wakeups
from fe.store.webhooks import endpoints, events
from fe.webhooks.schedule import ATTEMPTS, PATIENCE
from fe.webhooks.secrets import WebhookVault
from fe.webhooks.signature import new_secret
from tests.authority.scripted import Heard as Heard
from tests.authority.scripted import Step, hear, say

WEBHOOK_VAULT = WebhookVault(Vault({"w1": bytes(range(32))}))


@dataclass
class Receiver:
    """Records requests and answers them: the steps in turn, then the default."""

    port: int
    default: Step
    heard: list[Heard] = field(default_factory=list)
    steps: deque[Step] = field(default_factory=deque)
    connections: int = 0
    _more: trio.Event = field(default_factory=trio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def wait(self, count: int = 1) -> list[Heard]:
        """Wait until `count` requests have arrived."""
        with trio.fail_after(60):
            while len(self.heard) < count:
                more = self._more
                await more.wait()
        return self.heard

    async def serve(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        try:
            heard = await hear(stream, self.connections)
            if heard is None:
                return
            self.heard.append(heard)
            self._more.set()
            self._more = trio.Event()
            await (self.steps.popleft() if self.steps else self.default)(stream, heard)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the client closed: that is for the tests to judge
        finally:
            await trio.aclose_forcefully(stream)


@asynccontextmanager
async def receiving(default: Step | None = None) -> AsyncIterator[Receiver]:
    """A receiver on a free port of the loopback interface, until the block ends."""
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        receiver = Receiver(listeners[0].socket.getsockname()[1], default or say({"ok": True}))
        nursery.start_soon(partial(trio.serve_listeners, receiver.serve, listeners, handler_nursery=nursery))
        yield receiver
        nursery.cancel_scope.cancel()


@dataclass(frozen=True)
class Made:
    """An endpoint, and what a consumer knows of it."""

    tenant: TenantId
    endpoint: UUID
    secret: str


async def make_endpoint(
    db: Database,
    tenant: TenantId,
    url: str,
    *,
    events: Sequence[WebhookEvent] = (WebhookEvent.RECEIVED_ECF,),
    environment: Environment | None = None,
    name: str = endpoints.DEFAULT,
    headers: Sequence[tuple[str, str]] = (),
    enabled: bool = True,
    clock: Clock = system_clock,
) -> Made:
    now, secret = clock(), new_secret()
    endpoint_id, secret_id = new_id(now), new_id(now)
    await db.run(
        endpoints.add,
        tenant,
        endpoint_id=endpoint_id,
        environment=environment,
        name=name,
        url=url,
        enabled=enabled,
        events=events,
        headers=WEBHOOK_VAULT.encrypt_headers(tenant, endpoint_id, headers),
        secret_id=secret_id,
        secret=WEBHOOK_VAULT.encrypt_secret(tenant, secret_id, secret),
        at=now,
    )
    return Made(tenant, endpoint_id, secret)


async def emit_event(
    db: Database,
    made: Made,
    body: str = '{"event":"test"}',
    clock: Clock = system_clock,
    kind: WebhookEvent = WebhookEvent.TEST,
) -> UUID:
    """Have one event delivered to an endpoint; the id of the delivery."""
    now = clock()
    return await db.run(
        events.emit_to_one,
        made.tenant,
        made.endpoint,
        event_id=new_id(now),
        environment=None,
        kind=kind,
        about="test",
        body=body,
        at=now,
    )


Handle = Callable[[Any], Awaitable[Any]]


@asynccontextmanager
async def delivering(
    db: Database,
    *,
    clock: Clock = system_clock,
    metrics: Metrics | None = None,
    gap: timedelta = timedelta(0),
    slots: int = 16,
    seconds: float = 20.0,
    egress: Egress | None = None,
    patience: timedelta = PATIENCE,
    holder: str = "this worker",
    lease: timedelta = timedelta(seconds=60),
    around: Callable[[Handle], Handle] = lambda handle: handle,
) -> AsyncIterator[Wakeups]:
    """The deliverer and the recoverer, until the block ends; `gap` is how long they wait between two tries."""
    counted, wakeups, stopping = metrics or Metrics(), Wakeups(db), trio.Event()
    tools = StageContext(
        db, wakeups, clock, counted, lease=lease, poll_seconds=0.1, holder=holder, spread=random.Random(1)
    )
    deliverer = Deliverer(
        db,
        egress or Egress(Policy(development=True)),
        WEBHOOK_VAULT,
        clock,
        lambda _, __: gap,
        random.Random(1),
        seconds=seconds,
    )
    deliveries = ResultWriter(delivery_kind(webhooks.deliveries_table(slots), counted, patience=patience), db, clock)
    recoveries = ResultWriter(recovery_kind(), db, clock)
    deliver = StageConfig(
        webhooks.DELIVER,
        deliveries.kind,
        around(deliverer.deliver),
        slots,
        [ALL_HOSTS],
        40.0,
        gap=lambda _, __: gap,
        max_attempts=ATTEMPTS,
    )
    recover = StageConfig(
        webhooks.RECOVER, recoveries.kind, Recoverer(db, clock, wakeups).recover, 1, [ALL_HOSTS], 40.0
    )
    async with deliveries.running(), recoveries.running(), trio.open_nursery() as nursery:
        nursery.start_soon(run_stage, deliver, tools, stopping, deliveries)
        nursery.start_soon(run_stage, recover, tools, stopping, recoveries)
        yield wakeups
        nursery.cancel_scope.cancel()
