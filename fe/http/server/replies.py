"""Answers of handlers as the framework wants them."""

from quart import Response, request
from werkzeug.exceptions import HTTPException

from fe.http.calls import ApiReply
from fe.http.errors import describe
from fe.http.languages import HEADERS, choose


def respond(reply: ApiReply) -> Response:
    """Make the framework's response."""
    response = Response(reply.body, reply.status, content_type="application/json")
    response.headers.update(reply.headers)
    return response


async def refuse(error: HTTPException) -> Response:
    """Answer what the framework refuses by itself, in the form of all errors."""
    problem = describe(error)
    language = choose(request.headers.get("Accept-Language"))
    return respond(ApiReply(problem.status, problem.body(language), (*problem.headers, *HEADERS[language])))
