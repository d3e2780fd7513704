"""How long a refused login takes must not tell which of the reasons it was (interface.md, "POST /login")."""

import json
import math
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import chain
from statistics import median

import pytest

from fe.clock import system_clock
from fe.flows.keys import hash_secret, revoke_key
from fe.http import login
from fe.http.errors import ApiError
from fe.http.login import Login
from fe.http.tokens import Tokens
from fe.http.wire import Call
from fe.metrics import Metrics
from fe.store import throttle
from fe.store.db import Conn, Database
from tests.http.clauses import clause
from tests.http.front import JWT_KEYS, PEPPER, Key, make_key

ROUNDS = 400


def call_of(body: dict[str, str]) -> Call:
    raw = json.dumps(body).encode()

    async def read() -> bytes:
        return raw

    return Call({}, b"", {}, "192.0.2.1", "r", read)


async def cases(db: Database, key: Key) -> dict[str, dict[str, str]]:
    revoked = await make_key(db, key.tenant_id)
    await revoke_key(db, key.tenant_id, revoked.api_key_id, datetime.now(UTC))
    expired = await make_key(db, key.tenant_id, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    return {
        "unknown": {"apiKeyId": "fak_000000000000", "apiSecret": "0" * 64},
        "wrong": {"apiKeyId": key.api_key_id, "apiSecret": "0" * 64},
        "revoked": revoked.credentials,
        "expired": expired.credentials,
    }


def p_value(one: list[float], other: list[float]) -> float:
    """Mann-Whitney U, two-sided, by its normal approximation: the chance of such ranks if there were no difference."""
    ranked = sorted(chain(((x, 0) for x in one), ((x, 1) for x in other)))
    ranks = sum(rank for rank, (_, of) in enumerate(ranked, 1) if of == 0)
    n, m = len(one), len(other)
    u = ranks - n * (n + 1) / 2
    z = (u - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc(abs(z) / math.sqrt(2))


async def measure(
    attempt: Callable[[Call], Awaitable[object]], bodies: dict[str, dict[str, str]]
) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in bodies}
    for _ in range(ROUNDS):
        for name, body in bodies.items():  # interleaved: whatever else the machine does falls on all of them
            call = call_of(body)
            began = time.perf_counter()
            with pytest.raises(ApiError) as refused:
                await attempt(call)
            taken[name].append(time.perf_counter() - began)
            assert (refused.value.status, refused.value.message) == (401, "Invalid credentials")
    return taken


async def forget_attempts(conn: Conn) -> None:
    await conn.execute("DELETE FROM login_attempts")


@clause("POST /login", "The server performs the secret comparison even for unknown keys")
async def test_the_time_of_a_refusal_does_not_tell_its_reason(
    db: Database, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The throttle must not end the measurement; with these limits it counts the same for every case and locks nobody.
    monkeypatch.setattr(throttle, "ADDRESS_LIMIT", 10**6)
    monkeypatch.setattr(throttle, "KEY_LIMIT", 10**6)
    handler = Login(db, Tokens(JWT_KEYS), PEPPER, system_clock, Metrics(), ())
    bodies = await cases(db, key)
    judged: dict[str, tuple[float, float]] = {}
    for _ in range(3):  # chance alone fails one comparison in a hundred
        await db.run(forget_attempts)  # or the throttle's rows would grow, for some cases faster than for others
        taken = await measure(handler.login, bodies)
        judged = {
            name: (p_value(taken[name], taken["wrong"]), abs(median(taken[name]) - median(taken["wrong"])))
            for name in bodies
            if name != "wrong"
        }
        if all(p > 0.01 or difference < 50e-6 for p, difference in judged.values()):
            return
    pytest.fail(f"a refusal's time tells its reason: {judged}")


@clause("POST /login", "The server performs the secret comparison even for unknown keys")
async def test_the_secret_is_hashed_and_compared_whatever_is_known_of_the_key(
    db: Database, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []

    def counting(pepper: bytes, secret: str) -> bytes:
        hashed.append(secret)
        return hash_secret(pepper, secret)

    monkeypatch.setattr(login, "hash_secret", counting)
    handler = Login(db, Tokens(JWT_KEYS), PEPPER, system_clock, Metrics(), ())
    bodies = await cases(db, key)
    for body in bodies.values():
        with pytest.raises(ApiError):
            await handler.login(call_of(body))

    assert hashed == [body["apiSecret"] for body in bodies.values()]
