"""The simulator: a program of its own that stands in for the tax authority. It is not the tax authority.

A real server for tests, demonstrations and other clients: all of docs/reference/authority.md that a client uses, with
strict verification, and faults on demand. `fe authority simulate` starts it, `fe demo` through that command, and tests
in a nursery (`addresses = await nursery.start(simulate, SimulatorSettings(...))`); the service never does.
`payment_processor` is a server apart that stands in for the payment processor (`fe billing simulate-processor`).
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
