"""What each may take over time."""

import pytest

from fe.limits import Allowances


def test_it_comes_back_and_what_was_taken_beyond_it_is_forgotten_after_a_while() -> None:
    allowances: Allowances[str] = Allowances(at_once=10, a_second=2)
    assert allowances.has_some("a", 0)
    allowances.take("a", 1000, 0)

    assert not allowances.has_some("a", 4.9)
    assert allowances.wait("a", 3) == pytest.approx(2)
    assert allowances.has_some("a", 5.1)
    assert allowances.wait("a", 5.1) == 0
    assert allowances.has_some("b", 0)


def test_nobody_has_more_at_once_than_there_is_however_long_it_took_nothing() -> None:
    allowances: Allowances[str] = Allowances(at_once=10, a_second=2)
    allowances.take("a", 1, 0)
    allowances.take("a", 11, 1_000_000)

    assert allowances.wait("a", 1_000_000) == pytest.approx(0.5)
