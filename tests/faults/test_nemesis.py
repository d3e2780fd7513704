"""Faults are drawn from the seed alone, and every kind is drawn."""

from collections import Counter
from itertools import pairwise

import pytest

from fe.process.failpoints import POINTS
from tests.faults.nemesis import ACTOR_POINTS, CHARGE_POINTS, DECK, HTTP_POINTS, RECEPTION_POINTS, draw


def test_draw_of_strikes_depends_on_the_seed_alone() -> None:
    assert draw(7, 60, every=0.7) == draw(7, 60, every=0.7)
    assert draw(7, 60, every=0.7) != draw(8, 60, every=0.7)


def test_longer_run_begins_like_a_shorter_one() -> None:
    short, long = draw(7, 20, every=0.7), draw(7, 60, every=0.7)

    assert long[: len(short)] == short


@pytest.mark.parametrize("seed", range(5))
def test_each_kind_of_strike_is_drawn_as_often_as_the_deck_holds_it(seed: int) -> None:
    strikes = draw(seed, 1000, every=1.0)[: sum(DECK.values())]

    assert Counter(strike.kind for strike in strikes) == DECK
    assert all(0.29 < later.at - earlier.at < 1.71 for earlier, later in pairwise(strikes))


def test_each_failpoint_belongs_to_a_role() -> None:
    assert sorted([*HTTP_POINTS, *RECEPTION_POINTS, *CHARGE_POINTS, *ACTOR_POINTS]) == sorted(POINTS)
