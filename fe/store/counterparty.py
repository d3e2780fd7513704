"""What is handed on from taxpayer to taxpayer, and how that stands (docs/architecture.md#counterparties)."""

from enum import StrEnum


class DeliveryKind(StrEnum):
    """An e-CF for its receiver, or a buyer's word on one for its issuer."""

    RECEIPT = "receipt"
    APPROVAL = "approval"


class DeliveryState(StrEnum):
    """How it stands with handing a document on."""

    PENDING = "pending"
    #: The receiver acknowledged it as received; the issuer took the approval.
    DELIVERED = "delivered"
    #: They answered that they do not take it.
    REFUSED = "refused"
    #: The authority's directory has no address for them.
    UNLISTED = "unlisted"
    #: Out of attempts: an operator's matter.
    GAVE_UP = "gave_up"
