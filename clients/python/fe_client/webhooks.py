"""Whether a call was made by the service: to be asked before anything in it is believed."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from fe_client.errors import WebhookRefusedError
from fe_client.models import CertificateEvent, ProbeEvent, ReceivedEcfEvent, SequenceEvent, SubmissionEvent

#: Bodies of webhooks; `event` names the kind. New kinds and fields may come: ignore those that you do not know.
Event: TypeAlias = ReceivedEcfEvent | SubmissionEvent | SequenceEvent | CertificateEvent | ProbeEvent

#: Seconds by which a call may be older, or newer, than now.
TOLERANCE = 300.0


def verify_webhook(
    secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None, tolerance: float = TOLERANCE
) -> Event:
    """Check a call by its Standard Webhooks headers, and give what it says.

    `secret` is as it was shown, `whsec_` and all; `body` the very bytes that came, before anything parsed them. Store a
    call once, under its `webhook-id`: one whose answer was lost comes again.

    Raises WebhookRefusedError: not ours, changed on its way, or older than five minutes. Answer 401 then.
    """
    given = {name.lower(): value for name, value in headers.items()}
    call, moment = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", moment):
        raise WebhookRefusedError("webhook-timestamp is no moment")
    if abs((time.time() if now is None else now) - int(moment)) > tolerance:
        raise WebhookRefusedError("the call is too old, or a clock is wrong")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise ValueError("the secret is not one of a webhook") from error
    signed = hmac.digest(key, f"{call}.{moment}.".encode() + body, hashlib.sha256)
    right = b"v1," + base64.b64encode(signed)
    signatures = given.get("webhook-signature", "").encode().split(b" ")
    fits = [hmac.compare_digest(one, right) for one in signatures]  # every one, however early one fits
    if not any(fits):
        raise WebhookRefusedError("no signature in webhook-signature fits")
    return _event(body)


def verify_service_signature(secret: str, headers: Mapping[str, str], body: bytes) -> Event:
    """Check a call by `X-Service-Signature` alone, and return its event.

    For consumers that cannot see the other headers. Weaker than `verify_webhook`: a copied call stays valid for ever.
    Raises WebhookRefusedError.
    """
    given = {name.lower(): value for name, value in headers.items()}
    right = f"sha256={hmac.digest(secret.encode(), body, hashlib.sha256).hex()}"
    if not hmac.compare_digest(given.get("x-service-signature", "").encode(), right.encode()):
        raise WebhookRefusedError("X-Service-Signature does not fit")
    return _event(body)


def _event(body: bytes) -> Event:
    try:
        event: Any = json.loads(body, parse_float=Decimal)
    except ValueError as error:
        raise WebhookRefusedError("the body is no JSON") from error
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise WebhookRefusedError("the body is no event")
    return event  # type: ignore[return-value]  # signed by the service, which says what it holds
