"""Deliberate faults: the kinds, a seeded plan of probabilities, and faults ordered call by call."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from fe.ecf.catalogue import Environment
from fe.simulator.operations import CARRIES_DOCUMENT, SimulatedOperation


class FaultKind(StrEnum):
    """How an answer can go wrong. "Effect" is what a request without the fault would have done."""

    # No effect: the request counts as never processed.
    UNAVAILABLE = "unavailable"  # 503 (or `status`), short text
    RESET_BEFORE = "reset-before"  # the request is read, then the connection is reset
    HTML = "html"  # 500 (or `status`) with an HTML page
    BARE_STRING = "bare-string"  # 400 whose body is one JSON string
    UNAUTHORIZED = "unauthorized"  # 401; the token is void from now on
    REDIRECT = "redirect"  # 302 to a path of this same server
    MAINTENANCE = "maintenance"  # a window of `seconds` during which the environment answers 503 with an HTML page

    # The effect happens; the answer is lost or unreadable.
    RESET_AFTER = "reset-after"  # connection reset instead of the answer
    UNAVAILABLE_AFTER = "unavailable-after"  # 502 with a gateway's HTML page
    HALF_REPLY = "half-reply"  # the head, half of the body, end of the connection
    EMPTY = "empty"  # 200 without a body
    GARBAGE = "garbage"  # 200, called JSON, random bytes
    WRONG_TYPE = "wrong-type"  # the right body under `text/html`

    # The effect happens; the answer is well-formed and misleads.
    SLOW = "slow"  # the right answer after `seconds` (5)
    DUPLICATE_REPLY = "duplicate-reply"  # the whole HTTP answer twice on the connection
    DUPLICATE_DELIVERY = "duplicate-delivery"  # a proxy delivered it twice: the answer is that of the second time
    OTHER_TRACK = "other-track"  # the trackId, or the verdict, of another document
    OTHER_SHAPE = "other-shape"  # an object where an array is due, and the reverse
    STUCK = "stuck"  # `En Proceso` for `seconds` or for ever: at reception the document, at a query this answer
    NOT_FOUND = "not-found"  # `No encontrado`: at reception the document for `seconds` (5), at a query this answer
    BY_CODE = "by-code"  # asked for a state with a security code: of the documents with that code, not of the number
    WRONG_ACKNOWLEDGEMENT = "wrong-acknowledgement"  # the counterparty acknowledges another number
    TRY_AGAIN = "try-again"  # the verdict is `Rechazado` with code 4, "favor intentar nueva vez"; the number stays free

    @property
    def has_effect(self) -> bool:
        """Whether what was asked for happens all the same."""
        return self not in _WITHOUT_EFFECT


_WITHOUT_EFFECT = frozenset(
    {
        FaultKind.UNAVAILABLE,
        FaultKind.RESET_BEFORE,
        FaultKind.HTML,
        FaultKind.BARE_STRING,
        FaultKind.UNAUTHORIZED,
        FaultKind.REDIRECT,
        FaultKind.MAINTENANCE,
    }
)

_SENDS = frozenset({SimulatedOperation.RECEPTION, SimulatedOperation.SUMMARY_RECEPTION})
_QUERIES = frozenset(
    {
        SimulatedOperation.RESULT,
        SimulatedOperation.STATE,
        SimulatedOperation.TRACK_IDS,
        SimulatedOperation.SUMMARY_STATE,
    }
)
_COUNTERPARTIES = frozenset({SimulatedOperation.COUNTERPARTY_RECEPTION, SimulatedOperation.COUNTERPARTY_APPROVAL})
_DIRECTORIES = frozenset({SimulatedOperation.DIRECTORY, SimulatedOperation.DIRECTORY_ENTRY})

#: Where a kind means something, if not everywhere.
_APPLIES = {
    FaultKind.UNAUTHORIZED: CARRIES_DOCUMENT | _QUERIES | _DIRECTORIES | _COUNTERPARTIES,
    FaultKind.DUPLICATE_DELIVERY: CARRIES_DOCUMENT,
    FaultKind.OTHER_TRACK: frozenset({SimulatedOperation.RECEPTION, SimulatedOperation.RESULT}),
    FaultKind.OTHER_SHAPE: _SENDS | _QUERIES | _DIRECTORIES | {SimulatedOperation.SERVICES},
    FaultKind.STUCK: frozenset({SimulatedOperation.RECEPTION, SimulatedOperation.RESULT}),
    FaultKind.NOT_FOUND: _QUERIES | {SimulatedOperation.RECEPTION},
    FaultKind.BY_CODE: frozenset({SimulatedOperation.STATE}),
    FaultKind.TRY_AGAIN: _SENDS,
    FaultKind.WRONG_ACKNOWLEDGEMENT: frozenset({SimulatedOperation.COUNTERPARTY_RECEPTION}),
}


def applies(kind: FaultKind, operation: SimulatedOperation) -> bool:
    """Whether `operation` can suffer `kind`."""
    where = _APPLIES.get(kind)
    return where is None or operation in where


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault as it will be applied; `status` and `seconds` only where the kind has them."""

    kind: FaultKind
    status: int | None = None
    seconds: float | None = None
    #: `plan`, or `script` for one that was ordered.
    source: str = "script"


