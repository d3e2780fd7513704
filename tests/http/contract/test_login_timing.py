"""How long a refused login takes must not tell which of the reasons it was (interface.md#login)."""

import json
import math
import random
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import NormalDist, median
from typing import Self

import pytest

from fe.accounts import keys as accounts_keys
from fe.accounts.keys import Peppers, hash_secret, revoke_key
from fe.clock import system_clock
from fe.http.auth.login import Login
from fe.http.auth.tokens import Tokens
from fe.http.calls import Call
from fe.http.errors import ApiError
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Conn, Database
from fe.store.records.throttle import AttemptLimits
from tests.http.clauses import clause
from tests.http.front import JWT_KEYS, PEPPER, Key, make_key

ROUNDS = 1000
#: Rounds between deletions of the throttle's rows. Else the table would grow, for some cases faster than for others.
_FORGET = 100

#: A difference in seconds that an attacker cannot use: with five tries a minute for a key, to measure it through a
#: network takes more than a lifetime. Reading one row more of the database takes 25 µs, a round trip 300.
BOUND = 15e-6
#: How sure a verdict against us has to be. With three comparisons, one run in more than thirty thousand would be wrong
#: by chance if the true difference were just the bound.
_SURE = 0.99999


def call_of(body: dict[str, str]) -> Call:
    raw = json.dumps(body).encode()

    async def read() -> bytes:
        return raw

    return Call({}, b"", {}, "192.0.2.1", "r", read)


async def cases(db: Database, key: Key) -> dict[str, dict[str, str]]:
    revoked = await make_key(db, key.tenant_id)
    await db.transact(revoke_key, key.tenant_id, revoked.api_key_id, datetime.now(UTC))
    expired = await make_key(db, key.tenant_id, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    return {
        "unknown": {"apiKeyId": "fak_000000000000", "apiSecret": "0" * 64},
        "wrong": {"apiKeyId": key.api_key_id, "apiSecret": "0" * 64},
        "revoked": revoked.credentials,
        "expired": expired.credentials,
    }


@dataclass(frozen=True)
class Difference:
    """By how much one case takes longer than another, in seconds: the median over the rounds, and how sure that is.

    The rounds make pairs, so whatever slows the machine for a while falls on both. The interval is that of the sign
    test: it takes nothing for granted of how times are distributed, and on a noisy machine it only gets wider.
    """

    low: float
    median: float
    high: float

    @classmethod
    def between(cls, one: list[float], other: list[float]) -> Self:
        pairs = sorted(a - b for a, b in zip(one, other, strict=True))
        reach = math.ceil(NormalDist().inv_cdf((1 + _SURE) / 2) * math.sqrt(len(pairs)) / 2)
        middle = len(pairs) // 2
        return cls(pairs[max(0, middle - reach)], median(pairs), pairs[min(len(pairs) - 1, middle + reach)])

    @property
    def tells(self) -> bool:
        """Whether it is surely greater than what tells nothing."""
        return self.low > BOUND or self.high < -BOUND

    def __str__(self) -> str:
        low, middle, high = (round(value * 1e6, 1) for value in (self.low, self.median, self.high))
        return f"{middle:+} µs ({low:+} to {high:+})"


async def measure(
    attempt: Callable[[Call], Awaitable[object]],
    bodies: dict[str, dict[str, str]],
    forget: Callable[[], Awaitable[object]],
) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in bodies}
    order = list(bodies.items())
    shuffle = random.Random(1).shuffle
    for number in range(ROUNDS):
        if number % _FORGET == 0:
            await forget()
        shuffle(order)  # or each case would come always after the same other one
        for name, body in order:
            call = call_of(body)
            began = time.perf_counter()
            with pytest.raises(ApiError) as refused:
                await attempt(call)
            taken[name].append(time.perf_counter() - began)
            assert (refused.value.status, str(refused.value.message)) == (401, "Invalid credentials")
    return taken


async def forget_attempts(conn: Conn) -> None:
    await conn.execute("DELETE FROM login_attempts")


@clause("POST /login", "The server performs the secret comparison even for unknown keys")
async def test_the_time_of_a_refusal_does_not_tell_its_reason(db: Database, front_db: Database, key: Key) -> None:
    # The throttle must not end the measurement: with these limits it counts every case alike and never locks out.
    limits = AttemptLimits(address=10**6, key=10**6)
    handler = Login(front_db, Tokens(JWT_KEYS), Peppers({"": PEPPER}), system_clock, Metrics(), (), limits)
    bodies = await cases(db, key)

    taken = await measure(handler.login, bodies, partial(db.run, forget_attempts))

    found = {name: Difference.between(taken[name], taken["wrong"]) for name in bodies if name != "wrong"}
    told = "\n".join(f"{name:<8} {median(taken[name]) * 1e6:7.1f} µs  {found.get(name, '')}" for name in bodies)
    sys.stdout.write(f"\n{ROUNDS} refusals of each kind, medians, and the difference to a wrong secret:\n{told}\n")
    assert not any(difference.tells for difference in found.values()), told


@pytest.mark.parametrize("noise", [20e-6, 500e-6])
def test_a_round_trip_more_or_less_is_found_and_noise_alone_is_not(noise: float) -> None:
    rng = random.Random(1)

    def times(more: float) -> list[float]:
        return [3e-3 + more + rng.expovariate(1 / noise) for _ in range(400)]

    wrong = times(0)
    assert Difference.between(times(300e-6), wrong).tells
    assert Difference.between(times(-300e-6), wrong).tells
    assert not Difference.between(times(0), wrong).tells
    assert not Difference.between(times(10e-6), wrong).tells


@clause("POST /login", "The server performs the secret comparison even for unknown keys")
async def test_the_secret_is_hashed_and_compared_whatever_is_known_of_the_key(
    db: Database, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []

    def counting(pepper: bytes, secret: str) -> bytes:
        hashed.append(secret)
        return hash_secret(pepper, secret)

    monkeypatch.setattr(accounts_keys, "hash_secret", counting)
    handler = Login(db, Tokens(JWT_KEYS), Peppers({"": PEPPER}), system_clock, Metrics(), ())
    bodies = await cases(db, key)
    for body in bodies.values():
        with pytest.raises(ApiError):
            await handler.login(call_of(body))

    assert hashed == [body["apiSecret"] for body in bodies.values()]
