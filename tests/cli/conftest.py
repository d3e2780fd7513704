from pathlib import Path

import pytest

from tests.cli.running import Fe


@pytest.fixture
def fe(tmp_path: Path, dsn: str) -> Fe:
    """The `fe` command with an empty, migrated database."""
    return Fe(tmp_path, dsn)


@pytest.fixture
def tenant(fe: Fe) -> str:
    """The name of a tenant that exists."""
    made = fe(
        *("tenant", "create", "Ozama", "--rnc", "131880738"),
        *("--legal-name", "Cafe Ozama SRL", "--address", "Calle El Conde 1"),
    )
    assert made.code == 0, made
    return "Ozama"
