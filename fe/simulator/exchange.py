"""One request and its answer, as values: what a connection hands over, and what a handler gives back."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

#: More than any document of the format: 1,000 items of a kilobyte.
MAX_BODY = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A whole request. Header and parameter names are in lower case; of a repeated name the last counts."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    #: Whether there was more than MAX_BODY, which is not kept.
    too_large: bool = False

    @property
    def wants_xml(self) -> bool:
        """Whether `Accept` selects XML: it names XML, and JSON not."""
        accept = self.headers.get("accept", "").lower()
        return "xml" in accept and "json" not in accept

    @property
    def base(self) -> str:
        """The URL this server was called under."""
        return f"http://{self.headers.get('host', 'localhost')}"


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An HTTP answer, ready to be written."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


def read_target(target: bytes) -> tuple[str, dict[str, str]]:
    """The path and the parameters of a request's target; names are in lower case, and of a repeated one the last."""
    path, _, query = target.decode("ascii", "replace").partition("?")
    parameters = parse_qsl(query, keep_blank_values=True) if query else []
    return unquote(path), {name.lower(): value for name, value in parameters}
