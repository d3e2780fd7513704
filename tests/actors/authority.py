"""An authority that answers as it was told to, and remembers what it was asked. The real one is met in system tests."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import trio

from fe.actors.credentials import Opened
from fe.authority.client import Authority, BeforeSend, Message, Outgoing, Receipt, Tracking, Verdict
from fe.authority.estado import Estado
from fe.identifiers import TrackId
from tests.factories.tenants import SECURITY_CODE


@dataclass(frozen=True)
class Unsent:
    """An answer that comes before the document was announced: nothing was sent."""

    error: Exception


@dataclass
class ScriptedAuthority:
    """Answers in turn; the last answer of a service is given again and again.

    An answer is a value, an error to raise, or something to await for either.
    """

    submits: list[Any] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    tracks: Any = field(default_factory=list)
    states: list[Any] = field(default_factory=lambda: [None])
    summary_states: list[Any] = field(default_factory=lambda: [None])
    #: The clock of the lease guard.
    now: float = 0.0
    #: Comes between the intent and the first byte.
    between: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint
    sent: list[Outgoing] = field(default_factory=list)
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    #: The certificates by whose sessions it was asked.
    sessions: list[str] = field(default_factory=list)

    async def submit(self, outgoing: Outgoing, credential: Opened, *, before_send: BeforeSend | None = None) -> Any:
        answer = self._next(self.submits)
        if isinstance(answer, Unsent):
            raise answer.error
        assert before_send is not None
        last_look = await before_send()
        await self.between()
        assert last_look is not None
        last_look()
        self.sessions.append(credential.id)
        self.sent.append(outgoing)
        return await self._give(answer)

    async def result(self, environment: str, track_id: TrackId, credential: Opened, *, e_ncf: str | None = None) -> Any:
        self.sessions.append(credential.id)
        self.asked.append(("result", environment, track_id, e_ncf))
        return await self._give(self.results[track_id])

    async def track_ids(self, environment: str, issuer: str, e_ncf: str, credential: Opened) -> Any:
        self.sessions.append(credential.id)
        self.asked.append(("track_ids", environment, issuer, e_ncf))
        return await self._give(self.tracks)

    async def state(
        self,
        environment: str,
        issuer: str,
        e_ncf: str,
        credential: Opened,
        *,
        buyer_rnc: str | None = None,
        security_code: str | None = None,
    ) -> Any:
        self.sessions.append(credential.id)
        self.asked.append(("state", environment, issuer, e_ncf, buyer_rnc, security_code))
        return await self._give(self._next(self.states))

    async def summary_state(
        self, environment: str, issuer: str, e_ncf: str, security_code: str, credential: Opened
    ) -> Any:
        self.sessions.append(credential.id)
        self.asked.append(("summary_state", environment, issuer, e_ncf, security_code))
        return await self._give(self._next(self.summary_states))

    def services_asked(self) -> list[str]:
        return [call[0] for call in self.asked]

    @staticmethod
    def _next(answers: list[Any]) -> Any:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    @staticmethod
    async def _give(answer: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return await answer() if callable(answer) else answer


def as_authority(scripted: ScriptedAuthority) -> Authority:
    """The same object, as the actors' annotations want it."""
    return scripted  # type: ignore[return-value]  # it has the methods that actors use


def receipt(track_id: TrackId = TrackId("track-1")) -> Receipt:
    return Receipt(track_id, {"trackId": track_id, "error": None, "mensaje": None})


def verdict(
    estado: Estado,
    *codes: str,
    track_id: TrackId | None = TrackId("track-1"),
    used: bool | None = True,
    text: str = "",
    **raw: object,
) -> Verdict:
    """Return a verdict about a document; `codes` of its messages, `text` in each."""
    messages = tuple(Message(code, text) for code in codes)
    said = {"estado": estado.value, "mensajes": [{"codigo": code, "valor": text} for code in codes], **raw}
    return Verdict(estado, messages, track_id, "E310000000001", used, None, said)


def state_of(estado: Estado, code: str | None = SECURITY_CODE) -> Verdict:
    """The answer of the state service, which names the security code of the document it knows."""
    return verdict(estado, track_id=None, codigoSeguridad=code)


def tracked(track_id: TrackId, estado: Estado | None) -> Tracking:
    return Tracking(track_id, estado, None)


ACCEPTED = verdict(Estado.ACCEPTED, "0")
DUPLICATE = verdict(Estado.REJECTED, "1209", text="secuencia ya utilizada")
TRY_AGAIN = verdict(
    Estado.REJECTED, "004", used=False, text="Ha ocurrido un error validando en eCF, favor intentar nueva vez."
)
