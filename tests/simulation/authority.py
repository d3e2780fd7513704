"""The tax authority in memory: its documents and decisions, and the wire to it, with faults drawn from a seed.

A sent document travels independently of its process. If the process dies, freezes or gives up, the document still
arrives, perhaps late, and takes effect.
"""

import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Protocol, TypeVar

import trio

from fe.authority.bodies import Message
from fe.authority.client import BeforeSend, Outgoing, Receipt, Tracking, Verdict
from fe.authority.errors import AuthorityRefused, ForeignAnswer, OutcomeUnknown, Unavailable
from fe.authority.estado import Estado
from fe.authority.gateway import TellingTheOutcome
from fe.ecf.catalogue import Environment, Host, Service
from fe.identifiers import TrackId

T = TypeVar("T")

_ACCEPTED = (Estado.ACCEPTED, Estado.CONDITIONAL)
DUPLICATE = (Message("1209", "La secuencia ya fue utilizada."),)
_TRY_AGAIN = (Message("004", "Ha ocurrido un error validando en eCF, favor intentar nueva vez."),)

#: In the place of the digest of a document that is not ours.
SOMEBODY_ELSES = "somebody else's"

#: How long a client waits for an answer.
_ANSWER_SECONDS = 20.0


@dataclass(frozen=True)
class Truth:
    """Verdict of the authority on a document, whenever it first judges it."""

    estado: Estado = Estado.ACCEPTED
    used: bool = True
    #: Refused at the door, as a file that is named wrongly would be.
    refused: bool = False


@dataclass(frozen=True)
class Weather:
    """How often what goes wrong: chances, per call."""

    unavailable: float = 0.0
    door_shut: float = 0.0
    session_expired: float = 0.0
    lost_before: float = 0.0
    lost_after: float = 0.0
    late: float = 0.0
    slow: float = 0.0
    delivered_twice: float = 0.0
    try_again: float = 0.0
    other_track: float = 0.0
    long_process: float = 0.0
    hidden: float = 0.0
    not_found: float = 0.0
    #: 1.0: asked with a security code, the state service tells of documents with that code only.
    by_code: float = 0.0


FAIR = Weather()


@dataclass
class Filed:
    """A document that was taken in, and what became of it. Times are the simulation's."""

    environment: str
    issuer: str
    e_ncf: str
    code: str | None
    track_id: TrackId | None
    sha256: str
    estado: Estado
    used: bool
    messages: tuple[Message, ...]
    decided_at: float
    #: From when on each service knows of it.
    found_at: dict[str, float] = field(default_factory=dict)

    def verdict(self, *, about_state: bool = False) -> Verdict:
        raw = {"estado": self.estado.value, "encf": self.e_ncf}
        if about_state and self.code is not None:
            raw["codigoSeguridad"] = self.code
        return Verdict(self.estado, self.messages, self.track_id, self.e_ncf, self.used, None, raw)


@dataclass(frozen=True)
class Seen:
    """A document as it came in, for the checker of the run."""

    at: float
    operation: str
    environment: str
    e_ncf: str | None
    file_name: str
    sha256: str
    estado: Estado | None
    messages: tuple[Message, ...]
    used: bool
    refused: bool
    fault: str | None
    #: It was rejected because another document holds the number: a verdict on the document itself.
    taken: bool


@dataclass(frozen=True)
class Asked:
    """A question about a number, for the checker of the run."""

    at: float
    environment: str
    about: str


class Caller(Protocol):
    """A process, as the wire sees it."""

    async def spend(self, seconds: float) -> None: ...

    async def resumed(self) -> None: ...

    def lets_go(self, about: str) -> None: ...

    def observe(self, environment: str, host: str, outcome: str) -> None: ...


Answered = Receipt | Verdict | AuthorityRefused


