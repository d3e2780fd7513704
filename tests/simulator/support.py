"""A running simulator and a client of it that knows only HTTP."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import httpx
import trio
from lxml import etree

from fe.ecf.certificate import Credential
from fe.ecf.selfmade import self_made
from fe.ecf.signature import Signer, signature_time
from fe.simulator import Addresses, SimulatorSettings, simulate
from tests.factories.certificates import rsa_key

ISSUER = "131880738"
BUYER = "131880681"
HOLDER_ID = "00112233445"

RECEPTION = "recepcion/api/facturaselectronicas"
SUMMARY_RECEPTION = "recepcionfc/api/recepcion/ecf"
RESULT = "consultaresultado/api/consultas/estado"
STATE = "consultaestado/api/consultas/estado"
TRACK_IDS = "consultatrackids/api/trackids/consulta"
SUMMARY_STATE = "consultarfce/api/Consultas/Consulta"
APPROVAL = "aprobacioncomercial/api/aprobacioncomercial"
VOIDING = "anulacionrangos/api/operaciones/anularrango"
SEED = "autenticacion/api/autenticacion/semilla"
VALIDATE = "autenticacion/api/autenticacion/validarsemilla"


@cache
def _credential(holder_id: str, expired: bool) -> Credential:
    now = datetime.now(UTC)
    return self_made(
        rsa_key("simulator"),
        holder="PERSONA DE PRUEBA",
        holder_id=holder_id,
        not_before=now - timedelta(days=400),
        not_after=now - timedelta(days=2) if expired else now + timedelta(days=400),
    )


def credential(holder_id: str = HOLDER_ID, *, expired: bool = False) -> Credential:
    return _credential(holder_id, expired)


def signer(holder_id: str = HOLDER_ID, *, expired: bool = False) -> Signer:
    return Signer(_credential(holder_id, expired))


def sign(xml: str, **whose: Any) -> bytes:
    return signer(**whose).sign(etree.fromstring(xml.encode())).xml


def number(kind: int, sequence: int) -> str:
    return f"E{kind}{sequence:010d}"


def ecf(
    sequence: int = 1,
    *,
    kind: int = 31,
    issuer: str = ISSUER,
    price: str = "1000.00",
    itbis: str = "180.00",
    total: str = "1180.00",
    expires: str = "31-12-2028",
    name: str = "Servicio",
    modified: str | None = None,
) -> str:
    """An e-CF with one item at 18 %: valid for 31, 32, 33 and 34 as it stands."""
    expiry = "" if kind in (32, 34) else f"<FechaVencimientoSecuencia>{expires}</FechaVencimientoSecuencia>"
    note = "<IndicadorNotaCredito>0</IndicadorNotaCredito>" if kind == 34 else ""
    today = signature_time(datetime.now(UTC))
    reference = (
        f"<InformacionReferencia><NCFModificado>{modified}</NCFModificado><FechaNCFModificado>{today[:10]}"
        "</FechaNCFModificado><CodigoModificacion>3</CodigoModificacion></InformacionReferencia>"
        if modified
        else ""
    )
    return (
        f"<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>{kind}</TipoeCF><eNCF>{number(kind, sequence)}</eNCF>"
        f"{expiry}{note}<IndicadorMontoGravado>0</IndicadorMontoGravado><TipoIngresos>01</TipoIngresos>"
        f"<TipoPago>1</TipoPago></IdDoc><Emisor><RNCEmisor>{issuer}</RNCEmisor>"
        "<RazonSocialEmisor>EMISOR DE PRUEBA</RazonSocialEmisor><DireccionEmisor>CALLE 1</DireccionEmisor>"
        f"<FechaEmision>{today[:10]}</FechaEmision></Emisor><Comprador><RNCComprador>{BUYER}</RNCComprador>"
        "<RazonSocialComprador>COMPRADOR DE PRUEBA</RazonSocialComprador></Comprador><Totales>"
        f"<MontoGravadoTotal>{price}</MontoGravadoTotal><MontoGravadoI1>{price}</MontoGravadoI1><ITBIS1>18</ITBIS1>"
        f"<TotalITBIS>{itbis}</TotalITBIS><TotalITBIS1>{itbis}</TotalITBIS1><MontoTotal>{total}</MontoTotal></Totales>"
        "</Encabezado><DetallesItems><Item><NumeroLinea>1</NumeroLinea><IndicadorFacturacion>1</IndicadorFacturacion>"
        f"<NombreItem>{name}</NombreItem><IndicadorBienoServicio>2</IndicadorBienoServicio><CantidadItem>1</CantidadItem>"
        f"<PrecioUnitarioItem>{price}</PrecioUnitarioItem><MontoItem>{price}</MontoItem></Item></DetallesItems>"
        f"{reference}<FechaHoraFirma>{today}</FechaHoraFirma></ECF>"
    )


def rfce(sequence: int = 1, *, issuer: str = ISSUER, code: str = "AbC1+/", total: str = "1180.00") -> str:
    today = signature_time(datetime.now(UTC))[:10]
    return (
        f"<RFCE><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>32</TipoeCF><eNCF>{number(32, sequence)}</eNCF>"
        f"<TipoIngresos>01</TipoIngresos><TipoPago>1</TipoPago></IdDoc><Emisor><RNCEmisor>{issuer}</RNCEmisor>"
        f"<RazonSocialEmisor>EMISOR DE PRUEBA</RazonSocialEmisor><FechaEmision>{today}</FechaEmision></Emisor>"
        "<Comprador/><Totales><MontoGravadoTotal>1000.00</MontoGravadoTotal><MontoGravadoI1>1000.00</MontoGravadoI1>"
        f"<TotalITBIS>180.00</TotalITBIS><TotalITBIS1>180.00</TotalITBIS1><MontoTotal>{total}</MontoTotal></Totales>"
        f"<CodigoSeguridadeCF>{code}</CodigoSeguridadeCF></Encabezado></RFCE>"
    )


def acecf(encf: str, *, issuer: str = ISSUER) -> str:
    now = signature_time(datetime.now(UTC))
    return (
        "<ACECF><DetalleAprobacionComercial><Version>1.0</Version>"
        f"<RNCEmisor>{issuer}</RNCEmisor><eNCF>{encf}</eNCF><FechaEmision>{now[:10]}</FechaEmision>"
        f"<MontoTotal>1180.00</MontoTotal><RNCComprador>{BUYER}</RNCComprador><Estado>1</Estado>"
        f"<FechaHoraAprobacionComercial>{now}</FechaHoraAprobacionComercial></DetalleAprobacionComercial></ACECF>"
    )


def anecf(first: int, last: int, *, kind: int = 31) -> str:
    count = last - first + 1
    return (
        f"<ANECF><Encabezado><Version>1.0</Version><RncEmisor>{ISSUER}</RncEmisor>"
        f"<CantidadeNCFAnulados>{count}</CantidadeNCFAnulados>"
        f"<FechaHoraAnulacioneNCF>{signature_time(datetime.now(UTC))}</FechaHoraAnulacioneNCF></Encabezado>"
        f"<DetalleAnulacion><Anulacion><NoLinea>1</NoLinea><TipoeCF>{kind}</TipoeCF><TablaRangoSecuenciasAnuladaseNCF>"
        f"<Secuencias><SecuenciaeNCFDesde>{number(kind, first)}</SecuenciaeNCFDesde>"
        f"<SecuenciaeNCFHasta>{number(kind, last)}</SecuenciaeNCFHasta></Secuencias>"
        f"</TablaRangoSecuenciasAnuladaseNCF><CantidadeNCFAnulados>{count}</CantidadeNCFAnulados></Anulacion>"
        "</DetalleAnulacion></ANECF>"
    )


Json = Any


@dataclass
class Running:
    """A started simulator and an HTTP client of it."""

    at: Addresses
    http: httpx.AsyncClient
    scope: trio.CancelScope
    stopped: trio.Event
    tokens: dict[str, str] = field(default_factory=dict)

    async def stop(self) -> None:
        self.scope.cancel()
        await self.stopped.wait()

    async def log_in(self, environment: str = "testecf", **whose: Any) -> httpx.Response:
        seed = await self.http.get(f"{self.at.ecf}/{environment}/{SEED}")
        signed = sign(seed.text.partition("?>")[2], **whose)
        reply = await self.http.post(
            f"{self.at.ecf}/{environment}/{VALIDATE}", files={"xml": ("semilla.xml", signed, "text/xml")}
        )
        if reply.status_code == 200:
            self.tokens[environment] = reply.json()["token"]
        return reply

    async def authorized(self, environment: str) -> dict[str, str]:
        if environment not in self.tokens:
            assert (await self.log_in(environment)).status_code == 200
        return {"Authorization": f"Bearer {self.tokens[environment]}"}

    async def get(self, path: str, environment: str = "testecf", **query: str) -> httpx.Response:
        headers = await self.authorized(environment)
        return await self.http.get(f"{self.at.ecf}/{environment}/{path}", params=query, headers=headers)

    async def post(
        self,
        path: str,
        content: bytes,
        file_name: str,
        environment: str = "testecf",
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        host = self.at.fc if path == SUMMARY_RECEPTION else self.at.ecf
        return await self.http.post(
            f"{host}/{environment}/{path}",
            files={"xml": (file_name, content, "text/xml")},
            headers={**await self.authorized(environment), **(headers or {})},
        )

    async def send(self, content: bytes, encf: str, environment: str = "testecf") -> httpx.Response:
        return await self.post(RECEPTION, content, f"{ISSUER}{encf}.xml", environment)

    async def verdict(self, content: bytes, encf: str, environment: str = "testecf") -> Json:
        """Send an e-CF and read its verdict."""
        reply = await self.send(content, encf, environment)
        assert reply.status_code == 200, reply.text
        return (await self.get(RESULT, environment, trackid=reply.json()["trackId"])).json()

    async def summary(self, content: bytes, encf: str, environment: str = "testecf") -> httpx.Response:
        return await self.post(SUMMARY_RECEPTION, content, f"{ISSUER}{encf}.xml", environment)

    async def manage(self, method: str, path: str, body: Json = None, status: int = 200) -> Json:
        reply = await self.http.request(method, self.at.management + path, json=body)
        assert reply.status_code == status, reply.text
        return reply.json()

    async def order(self, kind: str, **how: Any) -> Json:
        return await self.manage("POST", "/faults", {"kind": kind, **how})


Start = Callable[..., Awaitable[Running]]


async def start_in(nursery: trio.Nursery, http: httpx.AsyncClient, settings: SimulatorSettings) -> Running:
    scope, stopped = trio.CancelScope(), trio.Event()

    async def run(task_status: trio.TaskStatus[Addresses]) -> None:
        with scope:
            await simulate(settings, task_status=task_status)
        stopped.set()

    return Running(await nursery.start(run), http, scope, stopped)
