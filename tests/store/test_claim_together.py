"""One call claims what the questions and the division between them claim, and brings what handlers would ask for."""

import random
from dataclasses import fields, replace
from datetime import timedelta
from typing import cast
from uuid import UUID, uuid4

import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import CertificateId, TenantId, UserId
from fe.lifecycle import Stage
from fe.queue.fair_claims import _lane_by_lane, divide
from fe.store.postgres.db import Conn, Database
from fe.store.queue import outbox, steps, tables
from fe.store.queue.capacity import LaneCapacity, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.inputs import AcceptedInput, OutgoingDocument, SigningInput, StepInput, TrackFacts
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.tables import DueTenant
from fe.store.records import tenants
from tests.factories.companies import make_certificate
from tests.factories.tenants import ACCEPTED_AT, LEASE, make_submission, make_tenant, rows
from tests.store.claims_at_random import STAGES, asked, fill, plain, rolled_back


@pytest.mark.parametrize("seed", range(25))
async def test_it_claims_what_the_questions_and_the_division_between_them_claim(
    seed: int, worker_db: Database, db: Database
) -> None:
    spread = random.Random(seed)
    known = [await make_tenant(db, weight=spread.choice([1, 1, 2, 7])) for _ in range(spread.randint(1, 12))]
    await fill(db, spread, known)
    capacities, terms = asked(spread, known)

    for stage in STAGES:
        together = await rolled_back(worker_db, claim_together, stage, capacities, terms)
        apart = await rolled_back(worker_db, _lane_by_lane, outbox, stage, capacities, terms)
        assert plain(together) == plain(apart)


@pytest.mark.parametrize("seed", range(20))
async def test_it_divides_as_the_engine_does(seed: int, worker_db: Database) -> None:
    spread = random.Random(seed)
    weights = [spread.choice([1, 2, 50, 100]) for _ in range(spread.randint(1, 64))]
    capacity = len(weights) + spread.choice([0, 1, 30, 1000])

    async def in_sql(conn: Conn) -> list[int]:
        call = "SELECT divide_by_weight(%s::int[], %s, %s::int[])"
        row = await (await conn.execute(call, (weights, capacity, [10_000] * len(weights)))).fetchone()
        assert row is not None
        return list(row[0])

    assert await worker_db.run(in_sql) == divide(
        [DueTenant(TenantId(n), weight) for n, weight in enumerate(weights)], capacity
    )


# --- What comes with it -----------------------------------------------------------------------------------------------


async def claimed(db: Database, stage: Stage, lane: OutboxLane) -> dict[UUID, Work]:
    """Claim all there is in a lane, by the subjects."""
    terms = Terms(LEASE, "me", 100, 100, 64, 100, {})
    claims = await db.run(claim_together, stage, [LaneCapacity(lane, TenantId(0), tables.ALWAYS, 100, 0)], terms)
    return {work.subject: work for claim in claims for work in claim.works}


def ordered(given: SigningInput) -> SigningInput:
    by_id = sorted(given.candidates, key=lambda each: each.certificate_id)
    return replace(given, candidates=tuple(by_id), holders=tuple(sorted(given.holders, key=repr)))


def taken_in(given: StepInput | None) -> AcceptedInput:
    assert isinstance(given, SigningInput)
    return AcceptedInput(*(getattr(given, each.name) for each in fields(AcceptedInput)))


