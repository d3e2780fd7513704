"""Check the timeline of a submission: its chain of hashes, and what its events say of the documents."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, NoReturn

from .faults import Broken

FORMAT = "fe-timeline-1"
VOIDING_FORMAT = "fe-voiding-1"
_AT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z\Z")
_HASH = re.compile(r"[0-9a-f]{64}\Z")
_VERDICTS = ("Aceptado", "Aceptado Condicional", "Rechazado")


@dataclass(frozen=True)
class CheckedTimeline:
    """Events whose chain holds: kind and detail of each, and the time of the last signing."""

    events: tuple[tuple[str, Mapping[str, Any]], ...]
    signed_at: "datetime | None"


def read_timeline(raw: bytes, tenant: int, submission: str) -> CheckedTimeline:
    """Read a timeline and check its chain. Raises Broken."""
    try:
        value = _json(raw.decode())
        if not isinstance(value, dict) or set(value) != {"format", "tenantId", "taxLogId", "events"}:
            raise Broken("the timeline does not have its members")
        told = value["format"], value["tenantId"], value["taxLogId"]
        if isinstance(value["tenantId"], bool) or told != (FORMAT, tenant, submission):
            raise Broken("the timeline is another's")
        if not isinstance(value["events"], list) or not value["events"]:
            raise Broken("the timeline has no events")
        return _checked(value["events"], tenant, submission)
    except (ValueError, RecursionError) as wrong:
        raise Broken(f"the timeline does not hold: {wrong}") from None


def _checked(events: list[Any], tenant: int, submission: str) -> CheckedTimeline:
    previous, found, signed_at = b"", [], None
    for expected, event in enumerate(events, 1):
        if not isinstance(event, dict) or set(event) != {"seq", "at", "kind", "detail", "hash"}:
            raise Broken("an event does not have its members")
        seq, texts = event["seq"], [event[name] for name in ("at", "kind", "detail", "hash")]
        if seq != expected or isinstance(seq, bool) or not all(isinstance(text, str) for text in texts):
            raise Broken(f"event {expected} is missing")
        at, kind, detail, told = texts
        if not _AT.match(at) or not _HASH.match(told):
            raise Broken(f"event {expected} has no time or no hash")
        lines = "\n".join((str(tenant), submission, str(seq), at, kind, detail))
        previous = sha256(previous + lines.encode()).digest()
        if previous.hex() != told:
            raise Broken(f"event {expected} or one before it was changed")
        parsed = _json(detail)
        if not isinstance(parsed, dict):
            raise Broken(f"the detail of event {expected} is no object")
        found.append((kind, parsed))
        if kind == "signed":
            signed_at = datetime.fromisoformat(at.replace("Z", "+00:00"))
    return CheckedTimeline(tuple(found), signed_at)


def fault_of_documents(
    timeline: CheckedTimeline, digests: Mapping[str, str], status: "str | None", *, is_whole: bool
) -> "str | None":
    """Say where the events contradict the files, or the status; None if nowhere.

    `digests`: those of the files, by name. An addition is not whole: the documents are in an earlier package.
    """
    if not is_whole:
        return None
    signed, summary = digests.get("signed.xml"), digests.get("summary.xml")
    was_signed = False
    verdict = None
    for kind, detail in timeline.events:
        if kind == "accepted" and "original.bin" in digests and detail.get("sha256") != digests["original.bin"]:
            return "the original is not the one that was accepted"
        if kind == "signed":
            was_signed = True
            if detail.get("sha256") != signed or detail.get("summarySha256") != summary:
                return "the document is not the one that was signed"
        if kind == "sending" and detail.get("sha256") not in (signed, summary):
            return "other bytes were sent"
        if kind == "verdict":
            verdict = detail.get("status")
    if not was_signed:
        return "no event tells of the signature"
    if (verdict is not None or status in _VERDICTS) and verdict != status:
        return "the status is not that of the verdict"
    return None


def read_answer(raw: bytes, tenant: int, voiding: str, status: "str | None") -> None:
    """Check that the answer to a voiding is about it and tells the same end. Raises Broken."""
    try:
        value = _json(raw.decode())
    except (ValueError, RecursionError) as wrong:
        raise Broken(f"the answer cannot be read: {wrong}") from None
    members = {"format", "tenantId", "id", "status", "reason", "requestedAt", "finishedAt", "answer"}
    if not isinstance(value, dict) or set(value) != members or isinstance(value["tenantId"], bool):
        raise Broken("the answer does not have its members")
    told = value["format"], value["tenantId"], value["id"], value["status"]
    if told != (VOIDING_FORMAT, tenant, voiding, status):
        raise Broken("the answer is another's")


def _json(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _refuse(_: str) -> NoReturn:
    raise Broken("a number is none")
