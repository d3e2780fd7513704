"""Answers of handlers as responses of the framework."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from http import HTTPStatus

from quart import Response, request
from werkzeug.exceptions import HTTPException, NotFound

from fe.ecf.texts import Text
from fe.http.calls import ApiReply
from fe.http.errors import describe
from fe.http.languages import HEADERS, choose
from fe.http.messages import say

#: The similarity of a path that is suggested, and the characters that are compared.
_LIKE = 0.8
_LONGEST = 100


def respond(reply: ApiReply) -> Response:
    """Make the framework's response."""
    response = Response(reply.stream or reply.body, reply.status, content_type="application/json")
    if reply.stream is not None:
        response.timeout = None  # it bounds itself
    response.headers.update(reply.headers)
    if reply.status == HTTPStatus.NOT_MODIFIED:
        del response.headers["Content-Length"]  # it would be that of the page
    return response


async def refuse(error: HTTPException) -> Response:
    """Answer an error of the framework in the form of all errors."""
    return _refuse(error, None)


def refuser(prefix: str, paths: Sequence[str]) -> Callable[[HTTPException], Awaitable[Response]]:
    """Make a `refuse` that names the nearest of these paths where there is no such path; they begin with `prefix`."""

    @lru_cache(maxsize=256)
    def nearest(asked: str) -> Text | None:
        # The requested path may lack its prefix, or have it twice.
        likeliest = get_close_matches(asked, paths, 1, _LIKE) or get_close_matches(f"{prefix}{asked}", paths, 1, _LIKE)
        return say("did-you-mean", nearest=likeliest[0]) if likeliest else None

    async def refuse_or_suggest(error: HTTPException) -> Response:
        return _refuse(error, nearest(request.path[:_LONGEST]) if isinstance(error, NotFound) else None)

    return refuse_or_suggest


def _refuse(error: HTTPException, hint: Text | None) -> Response:
    problem = replace(describe(error), hint=hint)
    language = choose(request.headers.get("Accept-Language"))
    return respond(ApiReply(problem.status, problem.body(language), (*problem.headers, *HEADERS[language])))
