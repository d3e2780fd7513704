"""The contract: interface.md#limits and #errors: the login throttle, other rates and overload."""

import subprocess
import sys
from functools import partial
from ipaddress import ip_address, ip_network
from pathlib import Path

import httpx
import pytest
import trio
from structlog.testing import capture_logs

from fe.config import ConfigError, load_settings, read_networks
from fe.http.server import pipeline
from fe.http.server.addresses import client_address, holder_of
from fe.identifiers import ApiKeyId, TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.records import throttle
from tests.http.clauses import clause
from tests.http.front import Key, Running, Start, make_key
from tests.plain_http import NO_TLS
from tests.waiting import PATIENCE, until

WRONG = {"apiSecret": "0" * 64}


async def tries(client: httpx.AsyncClient, count: int, key_id: str = "", **more: str) -> list[int]:
    """Log in wrongly `count` times, each time with another key unless one is given; give back the statuses."""
    statuses = []
    for number in range(count):
        body = {"apiKeyId": key_id or f"fak_{number:012x}", **WRONG}
        statuses.append((await client.post("/login", json=body, headers=more)).status_code)
    return statuses


@clause("Limits", "| Login attempts per apiKeyId")
@clause("POST /login", "Response 429")
@clause("HTTP errors of the API", "| 429 | Too Many Requests")
async def test_the_sixth_attempt_of_a_key_in_a_minute_is_locked_out_for_fifteen(front: Running, key: Key) -> None:
    async with front.client() as client:
        assert await tries(client, 5, key.api_key_id) == [401] * 5
        sixth = await client.post("/login", json=key.credentials)
        seventh = await client.post("/login", json=key.credentials)

    told = sixth.json()
    hint = told.pop("hint")
    assert (sixth.status_code, told) == (429, {"message": "Too Many Requests", "statusCode": 429})
    assert hint.startswith("more than 5 logins of this key within 60 s: logins are locked for ")
    assert "Tokens that you have go on working." in hint
    assert 890 <= int(sixth.headers["Retry-After"]) <= 900
    assert int(seventh.headers["Retry-After"]) <= int(sixth.headers["Retry-After"])


async def test_successful_logins_count_as_attempts_too(front: Running, key: Key) -> None:
    async with front.client() as client:
        statuses = [(await client.post("/login", json=key.credentials)).status_code for _ in range(6)]

    assert statuses == [200] * 5 + [429]


async def test_ids_that_do_not_exist_lock_like_those_that_do(front: Running, key: Key) -> None:
    async with front.client() as client:
        known = await tries(client, 7, key.api_key_id)
        unknown = await tries(client, 7, "fak_000000000000")

    assert known == unknown == [401] * 5 + [429] * 2


@clause("Limits", "| Login attempts per IP")
async def test_the_thirty_first_attempt_from_an_address_is_locked_out(front: Running, key: Key) -> None:
    async with front.client() as client:
        assert await tries(client, 30) == [401] * 30
        answer = await client.post("/login", json=key.credentials)

    assert answer.status_code == 429
    assert 890 <= int(answer.headers["Retry-After"]) <= 900


def logins(front: Running) -> dict[str, float]:
    """How many logins ended how."""
    return {
        sample.labels["outcome"]: sample.value
        for metric in front.metrics.login.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    }


async def test_a_malformed_login_counts_for_its_address_only(front: Running, key: Key) -> None:
    async with front.client() as client:
        for _ in range(15):
            assert (await client.post("/login", json={"apiKeyId": key.api_key_id})).status_code == 400
            assert (await client.post("/login", content=b"{")).status_code == 400
        locked = await client.post("/login", json=key.credentials)
        malformed = await client.post("/login", json={"apiKeyId": "key"})

    assert locked.status_code == 429
    assert malformed.status_code == 429
    # A repeat within a second is refused before it counts as a throttled login.
    too_soon = front.metrics.registry.get_sample_value("fe_share_refused_total", {"limit": "too_soon"}) or 0
    throttled = 2 - too_soon
    assert logins(front) == {"granted": 0, "refused": 0, "malformed": 30, "throttled": throttled}
    assert throttled >= 1


