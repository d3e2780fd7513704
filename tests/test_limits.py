"""The token bucket, the concurrency limit and the document quota."""

from functools import partial

import pytest
import trio
import trio.testing

from fe.cache import ExpiringCache
from fe.identifiers import TenantId
from fe.limits import (
    ConcurrencyLimit,
    DocumentQuota,
    LimitReached,
    Overloaded,
    QuotaLimits,
    ShareTaken,
    TokenBucket,
    TurnTimeout,
)
from fe.monitoring.metrics import Metrics


def refused(metrics: Metrics, name: str) -> float:
    return metrics.registry.get_sample_value("fe_share_refused_total", {"limit": name}) or 0


# --- token bucket -----------------------------------------------------------------------------------------------------


def test_bucket_refills_and_its_debt_is_bounded() -> None:
    bucket: TokenBucket[str] = TokenBucket(at_once=10, a_second=2)
    assert bucket.has_some("a", 0)
    bucket.take("a", 1000, 0)

    assert not bucket.has_some("a", 4.9)
    assert bucket.wait("a", 3) == pytest.approx(2)
    assert bucket.has_some("a", 5.1)
    assert bucket.wait("a", 5.1) == 0
    assert bucket.has_some("b", 0)


def test_bucket_holds_no_more_than_its_burst_after_a_long_rest() -> None:
    bucket: TokenBucket[str] = TokenBucket(at_once=10, a_second=2)
    bucket.take("a", 1, 0)
    bucket.take("a", 11, 1_000_000)

    assert bucket.wait("a", 1_000_000) == pytest.approx(0.5)


def test_bucket_per_second_holds_two_seconds_worth_and_says_when_to_retry() -> None:
    bucket = TokenBucket[str].per_second(2.0)
    assert bucket is not None
    for now, allowed in ((100.0, 4), (100.4, 0), (101.0, 2), (200.0, 4)):
        for _ in range(allowed):
            bucket.require("a", now)
        assert not bucket.try_take("a", now)
        with pytest.raises(LimitReached) as limit:
            bucket.require("a", now)
        assert limit.value.retry_after == 1
    bucket.require("b", 200.0)
    assert TokenBucket[str].per_second(0.0) is None


def test_bucket_forgets_keys_beyond_ten_thousand() -> None:
    bucket: TokenBucket[int] = TokenBucket(at_once=10, a_second=2)
    for key in range(10_100):
        bucket.take(key, 1, 0)

    assert len(bucket._left) == 10_000


# --- concurrency limit ------------------------------------------------------------------------------------------------


def test_limit_refuses_a_key_with_its_share_before_all_is_taken() -> None:
    metrics = Metrics()
    limit: ConcurrencyLimit[str] = ConcurrencyLimit("body_bytes", metrics, each=4, together=6)
    with limit.held("a", 4):
        with pytest.raises(ShareTaken), limit.held("a"):
            raise AssertionError
        with limit.held("b", 2), pytest.raises(Overloaded), limit.held("c"):
            raise AssertionError
    assert limit.all_held == limit.of("a") == 0
    assert refused(metrics, "body_bytes") == 1
    assert metrics.registry.get_sample_value("fe_http_shed_total") == 1


def test_limit_is_lower_for_each_key_once_half_of_all_is_taken() -> None:
    limit: ConcurrencyLimit[str] = ConcurrencyLimit(each=4, together=8, crowded=1)
    with limit.held("a", 4), pytest.raises(ShareTaken), limit.held("b", 2):
        raise AssertionError
    with limit.held("a", 4), limit.held("b"):
        pass


def test_key_none_counts_for_all_together_alone() -> None:
    limit: ConcurrencyLimit[str | None] = ConcurrencyLimit(each=1, together=2)
    with limit.held(None), limit.held(None), pytest.raises(Overloaded), limit.held("a"):
        raise AssertionError


def test_pause_gives_the_place_away_and_raises_if_it_is_taken_at_the_end() -> None:
    limit: ConcurrencyLimit[str] = ConcurrencyLimit(each=1, together=1)
    with limit.held("a"):
        with limit.paused("a"), limit.held("b"):
            pass
        with pytest.raises(Overloaded), limit.paused("a"):
            limit.acquire("b")
        limit.release("b")
        with pytest.raises(ZeroDivisionError), limit.paused("a"):
            raise ZeroDivisionError
        assert limit.of("a") == limit.all_held == 1
    assert limit.all_held == 0