@dataclass(frozen=True, slots=True)
class Occasion:
    """One request, as far as faults choose by it. Issuer and number are empty where a request has none."""

    operation: SimulatedOperation
    environment: Environment | None
    issuer: str = ""
    e_ncf: str = ""


@dataclass(frozen=True)
class FaultPlan:
    """Chances per kind, decided by a seed.

    The n-th call of an operation about a document in an environment meets the same fault in every run with the same
    seed, however the calls of different documents interleave.
    """

    seed: int
    probabilities: Mapping[FaultKind, float]
    #: Only these operations suffer; None means all.
    operations: frozenset[SimulatedOperation] | None = None

    def __post_init__(self) -> None:
        if FaultKind.MAINTENANCE in self.probabilities:
            raise ValueError("a maintenance window is opened by a script, not by chance")
        if any(not 0 <= chance <= 1 for chance in self.probabilities.values()):
            raise ValueError("a probability lies between 0 and 1")
        if sum(self.probabilities.values()) > 1:
            raise ValueError("the probabilities together exceed 1")

    @classmethod
    def mild(cls, seed: int) -> "FaultPlan":
        """A bad day: 5 % 503, 2 % lost answers, 2 % answers sent twice, 1 % garbage."""
        return cls(
            seed,
            {
                FaultKind.UNAVAILABLE: 0.05,
                FaultKind.RESET_AFTER: 0.02,
                FaultKind.DUPLICATE_REPLY: 0.02,
                FaultKind.GARBAGE: 0.01,
            },
        )

    @classmethod
    def wild(cls, seed: int) -> "FaultPlan":
        """Every kind that chance may choose, 2 % each; slow answers and odd states last no longer than seconds."""
        return cls(seed, {kind: 0.02 for kind in FaultKind if kind is not FaultKind.MAINTENANCE})

    @classmethod
    def named(cls, name: str, seed: int) -> "FaultPlan":
        """The preset `mild` or `wild`; ValueError for another name."""
        presets = {"mild": cls.mild, "wild": cls.wild}
        if name not in presets:
            raise ValueError(f"there is no fault preset {name!r}: {', '.join(sorted(presets))}")
        return presets[name](seed)

    def decide(self, occasion: Occasion, nth: int) -> Fault | None:
        """Return the fault of the `nth` call (from 0) about the document of `occasion`."""
        if self.operations is not None and occasion.operation not in self.operations:
            return None
        throw = self._throw(f"{self.seed}/{occasion.operation}/{_subject(occasion)}/{nth}")
        for kind, chance in self.probabilities.items():
            throw -= chance
            if throw < 0:
                return (
                    Fault(kind, seconds=_PLANNED_SECONDS.get(kind), source="plan")
                    if applies(kind, occasion.operation)
                    else None
                )
        return None

    @staticmethod
    def _throw(text: str) -> float:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest()) / (1 << 56)


