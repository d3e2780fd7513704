"""The real loops and actors in simulated worlds, each a seed: whatever befalls them, the invariants hold.

A failure names its seed; `python -m tests.simulation --seed N` tells that run in full, the same each time. For more of
them: `SIMULATION_SEEDS=2000 pytest tests/simulation`, or `python -m tests.simulation --seeds 10000 --from 200`.
"""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache

import pytest

from tests.simulation.checker import violations
from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.world import Run, simulate

#: How many worlds, from which seed on; and how many in one test.
SEEDS = int(os.environ.get("SIMULATION_SEEDS", "200"))
FIRST = int(os.environ.get("SIMULATION_FROM", "0"))
_AT_ONCE = 25

#: Number of worlds within which each deliberate bug is caught.
_CAUGHT_WITHIN = 100


@dataclass(frozen=True)
class Judged:
    """Result of a run, kept for two tests."""

    violations: list[str]
    happened: set[str]


@cache
def judged(seed: int) -> Judged:
    run = simulate(seed)
    return Judged(violations(run), _what_happened(run))


@pytest.mark.parametrize("first", range(FIRST, FIRST + SEEDS, _AT_ONCE))
def test_every_world_keeps_the_invariants(first: int) -> None:
    broken = {}
    for seed in range(first, min(first + _AT_ONCE, FIRST + SEEDS)):
        if found := judged(seed).violations:
            broken[f"python -m tests.simulation --seed {seed}"] = found

    assert broken == {}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_deliberate_bug_is_caught_by_the_invariant_it_breaks(mutant: Mutant) -> None:
    caught_by: set[str] = set()
    for seed in range(_CAUGHT_WITHIN):
        caught_by = {violation.split()[0] for violation in violations(simulate(seed, mutant))} & set(mutant.breaks)
        if caught_by:
            break

    assert caught_by, f"{mutant.name} went through {_CAUGHT_WITHIN} worlds: the checker is blind"


def test_same_seed_repeats_the_run_to_the_last_statement() -> None:
    seeds = range(6)
    here = [simulate(seed).digest for seed in seeds]

    assert [simulate(seed).digest for seed in seeds] == here
    assert len(set(here)) == len(here)


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_same_seed_repeats_the_run_in_another_process(hash_seed: str) -> None:
    """Nothing hangs on the order of sets, on addresses in memory, or on the clock on the tenant scope."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "--seed", "4"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert f"digest {simulate(4).digest}" in told


def _what_happened(run: Run) -> set[str]:
    """Return marks of what happened in a run, to be counted."""
    kinds = {event.kind for event in run.history.database.events}
    outcomes = {f"sent: {send.outcome}" for send in run.history.database.sends}
    ends = {f"ended: {row.status}" for row in run.history.database.submissions}
    told = " ".join(run.trace)
    marks = {
        "killed": "killed" in told,
        "stopped": "stopping" in told,
        "frozen": "frozen" in told,
        "a lease was lost": ": False" in told or ": lost" in told,
        "told to ask first": ": in doubt" in told,
        "a claim found a death": "deaths 1" in told,
        "arrived twice": "duplicate-delivery" in told,
        "went straight to the signer": "leased True" in told,
        "gave up": run.gave_up > 0,
    }
    return kinds | outcomes | ends | {mark for mark, seen in marks.items() if seen}


def test_worlds_contain_every_kind_of_event() -> None:
    """Each kind of event must occur, or the checker never judges it."""
    happened: Counter[str] = Counter()
    for seed in range(120):
        happened.update(judged(seed).happened)

    expected = {
        *("accepted", "signed", "sending", "received", "verdict", "processing", "retry", "outcome_unknown"),
        *("not_known_there", "dead_letter", "replayed", "error"),
        *("sent: received", "sent: not_sent", "sent: not_known", "sent: refused"),
        *("ended: Aceptado", "ended: Aceptado Condicional", "ended: Rechazado", "ended: error"),
        *("killed", "stopped", "frozen", "a lease was lost", "told to ask first", "a claim found a death"),
        *("arrived twice", "gave up", "went straight to the signer"),
    }
    assert {what for what in expected if happened[what] < 2} == set()