async def test_turns_go_round_among_keys(autojump_clock: trio.testing.MockClock) -> None:
    """Of a key that wants ten turns and one that wants one, the second is served second."""
    limit: ConcurrencyLimit[str] = ConcurrencyLimit(each=1, together=1)
    served: list[str] = []

    async def want(key: str) -> None:
        async with limit.turn(key):
            await trio.sleep(1)
            served.append(key)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(want, "greedy")
        await trio.sleep(0.5)
        nursery.start_soon(want, "modest")

    assert served.index("modest") <= 1
    assert served.count("greedy") == 10
    assert limit._waiting == {}


async def test_turn_that_does_not_come_in_time_is_refused_and_holds_nothing(
    autojump_clock: trio.testing.MockClock,
) -> None:
    metrics = Metrics()
    limit: ConcurrencyLimit[str] = ConcurrencyLimit("tenant_lists", metrics, each=1, together=1, patience=5)
    async with limit.turn("a"):
        for key in ("a", "b"):
            with pytest.raises(TurnTimeout):
                async with limit.turn(key):
                    raise AssertionError
    async with limit.turn("b", within=0):
        pass
    assert limit._waiting == {}
    assert refused(metrics, "tenant_lists") == 2


async def test_cancelled_wait_for_a_turn_holds_nothing_also_in_the_moment_it_is_granted(
    autojump_clock: trio.testing.MockClock,
) -> None:
    limit: ConcurrencyLimit[str] = ConcurrencyLimit(each=1, together=1)

    async def wait(scope: trio.CancelScope) -> None:
        with scope:
            async with limit.turn("a"):
                await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        early, late = trio.CancelScope(), trio.CancelScope()
        limit.acquire("a")
        for scope in (early, late):
            nursery.start_soon(partial(wait, scope))
        await trio.sleep(1)
        early.cancel()
        await trio.sleep(1)
        limit.release("a")
        late.cancel()
    assert limit.all_held == 0
    assert limit._waiting == {}


# --- document quota ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        (QuotaLimits(documents_a_minute=3), 60),
        (QuotaLimits(documents_a_day=3), 86_400),
        (QuotaLimits(bytes_a_minute=5000), 60),
        (QuotaLimits(bytes_a_day=5000), 86_400),
    ],
)
def test_tenant_beyond_its_quota_is_refused_until_the_next_window(limits: QuotaLimits, seconds: int) -> None:
    metrics = Metrics()
    quota = DocumentQuota(limits, metrics)
    greedy, good = TenantId(1), TenantId(2)
    for _ in range(3):
        quota.take(greedy, 1500, now=100.0)

    with pytest.raises(LimitReached) as limit:
        quota.take(greedy, 1500, now=110.5)
    assert limit.value.retry_after == seconds - 10
    assert refused(metrics, "tenant_quota") == 1
    quota.take(good, 1500, now=110.5)
    quota.take(greedy, 1500, now=100.0 + seconds)


def test_quota_holds_for_more_than_ten_thousand_tenants_until_their_day_is_over() -> None:
    quota = DocumentQuota(QuotaLimits(documents_a_day=1), Metrics())
    for number in range(10_002):
        quota.take(TenantId(number), 1, now=float(number % 7))

    with pytest.raises(LimitReached):
        quota.take(TenantId(0), 1, now=10.0)
    quota.take(TenantId(0), 1, now=86_407.0)

    assert len(quota._windows) < 10_002  # those whose day is over are forgotten


# --- cache ------------------------------------------------------------------------------------------------------------


def test_cache_evicts_the_entry_that_was_unused_longest_and_expires_entries() -> None:
    cache: ExpiringCache[str, int] = ExpiringCache(2)
    cache.put("a", 1)
    cache.put("b", 2, until=10.0)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)

    cache.put("c", 4, until=10.0)
    assert cache.get("c", 9.9) == 4
    assert cache.get("c", 10.0) is None
    cache.forget("a")
    assert len(cache) == 0
