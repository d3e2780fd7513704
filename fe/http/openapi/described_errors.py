"""The errors of each operation in the description: status, cause and message.

A test provokes each of them and compares the words.
"""

from dataclasses import dataclass
from typing import Any

from fe.http.models.responses import DocumentProblem, Error


@dataclass(frozen=True, slots=True)
class DescribedError:
    """An error that an operation may give: what causes it, and an example of its message.

    `name` tells it from the others of an operation; `…` in `message` stands for what differs each time.
    """

    status: int
    name: str
    when: str
    message: str
    problems: tuple[DocumentProblem, ...] = ()

    @property
    def example(self) -> dict[str, Any]:
        """The body of such an answer."""
        body: Error = {"message": self.message, "statusCode": self.status}
        if self.problems:
            body["problems"] = list(self.problems)
        return dict(body)


# --- what the description gives to routes by itself -----------------------------------------------------------------

OF_ALL = (
    DescribedError(500, "fault-of-ours", "a fault of ours: quote the X-Request-Id", "Internal Server Error"),
    DescribedError(503, "overloaded", "overload, or the database is away", "Service Unavailable"),
)
OF_QUERIES = (
    DescribedError(
        400,
        "parameter-twice",
        "a query parameter is unknown, named twice, or out of its range",
        "the query string names a parameter twice",
    ),
)


def of_tokens(scope: str) -> tuple[DescribedError, ...]:
    """Those of a route that asks for a token with a scope."""
    return (
        DescribedError(401, "no-token", "there is no `Authorization: Bearer ...`", "Missing bearer token"),
        DescribedError(401, "old-token", "the token is over an hour old, or not ours", "Invalid or expired token"),
        DescribedError(
            401,
            "revoked-key",
            "the key was revoked or has expired, or the account is disabled",
            "API key has been revoked",
        ),
        DescribedError(
            403, f"no-scope-{scope.replace(':', '-')}", "the key may not do this", f"Missing required scope(s): {scope}"
        ),
        DescribedError(429, "too-many", "more than your rate, your share or your quota", "Too Many Requests"),
    )


def of_bodies(largest: int | None) -> tuple[DescribedError, ...]:
    """The errors of a route that reads a body of at most `largest` bytes; None: the limit of the settings."""
    maximum = 1024 * 1024 if largest is None else largest
    return (
        DescribedError(400, "no-object", "the body is not a JSON object", "the body must be a JSON object"),
        DescribedError(408, "slow-body", "the body did not arrive in time", "the body did not arrive within 10 s"),
        DescribedError(
            413,
            f"large-body-{maximum}",
            "the body is too large",
            f"the body must not be larger than {maximum} bytes",
        ),
        DescribedError(
            415,
            "media-type",
            "Content-Type is something other than JSON in UTF-8, or the body is coded (Content-Encoding)",
            "Content-Type must be application/json (it was …)",
        ),
    )


# --- those that routes name -----------------------------------------------------------------------------------------

BAD_KEY_ID = DescribedError(400, "no-key-id", "a field is not what it should be", "apiKeyId must start with fak_")
BAD_CREDENTIALS = DescribedError(
    401,
    "wrong-credentials",
    "the key is not known, revoked or expired, or its secret is another one; it is not said which",
    "Invalid credentials",
)
TOO_MANY_LOGINS = DescribedError(
    429, "too-many", "more than 5 logins in a minute of one key, or 30 from one address", "Too Many Requests"
)

