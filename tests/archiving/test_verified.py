"""A package of receipts that went the whole road satisfies the verifier, which knows nothing of the service."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fe.archive.keys import MemoryKey, key_id
from fe.archive.verifier.main import main as verify_archive
from fe.archiving.certificates import Chains
from fe.archiving.packing import Archive, ArchiveDay
from fe.ecf.catalogue import Environment
from fe.monitoring.metrics import Metrics
from fe.objects.storage import FolderStore
from fe.offload.pool import Apart
from fe.store.records.archive import PackageChain
from tests.system.stack import running_stack
from tests.system.test_road import consumer_invoice, invoice


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a whole service is cancelled
async def test_package_of_receipts_from_the_authority_holds_for_the_verifier(
    dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, key = tmp_path / "archive", MemoryKey.generate()
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    async with running_stack(dsn, tmp_path) as stack:
        for receipt in (invoice(1), invoice(2), consumer_invoice(1)):
            taken = await stack.submit(receipt)
            assert (await stack.until_final(taken["taxLogId"]))["status"] == "Aceptado"
        packers = Apart(1, Metrics(), share=1.0)
        work = Archive(stack.db, FolderStore(folder), key, lambda: tomorrow, Chains(()), most=100, apart=packers)
        chain = PackageChain(stack.tenant.tenant_id, Environment.TESTECF)
        async with packers.running():
            package = await work.advance(chain, ArchiveDay.at(tomorrow))
            assert packers.alive == 1

    capsys.readouterr()
    assert package is not None
    found = verify_archive(
        [
            "--json",
            "--key",
            key_id(key.public_der),
            "--tenant",
            str(chain.tenant_id),
            str(folder / str(chain.tenant_id) / "testecf"),
        ]
    )
    (said,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (found, said["faults"]) == (0, [])
    assert said["receipts"] == 3
