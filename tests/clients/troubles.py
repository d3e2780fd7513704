"""Faults between a client and the service, and the right reaction of a client in any language."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.clients.hostile import Act, Hostile, cut, lost, say, silent

RECEIPT = {"Encabezado": {"IdDoc": {"TipoeCF": "31"}}}
TAKEN = {"taxLogId": "0199-a", "status": "queued", "environment": "testecf", "billable": False, "message": "taken"}
KNOWN = {**TAKEN, "deduped": True, "bodyMatched": True}
ACCEPTED = {"taxLogId": "0199-a", "status": "Aceptado"}
QUEUED = {"taxLogId": "0199-a", "status": "queued"}
PAGE_OF_A_PROXY = b"<html><body>502 Bad Gateway</body></html>"
Call = tuple[str, list[Any], dict[str, Any]]

SUBMIT: Call = ("submit", [RECEIPT], {"client_request_id": "order-1"})
STATUS: Call = ("status", ["0199-a"], {})
TEST_WEBHOOK: Call = ("test_webhook", [], {})
OVER = say(401, {"message": "Invalid or expired token", "statusCode": 401})
NO_SUCH_KEY = say(401, {"message": "Invalid credentials", "statusCode": 401})


def unavailable(**headers: str) -> Act:
    return say(503, {"message": "Service Unavailable", "statusCode": 503}, **headers)


def throttled(seconds: str) -> Act:
    return say(429, {"message": "Too Many Requests", "statusCode": 429}, Retry_After=seconds)


@dataclass(frozen=True)
class Outcome:
    """Result of a call: the value, or the error's class name with its non-empty fields."""

    result: Any = None
    error: dict[str, Any] | None = None
    #: The pauses it made, in seconds.
    slept: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Trouble:
    """A call, what the service does about it, and what is to come of it."""

    name: str
    call: Call
    answers: list[Act]
    outcome: Outcome
    logins: list[Act] = field(default_factory=list)
    #: How many calls are to arrive (None: however many), and how many logins.
    calls: int | None = 1
    times_logged_in: int = 1
    #: After which pause the service is there.
    opens_after: int = 0
    tries: int = 5
    #: After a login: from then on the patience for an answer, in seconds.
    patience: float | None = None

    def server(self) -> Hostile:
        return Hostile(deque(self.answers), deque(self.logins))


def failed(name: str, *slept: float, **fields: Any) -> Outcome:
    return Outcome(None, {"name": name, **fields}, list(slept))


def worked(result: Any, *slept: float) -> Outcome:
    return Outcome(result, None, list(slept))


PROBLEM = {"code": "unknown-code", "path": "Encabezado.IdDoc.TipoIngresos", "message": "no", "severity": "rejected"}