BAD_FORMAT = DescribedError(
    400, "no-format", "a field is not what it should be", "format must be one of: xml, structured"
)
BAD_DOCUMENT = DescribedError(
    400,
    "no-document",
    "the document can never be one; with `strict: true`, it would not be sent. `problems` says all of it",
    "Encabezado.IdDoc.Color: Color is not an element of the format",
    (
        {
            "code": "unknown-element",
            "path": "Encabezado.IdDoc.Color",
            "message": "Color is not an element of the format",
            "messageEs": "Color no es un elemento del formato",
            "severity": "rejected",
            "fix": "leave Color out",
            "fixEs": "elimine Color",
            "repair": {"op": "remove", "path": "Encabezado.IdDoc.Color", "certain": False},
        },
    ),
)
BAD_XML = DescribedError(
    400,
    "malformed-xml",
    "the XML cannot be read, or not be signed as it stands",
    "xml: an end tag does not match its start tag (line 1, column …)",
)
NO_NUMBER = DescribedError(
    400,
    "no-sequence",
    "it came without eNCF, and there is no sequence to draw one from",
    "no active NCF sequence for E31: configure one with POST /ncf, or send eNCF",
)
NO_SANDBOX = DescribedError(
    400,
    "no-sandbox",
    "simulate is asked for where the authority is not a simulator",
    "simulate is for sandboxes: here the authority is not a simulator, or the key is for production",
)
FOREIGN_ISSUER = DescribedError(
    403,
    "foreign-issuer",
    "the issuer is another taxpayer of this service, who has not delegated it",
    "RNCEmisor 131880657 is that of another taxpayer of this service, and no delegation is recorded",
)
BAD_BATCH = DescribedError(
    400, "no-items", "a field is not what it should be", "items must be an array of 1 to 500 receipts"
)

BAD_WAIT = DescribedError(
    400, "wait-out-of-range", "wait is out of its range", "wait must be a whole number from 0 to 30"
)
BAD_LIMIT = DescribedError(
    400, "limit-out-of-range", "a value is out of its range", "limit must be a whole number from 1 to 200"
)
BAD_PERIOD = DescribedError(400, "period-reversed", "from is after to", "from must not be later than to")
BAD_DAYS = DescribedError(
    400, "days-out-of-range", "days is out of its range", "days must be a whole number from 1 to 180"
)

NO_RECEIVED = DescribedError(404, "no-such-document", "there is none", "there is no received document of this id")
DECIDED = DescribedError(
    409,
    "decided-before",
    "the contrary was decided, a decision is under way, or the clientRequestId was used for something else",
    "it was approved before, by taxLogId … (status …): a decision that the authority has, or may yet have, cannot be"
    " taken back",
)
OTHER_ENVIRONMENT = DescribedError(
    403,
    "other-environment",
    "it was received in another environment than the key's",
    "the document was received in …: use a key of that environment",
)
BAD_REASON = DescribedError(
    400,
    "no-reason",
    "a field is not what it should be",
    "reason must be a text of 1 to 250 characters that says why",
)

BAD_RANGE = DescribedError(
    400,
    "no-range",
    "a field is not what it should be",
    "maximum sequence must be greater or equal to the minimum",
)
BAD_PREFIX = DescribedError(400, "no-type", "the prefix is no type of e-CF", "invalid e-CF type")
NO_RECEIPT = DescribedError(404, "no-such-receipt", "there is none", "there is no receipt of this id")
NOT_SIGNED_YET = DescribedError(
    409, "not-signed-yet", "it is not signed yet", "the receipt is not signed yet: ask again in a moment"
)
NOT_PRINTABLE = DescribedError(
    409,
    "not-printable",
    "it is no e-CF",
    "only an e-CF is printed: not a summary, an approval or a voiding",
)
NO_SEQUENCE = DescribedError(404, "no-such-sequence", "there is none", "no NCF sequence exists for the prefix E32")
NUMBER_SENT = DescribedError(
    409,
    "number-sent",
    "currentSequence would go back to a number that may have been sent",
    "a number from there on was sent, and the authority may have it: it cannot be drawn again",
)

BAD_WEBHOOK = DescribedError(
    400,
    "no-event",
    "a field is not what it should be",
    "events must be among: …",
)
NO_WEBHOOK = DescribedError(
    404, "no-webhook", "none is set in the key's environment", "no webhook is set in testecf: PUT /webhooks sets one"
)
NO_DELIVERY = DescribedError(404, "no-such-delivery", "there is none", "no delivery has this id")
DISABLED_WEBHOOK = DescribedError(
    409, "disabled-webhook", "it is disabled", "the webhook of testecf is disabled: enable it first"
)
DELIVERY_UNDER_WAY = DescribedError(409, "delivery-under-way", "it is being tried", "it is under way at this moment")
RECOVERY_UNDER_WAY = DescribedError(409, "recovery-under-way", "there is one at a time", "a recovery is under way: …")
BAD_SINCE = DescribedError(
    400,
    "no-moment",
    "a field is not what it should be",
    "since must be a date (YYYY-MM-DD) or an ISO 8601 timestamp",
)
