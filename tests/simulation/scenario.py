"""Scenario of a run, drawn from its seed: documents, faults of the authority, and strikes on processes."""

import random
from dataclasses import dataclass, fields, replace

from fe.authority.estado import Estado
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.identifiers import TenantId
from tests.simulation.authority import Truth, Weather

#: Simulated seconds after which faults end at the latest; `_SIEGE` in a siege, where most requests fail and documents
#: run out of attempts.
_TROUBLE = 150.0
_SIEGE = 1500.0


@dataclass(frozen=True)
class Document:
    """A submission: when it is accepted, and what will be thought of it."""

    at: float
    tenant: TenantId
    environment: Environment
    root: Root
    issuer: str
    e_ncf: str | None
    ecf_type: EcfType | None
    truth: Truth
    summary: bool = False
    poison: bool = False
    unfit: bool = False
    #: Another program has sent a document with its number, which came to this.
    taken: Estado | None = None
    #: Seconds until that document is decided.
    taken_for: float = 0.0

    @property
    def is_unclear(self) -> bool:
        """Whether the authority can be unable to say whose its number is, or what became of its first send."""
        return self.taken is Estado.REJECTED or self.truth.refused or self.truth.estado is Estado.REJECTED


@dataclass(frozen=True)
class Blow:
    """Something that befalls a process, the database, the authority, or the operators."""

    at: float
    what: str
    whom: int
    seconds: float
    #: It falls after this number of its process's statements about submissions; 0: at once.
    steps: int = 0
    #: Counted are only statements that call a function with this answer.
    of: str = ""


@dataclass(frozen=True)
class Scenario:
    """All that a seed decides beforehand; what it decides on the way comes from `spread`s of its own."""

    seed: int
    documents: tuple[Document, ...]
    processes: int
    skews: tuple[float, ...]
    weather: Weather
    blows: tuple[Blow, ...]
    #: The chance that a unit of work is cut from the database.
    cut: float
    trouble_ends: float

    def in_order(self) -> list[Document]:
        """The documents as they are accepted."""
        return sorted(self.documents, key=lambda document: document.at)


_BLOWS = (
    "kill",
    "kill",
    "kill",
    "stop",
    "stop",
    "freeze",
    "freeze",
    "database",
    "authority",
    "clock",
    "pause",
    "replay",
)


def draw(seed: int) -> Scenario:
    """Make the scenario of a seed: mostly a few troubles of any kind, sometimes much of one kind."""
    spread = random.Random(f"scenario {seed}")
    kind = spread.choices(("mixed", "siege", "sleep"), (75, 10, 15))[0]
    processes = spread.choice((1, 2, 2, 3)) if kind != "sleep" else spread.choice((2, 3))
    weather = {"mixed": _weather, "siege": _siege, "sleep": _slow}[kind](spread)
    trouble_ends = spread.uniform(500, _SIEGE) if kind == "siege" else spread.uniform(5, _TROUBLE)
    documents = tuple(_document(spread, number, weather) for number in range(spread.choice((1, 2, 3, 5))))
    blows = [_blow(spread, documents, processes, trouble_ends) for _ in range(spread.choice((0, 1, 2, 4, 8)))]
    if kind == "siege":
        blows += [Blow(spread.uniform(400, trouble_ends), "replay", 0, 0.0) for _ in range(3)]
    if kind == "sleep":
        blows = [_nap(spread, documents, processes) for _ in range(spread.choice((1, 2, 4)))]
    wrong_clocks = spread.random() < 0.3
    return Scenario(
        seed=seed,
        documents=documents,
        processes=processes,
        skews=tuple(spread.choice((-3600.0, -5.0, 5.0, 3600.0)) if wrong_clocks else 0.0 for _ in range(processes)),
        weather=weather,
        blows=tuple(sorted(blows, key=lambda blow: blow.at)),
        cut=spread.choice((0.0, 0.0, 0.02, 0.1)),
        trouble_ends=trouble_ends,
    )


def _nap(spread: random.Random, documents: tuple[Document, ...], processes: int) -> Blow:
    """A process falls asleep over a document for about as long as it takes the others to think it dead."""
    at, whom, seconds = spread.choice(documents).at + spread.expovariate(1 / 2), spread.randrange(processes), (14, 30)
    if spread.random() < 0.5:  # between the committed intent and the first byte, where it does the most harm
        return Blow(at, "freeze", whom, spread.uniform(*seconds), 1, spread.choice(("intend_to_send go", "going on")))
    return Blow(at, "freeze", whom, spread.uniform(*seconds), spread.randrange(1, 8))


