"""`python -m tests.http.storm`: schemathesis against a live server, up to a number of calls.

It sends requests that the description allows or forbids, and follows its links. No answer may be a 5xx, and every one
must be as described. A busy server may answer 503 with Retry-After: the client repeats the call (storm_hooks.py), and
the share of such answers is reported. It runs in parts, each with its own seed, database and server, so the seed alone
repeats a part. The server counts the calls.
"""

import argparse
import atexit
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import trio
from psycopg.conninfo import make_conninfo

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, TenantId, TrackId
from fe.lifecycle import Status
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import migrate
from fe.store.postgres.roles import FRONT
from fe.store.records import sequences
from fe.store.records.throttle import AttemptLimits
from tests.http.front import Key, Running, make_key, make_tenant, start_front
from tests.http.worker import give_verdict, receive, sign

ROOT = Path(__file__).resolve().parent.parent.parent

#: Checks that ask for something we do not promise:
#: positive_data_acceptance  a description cannot say what makes a good e-CF, so good bodies by it may be refused;
#: negative_data_rejection   unknown fields are ignored by design, and ids of any form are 200 {found: false};
#: missing_required_header   there is none but Authorization, which ignored_auth checks;
#: unsupported_method        see test_road: 405 with Allow;
#: allow_header_conformance  /invoices/validate is also an id, of nothing, to GET /invoices/{trackOrId}.
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,use_after_free,ignored_auth"
)

#: The status of a server that is busy for a moment.
BUSY = "503"
#: Calls of a part: a repeat of a seed should take two or three minutes.
PART_CALLS = 4000
#: About this number of calls are the same for each seed: examples of the description and edges of its schemas.
_EDGES = 600
#: Calls for one more example of each operation and one more walk along the links.
_CALLS_OF_AN_EXAMPLE = 18


@dataclass(frozen=True)
class Part:
    """The result of one run of schemathesis."""

    seed: int
    #: Number of answers by status.
    statuses: Counter[str]
    #: Whether every answer was as described, and the report of schemathesis.
    as_described: bool
    report: str
    seconds: float

    @property
    def calls(self) -> int:
        """How many calls arrived at the server."""
        return self.statuses.total()

    @property
    def faults(self) -> int:
        """How many were answered with 5xx, but 503: the client sees whether that is as it must be."""
        return sum(count for status, count in self.statuses.items() if status.startswith("5") and status != BUSY)

    @property
    def is_well(self) -> bool:
        """Whether there was neither a violation nor a 5xx."""
        return self.as_described and not self.faults

    def __str__(self) -> str:
        verdict = "all as described" if self.as_described else "NOT AS DESCRIBED"
        return f"seed {self.seed}: {shown(self.statuses)}; {verdict}; {self.seconds:.0f} s"


def shown(statuses: Counter[str]) -> str:
    """Say how many calls there were, how many of each status, and the share of those that a busy server refused."""
    each = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))
    return f"{statuses.total()} calls ({each}), busy: {statuses[BUSY] / max(statuses.total(), 1):.2%}"


