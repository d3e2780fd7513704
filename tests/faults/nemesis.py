"""Schedule of faults: drawn from the seed before the run begins, then carried out as drawn."""

import random
import re
import signal
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
import trio

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.process.failpoints import POINTS
from tests.faults.modes import MODE_STRIKES, hold
from tests.faults.nodes import Nodes
from tests.faults.parts import Part, Tell
from tests.faults.postgres import Postgres
from tests.faults.proxy import Cut, FaultProxy, When

#: Where an HTTP process can be told to die, and where an actors' process can.
HTTP_POINTS = ("accepting", "accepted", "counting", "counted")
RECEPTION_POINTS = ("acknowledged",)
#: Points of the monthly closing and charging; tests/metering uses them, in test_closing.py and test_charging.py.
CHARGE_POINTS = ("closing", "closed", "charging", "charged")
ACTOR_POINTS = tuple(point for point in POINTS if point not in HTTP_POINTS + RECEPTION_POINTS + CHARGE_POINTS)

#: The statements around which connections are cut.
_STATEMENTS = {
    "http": ("accept_submission",),
    "actors": (
        "intend_to_send",
        "book_signed",
        "book_received",
        "book_verdict",
        "book_doubt",
        "book_resend",
        "book_(?:retry|not_sent)",
        r"UPDATE outbox AS o\s+SET attempt",
        "fold_usage",
    ),
}

#: Faults that the authority is ordered to make call by call, with a duration in seconds where it has one.
_SCRIPTS: Mapping[str, float | None] = {
    "reset-after": None,
    "reset-before": None,
    "unavailable-after": None,
    "half-reply": None,
    "empty": None,
    "garbage": None,
    "not-found": 2.0,
    "stuck": 4.0,
    "try-again": None,
    "duplicate-delivery": None,
    "other-track": None,
    "bare-string": None,
    "slow": 3.0,
}
_OPERATIONS = ("reception", "summary_reception", "commercial_approval", "result", "state", "track_ids", "summary_state")

#: Clocks that are wrong, and within what a process may start and sign with (MAX_SKEW).
_OFFSETS = {"http": (-1.5, -0.5, 0.5, 1.5), "actors": (-1.5, -0.5, 0.5, 1.5)}

#: How often each kind is dealt, in a deck.
DECK: Mapping[str, int] = {
    "kill actors": 4,
    "kill http": 2,
    "kill authority": 2,
    "stop actors": 1,
    "stop http": 1,
    "freeze actors": 3,
    "nap actors": 2,
    "freeze http": 1,
    "freeze authority": 1,
    "clock actors": 1,
    "clock http": 1,
    "postgres stops at once": 1,
    "postgres crashes": 1,
    "postgres loses a session": 1,
    "postgres is away": 1,
    "cut actors": 2,
    "cut http": 1,
    "cut at actors": 6,
    "cut at http": 3,
    "black hole actors": 2,
    "black hole http": 1,
    "slow network": 1,
    "authority is mild": 1,
    "authority is wild": 1,
    "authority is away": 2,
    "authority is maintained": 1,
    "authority is told": 6,
    "line goes down": 2,
    "sending is deferred": 3,
}

#: The same on a cluster: what is struck of Postgres is the coordinator then, and there are workers.
CITUS_DECK: Mapping[str, int] = {
    **DECK,
    "worker crashes": 3,
    "worker stops at once": 1,
    "worker is away": 2,
    "worker is silent": 2,
    "worker loses a session": 2,
    "shard moves": 3,
    "tenant is isolated": 1,
}


@dataclass(frozen=True)
class Strike:
    """One thing that goes wrong: `at` seconds after the start, with everything that chance decides about it."""

    at: float
    kind: str
    #: Chooses the target among those there are.
    turn: int
    seed: int


def draw(seed: int, seconds: float, *, every: float, deck: Mapping[str, int] = DECK) -> list[Strike]:
    """Draw what goes wrong: every kind comes as often as the deck holds it, in the order of a shuffled deck."""
    chance = random.Random(f"{seed}/nemesis")
    strikes: list[Strike] = []
    at = chance.uniform(0.3, 1.0)
    cards: list[str] = []
    while deck and at < seconds:
        if not cards:
            cards = [kind for kind, count in deck.items() for _ in range(count)]
            chance.shuffle(cards)
        strikes.append(Strike(round(at, 3), cards.pop(), chance.randrange(1000), chance.getrandbits(32)))
        at += chance.uniform(0.3, 1.7) * every
    return strikes


@dataclass
class Mood:
    """Which faults the authority makes by chance: `mild`, `wild` or `none`. Its next process makes such too."""

    seed: int
    name: str = "none"

    def options(self) -> list[str]:
        """Command-line options of the simulator's next process."""
        self.seed += 1
        return [] if self.name == "none" else ["--faults", self.name, "--seed", str(self.seed)]

    @property
    def order(self) -> dict[str, Any]:
        """Order for the running simulator."""
        self.seed += 1
        return {"plan": None if self.name == "none" else self.name, "seed": self.seed}


