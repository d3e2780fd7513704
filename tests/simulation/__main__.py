"""Run simulated worlds: `python -m tests.simulation --seeds 10000`, or one, told in full: `--seed 4711`."""

import argparse
import sys
import time

import click

from tests.simulation.checker import violations
from tests.simulation.mutants import MUTANTS, SOUND, Mutant
from tests.simulation.world import simulate


def main() -> int:
    """Run what the command line asks for; 1 when something was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="run this one and tell all that happened")
    parser.add_argument("--seeds", type=int, default=200, help="run so many")
    parser.add_argument("--from", type=int, default=0, dest="first", help="beginning with this one")
    names = [mutant.name for mutant in MUTANTS]
    parser.add_argument("--mutant", choices=names, help="with a deliberate bug")
    asked = parser.parse_args()
    mutant = next((one for one in MUTANTS if one.name == asked.mutant), SOUND)
    return _tell(asked.seed, mutant) if asked.seed is not None else _run(asked.first, asked.seeds, mutant)


def _tell(seed: int, mutant: Mutant) -> int:
    run = simulate(seed, mutant)
    click.echo(str(run.scenario))
    click.echo("\n".join(run.trace))
    found = violations(run)
    click.echo("\n".join(found) or "no violation")
    click.echo(f"digest {run.digest}")
    return bool(found)


def _run(first: int, many: int, mutant: Mutant) -> int:
    started, bad = time.monotonic(), 0
    for seed in range(first, first + many):
        found = violations(simulate(seed, mutant))
        if found:
            bad += 1
            again = f"--mutant {mutant.name!r} " if mutant is not SOUND else ""
            click.echo(f"seed {seed}: {found[0]}\n  again: python -m tests.simulation {again}--seed {seed}")
    click.echo(f"{many} runs from seed {first}, {bad} with violations, {time.monotonic() - started:.1f} s")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
