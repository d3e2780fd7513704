"""Seeds and tokens that we issue to senders (authority.md#session, #receivers).

A seed carries its own proof, so issuing one needs no row and no memory: random bytes, the time, and a MAC over both and
the audience. Only a seed that returns with a valid signature is stored.
"""

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey

from fe.ecf.certificate import holder_id
from fe.ecf.dates import ZONE
from fe.ecf.signature import BadSignature, verify
from fe.ecf.signature.verifier import SEED
from fe.ecf.trust import check_certificate
from fe.receiving.assess import Trust

SEED_LIFE = timedelta(minutes=5)
TOKEN_LIFE = timedelta(minutes=10)

#: Seconds that the clocks of two of our machines may differ.
_SKEW = timedelta(seconds=30)
_RANDOM, _TIME, _MAC = 40, 8, 32
_ISSUER = "fe-reception"
_ALGORITHMS = ["HS256"]
_MAX_TOKEN = 2048


#: Purpose of the keys derived from the vault's.
SESSIONS = b"fe reception sessions"


def derive_keys(roots: Mapping[str, bytes]) -> dict[str, bytes]:
    """Derive the keys of seeds and tokens from the vault's `roots`, in their order: the first signs, all verify.

    Derived and not configured: processes that receive have the roots, and no other process needs these keys.
    """
    return {name: HKDF(SHA256(), 32, None, SESSIONS).derive(root) for name, root in roots.items()}


class SeedRefused(ValueError):
    """A seed that opens no session; the message is for who sent it."""


@dataclass(frozen=True, slots=True)
class SignedSeed:
    """A seed of ours that came back signed. It opens a session unless it was `spent` before, by these bytes."""

    spent: bytes
    expires: datetime
    holder: str


@dataclass(frozen=True, slots=True)
class SupplierToken:
    """A token with its times of issue and expiry."""

    text: str
    issued: datetime
    expires: datetime


class SupplierSessions:
    """Gives out seeds and tokens, and knows them again. `audience` is whom they are for: environment and tax id."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        if not keys:
            raise ValueError("seeds and tokens need a key")
        self._macs = list(keys.values())
        self._current = next(iter(keys))
        self._tokens = KeySet([OctKey.import_key(key, {"kid": name}) for name, key in keys.items()])

    def new_seed(self, audience: str, now: datetime) -> bytes:
        """Make a fresh seed as XML, indented like the authority's own."""
        content = secrets.token_bytes(_RANDOM) + int(now.timestamp()).to_bytes(_TIME, "big")
        value = b64encode(content + self._mac(self._macs[0], audience, content)).decode()
        moment = f"{now.astimezone(ZONE):%Y-%m-%dT%H:%M:%S.%f}0-04:00"
        return (
            '<?xml version="1.0" encoding="utf-8"?>\n'
            '<SemillaModel xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
            ' xmlns:xsd="http://www.w3.org/2001/XMLSchema">\n'
            f"  <valor>{value}</valor>\n  <fecha>{moment}</fecha>\n</SemillaModel>"
        ).encode()

    def read_seed(self, raw: bytes, audience: str, trust: Trust, now: datetime) -> SignedSeed:
        """Verify a signed seed. CPU work: run it in a thread. Raises MalformedXml or SeedRefused."""
        try:
            verified = verify(raw)
        except BadSignature as bad:
            raise SeedRefused(f"the signature is not accepted: {bad.message}") from None
        if verified.root.tag != SEED:
            raise SeedRefused("the root element should be SemillaModel")
        for objection in check_certificate(verified.certificate, roots=trust.roots, at=now):
            raise SeedRefused(f"the signature is not accepted: {objection.message}")
        holder = holder_id(verified.certificate)
        if holder is None:
            raise SeedRefused("the certificate does not say whose it is")
        content, issued = self._content((verified.root.findtext("valor") or "").strip(), audience)
        if not issued - _SKEW <= now < issued + SEED_LIFE:
            raise SeedRefused("the seed has expired: ask for another one")
        return SignedSeed(content[:_RANDOM], issued + SEED_LIFE, holder)

    def _content(self, value: str, audience: str) -> tuple[bytes, datetime]:
        try:
            decoded = b64decode(value, validate=True)
        except ValueError:
            decoded = b""
        content, mac = decoded[: _RANDOM + _TIME], decoded[_RANDOM + _TIME :]
        if len(decoded) != _RANDOM + _TIME + _MAC or not any(
            hmac.compare_digest(mac, self._mac(key, audience, content)) for key in self._macs
        ):
            raise SeedRefused("the seed is none of ours")
        return content, datetime.fromtimestamp(int.from_bytes(content[_RANDOM:], "big"), UTC)

    @staticmethod
    def _mac(key: bytes, audience: str, content: bytes) -> bytes:
        return hmac.digest(key, b"seed\0" + audience.encode() + b"\0" + content, "sha256")

    def grant(self, audience: str, holder: str, now: datetime) -> SupplierToken:
        """Issue a token to the holder of the certificate that signed the seed."""
        issued = now.astimezone(UTC).replace(microsecond=0)
        expires = issued + TOKEN_LIFE
        claims = {
            "iss": _ISSUER,
            "aud": audience,
            "sub": holder,
            "iat": int(issued.timestamp()),
            "exp": int(expires.timestamp()),
            "jti": secrets.token_hex(8),
        }
        header = {"alg": "HS256", "kid": self._current}
        return SupplierToken(jwt.encode(header, claims, self._tokens, algorithms=_ALGORITHMS), issued, expires)

    def holder_of(self, token: str, audience: str, now: datetime) -> str | None:
        """Tell who a token was issued to, or None: it is none of ours, not for this receiver, or not of now."""
        if len(token) > _MAX_TOKEN or not token.isascii():
            return None
        moment = int(now.timestamp())
        registry = jwt.JWTClaimsRegistry(
            now=moment,
            leeway=0,
            iss={"essential": True, "value": _ISSUER},
            aud={"essential": True, "value": audience},
            sub={"essential": True},
            exp={"essential": True},
        )
        try:
            claims = jwt.decode(token, self._tokens, algorithms=_ALGORITHMS).claims
            registry.validate({name: value for name, value in claims.items() if name != "iat"})
        except (JoseError, ValueError, TypeError):  # joserfc raises all three
            return None
        return str(claims["sub"])
