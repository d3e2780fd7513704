"""Client of the public API: login, token renewal, retries, and one line per error.

Every call here is safe to repeat: it reads, validates, logs in, or submits a receipt with a clientRequestId, which
deduplicates. Calls of another kind do not belong here.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from fe.cli.failures import AWAY, CONFIGURATION, FAILED, Failure
from fe.clock import Clock, system_clock
from fe.ecf.json_text import write_json
from fe.ecf.parse import Malformed, parse_json
from fe.integrator import profiles
from fe.integrator.language import say, terminal_language
from fe.integrator.profiles import Profile, StoredToken

#: Seconds before each further try, where the service names none.
_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
#: Seconds of retries, unless a command says otherwise.
PATIENCE = 30.0
#: Statuses that pass: nothing is wrong with the call.
_PASSING = frozenset({429, 500, 502, 503, 504})
#: Seconds until an answer must begin; a long poll adds its own wait.
_SECONDS = 30.0
#: A token is renewed this long before it expires.
_EARLY = timedelta(seconds=30)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ApiRefusal(Failure):
    """The API rejected the call. `problems` are its findings about a document."""

    def __init__(self, message: str, status: int, problems: list[dict[str, Any]], code: int = FAILED) -> None:
        super().__init__(message, code)
        self.status = status
        self.problems = problems


class ApiAway(Failure):
    """The API did not answer, or not as it does: it may later."""

    def __init__(self, message: str) -> None:
        super().__init__(message, AWAY)


def base_of(url: str, *, plain: bool = False) -> str:
    """Check a base URL. Raises Failure: over http to another machine, unless `plain`, a secret is for all to read."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # of the port, or of an address in brackets
        good = False
    if not good or parts.query or parts.fragment:
        raise Failure(
            say(
                f"{url}: not a base URL such as https://fe.example/api/v1/fe",
                f"{url}: no es una URL base como https://fe.example/api/v1/fe",
            )
        )
    if parts.username is not None or parts.password is not None:
        raise Failure(say("a base URL holds no user and no password", "una URL base no lleva usuario ni contraseña"))
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK and not plain:
        raise Failure(
            say(
                f"{url}: over http the secret could be read on its way; use https (or --plain-http, if you must)",
                f"{url}: por http el secreto se puede leer en el camino; use https (o --plain-http, si no hay otra)",
            )
        )
    return url.rstrip("/")


