"""The next number of a range that is created, moved, or used up (interface.md#sequences)."""

import psycopg
import pytest

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, TenantId
from fe.store.postgres.db import Database
from fe.store.records import sequences
from fe.store.records.sequences import Sequence
from tests.factories.tenants import ACCEPTED_AT, make_tenant, rows


async def put(db: Database, tenant: TenantId, minimum: int, maximum: int, prefix: str = "E31") -> Sequence:
    return await db.run(
        sequences.put,
        tenant,
        Environment.ECF,
        prefix,
        new_id=SequenceId(new_id(ACCEPTED_AT)),
        minimum=minimum,
        maximum=maximum,
        expire_at=None,
        is_active=True,
        at=ACCEPTED_AT,
    )


async def test_a_new_range_begins_at_its_minimum(db: Database) -> None:
    created = await put(db, await make_tenant(db), 7, 9)

    assert (created.min_number, created.max_number, created.current_number) == (7, 9, 7)


@pytest.mark.parametrize(
    ("current", "minimum", "maximum", "then"),
    [
        # The old range is 10 to 20.
        (15, 10, 20, 15),  # nothing moved
        (15, 1, 100, 15),  # inside the new one
        (15, 16, 100, 16),  # below it: the nearest bound is the lower
        (15, 15, 15, 15),
        (15, 1, 14, 14),  # above it: the nearest bound is the upper
        (15, 1, 5, 5),
        (10, 11, 20, 11),
        (21, 10, 20, 21),  # used up, and the range ends where it ended: it stays used up
        (21, 15, 20, 21),
        (21, 10, 30, 21),  # used up, and extended: it goes on after the last number
        (21, 25, 30, 25),
        (21, 10, 19, 19),  # outside the new range on the upper side: its upper bound
    ],
)
async def test_editing_a_range_takes_the_next_number_to_the_nearest_bound(
    db: Database, current: int, minimum: int, maximum: int, then: int
) -> None:
    tenant = await make_tenant(db)
    created = await put(db, tenant, 10, 20)
    await rows(db, "UPDATE sequences SET current_number = %(n)s", n=current)

    edited = await put(db, tenant, minimum, maximum)

    assert (edited.min_number, edited.max_number, edited.current_number) == (minimum, maximum, then)
    assert edited.sequence_id == created.sequence_id


@pytest.mark.parametrize(("minimum", "maximum"), [(0, 5), (6, 5), (1, 10_000_000_000)])
async def test_a_range_that_no_number_can_be_in_is_refused(db: Database, minimum: int, maximum: int) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        await put(db, await make_tenant(db), minimum, maximum)


async def test_the_greatest_number_there_is_can_be_a_maximum(db: Database) -> None:
    created = await put(db, await make_tenant(db), 9_999_999_999, 9_999_999_999)

    assert created.current_number == 9_999_999_999


async def test_sequences_are_listed_by_prefix_of_one_tenant_and_one_environment(db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    for owner, prefix in ((tenant, "E34"), (tenant, "E31"), (other, "E32")):
        await put(db, owner, 1, 5, prefix)

    listed = await db.run(sequences.listed, tenant, Environment.ECF)

    assert [sequence.prefix for sequence in listed] == ["E31", "E34"]
    assert await db.run(sequences.listed, tenant, Environment.TESTECF) == []


async def test_a_sequence_is_deleted_once_and_only_by_its_tenant_in_its_environment(db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    await put(db, tenant, 1, 5)

    assert not await db.run(sequences.delete, other, Environment.ECF, "E31")
    assert not await db.run(sequences.delete, tenant, Environment.TESTECF, "E31")
    assert await db.run(sequences.delete, tenant, Environment.ECF, "E31")
    assert not await db.run(sequences.delete, tenant, Environment.ECF, "E31")
