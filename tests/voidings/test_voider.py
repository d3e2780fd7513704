"""Voidings over a real database and the simulated authority: what becomes void, what is drawn, and what is in doubt."""

from collections.abc import AsyncIterator

import pytest
from lxml import etree

from fe.ecf.signature import verify
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import NumberFate
from fe.store.postgres.db import Database
from fe.store.records import voidable, voiding_queue, voidings
from fe.store.records.voidings import NotVoidable, RangeFate, VoidingState
from tests.authority.test_against_simulator import client_of
from tests.factories import bookings
from tests.factories.tenants import DOCUMENT, row, rows, submission, take
from tests.simulator.conftest import http, start
from tests.simulator.support import ISSUER, Running, Start, ecf, number, sign
from tests.voidings.support import (
    NOW,
    TEST,
    Unreliable,
    draw,
    e31,
    ended,
    fail,
    find,
    request,
    running_voider,
    voiding_tenant,
)

__all__ = ["http", "start"]


@pytest.fixture
async def simulator(start: Start) -> Running:
    return await start()


@pytest.fixture
async def authority(simulator: Running) -> AsyncIterator[Unreliable]:
    client = client_of(simulator)
    yield Unreliable(client)
    client.close()


async def ranges_of(db: Database, tenant: TenantId) -> list[tuple[int, int, str]]:
    found = await db.run(voidings.within, tenant, TEST, "E31", 1, 10**9)
    return [(one.first_number, one.last_number, one.fate.value) for one in found]


async def signed_at_simulator(simulator: Running, n: int) -> None:
    await simulator.send(sign(ecf(n)), number(31, n))


async def test_numbers_are_voided_and_never_drawn_again(
    db: Database, worker_db: Database, simulator: Running, authority: Unreliable
) -> None:
    tenant = await voiding_tenant(db, maximum=12)
    drawn = [await draw(db, tenant) for _ in range(3)]
    assert drawn[1] is not None
    await fail(db, drawn[1][0])  # number 2 goes back to its sequence
    voiding_id = await request(db, tenant, e31(2), e31(5, 6), e31(10, 12))

    while_it_waits = [found and found[1] for found in [await draw(db, tenant) for _ in range(2)]]
    async with running_voider(worker_db, authority):
        found = await ended(db, tenant, voiding_id)
    afterwards = [found and found[1] for found in [await draw(db, tenant) for _ in range(5)]]

    assert (found.state, found.numbers, found.unanswered) == (VoidingState.VOIDED, 6, 1)
    assert while_it_waits == [4, 7]
    assert afterwards == [8, 9, None, None, None]
    assert await ranges_of(db, tenant) == [(2, 2, "void"), (5, 6, "void"), (10, 12, "void")]
    assert (await submission(db, drawn[1][0]))["number_fate"] == NumberFate.VOID
    (sent,) = authority.sent
    assert await db.run(voidings.document, tenant, voiding_id) == sent
    assert verify(sent).security_code
    assert etree.fromstring(sent).findtext("Encabezado/CantidadeNCFAnulados") == "6"
    at_the_authority = (await simulator.manage("GET", f"/documents/testecf/{ISSUER}/{number(31, 5)}"))["voided"]
    assert at_the_authority is True


@pytest.mark.parametrize(
    ("script", "state"),
    [
        (["away", "answer"], VoidingState.VOIDED),
        (["lost", "answer"], VoidingState.VOIDED),
        (["silent", "lost", "answer"], VoidingState.VOIDED),
    ],
)
async def test_lost_answer_is_settled_by_the_same_bytes(
    db: Database, worker_db: Database, authority: Unreliable, script: list[str], state: VoidingState
) -> None:
    tenant = await voiding_tenant(db)
    authority.script = list(script)
    voiding_id = await request(db, tenant, e31(90, 100))

    async with running_voider(worker_db, authority):
        found = await ended(db, tenant, voiding_id)

    assert (found.state, found.attempt) == (state, len(script))
    assert len(set(authority.sent)) == 1


@pytest.mark.parametrize(
    ("script", "state", "fates"),
    [
        (["answer"], VoidingState.REJECTED, []),
        (["away", "answer"], VoidingState.REJECTED, []),
        (["silent", "answer"], VoidingState.IN_DOUBT, [(5, 5, "asked")]),
    ],
)
async def test_refusal_frees_the_numbers_unless_an_answer_is_missing(
    db: Database,
    worker_db: Database,
    simulator: Running,
    authority: Unreliable,
    script: list[str],
    state: VoidingState,
    fates: list[tuple[int, int, str]],
) -> None:
    tenant = await voiding_tenant(db, maximum=5)
    await signed_at_simulator(simulator, 5)
    authority.script = script
    voiding_id = await request(db, tenant, e31(5))

    async with running_voider(worker_db, authority):
        found = await ended(db, tenant, voiding_id)
    drawn = [one and one[1] for one in [await draw(db, tenant) for _ in range(5)]]

    assert found.state is state
    assert "han sido utilizadas" in (found.last_error or "")
    assert await ranges_of(db, tenant) == fates
    assert drawn == [1, 2, 3, 4, None if fates else 5]


async def test_number_used_elsewhere_is_left_out_and_not_drawn(
    db: Database, worker_db: Database, simulator: Running, authority: Unreliable
) -> None:
    tenant = await voiding_tenant(db, maximum=4)
    await signed_at_simulator(simulator, 3)
    voiding_id = await request(db, tenant, e31(2, 4))

    async with running_voider(worker_db, authority):
        found = await ended(db, tenant, voiding_id)

    assert found.state is VoidingState.PARTLY
    assert await ranges_of(db, tenant) == [(2, 2, "void"), (3, 3, RangeFate.USED_ELSEWHERE), (4, 4, "void")]
    assert [one and one[1] for one in [await draw(db, tenant) for _ in range(2)]] == [1, None]


