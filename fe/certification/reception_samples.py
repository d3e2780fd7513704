"""Documents with which a receiver is tried: good and bad receipts and approvals, and the answer to each."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from lxml import etree

from fe.ecf.autofill import autofill
from fe.ecf.build import build
from fe.ecf.catalogue import Root
from fe.ecf.dates import local, read_day, show_day, show_moment
from fe.ecf.document import Document, read_payload
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer

#: Tells people that the receipt is a test.
_ITEM = "Prueba de recepcion, sin valor"
_OTHERS = ("131880657", "131880738")
#: Types whose receipts a buyer approves, by their first three characters.
_WITH_APPROVAL = ("E31", "E33", "E34", "E44", "E45")


class SupplierSample(StrEnum):
    """A receipt to send, and the acknowledgement it should get."""

    GOOD = "good"
    BAD_FORMAT = "bad-format"
    BAD_SIGNATURE = "bad-signature"
    OTHER_BUYER = "other-buyer"
    CONSUMER = "consumer"

    @property
    def expected(self) -> str:
        """`Estado`, and after a slash the reason."""
        return {
            SupplierSample.GOOD: "0",
            SupplierSample.BAD_FORMAT: "1/1",
            SupplierSample.BAD_SIGNATURE: "1/2",
            SupplierSample.OTHER_BUYER: "1/4",
            SupplierSample.CONSUMER: "1/1",
        }[self]


class ApprovalSample(StrEnum):
    """An approval to send: 200 for the good one, 400 for the others."""

    GOOD = "good"
    BAD_FORMAT = "bad-format"
    BAD_SIGNATURE = "bad-signature"
    OTHER_ISSUER = "other-issuer"


@dataclass(frozen=True, slots=True)
class ApprovedReceipt:
    """The receiver's own receipt that an approval is about."""

    e_ncf: str
    buyer_rnc: str
    issued_on: date
    total: str


def other_than(rnc: str) -> str:
    """Return the RNC of another company."""
    return next(each for each in _OTHERS if each != rnc)


def make_receipt(
    sample: SupplierSample, signer: Signer, *, issuer: Mapping[str, str], buyer: str, number: str, now: datetime
) -> bytes:
    """Make and sign a receipt of `issuer` for the receiver `buyer`."""
    line = {
        "IndicadorFacturacion": "1",
        "NombreItem": _ITEM,
        "IndicadorBienoServicio": "2",
        "CantidadItem": "1",
        "PrecioUnitarioItem": "100.00",
    }
    payload = {
        "Encabezado": {
            "IdDoc": {"eNCF": number, "TipoIngresos": "01", "TipoPago": "1"},
            "Emisor": {"FechaEmision": show_day(local(now).date())},
            "Comprador": {
                "RNCComprador": other_than(buyer) if sample is SupplierSample.OTHER_BUYER else buyer,
                "RazonSocialComprador": "Receptora SRL",
            },
        },
        "DetallesItems": {"Item": [line]},
    }
    expiry = date(now.year + 1, 12, 31)
    root = build(autofill(read_payload(payload), issuer=issuer, expiry=expiry, now=now))
    if sample is SupplierSample.BAD_FORMAT:
        root[0].append(root.makeelement("NoExiste"))
    signed = signer.sign(root).xml
    return signed.replace(f">{_ITEM}<".encode(), b">Otra cosa<") if sample is SupplierSample.BAD_SIGNATURE else signed


def make_approval(
    sample: ApprovalSample,
    signer: Signer,
    receipt: ApprovedReceipt,
    *,
    issuer: str,
    now: datetime,
    rejection: str | None = None,
) -> bytes:
    """Make and sign an approval of the buyer of `receipt`, which `issuer`, the receiver of the approval, issued.

    With `rejection`, the buyer rejects the receipt for that reason.
    """
    moment = show_moment(now)
    detail = {
        "Version": "1.0",
        "RNCEmisor": other_than(issuer) if sample is ApprovalSample.OTHER_ISSUER else issuer,
        "eNCF": receipt.e_ncf,
        "FechaEmision": show_day(receipt.issued_on),
        "MontoTotal": receipt.total,
        "RNCComprador": receipt.buyer_rnc,
        "Estado": "1" if rejection is None else "2",
        **({} if rejection is None else {"DetalleMotivoRechazo": rejection}),
        "FechaHoraAprobacionComercial": moment,
    }
    root = build(Document(Root.ACECF, None, {"DetalleAprobacionComercial": detail}))
    if sample is ApprovalSample.BAD_FORMAT:
        root[0].append(root.makeelement("NoExiste"))
    signed = signer.sign(root).xml
    if sample is not ApprovalSample.BAD_SIGNATURE:
        return signed
    return signed.replace(moment.encode(), show_moment(now - timedelta(minutes=1)).encode())


def approved_receipt(raw: bytes, issuer: str) -> ApprovedReceipt | None:
    """Read the receipt of `issuer` that an approval may be about; None where the document is no such receipt.

    Raises MalformedXml.
    """
    root = parse_xml(raw)
    found = ApprovedReceipt(
        _text(root, "Encabezado/IdDoc/eNCF"),
        _text(root, "Encabezado/Comprador/RNCComprador"),
        read_day(_text(root, "Encabezado/Emisor/FechaEmision")) or date.min,
        _text(root, "Encabezado/Totales/MontoTotal"),
    )
    is_ours = root.tag == Root.ECF and _text(root, "Encabezado/Emisor/RNCEmisor") == issuer
    is_whole = found.buyer_rnc and found.total and found.issued_on != date.min
    return found if is_ours and is_whole and found.e_ncf.startswith(_WITH_APPROVAL) else None


def _text(root: etree._Element, path: str) -> str:
    return (root.findtext(path) or "").strip()
