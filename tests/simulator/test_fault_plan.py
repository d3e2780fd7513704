"""The plan of chances is decided by its seed alone."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from fe.ecf.catalogue import Environment
from fe.simulator import Fault, FaultKind, FaultPlan, SimulatedOperation
from fe.simulator.faults import Faults, Occasion, applies

NOW = datetime(2026, 11, 6, tzinfo=UTC)


def occasions(count: int, operation: SimulatedOperation = SimulatedOperation.RECEPTION) -> list[Occasion]:
    return [Occasion(operation, Environment.TESTECF, "131880738", f"E31{n:010d}") for n in range(count)]


def run(plan: FaultPlan, calls: list[Occasion]) -> dict[str, list[Fault | None]]:
    faults = Faults(plan)
    met: dict[str, list[Fault | None]] = {}
    for occasion in calls:
        met.setdefault(occasion.e_ncf, []).append(faults.choose(occasion, NOW))
    return met


def test_faults_of_a_document_do_not_depend_on_other_calls() -> None:
    one_after_the_other = [occasion for occasion in occasions(200) for _ in range(3)]
    interleaved = [occasion for _ in range(3) for occasion in reversed(occasions(200))]

    first, second = run(FaultPlan.mild(7), one_after_the_other), run(FaultPlan.mild(7), interleaved)

    assert first == second
    assert first != run(FaultPlan.mild(8), one_after_the_other)


def test_a_mild_plan_keeps_its_promised_shares() -> None:
    met = run(FaultPlan.mild(1), occasions(20_000))

    counts = Counter(fault.kind for (fault,) in met.values() if fault)
    shares = {kind: round(100 * count / 20_000) for kind, count in counts.items()}
    assert shares == {
        FaultKind.UNAVAILABLE: 5,
        FaultKind.RESET_AFTER: 2,
        FaultKind.DUPLICATE_REPLY: 2,
        FaultKind.GARBAGE: 1,
    }


def test_a_wild_plan_has_every_kind_and_nothing_for_ever() -> None:
    met = run(FaultPlan.wild(1), occasions(3_000))

    faults = [fault for (fault,) in met.values() if fault]
    assert {fault.kind for fault in faults} == {
        kind for kind in FaultKind if applies(kind, SimulatedOperation.RECEPTION)
    } - {FaultKind.MAINTENANCE}
    assert all(fault.seconds for fault in faults if fault.kind in (FaultKind.STUCK, FaultKind.NOT_FOUND))


def test_a_kind_that_means_nothing_to_an_operation_does_not_happen() -> None:
    plan = FaultPlan(1, {FaultKind.STUCK: 1.0})

    assert run(plan, occasions(5, SimulatedOperation.SEED)) == {f"E31{n:010d}": [None] for n in range(5)}


def test_unknown_preset_is_reported() -> None:
    with pytest.raises(ValueError, match="mild, wild"):
        FaultPlan.named("wicked", 1)
