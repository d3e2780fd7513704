"""Access tokens: JWT, HS256, one hour, with the id of the signing key so that it can be rotated with overlap."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey

from fe.accounts.keys import SCOPES
from fe.cache import ExpiringCache
from fe.identifiers import ApiKeyId

LIFETIME: Final = 3600
_ISSUER = "fe"
_AUDIENCE = "fe-api"
_ALGORITHMS = ["HS256"]
_KEY_FORM = frozenset("0123456789abcdef")
_MAX_LENGTH = 4096

#: Seconds that the clocks of two of our machines may differ: a token just issued by one must not be "not yet valid" at
#: another. The end of a token's hour is checked without it.
_SKEW = 30

#: How many verified tokens are remembered: a client sends the same one for an hour.
_REMEMBERED = 2048


class BadToken(Exception):
    """The token is not one of ours, not for us, or not of now. It is never said which."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The content of a valid token: key, scopes, and expiry in seconds since 1970."""

    api_key_id: ApiKeyId
    scopes: frozenset[str]
    expires: int


class Tokens:
    """Issues and reads tokens under a set of keys: the first signs, all verify."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        """Take the signing secrets by key id, each of at least 32 random bytes. Raises ValueError for a shorter one."""
        if not keys or any(len(secret) < 32 for secret in keys.values()):
            raise ValueError("tokens need signing secrets of at least 32 bytes")
        self._current = next(iter(keys))
        self._keys = KeySet([OctKey.import_key(secret, {"kid": kid}) for kid, secret in keys.items()])
        self._verified: ExpiringCache[str, Grant] = ExpiringCache(_REMEMBERED)

    def issue(self, api_key_id: ApiKeyId, scopes: Iterable[str], now: datetime) -> str:
        """Issue a token for an hour from `now`."""
        issued = int(now.timestamp())
        claims = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "sub": api_key_id,
            "iat": issued,
            "exp": issued + LIFETIME,
            "jti": secrets.token_hex(8),
            "scope": list(scopes),
        }
        return jwt.encode({"alg": "HS256", "kid": self._current}, claims, self._keys, algorithms=_ALGORITHMS)

    def read(self, token: str, now: datetime) -> Grant:
        """Read a token. Raises BadToken unless signature, algorithm, every claim and the hour are right."""
        moment = int(now.timestamp())
        grant = self._verified.get(token, moment)
        if grant is None:
            grant = self._verify(token, moment)
            if grant.expires <= moment:
                raise BadToken
            self._verified.put(token, grant, grant.expires)
        return grant

    def _verify(self, token: str, moment: int) -> Grant:
        if len(token) > _MAX_LENGTH or not token.isascii():
            raise BadToken
        registry = jwt.JWTClaimsRegistry(
            now=moment,
            leeway=_SKEW,
            iss={"essential": True, "value": _ISSUER},
            aud={"essential": True, "value": _AUDIENCE},
            sub={"essential": True},
            iat={"essential": True},
            exp={"essential": True},
        )
        try:
            decoded = jwt.decode(token, self._keys, algorithms=_ALGORITHMS)
            registry.validate(decoded.claims)
        except (JoseError, ValueError, TypeError) as error:  # joserfc raises all three
            raise BadToken from error
        return _grant(decoded.header, decoded.claims)


def _grant(header: Mapping[str, Any], claims: Mapping[str, Any]) -> Grant:
    """Check what the library does not: exact types, the lifetime, the scopes, and the form of the subject."""
    issued, expires, scopes = claims["iat"], claims["exp"], claims.get("scope")
    subject = claims["sub"]
    right = (
        header.get("typ") == "JWT"
        and "kid" in header
        and type(issued) is int
        and type(expires) is int
        and expires - issued == LIFETIME
        and claims["aud"] == _AUDIENCE
        and isinstance(scopes, list)
        and all(scope in SCOPES for scope in scopes)
        and _is_key_id(subject)
    )
    if not right:
        raise BadToken
    return Grant(subject, frozenset(scopes or ()), expires)


def _is_key_id(subject: object) -> bool:
    return (
        isinstance(subject, str) and len(subject) == 16 and subject.startswith("fak_") and set(subject[4:]) <= _KEY_FORM
    )