async def test_submission_that_brings_a_voided_number_ends_unsigned(
    db: Database, worker_db: Database, authority: Unreliable
) -> None:
    tenant = await voiding_tenant(db)
    voiding_id = await request(db, tenant, e31(50, 60))
    brought = await draw(db, tenant, e_ncf=number(31, 55))
    assert brought is not None
    await sign_it(db, brought[0])

    kept = await submission(db, brought[0])
    async with running_voider(worker_db, authority):
        found = await ended(db, tenant, voiding_id)

    assert (kept["status"], kept["number_fate"], kept["response"]["voidingId"]) == ("error", "used", str(voiding_id))
    assert found.state is VoidingState.VOIDED


async def test_number_taken_before_the_request_was_seen_stops_the_voiding(
    db: Database, worker_db: Database, authority: Unreliable
) -> None:
    """A document that was signed in a transaction which the request did not see: the worker looks again."""
    tenant = await voiding_tenant(db)
    voiding_id = await request(db, tenant, e31(50, 60))
    ranges = await rows(db, "DELETE FROM voided_ranges RETURNING *")
    brought = await draw(db, tenant, e_ncf=number(31, 55))
    assert brought is not None
    await sign_it(db, brought[0])
    (one,) = ranges
    await rows(
        db,
        "INSERT INTO voided_ranges SELECT %(tenant)s, 'testecf', 'E31', 50, 60, %(id)s, 'asked', 8, NULL",
        tenant=tenant,
        id=one["voiding_id"],
    )

    async with running_voider(worker_db, authority):
        found = await ended(db, tenant, voiding_id)

    assert found.state is VoidingState.REFUSED
    assert number(31, 55) in (found.last_error or "")
    assert authority.sent == []
    assert await ranges_of(db, tenant) == []


async def test_voiding_without_a_certificate_is_refused(
    db: Database, worker_db: Database, authority: Unreliable
) -> None:
    tenant = await voiding_tenant(db, signs=False)
    voiding_id = await request(db, tenant, e31(1, 100))

    async with running_voider(worker_db, authority):
        found = await ended(db, tenant, voiding_id)

    assert found.state is VoidingState.REFUSED
    assert "no certificate" in (found.last_error or "")
    assert (await row(db, "SELECT current_number FROM sequences"))["current_number"] == 1


async def test_number_of_a_signed_or_waiting_submission_cannot_be_voided(db: Database) -> None:
    tenant = await voiding_tenant(db)
    waiting, signed = await draw(db, tenant), await draw(db, tenant)
    assert waiting is not None
    assert signed is not None
    await sign_it(db, signed[0])
    await request(db, tenant, e31(10, 12))

    for asked, why, e_ncf in (
        (e31(1), "taken", number(31, 1)),
        (e31(2, 3), "taken", number(31, 2)),
        (e31(5, 10), "voided", number(31, 10)),
        (e31(99, 101), "outside", number(31, 99)),
    ):
        with pytest.raises(NotVoidable) as refused:
            await request(db, tenant, asked)
        assert (refused.value.why, refused.value.e_ncf) == (why, e_ncf)
    assert await ranges_of(db, tenant) == [(10, 12, "asked")]


async def test_request_with_the_same_id_is_made_once(db: Database) -> None:
    tenant = await voiding_tenant(db)

    first = await request(db, tenant, e31(10, 12), request_id="once")
    again = await request(db, tenant, e31(10, 12), request_id="once")

    assert first == again
    assert (await find(db, tenant, first)).numbers == 3


async def test_free_ranges_leave_out_what_has_a_receipt(db: Database) -> None:
    tenant = await voiding_tenant(db, maximum=20)
    drawn = [await draw(db, tenant) for _ in range(5)]
    for n in (1, 3):
        one = drawn[n]
        assert one is not None
        await fail(db, one[0])
    await draw(db, tenant, e_ncf=number(31, 9))
    await request(db, tenant, e31(19))

    found = await db.run(voidable.free_ranges, tenant, TEST, e31(1, 20))

    assert [(one.first, one.last) for one in found] == [(2, 2), (4, 4), (6, 8), (10, 18), (20, 20)]


@pytest.mark.parametrize("is_void", [True, False])
async def test_operator_settles_a_doubt(
    db: Database, worker_db: Database, simulator: Running, authority: Unreliable, is_void: bool
) -> None:
    tenant = await voiding_tenant(db)
    await signed_at_simulator(simulator, 1)
    authority.script = ["silent", "answer"]
    voiding_id = await request(db, tenant, e31(1))
    async with running_voider(worker_db, authority):
        assert (await ended(db, tenant, voiding_id)).state is VoidingState.IN_DOUBT

    settled = [
        await db.transact(voiding_queue.settle, tenant, voiding_id, is_void=is_void, left_out=(), at=NOW)
        for _ in range(2)
    ]

    assert settled == [True, False]
    assert await ranges_of(db, tenant) == ([(1, 1, "void")] if is_void else [])
    drawn = await draw(db, tenant)
    assert drawn is not None
    assert drawn[1] == (2 if is_void else 1)


async def sign_it(db: Database, subject: SubmissionId) -> None:
    await db.run(bookings.signed, await take(db, subject), DOCUMENT, at=NOW)
