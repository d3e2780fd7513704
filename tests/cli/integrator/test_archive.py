"""`fe archive list` and `fe archive pull` against a real front and a real archive."""

import hashlib
import zipfile
from pathlib import Path

import trio

from fe.archive.program import FILE_NAME, build_verifier
from fe.ecf.catalogue import Environment
from fe.objects.storage import FolderStore
from fe.store.postgres.db import Database
from tests.archiving.authority_of_time import time_stamp_authority
from tests.archiving.receipts import finished
from tests.archiving.test_archiving import run_archiver
from tests.cli.running import Fe
from tests.factories.tenants import make_tenant, rows
from tests.http.front import make_key, start_front


async def test_archive_is_listed_and_pulled_once_and_goes_on_where_it_broke(
    db: Database, front_db: Database, worker_db: Database, dsn: str, tmp_path: Path, nursery: trio.Nursery
) -> None:
    tenant, store = await make_tenant(db), FolderStore(tmp_path / "store")
    subjects = [await finished(db, tenant) for _ in range(3)]
    with time_stamp_authority(tmp_path) as stamps:
        await run_archiver(worker_db, store, most=2, stamps=stamps)
    (named,) = await rows(db, "SELECT name FROM tenants")
    key = await make_key(db, tenant, Environment.ECF)
    front = await start_front(nursery, front_db, archive=store)
    fe, home = Fe(tmp_path, dsn), tmp_path / "home"
    asked = {"url": front.base_url, "api_key_id": key.api_key_id, "api_secret": key.secret}

    def there_and_back() -> None:
        assert fe("login", **asked).code == 0
        listed = fe("archive", "list", "--json").json
        assert [(one["number"], one["receipts"]) for one in listed] == [(2, 1), (1, 2)]
        assert listed[0]["previousManifestSha256"] == listed[1]["manifestSha256"]
        # A broken download, and one whose beginning is of other bytes.
        home.mkdir()
        whole = [b"".join(store.stream(name)) for name in sorted(store.sizes(f"{tenant}/ecf/")) if name.endswith("zip")]
        (home / "000001.zip.part").write_bytes(whole[0][:100])
        (home / "000002.zip.part").write_bytes(bytes(100))
        pulled = fe("archive", "pull", str(home), "--json")
        assert (pulled.json["packages"], pulled.json["fetched"]) == (2, 2)
        assert "other bytes" in pulled.err
        assert fe("archive", "pull", str(home), "--json").json["fetched"] == 0
        assert [path.read_bytes() for path in sorted(home.glob("*.zip"))] == whole
        # A file that is not the package of the list is kept: it may be of another environment, or a proof.
        (home / "000001.zip").write_bytes(b"of another chain")
        refused = fe("archive", "pull", str(home))
        assert (refused.code, "000001.zip has another digest" in refused.err) == (1, True)
        assert (home / "000001.zip").read_bytes() == b"of another chain"
        (home / "000001.zip").write_bytes(whole[0])
        assert [line.split()[0] for line in (home / "protocol.txt").read_text().splitlines()[1:]] == [
            "000001.zip",
            "000002.zip",
        ]
        assert (home / FILE_NAME).read_bytes() == build_verifier()
        tokens = [path.read_bytes() for path in sorted(home.glob("*.tst"))]
        assert tokens == [
            b"".join(store.stream(name)) for name in sorted(store.sizes(f"{tenant}/ecf/")) if "tst" in name
        ]
        assert len(tokens) == 2
        to_export = ("archive", "export", "--json", "--tenant", named["name"])
        taken = fe(*to_export, str(tmp_path / "all"), archive=str(tmp_path / "store"))
        counts = [taken.json[name] for name in ("packages", "receipts", "notArchived", "faults")]
        assert counts == [2, 3, 0, []]
        folder = tmp_path / "all"
        assert [path.read_bytes() for path in sorted(folder.glob("ecf/*.zip"))] == whole
        assert [path.read_bytes() for path in sorted(folder.glob("ecf/*.tst"))] == tokens
        protocol = (folder / "PROTOCOLO.txt").read_bytes()
        assert taken.json["protocolSha256"] == hashlib.sha256(protocol).hexdigest()
        assert "Emitidos  31  Aceptado  3  354.00" in protocol.decode()
        # An object of other bytes: nothing is handed over, and the protocol says so.
        damaged = next(path for path in (tmp_path / "store").rglob("*.zip"))
        good = damaged.read_bytes()
        damaged.write_bytes(good[:-1] + b"x")
        broken = fe(*to_export, str(tmp_path / "bad"), archive=str(tmp_path / "store"))
        assert broken.code == 1
        assert "otra huella que la registrada" in broken.out
        assert "FALLAS" in (tmp_path / "bad" / "PROTOCOLO.txt").read_text()
        damaged.write_bytes(good)
        names = "".join(name for path in home.glob("*.zip") for name in zipfile.ZipFile(path).namelist())
        assert all(str(subject) in names for subject in subjects)

    await trio.to_thread.run_sync(there_and_back)
    async with front.client(await front.token(key)) as client:
        part = await client.get("/archive/1/zip", headers={"Range": "bytes=10-19"})
        missing = await client.get("/archive/3/zip")
    assert (part.status_code, part.headers["content-range"].partition("/")[0]) == (206, "bytes 10-19")
    assert part.content == (home / "000001.zip").read_bytes()[10:20]
    assert missing.status_code == 404
    nursery.cancel_scope.cancel()
