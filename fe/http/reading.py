"""Bodies of /invoices: from bytes to what is validated or stored. CPU work only."""

import re
from dataclasses import replace
from datetime import datetime

from fe.ecf.document import NotADocument
from fe.ecf.parse import Malformed
from fe.ecf.problems import Room
from fe.http import messages
from fe.http.calls import Call, Caller
from fe.http.errors import ApiError
from fe.http.request_bodies import check, read_body
from fe.http.request_models import NewBatch, NewInvoice
from fe.identifiers import ClientRequestId
from fe.issuing.accept import admit
from fe.issuing.prepare import Draft
from fe.store.submissions import NewSubmission


def read_draft(raw: bytes, sandbox: bool = False) -> Draft:
    """Read what is to be validated. Raises Malformed, or ApiError (400) naming the first field that is wrong."""
    draft = _draft(read_body(NewInvoice, raw), sandbox)
    if draft.simulation is not None:
        raise ApiError(400, messages.NOTHING_COMES)
    return draft


def _draft(body: NewInvoice, sandbox: bool) -> Draft:
    """Make the draft; only in a sandbox it may ask for what becomes of it."""
    if body.simulate is not None and not sandbox:
        raise ApiError(400, messages.NO_SANDBOX)
    return body.as_draft()


def read_submission(
    raw: bytes, caller: Caller, now: datetime, key: ClientRequestId | None = None, sandbox: bool = False
) -> tuple[NewSubmission, Draft | None]:
    """Give the submission to store and, when it is to be validated first, what it was made of.

    `key` is the clientRequestId where it came as a header. Raises as `read_draft` does, and NotADocument.
    """
    body = read_body(NewInvoice, raw)
    draft = _draft(body, sandbox)
    if draft.simulated_now is not None and not body.strict:
        raise ApiError(400, messages.ONLY_VALIDATED)
    if key is not None:
        if draft.client_request_id not in (None, key):
            raise ApiError(400, messages.TWO_KEYS)
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
        raise ApiError(400, messages.KEY_FORM)
    return ClientRequestId(text)


def read_submissions(
    raw: bytes, caller: Caller, now: datetime, sandbox: bool = False
) -> list[NewSubmission | Exception]:
    """Give the submissions of a batch, or what is wrong with each, in their order.

    Raises Malformed, or ApiError (400), for what is wrong with the whole. What is told of all together is what is told
    of one document at most: what was meant for twenty names, and a thousand problems, of each receipt the first.
    """
    room = Room()
    read: list[NewSubmission | Exception] = []
    for item in read_body(NewBatch, raw).items:
        try:
            body = check(NewInvoice, item)
            if body.strict:
                raise ApiError(400, messages.NO_STRICT_BATCH)
            draft = _draft(body, sandbox)
            if draft.simulated_now is not None:
                raise ApiError(400, messages.ONLY_VALIDATED)
            read.append(admit(draft, caller.tenant_id, caller.environment, caller.api_key_id, now, room))
        except (ApiError, Malformed, NotADocument) as wrong:
            read.append(wrong)
    return read
