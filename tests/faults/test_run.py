"""A short run of the fault suite, and the broken variants that show themselves soon; `make faults` does the rest."""

import os
import random

import pytest
import trio

from tests.faults.mutants import MUTANTS, hunt
from tests.faults.nemesis import DECK
from tests.faults.run import Order, run

pytestmark = [
    #: Other tests may have the cores meanwhile.
    pytest.mark.timeout(900),
    # Clients are cut off in the middle of reading, and httpx leaves its own generators to the garbage collector then.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_a_short_run_breaks_no_invariant() -> None:
    seed = int(os.environ.get("FAULTS_SEED") or random.randrange(10**6))

    # Not with maintenance: its answers ask us to stay away for a minute, and so we do.
    deck = {kind: count for kind, count in DECK.items() if kind != "authority is maintained"}

    ended = trio.run(run, Order(seed=seed, seconds=14, every=0.6, deck=deck))

    assert not ended.violations, f"FAULTS_SEED={seed}\n" + "\n".join(map(str, ended.violations))
    assert ended.report.drained_after is not None
    assert ended.report.submissions["Aceptado"] > 0
    assert sum(ended.report.strikes.values()) > 10


@pytest.mark.parametrize("name", [name for name, mutant in MUTANTS.items() if mutant.quick])
def test_a_broken_variant_is_caught(name: str) -> None:
    caught = hunt(name, seed=1)

    assert caught.rightly, caught.violations