TROUBLES = [
    Trouble("the server is away, then back", SUBMIT, [say(202, TAKEN)], worked(TAKEN, 0.5, 1), opens_after=2),
    Trouble(
        "the server is away for good",
        SUBMIT,
        [],
        failed("ServerAwayError", 0.5, 1, 2, 4),
        calls=0,
        times_logged_in=0,
        opens_after=99,
    ),
    Trouble(
        "the credentials are wrong",
        SUBMIT,
        [],
        failed("WrongCredentialsError", status=401),
        logins=[NO_SUCH_KEY],
        calls=0,
    ),
    Trouble(
        "the token expires in the middle", SUBMIT, [OVER, say(202, TAKEN)], worked(TAKEN), calls=2, times_logged_in=2
    ),
    Trouble(
        "the token expires in the middle of what is not to be repeated",
        TEST_WEBHOOK,
        [OVER, say(202, {"id": "d"})],
        worked({"id": "d"}),
        calls=2,
        times_logged_in=2,
    ),
    Trouble(
        "the key is revoked in the middle",
        SUBMIT,
        [OVER, OVER],
        failed("WrongCredentialsError", status=401, client_request_id="order-1"),
        calls=2,
        times_logged_in=2,
    ),
    Trouble("throttled", SUBMIT, [throttled("7"), say(202, TAKEN)], worked(TAKEN, 7), calls=2),
    Trouble(
        "throttled for longer than one waits",
        SUBMIT,
        [throttled("900")],
        failed("ThrottledError", status=429, retry_after=900, client_request_id="order-1"),
    ),
    Trouble(
        "locked out at the login",
        SUBMIT,
        [],
        failed("ThrottledError", status=429, retry_after=900),
        logins=[throttled("900")],
        calls=0,
    ),
    Trouble(
        "unavailable, by a date of a proxy",
        SUBMIT,
        [
            unavailable(Retry_After="Sun, 22 Nov 2026 12:00:09 GMT", Date="Sun, 22 Nov 2026 12:00:00 GMT"),
            say(202, TAKEN),
        ],
        worked(TAKEN, 9),
        calls=2,
    ),
    Trouble("unavailable", STATUS, [unavailable(Retry_After="3"), say(200, ACCEPTED)], worked(ACCEPTED, 3), calls=2),
    Trouble(
        "unavailable, in what is not to be repeated",
        TEST_WEBHOOK,
        [unavailable(Retry_After="3")],
        failed("UnavailableError", status=503, retry_after=3),
    ),
    Trouble("the answer is lost after the POST", SUBMIT, [lost, say(200, KNOWN)], worked(KNOWN, 0.5), calls=2),
    Trouble("the answer is lost, of what is not to be repeated", TEST_WEBHOOK, [lost], failed("AnswerLostError")),
    Trouble("the answer is cut in its middle", SUBMIT, [cut(TAKEN), say(200, KNOWN)], worked(KNOWN, 0.5), calls=2),
    Trouble(
        "a proxy answers with a page of its own",
        SUBMIT,
        [say(200, PAGE_OF_A_PROXY), say(502, PAGE_OF_A_PROXY), say(200, KNOWN)],
        worked(KNOWN, 0.5, 1),
        calls=3,
    ),
    Trouble(
        "a proxy answers with a page instead of a print",
        ("pdf", ["E310000000001"], {"layout": "80mm"}),
        [
            say(200, PAGE_OF_A_PROXY, Content_Type="text/html"),
            say(200, b"%PDF-1.7", Content_Type="application/pdf"),
        ],
        worked(b"%PDF-1.7", 0.5),
        calls=2,
    ),
    Trouble(
        "a receipt that is not signed is not printed",
        ("received_ticket", ["0199-a"], {"qr": "raster"}),
        [say(409, {"message": "not yet", "statusCode": 409})],
        failed("ConflictError", status=409),
    ),
    Trouble(
        "a proxy breaks the JSON each time",
        STATUS,
        [say(200, b'{"taxLogId": "0199')] * 5,
        failed("BrokenAnswerError", 0.5, 1, 2, 4, status=200),
        calls=5,
    ),
    Trouble(
        "a redirect is not followed: it would take the token elsewhere",
        STATUS,
        [say(302, {}, Location="/elsewhere")],
        failed("BrokenAnswerError", status=302),
        tries=1,
    ),
    # On a slow machine the patience may be over before the call is out.
    Trouble("no answer comes in time", STATUS, [silent], failed("TimedOutError"), tries=1, patience=0.2, calls=None),
    Trouble(
        "the document is refused",
        SUBMIT,
        [say(400, {"message": "no", "statusCode": 400, "problems": [PROBLEM]}, X_Request_Id="r-1")],
        failed("InvalidError", status=400, problems=[PROBLEM], request_id="r-1", client_request_id="order-1"),
    ),
    Trouble(
        "the key may not do this",
        STATUS,
        [say(403, {"message": "Missing required scope(s): invoices:read", "statusCode": 403})],
        failed("ForbiddenError", status=403),
    ),
    Trouble(
        "the id was used for another document",
        SUBMIT,
        [say(200, {**KNOWN, "bodyMatched": False})],
        failed("ReusedIdError", client_request_id="order-1"),
    ),
    Trouble("nothing has that id", STATUS, [say(200, {"found": False})], worked(None)),
    Trouble(
        "the service turns away who waits, then fails, then has a verdict",
        ("submit_and_wait", [RECEIPT], {"client_request_id": "order-1"}),
        [
            say(202, TAKEN),
            say(200, QUEUED, Retry_After="5"),
            *[unavailable()] * 5,
            say(200, ACCEPTED),
        ],
        worked(ACCEPTED, 5, 0.5, 1, 2, 4, 5),
        calls=8,
    ),
    Trouble(
        "there is no verdict in time",
        ("submit_and_wait", [RECEIPT], {"client_request_id": "order-1", "timeout": 12}),
        [say(202, TAKEN), *[say(200, QUEUED, Retry_After="5")] * 4],
        failed("NoVerdictYetError", 5, 5, 2, client_request_id="order-1"),
        calls=5,
    ),
    Trouble(
        "a list has two pages, and the second is asked for twice",
        ("invoices", [], {"state": "Aceptado", "page_size": 2}),
        [
            say(200, {"items": [{"taxLogId": "3"}, {"taxLogId": "2"}], "nextCursor": "c"}),
            lost,
            say(200, {"items": [{"taxLogId": "1"}], "nextCursor": None}),
        ],
        worked([{"taxLogId": "3"}, {"taxLogId": "2"}, {"taxLogId": "1"}], 0.5),
        calls=3,
    ),
    Trouble(
        "the answer to a batch is lost",
        ("batch", [[{"format": "structured", "payload": RECEIPT}, {"format": "structured", "payload": RECEIPT}]], {}),
        [lost, say(200, {"items": [{"statusCode": 200}, {"statusCode": 200}]})],
        worked([{"statusCode": 200}, {"statusCode": 200}], 0.5),
        calls=2,
    ),
]

#: Makes the call of a trouble by one client; is given what to do at each of its pauses.
Driver = Callable[[Trouble, str, Callable[[], None]], Outcome]


def play(trouble: Trouble, drive: Driver) -> None:
    """Let a client go through it, and see what it made of it, and what the service saw."""
    with trouble.server() as server:
        pauses = 0

        def paused() -> None:
            nonlocal pauses
            pauses += 1
            if pauses == trouble.opens_after:
                server.open()

        if trouble.opens_after == 0:
            server.open()
        outcome = drive(trouble, server.url, paused)

    assert outcome == trouble.outcome
    assert server.times_logged_in == trouble.times_logged_in
    assert trouble.calls in (None, len(server.calls))
    posts = [call for call in server.calls if call.method == "POST"]
    assert len({call.body for call in posts}) <= 1, "each try sends the same bytes"
    assert all(b'"clientRequestId"' in call.body for call in posts if "/invoices" in call.target)
    tokens = [call.headers["authorization"] for call in server.calls]
    assert tokens == sorted(tokens), "the newest token is used"
    assert {call.target for call in server.calls} & {"/elsewhere"} == set()
