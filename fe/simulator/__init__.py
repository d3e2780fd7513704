"""The tax authority as a real server, for tests, demonstrations and other people's clients. Not the tax authority.

Everything of docs/reference/authority.md that a client uses, with strict verification, and faults on demand. Started in
a nursery: `addresses = await nursery.start(simulate, SimulatorSettings(...))`.
"""

from fe.simulator.faults import Fault, FaultKind, FaultPlan, Script
from fe.simulator.fields import BadRecord
from fe.simulator.journal import JournalDamaged, JournalInUse
from fe.simulator.operations import Availability, SimulatedOperation
from fe.simulator.serve import simulate
from fe.simulator.settings import (
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
