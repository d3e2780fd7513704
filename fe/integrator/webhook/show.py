"""Output of `fe webhook listen` for one call."""

from datetime import datetime
from typing import Any

from fe.cli.printing import moment
from fe.ecf.json_text import write_json
from fe.ecf.parse import MalformedJson, parse_json
from fe.integrator.webhook.listener import MAX_BODY, ReceivedCall
from fe.integrator.webhook.verify import Checked

#: Of an event's own object, what is said of it in one line.
_SAID = ("encf", "rncEmisor", "rncComprador", "montoTotal", "fechaEmision", "approvalStatus", "status", "message")


def record(
    received: ReceivedCall, checked: Checked | None, status: int, at: datetime, *, again: bool
) -> dict[str, Any]:
    """All of it, for programs. `signature` is null where no secret was given."""
    return {
        "at": moment(at),
        "event": received.headers.get("x-service-event"),
        "delivery": received.headers.get("x-service-delivery"),
        "signature": None if checked is None else checked.words,
        "again": again,
        "answered": status,
        "path": received.path,
        "headers": dict(received.headers),
        "body": _read(received.body),
    }


def lines(received: dict[str, Any]) -> list[str]:
    """Show a call as text: its sender, the signature check, and the event."""
    signature = "not checked: no secret was given" if received["signature"] is None else received["signature"]
    again = ", again" if received["again"] else ""
    event, delivery = received["event"] or "no event named", received["delivery"] or "-"
    said = [
        f"{received['at'][11:19]}  {event}, delivery {delivery}{again}",
        f"          signature  {signature}",
    ]
    said += [f"          {name:<9}  {text}" for name, text in _words(received["body"])]
    return [*said, f"          answered   {received['answered']}"]


def _words(body: Any) -> list[tuple[str, str]]:
    if not isinstance(body, dict):
        return [("body", f"is no JSON object: {body!r:.60}")]
    words = []
    for name, value in body.items():
        if isinstance(value, dict):
            shown = " ".join(f"{field}={value[field]}" for field in _SAID if value.get(field) is not None)
            words.append((name, shown or write_json(value).decode()))
        elif name == "xml" and isinstance(value, str):
            words.append((name, f"{len(value)} characters"))
        elif name != "event":
            words.append((name, str(value)))
    return words


def _read(body: bytes) -> Any:
    try:
        return parse_json(body, max_bytes=MAX_BODY)
    except MalformedJson:
        return body.decode("utf-8", "replace")
