"""The mail of a receipt to its buyer, as clients see it."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.clock import iso
from fe.http.models.response_types import Moment, closed
from fe.store.records.mail import MailState
from fe.store.records.submissions import Record

_STATES: dict[MailState, Literal["waiting", "sent", "refused", "suppressed", "failed"]] = {
    MailState.WAITING: "waiting",
    MailState.SENT: "sent",
    MailState.REFUSED: "refused",
    MailState.SUPPRESSED: "suppressed",
    MailState.FAILED: "failed",
}


@closed
class Mailing(TypedDict):
    """The mail of a receipt to its buyer."""

    state: Annotated[
        Literal["waiting", "sent", "refused", "suppressed", "failed"],
        Field(
            description="`waiting`: it will be tried; `sent`: the relay took it; `refused`: the relay refused the "
            "address or the message; `suppressed`: the address gets no mail of yours; `failed`: out of tries"
        ),
    ]
    address: NotRequired[Annotated[str, Field(description="where it goes")]]
    reason: NotRequired[Annotated[str, Field(description="the relay's last refusal, in its words")]]
    at: Annotated[Moment, Field(description="when it came to this state")]


def serialize_mailing(record: Record) -> Mailing | None:
    """Show the mail of a receipt; None without one, and before the first try has found an address."""
    if record.mail_state is None or record.mail_at is None:
        return None
    if record.mail_state is MailState.WAITING and record.mail_address is None:
        return None
    shown: Mailing = {"state": _STATES[record.mail_state], "at": iso(record.mail_at)}
    if record.mail_address is not None:
        shown["address"] = record.mail_address
    if record.mail_reason is not None and record.mail_state is MailState.REFUSED:
        shown["reason"] = record.mail_reason
    return shown
