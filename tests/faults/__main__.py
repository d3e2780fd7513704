"""`python -m tests.faults`: one run of the fault suite, one failover, and then the mutants."""

import argparse
import json
import os
import random
import sys
import time
from dataclasses import replace
from pathlib import Path

import trio

from tests import citus
from tests.faults.mutants import MUTANTS, say, try_all
from tests.faults.run import SILENCE, Order, failover, run


def main() -> int:
    """Run, print what happened, and return 1 when something was that must not be."""
    options = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    options.add_argument("--seconds", type=float, default=float(os.environ.get("FAULTS_SECONDS", "120")))
    options.add_argument("--seed", type=int, default=int(os.environ.get("FAULTS_SEED") or random.randrange(10**6)))
    options.add_argument("--every", type=float, default=Order.every, help="seconds between two strikes, on average")
    options.add_argument("--report", type=Path, help="write the figures and the timeline here, as JSON")
    options.add_argument("--folder", type=Path, help="keep everything in this new folder: journals, logs, the database")
    options.add_argument("--mutants", action=argparse.BooleanOptionalAction, default=True, help="try them afterwards")
    asked = options.parse_args()
    if citus.programs() is not None:
        citus.speak_citus()
    engine = "" if citus.programs() is None else f" ENGINE=citus CITUS_PGBIN={citus.programs()}"
    say(f"seed {asked.seed}: FAULTS_SEED={asked.seed} FAULTS_SECONDS={asked.seconds:g} make faults{engine}")
    if asked.folder is not None:
        asked.folder.mkdir(parents=True)
    started = time.monotonic()
    ended = trio.run(run, Order(seed=asked.seed, seconds=asked.seconds, every=asked.every), asked.folder)
    say(ended.report.table())
    if not ended.violations and citus.programs() is None:
        say(f"a synchronous standby hears nothing for {SILENCE:.0f} s and then takes over")
        failed_over = trio.run(run, failover(asked.seed))
        say(failed_over.report.table())
        ended = replace(failed_over, report=ended.report)
    if asked.report is not None:
        asked.report.write_text(json.dumps(ended.report.as_json(ended.violations), indent=1), encoding="utf-8")
    say(f"{time.monotonic() - started:.0f} s in all, violations: {len(ended.violations)}")
    for violation in ended.violations:
        say(f"  {violation}")
    if ended.violations:
        say(f"seed {asked.seed}, everything is kept in {ended.folder}")
        return 1
    return try_all(MUTANTS, asked.seed) if asked.mutants else 0


if __name__ == "__main__":
    sys.exit(main())
