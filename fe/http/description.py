"""The description without a service: for whoever makes clients and collections of it."""

from inspect import signature
from typing import Any

from fe.http.app import PREFIX
from fe.http.calls import ApiReply, Call
from fe.http.openapi import describe
from fe.http.routes import every_route


class _Nobody:
    """Stands where the table of routes has handlers: nobody calls them here."""

    def __getattr__(self, name: str) -> Any:
        return self._handle

    async def _handle(self, call: Call) -> ApiReply:
        raise NotImplementedError

    def show(self, description: dict[str, Any]) -> None:
        """Take the description, which is made once more below."""


def description() -> dict[str, Any]:
    """Make the description that the service serves as `openapi.json`."""
    table: Any = every_route
    handlers = dict.fromkeys(list(signature(every_route).parameters)[1:], _Nobody())
    return describe(table(PREFIX, **handlers))
