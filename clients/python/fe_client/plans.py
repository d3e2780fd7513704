"""Plans of calls, which the blocking and the asynchronous client share.

A plan is a generator. It yields steps, receives the result of each (or its error, raised at the `yield`), and returns
the result of the call. `fe_client.blocking` and `fe_client.asynchronous` carry the steps out.
"""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Protocol, TypeAlias, TypeVar

from fe_client.errors import BrokenAnswerError, refusal

T = TypeVar("T")

_EXCERPT = 200
#: Type of all answers but prints.
JSON = "application/json"


class Sink(Protocol):
    """A binary file that is written."""

    def write(self, data: bytes, /) -> object:
        """Take all of the bytes."""


@dataclass(frozen=True, slots=True)
class Send:
    """Make this request. Gives a Reply; raises ServerAwayError or AnswerLostError."""

    method: str
    url: str
    timeout: float
    headers: Mapping[str, str]
    content: bytes | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    #: Takes the body of a 200 of the type that Accept names, as it arrives; the Reply is without it then.
    sink: Sink | None = None


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Alone:
    """Carry this plan out while no other call of the same client is in such a step. Gives its result."""

    plan: "Plan[Any]"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, whole. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """Body of a 2xx answer, bytes where they were asked for, and its headers."""

    body: Any
    headers: Mapping[str, str]


Step: TypeAlias = Send | Sleep | Alone
Plan: TypeAlias = Generator[Step, Any, T]


def written(body: object) -> bytes:
    """Write a body: decimals as texts, which the service takes for numbers, and dates as ISO has them."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, default=_plain).encode()


def _plain(value: object) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def read(reply: Reply, media_type: str = JSON) -> Answer:
    """Return a good answer: a JSON object, or bytes of another type. Raises BrokenAnswerError or an ApiError."""
    text = reply.content.decode("utf-8", "replace")
    try:
        body = json.loads(text, parse_float=Decimal)
    except ValueError:
        body = None
    if reply.status >= 400:
        raise refusal(
            reply.status, body, text[:_EXCERPT], reply.headers.get("x-request-id"), retry_after(reply.headers)
        )
    if media_type != JSON:
        body = reply.content if reply.headers.get("content-type", "").partition(";")[0] == media_type else None
    if not 200 <= reply.status < 300 or not isinstance(body, dict | bytes):
        raise BrokenAnswerError(reply.status, text[:_EXCERPT])
    return Answer(body, reply.headers)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, where an answer says so: as a number, or as a proxy may, as a date beside its own `Date`."""
    said = headers.get("retry-after", "").strip()
    if said.isdecimal():
        return float(said)
    try:
        return max(0.0, (parsedate_to_datetime(said) - parsedate_to_datetime(headers["date"])).total_seconds())
    except (KeyError, TypeError, ValueError):
        return None