class Office:
    """The authority's side: the documents and the questions."""

    def __init__(self, spread: random.Random, note: Callable[[str], None]) -> None:
        self._spread = spread
        self._note = note
        self.weather = FAIR
        self.down_until = 0.0
        self.truths: dict[str, Truth] = {}
        self.filed: list[Filed] = []
        self.seen: list[Seen] = []
        self.asked: list[Asked] = []

    def chance(self, of: float) -> bool:
        return of > 0 and self._spread.random() < of

    def away(self) -> bool:
        return trio.current_time() < self.down_until

    def heal(self) -> None:
        """From now on all goes well, and what was put off is decided and can be found.

        How it reads a question is no trouble that passes.
        """
        now = trio.current_time()
        self.weather, self.down_until = replace(FAIR, by_code=self.weather.by_code), now
        for filed in self.filed:
            filed.decided_at = min(filed.decided_at, now + 5)
            filed.found_at = {service: min(at, now) for service, at in filed.found_at.items()}

    def take_in(self, outgoing: Outgoing, fault: str | None = None) -> Answered:
        """A document arrives; it is judged at once, and the verdict shown when its time has come."""
        now, digest = trio.current_time(), sha256(outgoing.xml).hexdigest()
        document = json.loads(outgoing.xml)
        truth = self.truths.get(document["about"], Truth())
        synchronous = outgoing.service is not Service.RECEPTION
        numbered = outgoing.service in (Service.RECEPTION, Service.SUMMARY_RECEPTION)
        filed: Filed | None = None
        if not truth.refused:
            estado, used, messages = self._judge(outgoing, document, truth, numbered=numbered)
            track_id = None if synchronous else TrackId(f"track-{len(self.filed)}")
            filed = Filed(
                environment=outgoing.environment,
                issuer=document["issuer"],
                e_ncf=document["e_ncf"],
                code=document["code"],
                track_id=track_id,
                sha256=digest,
                estado=estado,
                used=used,
                messages=messages,
                decided_at=now if synchronous else now + self._validation_seconds(),
                found_at={service: now + self._hiding_seconds() for service in ("result", "state", "tracks")},
            )
            self.filed.append(filed)
        self._note(f"arrived {digest[:8]} {document['e_ncf']} {filed.estado if filed else 'refused'} {fault or ''}")
        self.seen.append(
            Seen(
                at=now,
                operation=outgoing.service,
                environment=outgoing.environment,
                e_ncf=document["e_ncf"],
                file_name=outgoing.file_name,
                sha256=digest,
                estado=filed.estado if filed else None,
                messages=filed.messages if filed else (),
                used=filed.used if filed else False,
                refused=filed is None,
                fault=fault,
                taken=filed is not None and filed.messages == DUPLICATE and self._taken(filed),
            )
        )
        if filed is None:
            wrong_name = Message("3243", "La longitud del nombre del archivo no es válida")
            return AuthorityRefused("authority rejected with status 400", status=400, messages=(wrong_name,))
        if filed.track_id is None:
            return filed.verdict()
        return Receipt(filed.track_id, {"trackId": filed.track_id})

    def _judge(
        self, outgoing: Outgoing, document: dict[str, str], truth: Truth, *, numbered: bool
    ) -> tuple[Estado, bool, tuple[Message, ...]]:
        if numbered and any(filed.used for filed in self.of_number(outgoing.environment, document["e_ncf"])):
            return Estado.REJECTED, True, DUPLICATE
        if numbered and self.chance(self.weather.try_again):
            return Estado.REJECTED, False, _TRY_AGAIN
        if truth.estado in _ACCEPTED:
            return truth.estado, True, ()
        return truth.estado, truth.used, (Message("0", "MontoTotal"),)

    def _validation_seconds(self) -> float:
        if self.chance(self.weather.long_process):
            return self._spread.uniform(5, 300)
        return self._spread.uniform(0.05, 0.5)

    def _hiding_seconds(self) -> float:
        return self._spread.uniform(1, 60) if self.chance(self.weather.hidden) else 0.0

    def somebody_elses(
        self, environment: Environment, issuer: str, e_ncf: str, estado: Estado, decided_in: float = 0.0
    ) -> None:
        """Another program has sent a document with this number before us; rejected, it left the number free."""
        track_id = TrackId(f"track-{len(self.filed)}")
        self.filed.append(
            Filed(
                environment=environment,
                issuer=issuer,
                e_ncf=e_ncf,
                code="Foreign",
                track_id=track_id,
                sha256=SOMEBODY_ELSES,
                estado=estado,
                used=estado in _ACCEPTED,
                messages=(),
                decided_at=trio.current_time() + decided_in,
                found_at=dict.fromkeys(("result", "state", "tracks"), 0.0),
            )
        )

    def _taken(self, filed: Filed) -> bool:
        others = self.of_number(filed.environment, filed.e_ncf)
        return any(other.used for other in others if other.sha256 == SOMEBODY_ELSES)

    # --- Questions ----------------------------------------------------------------------------------------------------

    def of_number(self, environment: str, e_ncf: str) -> list[Filed]:
        return [filed for filed in self.filed if (filed.environment, filed.e_ncf) == (environment, e_ncf)]

    def _found(self, service: str, environment: str, e_ncf: str) -> list[Filed]:
        self.asked.append(Asked(trio.current_time(), environment, e_ncf))
        if self.chance(self.weather.not_found):
            return []
        now = trio.current_time()
        return [filed for filed in self.of_number(environment, e_ncf) if filed.found_at[service] <= now]

    def result(self, environment: str, track_id: TrackId, e_ncf: str | None) -> Verdict:
        now = trio.current_time()
        filed = next((one for one in self.filed if one.track_id == track_id), None)
        if filed is not None:
            self.asked.append(Asked(now, environment, filed.e_ncf))
        if filed is None or filed.found_at["result"] > now or self.chance(self.weather.not_found):
            return Verdict(Estado.NOT_FOUND, (), None, None, None, None, {"estado": "No encontrado"})
        if e_ncf is not None and filed.e_ncf != e_ncf:
            raise ForeignAnswer("the answer is about another document")
        if filed.decided_at > now:
            return Verdict(Estado.PROCESSING, (), track_id, filed.e_ncf, False, None, {"estado": "En Proceso"})
        return filed.verdict()

    def track_ids(self, environment: str, e_ncf: str) -> list[Tracking]:
        now = trio.current_time()
        return [
            Tracking(filed.track_id, filed.estado if filed.decided_at <= now else Estado.PROCESSING, None)
            for filed in self._found("tracks", environment, e_ncf)
            if filed.track_id is not None
        ]

    def state(self, environment: str, e_ncf: str, code: str | None) -> Verdict | None:
        """The accepted document of a number, else the last rejected one; nothing where the security code differs.

        Or, among those with the security code that was asked for: then our own rejection is told, and not why.
        """
        now = trio.current_time()
        decided = [filed for filed in self._found("state", environment, e_ncf) if filed.decided_at <= now]
        if code is not None and self.chance(self.weather.by_code):
            decided = [filed for filed in decided if filed.code == code]
        best = next((f for f in decided if f.estado in _ACCEPTED), decided[-1] if decided else None)
        if best is None or (code is not None and best.code != code):
            return None
        return best.verdict(about_state=True)


