"""An API client as an integrator would write it from the interface's description."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

import httpx
import trio

from fe.cli.failures import Failure
from fe.clock import Clock
from fe.identifiers import ApiKeyId

_UNDECIDED = ("queued", "En Proceso", None)
#: The interface suggests 5 s; a demonstration polls faster.
_POLL_SECONDS = 0.1
#: How many times a question is repeated while the service is busy.
_REPEATS = 10


@dataclass(frozen=True, slots=True)
class DemoOutcome:
    """A submission and its result, with the client's own times."""

    posted_at: datetime
    answered_at: datetime
    decided_at: datetime
    accepted: dict[str, Any]
    record: dict[str, Any]

    @property
    def seconds(self) -> float:
        """From the POST until the client saw the verdict."""
        return (self.decided_at - self.posted_at).total_seconds()

    @property
    def words(self) -> str:
        """Return the message of the authority or of the service."""
        response = self.record.get("response") or {}
        if error := response.get("error"):
            return str(error)
        messages = response.get("mensajes") or []
        return "; ".join(f"{m['codigo']} {m['valor']}".strip() for m in messages if m.get("valor"))


class Client:
    """Talks to the API with one key."""

    def __init__(self, http: httpx.AsyncClient, clock: Clock) -> None:
        self._http = http
        self._clock = clock

    async def login(self, api_key_id: ApiKeyId, api_secret: str) -> dict[str, Any]:
        """Log in; later calls carry the token."""
        answer = await self._call("POST", "/login", {"apiKeyId": api_key_id, "apiSecret": api_secret})
        self._http.headers["Authorization"] = f"Bearer {answer['accessToken']}"
        return answer

    async def issue(self, body: dict[str, Any], *, patience: float) -> DemoOutcome:
        """Submit, and poll until the verdict. Raises Failure when there is none within `patience` seconds."""
        posted_at = self._clock()
        accepted = await self._call("POST", "/invoices", body)
        answered_at = self._clock()
        record: dict[str, Any] = {}
        with trio.move_on_after(patience):
            while True:
                record = await self._call("GET", f"/invoices/{accepted['taxLogId']}")
                if record["status"] not in _UNDECIDED:
                    return DemoOutcome(posted_at, answered_at, self._clock(), accepted, record)
                await trio.sleep(_POLL_SECONDS)
        raise Failure(f"{body['clientRequestId']}: no verdict after {patience:g} s, still {record.get('status')}")

    async def xml(self, tax_log_id: str) -> str:
        """Fetch the signed document."""
        answer = await self._call("GET", f"/invoices/{tax_log_id}/xml")
        if answer["source"] != "signed":
            raise Failure(f"the document of {tax_log_id} is {answer['source']}, not signed")
        xml: str = answer["xml"]
        return xml

    async def pdf(self, tax_log_id: str) -> bytes:
        """Fetch the printed receipt."""
        return (await self._answer("GET", f"/invoices/{tax_log_id}/pdf")).content

    async def get(self, path: str) -> dict[str, Any]:
        """Ask for something. Raises Failure when the answer is an error."""
        return await self._call("GET", path)

    async def until(self, path: str, is_so: Callable[[dict[str, Any]], bool], *, patience: float) -> dict[str, Any]:
        """Ask until the answer is as it should become. Raises Failure when it has not within `patience` seconds."""
        answer: dict[str, Any] = {}
        with trio.move_on_after(patience):
            while True:
                answer = await self._call("GET", path)
                if is_so(answer):
                    return answer
                await trio.sleep(_POLL_SECONDS)
        raise Failure(f"GET {path}: not as expected after {patience:g} s: {json.dumps(answer)[:200]}")

    async def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Have something done. Raises Failure when the answer is an error."""
        return await self._call(method, path, body)

    async def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        content: dict[str, Any] = (await self._answer(method, path, body)).json()
        return content

    async def _answer(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        for _ in range(_REPEATS):
            try:
                answer = await self._http.request(method, path, json=body)
            except httpx.TransportError as error:
                raise Failure(f"{method} {path}: {type(error).__name__} {error}") from error
            wait = answer.headers.get("Retry-After", "")
            if method != "GET" or answer.status_code != HTTPStatus.SERVICE_UNAVAILABLE or not wait.isdecimal():
                break
            await trio.sleep(int(wait))
        if answer.is_error:
            raise Failure(f"{method} {path}: {answer.status_code} {answer.json().get('message')}")
        return answer
