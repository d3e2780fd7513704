"""Requests of nobody in particular: without a token and without a body. Those of one address have their turns."""

from collections.abc import AsyncIterator, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager

from hypercorn.typing import HTTPScope

from fe.config import Network
from fe.http.limits.shares import RETRY_WHEN_FULL, too_many_requests
from fe.http.server.addresses import client_address, holder_of
from fe.http.server.requests import RawHeader
from fe.offload.pool import FairSlots, NoSlot

#: Requests of one address in work at once, and for how long the others wait, in seconds.
OF_ONE_ADDRESS = 4
PATIENCE = 5.0

_HAS_A_BODY = (b"content-length", b"transfer-encoding")


def has_body(headers: Iterable[RawHeader]) -> bool:
    """Tell whether a request says that it has a body. Names are in lower case."""
    return any(name in _HAS_A_BODY for name, _ in headers)


class Strangers:
    """Gives turns. The framework takes its time with each request, and an answer may be read slowly."""

    def __init__(self, trusted: Sequence[Network]) -> None:
        self._trusted = trusted
        self._slots: FairSlots[Hashable] = FairSlots(of_one=OF_ONE_ADDRESS)

    def holder(self, scope: HTTPScope) -> Hashable:
        """Whose address a request comes from."""
        forwarded = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        client = scope["client"]
        return holder_of(client_address(client[0] if client else "", ", ".join(forwarded), self._trusted))

    @asynccontextmanager
    async def slot(self, scope: HTTPScope) -> AsyncIterator[None]:
        """Wait for the turn of a request without a token, and have it for the block. Raises ApiError (429).

        One that says it has a body has a turn at once: what waits for its bytes would keep others from theirs. Not
        one that is answered without it.
        """
        if scope["method"] not in {"GET", "HEAD"} and has_body(scope["headers"]):
            yield
            return
        async with self.turn(scope):
            yield

    @asynccontextmanager
    async def turn(self, scope: HTTPScope) -> AsyncIterator[None]:
        """The same for any request, as for one whose body has arrived."""
        try:
            async with self._slots.of(self.holder(scope), within=PATIENCE):
                yield
        except NoSlot:
            raise too_many_requests(RETRY_WHEN_FULL) from None
