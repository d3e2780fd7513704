"""Traces: which spans there are, and how they hang together. Off unless FE_TRACING_URL is set (docs/tracing.md).

A trace begins with a request that hands a document in. Its context stays in the row that the document waits in, and
each try of each step is a child of the request, in whichever process it is made. Here is what the rest of the service
speaks to, which does nothing; what records is in spans.py, and loaded only where it is wanted.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol
from uuid import UUID

from fe.identifiers import TenantId


class Span:
    """A part of a trace. This one is of a request or a step that is not traced: it records nothing."""

    #: What a row keeps, for the steps that come: `traceparent`, and after a blank `tracestate`, if there is one.
    context: str | None = None

    @property
    def trace_id(self) -> str | None:
        """The trace it belongs to, as logs and exemplars name it."""
        return trace_id_of(self.context)

    def annotate(self, **about: str | int) -> None:
        """Say more of it: words of ours, ids and numbers; never what a client wrote, nor anything secret."""

    def headers(self) -> list[tuple[str, str]]:
        """The headers that carry it on to whom we call."""
        return [] if self.context is None else _headers(self.context)


NO_SPAN = Span()


class TracedRow(Protocol):
    """A row that a try of a step is made for."""

    @property
    def tenant_id(self) -> TenantId:
        """Whose it is."""

    @property
    def subject(self) -> UUID:
        """What it is about."""

    @property
    def attempt(self) -> int:
        """The number of this try."""


class Tracing:
    """Begins spans. This one is off: it begins none, and nobody need ask it."""

    is_on: bool = False

    def request(self, name: str, headers: Mapping[str, str], tenant_id: TenantId) -> AbstractContextManager[Span]:
        """A request of a tenant that is known by its token. `headers` may name a trace that it is a part of."""
        return nullcontext(NO_SPAN)

    def step(
        self, name: str, context: str | None, work: TracedRow, *, of: str = "submission"
    ) -> AbstractContextManager[Span]:
        """One try of a step of work, in the trace that its row keeps; without one it is not traced."""
        return nullcontext(NO_SPAN)

    def exchange(self, name: str, seconds: float, **about: str) -> None:
        """Take note of an exchange that has just ended, as a part of the step that made it."""


OFF = Tracing()


def trace_id_of(context: str | None) -> str | None:
    """The trace that a row's context names."""
    return None if context is None else context[3:35]


def _headers(context: str) -> list[tuple[str, str]]:
    traceparent, _, tracestate = context.partition(" ")
    return [("traceparent", traceparent), *([("tracestate", tracestate)] if tracestate else [])]
