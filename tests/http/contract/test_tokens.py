"""The table of tokens that must be refused, all with the same message (interface.md#authentication)."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any

import pytest

from fe.http.auth.tokens import Tokens
from tests.http.clauses import clause
from tests.http.front import JWT_KEYS, Key, Running

SECRET = JWT_KEYS["k1"]


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def forge(
    header: dict[str, Any] | bytes, claims: dict[str, Any] | bytes, secret: bytes = SECRET, digest: str = "sha256"
) -> str:
    parts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in (header, claims)]
    signed = ".".join(map(b64, parts))
    return f"{signed}.{b64(hmac.digest(secret, signed.encode(), digest))}"


def tokens(key: Key, good: str) -> dict[str, str]:
    now = int(time.time())
    header = {"alg": "HS256", "kid": "k1", "typ": "JWT"}
    claims = {
        "iss": "fe",
        "aud": "fe-api",
        "sub": key.api_key_id,
        "iat": now,
        "exp": now + 3600,
        "scope": ["invoices:read", "ncf:read"],
    }
    head, body, signature = good.split(".")

    def without(name: str) -> dict[str, Any]:
        return {k: v for k, v in claims.items() if k != name}

    return {
        "no dots": "abc",
        "two parts": f"{head}.{body}",
        "four parts": f"{good}.{signature}",
        "no signature": f"{head}.{body}.",
        "cut signature": good[:-2],
        "other signature": f"{head}.{body}.{b64(b'x' * 32)}",
        "changed claims": f"{head}.{b64(json.dumps({**claims, 'scope': ['invoices:write']}).encode())}.{signature}",
        "alg none": f"{b64(json.dumps({'alg': 'none', 'kid': 'k1', 'typ': 'JWT'}).encode())}.{body}.",
        "alg None signed": forge({**header, "alg": "None"}, claims),
        "alg HS512": forge({**header, "alg": "HS512"}, claims, digest="sha512"),
        "alg RS256": forge({**header, "alg": "RS256"}, claims),
        "no kid": forge({"alg": "HS256", "typ": "JWT"}, claims),
        "unknown kid": forge({**header, "kid": "k9"}, claims),
        "kid of a path": forge({**header, "kid": "../../dev/null"}, claims, secret=b""),
        "kid of SQL": forge({**header, "kid": "k1' OR '1'='1"}, claims),
        "kid no text": forge({**header, "kid": 1}, claims),
        "other typ": forge({**header, "typ": "at+jwt"}, claims),
        "jwk in the header": forge({**header, "jwk": {"kty": "oct", "k": b64(b"x" * 32)}}, claims, secret=b"x" * 32),
        "jku in the header": forge({**header, "jku": "https://example.com/keys"}, claims, secret=b"x" * 32),
        "crit": forge({**header, "crit": ["exp"]}, claims),
        **{f"crit {made_up}": forge({**header, "crit": made_up}, claims, b"") for made_up in (5, 1.5, True, None)},
        "crit of lists": forge({**header, "crit": [[]]}, claims, b""),
        "kid a list": forge({**header, "kid": ["k1"]}, claims, b""),
        "kid an object": forge({**header, "kid": {"k1": "k1"}}, claims, b""),
        "alg a list": forge({**header, "alg": ["HS256"]}, claims, b""),
        "wrong secret": forge(header, claims, secret=b"\x02" * 32),
        "empty secret": forge(header, claims, secret=b""),
        "expired": forge(header, {**claims, "iat": now - 3700, "exp": now - 100}),
        "expires now": forge(header, {**claims, "iat": now - 3600, "exp": now}),
        "no exp": forge(header, without("exp")),
        "exp text": forge(header, {**claims, "exp": str(now + 3600)}),
        "exp float": forge(header, {**claims, "exp": now + 3600.0}),
        "exp infinite": forge(header, json.dumps({**claims, "exp": float("inf")}).encode()),
        "exp not a number": forge(header, json.dumps({**claims, "exp": float("nan")}).encode()),
        "exp true": forge(header, {**claims, "exp": True}),
        "exp far away": forge(header, {**claims, "exp": now + 10**9}),
        "no iat": forge(header, without("iat")),
        "iat in the future": forge(header, {**claims, "iat": now + 600, "exp": now + 4200}),
        "nbf in the future": forge(header, {**claims, "nbf": now + 600}),
        "no aud": forge(header, without("aud")),
        "other aud": forge(header, {**claims, "aud": "portal"}),
        "aud list": forge(header, {**claims, "aud": ["fe-api", "portal"]}),
        "no iss": forge(header, without("iss")),
        "other iss": forge(header, {**claims, "iss": "DGII.FE"}),
        "no sub": forge(header, without("sub")),
        "sub null": forge(header, {**claims, "sub": None}),
        "sub no key": forge(header, {**claims, "sub": "1 OR 1=1"}),
        "sub list": forge(header, {**claims, "sub": [key.api_key_id]}),
        "no scope": forge(header, without("scope")),
        "scope text": forge(header, {**claims, "scope": "ncf:read"}),
        "scope unknown": forge(header, {**claims, "scope": ["ncf:read", "admin"]}),
        "scope of lists": forge(header, {**claims, "scope": [["ncf:read"]]}),
        "claims no object": forge(header, b"[]"),
        "claims no JSON": forge(header, b"{"),
        "claims deep": forge(header, b"[" * 5000),
        "header no object": forge(b"[]", claims),
        "header no JSON": forge(b"\xff", claims),
        "not base64": "a!b.c!d.e!f",
        "not ASCII": "é.é.é",
        "very long": "a" * 15_000,
        "padded": f"{head}=.{body}=.{signature}=",
    }


@clause("Authentication failures", "| 401 | Invalid or expired token")
@clause("Authentication", "The server validates on each call", "`exp` not in the past")
@clause("Authentication", "signature of the JWT")
async def test_every_token_that_is_not_exactly_right_gets_the_one_message(front: Running, key: Key) -> None:
    good = await front.token(key)
    table = tokens(key, good)
    async with front.client() as client:
        for name, token in table.items():
            header = f"Bearer {token}".encode("latin-1", "replace")
            answer = await client.get("/ncf", headers={b"Authorization": header})
            expected = {"message": "Invalid or expired token", "statusCode": 401}
            assert (answer.status_code, answer.json()) == (401, expected), name
        assert (await client.get("/ncf", headers={"Authorization": f"bearer {good}"})).status_code == 200

    assert len(table) >= 25


async def test_the_table_is_right_where_nothing_was_done_to_the_token(front: Running, key: Key) -> None:
    now = int(time.time())
    claims = {"iss": "fe", "aud": "fe-api", "sub": key.api_key_id, "iat": now, "exp": now + 3600, "scope": ["ncf:read"]}
    async with front.client(forge({"alg": "HS256", "kid": "k1", "typ": "JWT"}, claims)) as client:
        assert (await client.get("/ncf")).status_code == 200


def test_a_short_signing_secret_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Tokens({"k1": hashlib.sha256(b"x").digest()[:31]})
