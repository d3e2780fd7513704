"""The access log: a line for each request that a route answered, for some of them, or none."""

import structlog
import trio

from fe.http.calls import Call
from fe.http.routes.types import Route
from fe.http.server.addresses import Address

_log = structlog.get_logger(__name__)


class AccessLog:
    """Writes lines of this process. A share of 0.25 writes every fourth request, whatever became of it.

    Paths are those of the routes: what a client put into one, its query and its body are not in the log.
    """

    def __init__(self, share: float) -> None:
        """Take the share of requests that get a line: 0 for none, 1 for all."""
        self._share = share
        self._due = 0.0

    @property
    def is_on(self) -> bool:
        """Whether there is anything to write, ever."""
        return self._share > 0

    def write(self, route: Route, call: Call, client: Address, status: int, bytes_out: int, began: float) -> None:
        """Take note of a request that began at a moment of Trio's clock, if it is its turn."""
        self._due += self._share
        if self._due < 1:
            return
        self._due -= 1
        caller = call.caller
        whose = {} if caller is None else {"api_key_id": caller.api_key_id, "tenant_id": caller.tenant_id}
        _log.info(
            "a request was answered",
            route=route.path,
            method=route.method,
            status=status,
            address=str(client),
            request=call.request_id,
            milliseconds=round((trio.current_time() - began) * 1000, 1),
            bytes_in=call.bytes_in,
            bytes_out=bytes_out,
            **whose,
        )
