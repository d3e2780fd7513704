"""Export a submission's evidence, and verify an export by itself.

Each event's hash is SHA-256 over the previous hash and the event's text, so changing, inserting or removing an event
breaks all later hashes. The events `accepted`, `signed` and `sending` hold the documents' digests; each status must
follow the table of transitions. A chain cannot show that its end was cut off or that all of it was rewritten: keep the
last hash elsewhere.
"""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from fe.ecf.parse import MalformedJson, parse_json
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import EventKind, Life, Status, Unlawful
from fe.store.records.evidence import Bytes, ChainLink, Evidence

#: Format version of an export; a reader rejects others.
FORMAT = "fe-evidence-1"

#: Kind and content of an event.
Event = tuple[str, dict[str, Any]]


class NotAnExport(ValueError):
    """Not an export in this format; the message says where it differs."""


def link_hash(
    previous: bytes,
    tenant_id: TenantId,
    submission_id: SubmissionId,
    seq: int,
    at: datetime,
    kind: str,
    detail_text: str,
) -> bytes:
    """Compute the same hash as `event_hash` in SQL."""
    text = "\n".join((str(tenant_id), str(submission_id), str(seq), _moment(at), kind, detail_text))
    return hashlib.sha256(previous + text.encode()).digest()


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def export(evidence: Evidence) -> dict[str, Any]:
    """Write evidence as JSON values: complete, so that it can be checked far from the database."""
    return {
        "format": FORMAT,
        "tenantId": evidence.tenant_id,
        "taxLogId": str(evidence.submission_id),
        "status": evidence.status,
        "eNCF": evidence.e_ncf,
        "events": [
            {
                "seq": link.seq,
                "at": _moment(link.at),
                "kind": link.kind,
                "detail": link.detail_text,
                "hash": link.hash.hex(),
            }
            for link in evidence.links
        ],
        "documents": [
            {
                "kind": document.kind,
                "sha256": hashlib.sha256(document.content).hexdigest(),
                "content": b64encode(document.content).decode(),
            }
            for document in evidence.documents
        ],
    }


def read_export(value: Mapping[str, Any]) -> Evidence:
    """Parse an export. Raises NotAnExport."""
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
    return Evidence(
        tenant_id=_field(value, "tenantId", int),
        submission_id=_parsed(value, "taxLogId", UUID),
        status=_parsed(value, "status", Status),
        e_ncf=value.get("eNCF"),
        links=tuple(_link(item, where) for where, item in _items(value, "events")),
        documents=tuple(documents),
    )


def _link(item: Mapping[str, Any], where: str) -> ChainLink:
    return ChainLink(
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


def faults(evidence: Evidence, *, expected_hash: str | None = None) -> Iterator[str]:
    """Verify evidence; yield a sentence for each error.

    `expected_hash` is a hash noted earlier, which the chain must still contain.
    """
    if not evidence.links:
        yield "there is no event at all"
        return
    yield from _faults_of_chain(evidence)
    if expected_hash is not None and expected_hash.lower() not in {link.hash.hex() for link in evidence.links}:
        yield f"no event has the hash {expected_hash}: the end was cut off, or the chain was rewritten"
    try:
        events = [(link.kind, parse_json(link.detail_text.encode())) for link in evidence.links]
    except MalformedJson as wrong:
        yield f"an event's detail cannot be read: {wrong.message}"
        return
    if not all(isinstance(detail, dict) for _, detail in events):
        yield "an event's detail cannot be read: it is no object"
        return
    yield from _faults_of_documents(evidence.documents, events)
    yield from _faults_of_life(evidence, events)


def _faults_of_chain(evidence: Evidence) -> Iterator[str]:
    previous, expected_seq = b"", 1
    for link in evidence.links:
        if link.seq != expected_seq:
            yield f"event {expected_seq} is missing"
        computed = link_hash(
            previous, evidence.tenant_id, evidence.submission_id, link.seq, link.at, link.kind, link.detail_text
        )
        if computed != link.hash:
            yield f"event {link.seq} ({link.kind}) was changed, or one before it was"
        previous, expected_seq = link.hash, link.seq + 1


def _faults_of_documents(documents: Sequence[Bytes], events: Sequence[Event]) -> Iterator[str]:
    kept = {hashlib.sha256(document.content).hexdigest(): document.kind for document in documents}
    received = _digests(events, EventKind.ACCEPTED)
    signed = _digests(events, EventKind.SIGNED)
    sent = _digests(events, EventKind.SENDING)
    for digest in sorted(received - set(kept)):
        yield f"what the client sent, with the digest {digest}, is not kept"
    for digest in sorted(signed - set(kept)):
        yield f"the document that was signed with the digest {digest} is not kept"
    for digest, kind in kept.items():
        if digest not in (received if kind == "original" else signed):
            yield f"no event tells of the document {kind}"
    for digest in sorted(sent - set(kept)):
        yield f"bytes with the digest {digest} were sent, and are not kept"


def _digests(events: Sequence[Event], of_kind: EventKind) -> set[str]:
    names = ("sha256", "summarySha256")
    return {detail[name] for kind, detail in events if kind == of_kind for name in names if name in detail}


def _faults_of_life(evidence: Evidence, events: Sequence[Event]) -> Iterator[str]:
    life = Life()
    for number, (kind, detail) in enumerate(events, 1):
        try:
            life = life.after(kind, detail)
        except Unlawful as wrong:
            yield f"event {number}: {wrong}"
            return
    if evidence.status != life.status:
        yield f"the submission is said to be {evidence.status}, and its events make it {life.status}"