class ApiSession:
    """API client for a profile, used as a context manager.

    `patience` limits the seconds of retries of temporary errors (no connection, 429, 5xx) per call. Retry-After is
    respected; if it exceeds the rest, the call fails at once. Errors are Failures with one line.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        language: str,
        patience: float = PATIENCE,
        keep: Callable[[Profile, StoredToken], None] = profiles.save_token,
        token: StoredToken | None = None,
        clock: Clock = system_clock,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.profile = profile
        self._token = token
        self._keep = keep
        self._clock = clock
        self._sleep = sleep
        self._patience = patience
        #: The service's clock in its last answer.
        self.date: datetime | None = None
        #: Header Authority-Outage of its last answer; empty while the authority answers.
        self.outage = ""
        self._client = httpx.Client(
            timeout=_SECONDS,
            headers={"Accept-Language": language, "Accept": "application/json"},
            # The environment's proxies and certificates apply, but never a proxy for loopback addresses.
            trust_env=urlsplit(profile.base_url).hostname not in _LOOPBACK,
        )

    def __enter__(self) -> "ApiSession":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def login(self) -> dict[str, Any]:
        """Exchange the key for a token and store it; return the API's answer."""
        credentials = {"apiKeyId": self.profile.api_key_id, "apiSecret": self.profile.api_secret}
        answer = self._try("POST", "/login", {}, content=write_json(credentials))
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            raise Failure(
                say(
                    f"{self.profile.base_url} does not accept the key {self.profile.api_key_id} with this secret",
                    f"{self.profile.base_url} no acepta la clave {self.profile.api_key_id} con este secreto",
                ),
                CONFIGURATION,
            )
        said = self._read(answer)
        try:
            until = self._clock() + timedelta(seconds=int(said["expiresIn"]))
            self._token = StoredToken(str(said["accessToken"]), until)
        except (KeyError, ValueError, TypeError):
            raise self._not_the_api(answer) from None
        self._keep(self.profile, self._token)
        return said

    def get(self, path: str, **params: str | int | None) -> dict[str, Any]:
        """Send a request without parameters that are None. `wait` extends the timeout by the service's long poll."""
        given = {name: str(value) for name, value in params.items() if value is not None}
        return self._call("GET", path, params=given, timeout=_SECONDS + float(given.get("wait", 0)))

    def items(self, path: str, **params: str | int | None) -> list[dict[str, Any]]:
        """Return the items of all pages of a list that is short enough to hold."""
        found: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = self.get(path, **params, cursor=cursor)
            found += page["items"]
            cursor = page["nextCursor"]
            if cursor is None:
                return found

    def file(self, path: str, **params: str) -> bytes:
        """Fetch a file. Raises ApiRefusal where the answer is an error."""
        answer = self._ask("GET", path, params=params)
        if not answer.is_success:
            self._read(answer)  # raises
        return answer.content

    def save(self, path: str, to: Path, **params: str) -> int:
        """Write a file as it arrives, whole or not at all; return its bytes. Raises as `file` does, and ApiAway."""
        part, size = to.with_name(f"{to.name}.part"), 0
        answer = self._ask("GET", path, params=params, stream=True)
        try:
            if not answer.is_success:
                self._read(answer)  # raises
            with part.open("wb") as file:
                for chunk in answer.iter_bytes():
                    size += file.write(chunk)
            part.replace(to)
        except httpx.HTTPError as error:
            raise self._away(str(error) or type(error).__name__) from None
        finally:
            answer.close()
            part.unlink(missing_ok=True)
        return size

    def resume(self, path: str, part: Path) -> None:
        """Append the rest of a file to `part`, which an earlier call may have begun. Raises as `save` does.

        After an error `part` keeps the bytes that arrived.
        """
        have = part.stat().st_size if part.is_file() else 0
        answer = self._ask("GET", path, stream=True, more={"Range": f"bytes={have}-"} if have else {})
        try:
            if not answer.is_success:
                self._read(answer)  # raises
            with part.open("ab" if answer.status_code == HTTPStatus.PARTIAL_CONTENT else "wb") as file:
                for chunk in answer.iter_bytes():
                    file.write(chunk)
        except httpx.HTTPError as error:
            raise self._away(str(error) or type(error).__name__) from None
        finally:
            answer.close()

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send JSON; decimals keep every digit. The call may be repeated: see above."""
        return self._call("POST", path, content=write_json(body))

    def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Like `post`."""
        return self._call("PUT", path, content=write_json(body))

    def delete(self, path: str) -> dict[str, Any]:
        """Delete something. Repeated after a lost answer, it may be refused with 404."""
        return self._call("DELETE", path)

    def _call(self, method: str, path: str, **how: Any) -> dict[str, Any]:
        return self._read(self._ask(method, path, **how))

    def _ask(self, method: str, path: str, *, more: Mapping[str, str] | None = None, **how: Any) -> httpx.Response:
        if self._token is None or self._clock() > self._token.until - _EARLY:
            self.login()
        answer = self._try(method, path, {**self._authorization(), **(more or {})}, **how)
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            # Its time was up, or it was made before a key of the server's changed: nothing was done, so ask once more.
            self.login()
            answer = self._try(method, path, {**self._authorization(), **(more or {})}, **how)
        return answer

    def _authorization(self) -> dict[str, str]:
        assert self._token is not None
        return {"Authorization": f"Bearer {self._token.access_token}"}

    def _try(
        self, method: str, path: str, headers: Mapping[str, str], *, stream: bool = False, **how: Any
    ) -> httpx.Response:
        """Make a call until something comes back that does not pass, or patience is at its end.

        The body of a `stream` that is good is not read yet.
        """
        if "content" in how:
            headers = {**headers, "Content-Type": "application/json"}
        pauses, left = iter(_PAUSES), self._patience
        while True:
            answer: httpx.Response | None = None
            try:
                asked = self._client.build_request(method, self.profile.base_url + path, headers=headers, **how)
                answer = self._client.send(asked, stream=stream)
                if not answer.is_success:
                    answer.read()
                self.date = _date(answer)
                self.outage = answer.headers.get("authority-outage", "")
            except httpx.HTTPError as error:
                away = self._away(str(error) or type(error).__name__)
                named = None
            else:
                if answer.status_code not in _PASSING:
                    return answer
                named = _retry_after(answer, self._clock)
                away = self._away(_what_it_says(answer), named)
            pause = named if named is not None else next(pauses, None)
            if pause is None or pause > left:
                raise away
            left -= pause
            self._sleep(pause)

    def _read(self, answer: httpx.Response) -> dict[str, Any]:
        try:
            body = answer.json(parse_float=Decimal)  # amounts keep their two digits
        except ValueError:
            raise self._not_the_api(answer) from None
        if not isinstance(body, dict):
            raise self._not_the_api(answer)
        if answer.is_success:
            return body
        if "message" not in body:
            raise self._not_the_api(answer)
        code = CONFIGURATION if answer.status_code == HTTPStatus.UNAUTHORIZED else FAILED
        problems = body.get("problems")
        words = f"{body['message']} ({say('status', 'estado')} {answer.status_code})"
        raise ApiRefusal(words, answer.status_code, problems if isinstance(problems, list) else [], code)

    def _away(self, why: str, seconds: float | None = None) -> ApiAway:
        again = "" if seconds is None else say(f"; it asks for {seconds:g} s", f"; pide esperar {seconds:g} s")
        url = self.profile.base_url
        return ApiAway(
            say(
                f"the API at {url} cannot be asked: {why}{again}",
                f"no se puede consultar la API en {url}: {why}{again}",
            )
        )

    def _not_the_api(self, answer: httpx.Response) -> ApiAway:
        kind = answer.headers.get("content-type", "").partition(";")[0] or "?"
        where = answer.headers.get("location")
        more = f", {kind}" if where is None else f" -> {where}"
        status, url = answer.status_code, self.profile.base_url
        return ApiAway(
            say(
                f"what answers at {url} is not the API (status {status}{more}): a proxy, or another base URL?",
                f"lo que responde en {url} no es la API (estado {status}{more}): ¿un proxy, u otra URL base?",
            )
        )


