"""The request and the answer of a handler, independent of the web framework."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from urllib.parse import parse_qsl

from fe.ecf.catalogue import Environment
from fe.ecf.parse import excerpt
from fe.ecf.texts import Text
from fe.http.errors import ApiError
from fe.http.languages import Language, choose
from fe.http.messages import say
from fe.identifiers import ApiKeyId, TenantId
from fe.limits import Allowance, scarcer
from fe.monitoring.tracing import NO_SPAN, Span

MAX_QUERY_FIELDS = 32
_LONGEST_NAME = 40
#: Ends the name of a query parameter that is asked for by a key of the client's choice.
KEYED = "[name]"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller: an active key, and the scopes of its token."""

    api_key_id: ApiKeyId
    tenant_id: TenantId
    environment: Environment
    scopes: frozenset[str]


@dataclass(slots=True)
class Call:
    """One request. Header names are in lower case; `read_body` gives the whole body, within its limits, once."""

    headers: Mapping[str, str]
    query_string: bytes
    params: Mapping[str, str]
    peer: str
    request_id: str
    read_body: Callable[[], Awaitable[bytes]]
    #: The query parameters that its route has.
    parameters: Collection[str] = ()
    #: The caller, once authenticated; the call is then counted for that tenant.
    caller: Caller | None = None
    #: Bytes of the body that were read, and the body itself where `body` read it.
    bytes_in: int = 0
    content: bytes = b""
    #: The message of the error that it was answered with.
    problem: Text | None = None
    #: Bytes of a streamed answer that were sent so far.
    bytes_out: int = 0
    #: The rest of the scarcest rate limit that counted it.
    allowance: Allowance | None = None
    #: The part of a trace that it is.
    span: Span = NO_SPAN
    #: Closed when the answer was sent, or the client has left. The fast path never closes it.
    until_sent: ExitStack = field(default_factory=ExitStack)

    @property
    def language(self) -> Language:
        """The language its client reads."""
        return choose(self.headers.get("accept-language"))

    @property
    def identity(self) -> Caller:
        """The caller of a route that has a scope."""
        assert self.caller is not None
        return self.caller

    def query(self) -> dict[str, str]:
        """Read the query string. Raises ApiError (400) when it is not UTF-8, too long, or names a field twice.

        So it does for a parameter that its route does not have: a filter that is misspelt must not list everything.
        """
        if not self.query_string:
            return {}
        try:
            pairs = parse_qsl(
                self.query_string.decode("ascii"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=MAX_QUERY_FIELDS,
            )
        except ValueError:
            raise ApiError(400, say("bad-query")) from None
        fields = dict(pairs)
        if len(fields) != len(pairs):
            raise ApiError(400, say("parameter-twice"))
        for name in fields:
            if name not in self.parameters and _of_any_key(name) not in self.parameters:
                raise ApiError(400, _unknown_parameter(name, self.parameters))
        return fields

    def limit_by(self, allowance: Allowance | None) -> None:
        """Note what is left of a limit that counted this call."""
        self.allowance = scarcer(self.allowance, allowance)

    def announced(self, limit: int) -> int:
        """How many bytes its body will have, as far as it says so: `limit` where it does not, or says more."""
        said = self.headers.get("content-length", "")
        return min(int(said), limit) if said.isascii() and said.isdigit() and len(said) < 20 else limit

    async def body(self) -> bytes:
        """Read the body of a request that should carry JSON. Raises ApiError (408, 413, 415)."""
        if self.headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
            raise ApiError(415, say("coded-body"), (("Accept-Encoding", "identity"),))
        if self.headers.get("content-length") != "0":  # nothing is of no type, whatever a client's library says of it
            refuse_foreign_media_type(self.headers.get("content-type"))
        body = self.content = await self.read_body()
        self.bytes_in = len(body)
        return body


@dataclass(frozen=True, slots=True)
class ApiReply:
    """An answer: `body` is JSON, unless `headers` name another content type; `stream` is sent in its place."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = field(default=())
    stream: AsyncGenerator[bytes, None] | None = None


Handler = Callable[[Call], Awaitable[ApiReply]]


def _of_any_key(name: str) -> str:
    """`metadata[branch]` as its route has it: `metadata[name]`."""
    before, bracket, _ = name.partition("[")
    return f"{before}{KEYED}" if bracket and name.endswith("]") else name


def _unknown_parameter(name: str, known: Collection[str]) -> Text:
    """The message for an unknown parameter, with the known ones, the most similar first.

    Only the part of the name that is shown is compared, since a client can send a name of any length.
    """
    shown = name[:_LONGEST_NAME].casefold()

    def likeness(one: str) -> float:
        return SequenceMatcher(None, shown, one.casefold()).ratio()

    named = [one for one in known if f"{one}{KEYED}" not in known]
    listed = ", ".join(sorted(named, key=likeness, reverse=True))
    return say("no-such-parameter", name=excerpt(name, _LONGEST_NAME), known=listed)


def refuse_foreign_media_type(content_type: str | None) -> None:
    """Raise ApiError (415) when a body announces itself as something other than JSON in UTF-8.

    A request that says nothing is taken at its word: the parser will tell.
    """
    if content_type is None or content_type == "application/json":
        return
    media_type, *parameters = (part.strip().lower() for part in content_type.split(";"))
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        hint = say("set-json-type") if media_type == "application/x-www-form-urlencoded" else None
        raise ApiError(415, say("not-json-type", was=excerpt(media_type, _LONGEST_NAME) or "-"), hint=hint)
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "charset" and value.strip('"') not in ("utf-8", "utf8"):
            raise ApiError(415, say("foreign-charset", charset=excerpt(value, _LONGEST_NAME)))
