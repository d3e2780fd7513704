"""Authentication by bearer token, and the cached state of API keys."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import structlog
import trio

from fe.accounts.keys import REVOKED_CHANNEL
from fe.cache import ExpiringCache
from fe.clock import Clock, boot_seconds
from fe.ecf.texts import Text
from fe.http.auth.tokens import BadToken, Tokens
from fe.http.calls import Caller
from fe.http.errors import RETRY_WHEN_DOWN, WWW_AUTHENTICATE, ApiError
from fe.http.messages import UNAVAILABLE, say
from fe.identifiers import ApiKeyId
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import keys
from fe.store.records.keys import ApiKey


@dataclass(frozen=True, slots=True)
class KeyPatience:
    """How long the stored state of a key may be used, in seconds.

    A revocation works within 30 s also when its notification is lost (interface.md#authentication): what is fresh for
    15 s and then asked for at most 5 s is never older than 20 s while the database answers.
    """

    #: How old an answer may be before it is asked again.
    fresh: float = 15.0
    #: How old it may be while the database does not answer, before we rather answer 503 than believe it.
    believed: float = 29.0
    #: How long one lookup may take.
    asked: float = 5.0
    #: After a lookup that failed, how long the next one of this key waits: callers must not queue behind a database
    #: that is away. A call that is refused meanwhile does not start the wait again.
    retry: float = 1.0


KEY_PATIENCE = KeyPatience()

_MAX_KEYS = 10_000

#: Seconds between two lines of the log about refused tokens.
_REFUSED_SECONDS = 60.0

_BEARER = "bearer "

_log = structlog.get_logger(__name__)


class KeyStates:
    """The state of API keys, remembered for a few seconds. One per process.

    `now` goes on while the machine sleeps: a key may have been revoked meanwhile, and its notification be lost.
    """

    def __init__(
        self, db: Database, patience: KeyPatience = KEY_PATIENCE, now: Callable[[], float] = boot_seconds
    ) -> None:
        self._db = db
        self._patience = patience
        self._now = now
        self._known: ExpiringCache[ApiKeyId, tuple[ApiKey, float]] = ExpiringCache(_MAX_KEYS)
        self._asking: dict[ApiKeyId, trio.Event] = {}
        #: Keys that changed during their query: its result may be from before the change.
        self._overtaken: set[ApiKeyId] = set()
        #: When the last lookup of a key failed.
        self._failed_at: ExpiringCache[ApiKeyId, float] = ExpiringCache(_MAX_KEYS)

    async def find(self, api_key_id: ApiKeyId) -> ApiKey | None:
        """Find a key as it was at most 29 s ago; None when there is no such key.

        Raises DatabaseUnavailable when that is not known: closed rather than open.
        """
        while True:
            known = self._known.get(api_key_id)
            if known is not None and self._now() - known[1] < self._patience.fresh:
                return known[0]
            other = self._asking.get(api_key_id)
            if other is None:
                return await self._ask(api_key_id)
            await other.wait()

    async def _ask(self, api_key_id: ApiKeyId) -> ApiKey | None:
        failed_at = self._failed_at.get(api_key_id)
        if failed_at is not None and self._now() - failed_at < self._patience.retry:
            return self._believed(api_key_id, DatabaseUnavailable("it did not answer a moment ago"))
        done = self._asking[api_key_id] = trio.Event()
        asked_at = self._now()
        try:
            with trio.move_on_after(self._patience.asked):
                found = await self._db.run(keys.find, api_key_id)
                if api_key_id not in self._overtaken:
                    self._learn(api_key_id, found, asked_at)
                return found
            raise DatabaseUnavailable("no answer in time")
        except DatabaseUnavailable as unanswered:
            # Measured from the end of the query: tasks that waited for it must not repeat it one after the other.
            self._failed_at.put(api_key_id, self._now())
            return self._believed(api_key_id, unanswered)
        finally:
            del self._asking[api_key_id]
            self._overtaken.discard(api_key_id)
            done.set()

    def _believed(self, api_key_id: ApiKeyId, unanswered: DatabaseUnavailable) -> ApiKey:
        """Return the cached state of a key if it is recent enough; otherwise raise `unanswered`."""
        known = self._known.get(api_key_id)
        if known is None or self._now() - known[1] >= self._patience.believed:
            raise unanswered
        return known[0]

    def _learn(self, api_key_id: ApiKeyId, found: ApiKey | None, asked_at: float) -> None:
        self._failed_at.forget(api_key_id)
        if found is None:
            self._known.forget(api_key_id)
        else:
            self._known.put(api_key_id, (found, asked_at))

    def forget(self, api_key_id: ApiKeyId) -> None:
        """Query the database again at the next use, also when a query is under way."""
        self._known.forget(api_key_id)
        if api_key_id in self._asking:
            self._overtaken.add(api_key_id)

    async def listen(self) -> None:
        """Receive notifications of revocations until cancelled."""
        await self._db.listen(REVOKED_CHANNEL, lambda key: self.forget(ApiKeyId(key)))


class ScopeMissing(ApiError):
    """A token is good, and its key may not do this (403)."""

    def __init__(self, api_key_id: str, scope: str) -> None:
        super().__init__(403, say("missing-scope", scope=scope))
        self.api_key_id = api_key_id
        self.scope = scope


class Authenticator:
    """Identifies the caller, or refuses with the messages of interface.md#authentication-failures."""

    def __init__(self, tokens: Tokens, states: KeyStates, clock: Clock) -> None:
        self._tokens = tokens
        self._refusals = _Refusals()
        self._states = states
        self._clock = clock

    async def authenticate(self, authorization: str | None, scope: str) -> Caller:
        """Identify the caller and see that its token permits `scope`. Raises ApiError (401, 403, 503)."""
        now = self._clock()
        if authorization is None or authorization[: len(_BEARER)].lower() != _BEARER:
            self._refusals.note("missing")
            raise ApiError(401, say("missing-token"), (WWW_AUTHENTICATE,), hint=say("how-to-get-a-token"))
        try:
            grant = self._tokens.read(authorization[len(_BEARER) :].strip(), now)
        except BadToken:
            self._refusals.note("not valid, or over")
            raise _unauthorized(say("bad-token")) from None
        # The scope is checked before the key's state: a token that lacks it learns nothing more.
        if scope not in grant.scopes:
            raise ScopeMissing(grant.api_key_id, scope)
        try:
            key = await self._states.find(grant.api_key_id)
        except DatabaseUnavailable as error:
            _log.warning("the state of a key cannot be asked: refusing", error=error)
            raise ApiError(503, UNAVAILABLE, (("Retry-After", str(RETRY_WHEN_DOWN)),)) from error
        if key is None or not key.active(now):
            self._refusals.note("its key is revoked, expired or suspended", grant.api_key_id)
            raise _unauthorized(say("key-revoked"))
        return Caller(key.api_key_id, key.tenant_id, key.environment, grant.scopes)


class _Refusals:
    """A line of the log for refused tokens: the first at once, then one a minute with their number."""

    def __init__(self) -> None:
        self._tokens = 0
        self._logged_at = -inf

    def note(self, reason: str, api_key_id: str | None = None) -> None:
        """Count one. `reason` is a constant: nothing of the token itself is logged."""
        self._tokens += 1
        if boot_seconds() - self._logged_at >= _REFUSED_SECONDS:
            whose = {} if api_key_id is None else {"api_key_id": api_key_id}
            _log.warning("requests were refused for their token", requests=self._tokens, last_reason=reason, **whose)
            self._tokens, self._logged_at = 0, boot_seconds()


def _unauthorized(message: Text) -> ApiError:
    return ApiError(401, message, (WWW_AUTHENTICATE,))
