"""A number that a sequence gave and that another document holds at the authority pauses the sequence."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.requested_outcome import AskedOutcome, Simulation
from fe.store.postgres.db import Database
from fe.store.postgres.errors import NoNumber
from fe.store.records import sequences, submissions
from fe.store.records.sequences import Change, Sequence
from tests.factories.tenants import ACCEPTED_AT, make_submission, make_tenant
from tests.store.test_accept_many import at_once, draws, make_sequence

LATER = ACCEPTED_AT + timedelta(hours=1)


async def drawn(db: Database, tenant: TenantId, at: datetime = ACCEPTED_AT) -> SubmissionId:
    return await make_submission(db, tenant, e_ncf=None, draw_prefix="E31", at=at)


async def paused(db: Database) -> tuple[TenantId, SubmissionId]:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)
    subject = await drawn(db, tenant)
    assert await db.run(sequences.pause_for, tenant, subject) == "paused"
    return tenant, subject


async def shown(db: Database, tenant: TenantId) -> Sequence:
    (found,) = await db.run(sequences.listed, tenant, Environment.ECF)
    return found


async def change(db: Database, tenant: TenantId, at: datetime = LATER, **what: Any) -> Sequence:
    return await db.run(sequences.change, tenant, Environment.ECF, "E31", Change(**what), at=at)


async def test_paused_sequence_refuses_every_draw_and_says_for_which_number(db: Database) -> None:
    tenant, _ = await paused(db)

    with pytest.raises(NoNumber) as alone:
        await drawn(db, tenant)
    (together,) = await db.run(submissions.accept_many, at_once([draws(tenant)]))

    assert alone.value.reason == "paused"
    assert isinstance(together, NoNumber)
    assert together.reason == "paused"
    found = await shown(db, tenant)
    assert (found.paused_for, found.current_number, found.is_active) == ("E310000000001", 2, True)
    assert found.paused_at is not None


async def test_number_that_came_with_the_document_pauses_nothing(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)
    subject = await make_submission(db, tenant, e_ncf="E310000000001")

    assert await db.run(sequences.pause_for, tenant, subject) is None
    assert (await shown(db, tenant)).paused_at is None


async def test_answer_that_a_client_asked_the_simulator_for_pauses_nothing(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant, environment=Environment.TESTECF)
    asked = Simulation(AskedOutcome.REJECTED, 3)
    subject = await make_submission(
        db, tenant, e_ncf=None, draw_prefix="E31", environment=Environment.TESTECF, simulation=asked
    )

    assert await db.run(sequences.pause_for, tenant, subject) is None


@pytest.mark.parametrize(
    "what",
    [{"next_number": 45}, {"next_number": 2}, {"is_active": True}, {"minimum": 101, "maximum": 200}],
    ids=["next number", "the same next number", "used again", "a new range"],
)
async def test_sequence_that_an_operator_sets_gives_numbers_again(db: Database, what: dict[str, Any]) -> None:
    tenant, _ = await paused(db)

    after = await change(db, tenant, **what)

    assert (after.paused_at, after.paused_for) == (None, None)
    await drawn(db, tenant, at=LATER)


@pytest.mark.parametrize("what", [{"maximum": 2000}, {"is_active": False}], ids=["a longer range", "inactive"])
async def test_sequence_that_is_changed_otherwise_stays_paused(db: Database, what: dict[str, Any]) -> None:
    tenant, _ = await paused(db)

    assert (await change(db, tenant, **what)).paused_at is not None


async def test_sequence_that_is_put_again_as_it_is_stays_paused(db: Database) -> None:
    """Programs send POST /ncf at each start."""
    tenant, _ = await paused(db)

    await make_sequence(db, tenant)

    assert (await shown(db, tenant)).paused_at is not None


async def test_number_given_before_the_next_was_set_pauses_it_no_more(db: Database) -> None:
    tenant, subject = await paused(db)
    await change(db, tenant, next_number=45)

    assert await db.run(sequences.pause_for, tenant, subject) == "known"
    assert (await shown(db, tenant)).paused_at is None
    again = await drawn(db, tenant, at=LATER + timedelta(seconds=1))
    assert await db.run(sequences.pause_for, tenant, again) == "paused"
