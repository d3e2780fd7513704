"""Between plans and httpx: requests, answers, and what its errors mean."""

from typing import TypedDict

import httpx

from fe_client.errors import AnswerLostError, BrokenAnswerError, FeError, ServerAwayError, TimedOutError
from fe_client.plans import Reply, Send, Sink


class _Request(TypedDict):
    method: str
    url: str
    params: dict[str, str] | None
    headers: dict[str, str]
    content: bytes | None
    timeout: float
    follow_redirects: bool


def request_of(send: Send) -> _Request:
    """Arguments for httpx. Redirects are not followed: they would send the token to another host."""
    return {
        "method": send.method,
        "url": send.url,
        "params": dict(send.query) or None,
        "headers": dict(send.headers),
        "content": send.content,
        "timeout": send.timeout,
        "follow_redirects": False,
    }


def sink_of(send: Send, response: httpx.Response) -> Sink | None:
    """Return the sink of a call where this is the answer for it."""
    right = response.headers.get("content-type", "").partition(";")[0] == send.headers.get("Accept")
    return send.sink if right and response.status_code == 200 else None


def reply_of(response: httpx.Response, content: bytes) -> Reply:
    """Convert an answer of httpx, with the content that is not in a sink."""
    return Reply(
        response.status_code,
        {name.lower(): value for name, value in response.headers.items()},
        content,
    )


def what_went_wrong(error: httpx.RequestError) -> FeError:
    """Tell apart what never left from what may have arrived."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    match error:
        case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.PoolTimeout():
            return ServerAwayError(words)
        case httpx.TimeoutException():
            return TimedOutError(words)
        case httpx.DecodingError():
            return BrokenAnswerError(200, words)
        case _:
            return AnswerLostError(words)
