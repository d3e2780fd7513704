"""Recorded conversations between a client and the service: requests, answers and results.

Every client must pass the table, conversations.json. A step is an expected request and its answer: JSON with `status`
and `headers`; `{"text": ...}`, which is not JSON; `{"cut": ...}`, half of it; `{"stalled": ...}`, half of it without an
end; `lost` or `silent`. A login without an answer gets a token. `<id>` stands for an id that the client made, the same
one in every request. `opens_after`: the server refuses connections until the client paused that often. `tries` and
`patience` are the client's.
"""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.clients.hostile import PREFIX, Act, Hostile, Request, cut, lost, say, silent, stalled

RECEIPT = {"Encabezado": {"IdDoc": {"TipoeCF": "31"}}}
TAKEN = {"taxLogId": "0199-a", "status": "queued", "environment": "testecf", "billable": False, "message": "taken"}
Call = tuple[str, list[Any], dict[str, Any]]
OVER = say(401, {"message": "Invalid or expired token", "statusCode": 401})
_LOGIN = "POST /login"


@dataclass(frozen=True)
class Outcome:
    """Result of a call: the value, the error's class name with its non-empty fields, or why it was refused at once."""

    result: Any = None
    error: dict[str, Any] | None = None
    #: The pauses it made, in seconds.
    slept: list[float] = field(default_factory=list)
    refused: str | None = None


@dataclass(frozen=True)
class Trouble:
    """A call, what the service does about it, and what is to come of it."""

    name: str
    call: Call
    answers: list[Act]
    outcome: Outcome
    logins: list[Act] = field(default_factory=list)
    #: The requests that have to come.
    steps: list[dict[str, Any]] = field(default_factory=list)
    may_not_arrive: bool = False
    may_not_pause: bool = False
    #: Languages whose clients cannot pass.
    not_of: tuple[str, ...] = ()
    #: After which pause the service is there.
    opens_after: int = 0
    tries: int = 5
    #: After a login: from then on the patience for an answer, in seconds.
    patience: float | None = None

    def server(self) -> Hostile:
        return Hostile(deque(self.answers), deque(self.logins))


def _read(recorded: dict[str, Any]) -> Trouble:
    steps = recorded["steps"]
    logins = [step for step in steps if step["request"] == _LOGIN]
    return Trouble(
        recorded["name"],
        (recorded["call"], [_long(each) for each in recorded.get("args", [])], recorded.get("options", {})),
        [_act(step) for step in steps if step not in logins],
        Outcome(recorded.get("result"), recorded.get("error"), recorded.get("slept", []), recorded.get("refused")),
        [_act(step) for step in logins if "answer" in step],
        steps,
        recorded.get("may_not_arrive", False),
        recorded.get("may_not_pause", False),
        tuple(recorded.get("not_of", ())),
        recorded.get("opens_after", 0),
        recorded.get("tries", 5),
        recorded.get("patience"),
    )


def _long(value: Any) -> Any:
    """Write out what is said by its number of times."""
    match value:
        case {"times": int(times), "text": str(text)}:
            return text * times
        case {"times": int(times), "item": item}:
            return [_long(item)] * times
        case dict():
            return {name: _long(each) for name, each in value.items()}
        case _:
            return value


def _act(step: dict[str, Any]) -> Act:
    match step["answer"]:
        case "lost":
            return lost
        case "silent":
            return silent
        case {"cut": body}:
            return cut(body)
        case {"stalled": body}:
            return stalled(body)
        case {"text": str(text)}:
            return say(step["status"], text.encode(), **step.get("headers", {}))
        case body:
            return say(step["status"], body, **step.get("headers", {}))


TROUBLES = [
    _read(recorded)
    for recorded in json.loads(Path(__file__).with_name("conversations.json").read_text(encoding="utf-8"))
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

    if trouble.may_not_pause and outcome.slept == []:
        outcome = replace(outcome, slept=trouble.outcome.slept)
    if trouble.outcome.refused is not None:
        assert trouble.outcome.refused in (outcome.refused or ""), outcome
    else:
        assert outcome == trouble.outcome, (outcome, server.requests)
    seen = server.requests
    if not (trouble.may_not_arrive and len(seen) < len(trouble.steps)):
        assert [_target(request.method, request.target) for request in seen] == [
            _target(*step["request"].split(" ", 1)) for step in trouble.steps
        ]
    made: set[str] = set()
    for request, step in zip(seen, trouble.steps, strict=False):
        _compare(request, step, made)
    assert len(made) <= 1, "the id stays the same"
    tokens = [call.headers["authorization"] for call in server.calls]
    assert tokens == sorted(tokens), "the newest token is used"


def _target(method: str, target: str) -> tuple[str, str, list[tuple[str, str]]]:
    parts = urlsplit(target.removeprefix(PREFIX))
    return method, parts.path, sorted(parse_qsl(parts.query, strict_parsing=bool(parts.query)))


def _compare(request: Request, step: dict[str, Any], made: set[str]) -> None:
    body: Any = json.loads(request.body) if request.body else None
    if "items" in step:
        assert len(body["items"]) == step["items"]
        assert len(request.body) < 1 << 20
        assert len({item["clientRequestId"] for item in body["items"]}) == step["items"]
    if "body" in step:
        assert _same(body, step["body"], made), (body, step["body"])


def _same(value: Any, expected: Any, made: set[str]) -> bool:
    if expected == "<id>":
        made.add(value)
        return isinstance(value, str) and len(value) >= 32
    if isinstance(expected, dict):
        return (
            isinstance(value, dict)
            and value.keys() == expected.keys()
            and all(_same(value[name], each, made) for name, each in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(value, list)
            and len(value) == len(expected)
            and all(_same(one, each, made) for one, each in zip(value, expected, strict=True))
        )
    return type(value) is type(expected) and bool(value == expected)
