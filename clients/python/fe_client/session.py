"""One client's standing with the service: its token, and how it calls, and calls again."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fe_client.errors import (
    AnswerLostError,
    ApiError,
    FeError,
    ServerAwayError,
    ThrottledError,
    UnavailableError,
    WrongCredentialsError,
)
from fe_client.models import Token
from fe_client.plans import JSON, Alone, Answer, Plan, Send, Sink, Sleep, read, written

PREFIX = "/api/v1/fe"

#: Seconds before its end at which a token is renewed.
_RENEWED_BEFORE = 60.0


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is tried in all, and how long to pause between.

    A call whose answer was lost, or was 408, 429 or 5xx, is tried again only if doing it twice does what doing it once
    does. A call that could not connect is always tried again: nothing was sent.
    """

    tries: int = 5
    #: Seconds before the second try. Each pause is twice the one before, less up to a quarter by chance.
    first_pause: float = 0.5
    #: Pauses get no longer than this. Where the service asks for more (`Retry-After`), the error is raised at once.
    longest_pause: float = 60.0

    def pause(self, error: FeError, tried: int, repeatable: bool, chance: float) -> float | None:
        """Seconds after which to try again; None: not at all."""
        again = isinstance(error, ServerAwayError) or (
            repeatable and isinstance(error, AnswerLostError | ThrottledError | UnavailableError)
        )
        if not again or tried >= self.tries:
            return None
        if isinstance(error, ApiError) and error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest_pause else None
        return min(self.first_pause * 2.0 ** (tried - 1), self.longest_pause) * (1 - chance / 4)


class Session:
    """State that all plans of one client share. Safe for threads and tasks."""

    def __init__(
        self,
        base_url: str,
        api_key_id: str,
        api_secret: str,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        language: str | None = None,
        strict: bool = True,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Take where the service is, a key of it, and how patient to be.

        `base_url` ends with /api/v1/fe; of a bare host that is added. `timeout` are seconds without a sign of life.
        `language` is what messages come in (`es`, `en`). `strict`: the service refuses at once a receipt that would not
        be sent; False: it takes it in, and it ends as `error`. `clock` gives seconds that only go forward.
        """
        self._base = base_url.rstrip("/") + ("" if urlsplit(base_url).path.strip("/") else PREFIX)
        self._credentials = written({"apiKeyId": api_key_id, "apiSecret": api_secret})
        #: Seconds without a sign of life after which a call has failed.
        self.timeout = timeout
        #: Whether receipts are handed in strictly where a call does not say it.
        self.strict = strict
        self._retries = retries or Retries()
        self._language = {"Accept-Language": language} if language else {}
        self._chance = chance
        self.clock = clock
        self._token: Token | None = None
        self._renew_at = 0.0

    def __repr__(self) -> str:
        return f"<Session with {self._base}>"

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        repeatable: bool = True,
        wait: float = 0.0,
        request_id: str | None = None,
    ) -> Plan[Any]:
        """Call with a token, which is renewed where it is over; again where that is safe. Gives what was answered.

        `wait` is how much longer than usual the answer may take, `request_id` what errors are to carry.
        """
        answer = yield from self.exchange(
            method, path, query=query, body=body, repeatable=repeatable, wait=wait, request_id=request_id
        )
        return answer.body

    def find(self, method: str, path: str, **more: Any) -> Plan[Any]:
        """Do as `call`; None where the service has nothing of that id."""
        return found((yield from self.call(method, path, **more)))

    def items(self, method: str, path: str, **more: Any) -> Plan[Any]:
        """Do as `call`, and give the `items` of the answer."""
        return (yield from self.call(method, path, **more))["items"]

    def fetch(
        self,
        path: str,
        media_type: str,
        **query: str | None,
    ) -> Plan[bytes]:
        """Get bytes of this type, a print. Raises NotThereError, and ConflictError while there is nothing to print."""
        answer = yield from self.exchange("GET", path, query=query, media_type=media_type)
        content: bytes = answer.body
        return content

    def exchange(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        repeatable: bool = True,
        wait: float = 0.0,
        request_id: str | None = None,
        media_type: str = JSON,
        sink: Sink | None = None,
    ) -> Plan[Answer]:
        """Do as `call`, and give the headers, too. `sink` takes a good answer of this type."""
        content = None if body is None else written(body)  # once: every try sends the same bytes
        said = {name: str(value) for name, value in (query or {}).items() if value is not None}
        refused: str | None = None
        tried = 0
        while True:
            token = yield from self._usable_token(refused)
            headers = {**self._headers(content, token), "Accept": media_type}
            send = Send(method, self._base + path, self.timeout + wait, headers, content, said, sink)
            try:
                return read((yield send), media_type)
            except WrongCredentialsError as error:
                # Over before we thought so, or revoked: a new one tells.
                error.client_request_id = request_id
                if refused is not None:
                    raise
                refused = token
            except FeError as error:
                error.client_request_id = request_id
                tried += 1
                again = repeatable and (sink is None or not isinstance(error, AnswerLostError))
                pause = self._retries.pause(error, tried, again, self._chance())
                if pause is None:
                    raise
                yield Sleep(pause)

    def login(self) -> Plan[Token]:
        """Get a new token, whatever there is. Calls do so by themselves."""
        token: Token = yield Alone(self._log_in())
        return token

    def _usable_token(self, refused: str | None) -> Plan[str]:
        """Give the token, one that was not refused: logging in is done once, however many calls are waiting for it."""
        if not self._is_usable(refused):
            yield Alone(self._renew(refused))
        assert self._token is not None
        return self._token["accessToken"]

    def _is_usable(self, refused: str | None) -> bool:
        token = self._token
        return token is not None and token["accessToken"] != refused and self.clock() < self._renew_at

    def _renew(self, refused: str | None) -> Plan[None]:
        if not self._is_usable(refused):  # else another call did it meanwhile
            yield from self._log_in()

    def _log_in(self) -> Plan[Token]:
        tried = 0
        while True:
            began = self.clock()
            send = Send(
                "POST", f"{self._base}/login", self.timeout, self._headers(self._credentials), self._credentials
            )
            try:
                token: Token = read((yield send)).body
            except FeError as error:
                tried += 1
                pause = self._retries.pause(error, tried, True, self._chance())
                if pause is None:
                    raise
                yield Sleep(pause)
            else:
                self._token = token
                self._renew_at = began + token["expiresIn"] - _RENEWED_BEFORE
                return token

    def _headers(self, content: bytes | None, token: str | None = None) -> dict[str, str]:
        headers = {"Accept": JSON, **self._language}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return headers


def found(answer: Any) -> Any:
    """None for `{"found": false}`."""
    return None if answer.get("found") is False else answer