async def test_a_document_to_be_signed_brings_what_the_signer_would_ask_for(worker_db: Database, db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    await make_certificate(db, tenant)
    user = UserId(uuid4())
    assert await db.run(tenants.create_user, tenant, user, "ana@empresa.do", {"Sucursal": "ÑANDÚ-2"}) is not None
    await make_certificate(db, tenant, user_id=user)
    sequence = """
        INSERT INTO sequences (tenant_id, environment, prefix, sequence_id, min_number, max_number, current_number,
                               expire_at, is_active)
        VALUES (%(tenant)s, 'ecf', %(prefix)s, gen_random_uuid(), 1, 1000, 1, '2028-12-31 23:59:59.999-04', %(active)s)
    """
    await rows(db, sequence, tenant=tenant, prefix="E31", active=True)
    await rows(db, sequence, tenant=tenant, prefix="E32", active=False)
    subjects = [
        await make_submission(db, tenant, e_ncf="E310000000007", original=b"\\x00\xff<ECF/>"),
        await make_submission(db, tenant, e_ncf="E320000000007", as_user="ANA@empresa.do"),
        await make_submission(db, tenant, e_ncf="E310000000007", as_user_id=user, at=ACCEPTED_AT + timedelta(hours=1)),
        await make_submission(db, tenant, e_ncf="E310000000007", root="ACECF", at=ACCEPTED_AT + timedelta(hours=2)),
        await make_submission(db, tenant, e_ncf=None),
        await make_submission(db, other, e_ncf="E310000000007"),
    ]

    works = await claimed(worker_db, Stage.SIGN, OutboxLane(Environment.ECF))

    assert set(works) == set(subjects)
    for work in works.values():
        assert isinstance(work.input, SigningInput)
        assert ordered(work.input) == ordered(await db.run(steps.signing_input, work))
    # And what is asked for beside what a process has in memory, of all at once, comes to the same.
    taken = [(work, taken_in(work.input)) for work in works.values()]
    beside = await worker_db.run(steps.beside, taken)
    assert [ordered(found.signing_input(of)) for found, (_, of) in zip(beside, taken, strict=True)] == [
        ordered(cast(SigningInput, work.input)) for work in works.values()
    ]
    given = works[subjects[2]].input
    assert isinstance(given, SigningInput)
    assert [holder.submission_id for holder in given.holders] == [subjects[0]]
    assert len(given.candidates) == 2


_MOVED = """UPDATE tenants SET issuer = issuer || '{"Sucursal": "SUR"}', consumer_summary = 'off'"""


async def test_what_is_changed_of_a_tenant_holds_from_the_next_claim_on(worker_db: Database, db: Database) -> None:
    tenant = await make_tenant(db)
    old = await make_certificate(db, tenant)

    async def next_input() -> SigningInput:
        subject = await make_submission(db, tenant)
        given = (await claimed(worker_db, Stage.SIGN, OutboxLane(Environment.ECF)))[subject].input
        assert isinstance(given, SigningInput)
        return given

    before = await next_input()
    newer = await make_certificate(db, tenant)
    await rows(db, _MOVED)
    after = await next_input()
    await rows(db, "UPDATE certificates SET retired_at = now()")
    without = await next_input()

    assert [each.certificate_id for each in before.candidates] == [old]
    assert [each.certificate_id for each in after.candidates] == [newer]
    assert (before.issuer.get("Sucursal"), after.issuer["Sucursal"]) == (None, "SUR")
    assert (before.consumer_summary, after.consumer_summary) == ("automatic", "off")
    assert without.candidates == ()


@pytest.mark.parametrize("summary", [False, True])
async def test_a_document_to_be_sent_comes_with_its_bytes(summary: bool, worker_db: Database, db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.SEND, summary=summary)

    work = (await claimed(worker_db, Stage.SEND, OutboxLane(Environment.ECF, "fc" if summary else "ecf")))[subject]

    assert isinstance(work.input, OutgoingDocument)
    assert work.input == await db.run(steps.outgoing_document, work)
    assert work.input.is_summary is summary


async def test_a_large_document_is_left_to_be_asked_for(worker_db: Database, db: Database) -> None:
    tenant = await make_tenant(db)
    signing = await make_submission(db, tenant, original=b" " * 65_537)

    work = (await claimed(worker_db, Stage.SIGN, OutboxLane(Environment.ECF)))[signing]

    assert work.input is None
    assert len((await db.run(steps.signing_input, work)).original) == 65_537


async def test_a_code_that_nobody_knows_keeps_no_other_row_from_its_input(worker_db: Database, db: Database) -> None:
    tenant = await make_tenant(db)
    odd, plain_one = await make_submission(db, tenant), await make_submission(db, tenant)
    await rows(db, "UPDATE submissions SET ecf_type = 'odd' WHERE submission_id = %(odd)s", odd=odd)

    works = await claimed(worker_db, Stage.SIGN, OutboxLane(Environment.ECF))

    assert works[odd].input is None
    assert isinstance(works[plain_one].input, SigningInput)


@pytest.mark.parametrize("fate", ["reserved", "unknown"])
async def test_a_document_that_is_followed_brings_its_track_id(fate: str, worker_db: Database, db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.TRACK, certificate_id=CertificateId(uuid4()))
    await rows(db, "UPDATE submissions SET number_fate = %(fate)s", fate=fate)

    work = (await claimed(worker_db, Stage.TRACK, OutboxLane(Environment.ECF, "ecf")))[subject]

    assert isinstance(work.input, TrackFacts)
    assert work.input == await db.run(steps.track_facts, work)
    assert work.input.maybe_adopted is (fate == "unknown")
