"""Receipts that the clients' tests submit: one of every type, without a number."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from fe_client.models import Ecf31
from standardwebhooks import Webhook

from fe.ecf.catalogue import EcfType
from tests.ecf.receipts import USUAL_INDICATOR, line, payload
from tests.webhooks.vectors import SECRET

#: How a PDF, bytes for a printer, a PNG and an SVG begin.
PRINTS = [b"%PDF", b"\x1b@\x1bt", b"\x89PNG", b"<?xm", b"PK\x03\x04"]


def of_type(ecf_type: EcfType) -> dict[str, Any]:
    """One line of today; notes are of the day of what they change, which was issued before all that tests issue."""
    receipt = payload(ecf_type, [line(indicator=USUAL_INDICATOR[ecf_type])])
    if "InformacionReferencia" in receipt:
        receipt["InformacionReferencia"]["NCFModificado"] = "E310000009999"
    else:
        del receipt["Encabezado"]["Emisor"]
    id_doc = receipt["Encabezado"]["IdDoc"]
    del id_doc["eNCF"]
    id_doc["TipoeCF"] = str(ecf_type.value)
    return receipt


def of_days_before(began: datetime, usage: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Count the days up to the one on which a test began: midnight may have come since."""
    return [item for item in usage if item["date"] < began.date().isoformat()]


def a_call_of_now() -> tuple[dict[str, str], str]:
    """The headers and the body of a webhook, made at this moment."""
    body = '{"event":"test","sentAt":"2026-11-06T14:15:30.000Z","test":{"message":"hola"}}'
    at = datetime.now(UTC)
    signature = Webhook(SECRET).sign("d-1", at, body)
    stamp = str(int(at.timestamp()))
    return {"webhook-id": "d-1", "webhook-timestamp": stamp, "webhook-signature": signature}, body


def typed() -> Ecf31:
    """One that a type checker has looked at: mypy does when it looks at this file."""
    return {
        "Encabezado": {
            "IdDoc": {"TipoeCF": "31", "TipoIngresos": "01", "TipoPago": "1"},
            "Comprador": {"RNCComprador": "131880657", "RazonSocialComprador": "Cliente SRL"},
        },
        "DetallesItems": {
            "Item": [
                {
                    "NombreItem": "Martillo",
                    "IndicadorFacturacion": "1",
                    "IndicadorBienoServicio": "1",
                    "CantidadItem": 2,
                    "PrecioUnitarioItem": Decimal("450.50"),
                }
            ]
        },
    }


def mistyped() -> Ecf31:
    """With a code that is none: mypy would say that an ignore is not used if it did not see that."""
    wrong = typed()
    wrong["Encabezado"]["IdDoc"]["TipoIngresos"] = "99"  # type: ignore[typeddict-item]
    return wrong
