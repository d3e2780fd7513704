"""Taking a submission in: what is refused at the door, and what is stored in one transaction.

Only what can never become a document is refused (interface.md, "POST /invoices"; decisions.md, "Requests"). Everything
else is answered 202 and judged by the worker, because the authority has the last word.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from fe import kill_points
from fe.ecf.catalogue import SUBMITTABLE, Environment, Root
from fe.ecf.document import Document, NotADocument, read_payload
from fe.ecf.finished import read_finished
from fe.ecf.ids import new_id
from fe.ecf.load import MalformedXml
from fe.ecf.problems import Problem
from fe.ecf.states import Stage
from fe.flows.json_text import write_canonical_json
from fe.store import submissions
from fe.store.db import Database
from fe.store.submissions import Accepted, NewSubmission
from fe.store.wakeups import Wakeups

_E_NCF = re.compile(r"E[0-9]{12}")
_TAX_ID = re.compile(r"[0-9]{9}|[0-9]{11}")


@dataclass(frozen=True, slots=True)
class Draft:
    """What a client handed in: `xml` or `payload`, by `format`."""

    format: Literal["xml", "structured"]
    xml: str | None = None
    payload: Mapping[str, Any] | None = None
    client_request_id: str | None = None
    as_user: str | None = None
    as_user_id: UUID | None = None


def prepare(draft: Draft, tenant_id: int, environment: Environment, api_key_id: str, now: datetime) -> NewSubmission:
    """Read the document and make the submission to store; CPU work only, safe in a thread.

    Raises MalformedXml or NotADocument when it cannot become a document.
    """
    original, document = _read(draft)
    if document.root not in SUBMITTABLE:
        raise NotADocument((_not_submittable(document.root),))
    e_ncf = _if_like(_E_NCF, document.e_ncf)
    return NewSubmission(
        tenant_id=tenant_id,
        submission_id=new_id(now),
        environment=environment,
        api_key_id=api_key_id,
        client_request_id=draft.client_request_id,
        body_digest=_digest(draft, original),
        format=draft.format,
        root=document.root,
        ecf_type=document.type,
        e_ncf=e_ncf,
        issuer_rnc=_if_like(_TAX_ID, document.issuer_rnc),
        buyer_rnc=_if_like(_TAX_ID, document.buyer_rnc),
        as_user=draft.as_user,
        as_user_id=draft.as_user_id,
        original=original,
        draw_prefix=_prefix_to_draw(draft, document),
    )


async def accept(db: Database, wakeups: Wakeups, new: NewSubmission, now: datetime) -> Accepted:
    """Store the submission and its first step, then wake a signer.

    One statement, one round trip, one commit. A client that leaves cancels the caller: before the commit nothing has
    happened, after it the submission goes its way and a repeat with the same clientRequestId finds it.
    """
    kill_points.reached("accepting")
    accepted = await db.run(submissions.accept, new, now)
    kill_points.reached("accepted")
    if accepted.outcome == "accepted":
        wakeups.ring(Stage.SIGN)
    return accepted


def _read(draft: Draft) -> tuple[bytes, Document]:
    if draft.format == "xml":
        assert draft.xml is not None
        original = draft.xml.encode()
        try:
            return original, read_finished(original, at_the_door=True)
        except NotADocument as error:
            first = error.problems[0]
            where = f"{first.path}: " if first.path else ""
            raise MalformedXml(f"{where}{first.message}", first.line, first.column) from error
    assert draft.payload is not None
    return write_canonical_json(draft.payload), read_payload(draft.payload)


def _digest(draft: Draft, original: bytes) -> bytes:
    """Tell one request body from another: format, document, and whose certificate was asked for."""
    digest = hashlib.sha256(draft.format.encode())
    for part in (original, (draft.as_user or "").encode(), str(draft.as_user_id or "").encode()):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def _prefix_to_draw(draft: Draft, document: Document) -> str | None:
    """Whose next number a structured e-CF without one gets (decisions.md, "Numbers drawn by the service")."""
    draws = draft.format == "structured" and document.root is Root.ECF and document.e_ncf is None
    return document.type.prefix if draws and document.type is not None else None


def _if_like(pattern: re.Pattern[str], value: str | None) -> str | None:
    """The value where it has the form that columns and queries count on; the document itself keeps what was sent."""
    return value if value is not None and pattern.fullmatch(value) else None


def _not_submittable(root: Root) -> Problem:
    return Problem(
        code="unknown-root",
        path="",
        message=f"{root} is not a document that can be submitted",
        message_es=f"{root} no es un documento que se pueda enviar",
        expected=", ".join(sorted(SUBMITTABLE)),
    )
