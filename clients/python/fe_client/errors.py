"""Errors of the client, a class for each kind. A rejection by the tax authority is not an error: it is a verdict."""

from typing import Any

from fe_client.models import BatchItem, DecidedItem, Deduped, DocumentProblem, Submission


class FeError(Exception):
    """Base of all errors. Its text is for people."""

    #: Id that the receipt was submitted under. Repeated with this id it is issued once at most.
    client_request_id: str | None = None
    #: Of a batch that went in several requests: the results before the request that failed.
    items: list[BatchItem] | list[DecidedItem] | None = None


class ServerAwayError(FeError):
    """No connection could be made: nothing was sent, so nothing has happened."""


class AnswerLostError(FeError):
    """The call may have reached the service, but its answer did not come: the result is unknown."""


class TimedOutError(AnswerLostError):
    """The answer did not come in time."""


class BrokenAnswerError(AnswerLostError):
    """The answer is not JSON, or only part of it came; it may be from a proxy in between."""

    def __init__(self, status: int, excerpt: str) -> None:
        """Take the HTTP status and how the body began."""
        super().__init__(f"HTTP {status} with a body that is not the service's: {excerpt!r}")
        self.status = status
        self.excerpt = excerpt


class ApiError(FeError):
    """The service refused the call; this carries its message, and the id by which its operator finds the call."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        problems: list[DocumentProblem] | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        """Take what the answer said."""
        super().__init__(f"{message} (HTTP {status})")
        self.status = status
        self.message = message
        #: All problems of the document, the cause first. Empty where the call was not about a document.
        self.problems = problems or []
        #: `X-Request-Id` of the answer, by which the service's operator finds the call.
        self.request_id = request_id
        #: Seconds after which to try again, where the service said so.
        self.retry_after = retry_after


class InvalidError(ApiError):
    """400: the request or its document cannot be what it should be; `problems` says why. Repeating does not help."""


class WrongCredentialsError(ApiError):
    """401: the key or its secret is wrong, revoked or expired."""


class ForbiddenError(ApiError):
    """403: the key may not do this."""


class NotThereError(ApiError):
    """404: there is no such thing of yours."""


class ConflictError(ApiError):
    """409: not in the state that it is in."""


class ThrottledError(ApiError):
    """429: too many calls; `retry_after` says when to go on."""


class UnavailableError(ApiError):
    """408 or 5xx: the service, or a proxy before it, cannot do it at the moment."""


class ReusedIdError(FeError):
    """The client_request_id was used before, with another document: that one counts, and this was not issued."""

    def __init__(self, first: Deduped) -> None:
        """Take the answer about the first one."""
        super().__init__(f"the client_request_id was used before, for another document ({first['taxLogId']})")
        self.first = first


class NoVerdictYetError(FeError):
    """There was no verdict in time. The receipt is still on its way: go on with `wait`, and do not issue it again."""

    def __init__(self, submission: Submission) -> None:
        """Take the submission as it was last seen."""
        super().__init__(f"{submission['taxLogId']} is still {submission['status']}")
        self.submission = submission


class WebhookRefusedError(FeError):
    """A call that claims to be a webhook was not made by the service, or not lately, or is no event."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidError,
    401: WrongCredentialsError,
    403: ForbiddenError,
    404: NotThereError,
    408: UnavailableError,
    409: ConflictError,
    429: ThrottledError,
}


def refusal(status: int, body: Any, text: str, request_id: str | None, retry_after: float | None) -> ApiError:
    """Make the error of an answer; `body` is None where a proxy answered something else than JSON."""
    kind = UnavailableError if status >= 500 else _BY_STATUS.get(status, ApiError)
    said = body if isinstance(body, dict) else {}
    return kind(
        status,
        str(said.get("message", text)),
        problems=said.get("problems"),
        request_id=request_id,
        retry_after=retry_after,
    )
