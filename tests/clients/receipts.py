"""What the clients' tests hand in: a receipt of every type, without a number, and one that is refused."""

from datetime import UTC, datetime
from typing import Any

import httpx
from standardwebhooks import Webhook

from fe.ecf.catalogue import PREFIXES, EcfType
from tests.ecf.receipts import USUAL_INDICATOR, line, payload
from tests.system.stack import ISSUER, Stack
from tests.waiting import PATIENCE
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


def with_a_number_that_was_never_granted() -> dict[str, Any]:
    """Of a type of which none is drawn afterwards: numbers that are drawn go on behind the last that was sent."""
    receipt = of_type(EcfType.PAYMENTS_ABROAD)
    receipt["Encabezado"]["IdDoc"]["eNCF"] = "E470010000001"
    return receipt


async def grant(stack: Stack) -> None:
    """Let the authority grant numbers, so that it refuses those beyond them."""
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as operator:
        for prefix in PREFIXES:
            granted = {"issuer": ISSUER["RNCEmisor"], "type": prefix, "from": 1, "to": 10_000, "expires": "31-12-2028"}
            answer = await operator.post(f"{stack.simulator.management}/ranges", json=granted)
            assert answer.is_success, answer.text


def a_call_of_now() -> tuple[dict[str, str], str]:
    """The headers and the body of a webhook, made at this moment."""
    body = '{"event":"test","sentAt":"2026-11-06T14:15:30.000Z","test":{"message":"hola"}}'
    at = datetime.now(UTC)
    signature = Webhook(SECRET).sign("d-1", at, body)
    stamp = str(int(at.timestamp()))
    return {"webhook-id": "d-1", "webhook-timestamp": stamp, "webhook-signature": signature}, body
