"""POST /login: a key and its secret for a token of one hour."""

import hmac
from datetime import datetime

from pydantic import field_validator

from fe.clock import Clock
from fe.flows.keys import hash_secret, scopes_at_login
from fe.http.errors import ApiError
from fe.http.reading import Envelope, read_body
from fe.http.tokens import LIFETIME, Tokens
from fe.http.wire import Call, Reply
from fe.metrics import Metrics
from fe.store import keys
from fe.store.db import Database
from fe.store.keys import ApiKey

#: What an unknown key's secret is compared with, so that this case does the same work as the others.
_NOBODY = bytes(32)


class Credentials(Envelope):
    """The body of POST /login."""

    apiKeyId: str
    apiSecret: str

    @field_validator("apiKeyId")
    @classmethod
    def _begins_with_fak(cls, value: str) -> str:
        if not value.startswith("fak_"):
            raise ValueError("apiKeyId must start with fak_")
        return value


class Login:
    """Exchanges credentials for tokens."""

    def __init__(self, db: Database, tokens: Tokens, pepper: bytes, clock: Clock, metrics: Metrics) -> None:
        self._db = db
        self._tokens = tokens
        self._pepper = pepper
        self._clock = clock
        self._metrics = metrics

    async def login(self, call: Call) -> Reply:
        """Answer 200 with a token, or 401 with the same words whatever was wrong (interface.md, "POST /login")."""
        credentials = read_body(Credentials, await call.body())
        now = self._clock()
        key = await self._db.run(keys.find, credentials.apiKeyId)
        if not self._is_right(key, credentials.apiSecret, now):
            self._metrics.login.labels("refused").inc()
            raise ApiError(401, "Invalid credentials")
        assert key is not None
        scopes = scopes_at_login(key.scopes)
        self._metrics.login.labels("granted").inc()
        return Reply(
            200,
            {
                "accessToken": self._tokens.issue(key.api_key_id, scopes, now),
                "tokenType": "Bearer",
                "expiresIn": LIFETIME,
                "environment": key.environment,
                "scopes": scopes,
            },
            (("Cache-Control", "no-store"),),
        )

    def _is_right(self, key: ApiKey | None, secret: str, now: datetime) -> bool:
        """Compare, whatever is known already: how long it takes must not tell an unknown key from a wrong secret."""
        same = hmac.compare_digest(hash_secret(self._pepper, secret), key.secret_hash if key is not None else _NOBODY)
        return same and key is not None and key.active(now)