async def test_a_lockout_that_malformed_logins_begin_is_counted_once(front: Running) -> None:
    def lockouts() -> float | None:
        return front.metrics.registry.get_sample_value("fe_login_lockouts_total", {"bucket": "address"})

    with capture_logs() as said:
        async with front.client() as client:
            for number in range(33):
                # A locked-out address gets its refusal before the body is parsed.
                assert (await client.post("/login", content=b"{")).status_code == (429 if number >= 30 else 400)
                assert lockouts() == (1 if number >= 30 else 0)

    (event,) = (one for one in said if one["event"] == "a login lockout began")
    assert (event["bucket"], event["address"]) == ("address", "127.0.0.1")
    assert "api_key_id" not in event


async def test_logins_are_told_with_address_and_key_and_never_with_the_secret(front: Running, key: Key) -> None:
    long = f"fak_{'x' * 500}"
    with capture_logs() as said:
        async with front.client() as client:
            await client.post("/login", json=key.credentials)
            await client.post("/login", json={**key.credentials, "apiSecret": "c0ffee"})
            await client.post("/login", json={"apiKeyId": long, "apiSecret": "c0ffee"})
            await tries(client, 5, key.api_key_id)

    told = [(one["event"], one["api_key_id"], one["address"]) for one in said if "api_key_id" in one]
    assert told[:3] == [
        ("a login succeeded", key.api_key_id, "127.0.0.1"),
        ("a login was refused", key.api_key_id, "127.0.0.1"),
        ("a login was refused", long[:32], "127.0.0.1"),
    ]
    assert ("a login lockout began", key.api_key_id, "127.0.0.1") in told
    counted = logins(front)
    assert (counted["granted"], counted["refused"], counted.get("malformed", 0)) == (1, 5, 0)
    assert "c0ffee" not in repr(said)
    assert key.secret not in repr(said)


async def test_a_refusal_by_scope_is_told_and_counted(front: Running, db: Database, key: Key) -> None:
    narrow = await make_key(db, key.tenant_id, scopes=("usage:read",))
    token = await front.token(narrow)
    with capture_logs() as said:
        async with front.client(token) as client:
            assert (await client.get("/billing/current-period")).status_code == 403

    (event,) = (one for one in said if one["event"] == "a token lacks a scope")
    assert (event["api_key_id"], event["scope"], event["address"]) == (narrow.api_key_id, "billing:read", "127.0.0.1")
    assert front.metrics.registry.get_sample_value("fe_input_refused_total", {"reason": "scope"}) == 1


async def test_attempts_from_a_locked_out_address_do_not_lock_keys(
    front: Running, db: Database, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "REFUSED_SECONDS", 0.0)
    async with front.client() as client:
        await tries(client, 31)
        await tries(client, 10, key.api_key_id)
    await db.run(throttle.lift, throttle.bucket_of_address(ip_address("127.0.0.1")))
    async with front.client() as client:
        assert (await client.post("/login", json=key.credentials)).status_code == 200


async def test_a_lockout_leaves_tokens_in_flight_alone_and_an_operator_can_lift_it(
    front: Running, db: Database, key: Key
) -> None:
    token = await front.token(key)
    async with front.client(token) as client:
        await tries(client, 6, key.api_key_id)
        assert (await client.post("/login", json=key.credentials)).status_code == 429
        assert (await client.get("/ncf")).status_code == 200

        assert await db.run(throttle.lift, throttle.bucket_of_key(key.api_key_id))
        assert (await client.post("/login", json=key.credentials)).status_code == 200


async def _rewind(db: Database, seconds: float) -> None:
    """Let time pass for the throttle: the database's clock cannot be set, so its memories grow older instead."""

    async def work(conn: Conn) -> None:
        await conn.execute(
            """UPDATE login_attempts
                  SET recent = ARRAY(SELECT r - make_interval(secs => %(s)s) FROM unnest(recent) AS r),
                      locked_until = locked_until - make_interval(secs => %(s)s),
                      last_at = last_at - make_interval(secs => %(s)s)""",
            {"s": seconds},
        )

    await db.run(work)


async def test_the_window_slides_and_a_lockout_ends(front: Running, db: Database, key: Key) -> None:
    async with front.client() as client:
        assert await tries(client, 4, key.api_key_id) == [401] * 4
        await _rewind(db, 50)
        assert await tries(client, 1, key.api_key_id) == [401]
        await _rewind(db, 11)  # the four are 61 s old, the one 11 s
        assert await tries(client, 4, key.api_key_id) == [401] * 4
        assert await tries(client, 1, key.api_key_id) == [429]
        await _rewind(db, 880)
        assert await tries(client, 3, key.api_key_id) == [429] * 3  # knocking does not prolong it
        await _rewind(db, 21)
        assert await tries(client, 6, key.api_key_id) == [401] * 5 + [429]


