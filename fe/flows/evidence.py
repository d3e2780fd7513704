"""Proving a submission's story: exporting it, and checking an export with nothing but the export itself.

Each event's hash is SHA-256 over the hash before it and the event's own text, so no event can be changed, added in the
middle or taken out without every later hash being wrong. The documents are tied in by their digests, which the events
`accepted`, `signed` and `sending` hold, and the status by the events that led to it. What a chain alone cannot show is
that its end was cut off, or that all of it was written anew: keep the last hash elsewhere.
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from fe.ecf.load import MalformedJson, load_json
from fe.lifecycle import Status
from fe.store.evidence import Bytes, Link, Story

#: The form of an export; a reader refuses what it does not know.
FORMAT = "fe-evidence-1"


class NotAnExport(ValueError):
    """What was given is no export of this form; the message says where it differs."""


def link_hash(
    previous: bytes, tenant_id: int, submission_id: UUID, seq: int, at: datetime, kind: str, detail_text: str
) -> bytes:
    """Compute what sql/0005_steps.sql `event_hash` computes."""
    text = "\n".join((str(tenant_id), str(submission_id), str(seq), _moment(at), kind, detail_text))
    return hashlib.sha256(previous + text.encode()).digest()


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def export(story: Story) -> dict[str, Any]:
    """Write a story as JSON values: complete, so that it can be checked far from the database."""
    return {
        "format": FORMAT,
        "tenantId": story.tenant_id,
        "taxLogId": str(story.submission_id),
        "status": story.status,
        "eNCF": story.e_ncf,
        "events": [
            {
                "seq": link.seq,
                "at": _moment(link.at),
                "kind": link.kind,
                "detail": link.detail_text,
                "hash": link.hash.hex(),
            }
            for link in story.links
        ],
        "documents": [
            {
                "kind": document.kind,
                "sha256": hashlib.sha256(document.content).hexdigest(),
                "content": b64encode(document.content).decode(),
            }
            for document in story.documents
        ],
    }


def read_export(value: Mapping[str, Any]) -> Story:
    """Read what `export` wrote. Raises NotAnExport."""
    if value.get("format") != FORMAT:
        raise NotAnExport(f"this is not an export of the form {FORMAT}")
    documents = []
    for where, item in _items(value, "documents"):
        try:
            content = b64decode(_field(item, "content", str, where), validate=True)
        except ValueError:
            raise NotAnExport(f"{where}.content: should be base64") from None
        if hashlib.sha256(content).hexdigest() != _field(item, "sha256", str, where):
            raise NotAnExport(f"{where}: its content does not have the digest that stands beside it")
        documents.append(Bytes(_field(item, "kind", str, where), content))
    return Story(
        tenant_id=_field(value, "tenantId", int),
        submission_id=_parsed(value, "taxLogId", UUID),
        status=_field(value, "status", str),
        e_ncf=value.get("eNCF"),
        links=tuple(_link(item, where) for where, item in _items(value, "events")),
        documents=tuple(documents),
    )


def _link(item: Mapping[str, Any], where: str) -> Link:
    return Link(
        seq=_field(item, "seq", int, where),
        at=_parsed(item, "at", datetime.fromisoformat, where),
        kind=_field(item, "kind", str, where),
        detail_text=_field(item, "detail", str, where),
        hash=_parsed(item, "hash", bytes.fromhex, where),
    )


def _items(value: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, item in enumerate(_field(value, name, list)):
        where = f"{name}[{index}]"
        if not isinstance(item, dict):
            raise NotAnExport(f"{where}: should be an object")
        yield where, item


def _field(value: Mapping[str, Any], name: str, kind: type, where: str = "") -> Any:
    found = value.get(name)
    if not isinstance(found, kind) or isinstance(found, bool):
        raise NotAnExport(f"{where}{'.' if where else ''}{name}: missing, or not of its type")
    return found


def _parsed(value: Mapping[str, Any], name: str, parse: Any, where: str = "") -> Any:
    text = _field(value, name, str, where)
    try:
        return parse(text)
    except ValueError:
        raise NotAnExport(f"{where}{'.' if where else ''}{name}: cannot be read") from None


def faults(story: Story, *, expected_hash: str | None = None) -> Iterator[str]:
    """Check a story; yield a sentence for everything that is not as it should be.

    `expected_hash` is a hash that was noted elsewhere, at any time: the chain must still contain it.
    """
    if not story.links:
        yield "there is no event at all"
        return
    yield from _faults_of_chain(story)
    if expected_hash is not None and expected_hash.lower() not in {link.hash.hex() for link in story.links}:
        yield f"no event has the hash {expected_hash}: the end was cut off, or the chain was written anew"
    try:
        told = [(link.kind, load_json(link.detail_text.encode())) for link in story.links if link.kind in _TELLING]
    except MalformedJson as wrong:
        yield f"an event's detail cannot be read: {wrong.message}"
        return
    yield from _faults_of_documents(story.documents, told)
    if story.status != _status(told):
        yield f"the submission is said to be {story.status}, and its story makes it {_status(told)}"


#: Events that name documents, or move the status.
_TELLING = frozenset({"accepted", "signed", "sending", "processing", "verdict", "error", "discarded"})


def _faults_of_chain(story: Story) -> Iterator[str]:
    previous, expected_seq = b"", 1
    for link in story.links:
        if link.seq != expected_seq:
            yield f"event {expected_seq} is missing"
        computed = link_hash(
            previous, story.tenant_id, story.submission_id, link.seq, link.at, link.kind, link.detail_text
        )
        if computed != link.hash:
            yield f"event {link.seq} ({link.kind}) was changed, or one before it was"
        previous, expected_seq = link.hash, link.seq + 1


def _faults_of_documents(documents: Sequence[Bytes], told: Sequence[tuple[str, Any]]) -> Iterator[str]:
    kept = {hashlib.sha256(document.content).hexdigest(): document.kind for document in documents}
    received, signed, sent = (_digests(told, kind) for kind in ("accepted", "signed", "sending"))
    for digest in sorted(received - set(kept)):
        yield f"what the client sent, with the digest {digest}, is not kept"
    for digest in sorted(signed - set(kept)):
        yield f"the document that was signed with the digest {digest} is not kept"
    for digest, kind in kept.items():
        if digest not in (received if kind == "original" else signed):
            yield f"no event tells of the document {kind}"
    for digest in sorted(sent - set(kept)):
        yield f"bytes with the digest {digest} were sent, and are not kept"


def _digests(told: Sequence[tuple[str, Any]], of_kind: str) -> set[str]:
    names = ("sha256", "summarySha256")
    return {detail[name] for kind, detail in told if kind == of_kind for name in names if name in detail}


def _status(told: Sequence[tuple[str, Any]]) -> str:
    """What the events make of the submission."""
    status: str = Status.QUEUED
    for kind, detail in told:
        match kind:
            case "processing":
                status = Status.PROCESSING
            case "verdict":
                status = detail.get("status")
            case "error" | "discarded":
                status = Status.ERROR
    return status
