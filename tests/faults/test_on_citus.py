"""A short run of the fault suite on a coordinator and two workers; `make faults ENGINE=citus` does the long one."""

import os
import random

import pytest
import trio

from tests import citus
from tests.faults.nemesis import CITUS_DECK, DECK
from tests.faults.run import Order, run

pytestmark = [
    pytest.mark.timeout(900),
    # Clients are cut off in the middle of reading, and httpx leaves its own generators to the garbage collector then.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(
        citus.programs() is None,
        reason="SKIPPED, NOTHING OF A CLUSTER WAS TRIED: CITUS_PGBIN of `make citus` names no Postgres that has Citus",
    ),
]

#: Strikes on the cluster itself, with enough of the others to have work in every state.
SHORT = {
    **{kind: count for kind, count in CITUS_DECK.items() if kind not in DECK},
    "postgres crashes": 1,
    "kill actors": 1,
    "cut at actors": 2,
}


def test_short_run_on_a_cluster_breaks_no_invariant() -> None:
    citus.speak_citus()
    seed = int(os.environ.get("FAULTS_SEED") or (1 if os.environ.get("CI") else random.randrange(10**6)))

    ended = trio.run(run, Order(seed=seed, seconds=14, every=1.0, per_second=8.0, deck=SHORT))

    assert not ended.violations, f"FAULTS_SEED={seed}\n" + "\n".join(map(str, ended.violations))
    assert ended.report.drained_after is not None
    assert ended.report.submissions["Aceptado"] > 0
