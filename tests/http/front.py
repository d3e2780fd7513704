"""A front on a real socket, over a real database, and clients of it."""

import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import httpcore
import httpx
import trio
from quart_trio import QuartTrio

from fe.accounts.keys import SCOPES, hash_secret, new_api_key
from fe.config import Settings, load_settings
from fe.ecf.catalogue import Environment
from fe.egress.target import Policy
from fe.http.app import PREFIX, HttpDeps, create_app
from fe.http.auth.authenticate import KeyPatience
from fe.http.routes.health import LookPatience
from fe.http.server.connection import PEER_PATIENCE, PeerPatience
from fe.http.server.listener import serve_http
from fe.identifiers import ApiKeyId, TenantId
from fe.issuing.sharing import Sharing
from fe.monitoring.initial_series import initialize_series
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Database
from fe.store.queue.wakeups import Wakeups
from fe.store.records import keys, tenants
from fe.webhooks.accounts import WebhookAccounts
from tests.plain_http import NO_TLS
from tests.waiting import PATIENCE
from tests.webhooks.receiver import WEBHOOK_VAULT

PEPPER = bytes(range(32))
JWT_KEYS = {"k1": b"\x01" * 32}
#: Webhook URLs may name public addresses, and ports of this machine.
WEBHOOKS = WebhookAccounts(WEBHOOK_VAULT, Policy(development=True))
SHARING = Sharing("https://facturas.example.do", {"s1": b"\x03" * 32})
ISSUER = {
    "RNCEmisor": "131880681",
    "RazonSocialEmisor": "Empresa de Prueba SRL",
    "DireccionEmisor": "Calle Primera 1",
}


#: Fields of a receipt in every answer about its submission.
FACTS = (
    "tipoEcf",
    "montoTotal",
    "totalITBIS",
    "rncComprador",
    "razonSocialComprador",
    "fechaEmision",
    "readyToPrint",
)


