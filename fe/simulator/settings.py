"""How a simulator is set up."""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from fe.simulator.faults import FaultPlan
from fe.simulator.operations import Availability


class CheckLevel(StrEnum):
    """How closely a document is read. Levels below FULL are for load tests of other programs."""

    FULL = "full"
    #: The signature and the rules that need the register, but neither schema nor arithmetic.
    SIGNATURE = "signature"
    #: Only well-formed XML, names and numbers; the seed's signature is verified all the same.
    NONE = "none"


class AnswerForm(StrEnum):
    """Which form answers have where the document and live traffic differ (authority.md#reception to #queries)."""

    LIVE = "live"
    DOCUMENTED = "documented"


class Catalogue(StrEnum):
    """Source of the message codes in verdicts (authority.md#messages)."""

    #: The table that our service's interface promises its clients.
    INTERFACE = "interface"
    #: The codes that have been seen in live traffic.
    LIVE = "live"


class PublicBindRefused(ValueError):
    """The simulator was told to listen beyond this machine without being told that this is meant."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} can be reached from other machines and this is not the tax authority: "
            "give a loopback address, or say --public-bind"
        )
        self.host = host


def _clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorSettings:
    """Settings of a simulator. Port 0 asks the system for a free one.

    Permissive by default: it takes any issuer, any number and any certificate in its validity. Registries from `world`
    (a JSON file, see `registry.py`) or the management port are enforced from then on.
    """

    host: str = "127.0.0.1"
    port: int = 0
    #: A port of their own for the services of the `fc` and `statusecf` hosts, which then answer nowhere else; without
    #: it the first port serves them too.
    summary_port: int | None = None
    status_port: int | None = None
    #: Always on 127.0.0.1.
    management_port: int = 0
    public_bind: bool = False

    #: How long a document stays `En Proceso`.
    verdict_delay: timedelta = timedelta(milliseconds=200)
    #: How long after its verdict a document counts in the certification environment.
    certification_lag: timedelta = timedelta(minutes=2)
    check: CheckLevel = CheckLevel.FULL
    answers: AnswerForm = AnswerForm.LIVE
    catalogue: Catalogue = Catalogue.INTERFACE
    availability: Availability = Availability.V1_7
    #: Whether notes and approvals may refer only to documents that were accepted here. Without it an unknown
    #: reference passes, since most documents a test refers to were never sent; a known one must have been accepted.
    require_references: bool = False

    #: The file that state is kept in (created when missing); None keeps it in memory.
    journal: Path | None = None
    #: Whether each journal record is forced to disk. Without it records survive the death of the process only.
    fsync: bool = False
    world: Path | None = None
    faults: FaultPlan | None = None

    #: Required key in `Authorization: Apikey ...` at the status services; None takes any key.
    status_key: str | None = None
    seed_life: timedelta = timedelta(minutes=5)
    token_life: timedelta = timedelta(hours=1)
    now: Callable[[], datetime] = _clock

    def __post_init__(self) -> None:
        if not self.public_bind and not is_loopback(self.host):
            raise PublicBindRefused(self.host)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`. A name other than `localhost` is not trusted to stay here."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a started simulator listens: base URLs without a trailing slash."""

    ecf: str
    fc: str
    status: str
    management: str
