"""Bodies of /invoices: from bytes to what is validated or stored. CPU work only."""

from datetime import datetime

from fe.http.calls import Caller
from fe.http.request_bodies import read_body
from fe.http.request_models import NewInvoice
from fe.issuing.accept import admit
from fe.issuing.prepare import Draft
from fe.store.submissions import NewSubmission


def read_draft(raw: bytes) -> Draft:
    """Read what is to be validated. Raises Malformed, or ApiError (400) naming the first field that is wrong."""
    return read_body(NewInvoice, raw).as_draft()


def read_submission(raw: bytes, caller: Caller, now: datetime) -> tuple[NewSubmission, Draft | None]:
    """Give the submission to store and, when it is to be validated first, what it was made of.

    Raises as `read_draft` does, and NotADocument.
    """
    body = read_body(NewInvoice, raw)
    draft = body.as_draft()
    new = admit(draft, caller.tenant_id, caller.environment, caller.api_key_id, now)
    return new, draft if body.strict else None
