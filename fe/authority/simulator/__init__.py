"""The tax authority as a real server, for tests, demonstrations and other people's clients. Not the tax authority.

Everything of docs/reference/authority.md that a client uses, with strict verification, and faults on demand. Started in
a nursery: `addresses = await nursery.start(simulate, SimulatorSettings(...))`.
"""

from fe.authority.simulator.faults import Fault, FaultKind, FaultPlan, Script
from fe.authority.simulator.fields import BadRecord
from fe.authority.simulator.journal import JournalDamaged, JournalInUse
from fe.authority.simulator.operations import Availability, SimulatedOperation
from fe.authority.simulator.serve import simulate
from fe.authority.simulator.settings import (
    Addresses,
    AnswerForm,
    Catalogue,
    CheckLevel,
    PublicBindRefused,
    SimulatorSettings,
)

__all__ = [
    "Addresses",
    "AnswerForm",
    "Availability",
    "BadRecord",
    "Catalogue",
    "CheckLevel",
    "Fault",
    "FaultKind",
    "FaultPlan",
    "JournalDamaged",
    "JournalInUse",
    "PublicBindRefused",
    "Script",
    "SimulatedOperation",
    "SimulatorSettings",
    "simulate",
]
