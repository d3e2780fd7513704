"""Bodies of events that did not happen: the test that a tenant asks for, and samples of every kind to try with.

Those of what happened are made by the database, in the transaction of what they tell of (sql/functions/webhooks); the
samples have their shape.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from fe.clock import iso
from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.ecf.json_text import write_json
from fe.lifecycle import WebhookEvent

_ID: Final = "0192f000-0000-7000-8000-00000000000"
_SUBMISSION_STATUS: Final = {
    WebhookEvent.ACCEPTED: ("Aceptado", "used", []),
    WebhookEvent.CONDITIONAL: ("Aceptado Condicional", "used", [{"codigo": "3", "valor": "una observación"}]),
    WebhookEvent.REJECTED: ("Rechazado", "reusable", [{"codigo": "13", "valor": "el total no cuadra"}]),
    WebhookEvent.ERROR: ("error", "reusable", []),
}


def test_body(at: datetime) -> str:
    """Make the body of a test event."""
    said = {"message": "this is a test: nothing has happened"}
    return write_json({"event": WebhookEvent.TEST, "sentAt": iso(at), "test": said}).decode()


def sample_body(kind: WebhookEvent, at: datetime) -> str:
    """Make the body of an event of a kind, about something that does not exist."""
    if kind is WebhookEvent.TEST:
        return test_body(at)
    return write_json({"event": kind, "sentAt": iso(at), **_about(kind, at)}).decode()


def _about(kind: WebhookEvent, at: datetime) -> dict[str, Any]:
    if kind is WebhookEvent.RECEIVED_ECF:
        return _received(at)
    if kind in _SUBMISSION_STATUS:
        return {"submission": _submission(kind, at)}
    soon = local(at).date() + timedelta(days=10)
    if kind is WebhookEvent.CERTIFICATE_EXPIRING:
        return {"certificate": {"id": f"{_ID}5", "user": None, "expiresAt": iso(at + timedelta(days=10))}}
    if kind in (WebhookEvent.RECURRING_PREVIEW, WebhookEvent.RECURRING_HELD):
        return {"recurring": _recurring(kind, at)}
    if kind in (WebhookEvent.AUTHORITY_DOWN, WebhookEvent.AUTHORITY_UP):
        until = None if kind is WebhookEvent.AUTHORITY_DOWN else iso(at)
        about = {"environment": Environment.TESTECF, "host": "ecf", "since": iso(at - timedelta(minutes=12))}
        return {"authority": {**about, "until": until}}
    if kind in (WebhookEvent.BUYER_APPROVED, WebhookEvent.BUYER_REJECTED):
        return {
            "approval": {
                "taxLogId": f"{_ID}2",
                "environment": Environment.TESTECF,
                "eNCF": "E310000000001",
                "rncComprador": "131880657",
                "reason": "no es lo pedido" if kind is WebhookEvent.BUYER_REJECTED else None,
                "receivedAt": iso(at),
            }
        }
    return {
        "sequence": {
            "environment": Environment.TESTECF,
            "prefix": "E31",
            "currentSequence": "4901",
            "maxSequence": "5000",
            "remaining": "100",
            "expireOn": soon.isoformat(),
        }
    }


def _recurring(kind: WebhookEvent, at: datetime) -> dict[str, Any]:
    about = {"id": "alquiler-local-3", "name": "Alquiler, local 3", "environment": Environment.TESTECF}
    if kind is WebhookEvent.RECURRING_HELD:
        held = {"reason": "sequence", "messages": ["there are no E31 numbers left"]}
        return {**about, "dueOn": local(at).date().isoformat(), **held, "messagesEs": ["no quedan números E31"]}
    return {
        **about,
        "dueOn": (local(at).date() + timedelta(days=1)).isoformat(),
        "type": "E31",
        "buyerName": "Colmado Dos Hermanos SRL",
        "buyerRnc": "131880657",
        "total": 29500,
        "itbis": 4500,
        "reason": None,
        "messages": [],
        "messagesEs": [],
    }


def _received(at: datetime) -> dict[str, Any]:
    day = local(at).date()
    xml = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF>'
        "<eNCF>E310000000001</eNCF></IdDoc></Encabezado><!-- a sample: without lines, totals and signature --></ECF>"
    )
    return {
        "receivedEcf": {
            "id": f"{_ID}1",
            "encf": "E310000000001",
            "tipoEcf": "E31",
            "rncEmisor": "131880738",
            "rncComprador": "131880681",
            "montoTotal": 1180,
            "fechaEmision": day.isoformat(),
            "approvalStatus": "pending",
            "receivedAt": iso(at),
        },
        "xml": xml,
    }


def _submission(kind: WebhookEvent, at: datetime) -> dict[str, Any]:
    status, fate, messages = _SUBMISSION_STATUS[kind]
    failed = kind is WebhookEvent.ERROR
    return {
        "taxLogId": f"{_ID}2",
        "clientRequestId": "order-1001",
        "environment": Environment.TESTECF,
        "status": status,
        "eNCF": "E310000000001",
        "numberFate": fate,
        "trackId": None if failed else f"{_ID}3",
        "securityCode": None if failed else "Ab1cD2",
        "qrCodeUrl": None if failed else "https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=131880738",
        "response": {"status": "error", "error": "a sample"}
        if failed
        else {"trackStatus": {"estado": status}, "mensajes": messages},
        "updatedAt": iso(at),
        "fechaHoraFirma": None if failed else local(at).isoformat(),
        "tipoEcf": "E31",
        "montoTotal": None if failed else 1180,
        "totalITBIS": None if failed else 180,
        "rncComprador": "131880657",
        "razonSocialComprador": None if failed else "Colmado Dos Hermanos SRL",
        "fechaEmision": None if failed else local(at).date().isoformat(),
        "readyToPrint": kind in (WebhookEvent.ACCEPTED, WebhookEvent.CONDITIONAL),
        "metadata": {"branch": "norte"},
    }
