"""Seeds and tokens (authority.md#session)."""

import base64
import hmac
import json
import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE

_HOLDER = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name"
_ISSUER = "DGII.FE"
_AUDIENCE = "USUARIOS.DGII.FE"
_MAX_SEEDS = 10_000
_MAX_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Bearer:
    """Holder of a token, and its expiry."""

    holder: str
    expires: datetime
    id: str


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token with the times the authority states beside it."""

    token: str
    issued: datetime
    expires: datetime


class SeedSessions:
    """The seeds that are out and the tokens that are good. A token is good in its environment, at both hosts.

    Tokens need only `secret` to be recognised, so they outlive a restart when it does; seeds do not.
    """

    def __init__(self, secret: bytes, *, seed_life: timedelta, token_life: timedelta) -> None:
        self._keys = {
            environment: OctKey.import_key(hmac.digest(secret, environment.value.encode(), "sha256"))
            for environment in Environment
        }
        self._seed_life = seed_life
        self._token_life = token_life
        self._seeds: dict[tuple[Environment, str], datetime] = {}
        self._known: dict[tuple[Environment, str], Bearer] = {}
        self._revoked: set[str] = set()

    def new_seed(self, environment: Environment, now: datetime) -> bytes:
        """A fresh seed as the XML the authority sends, indented like its own."""
        value = base64.b64encode(secrets.token_bytes(112)).decode()
        while len(self._seeds) >= _MAX_SEEDS:
            del self._seeds[next(iter(self._seeds))]
        self._seeds[environment, value] = now + self._seed_life
        moment = f"{now.astimezone(ZONE):%Y-%m-%dT%H:%M:%S.%f}0-04:00"
        return (
            '<?xml version="1.0" encoding="utf-8"?>\n'
            '<SemillaModel xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
            ' xmlns:xsd="http://www.w3.org/2001/XMLSchema">\n'
            f"  <valor>{value}</valor>\n  <fecha>{moment}</fecha>\n</SemillaModel>"
        ).encode()

    def spend_seed(self, environment: Environment, value: str, now: datetime) -> bool:
        """Whether `value` is a seed of ours that was still good. It is not any more."""
        expires = self._seeds.pop((environment, value), None)
        return expires is not None and now < expires

    def grant(self, environment: Environment, holder: str, now: datetime) -> IssuedToken:
        """Issue a token to the owner of a certificate."""
        issued = now.replace(microsecond=0)
        expires = issued + self._token_life
        claims = {
            _HOLDER: holder,
            "jti": str(uuid.uuid4()),
            "nbf": int(issued.timestamp()),
            "exp": int(expires.timestamp()),
            "iss": _ISSUER,
            "aud": _AUDIENCE,
        }
        token = jwt.encode({"alg": "HS256", "typ": "JWT"}, claims, self._keys[environment], algorithms=["HS256"])
        return IssuedToken(token, issued, expires)

    def session(self, environment: Environment, authorization: str, now: datetime) -> Bearer | None:
        """The session that an Authorization header opens in `environment`, or None: then the answer is 401."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = token.strip()
        session = self._known.get((environment, token)) or self._read(environment, token)
        if session is None or session.id in self._revoked or session.expires <= now:
            return None
        return session

    def revoke(self, session: Bearer) -> None:
        """Make a token bad before its time."""
        self._revoked.add(session.id)

    def _read(self, environment: Environment, token: str) -> Bearer | None:
        try:
            claims = jwt.decode(token, self._keys[environment], algorithms=["HS256"]).claims
            session = Bearer(str(claims[_HOLDER]), datetime.fromtimestamp(claims["exp"], ZONE), str(claims["jti"]))
        except (JoseError, ValueError, KeyError, TypeError, json.JSONDecodeError):
            return None
        if claims.get("iss") != _ISSUER or claims.get("aud") != _AUDIENCE:
            return None
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[environment, token] = session
        return session
