"""The store in a folder: what it says is stored survives a power failure."""

import os
from pathlib import Path

import pytest

from fe.objects.storage import FolderStore


def test_object_in_new_folders_is_synced_with_every_folder_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, sync = tmp_path / "source", os.fsync
    source.write_bytes(b"package")
    synced: list[str] = []

    def noted(opened: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{opened}"))
        sync(opened)

    monkeypatch.setattr(os, "fsync", noted)
    store = FolderStore(tmp_path / "new" / "archive")
    assert store.create("7/ecf/package.zip", source)
    root = tmp_path / "new" / "archive"
    above = [str(one) for one in (root / "7" / "ecf", root / "7", root, tmp_path / "new", tmp_path)]
    assert synced[1:] == above

    # Its name is taken, perhaps by a process that was killed before it synced.
    synced.clear()
    assert not store.create("7/ecf/package.zip", source)
    assert synced == above[:3]
    store.replace("7/ecf/package.zip", source)
    assert [one.name for one in (root / "7" / "ecf").iterdir()] == ["package.zip"]
