"""The simulated authority's parts, put together, and what one call to it carries."""

import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import trio

from fe.ecf.catalogue import Environment
from fe.requested_outcome import Simulation
from fe.simulator.exchange import RawRequest
from fe.simulator.faults import Fault, FaultKind, Faults
from fe.simulator.journal import Journal, open_journal
from fe.simulator.ledger import Filed, FiledApproval, Ledger, Voided
from fe.simulator.multipart import Part
from fe.simulator.operations import ServiceRoute, SimulatedOperation
from fe.simulator.recorder import RecordedDelivery
from fe.simulator.registry import KINDS, Registry, load_world
from fe.simulator.sessions import Bearer, SeedSessions
from fe.simulator.settings import SimulatorSettings
from fe.simulator.supplier import Supplier

#: Verification runs in threads of its own: more than the cores of a small machine only add switching.
_VERIFIERS = 2


#: A number: its environment, its issuer, and the eNCF.
Number = tuple[Environment, str, str]


class AuthorityState:
    """All state of one simulator. Lasting state goes through the journal and is read back from it."""

    def __init__(self, settings: SimulatorSettings) -> None:
        self.settings = settings
        self.registry = Registry()
        self.ledger = Ledger()
        self.faults = Faults(settings.faults)
        self.requests: Counter[tuple[SimulatedOperation, str]] = Counter()
        #: When a number of an issuer was last asked about, since this process began.
        self.asked_at: dict[Number, datetime] = {}
        #: When a question about it was last answered "not found" or "try again", so that its sender may send again.
        self.not_known_at: dict[Number, datetime] = {}
        self.supplier = Supplier(self.now)
        #: Deliveries to the simulated counterparty since this process began.
        self.deliveries: list[RecordedDelivery] = []
        self.verifiers = trio.CapacityLimiter(_VERIFIERS)
        self.started_at = settings.now()
        self.journal: Journal = open_journal(settings.journal, fsync=settings.fsync)
        try:
            self._load_world()
            self._secret = self._replay()
        except BaseException:
            self.journal.close()
            raise
        self.sessions = SeedSessions(self._secret, seed_life=settings.seed_life, token_life=settings.token_life)

    def now(self) -> datetime:
        """The authority's clock."""
        return self.settings.now()

    def close(self) -> None:
        """Let go of the journal."""
        self.journal.close()

    def register(self, kind: str, record: Mapping[str, Any]) -> None:
        """Take something into the register for good; raises BadRecord."""
        self.registry.apply(kind, record)
        self.journal.append({"kind": kind, "at": self.now().isoformat(), "record": dict(record)})

    def reset(self) -> None:
        """Forget documents, register and faults; tokens stay good. The world file is read again."""
        self.ledger = Ledger()
        self.registry = Registry()
        self.faults.clear()
        self.faults.applied.clear()
        self.requests.clear()
        self.asked_at.clear()
        self.not_known_at.clear()
        self.deliveries.clear()
        self.journal.clear()
        self._open(self._secret)
        self._load_world()

    def _load_world(self) -> None:
        if self.settings.world is not None:
            load_world(self.settings.world, self.registry)

    def _replay(self) -> bytes:
        """Bring back what the journal holds, and return the secret behind the tokens.

        Each process says in the journal that it opened it: what it is asked, unlike what it is given, it forgets.
        """
        secret = None
        for record in self.journal.records():
            match record["kind"]:
                case "opened":
                    secret = bytes.fromhex(record["secret"])
                case "document":
                    if record.get("document") is not None:
                        self.ledger.file(Filed.from_record(record))
                    elif record["operation"] == SimulatedOperation.COMMERCIAL_APPROVAL and record.get("verdict"):
                        self.ledger.approvals.append(FiledApproval.from_record(record))
                    for voided in record.get("voided", ()):
                        self.ledger.void(Voided.from_record(record, voided))
                case "upload":
                    self.ledger.uploads[record["issuer"], record["eNCF"]] = datetime.fromisoformat(record["at"])
                case kind if kind in KINDS:
                    self.registry.apply(kind, record["record"])
        secret = secrets.token_bytes(32) if secret is None else secret
        self._open(secret)
        return secret

    def _open(self, secret: bytes) -> None:
        self.journal.append({"kind": "opened", "at": self.now().isoformat(), "secret": secret.hex()})


@dataclass(slots=True)
class AuthorityCall:
    """One request that found its route, on its way through the authority."""

    request: RawRequest
    route: ServiceRoute
    #: Only the status services have none; their handlers do not ask.
    environment: Environment
    now: datetime
    #: The document part, or what is wrong with it, for operations that carry one.
    part: Part | str | None = None
    session: Bearer | None = None
    fault: Fault | None = None
    #: The number that a question is about.
    about: Number | None = None
    #: Outcome that the sender requests for its document.
    asked: Simulation | None = None
    #: Further fields for the journal.
    note: dict[str, Any] = field(default_factory=dict)

    @property
    def operation(self) -> SimulatedOperation:
        """The requested operation."""
        return self.route.operation

    def suffers(self, kind: FaultKind) -> bool:
        """Whether this call meets a fault of `kind`."""
        return self.fault is not None and self.fault.kind is kind

    def query(self, name: str) -> str:
        """A parameter without blanks around it; empty when it is missing."""
        return self.request.query.get(name, "").strip()
