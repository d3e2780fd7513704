"""Writes by node while one is down: a bad row ends up alone, and contention is retried once."""

from collections.abc import Sequence

import pytest

from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from fe.store.postgres.errors import Contended, DatabaseUnavailable, LockNotHad, NodeUnavailable
from tests.factories.nodes import SpreadDatabase

#: The tenants 1 to 9 are on the first node, 11 to 19 on the second, 21 to 29 on the third.
GROUPS = {TenantId(number): number // 10 for number in range(30)}


def tenant_of(item: int) -> TenantId:
    return TenantId(item)


class Writing:
    """Writes items, except for those that it is told an error of."""

    def __init__(self, errors: dict[int, list[Exception]]) -> None:
        self.errors = errors
        self.batches: list[list[int]] = []

    async def __call__(self, items: Sequence[int]) -> Sequence[str]:
        self.batches.append(list(items))
        for item in items:
            if self.errors.get(item):
                raise self.errors[item].pop(0) if len(self.errors[item]) > 1 else self.errors[item][0]
        return [f"{item} is written" for item in items]


async def by_node(
    db: Database, items: Sequence[int], errors: dict[int, list[Exception]], away: Sequence[int] = ()
) -> tuple[dict[int, str | Exception], Writing]:
    write = Writing(errors)
    answers = await SpreadDatabase(db, GROUPS, away).run_by_node(items, tenant_of, write)
    return dict(zip(items, answers, strict=True)), write


def written(*items: int) -> dict[int, str]:
    return {item: f"{item} is written" for item in items}


async def test_rows_of_a_node_that_is_away_are_not_tried_and_the_others_are_written_by_node(db: Database) -> None:
    answers, write = await by_node(db, [1, 11, 2, 21, 12], {}, away=[1])
    refused = [answers.pop(11), answers.pop(12)]
    assert answers == written(1, 2, 21)
    assert sorted(write.batches) == [[1, 2], [21]]
    assert all(isinstance(one, NodeUnavailable) for one in refused)
    assert refused[0] is not refused[1]


async def test_a_bad_row_ends_up_alone_and_the_others_of_its_node_are_written(db: Database) -> None:
    bad = ValueError("bad")
    answers, _ = await by_node(db, [1, 2, 3, 4, 5, 11], {3: [bad]}, away=[2])
    assert answers.pop(3) is bad
    assert answers == written(1, 2, 4, 5, 11)


async def test_one_that_others_were_in_the_way_of_is_tried_once_more_when_it_is_alone(db: Database) -> None:
    in_the_way = [Contended("with the others"), Contended("alone")]
    answers, write = await by_node(db, [1, 2, 11], {2: [*in_the_way, LockNotHad("for long")]})
    assert isinstance(answers.pop(2), LockNotHad)
    assert answers == written(1, 11)
    assert [batch for batch in write.batches if 2 in batch] == [[1, 2], [2], [2]]


async def test_one_that_has_waited_for_a_lock_is_not(db: Database) -> None:
    locked = LockNotHad("somebody has had it for long")
    answers, write = await by_node(db, [1, 11], {1: [locked]})
    assert answers == {1: locked, **written(11)}
    assert sorted(write.batches) == [[1], [11]]


async def test_a_link_that_broke_is_the_answer_of_each_of_its_node_and_not_tried_in_parts(db: Database) -> None:
    answers, write = await by_node(db, [1, 2, 11], {1: [DatabaseUnavailable("broke")]})
    lost = [answers.pop(1), answers.pop(2)]
    assert answers == written(11)
    assert sorted(write.batches) == [[1, 2], [11]]
    assert [str(one) for one in lost] == ["broke"] * 2
    assert lost[0] is not lost[1]


async def test_what_fails_for_all_alike_is_raised(db: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match="broke"):
        await by_node(db, [1, 11], {1: [DatabaseUnavailable("broke")], 11: [DatabaseUnavailable("broke")]})
