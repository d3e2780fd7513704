"""The engine is tried with the rights of the actors, and what it logs is caught."""

import pytest

from fe.queue.fair_claims import InFlight
from tests.actors.conftest import db, logs

__all__ = ["db", "logs"]


@pytest.fixture
def never_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes have their slots as if tries of theirs had just ended."""
    monkeypatch.setattr(InFlight, "is_stalled", lambda _, lane: False)
