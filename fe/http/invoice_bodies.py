"""Bodies of /invoices: from bytes to what is validated or stored. CPU work only."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from fe.ecf.document import NotADocument
from fe.ecf.parse import ListedPart, Malformed, MalformedJson, parse_json, split_list
from fe.ecf.problems import Problem, Room, Severity
from fe.http.calls import Call, Caller
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.messages import say
from fe.http.models.requests import MAX_ITEMS, BatchRequest, NewInvoice
from fe.http.request_bodies import check, read_body
from fe.identifiers import ClientRequestId
from fe.issuing.accept import admit
from fe.issuing.prepare import Draft
from fe.store.records.submissions import NewSubmission


def read_draft(raw: bytes, sandbox: bool = False) -> Draft:
    """Read what is to be validated. Raises Malformed, or ApiError (400) naming the first field that is wrong."""
    body = read_body(NewInvoice, raw)
    draft = _draft(body, sandbox)
    if draft.simulation is not None:
        raise ApiError(400, say("nothing-comes"))
    if body.strict:
        return replace(draft, remarks=(*_refused(body.ignored), *draft.remarks[len(body.ignored) :]))
    return draft


def _draft(body: NewInvoice, sandbox: bool) -> Draft:
    """Make the draft; only in a sandbox it may ask for what becomes of it."""
    if body.simulate is not None and not sandbox:
        raise ApiError(400, say("no-sandbox"))
    return body.as_draft()


def _draft_to_store(body: NewInvoice, sandbox: bool, *, strict: bool) -> Draft:
    """Make the draft of what is to be stored; where it is `strict`, refuse unknown members of its body."""
    if strict:
        _refuse_unknown(body.ignored)
    draft = _draft(body, sandbox)
    if draft.simulated_now is not None and not strict:
        raise ApiError(400, say("only-validated"))
    return draft


def _refuse_unknown(ignored: tuple[Problem, ...]) -> None:
    """Raise ApiError (400) that names the unknown members of a body."""
    if ignored:
        said = say("unknown-members-refused", listed=", ".join(one.path for one in ignored))
        raise ApiError(400, said, problems=serialize_problems(_refused(ignored)))


def _refused(ignored: tuple[Problem, ...]) -> tuple[Problem, ...]:
    return tuple(replace(one, severity=Severity.REJECTED) for one in ignored)


def read_submission(
    raw: bytes, caller: Caller, now: datetime, key: ClientRequestId | None = None, sandbox: bool = False
) -> tuple[NewSubmission, Draft | None]:
    """Give the submission to store and, when it is to be validated first, what it was made of.

    `key` is the clientRequestId where it came as a header. Raises as `read_draft` does, NotADocument, and ApiError
    (400) for an unknown member where it is strict.
    """
    body = read_body(NewInvoice, raw)
    draft = _draft_to_store(body, sandbox, strict=bool(body.strict))
    if key is not None:
        if draft.client_request_id not in (None, key):
            raise ApiError(400, say("two-keys"))
        draft = replace(draft, client_request_id=key)
    new = admit(draft, caller.tenant_id, caller.environment, caller.api_key_id, now)
    return new, draft if body.strict else None


_KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,118}[\x21-\x7e])?")


def read_key(call: Call) -> ClientRequestId | None:
    """Read `Idempotency-Key`, with quotes around it or without. Raises ApiError (400) when it cannot be an id."""
    given = call.headers.get("idempotency-key")
    if given is None:
        return None
    text = given[1:-1] if len(given) > 1 and given[0] == given[-1] == '"' else given
    if not _KEY.fullmatch(text):
        raise ApiError(400, say("key-form"))
    return ClientRequestId(text)


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """The receipts of a batch in their order, and remarks on the batch's own members.

    Of each receipt: what is wrong with it; or the submission to store and, when it is to be validated first, its draft.
    """

    receipts: list[tuple[NewSubmission, Draft | None] | Exception]
    remarks: tuple[Problem, ...]


def read_submissions(raw: bytes, caller: Caller, now: datetime, sandbox: bool = False) -> ReadBatch:
    """Read a batch. A receipt that cannot be read fails alone, as long as it is clear where it ends.

    Raises Malformed, or ApiError (400), for an error of the whole batch. The limits on reported problems hold for the
    batch as for one document: suggestions for twenty names, and a thousand problems, of each receipt the first.
    """
    room = Room()
    batch, items = _read_batch(raw)
    if batch.strict:
        _refuse_unknown(batch.ignored)
    read: list[tuple[NewSubmission, Draft | None] | Exception] = []
    for item in items:
        try:
            body = check(NewInvoice, item.read() if isinstance(item, ListedPart) else item)
            strict = bool(batch.strict or body.strict)
            draft = _draft_to_store(body, sandbox, strict=strict)
            new = admit(draft, caller.tenant_id, caller.environment, caller.api_key_id, now, room)
            read.append((new, draft if strict else None))
        except (ApiError, Malformed, NotADocument) as wrong:
            read.append(wrong)
    return ReadBatch(read, batch.ignored)


def _read_batch(raw: bytes) -> tuple[BatchRequest, Sequence[Any]]:
    """The envelope of a batch, and its items: values or, where the whole cannot be read, the bytes of each."""
    try:
        batch = read_body(BatchRequest, raw)
    except MalformedJson:
        cut = split_list(raw, "items", MAX_ITEMS)
        if cut is None:
            raise
        around, parts = cut
        return check(BatchRequest, parse_json(around)), parts
    return batch, batch.items
