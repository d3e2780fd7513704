"""Interface of a payment processor."""

from datetime import timedelta
from typing import Protocol

from fe.store.records.charges import Charge


class ProcessorError(Exception):
    """The processor did not do what it was asked; the reason names no secret."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ProcessorUnavailable(ProcessorError):
    """It may have done it or not, or will do it later: try again, under the same key, and ask first."""

    def __init__(self, reason: str, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.after = after


class ProcessorDiffers(ProcessorUnavailable):
    """The processor has something else under the charge's id, perhaps this charge with later changes."""


class ProcessorRefused(ProcessorError):
    """The processor refuses this request and has not executed it. This tells nothing about earlier requests."""


class Processor(Protocol):
    """Adds lines to the invoices of subscriptions."""

    async def find(self, charge: Charge) -> str | None:
        """Tell what the processor calls a charge that it has; None when it has none of that id.

        Raises ProcessorUnavailable, ProcessorDiffers, ProcessorRefused.
        """

    async def add(self, charge: Charge) -> str:
        """Add a charge to the next invoice of its subscription, once for its idempotency key; what it is called there.

        Raises ProcessorUnavailable, ProcessorRefused.
        """