class HandClock:
    """The machine's clock, and hands to move it with; where a second matters it is stopped first."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self._stopped_at: datetime | None = None

    def __call__(self) -> datetime:
        return (self._stopped_at or datetime.now(UTC)) + self.ahead

    def stop(self) -> None:
        """Stand still, but for the hands."""
        self._stopped_at = datetime.now(UTC)


@dataclass(frozen=True)
class Key:
    """An API key as its holder knows it."""

    tenant_id: TenantId
    api_key_id: ApiKeyId
    secret: str
    environment: Environment

    @property
    def credentials(self) -> dict[str, str]:
        return {"apiKeyId": self.api_key_id, "apiSecret": self.secret}


class _WholeRequestStream(httpcore.AsyncNetworkStream):
    """Sends nothing until the answer is asked for, and then all of it at once."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._unsent = bytearray()

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  (httpcore's name)
        self._unsent += buffer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  (likewise)
        unsent, self._unsent = bytes(self._unsent), bytearray()
        if unsent:
            await self._stream.write(unsent, timeout)
        return await self._stream.read(max_bytes, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _WholeRequests(httpcore.TrioBackend):
    async def connect_tcp(self, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        return _WholeRequestStream(await super().connect_tcp(*args, **more))


def whole_requests() -> httpx.AsyncHTTPTransport:
    """Send head and body in one write, as many clients do: httpx writes twice, and then it is a matter of luck whether
    the server finds a request whole, which is what sends it the fast path."""
    transport = httpx.AsyncHTTPTransport(verify=NO_TLS)
    # A private name: there is no other way to give httpx a stream of our own. test_fast_path.py sees that it is used.
    assert isinstance(transport._pool, httpcore.AsyncConnectionPool)
    transport._pool = httpcore.AsyncConnectionPool(network_backend=_WholeRequests())
    return transport


@dataclass
class Running:
    """A front that serves."""

    db: Database
    clock: HandClock
    metrics: Metrics
    port: int
    shutdown: trio.Event
    deps: HttpDeps
    app: QuartTrio

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}{PREFIX}"

    @asynccontextmanager
    async def client(self, token: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx.AsyncClient(
            base_url=self.base_url, headers=headers, timeout=PATIENCE, transport=whole_requests(), trust_env=False
        ) as client:
            yield client

    async def token(self, key: Key) -> str:
        async with self.client() as client:
            answer = await client.post("/login", json=key.credentials)
        assert answer.status_code == 200, answer.text
        token: str = answer.json()["accessToken"]
        return token

    async def raw(self, data: bytes, *, half_close: bool = False) -> bytes:
        """Send these very bytes and give back everything that comes until the server ends the connection."""
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        got = b""
        with trio.fail_after(PATIENCE):
            async with stream:
                try:
                    await stream.send_all(data)
                    if half_close:
                        await stream.send_eof()
                    while chunk := await stream.receive_some(65536):
                        got += chunk
                except trio.BrokenResourceError:
                    pass
        return got


Start = Callable[..., Awaitable[Running]]


@cache
def _settings() -> Settings:
    return load_settings(grace_seconds=2)


async def start_front(
    nursery: trio.Nursery,
    db: Database,
    settings: Settings | None = None,
    patience: PeerPatience = PEER_PATIENCE,
    **deps: Any,
) -> Running:
    """Serve from `db`, which should have the rights of the front and no others: then a right that is missing shows."""
    clock, metrics = HandClock(), Metrics()
    initialize_series(metrics)  # as every process does
    built = HttpDeps(
        **{
            "db": db,
            "wakeups": Wakeups(db),
            "clock": clock,
            "metrics": metrics,
            "jwt_keys": JWT_KEYS,
            "peppers": {"": PEPPER},
            "webhooks": WEBHOOKS,
            "sharing": SHARING,
            # A busy machine takes longer than the service allows its database.
            "key_patience": KeyPatience(asked=PATIENCE),
            "look_patience": LookPatience(within=PATIENCE),
            **deps,
        }
    )
    shutdown = trio.Event()
    app = create_app(built)

    async def serve(task_status: trio.TaskStatus[list[socket.socket]]) -> None:
        await serve_http(
            app,
            "127.0.0.1:0",
            settings=settings or _settings(),
            shutdown=shutdown,
            patience=patience,
            task_status=task_status,
        )

    sockets = await nursery.start(serve)
    return Running(db, clock, metrics, sockets[0].getsockname()[1], shutdown, built, app)


class Streams:
    """Bare connections of a test. The maker of this object closes the open ones at the end, also after an error."""

    def __init__(self) -> None:
        self._open: list[trio.SocketStream] = []

    async def opened(self, port: int, *requests: bytes, source: str = "127.0.0.1") -> list[trio.SocketStream]:
        """Connect once for each request, and send it."""
        streams = []
        for request in requests:
            stream = await trio.open_tcp_stream("127.0.0.1", port, local_address=source)
            self._open.append(stream)
            streams.append(stream)
            if request:
                await stream.send_all(request)
        return streams

    async def close(self, streams: Sequence[trio.SocketStream] | None = None) -> None:
        """Close these, or all; to close one twice does nothing."""
        for stream in self._open if streams is None else streams:
            await trio.aclose_forcefully(stream)

    async def reset(self, streams: Sequence[trio.SocketStream]) -> None:
        """Close with a reset, so that the peer learns at once that nothing is read: a FIN closes one direction only."""
        for stream in streams:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.close(streams)


async def make_tenant(db: Database, name: str = "Empresa de Prueba SRL") -> TenantId:
    tenant = await db.run(tenants.create, name, ISSUER)
    assert tenant is not None
    return tenant.tenant_id


async def make_key(
    db: Database,
    tenant_id: TenantId,
    environment: Environment = Environment.TESTECF,
    scopes: tuple[str, ...] = SCOPES,
    **more: Any,
) -> Key:
    api_key_id, secret = new_api_key()
    await db.run(keys.create, api_key_id, tenant_id, environment, hash_secret(PEPPER, secret), scopes, **more)
    return Key(tenant_id, api_key_id, secret, environment)


def invoice_payload(e_ncf: str | None = "E310000000001", **head: Any) -> dict[str, Any]:
    """A small structured credit invoice in Mode A."""
    id_doc: dict[str, Any] = {"IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1", **head}
    if e_ncf is not None:
        id_doc["eNCF"] = e_ncf
    return {
        "Encabezado": {
            "IdDoc": id_doc,
            "Comprador": {"RNCComprador": "131880657", "RazonSocialComprador": "Cliente SRL"},
        },
        "DetallesItems": {
            "Item": [
                {
                    "NumeroLinea": 1,
                    "IndicadorFacturacion": "1",
                    "NombreItem": "Servicio",
                    "IndicadorBienoServicio": "2",
                    "CantidadItem": 1,
                    "PrecioUnitarioItem": 100,
                    "MontoItem": 100,
                }
            ]
        },
    }


def structured(payload: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"format": "structured", "payload": payload or invoice_payload(), **more}


def lately() -> dict[str, str]:
    """A period in which whatever a test submits lies, of fewer days than a search may look through."""
    now = datetime.now(UTC)
    return {"from": (now - timedelta(days=30)).date().isoformat(), "to": (now + timedelta(days=1)).date().isoformat()}


def body_of(raw: bytes) -> Any:
    """The JSON body of a raw HTTP answer."""
    return json.loads(raw.partition(b"\r\n\r\n")[2])
