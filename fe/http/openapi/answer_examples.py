"""Examples of answers for the description, by operation and status: each is of its model's type, and a test makes the
calls and compares their fields with those that come back."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import PREFIXES, Environment
from fe.ecf.verdicts import EXPLANATIONS
from fe.http.models import responses as models
from fe.http.models import webhooks
from fe.http.models.approvals import ApprovalTaken
from fe.lifecycle import EventKind, NumberFate, Status
from fe.store.records.received import ApprovalStatus

_TEST = Environment.TESTECF
_ID = "019aa3b0-7c11-7d53-9a53-5c3f8f6f2b10"
_TRACK_ID = "d2b6e27c-3908-46f3-afaa-2207b9501b4b"
_TAKEN_AT, _SETTLED_AT = "2026-11-20T14:03:11.482Z", "2026-11-20T14:03:12.615Z"
_QR = (
    "https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=131880738&RncComprador=131880657&ENCF=E310000000001"
    "&FechaEmision=20-11-2026&MontoTotal=1180.00&FechaFirma=20-11-2026%2010%3A03%3A11&CodigoSeguridad=GRi9V7"
)
_UNAUTHORISED = next(one for one in EXPLANATIONS if one.code == "4")

_TOKEN: models.Token = {
    "accessToken": "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.e30.c2lnbmF0dXJl",
    "tokenType": "Bearer",
    "expiresIn": 3600,
    "environment": _TEST,
    "scopes": ["invoices:write", "invoices:read", "ncf:read", "ncf:write", "usage:read", "billing:read"],
}
_TAKEN: models.AcceptedSubmission = {
    "taxLogId": _ID,
    "status": Status.QUEUED,
    "environment": _TEST,
    "billable": False,
    "message": "Accepted for processing. Ask GET /invoices/{taxLogId} for the verdict.",
    "eNCF": "E310000000001",
}
_DEDUPED: models.Deduped = {
    "taxLogId": _ID,
    "status": Status.ACCEPTED,
    "environment": _TEST,
    "deduped": True,
    "bodyMatched": True,
    "message": "This clientRequestId was used before; nothing was processed again.",
    "eNCF": "E310000000001",
}
_BATCH: models.Batch = {
    "items": [
        {
            "statusCode": 202,
            "taxLogId": _ID,
            "status": Status.QUEUED,
            "environment": _TEST,
            "billable": False,
            "message": "Accepted for processing. Ask GET /invoices/{taxLogId} for the verdict.",
            "eNCF": "E310000000001",
        },
        {"statusCode": 400, "message": "format must be one of: xml, structured"},
    ]
}
_INVALID: models.Validation = {
    "valid": False,
    "problems": [
        {
            "code": "unknown-code",
            "path": "Encabezado.IdDoc.TipoPago",
            "message": "TipoPago is not a code of its list",
            "messageEs": "TipoPago no es un código de su lista",
            "severity": "rejected",
            "found": "9",
            "expected": "1 (cash), 2 (credit), 3 (free of charge)",
            "expectedEs": "1 (contado), 2 (crédito), 3 (gratuito)",
            "fix": "use 1 (cash), 2 (credit), 3 (free of charge)",
            "fixEs": "use 1 (contado), 2 (crédito), 3 (gratuito)",
            "allowed": ["1", "2", "3"],
        }
    ],
}
_ITEM: models.SubmissionItem = {
    "taxLogId": _ID,
    "trackId": _TRACK_ID,
    "environment": _TEST,
    "status": Status.ACCEPTED,
    "qrCodeUrl": _QR,
    "submittedAt": _TAKEN_AT,
    "updatedAt": _SETTLED_AT,
    "clientRequestId": "order-1001",
    "eNCF": "E310000000001",
}
_PAGE: models.SubmissionPage = {"page": 1, "limit": 50, "total": 1, "items": [_ITEM], "nextCursor": None}
_STRETCH: models.SubmissionStretch = {"limit": 50, "items": [_ITEM], "nextCursor": None}
_QUEUED: models.Submission = {
    "taxLogId": _ID,
    "environment": _TEST,
    "status": Status.QUEUED,
    "qrCodeUrl": None,
    "securityCode": None,
    "ncfExpiration": None,
    "fechaHoraFirma": None,
    "response": None,
    "submittedAt": _TAKEN_AT,
    "updatedAt": _TAKEN_AT,
    "clientRequestId": "order-1001",
    "eNCF": "E310000000001",
    "numberFate": NumberFate.RESERVED,
}
_ACCEPTED: models.Submission = {
    "taxLogId": _ID,
    "trackId": _TRACK_ID,
    "environment": _TEST,
    "status": Status.ACCEPTED,
    "qrCodeUrl": _QR,
    "securityCode": "GRi9V7",
    "ncfExpiration": "31-12-2028",
    "fechaHoraFirma": "2026-11-20T10:03:11-04:00",
    "response": {"mensajes": [{"valor": "Aceptado", "codigo": "0"}], "trackStatus": {"estado": "Aceptado"}},
    "submittedAt": _TAKEN_AT,
    "updatedAt": _SETTLED_AT,
    "clientRequestId": "order-1001",
    "eNCF": "E310000000001",
    "numberFate": NumberFate.USED,
}
_REJECTED: models.Submission = {
    **_ACCEPTED,
    "status": Status.REJECTED,
    "response": {
        "mensajes": [{"valor": "Número de secuencia no autorizada.", "codigo": "4"}],
        "trackStatus": {"estado": "Rechazado"},
    },
    "numberFate": NumberFate.REUSABLE,
    "explained": [
        {
            "codigo": "4",
            "meaning": _UNAUTHORISED.meaning,
            "action": _UNAUTHORISED.action,
        }
    ],
}
_NOT_FOUND: models.NotFound = {"found": False}
_XML: models.SubmissionXml = {
    "taxLogId": _ID,
    "environment": _TEST,
    "status": Status.ACCEPTED,
    "source": "signed",
    "xml": '<?xml version="1.0" encoding="utf-8"?><ECF>...</ECF>',
}
_TIMELINE: models.Timeline = {
    "taxLogId": _ID,
    "environment": _TEST,
    "status": Status.ACCEPTED,
    "events": [
        {"seq": 1, "at": _TAKEN_AT, "kind": str(EventKind.ACCEPTED), "detail": {}},
        {"seq": 2, "at": _SETTLED_AT, "kind": str(EventKind.VERDICT), "detail": {"status": "Aceptado"}},
    ],
}
_RECEIVED: models.ReceivedItem = {
    "id": _ID,
    "environment": _TEST,
    "encf": "E310000000007",
    "tipoEcf": "E31",
    "rncEmisor": "131880657",
    "razonSocialEmisor": "Suplidora del Cibao SRL",
    "rncComprador": "131880738",
    "montoTotal": Decimal("1180.00"),
    "fechaEmision": "2026-11-20",
    "approvalStatus": ApprovalStatus.PENDING,
    "receivedAt": _TAKEN_AT,
}
_RECEIVED_PAGE: models.ReceivedPage = {"page": 1, "limit": 50, "total": 1, "items": [_RECEIVED], "nextCursor": None}
_RECEIVED_STRETCH: models.ReceivedStretch = {"limit": 50, "items": [_RECEIVED], "nextCursor": None}
_RECEIVED_XML: models.ReceivedXml = {
    "id": _ID,
    "environment": _TEST,
    "xml": '<?xml version="1.0" encoding="utf-8"?><ECF>...</ECF>',
    "acknowledgement": '<?xml version="1.0" encoding="utf-8"?><ARECF>...</ARECF>',
}


def _decided(approved: bool, deduped: bool) -> ApprovalTaken:
    return {
        "id": _ID,
        "environment": _TEST,
        "decision": "approved" if approved else "rejected",
        "approvalStatus": ApprovalStatus.PENDING,
        "taxLogId": "019aa3b1-0d2e-7b0a-8c55-2f4f0a9d1e77",
        "status": Status.QUEUED,
        "deduped": deduped,
        "message": "This was decided before; nothing was processed again."
        if deduped
        else "Accepted for processing. Ask GET /received/{id} how it stands with the authority and the issuer.",
    }


_SEQUENCE: models.NumberSequence = {
    "id": _ID,
    "type": "E31",
    "prefix": "E31",
    "description": "Credit fiscal invoice",
    "minSequence": "1",
    "maxSequence": "5000",
    "currentSequence": "1",
    "isActive": True,
    "expireAt": "2029-01-01T03:59:59.999Z",
    "expireOn": "2028-12-31",
    "pausedAt": None,
    "pausedFor": None,
}
_SEQUENCES: models.Sequences = {
    "availableTypes": [{"code": prefix.code, "name": prefix.name} for prefix in PREFIXES.values()],
    "items": [_SEQUENCE],
}
_DELETED: models.Deleted = {"ok": True, "prefix": "E32"}
_USAGE: models.UsageReport = {
    "from": "2026-10-21",
    "to": "2026-11-19",
    "items": [
        {
            "date": "2026-11-19",
            "environment": _TEST,
            "requestsTotal": 212,
            "requestsSuccess": 210,
            "requestsError": 2,
            "emissionsSubmitted": 64,
            "emissionsAccepted": 62,
            "emissionsAcceptedConditional": 1,
            "emissionsRejected": 1,
            "emissionsPending": 0,
            "bytesIn": "98304",
            "bytesOut": "131072",
            "avgLatencyMs": 840,
            "p95LatencyMs": 1600,
        }
    ],
}
_BILL: models.BillingPeriod = {
    "period": "2026-11",
    "periodStart": "2026-11-01T00:00:00.000Z",
    "periodEnd": "2026-12-01T00:00:00.000Z",
    "enabled": True,
    "subscriptionId": None,
    "unitPrice": None,
    "currency": "USD",
    "pricingTier": "standard",
    "emissionsAccepted": 0,
    "subtotal": Decimal(0),
    "lastUpdated": _SETTLED_AT,
}
_WEBHOOK: webhooks.Webhook = {
    "id": _ID,
    "environment": _TEST,
    "url": "https://erp.example.com/webhooks/fe",
    "enabled": True,
    "events": ["received_ecf", "submission.rejected"],
    "headers": ["Authorization"],
    "createdAt": _TAKEN_AT,
    "updatedAt": _TAKEN_AT,
    "failingSince": None,
    "disabledAt": None,
    "disabledReason": None,
    "oldSecretUntil": None,
}
_NEW_WEBHOOK: webhooks.Webhook = {**_WEBHOOK, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
_WEBHOOKS: webhooks.Webhooks = {"items": [_WEBHOOK]}
_DELIVERY: webhooks.Delivery = {
    "id": _ID,
    "webhookId": "019aa3af-55d0-7aa2-b1a7-93dd5be0a8f4",
    "event": "submission.rejected",
    "about": "019aa3b1-0d2e-7b0a-8c55-2f4f0a9d1e77",
    "environment": _TEST,
    "state": "delivered",
    "attempts": 1,
    "createdAt": _TAKEN_AT,
    "nextAttemptAt": None,
    "finishedAt": _SETTLED_AT,
    "lastError": None,
    "redirected": False,
}
_DELIVERY_PAGE: webhooks.DeliveryPage = {"page": 1, "limit": 50, "total": 1, "items": [_DELIVERY], "nextCursor": None}
_DELIVERY_STRETCH: webhooks.DeliveryStretch = {"limit": 50, "items": [_DELIVERY], "nextCursor": None}
_DELIVERY_DETAIL: webhooks.DeliveryDetail = {
    **_DELIVERY,
    "tries": [
        {
            "at": _SETTLED_AT,
            "durationMs": 84,
            "status": 200,
            "error": None,
            "redirected": False,
            "answer": "ok",
        }
    ],
}
_PROBE: webhooks.DeliveryAgain = {"id": _ID, "state": "pending", "message": "the test event is on its way"}
_AGAIN: webhooks.DeliveryAgain = {"id": _ID, "state": "pending", "message": "it is on its way again"}
_RECOVERY: webhooks.Recovery = {
    "id": _ID,
    "webhookId": "019aa3af-55d0-7aa2-b1a7-93dd5be0a8f4",
    "since": "2026-11-20T00:00:00.000Z",
    "until": _TAKEN_AT,
    "state": "pending",
    "recovered": 0,
    "askedAt": _TAKEN_AT,
    "finishedAt": None,
}
_RECOVERIES: webhooks.Recoveries = {"items": [_RECOVERY]}

#: By operation and status: examples by name.
ANSWERS: Mapping[str, Mapping[int, Mapping[str, Any]]] = {
    "login": {200: {"token": _TOKEN}},
    "submitInvoice": {202: {"taken-in": _TAKEN}, 200: {"known": _DEDUPED}},
    "submitInvoiceBatch": {200: {"one-of-two": _BATCH}},
    "validateInvoice": {200: {"valid": {"valid": True, "problems": []}, "invalid": _INVALID}},
    "listInvoices": {200: {"page": _PAGE, "after-cursor": _STRETCH}},
    "getInvoice": {200: {"queued": _QUEUED, "accepted": _ACCEPTED, "rejected": _REJECTED, "not-found": _NOT_FOUND}},
    "getInvoiceXml": {200: {"signed": _XML, "not-found": _NOT_FOUND}},
    "getInvoiceTimeline": {200: {"accepted": _TIMELINE, "not-found": _NOT_FOUND}},
    "listReceived": {200: {"page": _RECEIVED_PAGE, "after-cursor": _RECEIVED_STRETCH}},
    "getReceived": {200: {"pending": _RECEIVED, "not-found": _NOT_FOUND}},
    "getReceivedXml": {200: {"document": _RECEIVED_XML, "not-found": _NOT_FOUND}},
    "approveReceived": {
        202: {"taken-in": _decided(approved=True, deduped=False)},
        200: {"decided-before": _decided(approved=True, deduped=True)},
    },
    "rejectReceived": {
        202: {"taken-in": _decided(approved=False, deduped=False)},
        200: {"decided-before": _decided(approved=False, deduped=True)},
    },
    "listSequences": {200: {"one": _SEQUENCES}},
    "putSequence": {200: {"set": _SEQUENCE}},
    "changeSequence": {200: {"changed": {**_SEQUENCE, "currentSequence": "42"}}},
    "deleteSequence": {200: {"deleted": _DELETED}},
    "getUsage": {200: {"a-month": _USAGE}},
    "getCurrentBill": {200: {"nothing-yet": _BILL}},
    "listWebhooks": {200: {"one": _WEBHOOKS}},
    "putWebhook": {200: {"new": _NEW_WEBHOOK, "changed": _WEBHOOK}},
    "rotateWebhookSecret": {200: {"rotated": {**_NEW_WEBHOOK, "oldSecretUntil": "2026-11-21T14:03:11.482Z"}}},
    "testWebhook": {202: {"under-way": _PROBE}},
    "listDeliveries": {200: {"page": _DELIVERY_PAGE, "after-cursor": _DELIVERY_STRETCH}},
    "getDelivery": {200: {"delivered": _DELIVERY_DETAIL, "not-found": _NOT_FOUND}},
    "retryDelivery": {202: {"again": _AGAIN}},
    "recoverDeliveries": {202: {"begun": _RECOVERY}},
    "listRecoveries": {200: {"begun": _RECOVERIES}},
}
