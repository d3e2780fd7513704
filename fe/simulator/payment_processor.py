"""A payment processor as a server: as much of Stripe's API as charges need, and the ways in which it goes wrong."""

import json
import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import trio

from fe.simulator.connection import FaultyConnection, serving
from fe.simulator.exchange import RawAnswer, RawRequest

#: Fate of a request for an item: whether it is made, and the answer.
FAULTS = {
    "reset": "nothing is made, and the connection is reset",
    "lost": "made, and the connection is reset",
    "never": "made, and no answer comes",
    "garbage": "made, and the answer is no JSON",
    "empty": "nothing is made, and the answer is no JSON",
    "other": "made, and the answer is about another amount",
    "error": "nothing is made: 500",
    "error after": "made: 500",
    "busy": "nothing is made: 429 and Retry-After",
    "refused": "nothing is made: 400",
    "wrong key": "nothing is made: 401",
}

_SUBSCRIPTION = re.compile(r"/v1/subscriptions/(\w+)")


@dataclass
class ProcessorState:
    """State of the processor, for tests. Each ordered fault applies to one request for an item."""

    items: list[dict[str, Any]] = field(default_factory=list)
    #: By idempotency key, what was asked and what was said.
    keys: dict[str, tuple[dict[str, str], RawAnswer]] = field(default_factory=dict)
    faults: deque[str] = field(default_factory=deque)
    #: Subscriptions that are over, and those it does not know; all others are there.
    over: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    requests: list[RawRequest] = field(default_factory=list)
    #: Set once an item was made.
    made: trio.Event = field(default_factory=trio.Event)

    def forget_keys(self) -> None:
        """Let a day pass."""
        self.keys.clear()

    async def answer(self, request: RawRequest, connection: FaultyConnection) -> RawAnswer | None:
        """Answer a request; None when the connection was reset."""
        self.requests.append(request)
        if not request.headers.get("authorization", "").startswith("Bearer "):
            return _error(401, "invalid_request_error")
        if request.method == "GET" and (found := _SUBSCRIPTION.fullmatch(request.path)):
            if found[1] in self.unknown:
                return _error(404, "invalid_request_error")
            status = "canceled" if found[1] in self.over else "active"
            customer = f"cus_{found[1].removeprefix('sub_')}"
            return _json(200, {"id": found[1], "object": "subscription", "status": status, "customer": customer})
        if request.path != "/v1/invoiceitems":
            return _error(404, "invalid_request_error")
        if request.method == "GET":
            return self._listed(request)
        return await self._ordered(request, connection)

    def _listed(self, request: RawRequest) -> RawAnswer:
        mine = [item for item in reversed(self.items) if item["customer"] == request.query.get("customer")]
        if (after := request.query.get("starting_after")) is not None:
            mine = mine[[item["id"] for item in mine].index(after) + 1 :]
        limit = int(request.query.get("limit", "10"))
        return _json(200, {"object": "list", "data": mine[:limit], "has_more": len(mine) > limit})

    async def _ordered(self, request: RawRequest, connection: FaultyConnection) -> RawAnswer | None:
        fault = self.faults.popleft() if self.faults else ""
        match fault:
            case "reset":
                await connection.reset()
                return None
            case "empty":
                return RawAnswer(200, b"<html>")
            case "error":
                return _error(500, "api_error")
            case "busy":
                return _error(429, "invalid_request_error", ("Retry-After", "1"))
            case "refused":
                return _error(400, "invalid_request_error")
            case "wrong key":
                return _error(401, "invalid_request_error")
        answer = self._make(request)
        match fault:
            case "lost":
                await connection.reset()
                return None
            case "never":
                await trio.sleep_forever()
            case "garbage":
                return RawAnswer(200, b'{"id": "ii_')
            case "other":
                return _json(200, self.items[-1] | {"amount": 1})
            case "error after":
                return _error(500, "api_error")
        return answer

    def _make(self, request: RawRequest) -> RawAnswer:
        form = dict(parse_qsl(request.body.decode(), strict_parsing=True))
        key = request.headers.get("idempotency-key", "")
        if key in self.keys:
            asked, answer = self.keys[key]
            return answer if asked == form else _error(400, "idempotency_error")
        item = {
            "id": f"ii_{len(self.items) + 1}",
            "object": "invoiceitem",
            "amount": int(form["amount"]),
            "currency": form["currency"],
            "customer": form["customer"],
            "subscription": form["subscription"],
            "description": form["description"],
            "metadata": {name[9:-1]: value for name, value in form.items() if name.startswith("metadata[")},
        }
        self.items.append(item)
        self.made.set()
        answer = _json(200, item)
        if key:
            self.keys[key] = form, answer
        return answer


async def simulate_processor(
    state: ProcessorState,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until cancelled; reports the URL once it listens. Raises OSError for a port that cannot be had."""
    listeners = await trio.open_tcp_listeners(port, host=host)
    bound = listeners[0].socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serving(state.answer), listeners)
        task_status.started(f"http://{host}:{bound}")


def _json(status: int, value: Any, *headers: tuple[str, str]) -> RawAnswer:
    return RawAnswer(status, json.dumps(value).encode(), "application/json", headers)


def _error(status: int, kind: str, *headers: tuple[str, str]) -> RawAnswer:
    return _json(status, {"error": {"type": kind, "message": "as ordered"}}, *headers)
