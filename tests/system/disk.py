"""A small disk that can really be full: a file system in memory with one table of the database on it."""

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.store.race import plain

_SIZE = "1m"


@dataclass(frozen=True)
class Disk:
    """A mounted file system."""

    folder: Path

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"

    def fill(self) -> None:
        """Leave no byte free."""
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 4096)
            except OSError:
                return

    def clear(self) -> None:
        """Make room again."""
        self._ballast.unlink()


@contextmanager
def small_disk(dsn: str, *tables: str) -> Iterator[Disk]:
    """Move tables to a disk of a megabyte while the block runs. Skips where none can be mounted."""
    if os.geteuid() != 0:
        pytest.skip("NOT PROVED HERE: a full disk takes root, who may mount a small one")
    folder = Path(tempfile.mkdtemp(prefix="fe-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"NOT PROVED HERE: a full disk takes a small one, and none can be mounted ({mounted.stderr})")
    space = sql.Identifier(f"small_{secrets.token_hex(4)}")
    try:
        with plain(dsn) as conn:
            row = conn.execute("SHOW data_directory").fetchone()
            assert row is not None
            inside = folder / "tables"
            inside.mkdir()
            owner = Path(row[0]).stat()
            os.chown(inside, owner.st_uid, owner.st_gid)
            folder.chmod(0o755)
            conn.execute(sql.SQL("CREATE TABLESPACE {} LOCATION {}").format(space, sql.Literal(str(inside))))
            for table in tables:
                conn.execute(sql.SQL("ALTER TABLE {} SET TABLESPACE {}").format(sql.Identifier(table), space))
        yield Disk(folder)
        with plain(dsn) as conn:
            for table in tables:
                conn.execute(sql.SQL("ALTER TABLE {} SET TABLESPACE pg_default").format(sql.Identifier(table)))
        with plain(make_conninfo(dsn, dbname="postgres")) as conn:
            conn.execute("CHECKPOINT")  # files of what was moved go with it
            conn.execute(sql.SQL("DROP TABLESPACE {}").format(space))
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
