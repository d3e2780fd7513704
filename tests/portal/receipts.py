"""Receipts and received documents of a company, as its pages find them; and what strangers write into them."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.ids import new_id
from fe.identifiers import ClientRequestId, SubmissionId, TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Database
from fe.store.records import received
from fe.store.records.received import ReceivedFacts, Said
from tests.factories.tenants import make_submission, rows
from tests.http import worker

#: An attacker's text: runs in a page, in a spreadsheet, or reverses the direction of text.
IMAGE = "<img src=x onerror=alert(1)>"
FORMULA = '=cmd|" /C calc"!A0'
TURNED = "Cliente \u202eLRS"
HOSTILE = (IMAGE, FORMULA, TURNED, "A" * 10_000, '"><script>alert(1)</script>', "@SUM(1)", "\t=1+1")


def signed_xml(name: str = "Cliente SRL", total: str = "1180.00", modified: str | None = None) -> bytes:
    """A document as it is signed, as far as pages read it."""
    shown = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    about = f"<InformacionReferencia><NCFModificado>{modified}</NCFModificado></InformacionReferencia>"
    return (
        "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF></IdDoc>"
        "<Emisor><RNCEmisor>131880681</RNCEmisor><FechaEmision>06-11-2026</FechaEmision></Emisor>"
        f"<Comprador><RNCComprador>131880657</RNCComprador><RazonSocialComprador>{shown}</RazonSocialComprador>"
        f"</Comprador><Totales><MontoTotal>{total}</MontoTotal></Totales></Encabezado>"
        f"<DetallesItems><Item><NumeroLinea>1</NumeroLinea></Item><Item><NumeroLinea>2</NumeroLinea></Item>"
        f"</DetallesItems>{about if modified else ''}</ECF>"
    ).encode()


async def make_receipt(
    db: Database,
    tenant_id: TenantId,
    *,
    status: Status | None = Status.ACCEPTED,
    messages: tuple[tuple[str, str], ...] = (),
    name: str = "Cliente SRL",
    modified: str | None = None,
    at: datetime | None = None,
    client_request_id: str | None = None,
    **changes: Any,
) -> SubmissionId:
    """A receipt as the worker leaves it: with a verdict, or with None on its way."""
    made_at = at or datetime.now(UTC)
    made = await make_submission(
        db,
        tenant_id,
        at=made_at,
        client_request_id=None if client_request_id is None else ClientRequestId(client_request_id),
        **{"environment": Environment.ECF, **changes},
    )
    if status is None:
        return made
    await worker.carry_through(db, str(made), status, *messages, at=made_at)
    await rows(
        db,
        """UPDATE submission_documents SET content = %(content)b
            WHERE submission_id = %(id)s AND kind = 'signed'""",
        content=signed_xml(name, modified=modified),
        id=made,
    )
    url = "https://ecf.dgii.gov.do/ecf/ConsultaTimbre?RncEmisor=131880681&MontoTotal=1180.00&CodigoSeguridad=aB3x"
    await rows(
        db,
        """UPDATE submissions SET qr_code_url = %(url)s, ecf_type = %(type)s, buyer_rnc = %(buyer)s
            WHERE submission_id = %(id)s""",
        url=url,
        type=changes.get("ecf_type", EcfType.CREDIT_FISCAL),
        buyer=changes.get("buyer_rnc", "131880681"),
        id=made,
    )
    return made


async def make_received(
    db: Database,
    tenant_id: TenantId,
    *,
    e_ncf: str = "E310000000077",
    issuer: str = "131880738",
    name: str = "Suplidora SRL",
    environment: Environment = Environment.ECF,
    at: datetime | None = None,
    document: bytes | None = None,
    buyer: str = "131880681",
    issued_on: date = date(2026, 11, 6),
    total: Decimal = Decimal("118.00"),
) -> UUID:
    """A document that a supplier sent, and its acknowledgement."""
    moment = at or datetime.now(UTC)
    received_id = new_id(moment)
    said = Said(
        environment=environment,
        digest=received_id.bytes * 2,
        reason=0,
        issuer_rnc=issuer,
        e_ncf=e_ncf,
        signer=None,
        presenter=None,
        document=document or signed_xml(name),
        acknowledgement=b"<ARECF/>",
        at=moment,
        received_id=received_id,
        facts=ReceivedFacts(EcfType.CREDIT_FISCAL, name, buyer, issued_on, total),
    )
    assert await db.run_for(tenant_id, received.keep, said) is not None
    return received_id