async def test_old_attempts_are_pruned_and_lockouts_are_not(front: Running, db: Database, key: Key) -> None:
    async with front.client() as client:
        await tries(client, 6, key.api_key_id)
    await _rewind(db, 120)

    assert await db.run(throttle.prune) == 1  # the address; the key is still locked out
    await _rewind(db, 900)
    assert await db.run(throttle.prune) == 1


_PROCESS = """
import sys, trio
from tests.http.front import start_front
from fe.store.postgres.db import open_database
from fe.store.postgres.roles import FRONT

async def main(dsn):
    async with open_database(dsn, role=FRONT) as db, trio.open_nursery() as nursery:
        front = await start_front(nursery, db)
        print(front.port, flush=True)
        await trio.sleep_forever()

trio.run(main, sys.argv[1])
"""


async def test_four_processes_count_together_and_a_restart_forgets_nothing(
    dsn: str, db: Database, tenant: TenantId
) -> None:
    key = await make_key(db, tenant)
    root = Path(__file__).parents[3]

    async def start(nursery: trio.Nursery) -> tuple[trio.Process, int]:
        command = [sys.executable, "-c", _PROCESS, dsn]
        run = partial(trio.run_process, command, stdout=subprocess.PIPE, check=False, cwd=root)
        process: trio.Process = await nursery.start(run)
        assert process.stdout is not None
        return process, int(await process.stdout.receive_some(100))

    async with trio.open_nursery() as nursery:
        processes = [await start(nursery) for _ in range(4)]
        statuses: list[int] = []

        async def attack(port: int, api_key_id: ApiKeyId, count: int) -> None:
            async with httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{port}/api/v1/fe", verify=NO_TLS, trust_env=False, timeout=PATIENCE
            ) as client:
                statuses.extend(await tries(client, count, api_key_id))

        async with trio.open_nursery() as attackers:
            for _, port in processes:
                attackers.start_soon(attack, port, key.api_key_id, 5)
        of_key, statuses = statuses, []
        async with trio.open_nursery() as attackers:
            for _, port in processes:
                attackers.start_soon(attack, port, ApiKeyId(""), 8)
        of_address = list(statuses)

        processes[0][0].kill()
        _, port = await start(nursery)
        statuses.clear()
        await attack(port, key.api_key_id, 1)
        after_restart = list(statuses)
        nursery.cancel_scope.cancel()

    assert sorted(of_key) == [401] * 5 + [429] * 15
    # 20 attempts before these 32: the address takes ten more. Keys of the same id met three times at most here.
    assert of_address.count(401) == 10
    assert after_restart == [429]


# --- whose address --------------------------------------------------------------------------------------------------

