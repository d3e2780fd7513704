"""Report of a run, as a table to read and as JSON to keep."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from fe.lifecycle import FINAL
from tests.faults.history import History, Outcome, by_submission
from tests.faults.scene import Scene


@dataclass(frozen=True)
class Happening:
    """Something that happened to a part, `at` seconds after the clients began."""

    at: float
    where: str
    what: str


@dataclass(frozen=True)
class Report:
    """The figures of a run."""

    seed: int
    seconds: float
    strikes: dict[str, int]
    ends: dict[str, int]
    cuts: dict[str, int]
    authority_faults: dict[str, int]
    calls: dict[str, int]
    submissions: dict[str, int]
    #: Why submissions became dead letters; an operator may have replayed them since.
    dead_letters: dict[str, int]
    numbers: dict[str, int]
    drained_after: float | None
    #: How long after the last blip of the database the slowest front served; None where one did not, or there was none.
    served_after: float | None
    key_judged: bool
    timeline: list[Happening] = field(repr=False, default_factory=list)
    #: How many submissions were acknowledged, and how many seen at their end, in each second.
    acknowledged: list[int] = field(repr=False, default_factory=list)
    ended: list[int] = field(repr=False, default_factory=list)

    def as_json(self, violations: Sequence[Any]) -> dict[str, Any]:
        """Everything, the violations too."""
        return {**asdict(self), "violations": [asdict(violation) for violation in violations]}

    def table(self) -> str:
        """The figures, a section each."""
        lines = []
        for title, figures in (
            ("strikes", self.strikes),
            ("how processes ended", self.ends),
            ("connections to Postgres", self.cuts),
            ("faults of the authority that documents met", self.authority_faults),
            ("calls of the clients", self.calls),
            ("submissions", self.submissions),
            ("dead letters", self.dead_letters),
            ("figures", self.numbers),
        ):
            total = sum(figures.values())
            lines.append(f"{title}{f' ({total})' if title != 'figures' else ''}")
            lines += [f"  {count:>7,}  {name}" for name, count in sorted(figures.items(), key=lambda f: (-f[1], f[0]))]
        after = "NOT AT ALL" if self.drained_after is None else f"{self.drained_after:.1f} s after the last fault"
        lines.append(f"everything at its end: {after}")
        if self.served_after is not None:
            lines.append(f"all fronts served {self.served_after:.1f} s after the database was back (I11)")
        lines.append(f"revocation (I9): {'judged' if self.key_judged else 'not judged, the run was too short'}")
        return "\n".join(lines)


def report_of(
    seed: int,
    seconds: float,
    scene: Scene,
    history: History,
    happenings: list[Happening],
    drained_after: float | None,
    replayed: int,
) -> Report:
    """Count the figures of a run."""
    rig, database = scene.rig, history.database
    ends: Counter[str] = Counter()
    for part in [*rig.http, *rig.actors, rig.authority]:
        for cause, count in part.ends.items():
            if cause != "the end":
                ends[f"{part.name.partition('-')[0]}: {cause}"] += count
    cuts: Counter[str] = Counter()
    for proxy in rig.proxies.values():
        cuts.update(proxy.done)
    submits = [call for call in history.calls if call.op == "submit"]
    dead = {letter.subject for letter in database.dead_letters}
    statuses = Counter("dead letter" if row.submission_id in dead else row.status for row in database.submissions)
    latest = max((call.started for call in history.calls if call.op == "use"), default=0.0)
    served = [round(blip.served - blip.back, 1) for blip in history.blips if blip.served is not None]
    return Report(
        seed=seed,
        seconds=seconds,
        strikes=dict(rig.done),
        ends=dict(ends),
        cuts=dict(cuts),
        authority_faults=dict(Counter(arrival.fault for arrival in history.arrivals if arrival.fault)),
        calls=dict(
            Counter(f"{call.op} {call.outcome}{f' {call.http}' if call.http else ''}" for call in history.calls)
        ),
        submissions=dict(statuses),
        dead_letters=dict(Counter(e.detail["error"] for e in database.events if e.kind == "dead_letter")),
        numbers={
            "submissions acknowledged (202)": sum(call.http == 202 for call in submits),
            "repeats answered with the first (200)": sum(call.http == 200 for call in submits),
            "calls whose outcome the client never learned": sum(c.outcome is Outcome.UNKNOWN for c in submits),
            "documents that reached the authority": sum(arrival.effect for arrival in history.arrivals),
            "of them again, the same bytes": _repeats(history),
            "sends announced": len(database.sends),
            "outcomes that were unknown": sum(event.kind == "outcome_unknown" for event in database.events),
            "of them settled by asking": _settled_by_asking(history),
            "dead letters that an operator replayed": replayed,
            "events on record": len(database.events),
            "samples of the terms": len(history.samples),
            "of them with late documents": sum(one.urgent > 0 for one in history.samples),
            "deferred documents taken in": sum(row.is_deferred for row in database.submissions),
            "mails that the relay took": len(history.mails or ()),
            "mails that it took again": len(history.mails or ()) - len(set(history.mails or ())),
            "numbers drawn": sum(event.kind == "accepted" and event.detail["drawn"] for event in database.events),
        },
        drained_after=None if drained_after is None else round(drained_after, 1),
        served_after=max(served) if served and len(served) == len(history.blips) else None,
        key_judged=any(latest > revocation.at + 31 for revocation in history.revocations),
        timeline=happenings,
        acknowledged=_by_second(call.ended for call in submits if call.http == 202),
        ended=_by_second(call.ended for call in history.calls if call.op == "ask" and call.status in _FINAL),
    )


_FINAL = frozenset(status.value for status in FINAL)


def _by_second(moments: Iterable[float]) -> list[int]:
    counted = Counter(int(moment) for moment in moments)
    return [counted[second] for second in range(max(counted, default=-1) + 1)]


def _repeats(history: History) -> int:
    taken = Counter(arrival.sha256 for arrival in history.arrivals if arrival.effect)
    return sum(count - 1 for count in taken.values())


def _settled_by_asking(history: History) -> int:
    """How many unknown outcomes turned out to be arrivals: a verdict or a trackId, and nothing sent in between."""
    settled = 0
    for story in by_submission(history.database.events).values():
        unknown = False
        for event in story:
            settled += unknown and event.kind in ("received", "verdict")
            unknown = event.kind == "outcome_unknown" or (unknown and event.kind == "retry")
    return settled
