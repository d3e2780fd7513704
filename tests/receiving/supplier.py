"""A supplier, and the reception it talks to: on a real socket, over a real database, with real signatures."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import httpx
import trio
from lxml import etree

from fe.actors.credentials import SigningCredentials
from fe.config import load_settings
from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.certificate import Credential
from fe.ecf.dates import show_moment
from fe.ecf.document import Document
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer, verify
from fe.http.reception.app import ReceptionDeps, create_reception
from fe.http.server.listener import serve_http
from fe.identifiers import TenantId
from fe.main import Acknowledgers
from fe.monitoring.metrics import Metrics
from fe.receiving.assess import Trust
from fe.receiving.seeds_and_tokens import derive_keys
from fe.store.postgres.db import Database
from fe.store.records import receivers
from fe.store.records.receivers import Receiver
from tests.ecf.receipts import changed, receipt
from tests.factories.certificates import WITHIN, default_credential, default_root
from tests.factories.companies import VAULT, make_certificate
from tests.factories.tenants import make_tenant
from tests.plain_http import NO_TLS
from tests.waiting import PATIENCE

#: The supplier, and us, the buyer.
THEIRS, OURS = "131880738", "131880681"
ISSUER = {"RNCEmisor": OURS, "RazonSocialEmisor": "COMPRADORA SRL", "DireccionEmisor": "CALLE 1"}
KEYS = derive_keys({"k1": bytes(range(32)), "k0": bytes(32)})
TRUST = Trust([default_root().certificate])
BASE = f"/testecf/{OURS}/fe"


class Hands:
    """A clock that stands until it is moved."""

    def __init__(self, at: datetime = WITHIN) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def forward(self, by: timedelta) -> None:
        self.at += by


@dataclass
class Running:
    """A reception that serves."""

    db: Database
    clock: Hands
    metrics: Metrics
    port: int
    tenant: TenantId

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}", timeout=PATIENCE, verify=NO_TLS, trust_env=False
        ) as client:
            yield client

    async def post(self, path: str, content: bytes, **more: Any) -> httpx.Response:
        """Send bytes as the supplier would."""
        async with self.client() as client:
            return await client.post(path, files={"xml": ("e.xml", content, "text/xml")}, **more)

    async def send(self, document: bytes, **more: Any) -> httpx.Response:
        return await self.post(f"{BASE}/recepcion/api/ecf", document, **more)

    async def approve(self, document: bytes, **more: Any) -> httpx.Response:
        return await self.post(f"{BASE}/aprobacioncomercial/api/ecf", document, **more)


async def start_reception(
    nursery: trio.Nursery,
    owner: Database,
    db: Database,
    *,
    demands_token: bool = False,
    tenant: TenantId | None = None,
    certificate: bool = True,
    **deps: Any,
) -> Running:
    """Serve from `db`, which should have the rights of reception and no others; `owner` prepares the tenant."""
    if tenant is None:
        tenant = await make_tenant(owner, issuer=ISSUER)
        if certificate:
            await make_certificate(owner, tenant)
        await owner.run(receivers.open_reception, Receiver(tenant, Environment.TESTECF, OURS, demands_token))
    clock, metrics, shutdown = Hands(), Metrics(), trio.Event()
    signers = Acknowledgers(SigningCredentials(db, VAULT, trio.CapacityLimiter(1)))
    built = ReceptionDeps(
        **{
            "db": db,
            "signers": signers,
            "trust": TRUST,
            "keys": KEYS,
            "clock": clock,
            "metrics": metrics,
            "calls_per_second": 0.0,
            **deps,
        }
    )
    app = create_reception(built)

    async def serve(task_status: trio.TaskStatus[list[socket.socket]]) -> None:
        await serve_http(
            app, "127.0.0.1:0", settings=load_settings(grace_seconds=2), shutdown=shutdown, task_status=task_status
        )

    sockets: list[socket.socket] = await nursery.start(serve)
    return Running(db, clock, metrics, sockets[0].getsockname()[1], tenant)


def unsigned(ecf_type: EcfType = EcfType.CREDIT_FISCAL, **changes: Any) -> etree._Element:
    """A supplier's document: from THEIRS to OURS; `changes` by path, with two underscores for a point."""
    document = receipt(ecf_type)
    for path, value in changes.items():
        document = changed(document, path.replace("__", "."), value)
    return build(changed(document, "FechaHoraFirma", show_moment(WITHIN)))


def sign(root: etree._Element | bytes, credential: Credential | None = None) -> bytes:
    tree = parse_xml(root) if isinstance(root, bytes) else root
    return Signer(credential or default_credential()).sign(tree).xml


def document(ecf_type: EcfType = EcfType.CREDIT_FISCAL, **changes: Any) -> bytes:
    """A signed e-CF."""
    return sign(unsigned(ecf_type, **changes))


def approval(e_ncf: str, buyer: str, *, state: str = "1", issuer: str = OURS, **changes: str) -> bytes:
    """A signed ACECF on a receipt of OURS."""
    detail = {
        "Version": "1.0",
        "RNCEmisor": issuer,
        "eNCF": e_ncf,
        "FechaEmision": "06-11-2026",
        "MontoTotal": "118.00",
        "RNCComprador": buyer,
        "Estado": state,
        **({"DetalleMotivoRechazo": "no es lo pedido"} if state == "2" else {}),
        "FechaHoraAprobacionComercial": show_moment(WITHIN),
        **changes,
    }
    return sign(build(Document(Root.ACECF, None, {"DetalleAprobacionComercial": detail})))


@dataclass(frozen=True)
class Acknowledged:
    """Values of an ARECF, verified, and valid by its schema."""

    state: str
    reason: str | None
    fields: dict[str, str] = field(default_factory=dict)


def read(answer: httpx.Response) -> Acknowledged:
    """Read the acknowledgement in an answer; it must be a signed one."""
    from fe.ecf.schema import validate

    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/xml")
    verified = verify(answer.content)
    assert validate(verified.root) == []
    fields = {str(child.tag): child.text or "" for child in verified.root[0]}
    return Acknowledged(fields["Estado"], fields.get("CodigoMotivoNoRecibido"), fields)


Sent = Callable[[bytes], Any]
