"""One table from what can go wrong to the {message, statusCode} that clients see. Nothing else becomes an answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from fe.archiving.documents import ArchiveAway, ArchiveDiffers
from fe.ecf.document import NotADocument
from fe.ecf.parse import Malformed, MalformedJson, excerpt
from fe.ecf.problems import Problem
from fe.ecf.texts import Text
from fe.http.languages import Language, say_problems, serialize_problems
from fe.http.messages import INTERNAL_ERROR, TOO_MANY_REQUESTS, UNAVAILABLE, of_body, of_status, say
from fe.http.models.responses import ERROR, DocumentProblem, Error
from fe.issuing.accept import CannotBeSigned
from fe.issuing.issuers import EnteredOnPaper, ForbiddenIssuer
from fe.limits import Limited, LimitReached, Overloaded
from fe.offload.pool import ApartFailed
from fe.store.postgres.errors import DatabaseUnavailable, NoNumber, TenantDisabled

_log = structlog.get_logger(__name__)

#: Seconds after which a client may try again when the database is away.
RETRY_WHEN_DOWN = 5

#: As many problems of a document as fit a message that a person reads.
_MAX_PROBLEMS = 5
WWW_AUTHENTICATE = ("WWW-Authenticate", "Bearer")

Headers = tuple[tuple[str, str], ...]


class ApiError(Exception):
    """An answer other than the one asked for, with the message the client reads."""

    def __init__(
        self,
        status: int,
        message: Text,
        headers: Headers = (),
        problems: Sequence[DocumentProblem] = (),
        hint: Text | None = None,
    ) -> None:
        """Take status and message; `problems` are all that is wrong with the document, where one was validated.

        `hint` says what to do where the interface document gives the words of `message`.
        """
        super().__init__(status, message.en)
        self.status = status
        self.message = message
        self.headers = headers
        self.problems = problems
        self.hint = hint

    def __reduce__(self) -> tuple[type["ApiError"], tuple[object, ...]]:
        """Go from process to process whole."""
        return ApiError, (self.status, self.message, self.headers, self.problems, self.hint)


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """The answer to a client for an error."""

    status: int
    message: Text
    headers: Headers = ()
    problems: Sequence[DocumentProblem] = ()
    hint: Text | None = None

    def body(self, language: Language = "en") -> bytes:
        """The body every error has (interface.md#errors)."""
        return ERROR.write(self.fields(language))

    def fields(self, language: Language) -> Error:
        """The fields of the body."""
        fields: Error = {"message": self.message.said(language), "statusCode": self.status}
        if self.hint is not None:
            fields["hint"] = self.hint.said(language)
        if self.problems:
            fields["problems"] = say_problems(self.problems, language)
        return fields


def describe(error: Exception) -> ErrorAnswer:
    """Return the answer for `error`. An error that is not in the table is a bug: 500, and it is logged."""
    match error:
        case Limited():
            return describe_limit(error)
        case ApiError():
            return ErrorAnswer(error.status, error.message, error.headers, error.problems, error.hint)
        case MalformedJson():
            return ErrorAnswer(400, of_body(error.text))
        case CannotBeSigned():
            return ErrorAnswer(400, error.text.after("xml"), (), serialize_problems(error.problems))
        case Malformed():
            return ErrorAnswer(400, error.text.after("xml"))
        case NotADocument():
            return ErrorAnswer(400, _name_problems(error.problems), (), serialize_problems(error.problems))
        case EnteredOnPaper():
            return ErrorAnswer(409, error.text)
        case ForbiddenIssuer():
            return ErrorAnswer(403, error.text)
        case ApartFailed():
            return ErrorAnswer(503, UNAVAILABLE, (("Retry-After", str(RETRY_WHEN_DOWN)),))
        case NoNumber():
            names = ", ".join(error.names)
            said = say(
                f"no-number-{error.reason.replace(' ', '-')}",
                prefix=error.prefix,
                label=error.label,
                name=error.name,
                names=Text(names or "none", names or "ninguno"),
            )
            return ErrorAnswer(400, said)
        case TenantDisabled():
            # Its key was still believed a moment ago; by now the next call is refused before it gets here.
            return ErrorAnswer(401, say("key-revoked"), (WWW_AUTHENTICATE,))
        case ArchiveAway():
            return ErrorAnswer(503, say("archive-away"), (("Retry-After", str(RETRY_WHEN_DOWN)),))
        case ArchiveDiffers():
            return ErrorAnswer(502, say("archive-differs"))
        case DatabaseUnavailable():
            _log.warning("the database cannot be asked", error=error)
            return ErrorAnswer(503, UNAVAILABLE, (("Retry-After", str(RETRY_WHEN_DOWN)),))
        case HTTPException():
            return _of_framework(error)
    _log.error("a request failed by a fault of ours", error=error, exc_info=error)
    return ErrorAnswer(500, INTERNAL_ERROR)


def describe_limit(error: Limited) -> ErrorAnswer:
    """Return the answer when a limit refuses: 503 if all clients together have everything, else 429."""
    headers: Headers = (("Retry-After", str(error.retry_after)),)
    if isinstance(error, Overloaded):
        return ErrorAnswer(503, UNAVAILABLE, headers)
    if isinstance(error, LimitReached) and error.ends_connection:
        headers = (*headers, ("Connection", "close"))
    return ErrorAnswer(429, TOO_MANY_REQUESTS, headers)


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


def _name_problems(problems: Sequence[Problem]) -> Text:
    """Name the first problems in one message."""
    more = len(problems) - _MAX_PROBLEMS
    ends = [Text(f"; and {more} more", f"; y {more} más")] if more > 0 else []
    if any("[" in problem.path for problem in problems):
        ends.append(Text("; items are counted from 1", "; los ítems se cuentan desde 1"))
    named = [_name(problem) for problem in problems[:_MAX_PROBLEMS]]
    return Text(
        "; ".join(one.en for one in named) + "".join(one.en for one in ends),
        "; ".join(one.es for one in named) + "".join(one.es for one in ends),
    )


def _name(problem: Problem) -> Text:
    said = Text(problem.message, problem.message_es)
    if problem.expected is not None:
        expected = Text(problem.expected, problem.expected_es or problem.expected)
        said = Text(f"{said.en} (expected: {expected.en})", f"{said.es} (se espera: {expected.es})")
    return said.after(excerpt(problem.path, 120)) if problem.path else said


def _of_framework(error: HTTPException) -> ErrorAnswer:
    """Say in our form what the router found: its own messages and pages never reach a client."""
    status = error.code or 500
    headers: Headers = ()
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        headers = (("Allow", ", ".join(sorted(error.valid_methods))),)
    return ErrorAnswer(status, of_status(status), headers)
