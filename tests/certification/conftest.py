"""Fixtures of the tests of certifications."""

import pytest

from fe.offload.pool import Apart
from tests.http.test_imports import here


@pytest.fixture
def pool_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do in this process what a process of the pool would do."""
    monkeypatch.setattr(Apart, "run", here)