def _what_it_says(answer: httpx.Response) -> str:
    """Return the message of a temporary error: only the API's own, never a proxy's page."""
    try:
        message = answer.json()["message"]
    except (ValueError, KeyError, TypeError):
        message = HTTPStatus(answer.status_code).phrase
    return f"{message} ({say('status', 'estado')} {answer.status_code})"


def _date(answer: httpx.Response) -> datetime | None:
    try:
        return parsedate_to_datetime(answer.headers.get("date", ""))
    except ValueError:
        return None


def _retry_after(answer: httpx.Response, clock: Clock) -> float | None:
    """The seconds that Retry-After asks for, as a number or as a date; None where it says nothing that can be read."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment: datetime = parsedate_to_datetime(text)
        return max(0.0, (moment - clock()).total_seconds())
    except (ValueError, TypeError):
        return None


def body_of(file: Path) -> Any:
    """Read a request's body from a JSON file. Raises Failure."""
    try:
        return parse_json(file.read_bytes())
    except Malformed as bad:
        raise Failure(f"{file.name}: {bad.text.said(terminal_language())}") from None


@contextmanager
def opened(profile_name: str, patience: float = PATIENCE) -> Iterator[ApiSession]:
    """The API of a stored profile, in the language of this terminal."""
    profile = profiles.load(profile_name)
    token = profiles.load_token(profile)
    with ApiSession(profile, language=terminal_language(), patience=patience, token=token) as session:
        yield session
