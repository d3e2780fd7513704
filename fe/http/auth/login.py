"""POST /login: a key and its secret for a token of one hour."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import structlog
import trio
from pydantic import ConfigDict, Field, field_validator

from fe.accounts.keys import SCOPES, Peppers, scopes_at_login
from fe.clock import Clock
from fe.config import Network
from fe.ecf.parse import MalformedJson
from fe.ecf.texts import Text
from fe.http.auth.tokens import LIFETIME, Tokens
from fe.http.calls import ApiReply, Call, Caller
from fe.http.errors import ApiError, Headers
from fe.http.languages import serialize_problems
from fe.http.messages import TOO_MANY_REQUESTS, say
from fe.http.models.responses import TOKEN, Token
from fe.http.request_bodies import InvalidField, RequestModel, read_body
from fe.http.server.addresses import Address, client_address
from fe.identifiers import ApiKeyId
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Conn, Database
from fe.store.records import keys, throttle
from fe.store.records.keys import ApiKey
from fe.store.records.throttle import ATTEMPT_LIMITS, WINDOW, AttemptLimits, Lockout

#: Seconds between two log lines that count the logins refused by lockouts.
_THROTTLED_SECONDS = 60.0

#: The hash that the secret of an unknown key is compared with, so that this case takes as long as the others.
_NOBODY = bytes(32)

_log = structlog.get_logger(__name__)


class LoginRequest(RequestModel):
    """An API key and its secret."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"apiKeyId": "fak_0123456789ab", "apiSecret": "the-secret-of-that-key"}]}
    )

    apiKeyId: Annotated[ApiKeyId, Field(description="public; begins with fak_", json_schema_extra={"pattern": "^fak_"})]
    apiSecret: str

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """The interface's own messages."""
        return {"apiKeyId": say("key-id-form")}

    @field_validator("apiKeyId")
    @classmethod
    def _begins_with_fak(cls, value: ApiKeyId) -> ApiKeyId:
        if not value.startswith("fak_"):
            raise InvalidField(say("key-id-form"))
        return value


