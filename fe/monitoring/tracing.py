"""The interface of tracing. Off unless FE_TRACING_URL is set (docs/tracing.md).

A trace begins with a request that submits a document. Its context is stored in the outbox row, and each try of each
step is a child span of the request, in any process. The classes here record nothing; the recorder is spans.py, loaded
by tracing_setup.py only if tracing is on.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol
from uuid import UUID

from fe.identifiers import TenantId


class Span:
    """A part of a trace; this one records nothing."""

    #: Stored in the row: `traceparent`, then after a blank `tracestate`, if there is one.
    context: str | None = None

    @property
    def trace_id(self) -> str | None:
        """The id of its trace, for logs and exemplars."""
        return trace_id_of(self.context)

    def annotate(self, **about: str | int) -> None:
        """Add attributes: our words, ids and numbers; never text of a client or a secret."""

    def headers(self) -> list[tuple[str, str]]:
        """Return the headers that pass the trace on."""
        return [] if self.context is None else _headers(self.context)


NO_SPAN = Span()


class TracedRow(Protocol):
    """The row of a try."""

    @property
    def tenant_id(self) -> TenantId:
        """The tenant."""

    @property
    def subject(self) -> UUID:
        """The id of its subject."""

    @property
    def attempt(self) -> int:
        """The number of this try."""


class Tracing:
    """Begins spans; this one is off and begins none."""

    is_on: bool = False

    def request(self, name: str, headers: Mapping[str, str], tenant_id: TenantId) -> AbstractContextManager[Span]:
        """Begin the span of a tenant's request. `headers` may name its parent trace."""
        return nullcontext(NO_SPAN)

    def step(
        self, name: str, context: str | None, work: TracedRow, *, of: str = "submission"
    ) -> AbstractContextManager[Span]:
        """Begin the span of one try, in the trace of its row; without one it is not traced."""
        return nullcontext(NO_SPAN)

    def exchange(self, name: str, seconds: float, **about: str) -> None:
        """Record an exchange that has just ended, as part of the current step."""


OFF = Tracing()


def trace_id_of(context: str | None) -> str | None:
    """Return the trace id in a row's context."""
    return None if context is None else context[3:35]


def _headers(context: str) -> list[tuple[str, str]]:
    traceparent, _, tracestate = context.partition(" ")
    return [("traceparent", traceparent), *([("tracestate", tracestate)] if tracestate else [])]
