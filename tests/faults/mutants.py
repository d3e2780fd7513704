"""`python -m tests.faults.mutants`: run broken variants of the service and check that the harness catches each."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import psycopg
import trio

from tests.faults.checker import ASKED_ABOUT, Violation
from tests.faults.history import History
from tests.faults.run import SILENCE, UNLUCKY, Order, run


@dataclass(frozen=True)
class Mutant:
    """A bug, the invariant that it breaks, and the run in which it shows."""

    invariant: str
    bug: str = "as-it-is"
    #: Changes of database functions: function, text, replacement.
    edits: Sequence[tuple[str, str, str]] = ()
    deck: Mapping[str, int] = field(default_factory=dict)
    #: Faults that the authority is told at the beginning.
    faults: Sequence[Mapping[str, object]] = ()
    seconds: float = 4.0
    every: float = 0.8
    drain: float = 15.0
    per_second: float = 25.0
    #: As `Order.silence`.
    silence: float = 0.0
    #: Whether the fault happened in a run: one without the fault is no escape.
    happened: Callable[[History], bool] | None = None


def _sent_twice(history: History) -> bool:
    """Whether the authority took in the same receipt twice."""
    taken = Counter(
        arrival.sha256 for arrival in history.arrivals if arrival.effect and arrival.operation in ASKED_ABOUT
    )
    return max(taken.values(), default=0) > 1


MUTANTS: dict[str, Mutant] = {
    "acknowledges-too-early": Mutant(
        "I1", "acknowledges-too-early", deck={"cut at http": 3, "cut http": 1}, seconds=6, every=0.3, drain=6.0
    ),
    "believes-what-it-reads": Mutant(
        "I1",
        edits=[
            (function, "PERFORM pg_logical_emit_message(true, 'fe', '')", "NULL")
            for function in ("accept_submission", "accept_submissions")
        ],
        seconds=4,
        silence=SILENCE,
        # Few: a repeated call that is answered in one batch with a new receipt waits for the standby all the same.
        per_second=2.0,
    ),
    "loses-doubts": Mutant(
        "I1",
        edits=[
            (
                "book_doubt_batch",
                "RETURN mine",
                "DELETE FROM outbox AS o USING unnest(p_tenants, mine) AS b (tenant_id, subject)"
                " WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject; RETURN mine",
            )
        ],
        faults=[{"kind": "reset-after", "operation": "reception", "times": 10}],
    ),
    "loses-dead-letters": Mutant(
        "I1",
        edits=[("book_dead_letter_batch", "FROM dead\n    )", "FROM dead WHERE false\n    )")],
        faults=UNLUCKY,
        seconds=60,
        per_second=4.0,
    ),
    "makes-the-document-anew": Mutant(
        "I2", "makes-the-document-anew", faults=[{"kind": "reset-before", "operation": "reception", "times": 10}]
    ),
    "announces-nothing": Mutant("I3", "announces-nothing", seconds=2),
    "asks-nobody": Mutant(
        # Longer than a circuit that the resets opened stays open.
        "I3",
        "asks-nobody",
        faults=[{"kind": "reset-after", "operation": "reception", "times": 10}],
        drain=45.0,
    ),
    "fences-nothing": Mutant("I3", "fences-nothing", deck={"freeze actors": 1}, seconds=12, every=1.2),
    "takes-no-last-look": Mutant(
        "I3",
        edits=[("intend_to_send_batch", "AND x.outcome IN ('intended', 'unknown')", "AND x.outcome = 'never'")],
        deck={"kill actors": 1},
        seconds=12,
        every=0.5,
    ),
    "tries-a-rejection-again": Mutant("I3", "tries-a-rejection-again", seconds=4),
    "sleeps-and-sends": Mutant(
        "I3", "sleeps-and-sends", deck={"nap actors": 1}, seconds=40, every=2.0, drain=40, happened=_sent_twice
    ),
    "counts-it-again": Mutant(
        "I4",
        edits=[
            ("fold_usage", "DELETE FROM usage_ends AS e WHERE", "DELETE FROM usage_ends AS e WHERE random() < 0.5 AND")
        ],
    ),
    "draws-without-a-lock": Mutant(
        "I5",
        edits=(  # alone and in a batch, and without the second look whether the number is free
            ("first_free_number", "IF number IS NULL OR", "IF true OR"),
            (
                "draw_number",
                "SET current_number = q.current_number + 1",
                "SET current_number = (SELECT o.current_number + 1 FROM sequences AS o, pg_sleep(0.03)"
                " WHERE (o.tenant_id, o.environment, o.prefix) = (p_tenant, p_environment, p_prefix))",
            ),
            ("accept_submissions", "FOR NO KEY UPDATE", "AND pg_sleep(0.03)::text = ''"),
        ),
        per_second=60.0,
    ),
    "forgets-to-tell": Mutant("I6", edits=[("book_verdict_batch", "'verdict'", "'processing'")], seconds=2),
    "books-a-verdict-twice": Mutant(
        "I6",
        edits=[
            (
                "book_verdict_batch",
                "PERFORM begin_deliveries",
                "PERFORM record_event_batch(p_tenants, mine, p_at, 'verdict', ARRAY("
                "SELECT jsonb_build_object('status', b.status, 'response', b.response, 'numberFate', b.number_fate)"
                " FROM unnest(p_statuses, p_responses, p_number_fates) AS b (status, response, number_fate)));"
                " PERFORM begin_deliveries",
            )
        ],
        seconds=2,
    ),
    "breaks-the-chain": Mutant(
        "I6",
        edits=[
            ("record_event_batch", "event_hash(last.hash", "event_hash(CASE WHEN p_kind <> 'retry' THEN last.hash END")
        ],
        faults=[{"kind": "reset-before", "operation": "reception", "times": 10}],
    ),
    "writes-before-the-fence": Mutant(
        "I6",
        edits=[
            ("book_retry_batch", "WHEN booked.counts THEN", "WHEN booked.counts IS DISTINCT FROM false THEN"),
            ("book_retry_batch", "array_agg(booked.detail", "array_agg(coalesce(booked.detail, '{}')"),
        ],
        # Slow answers: many tries are under way when a process is frozen, and fail when it goes on.
        deck={"freeze actors": 1},
        faults=[{"plan": {"slow": 0.8}, "seed": 1, "operations": ["reception"]}],
        seconds=15,
        every=1.2,
    ),
    "tells-nobody": Mutant(
        "I7",
        edits=[("record_event_batch", "IF p_kind IN ('verdict', 'error')", "IF p_kind IN ('error')")],
        seconds=3,
    ),
    "keeps-it-to-itself": Mutant(
        "I7", edits=[("keep_received", "IF p_reason = 0 AND webhook_wanted", "IF false AND webhook_wanted")], seconds=8
    ),
    "takes-silence-for-yes": Mutant("I7", "takes-silence-for-yes", seconds=6),
    "calls-it-another-name": Mutant("I7", "calls-it-another-name", seconds=3),
    "names-each-mail-anew": Mutant("I13", "names-each-mail-anew", seconds=3),
    "counts-from-the-hand-over": Mutant(
        "I14",
        edits=[("book_signed_batch", "signed_at = b.signed_at", "signed_at = p_at")],
        faults=[{"kind": "unavailable", "operation": "reception", "times": 0}],
        seconds=8,
    ),
    "defers-for-anyone": Mutant("I15", "defers-for-anyone", seconds=4),
    "replaces-it-again": Mutant("I16", "replaces-it-again", seconds=10, per_second=2.0),
    "never-looks-after-the-dead": Mutant(
        "I8", "never-looks-after-the-dead", deck={"kill actors": 1}, every=0.6, drain=9.0
    ),
    "remembers-keys-for-ever": Mutant("I9", "remembers-keys-for-ever", seconds=42, per_second=2.0),
    "lets-names-be-used-twice": Mutant("I10", edits=[("accept_submission", "IF NOT FOUND THEN", "IF false THEN")]),
    "renews-the-hold": Mutant("I11", "renews-the-hold", seconds=1, per_second=2.0),
    "believes-every-duplicate": Mutant(
        "V",
        "believes-every-duplicate",
        faults=[{"kind": "duplicate-delivery", "operation": "reception", "times": 10}],
    ),
}


#: A run on a busy machine may miss the moment in which a bug shows. The next seed is tried then, up to this many, and
#: each try takes as long as the first one once more.
SEEDS = 5


@dataclass(frozen=True)
class Caught:
    """Result of one try."""

    mutant: Mutant
    violations: Sequence[Violation]
    seconds: float
    #: Whether the fault happened; None where nothing tells.
    happened: bool | None = None

    @property
    def rightly(self) -> bool:
        """Whether the invariant that was broken was found broken."""
        return any(violation.invariant == self.mutant.invariant for violation in self.violations)

    @property
    def over(self) -> bool:
        """Whether another try would prove nothing: it was caught, or the fault happened and the checker missed it."""
        return self.rightly or bool(self.happened)

    @property
    def word(self) -> str:
        """The result in a word or two."""
        return "caught" if self.rightly else "no fault" if self.happened is False else "ESCAPED"


def hunt(name: str, seed: int, times: int = 1) -> Caught:
    """Run a mutant for a multiple of its time, and judge it."""
    mutant, started = MUTANTS[name], time.monotonic()
    order = Order(
        seed=seed,
        seconds=mutant.seconds * times,
        per_second=mutant.per_second,
        every=mutant.every,
        deck=mutant.deck,
        points=False,
        mood="none",
        program=("-m", "tests.faults.mutant", mutant.bug),
        drain=mutant.drain,
        prepare=_editor(mutant),
        blip=mutant.invariant == "I11",
        silence=mutant.silence,
        faults=mutant.faults,
        keep=False,
    )
    ended = trio.run(run, order)
    happened = mutant.happened(ended.history) if mutant.happened is not None else None
    return Caught(mutant, ended.violations, time.monotonic() - started, happened)


def hunt_until_over(name: str, seed: int) -> Iterator[Caught]:
    """Run a mutant with one seed after another, each time longer, until the result is certain or the tries are up."""
    for tried in range(SEEDS):
        caught = hunt(name, seed + tried, 1 + tried)
        yield caught
        if caught.over:
            return


def _editor(mutant: Mutant) -> Callable[[str], None]:
    def edit(dsn: str) -> None:
        for function, before, after in mutant.edits:
            with psycopg.connect(dsn, autocommit=True) as conn:
                row = conn.execute("SELECT pg_get_functiondef(%s::regproc)", [function]).fetchone()
                assert row is not None
                text: str = row[0]
                if before not in text:
                    raise LookupError(f"{function} does not say {before!r} any more: this mutant needs another bug")
                conn.execute(text.replace(before, after, 1).encode())

    return edit


def say(text: str) -> None:
    """Print a line and flush it: the seed must be known before the run ends."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def try_all(names: Iterable[str], seed: int) -> int:
    """Try these mutants and say of each whether it was caught; return 1 when one escaped for good."""
    escaped = 0
    for name in names:
        rightly = False
        for tried, caught in enumerate(hunt_until_over(name, seed)):
            first = next((str(v) for v in caught.violations if v.invariant == caught.mutant.invariant), "")
            say(f"{caught.word:<8} {name:<28} {caught.seconds:3.0f} s  seed {seed + tried}  {first}")
            rightly = caught.rightly
        escaped += not rightly
    return 1 if escaped else 0


def main() -> int:
    """Try every mutant, or those that are named."""
    options = argparse.ArgumentParser(prog="python -m tests.faults.mutants", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help="only these; all of them by default")
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    return try_all(asked.names or MUTANTS, asked.seed)


if __name__ == "__main__":
    sys.exit(main())
