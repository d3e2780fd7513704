"""`fe archive key`, `check`, `detach` and `restore`."""

from base64 import b64decode

from fe.archive.keys import MemoryKey
from tests.cli.running import Fe


def test_archive_key_is_made_and_archive_is_checked(fe: Fe, tenant: str) -> None:
    assert MemoryKey.from_der(b64decode(fe("archive", "key").out)).public_der
    assert "FE_ARCHIVE is not set" in fe.refused("archive", "check", "--tenant", tenant)
    found = fe("archive", "check", "--tenant", tenant, "--read", "--json", archive=str(fe.folder / "archive")).json
    assert found == [{"environment": one, "missing": 0, "faults": []} for one in ("ecf", "certecf", "testecf")]
    archive = str(fe.folder / "archive")
    left = fe("archive", "detach", "2025-01", "--yes", "--json", archive=archive).json
    assert left == {"month": "2025-01", "receipts": 0} | dict.fromkeys(
        ("verified", "documentsReleased", "documentsKept")
    )
    back = fe("archive", "restore", "2025-01", "--json", archive=archive).json
    assert back == {"month": "2025-01", "restored": 0, "faults": []}
    kept = fe("audit", "export").out
    assert "archive restore" in kept
    assert "2025-01" in kept
