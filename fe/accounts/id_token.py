"""Validate an ID token: signature, issuer, audience, time and nonce."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey

#: Asymmetric alone: no secret that two sides share, and never `none`.
_ALGORITHMS: Final = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384"]
_KINDS: Final[dict[str, Callable[[Any], RSAKey | ECKey]]] = {"RSA": RSAKey.import_key, "EC": ECKey.import_key}
_LONGEST: Final = 32 * 1024
_LONGEST_SUBJECT: Final = 255
#: Seconds by which the provider's clock may be off.
_SKEW: Final = 60


class BadIdToken(Exception):
    """The ID token is invalid; the message says why, without its contents."""


class UnknownSigner(BadIdToken):
    """It names a key that is not among the provider's: perhaps a new one."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A person's identity at the provider."""

    issuer: str
    subject: str
    #: Email address, if the provider has verified it.
    verified_email: str | None
    name: str
    #: When the person logged in there, in seconds since 1970; None where it is not said.
    authenticated_at: float | None


def read_keys(found: dict[str, Any]) -> list[RSAKey | ECKey] | None:
    """Read a key set: the keys that sign, of the kinds that are known. None where there are none."""
    entries = found.get("keys")
    keys: list[RSAKey | ECKey] = []
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
            continue
        kind = _KINDS.get(str(entry.get("kty")))
        if kind is None:
            continue
        try:
            keys.append(kind(entry))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    return keys or None


def read_id_token(
    token: str, keys: list[RSAKey | ECKey], issuer: str, client_id: str, nonce: str, now: datetime
) -> Subject:
    """Read an ID token. Raises BadIdToken, and UnknownSigner where other keys may help."""
    claims = _verified(token, keys)
    moment = now.timestamp()
    if claims.get("iss") != issuer:
        raise BadIdToken("another issuer's")
    audience = claims.get("aud")
    audiences = [audience] if isinstance(audience, str) else audience
    if not isinstance(audiences, list) or client_id not in audiences:
        raise BadIdToken("for another audience")
    party = claims.get("azp")
    if (len(audiences) > 1 or party is not None) and party != client_id:
        raise BadIdToken("for another party")
    expires, issued = _number(claims.get("exp")), _number(claims.get("iat"))
    if expires is None or moment >= expires + _SKEW:
        raise BadIdToken("expired")
    if issued is None or issued > moment + _SKEW:
        raise BadIdToken("of the future")
    given = claims.get("nonce")
    if not isinstance(given, str) or not secrets.compare_digest(given.encode("utf-8", "replace"), nonce.encode()):
        raise BadIdToken("of another login")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= _LONGEST_SUBJECT or not subject.isprintable():
        raise BadIdToken("without a subject")
    email, name = claims.get("email"), claims.get("name")
    is_verified = claims.get("email_verified") is True and isinstance(email, str)
    return Subject(
        issuer,
        subject,
        email if is_verified else None,
        name if isinstance(name, str) else "",
        _number(claims.get("auth_time")),
    )


def _verified(token: str, keys: list[RSAKey | ECKey]) -> dict[str, Any]:
    """The claims of a token that one of the keys signed. Raises BadIdToken."""
    if len(token) > _LONGEST:
        raise BadIdToken("too long")
    try:
        kid = jws.extract_compact(token.encode()).headers().get("kid")
        if kid is None and len(keys) > 1:
            raise BadIdToken("signed with an unknown key")
        key = keys[0] if kid is None else KeySet([key for key in keys if key.kid == kid])
        if isinstance(key, KeySet) and not key.keys:
            raise UnknownSigner("signed by an unknown key")
        return dict(jwt.decode(token, key, algorithms=_ALGORITHMS).claims)
    except InvalidKeyIdError:
        raise UnknownSigner("signed by an unknown key") from None
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise BadIdToken(f"not a signed token of ours ({type(error).__name__})") from error


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
