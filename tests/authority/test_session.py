"""Sessions: one request for many who wait, renewal in time, and no sender's fate that spoils another's."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
import trio
import trio.testing

from fe.authority.client import Authority
from fe.authority.errors import AuthorityRefused, NotDelegated, Unavailable
from fe.authority.gateway import Gateway
from fe.authority.hosts import Hosts
from fe.authority.replies import Receipt
from fe.authority.session import Sessions
from fe.authority.transport import Transport
from fe.ecf.catalogue import Environment
from fe.ecf.signature import verify
from fe.egress.tls import default_tls
from tests.authority.scripted import (
    DEFAULTS,
    NOW,
    PATIENT,
    QUICK,
    RECEPCION,
    SEED,
    SEMILLA,
    VALIDAR,
    Scripted,
    client,
    document,
    hang,
    in_turn,
    owner,
    pause,
    reset,
    say,
    scripted,
    session,
    tell,
    wait_for,
)


async def send(authority: Authority, number: int = 1, certificate: str = "certificate-1") -> None:
    assert isinstance(await authority.submit(document(number), owner(certificate)), Receipt)


def tokens(server: Scripted) -> list[str]:
    """The token of each document, in the order they arrived."""
    return [
        heard.headers["authorization"].removeprefix("Bearer ")
        for heard in server.heard
        if heard.path.endswith(RECEPCION)
    ]


async def test_the_seed_goes_back_signed_with_the_certificate() -> None:
    async with scripted() as server:
        await send(client(server))

        seed, answer = server.last(SEMILLA), server.last(VALIDAR)
        assert (seed.method, seed.headers["accept"]) == ("GET", "application/xml")
        assert not {"authorization", "content-length"} & seed.headers.keys()
        part = answer.body.partition(b"\r\n\r\n")[2].rpartition(b"\r\n--")[0]
        verified = verify(part)
        assert verified.root.tag == "SemillaModel"
        assert verified.root.findtext("valor") == "c2VtaWxsYQ=="
        assert "authorization" not in answer.headers


async def test_sessions_are_kept_apart_by_environment_and_certificate() -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(VALIDAR, session("test"), session("production"), session("other"))

        await send(authority, 1)
        await authority.submit(document(2, environment=Environment.ECF), owner())
        await send(authority, 3, "certificate-2")
        await send(authority, 4)

        assert tokens(server) == ["test", "production", "other", "test"]


async def test_concurrent_callers_share_one_session_request() -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(SEMILLA, in_turn(pause(0.1), say(SEED, content_type="application/xml")))

        async with trio.open_nursery() as nursery:
            for number in range(1, 33):
                nursery.start_soon(send, authority, number)

        assert (server.count(SEMILLA), server.count(VALIDAR), server.count(RECEPCION)) == (1, 1, 32)


async def test_waiting_callers_get_the_error_of_the_one_attempt() -> None:
    async with scripted() as server:
        authority = client(server)
        refusal = say("El RNC 1 del certificado no está delegado para realizar transacciones.", status=400)
        server.then(VALIDAR, in_turn(pause(0.1), refusal))
        errors = []

        async def try_to_send(number: int) -> None:
            with pytest.raises(NotDelegated) as caught:
                await authority.submit(document(number), owner())
            errors.append(caught.value)

        async with trio.open_nursery() as nursery:
            for number in range(1, 9):
                nursery.start_soon(try_to_send, number)

        assert (server.count(SEMILLA), len(errors)) == (1, 8)
        assert len(set(map(id, errors))) == 8, "each has an error of its own, with its own traceback"
        assert {error.messages[0].valor for error in errors} == {
            "El RNC 1 del certificado no está delegado para realizar transacciones."
        }
        await send(authority)
        assert server.count(SEMILLA) == 2, "the failure is not remembered"


async def test_a_leader_that_is_cancelled_leaves_the_lead_to_another() -> None:
    async with scripted() as server:
        authority = client(server)
        arrived = trio.Event()
        server.then(SEMILLA, in_turn(tell(arrived), hang))
        async with trio.open_nursery() as nursery:
            leader = trio.CancelScope()

            async def lead() -> None:
                with leader:
                    await send(authority, 1)

            nursery.start_soon(lead)
            await arrived.wait()
            for number in range(2, 6):
                nursery.start_soon(send, authority, number)
            await trio.testing.wait_all_tasks_blocked()

            leader.cancel()

        assert leader.cancelled_caught
        assert (server.count(SEMILLA), server.count(RECEPCION)) == (2, 4)


async def test_a_session_is_renewed_before_it_ends(mock_clock: trio.testing.MockClock) -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(VALIDAR, session("first"), session("second"))

        await send(authority, 1)
        mock_clock.jump(3600 * 0.89)
        await send(authority, 2)
        mock_clock.jump(3600 * 0.02)
        await send(authority, 3)

        assert tokens(server) == ["first", "first", "second"]


async def test_while_one_sender_renews_the_others_go_on_with_the_old_token(mock_clock: trio.testing.MockClock) -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(VALIDAR, session("first"), session("second"))
        await send(authority, 1)
        mock_clock.jump(3600 * 0.91)
        asked, go_on = trio.Event(), trio.Event()

        async def held(*_: object) -> bool:
            asked.set()
            await go_on.wait()
            return True

        server.then(SEMILLA, in_turn(held, say(SEED, content_type="application/xml")))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(send, authority, 2)
            await asked.wait()

            await send(authority, 3)
            go_on.set()

        assert tokens(server) == ["first", "first", "second"]


async def test_a_renewal_that_fails_does_not_spoil_a_token_that_still_serves(
    mock_clock: trio.testing.MockClock,
) -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(VALIDAR, session("first"), say(b"", status=503), session("second"))

        await send(authority, 1)
        mock_clock.jump(3600 * 0.91)
        await send(authority, 2)
        await send(authority, 3)
        assert server.count(SEMILLA) == 2, "not every sender tries again"
        mock_clock.jump(16)
        await send(authority, 4)

        assert tokens(server) == ["first", "first", "first", "second"]


async def test_a_token_is_not_used_to_its_last_second(mock_clock: trio.testing.MockClock) -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(VALIDAR, session("first"), say(b"", status=503))
        await send(authority, 1)
        mock_clock.jump(3600 * 0.98)

        with pytest.raises(Unavailable, match="503"):
            await send(authority, 2)


@pytest.mark.parametrize("skew", [timedelta(days=-400), timedelta(hours=-2), timedelta(hours=2), timedelta(days=400)])
async def test_a_wrong_clock_does_not_change_how_long_a_token_lasts(
    skew: timedelta, mock_clock: trio.testing.MockClock
) -> None:
    async with scripted() as server:
        authority = client(server, now=NOW + skew)
        await send(authority, 1)
        mock_clock.jump(3600 * 0.8)
        await send(authority, 2)

        assert server.count(SEMILLA) == 1


async def test_dropped_tokens_are_replaced_by_one_session() -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(VALIDAR, session("first"), session("second"))
        await send(authority, 1)
        arrived, all_are_there = 0, trio.Event()

        async def gather(*_: object) -> bool:
            nonlocal arrived
            arrived += 1
            if arrived == 6:
                all_are_there.set()
            await all_are_there.wait()
            return True

        # And the last is told so when another has the new one already: it is not to be dropped in place of the old.
        renewed, dropped = trio.Event(), say(b"", status=401)
        server.then(RECEPCION, *[in_turn(gather, dropped)] * 5, in_turn(gather, wait_for(renewed), dropped))
        server.then(RECEPCION, in_turn(tell(renewed), DEFAULTS[RECEPCION]))

        async with trio.open_nursery() as nursery:
            for number in range(2, 8):
                nursery.start_soon(send, authority, number)

        assert server.count(VALIDAR) == 2
        assert tokens(server) == ["first"] * 7 + ["second"] * 6


NOT_SEEDS = {
    "another document": b"<ECF><valor>x</valor><fecha>y</fecha></ECF>",
    "a seed with more in it": b"<SemillaModel><valor>x</valor><fecha>y</fecha><ECF/></SemillaModel>",
    "a seed with something inside": b"<SemillaModel><valor><ECF/></valor><fecha>y</fecha></SemillaModel>",
    "a seed with attributes": b'<SemillaModel Id="a"><valor>x</valor><fecha>y</fecha></SemillaModel>',
    "a seed in a namespace": b'<SemillaModel xmlns="urn:x"><valor>x</valor><fecha>y</fecha></SemillaModel>',
    "a seed without a canonical form": b'<SemillaModel xmlns:x="a/b"><valor>x</valor><fecha>y</fecha></SemillaModel>',
    "a declaration that cannot be written": (
        b'<SemillaModel xmlns:x="http://a/?b&amp;c"><valor>x</valor><fecha>y</fecha></SemillaModel>'
    ),
    "an entity": b'<!DOCTYPE a [<!ENTITY e "x">]><SemillaModel><valor>&e;</valor><fecha>y</fecha></SemillaModel>',
    "a page": b"<html><body>Mantenimiento</body></html>",
    "JSON": b'{"valor":"x","fecha":"y"}',
    "nothing": b"",
}


@pytest.mark.parametrize("seed", NOT_SEEDS.values(), ids=NOT_SEEDS.keys())
async def test_only_a_seed_is_ever_signed(seed: bytes) -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(SEMILLA, say(seed, content_type="application/xml"))

        with pytest.raises(Unavailable, match="did not give a seed"):
            await send(authority)

        assert server.count(VALIDAR) == 0


@pytest.mark.parametrize("path", [SEMILLA, VALIDAR])
async def test_a_token_service_that_fails_is_unavailable(path: str) -> None:
    failures = {
        "reset": reset,
        "silence": hang,
        "503": say(b"", status=503, Retry_After="120"),
        "302": say(b"", status=302, Location="https://elsewhere.invalid/"),
        "401": say(b"", status=401),
        "404": say(b"", status=404),
        "a page": say(b"<html>ERROR:</html>", status=400, content_type="text/html"),
    }
    for name, step in failures.items():
        async with scripted() as server:
            server.then(path, step)

            with pytest.raises(Unavailable) as caught:
                await send(client(server, timeouts=QUICK if name == "silence" else PATIENT))

            assert caught.value.retry_after == (timedelta(seconds=120) if name == "503" else None)


async def test_an_answer_without_a_token_is_unavailable_and_shows_nothing_of_itself() -> None:
    for body in (
        b"",
        b"{}",
        b'{"token": ""}',
        b'{"token": "a b"}',
        b'{"token": "secret\\r\\nX: y"}',
        b'"secret"',
        b"{",
    ):
        async with scripted() as server:
            server.then(VALIDAR, say(body))

            with pytest.raises(Unavailable) as caught:
                await send(client(server))

            assert caught.value.raw == {}
            assert "secret" not in str(caught.value)


async def test_a_signature_the_authority_refuses_is_permanent() -> None:
    async with scripted() as server:
        server.then(VALIDAR, say({"mensaje": "Firma del certificado invalida"}, status=400))

        with pytest.raises(AuthorityRefused) as caught:
            await send(client(server))

        assert not isinstance(caught.value, NotDelegated)
        assert caught.value.raw == {"mensaje": "Firma del certificado invalida"}


async def test_wait_for_a_session_is_bounded() -> None:
    async with scripted() as server:
        authority = client(server, timeouts=replace(PATIENT, session=0.2))
        server.then(SEMILLA, *[hang] * 3)
        started = trio.current_time()

        async def fail(number: int) -> None:
            with pytest.raises(Unavailable, match="no session"):
                await send(authority, number)

        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(partial(fail, number))

        assert trio.current_time() - started < PATIENT.answer / 2


async def test_caller_with_a_good_token_does_not_wait() -> None:
    async with scripted() as server:
        transport = Transport(tls=default_tls(), timeouts=PATIENT, connections=1)
        line = Gateway(Hosts.all_at(server.url), transport)
        sessions = Sessions(line, clock=lambda: NOW, signing_limiter=trio.CapacityLimiter(1), timeout=5)
        first = await sessions.token(Environment.TESTECF, owner())

        with trio.testing.assert_no_checkpoints():
            assert await sessions.token(Environment.TESTECF, owner()) == first

        transport.close()
