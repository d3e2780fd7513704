"""Reading the journal of a run."""

from datetime import UTC, datetime
from pathlib import Path

from fe.simulator.settings import SimulatorSettings
from fe.simulator.state import AuthorityState
from tests.faults.history import read_arrivals

_DOCUMENT = {
    "kind": "document", "at": datetime(2026, 11, 22, tzinfo=UTC).isoformat(), "operation": "reception",
    "environment": "ecf", "issuer": "131880738", "eNCF": "E310000000001", "fileName": "a.xml", "sha256": "00",
    "effect": True, "verdict": None, "refused": None, "fault": None, "receivedAt": None, "notKnownAt": None,
}  # fmt: skip


def test_each_process_of_the_authority_counts_as_a_new_life(tmp_path: Path) -> None:
    """Between two of them it has forgotten what it was asked: nothing can be concluded from its not knowing."""
    journal = tmp_path / "journal.jsonl"
    for _ in range(2):
        state = AuthorityState(SimulatorSettings(journal=journal))
        state.journal.append(dict(_DOCUMENT))
        state.close()

    assert [arrival.life for arrival in read_arrivals(journal)] == [1, 2]