TRUSTED = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "header", "expected"),
    [
        ("192.0.2.1", None, "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", "192.0.2.1"),  # an untrusted peer may say what it likes
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.7", "198.51.100.7"),  # the first entry was written by the client
        ("10.0.0.1", "198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "198.51.100.7, 10.0.0.2,10.0.0.3", "198.51.100.7"),
        ("10.0.0.1", "<script>", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", ",,,", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7, unknown", "10.0.0.1"),
        # Some proxies add the port: without it all their clients would be one.
        ("10.0.0.1", "198.51.100.7:443", "198.51.100.7"),
        ("10.0.0.1", "[2001:db8::1]:443, 10.0.0.2:80", "2001:db8::1"),
        ("fd00::1", "[2001:db8::1]", "2001:db8::1"),
        ("10.0.0.1", "[2001:db8::1, 198.51.100.7:x", "10.0.0.1"),
        ("10.0.0.1", "[2001:db8::1]443", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7:123456", "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7:٤٤٣", "10.0.0.1"),
        ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("fd00::1", "2001:db8::1", "2001:db8::1"),
        ("fe80::1%eth0", "198.51.100.7", "fe80::1"),
        ("", "198.51.100.7", "0.0.0.0"),
        ("not an address", None, "0.0.0.0"),
    ],
)
def test_a_forwarded_address_counts_as_far_as_the_hops_are_trusted(
    peer: str, header: str | None, expected: str
) -> None:
    assert str(client_address(peer, header, TRUSTED)) == expected


def test_what_is_shared_out_by_address_is_shared_out_by_the_64_of_ipv6() -> None:
    assert str(holder_of(ip_address("2001:db8:1:2:3::4"))) == "2001:db8:1:2::/64"
    assert str(holder_of(ip_address("198.51.100.7"))) == "198.51.100.7"


def test_ipv6_clients_are_counted_by_their_64() -> None:
    def bucket(text: str) -> bytes:
        return throttle.bucket_of_address(ip_address(text))

    assert bucket("2001:db8:1:2:3::4") == bucket("2001:db8:1:2:ffff::1")
    assert bucket("2001:db8:1:2::1") != bucket("2001:db8:1:3::1")
    assert bucket("::ffff:192.0.2.1") == bucket("192.0.2.1")
    assert bucket("192.0.2.1") != bucket("192.0.2.2")


def test_a_trusted_proxy_that_is_no_network_is_a_configuration_error() -> None:
    assert read_networks(" 10.0.0.0/8 ,::1") == (ip_network("10.0.0.0/8"), ip_network("::1/128"))
    with pytest.raises(ConfigError, match=r"FE_TRUSTED_PROXIES: 'proxy\.example' is not a network"):
        load_settings(trusted_proxies="10.0.0.0/8,proxy.example")


async def test_the_header_of_an_untrusted_peer_does_not_help_it(front: Running) -> None:
    async with front.client() as client:
        statuses = []
        for number in range(31):
            statuses += await tries(client, 1, f"fak_{number:012x}", **{"X-Forwarded-For": f"198.51.100.{number}"})

    assert statuses == [401] * 30 + [429]


async def test_behind_a_trusted_proxy_each_client_has_its_own_count(
    front_db: Database, nursery: trio.Nursery, start: Start
) -> None:
    front = await start(nursery, front_db, trusted_proxies=(ip_network("127.0.0.0/8"),))
    async with front.client() as client:
        statuses = []
        for number in range(31):
            statuses += await tries(client, 1, f"fak_{number:012x}", **{"X-Forwarded-For": f"198.51.100.{number}"})

    assert statuses == [401] * 31


# --- other limits ---------------------------------------------------------------------------------------------------


@clause("Limits", "Rate limits of endpoints other than login")
async def test_a_rate_per_key_can_be_set_and_is_off_by_default(
    front: Running, db: Database, front_db: Database, nursery: trio.Nursery, key: Key, tenant: TenantId, start: Start
) -> None:
    async with front.client(await front.token(key)) as client:
        assert {(await client.get("/ncf")).status_code for _ in range(30)} == {200}

    limited = await start(nursery, front_db, calls_per_second=0.001)  # one call, and then none while this test runs
    other = await make_key(db, tenant)
    async with limited.client(await limited.token(key)) as client, limited.client(await limited.token(other)) as quiet:
        answers = [await client.get("/ncf") for _ in range(10)]
        assert (await quiet.get("/ncf")).status_code == 200

    first, *refused = answers
    assert first.status_code == 200
    assert {answer.status_code for answer in refused} == {429}
    assert refused[0].json() == {"message": "Too Many Requests", "statusCode": 429}
    assert 900 < int(refused[0].headers["Retry-After"]) <= 1000


async def test_an_overloaded_process_turns_requests_away_but_says_it_lives(
    front_db: Database, nursery: trio.Nursery, key: Key, start: Start
) -> None:
    front = await start(nursery, front_db, max_in_flight=1)
    token = await front.token(key)
    statuses: list[httpx.Response] = []
    async with front.client(token) as client:

        async def call() -> None:
            statuses.append(await client.get("/ncf"))

        async with trio.open_nursery() as callers:
            for _ in range(20):
                callers.start_soon(call)
        alive = await client.get(f"http://127.0.0.1:{front.port}/healthz")
        later = await client.get("/ncf")

    shed = [answer for answer in statuses if answer.status_code == 503]
    assert shed
    assert shed[0].json() == {"message": "Service Unavailable", "statusCode": 503}
    assert shed[0].headers["Retry-After"] == "1"
    assert {answer.status_code for answer in statuses} == {200, 503}
    assert alive.status_code == later.status_code == 200
    assert front.metrics.registry.get_sample_value("fe_http_shed_total") == len(shed)
    # A client may read an answer a moment before its request is over.
    await until(lambda: front.metrics.registry.get_sample_value("fe_http_in_flight") == 0)
