"""The description as every front serves it, made without a service: also for makers of clients and collections."""

from functools import cache
from inspect import signature
from typing import Any

from fe.http.calls import ApiReply, Call
from fe.http.openapi.describe import describe
from fe.http.openapi.docs import Docs
from fe.http.routes.table import PREFIX, every_route


class _Nobody:
    """Placeholder for the handlers in the table of routes; never called."""

    def __getattr__(self, name: str) -> Any:
        return self._handle

    async def _handle(self, call: Call) -> ApiReply:
        raise NotImplementedError


def description() -> dict[str, Any]:
    """Make the description that the service serves as `openapi.json`."""
    table: Any = every_route
    handlers = dict.fromkeys(list(signature(every_route).parameters)[1:], _Nobody())
    return describe(table(PREFIX, **handlers))


@cache
def docs() -> Docs:
    """The description as it is served, one for all fronts of a process: it says nothing of who handles what."""
    return Docs(f"{PREFIX}/docs", description)