def _blow(spread: random.Random, documents: tuple[Document, ...], processes: int, trouble_ends: float) -> Blow:
    """Most fall soon after a document came in, while there is something to hit."""
    at = (
        spread.choice(documents).at + spread.expovariate(1 / 3)
        if spread.random() < 0.8
        else spread.uniform(0, trouble_ends)
    )
    return Blow(min(at, trouble_ends), spread.choice(_BLOWS), spread.randrange(processes), spread.expovariate(1 / 30))


def _document(spread: random.Random, number: int, weather: Weather) -> Document:
    root = spread.choice((Root.ECF, Root.ECF, Root.ECF, Root.ECF, Root.RFCE, Root.ACECF, Root.ANECF))
    kind = "32" if root is Root.RFCE else spread.choice(("31", "32", "33"))
    numbered = root is not Root.ANECF
    summary = root is Root.ECF and kind == "32" and spread.random() < 0.5
    return Document(
        at=spread.uniform(0, 10),
        tenant=TenantId(spread.choice((1, 1, 2))),
        environment=spread.choice((Environment.ECF, Environment.TESTECF)),
        root=root,
        # An ANECF goes out under its issuer's name alone: one issuer each, so that each is told apart by its name.
        issuer="131880738" if numbered else f"1018{number:05}",
        e_ncf=f"E{kind}{number + 1:010}" if numbered else None,
        ecf_type=EcfType(kind) if root in (Root.ECF, Root.RFCE) else None,
        truth=_truth(spread),
        summary=summary,
        poison=spread.random() < 0.02,
        unfit=spread.random() < 0.03,
        taken=_taken(spread, weather) if root in (Root.ECF, Root.RFCE) else None,
        taken_for=spread.choice((0.0, 30.0)),
    )


def _taken(spread: random.Random, weather: Weather) -> Estado | None:
    if spread.random() > 0.15:
        return None
    # A stranger's rejection cannot be told from ours while ours says nothing itself: what the authority gives to tell
    # them apart is the state of the last one.
    mixed_up = weather.try_again or weather.hidden or weather.delivered_twice
    return Estado.ACCEPTED if mixed_up else spread.choice((Estado.ACCEPTED, Estado.REJECTED))


def _truth(spread: random.Random) -> Truth:
    luck = spread.random()
    if luck < 0.70:
        return Truth(Estado.ACCEPTED)
    if luck < 0.80:
        return Truth(Estado.CONDITIONAL)
    if luck < 0.95:
        return Truth(Estado.REJECTED, used=spread.random() < 0.5)
    return Truth(refused=True)


def _weather(spread: random.Random) -> Weather:
    """A few kinds of trouble in each run, so that each shows without the others; sometimes all at once."""
    kinds = [field.name for field in fields(Weather) if field.name != "by_code"]
    chosen = kinds if spread.random() < 0.1 else spread.sample(kinds, spread.randrange(1, 5))
    # How the state service reads a question is not known, and no trouble that comes and goes.
    return Weather(**{kind: spread.choice((0.05, 0.2, 0.6)) for kind in chosen}, by_code=spread.choice((0.0, 1.0)))


def _siege(spread: random.Random) -> Weather:
    """Hardly anything gets through, each time for another reason."""
    kind = spread.choice(("unavailable", "door_shut", "lost_before", "lost_after", "not_found", "try_again"))
    return replace(_weather(spread), **{kind: spread.choice((0.9, 0.98, 1.0))})


def _slow(spread: random.Random) -> Weather:
    """Documents take long, so that a process that wakes up finds them unfinished."""
    kind = spread.choice(("unavailable", "door_shut", "lost_before", "long_process", "hidden", "try_again"))
    return replace(_weather(spread), **{kind: 0.7})


def drains_within(scenario: Scenario) -> float:
    """I8: for how many seconds something may wait after the faults.

    Eight minutes, which is what the schedule takes. Where the authority can never say whose a number is, or what became
    of a first send, 15 minutes of doubt come first; and what ends its workers is set apart after each of eight deaths.
    """
    unclear = any(document.is_unclear for document in scenario.documents)
    poison = any(document.poison for document in scenario.documents)
    return 480.0 + (900.0 if unclear else 0.0) + (900.0 if poison else 0.0)
