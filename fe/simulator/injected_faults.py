"""Injected faults as JSON: the bodies of POST /faults, and the list of faults."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from fe.simulator.faults import Fault, FaultKind, FaultPlan, FaultWindow, Script
from fe.simulator.fields import BadRecord, Fields, member
from fe.simulator.operations import SimulatedOperation


def read_order(body: Mapping[str, Any], now: datetime) -> Script | FaultWindow | FaultPlan | None:
    """Read one of three forms; raises BadRecord.

    A script: `{"kind": "reset-after", "operation": "reception", "eNCF": "E31...", "times": 1}`; beside these
    `environment`, `issuer`, `status`, `seconds` and `skip`; `times` 0 lasts until it is deleted.
    A maintenance window: `{"kind": "maintenance", "environment": "testecf", "seconds": 60, "startsIn": 5}`.
    A plan: `{"plan": "mild", "seed": 7}`, `{"plan": {"garbage": 0.1}, "seed": 7, "operations": ["result"]}`, or null.
    """
    fields = Fields(body)
    if "plan" in body:
        return _plan(fields)
    kind = fields.choice("kind", FaultKind)
    if kind is None:
        raise BadRecord(f"kind must be one of {', '.join(FaultKind)}")
    return _window(fields, now) if kind is FaultKind.MAINTENANCE else _script(fields, kind)


def _window(fields: Fields, now: datetime) -> FaultWindow:
    environment = fields.environment("environment")
    start = now + timedelta(seconds=fields.seconds("startsIn") or 0)
    seconds = fields.seconds("seconds")
    fields.done()
    return FaultWindow(environment, start, None if seconds is None else start + timedelta(seconds=seconds))


def _script(fields: Fields, kind: FaultKind) -> Script:
    status = fields.integer("status", default=0)
    if status and not 400 <= status <= 599:
        raise BadRecord("status must be from 400 to 599")
    script = Script(
        Fault(kind, status or None, fields.seconds("seconds")),
        fields.choice("operation", SimulatedOperation),
        fields.environment("environment"),
        fields.text("issuer", default="") or None,
        fields.text("eNCF", default="").upper() or None,
        fields.integer("times", default=1) or None,
        fields.integer("skip", default=0),
    )
    fields.done()
    return script


def _plan(fields: Fields) -> FaultPlan | None:
    plan = fields.take("plan")
    seed = fields.integer("seed", default=0)
    listed = fields.take("operations")
    fields.done()
    operations = None
    if listed is not None:
        if not isinstance(listed, list):
            raise BadRecord("operations must be a list")
        operations = frozenset(member(SimulatedOperation, operation, "operations") for operation in listed)
    if plan is None:
        return None
    try:
        if isinstance(plan, str):
            return FaultPlan(seed, FaultPlan.named(plan, seed).probabilities, operations)
        if isinstance(plan, dict):
            return FaultPlan(seed, dict(map(_chance, plan.items())), operations)
    except ValueError as wrong:
        raise BadRecord(str(wrong)) from None
    raise BadRecord("plan must be a preset's name, an object of kinds with their probabilities, or null")


def _chance(entry: tuple[str, Any]) -> tuple[FaultKind, float]:
    kind, chance = entry
    if not isinstance(chance, int | Decimal):
        raise BadRecord(f"the probability of {kind} must be a number")
    return member(FaultKind, kind, "plan"), float(chance)


def show_script(script: Script) -> dict[str, Any]:
    """A script as JSON, under the names it was ordered with."""
    fields = {
        "id": script.number,
        "kind": script.fault.kind,
        "status": script.fault.status,
        "seconds": script.fault.seconds,
        "operation": script.operation,
        "environment": script.environment,
        "issuer": script.issuer,
        "eNCF": script.e_ncf,
        "times": script.times or 0,
        "skip": script.skip,
    }
    return {name: value for name, value in fields.items() if value is not None}


def show_window(window: FaultWindow) -> dict[str, Any]:
    """A maintenance window as JSON."""
    return {
        "environment": window.environment,
        "start": window.start.isoformat(),
        "end": window.end and window.end.isoformat(),
    }


def show_plan(plan: FaultPlan) -> dict[str, Any]:
    """A plan as JSON; it can be ordered again from this."""
    fields: dict[str, Any] = {"plan": dict(plan.probabilities), "seed": plan.seed}
    if plan.operations is not None:
        fields["operations"] = sorted(plan.operations)
    return fields