class Wire:
    """The authority as one process sees it: `fe.authority.client.Authority`, as far as the actors use it."""

    def __init__(self, state: Office, spread: random.Random, caller: Caller, network: trio.Nursery) -> None:
        self._office = state
        self._spread = spread
        self._caller = caller
        self._network = network

    async def submit(
        self, outgoing: Outgoing, credential: object, *, before_send: BeforeSend | None = None
    ) -> Receipt | Verdict:
        host = Host.FC if outgoing.service is Service.SUMMARY_RECEPTION else Host.ECF
        return await self._observed(outgoing.environment, host, lambda: self._submit(outgoing, before_send))

    async def _submit(self, outgoing: Outgoing, before_send: BeforeSend | None) -> Receipt | Verdict:
        state, weather = self._office, self._office.weather
        await self._caller.spend(self._seconds())
        if state.away() or state.chance(weather.unavailable):
            raise Unavailable("cannot connect")
        assert before_send is not None
        last_look = await before_send()
        if state.chance(weather.session_expired):
            await self._caller.spend(self._seconds())
            if state.away() or state.chance(weather.unavailable):
                raise Unavailable("the token service answered with status 503")
            last_look = await before_send()
        await trio.lowlevel.checkpoint_if_cancelled()
        await self._caller.resumed()  # frozen just now, after the intent: it wakes, and its next step is to send
        assert last_look is not None
        last_look()
        self._caller.lets_go(json.loads(outgoing.xml)["about"])
        if state.chance(weather.door_shut):
            await self._caller.spend(self._seconds())
            raise Unavailable("authority answered with status 429")
        return await self._exchange(outgoing)

    async def _exchange(self, outgoing: Outgoing) -> Receipt | Verdict:
        """The bytes go. From here on they travel by themselves."""
        state, weather = self._office, self._office.weather
        journey = _Journey(trio.Event())
        out, back = self._seconds(), self._seconds()
        if state.chance(weather.slow):
            back += self._spread.uniform(1, 30)
        if state.chance(weather.late):
            out += self._spread.uniform(1, 90)
        lost_before, lost_after = state.chance(weather.lost_before), state.chance(weather.lost_after)
        twice = state.chance(weather.delivered_twice)
        other_track = state.chance(weather.other_track)

        async def travel() -> None:
            await trio.sleep(out)
            if lost_before or state.away():
                journey.failed = True
            else:
                journey.answer = state.take_in(outgoing, "duplicate-delivery" if twice else None)
                if twice:
                    journey.answer = state.take_in(outgoing, "duplicate-delivery")
                if other_track:
                    journey.answer = _mixed_up(journey.answer, state)
                await trio.sleep(back)
                journey.failed = lost_after
            journey.over.set()

        self._network.start_soon(travel)
        try:
            with trio.move_on_after(_ANSWER_SECONDS):
                await journey.over.wait()
        finally:
            await self._caller.resumed()
        if journey.failed:
            raise OutcomeUnknown("the connection broke")
        if journey.answer is None or not journey.over.is_set():
            raise OutcomeUnknown(f"no answer within {_ANSWER_SECONDS:g} s")
        if isinstance(journey.answer, AuthorityRefused):
            raise journey.answer.again()
        if isinstance(journey.answer, Verdict) and journey.answer.try_again:
            raise OutcomeUnknown("the authority asks to try again")
        return journey.answer

    async def result(
        self, environment: Environment, track_id: TrackId, credential: object, *, e_ncf: str | None = None
    ) -> Verdict:
        return await self._ask(environment, Host.ECF, lambda: self._office.result(environment, track_id, e_ncf))

    async def track_ids(
        self, environment: Environment, issuer_rnc: str, e_ncf: str, credential: object
    ) -> list[Tracking]:
        return await self._ask(environment, Host.ECF, lambda: self._office.track_ids(environment, e_ncf))

    async def state(
        self,
        environment: Environment,
        issuer_rnc: str,
        e_ncf: str,
        credential: object,
        *,
        buyer_rnc: str | None = None,
        security_code: str | None = None,
    ) -> Verdict | None:
        return await self._ask(environment, Host.ECF, lambda: self._office.state(environment, e_ncf, security_code))

    async def summary_state(
        self, environment: Environment, issuer_rnc: str, e_ncf: str, security_code: str, credential: object
    ) -> Verdict | None:
        return await self._ask(environment, Host.FC, lambda: self._office.state(environment, e_ncf, security_code))

    async def probe(self, environment: Environment, host: Host) -> str | None:
        await self._caller.spend(self._seconds())
        return "cannot connect" if self._office.away() else None

    async def _ask(self, environment: Environment, host: Host, answer: Callable[[], T]) -> T:
        async def ask() -> T:
            await self._caller.spend(self._seconds())
            if self._office.away() or self._office.chance(self._office.weather.unavailable):
                raise Unavailable("authority answered with status 503")
            answered = answer()
            await self._caller.spend(self._seconds())
            return answered

        return await self._observed(environment, host, ask)

    async def _observed(self, environment: Environment, host: Host, call: Callable[[], Awaitable[T]]) -> T:
        with TellingTheOutcome(partial(self._caller.observe, environment, host)):
            return await call()

    def _seconds(self) -> float:
        return self._spread.uniform(0.01, 0.2)


@dataclass
class _Journey:
    """A document under way and the answer to it."""

    over: trio.Event
    answer: Answered | None = None
    failed: bool = False


def _mixed_up(answer: Answered, state: Office) -> Answered:
    """The receipt of another document, if there is another."""
    others = [filed.track_id for filed in state.filed if filed.track_id is not None and filed.sha256 != SOMEBODY_ELSES]
    if not isinstance(answer, Receipt) or others[0] == answer.track_id:
        return answer
    return Receipt(others[0], {"trackId": others[0]})