#: So that a run with chances ends by itself: nothing chosen by chance lasts for ever.
_PLANNED_SECONDS = {FaultKind.SLOW: 1.0, FaultKind.STUCK: 10.0, FaultKind.NOT_FOUND: 3.0}


def _subject(occasion: Occasion) -> str:
    return f"{occasion.environment or ''}/{occasion.issuer}/{occasion.e_ncf}"


@dataclass(slots=True)
class Script:
    """An ordered fault: the next `times` calls that match suffer it (None: all), after `skip` that match are spared."""

    fault: Fault
    operation: SimulatedOperation | None = None
    environment: Environment | None = None
    issuer: str | None = None
    e_ncf: str | None = None
    times: int | None = 1
    skip: int = 0
    number: int = field(default=0, compare=False)

    def matches(self, occasion: Occasion) -> bool:
        """Whether `occasion` is one this script is about."""
        return (
            (self.operation is None or self.operation is occasion.operation)
            and (self.environment is None or self.environment is occasion.environment)
            and (self.issuer is None or self.issuer == occasion.issuer)
            and (self.e_ncf is None or self.e_ncf == occasion.e_ncf)
            and applies(self.fault.kind, occasion.operation)
        )


@dataclass(frozen=True, slots=True)
class FaultWindow:
    """A maintenance window of one environment, or of all of them; `end` None leaves it open."""

    environment: Environment | None
    start: datetime
    end: datetime | None

    def covers(self, environment: Environment | None, now: datetime) -> bool:
        """Whether `environment` is under maintenance at `now`."""
        if environment is None or self.environment not in (None, environment):
            return False
        return self.start <= now and (self.end is None or now < self.end)


class Faults:
    """Faults that are to happen, and those that happened. Scripts come before the plan."""

    def __init__(self, plan: FaultPlan | None = None) -> None:
        self.plan = plan
        self.scripts: list[Script] = []
        self.windows: list[FaultWindow] = []
        self.applied: Counter[FaultKind] = Counter()
        self._calls: Counter[tuple[SimulatedOperation, str]] = Counter()
        self._numbers = itertools.count(1)

    def order(self, script: Script) -> int:
        """Add a script and return the number it is listed under."""
        script.number = next(self._numbers)
        self.scripts.append(script)
        return script.number

    def clear(self) -> None:
        """Drop scripts, windows and plan: from now on the simulator behaves."""
        self.plan = None
        self.scripts.clear()
        self.windows.clear()

    def under_maintenance(self, environment: Environment | None, now: datetime) -> bool:
        """Whether a window of `environment` is open at `now`."""
        return any(window.covers(environment, now) for window in self.windows)

    def choose(self, occasion: Occasion, now: datetime) -> Fault | None:
        """Take the fault that this call meets, if any; it counts as applied."""
        fault = self._choose(occasion, now)
        if fault is not None:
            self.applied[fault.kind] += 1
        return fault

    def _choose(self, occasion: Occasion, now: datetime) -> Fault | None:
        if self.windows and self.under_maintenance(occasion.environment, now):
            return Fault(FaultKind.MAINTENANCE)
        for script in self.scripts:
            if not script.matches(occasion):
                continue
            if script.skip:
                script.skip -= 1
                continue
            if script.times is not None:
                script.times -= 1
                if script.times == 0:
                    self.scripts.remove(script)
            return script.fault
        if self.plan is None:
            return None
        key = (occasion.operation, _subject(occasion))
        nth = self._calls[key]
        self._calls[key] += 1
        return self.plan.decide(occasion, nth)