@dataclass
class Rig:
    """Targets of the strikes."""

    http: Sequence[Part]
    actors: Sequence[Part]
    authority: Part
    mood: Mood
    postgres: Postgres
    #: By the name of the part behind it.
    proxies: Mapping[str, FaultProxy]
    management: str
    tell: Tell
    #: Number of strikes, by kind.
    done: Counter[str] = field(default_factory=Counter)
    #: The DSN past the proxies, and the tenants with their environments.
    dsn: str = ""
    tenants: Sequence[tuple[TenantId, Environment]] = ()

    def part(self, role: str, turn: int) -> Part:
        """One of the parts of a role."""
        parts = {"http": self.http, "actors": self.actors, "authority": [self.authority]}[role]
        return parts[turn % len(parts)]


class Nemesis:
    """Carries the strikes out."""

    def __init__(self, rig: Rig, seed: int, *, points: bool = True) -> None:
        self._rig = rig
        self._server_locks: defaultdict[str, trio.Lock] = defaultdict(trio.Lock)
        self._moving = trio.Lock()
        self._napping = trio.Lock()
        self._arming = points
        self._lasting: Sequence[Mapping[str, object]] = ()
        # The first that takes in also signs, and so on: it may die wherever either can.
        both = HTTP_POINTS + ACTOR_POINTS
        for parts, names in ((rig.http[:1], both), (rig.http[1:], HTTP_POINTS), (rig.actors, ACTOR_POINTS)):
            for part in parts:
                part.arm = partial(self._point, names, random.Random(f"{seed}/points/{part.name}"))

    def _point(self, names: Sequence[str], chance: random.Random) -> Mapping[str, str]:
        """Where the next process is to die; every second one is spared."""
        if not self._arming or chance.random() < 0.5:
            return {}
        name = chance.choice(names)
        return {"FE_FAILPOINT": f"{name}:{chance.randrange(1, 12)}"}

    async def run(self, strikes: Sequence[Strike], seconds: float) -> None:
        """Carry out each strike at its time; after `seconds`, and after the last strike, end all faults."""
        started = trio.current_time()
        async with trio.open_nursery() as reminding:
            reminding.start_soon(self._keep_reminding)
            async with trio.open_nursery() as lasting:
                for strike in strikes:
                    await trio.sleep_until(started + strike.at)
                    lasting.start_soon(self._strike, strike)
                await trio.sleep_until(started + seconds)
            reminding.cancel_scope.cancel()
        self._arming = False
        for proxy in self._rig.proxies.values():
            proxy.disarm()
        self._rig.mood.name = "none"
        await self._order("DELETE", None)

    async def _strike(self, strike: Strike) -> None:
        verb, _, role = strike.kind.rpartition(" ")
        chance = random.Random(strike.seed)
        if role in ("actors", "http", "authority"):
            part = self._rig.part(role, strike.turn)
            self._note(part.name, strike.kind)
            await self._strike_part(verb, role, part, chance)
        elif strike.kind.startswith("postgres"):
            self._note("postgres", strike.kind)
            await self._strike_server(self._rig.postgres, strike.kind, strike.turn, chance)
        elif strike.kind.startswith("worker"):
            assert isinstance(self._rig.postgres, Nodes)
            workers = self._rig.postgres.workers
            worker = workers[strike.turn % len(workers)]
            self._note(worker.name, strike.kind)
            await self._strike_server(worker, strike.kind, strike.turn, chance)
        elif strike.kind in ("shard moves", "tenant is isolated"):
            await self._move(strike)
        elif strike.kind in MODE_STRIKES:
            tenant_id, environment = self._rig.tenants[strike.turn % len(self._rig.tenants)]
            self._note(f"tenant-{tenant_id}", strike.kind)
            seconds = chance.uniform(2.0, 6.0)
            await hold(self._rig.dsn, tenant_id, environment, MODE_STRIKES[strike.kind], seconds)
        elif strike.kind == "slow network":
            names = sorted(self._rig.proxies)
            name = names[strike.turn % len(names)]
            self._note(name, strike.kind)
            trickles = chance.random() < 0.5
            await self._rig.proxies[name].slow(
                chance.uniform(1.0, 3.0), delay=0.0005 if trickles else 0.1, piece=16 if trickles else 65536
            )
        else:
            self._note("authority", strike.kind)
            await self._strike_authority(strike.kind, chance)

    async def _strike_part(self, verb: str, role: str, part: Part, chance: random.Random) -> None:
        proxy = self._rig.proxies.get(part.name)
        match verb:
            case "kill":
                part.kill()
            case "stop":
                part.terminate()
            case "freeze":
                await part.freeze(chance.uniform(1.0, 2.5) if role != "actors" else chance.uniform(2.0, 7.0))
            case "nap":
                # Past the silence, with the intent committed and nothing sent: 80 to 130 s in a life at full length.
                # Not at once: rescuers look only after workers that have given a sign of life.
                if self._napping.locked():
                    return  # one at a time: another worker must be awake to take over
                async with self._napping:
                    await part.nap(f"intended:{chance.randrange(3, 8)}:stop", chance.uniform(8.0, 13.0))
            case "clock":
                part.next["FE_CLOCK_OFFSET"] = str(chance.choice(_OFFSETS[role]))
                part.kill("kill -9, clock set")
            case "cut":
                assert proxy is not None
                proxy.cut()
            case "cut at":
                assert proxy is not None
                when = chance.choice(list(When))
                proxy.cut_at(Cut(when, re.compile(chance.choice(_STATEMENTS[role]))))
            case "black hole":
                assert proxy is not None
                await proxy.black_hole(chance.choice([0.5, 2.0, 6.0]), then_cut=chance.random() < 0.5)

    async def _strike_server(self, server: Postgres, kind: str, turn: int, chance: random.Random) -> None:
        async with self._server_locks[server.name]:
            if kind.endswith("loses a session"):
                await server.kill_a_backend(turn)
                return
            if kind.endswith("is silent"):
                await server.freeze(chance.uniform(2.0, 12.0))
                return
            # Never left without a server, whatever becomes of us meanwhile.
            with trio.CancelScope(shield=True):
                await server.end(signal.SIGKILL if kind.endswith("crashes") else signal.SIGQUIT)
                if kind.endswith("is away"):
                    await trio.sleep(chance.uniform(1.3, 5.0))
                await server.start()

    async def _move(self, strike: Strike) -> None:
        """Move what lies on a worker to another, under load: one at a time, as the engine has it."""
        if self._moving.locked():
            return
        nodes = self._rig.postgres
        assert isinstance(nodes, Nodes)
        async with self._moving:
            self._note("coordinator", strike.kind)
            move = nodes.move_a_shard if strike.kind == "shard moves" else nodes.isolate_a_tenant
            told = await move(strike.turn)
            self._rig.tell("coordinator", told)
            self._rig.done[told.partition(":")[0] if told.startswith("no ") else f"{strike.kind}: done"] += 1

    async def _strike_authority(self, kind: str, chance: random.Random) -> None:
        if kind == "authority is away":
            lane = chance.choice([{}, {"environment": "ecf"}, {"environment": "testecf"}])
            await self._order("POST", {"kind": "unavailable", "times": chance.randrange(10, 40), **lane})
        elif kind == "authority is maintained":
            # Its answers ask us to stay away for a minute, whatever the window, and so we do.
            lane = chance.choice([{"environment": "ecf"}, {"environment": "testecf"}])
            await self._order("POST", {"kind": "maintenance", "seconds": round(chance.uniform(0.5, 2.0), 2), **lane})
        elif kind == "authority is told":
            script = chance.choice(list(_SCRIPTS))
            seconds = _SCRIPTS[script]
            order: dict[str, Any] = {"kind": script, "times": chance.randrange(1, 5)}
            order |= {"operation": chance.choice(_OPERATIONS)} if chance.random() < 0.8 else {}
            order |= {"seconds": seconds} if seconds is not None else {}
            await self._order("POST", order)
        else:
            await self.set_mood("wild" if kind == "authority is wild" else "mild")

    async def begin(self, mood: str, faults: Sequence[Mapping[str, object]]) -> None:
        """Set what the authority does by chance, and what it is told to do, before anything else goes wrong."""
        await self.set_mood(mood)
        self._lasting = faults
        await self._remind()

    async def _keep_reminding(self) -> None:
        """Tell each new process of the authority what the one before it was told at the beginning."""
        lives = self._rig.authority.lives
        while True:
            await trio.sleep(0.5)
            if self._rig.authority.lives != lives and await self._remind():
                lives = self._rig.authority.lives

    async def _remind(self) -> bool:
        return all([await self._order("POST", fault) for fault in self._lasting])

    async def set_mood(self, name: str) -> None:
        """Let the authority make such faults by chance from now on."""
        self._rig.mood.name = name
        await self._order("POST", self._rig.mood.order)

    async def _order(self, method: str, order: Mapping[str, Any] | None) -> bool:
        """Tell the simulator; False when it is dead at the moment, which is disorder enough.

        The end of all faults (DELETE) is repeated until it arrives: a simulator may take long to start.
        """
        async with httpx.AsyncClient(trust_env=False, timeout=3.0) as client:
            while True:
                try:
                    (await client.request(method, f"{self._rig.management}/faults", json=order)).raise_for_status()
                except httpx.TransportError:
                    if method != "DELETE":
                        return False
                    await trio.sleep(0.3)
                else:
                    return True

    def _note(self, where: str, kind: str) -> None:
        self._rig.done[kind] += 1
        self._rig.tell(where, kind)