async def storm(db: Database, front_db: Database, folder: Path, *, seed: int, calls: int, edges: bool = True) -> Part:
    """Let schemathesis make about `calls` calls to a server over a database, which is to be new.

    `db` is that database as its owner has it, `front_db` as the front does. With `edges`, the calls that are the same
    for every seed are among them.
    """
    examples = max(1, (calls - _EDGES * edges) // _CALLS_OF_AN_EXAMPLE)
    # By itself it begins no walk with a receipt, because it knows of nothing that gives out a `clientRequestId`, and so
    # thinks that none would be taken. It does when there is nothing else to begin with.
    everything = ("--phases", "examples,coverage,fuzzing,stateful" if edges else "fuzzing,stateful")
    receipts = ("--phases", "stateful", "--include-path-regex", "/invoices")
    # All calls come from one address: /login would answer nothing but 429 before long.
    limits = AttemptLimits(address=10**6)
    async with trio.open_nursery() as nursery:
        front = await start_front(nursery, front_db, attempt_limits=limits)
        tenant_id = await make_tenant(db)
        key = await make_key(db, tenant_id)
        await db.run(_give_numbers, tenant_id)
        nursery.start_soon(_be_the_actors, db)
        token, before, started = await front.token(key), _statuses(front), time.monotonic()
        ended = [
            await trio.run_process(
                [*_command(front, token, seed, examples), *which],
                capture_stdout=True,
                stderr=subprocess.STDOUT,
                check=False,
                cwd=folder,
                env=_environment(key),
            )
            for which in (everything, receipts)
        ]
        seconds = time.monotonic() - started
        statuses = _statuses(front) - before
        async with front.client(token) as client:
            assert (await client.get("/invoices")).status_code == 200, "it does not serve any more"
        nursery.cancel_scope.cancel()

    report = "\n".join(one.stdout.decode() for one in ended)
    return Part(seed, statuses, not any(one.returncode for one in ended), report, seconds)


async def _give_numbers(conn: Conn, tenant_id: TenantId) -> None:
    now = datetime.now(UTC)
    await sequences.put(
        conn,
        tenant_id,
        Environment.TESTECF,
        "E31",
        new_id=SequenceId(new_id(now)),
        minimum=1,
        maximum=10**9,
        expire_at=now + timedelta(days=400),
        is_active=True,
        at=now,
    )


def _command(front: Running, token: str, seed: int, examples: int) -> list[str]:
    return [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{front.base_url}/openapi.json"),
        *("--header", f"Authorization: Bearer {token}"),
        *("--checks", CHECKS, "--max-examples", str(examples), "--continue-on-failure", "--warnings", "off"),
        *("--no-shrink", "--seed", str(seed), "--suppress-health-check", "all", "--request-timeout", "150"),
        *("--no-color", "--generation-database", "none"),
    ]


def _environment(key: Key) -> dict[str, str]:
    here = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return here | {
        "PYTHONPATH": str(ROOT),
        "SCHEMATHESIS_HOOKS": "tests.http.storm_hooks",
        "STORM_KEY": key.api_key_id,
        "STORM_SECRET": key.secret,
    }


_HAS_WORK = "SELECT EXISTS (SELECT FROM outbox WHERE subject = %s)"
_WAITING = "SELECT subject FROM outbox WHERE run_at <= now() ORDER BY run_at LIMIT 20"


async def _be_the_actors(db: Database) -> None:
    """Bring accepted receipts to varying verdicts until cancelled, so that long polls end soon."""

    async def waiting(conn: Conn) -> list[str]:
        return [str(subject) for (subject,) in await (await conn.execute(_WAITING)).fetchall()]

    async def has_work(conn: Conn, subject: str) -> bool:
        return (await (await conn.execute(_HAS_WORK, (subject,))).fetchone()) == (True,)

    number = 0
    while True:
        for tax_log_id in await db.run(waiting):
            number += 1
            status = (Status.ACCEPTED, Status.CONDITIONAL, Status.REJECTED)[number % 3]
            await sign(db, tax_log_id)
            if await db.run(has_work, tax_log_id):  # not when another submission had its number before it was signed
                await receive(db, tax_log_id, TrackId(f"00000000-{number}"))
                await give_verdict(db, tax_log_id, status, ("1", "a message"))
        await trio.sleep(0.02)


def _statuses(front: Running) -> Counter[str]:
    counted: Counter[str] = Counter()
    for metric in front.metrics.registry.collect():
        for sample in metric.samples:
            if sample.name == "fe_http_requests_total" and sample.value:
                counted[sample.labels["status"]] += int(sample.value)
    return counted


def _say(text: str) -> None:
    """Print at once, so that the seed is visible before the run ends."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Go on until the calls were made; return 1 when any was answered with 5xx or not as described."""
    options = argparse.ArgumentParser(prog="python -m tests.http.storm", description=__doc__)
    options.add_argument("--calls", type=int, default=int(os.environ.get("FAULTS_CALLS", "20000")))
    options.add_argument("--seed", type=int, default=int(os.environ.get("FAULTS_SEED") or random.randrange(10**6)))
    options.add_argument("--edges", action=argparse.BooleanOptionalAction, default=True, help="what no seed changes")
    options.add_argument("--reports", action="store_true", help="show what schemathesis says when all is well, too")
    asked = options.parse_args()
    _say(f"schemathesis, {asked.calls} calls: python -m tests.http.storm --calls {asked.calls} --seed {asked.seed}")
    folder = Path(tempfile.mkdtemp(prefix="fe-storm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # runs after the server's own, which comes later
    return _go_on(start_embedded(folder / "data", keep=False), folder, asked)


def _go_on(postgres: str, folder: Path, asked: argparse.Namespace) -> int:
    parts: list[Part] = []
    made: Counter[str] = Counter()
    while made.total() < asked.calls:
        number = len(parts)
        part = trio.run(
            partial(
                _part,
                _database(postgres, f"part_{number}"),
                folder,
                seed=asked.seed + number,
                calls=min(PART_CALLS, asked.calls - made.total()),
                edges=asked.edges and not number,
            )
        )
        parts.append(part)
        made += part.statuses
        _say(str(part))
        if asked.reports or not part.is_well:
            _say(part.report)
        if not part.calls:
            break  # it did not even begin, and would not the next time
    bad = [part.seed for part in parts if not part.is_well]
    faults = sum(part.faults for part in parts)
    _say(f"in all {shown(made)}, other 5xx: {faults}, seeds with violations: {bad or 'none'}")
    return 1 if bad or made.total() < asked.calls else 0


async def _part(dsn: str, folder: Path, **how: Any) -> Part:
    async with open_database(dsn) as db, open_database(dsn, role=FRONT) as served:
        return await storm(db, served, folder, **how)


def _database(postgres: str, name: str) -> str:
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name}".encode())
    dsn = make_conninfo(postgres, dbname=name)
    migrate(dsn)
    return dsn


if __name__ == "__main__":
    sys.exit(main())
