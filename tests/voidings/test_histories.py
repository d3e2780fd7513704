"""Any history of draws, failures, signatures, sends and voidings gives a number one fate, and draws no void one."""

import random
from collections.abc import AsyncIterator

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fe.identifiers import SubmissionId, TenantId
from fe.store.postgres.db import Database
from fe.store.records import voiding_queue, voidings
from fe.store.records.voidings import NotVoidable, VoidingState
from tests.authority.test_against_simulator import client_of
from tests.factories import bookings
from tests.factories.tenants import DOCUMENT, rows, take
from tests.simulator.conftest import http, start
from tests.simulator.support import Start, number
from tests.voidings.support import (
    NOW,
    TEST,
    Unreliable,
    draw,
    e31,
    fail,
    find,
    request,
    running_voider,
    voiding_tenant,
)

__all__ = ["http", "start"]

_LAST = 12
_STEPS = st.one_of(
    st.just(("draw",)),
    st.tuples(st.sampled_from(["fail", "sign"]), st.integers(0, 5)),
    st.tuples(st.just("bring"), st.integers(1, _LAST)),
    st.tuples(
        st.just("void"),
        st.integers(1, _LAST),
        st.integers(0, 4),
        st.sampled_from(["void", "partly", "refused", "doubt"]),
    ),
)


class History:
    """Carries steps out, and remembers what each number became."""

    def __init__(self, db: Database, tenant: TenantId) -> None:
        self.db, self.tenant = db, tenant
        self.open: list[tuple[SubmissionId, int]] = []
        self.signed: set[int] = set()
        self.out_of_use: set[int] = set()
        self.given: set[int] = set()

    async def take(self, step: tuple[object, ...]) -> None:
        match step:
            case ("draw",):
                drawn = await draw(self.db, self.tenant)
                if drawn is not None:
                    assert drawn[1] not in self.out_of_use | self.given
                    self.given.add(drawn[1])
                    self.open.append(drawn)
            case ("bring", int(n)):
                brought = await draw(self.db, self.tenant, e_ncf=number(31, n))
                assert brought is not None
                self.given.add(n)
                self.open.append(brought)
            case ("fail", int(nth)) if self.open:
                subject, n = self.open.pop(nth % len(self.open))
                await fail(self.db, subject)
                if n not in self.signed and n not in {other for _, other in self.open}:
                    self.given.discard(n)
            case ("sign", int(nth)) if self.open:
                subject, n = self.open.pop(nth % len(self.open))
                await self.db.run(bookings.signed, await take(self.db, subject), DOCUMENT, at=NOW)
                (kept,) = await rows(self.db, "SELECT status FROM submissions WHERE submission_id = %(s)s", s=subject)
                assert (kept["status"] == "error") == (n in self.signed | self.out_of_use)
                if kept["status"] != "error":
                    self.signed.add(n)
                elif n not in self.signed and n not in {other for _, other in self.open}:
                    self.given.discard(n)
            case ("void", int(first), int(more), str(outcome)):
                await self.void(first, min(first + more, _LAST), outcome)

    async def void(self, first: int, last: int, outcome: str) -> None:
        asked = set(range(first, last + 1))
        try:
            voiding_id = await request(self.db, self.tenant, e31(first, last))
        except NotVoidable as error:
            refused: NotVoidable | None = error
        else:
            refused = None
        if refused is not None:
            assert int(refused.e_ncf[3:]) in self.given | self.signed | self.out_of_use
            return
        assert not asked & (self.given | self.signed | self.out_of_use)
        self.out_of_use |= asked
        if outcome == "doubt":
            return
        await rows(self.db, "UPDATE voidings SET stage = 'in doubt' WHERE subject = %(id)s", id=voiding_id)
        left_out = [number(31, first)] if outcome == "partly" and len(asked) > 1 else []
        is_void = outcome != "refused"
        await self.db.transact(
            voiding_queue.settle, self.tenant, voiding_id, is_void=is_void, left_out=left_out, at=NOW
        )
        if not is_void:
            self.out_of_use -= asked


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_STEPS, max_size=14))
async def test_no_history_gives_a_number_two_fates(db: Database, steps: list[tuple[object, ...]]) -> None:
    history = History(db, await voiding_tenant(db, maximum=_LAST, signs=False))

    for step in steps:
        await history.take(step)
    for _ in range(_LAST + 1):
        await history.take(("draw",))

    tenant = history.tenant
    within = await db.run(voidings.within, tenant, TEST, "E31", 1, _LAST)
    out_of_use = [n for one in within for n in range(one.first_number, one.last_number + 1)]
    assert sorted(out_of_use) == sorted(history.out_of_use)
    fates = await rows(
        db,
        "SELECT e_ncf, number_fate, signed_at FROM submissions WHERE tenant_id = %(t)s AND number_fate = 'void'",
        t=tenant,
    )
    void = {n for one in within if one.fate == "void" for n in range(one.first_number, one.last_number + 1)}
    assert {int(one["e_ncf"][3:]) for one in fates} <= void
    assert all(one["signed_at"] is None for one in fates)
    reusable = await rows(
        db,
        "SELECT e_ncf FROM submissions WHERE tenant_id = %(t)s AND number_fate = 'reusable'",
        t=tenant,
    )
    assert not {int(one["e_ncf"][3:]) for one in reusable} & void


@pytest.fixture
async def authority(start: Start) -> AsyncIterator[Unreliable]:
    client = client_of(await start())
    yield Unreliable(client)
    client.close()


async def test_voider_killed_at_random_moments_agrees_with_the_authority(
    db: Database, worker_db: Database, authority: Unreliable
) -> None:
    """A kill leaves the claim as it is; the lease of the dead worker is ended by hand."""
    chance = random.Random(20261127)
    tenant = await voiding_tenant(db, maximum=1000)
    for n in range(6):
        voiding_id = await request(db, tenant, e31(1 + 10 * n, 5 + 10 * n))
        authority.script = [chance.choice(["answer", "lost", "away", "silent"]) for _ in range(3)]
        for _ in range(4):
            with trio.move_on_after(chance.uniform(0.01, 0.15)):
                async with running_voider(worker_db, authority):
                    await trio.sleep_forever()
            await rows(db, "UPDATE voidings SET run_at = now(), holder = NULL WHERE stage = 'void'")
        async with running_voider(worker_db, authority):
            while (await find(db, tenant, voiding_id)).state is VoidingState.WAITING:  # noqa: ASYNC110  (a database)
                await trio.sleep(0.02)

        found = await find(db, tenant, voiding_id)
        document = await db.run(voidings.document, tenant, voiding_id)
        assert found.state is VoidingState.VOIDED
        assert set(authority.sent[-1:]) == {document}
    assert len(set(authority.sent)) == 6
