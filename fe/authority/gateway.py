"""Calls on the authority's services: address, headers, metric. classify.py interprets the answers."""

from collections.abc import Callable
from types import TracebackType

import trio

from fe.authority.errors import AuthorityRefused, OutcomeUnknown, Unavailable
from fe.authority.hosts import Host, Hosts, Location, Operation
from fe.authority.multipart import MultipartForm
from fe.authority.transport import BeforeSend, Transport
from fe.ecf.catalogue import Environment
from fe.egress.answer import HttpReply
from fe.egress.connection import HttpRequest
from fe.egress.errors import CallBroken, CallNotSent

#: Told of every exchange: operation, environment ('' for the status service), host, outcome (one of OUTCOMES), seconds.
#: Must not raise.
Observe = Callable[[Operation, str, Host, str, float], None]

Headers = tuple[tuple[str, str], ...]

OUTCOMES = ("ok", "unauthorised", "refused", "unavailable", "unknown", "cancelled")

_COMMON = (("User-Agent", "fe"), ("Accept-Encoding", "identity"))


class Unauthorised(Unavailable):
    """The authority does not take the session's token (401): nothing was looked at, the document included."""


def _outcome(error: type[BaseException] | None) -> str:
    """Name how an exchange ended: one of OUTCOMES."""
    if error is None:
        return "ok"
    for kind, outcome in _OUTCOME_OF:
        if issubclass(error, kind):
            return outcome
    return "cancelled"  # or an error that is none of ours, from the caller's last check before sending


#: The narrower kind first.
_OUTCOME_OF = (
    (Unauthorised, "unauthorised"),
    (Unavailable, "unavailable"),
    (OutcomeUnknown, "unknown"),
    (AuthorityRefused, "refused"),
)


class TellingTheOutcome:
    """A context that calls `tell`, which must not raise, with how what is done inside ends: one of OUTCOMES."""

    __slots__ = ("_tell",)

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._tell(_outcome(kind))


class Gateway:
    """The one way from here to the authority."""

    def __init__(self, hosts: Hosts, transport: Transport, observe: Observe | None = None) -> None:
        self.hosts = hosts
        self._transport = transport
        self._observe = observe

    def observed(self, operation: Operation, environment: Environment | None, host: Host) -> TellingTheOutcome:
        """Report the exchange and how it is classified inside, by how they end."""
        started = trio.current_time()

        def tell(outcome: str) -> None:
            if self._observe is not None:
                self._observe(operation, environment or "", host, outcome, trio.current_time() - started)

        return TellingTheOutcome(tell)

    async def ask(
        self,
        location: Location,
        lane: str,
        *,
        authorization: str | None = None,
        accept: str = "application/json",
        form: MultipartForm | None = None,
    ) -> HttpReply:
        """Make a call that changes nothing there: however it fails, it may be made again (Unavailable)."""
        request = _request(location, authorization, accept, form)
        try:
            return await self._transport.exchange(location.origin, lane, request)
        except (CallNotSent, CallBroken) as error:
            raise Unavailable(error.reason) from error

    async def submit(
        self,
        location: Location,
        lane: str,
        *,
        authorization: str,
        form: MultipartForm,
        before_send: BeforeSend | None = None,
        more: Headers = (),
    ) -> HttpReply:
        """Send a document: Unavailable while nothing of it was sent, OutcomeUnknown from its first byte on."""
        request = _request(location, authorization, "application/json", form, more)
        try:
            return await self._transport.exchange(location.origin, lane, request, before_send)
        except CallNotSent as error:
            raise Unavailable(error.reason) from error
        except CallBroken as error:
            raise OutcomeUnknown(error.reason) from error


def _request(
    location: Location, authorization: str | None, accept: str, form: MultipartForm | None, more: Headers = ()
) -> HttpRequest:
    headers = [*_COMMON, ("Accept", accept), *more]
    if authorization is not None:
        headers.append(("Authorization", authorization))
    if form is None:
        return HttpRequest("GET", location.target, headers)
    headers.append(("Content-Type", form.content_type))
    return HttpRequest("POST", location.target, headers, form.body)
