"""Everything the authority has received, by environment, issuer and number; and the numbers that were voided."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fe.authority.estado import ESTADO_BY_CODE, Estado
from fe.ecf.catalogue import EcfType, Environment
from fe.simulator.examine import DocumentFacts
from fe.simulator.operations import SimulatedOperation

CODE_BY_ESTADO = {estado: code for code, estado in ESTADO_BY_CODE.items()}


@dataclass(frozen=True, slots=True)
class LedgerMessage:
    """One message of a verdict."""

    codigo: int
    valor: str


@dataclass(frozen=True, slots=True)
class LedgerVerdict:
    """The authority's decision on a document. `number_used` is its `secuenciaUtilizada`."""

    estado: Estado
    messages: tuple[LedgerMessage, ...]
    number_used: bool

    @property
    def accepted(self) -> bool:
        """Whether the document is valid, with or without remarks."""
        return self.estado in (Estado.ACCEPTED, Estado.CONDITIONAL)

    @property
    def code(self) -> int:
        """The number that goes with `estado`."""
        return CODE_BY_ESTADO[self.estado]

    def to_record(self) -> dict[str, Any]:
        """For the journal and the management port."""
        return {
            "codigo": self.code,
            "estado": self.estado.value,
            "mensajes": [{"codigo": message.codigo, "valor": message.valor} for message in self.messages],
            "secuenciaUtilizada": self.number_used,
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "LedgerVerdict":
        """The inverse of `to_record`."""
        return cls(
            Estado(record["estado"]),
            tuple(LedgerMessage(message["codigo"], message["valor"]) for message in record["mensajes"]),
            record["secuenciaUtilizada"],
        )


@dataclass(frozen=True, slots=True)
class Filed:
    """A document the authority took in, with the verdict it reached. Summaries have no trackId."""

    operation: SimulatedOperation
    environment: Environment
    issuer: str
    e_ncf: str
    track_id: str | None
    sha256: str
    received_at: datetime
    facts: DocumentFacts
    verdict: LedgerVerdict
    #: Until then it is `En Proceso`; None is for ever.
    decided_at: datetime | None
    #: Queries do not find it before then.
    hidden_until: datetime | None = None

    def hidden(self, now: datetime) -> bool:
        """Whether the authority denies knowing it."""
        return self.hidden_until is not None and now < self.hidden_until

    def decided(self, now: datetime) -> bool:
        """Whether the verdict can be seen."""
        return self.decided_at is not None and self.decided_at <= now

    def to_record(self) -> dict[str, Any]:
        """The part of a journal record from which it is read again."""
        return {
            "operation": self.operation.value,
            "environment": self.environment.value,
            "issuer": self.issuer,
            "eNCF": self.e_ncf,
            "trackId": self.track_id,
            "sha256": self.sha256,
            "receivedAt": self.received_at.isoformat(),
            "verdict": self.verdict.to_record(),
            "decidedAt": self.decided_at and self.decided_at.isoformat(),
            "hiddenUntil": self.hidden_until and self.hidden_until.isoformat(),
            "document": self.facts.to_record(),
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Filed":
        """The inverse of `to_record`."""
        return cls(
            SimulatedOperation(record["operation"]),
            Environment(record["environment"]),
            record["issuer"],
            record["eNCF"],
            record["trackId"],
            record["sha256"],
            datetime.fromisoformat(record["receivedAt"]),
            DocumentFacts.from_record(record["document"]),
            LedgerVerdict.from_record(record["verdict"]),
            _moment(record["decidedAt"]),
            _moment(record["hiddenUntil"]),
        )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


@dataclass(frozen=True, slots=True)
class Voided:
    """A range of numbers that can no longer be used, both ends included."""

    environment: Environment
    issuer: str
    type: EcfType
    first: int
    last: int

    def to_record(self) -> dict[str, Any]:
        """For the list `voided` of a journal record."""
        return {"type": self.type.value, "from": self.first, "to": self.last}

    @classmethod
    def from_record(cls, record: dict[str, Any], voided: dict[str, Any]) -> "Voided":
        """The inverse of `to_record`; `record` is the journal record around it."""
        return cls(
            Environment(record["environment"]),
            record["issuer"],
            EcfType(voided["type"]),
            voided["from"],
            voided["to"],
        )


@dataclass(frozen=True, slots=True)
class FiledApproval:
    """A commercial approval that was answered."""

    environment: Environment
    issuer: str
    buyer: str
    e_ncf: str
    is_accepted: bool
    received_at: datetime

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "FiledApproval":
        """Read it from its journal record; what is missing in a refused one is empty."""
        return cls(
            Environment(record["environment"]),
            record.get("issuer") or "",
            record.get("buyer") or "",
            record.get("eNCF") or "",
            record["verdict"]["codigo"] == 1,
            datetime.fromisoformat(record["at"]),
        )


class Ledger:
    """Documents and approvals received, and ranges voided. Write the journal before adding."""

    def __init__(self) -> None:
        self.approvals: list[FiledApproval] = []
        #: Full invoices below the threshold that were uploaded by hand: issuer and number, and when.
        self.uploads: dict[tuple[str, str], datetime] = {}
        self._filed: dict[tuple[Environment, str, str], list[Filed]] = {}
        self._tracks: dict[str, Filed] = {}
        self._voided: dict[tuple[Environment, str, EcfType], list[Voided]] = {}

    def file(self, filed: Filed) -> None:
        """Add a document."""
        self._filed.setdefault((filed.environment, filed.issuer, filed.e_ncf), []).append(filed)
        if filed.track_id is not None:
            self._tracks[filed.track_id] = filed

    def void(self, voided: Voided) -> None:
        """Take numbers out of use."""
        self._voided.setdefault((voided.environment, voided.issuer, voided.type), []).append(voided)

    def is_void(self, environment: Environment, issuer: str, kind: EcfType, number: int) -> bool:
        """Whether a number was voided."""
        return any(v.first <= number <= v.last for v in self._voided.get((environment, issuer, kind), ()))

    def of_number(self, environment: Environment, issuer: str, e_ncf: str) -> list[Filed]:
        """All documents received under a number, oldest first."""
        return self._filed.get((environment, issuer, e_ncf), [])

    def is_used(self, environment: Environment, issuer: str, e_ncf: str) -> bool:
        """Whether a document has consumed the number."""
        return any(filed.verdict.number_used for filed in self.of_number(environment, issuer, e_ncf))

    def used_within(self, voided: Voided) -> Iterator[str]:
        """The numbers of a range under which something was received that consumed them."""
        prefix = voided.type.prefix
        if voided.last - voided.first < len(self._filed):
            numbers: Iterable[str] = (f"{prefix}{n:010d}" for n in range(voided.first, voided.last + 1))
        else:
            first, last = f"{prefix}{voided.first:010d}", f"{prefix}{voided.last:010d}"
            numbers = sorted(
                e_ncf
                for environment, issuer, e_ncf in self._filed
                if (environment, issuer) == (voided.environment, voided.issuer) and first <= e_ncf <= last
            )
        return (e_ncf for e_ncf in numbers if self.is_used(voided.environment, voided.issuer, e_ncf))

    def accepted(self, environment: Environment, issuer: str, e_ncf: str) -> Filed | None:
        """The document accepted under a number."""
        return next((filed for filed in self.of_number(environment, issuer, e_ncf) if filed.verdict.accepted), None)

    def track(self, environment: Environment, track_id: str) -> Filed | None:
        """The document of a trackId, if it is of this environment."""
        filed = self._tracks.get(track_id.lower())
        return filed if filed is not None and filed.environment is environment else None

    def another(self, than: Filed) -> Filed | None:
        """The latest document under another number of the same environment."""
        for filed in reversed(self._tracks.values()):
            if filed.environment is than.environment and filed.e_ncf != than.e_ncf:
                return filed
        return None

    def __iter__(self) -> Iterator[Filed]:
        for documents in self._filed.values():
            yield from documents
