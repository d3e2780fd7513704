"""How it stands with handing a document on, as clients see it."""

from datetime import datetime

from fe.clock import iso
from fe.http.models.approvals import Handing
from fe.store.records.counterparty import HandingState


def serialize_handing(state: HandingState, reason: str | None, at: datetime) -> Handing:
    """Show it; `reason` is left out where there is nothing to say."""
    shown: Handing = {"state": state.value, "at": iso(at)}
    if reason is not None:
        shown["reason"] = reason
    return shown
