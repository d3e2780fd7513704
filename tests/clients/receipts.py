"""What the clients' tests hand in: a receipt of every type, without a number."""

from datetime import UTC, datetime
from typing import Any

from standardwebhooks import Webhook

from fe.ecf.catalogue import EcfType
from tests.ecf.receipts import USUAL_INDICATOR, line, payload
from tests.webhooks.vectors import SECRET


def of_type(ecf_type: EcfType) -> dict[str, Any]:
    """One line of today; notes are of the day of what they change."""
    receipt = payload(ecf_type, [line(indicator=USUAL_INDICATOR[ecf_type])])
    if "InformacionReferencia" not in receipt:
        del receipt["Encabezado"]["Emisor"]
    id_doc = receipt["Encabezado"]["IdDoc"]
    del id_doc["eNCF"]
    id_doc["TipoeCF"] = str(ecf_type.value)
    return receipt


def a_call_of_now() -> tuple[dict[str, str], str]:
    """The headers and the body of a webhook, made at this moment."""
    body = '{"event":"test","sentAt":"2026-11-06T14:15:30.000Z","test":{"message":"hola"}}'
    at = datetime.now(UTC)
    signature = Webhook(SECRET).sign("d-1", at, body)
    stamp = str(int(at.timestamp()))
    return {"webhook-id": "d-1", "webhook-timestamp": stamp, "webhook-signature": signature}, body