class Login:
    """Exchanges credentials for tokens."""

    def __init__(
        self,
        db: Database,
        tokens: Tokens,
        peppers: Peppers,
        clock: Clock,
        metrics: Metrics,
        trusted_proxies: Sequence[Network],
        limits: AttemptLimits = ATTEMPT_LIMITS,
    ) -> None:
        self._limits = limits
        self._db = db
        self._tokens = tokens
        self._peppers = peppers
        self._clock = clock
        self._metrics = metrics
        self._trusted = trusted_proxies
        self._throttled = 0
        self._throttled_logged_at = -math.inf
        self._not_logins = 0
        self._not_logins_logged_at = -math.inf

    async def login(self, call: Call) -> ApiReply:
        """Answer 200 with a token, or 401 with the same words whatever was wrong (interface.md#login).

        The order is: a lockout of the address (429), before anything of the body is read; form (400, 413); throttle
        (429); secret (401). A request that is refused for its form counts for its address, every other one for its
        address and its key id, whether there is such a key or not.
        """
        client = client_address(call.peer, call.headers.get("x-forwarded-for"), self._trusted)
        address = throttle.bucket_of_address(client)
        if (lockout := await self._db.run(throttle.locked_out, address)) is not None:
            raise self._locked_out(lockout, client, None)
        try:
            credentials = read_body(LoginRequest, await call.body())
        except (ApiError, MalformedJson):
            self._metrics.login.labels("malformed").inc()
            self._malformed(client)
            if (lockout := await self._db.run(throttle.attempt, address, None, self._limits)) is not None:
                raise self._locked_out(lockout, client, None) from None
            raise
        key_bucket = throttle.bucket_of_key(credentials.apiKeyId)
        lockout, key = await self._db.run(_attempt_and_find, address, key_bucket, credentials.apiKeyId, self._limits)
        now = self._clock()
        # Before anything is decided: the work is the same whatever the outcome, a lockout included.
        pepper_id = self._pepper_of(key, credentials.apiSecret, now)
        if lockout is not None:
            raise self._locked_out(lockout, client, credentials.apiKeyId)
        if pepper_id is None:
            self._metrics.login.labels("refused").inc()
            _log.warning("a login was refused", address=str(client), api_key_id=_bounded(credentials.apiKeyId))
            raise ApiError(401, say("bad-credentials"))
        assert key is not None
        if key.pepper_id != self._peppers.current:
            # An older pepper, on its way out: this is the one moment at which the secret is here to be hashed anew.
            await self._db.run_for(
                key.tenant_id,
                keys.rehash,
                key.api_key_id,
                before=key.secret_hash,
                after=self._peppers.hash(credentials.apiSecret),
                pepper_id=self._peppers.current,
            )
        scopes = scopes_at_login(key.scopes)
        call.caller = Caller(key.api_key_id, key.tenant_id, key.environment, frozenset(scopes))
        self._metrics.login.labels("granted").inc()
        _log.info("a login succeeded", address=str(client), api_key_id=key.api_key_id, tenant_id=key.tenant_id)
        answer: Token = {
            "accessToken": self._tokens.issue(key.api_key_id, scopes, now),
            "tokenType": "Bearer",
            "expiresIn": LIFETIME,
            "environment": key.environment,
            "scopes": scopes,
        }
        if credentials.ignored:
            answer["warnings"] = serialize_problems(credentials.ignored, call.language)
        return ApiReply(200, TOKEN.write(answer))

    def _pepper_of(self, key: ApiKey | None, secret: str, now: datetime) -> str | None:
        """Find the pepper under which the secret is right; None when it is wrong, or the key is not in use.

        Compared whatever is known already: how long it takes must not tell an unknown key from a wrong secret.
        """
        found = self._peppers.find(secret, key.secret_hash if key is not None else _NOBODY)
        return found if key is not None and key.active(now) else None

    def _malformed(self, client: Address) -> None:
        """Log requests that are no login: the first at once, then one line a minute with their number."""
        self._not_logins += 1
        if trio.current_time() - self._not_logins_logged_at >= _THROTTLED_SECONDS:
            _log.warning("logins were malformed", logins=self._not_logins, last_address=str(client))
            self._not_logins, self._not_logins_logged_at = 0, trio.current_time()

    def _locked_out(self, lockout: Lockout, client: Address, api_key_id: str | None) -> ApiError:
        """Count it, and tell of one that begins; of what knocks meanwhile a line a minute, or the log were theirs."""
        self._metrics.login.labels("throttled").inc()
        self._throttled += 1
        if trio.current_time() - self._throttled_logged_at >= _THROTTLED_SECONDS:
            _log.warning("logins were throttled", logins=self._throttled, last_address=str(client))
            self._throttled, self._throttled_logged_at = 0, trio.current_time()
        if lockout.began:
            self._metrics.lockouts.labels(lockout.kind).inc()
            whose = {} if api_key_id is None else {"api_key_id": _bounded(api_key_id)}
            _log.warning("a login lockout began", bucket=lockout.kind, address=str(client), **whose)
        seconds = max(math.ceil(lockout.retry_after), 1)
        by_address = lockout.kind == "address"
        allowed = self._limits.address if by_address else self._limits.key
        hint = say(
            "locked-out",
            allowed=allowed,
            whose=say("from-this-address" if by_address else "of-this-key"),
            window=int(WINDOW.total_seconds()),
            seconds=seconds,
        )
        headers: Headers = (("Retry-After", str(seconds)),)
        if by_address:  # a locked key leaves the address other keys
            headers = (*headers, ("Connection", "close"))
        return ApiError(429, TOO_MANY_REQUESTS, headers, hint=hint)


def _bounded(api_key_id: str) -> str:
    """The claimed key id, short enough for a log line."""
    return api_key_id[:32]


async def _attempt_and_find(
    conn: Conn, address: bytes, key_bucket: bytes, api_key_id: ApiKeyId, limits: AttemptLimits
) -> tuple[Lockout | None, ApiKey | None]:
    """Count the attempt, then look the key up: one round trip for both."""
    lockout = await throttle.attempt(conn, address, key_bucket, limits)
    return lockout, await keys.find(conn, api_key_id, SCOPES)
