"""One table from what can go wrong to the {message, statusCode} that clients see. Nothing else becomes an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

import structlog
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from fe.apart import ApartFailed
from fe.ecf.document import NotADocument
from fe.ecf.parse import Malformed, MalformedJson, excerpt
from fe.ecf.problems import Problem
from fe.http.languages import Language, say, say_problems, serialize_problems
from fe.http.response_models import ERROR, DocumentProblem, Error
from fe.issuing.accept import CannotBeSigned
from fe.issuing.issuers import ForbiddenIssuer
from fe.store.postgres.errors import DatabaseUnavailable, NoNumber, TenantDisabled

_log = structlog.get_logger(__name__)

#: Seconds after which a client may try again when we are overloaded, or our database is away.
RETRY_WHEN_SHED = 1
RETRY_WHEN_DOWN = 5

#: As many problems of a document as fit a message that a person reads.
_MAX_PROBLEMS = 5

#: What the holder of a token is told whose key is not to be used any more (interface.md#authentication-failures).
KEY_REVOKED = "API key has been revoked"
WWW_AUTHENTICATE = ("WWW-Authenticate", "Bearer")

_NO_NUMBER = {
    "none": "no active NCF sequence for {prefix}: configure one with POST /ncf, or send eNCF",
    "expired": "the NCF sequence for {prefix} has expired",
    "used up": "the NCF sequence for {prefix} is exhausted",
}

Headers = tuple[tuple[str, str], ...]


class ApiError(Exception):
    """An answer other than the one asked for, with the message the client reads."""

    #: Seconds for which whoever asked is refused on this route whatever it asks for; 0: it is about this request.
    refuses_for = 0

    def __init__(
        self, status: int, message: str, headers: Headers = (), problems: Sequence[DocumentProblem] = ()
    ) -> None:
        """Take status and message; `problems` are all that is wrong with the document, where one was validated."""
        super().__init__(status, message)
        self.status = status
        self.message = message
        self.headers = headers
        self.problems = problems

    def __reduce__(self) -> tuple[type["ApiError"], tuple[object, ...]]:
        """Go from process to process whole."""
        return ApiError, (self.status, self.message, self.headers, self.problems)


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """What a client is sent for an error."""

    status: int
    message: str
    headers: Headers = ()
    problems: Sequence[DocumentProblem] = ()
    #: Where the message is made of problems, which know both languages.
    message_es: str | None = None

    def body(self, language: Language = "en") -> bytes:
        """The body every error has (interface.md#errors)."""
        return ERROR.write(self.fields(language))

    def fields(self, language: Language) -> Error:
        """What the body says."""
        own = self.message_es if language == "es" else None
        fields: Error = {"message": own or say(self.message, language), "statusCode": self.status}
        if self.problems:
            fields["problems"] = say_problems(self.problems, language)
        return fields


def describe(error: Exception) -> ErrorAnswer:
    """Say what a client is sent for `error`. What is not in the table is a bug: 500, and it is logged."""
    match error:
        case ApiError():
            message_es = _first_in_spanish(error.problems) if error.problems else None
            return ErrorAnswer(error.status, error.message, error.headers, error.problems, message_es)
        case MalformedJson():
            return ErrorAnswer(
                400, f"the body is {error}" if error.message.startswith("not ") else f"the body: {error}"
            )
        case CannotBeSigned():
            problems = serialize_problems(error.problems)
            return ErrorAnswer(400, f"xml: {error}", (), problems, f"xml: {_first_in_spanish(problems)}")
        case Malformed():
            return ErrorAnswer(400, f"xml: {error}")
        case NotADocument():
            problems = serialize_problems(error.problems)
            return ErrorAnswer(400, _name_problems(error), (), problems, _name_in_spanish(error.problems))
        case ForbiddenIssuer():
            return ErrorAnswer(403, str(error))
        case ApartFailed():
            return ErrorAnswer(503, "Service Unavailable", (("Retry-After", str(RETRY_WHEN_DOWN)),))
        case NoNumber():
            return ErrorAnswer(400, _NO_NUMBER[error.reason].format(prefix=error.prefix))
        case TenantDisabled():
            # Its key was still believed a moment ago; by now the next call is refused before it gets here.
            return ErrorAnswer(401, KEY_REVOKED, (WWW_AUTHENTICATE,))
        case DatabaseUnavailable():
            _log.warning("the database cannot be asked", error=error)
            return ErrorAnswer(503, "Service Unavailable", (("Retry-After", str(RETRY_WHEN_DOWN)),))
        case HTTPException():
            return _of_framework(error)
    _log.error("a request failed by a fault of ours", error=error, exc_info=error)
    return ErrorAnswer(500, "Internal Server Error")


def refusal(error: Exception) -> str | None:
    """Name, for the metrics, what was wrong with a request's body; None when that is not what `error` says."""
    match error:
        case MalformedJson():
            return "json"
        case Malformed():
            return "xml"
        case NotADocument():
            return "document"
        case NoNumber():
            return "number"
        case ForbiddenIssuer():
            return "issuer"
        case ApiError(status=400):
            return "request"
        case ApiError(status=413):
            return "size"
        case ApiError(status=415):
            return "media type"
    return None


def _name_problems(error: NotADocument) -> str:
    named = [_name(problem) for problem in error.problems[:_MAX_PROBLEMS]]
    more = len(error.problems) - len(named)
    counted = "; items are counted from 1" if any("[" in problem.path for problem in error.problems) else ""
    return "; ".join(named) + (f"; and {more} more" if more else "") + counted


def _name_in_spanish(problems: Sequence[Problem]) -> str:
    named = [f"{excerpt(one.path, 120)}: {one.message_es}" if one.path else one.message_es for one in problems]
    more = f"; y {len(named) - _MAX_PROBLEMS} más" if len(named) > _MAX_PROBLEMS else ""
    counted = "; los ítems se cuentan desde 1" if any("[" in one.path for one in problems) else ""
    return "; ".join(named[:_MAX_PROBLEMS]) + more + counted


def _first_in_spanish(problems: Sequence[DocumentProblem]) -> str:
    first = problems[0]
    line, column = first.get("line"), first.get("column")
    place = "" if line is None or column is None else f" (línea {line}, columna {column})"
    return f"{first['path']}: {first['messageEs']}{place}" if first["path"] else f"{first['messageEs']}{place}"


def _name(problem: Problem) -> str:
    expected = f" (expected: {problem.expected})" if problem.expected is not None else ""
    where = f"{excerpt(problem.path, 120)}: " if problem.path else ""
    return f"{where}{problem.message}{expected}"


def _of_framework(error: HTTPException) -> ErrorAnswer:
    """Say in our form what the router found: its own messages and pages never reach a client."""
    status = error.code or 500
    headers: Headers = ()
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        headers = (("Allow", ", ".join(sorted(error.valid_methods))),)
    return ErrorAnswer(status, HTTPStatus(status).phrase, headers)
