"""Objects by name: the interface of a store, its errors, and a store in a folder."""

import os
import secrets
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Protocol

#: Bytes that are read at once.
CHUNK = 1024 * 1024


class StorageFault(StrEnum):
    """Why a store did not do what it was asked for; the label of a metric."""

    UNAVAILABLE = "unavailable"
    DENIED = "denied"
    MISSING = "missing"
    DIFFERS = "differs"


class StorageError(Exception):
    """A store failed; the message is one line and shows no secret."""

    def __init__(self, fault: StorageFault, message: str) -> None:
        super().__init__(f"{fault}: {' '.join(message.split())[:300]}")
        self.fault = fault


class ObjectStore(Protocol):
    """Stores objects under names such as `7/ecf/package.zip`. Every method raises StorageError."""

    def create(self, name: str, source: Path) -> bool:
        """Store a file, whole or not at all; False when the name is taken, where the store can tell."""

    def replace(self, name: str, source: Path) -> None:
        """Store a file in the place of any object of that name."""

    def stream(self, name: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Read an object from byte `start`, up to byte `end`."""

    def size(self, name: str) -> int | None:
        """Return the bytes of an object, or None when there is none."""

    def sizes(self, prefix: str) -> dict[str, int]:
        """List the objects whose names begin with `prefix`, a folder ending in `/`."""


class FolderStore:
    """Objects as files below a folder. A file appears whole, after it is on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, name: str, source: Path) -> bool:
        """Link the written file to its name, which fails where the name is taken."""
        return self._write(name, source, replaces=False)

    def replace(self, name: str, source: Path) -> None:
        """Rename the written file to its name."""
        self._write(name, source, replaces=True)

    def _write(self, name: str, source: Path, *, replaces: bool) -> bool:
        target = self._path(name)
        try:
            top = self._folder
            while not top.exists():
                top = top.parent
            target.parent.mkdir(parents=True, exist_ok=True)
            is_new = _place(source, target, replaces=replaces)
            # Also where nothing is new: the process that made the file or its folders may have ended before this.
            folder = target.parent
            _sync(folder)
            while folder != top:
                folder = folder.parent
                _sync(folder)
        except OSError as error:
            raise _of_file(error) from error
        return is_new

    def stream(self, name: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Read the file."""
        left = None if end is None else end - start
        try:
            with self._path(name).open("rb") as file:
                file.seek(start)
                while chunk := file.read(CHUNK if left is None else min(CHUNK, left)):
                    left = None if left is None else left - len(chunk)
                    yield chunk
        except OSError as error:
            raise _of_file(error) from error

    def size(self, name: str) -> int | None:
        """Return the size of the file."""
        try:
            return self._path(name).stat().st_size
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _of_file(error) from error

    def sizes(self, prefix: str) -> dict[str, int]:
        """List the files of the folder; drafts are not among them."""
        folder = self._path(prefix.rstrip("/"))
        try:
            return {
                f"{prefix}{one.name}": one.stat().st_size
                for one in (folder.iterdir() if folder.is_dir() else ())
                if not one.name.startswith(".")
            }
        except OSError as error:
            raise _of_file(error) from error

    def _path(self, name: str) -> Path:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts:
            raise ValueError(f"{name!r} is no name of an object")
        return self._folder.joinpath(*parts)


def _place(source: Path, target: Path, *, replaces: bool) -> bool:
    """Write a file beside its target and bring it there; False when the name is taken."""
    if not replaces and target.exists():
        return False
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with source.open("rb") as read, draft.open("xb") as written:
            while chunk := read.read(CHUNK):
                written.write(chunk)
                written.flush()
                # Each piece by itself: the database's commits on the same disk would wait for all of them together.
                os.fdatasync(written.fileno())
            os.fsync(written.fileno())
        if replaces:
            draft.replace(target)
        else:
            os.link(draft, target)
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    return True


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _of_file(error: OSError) -> StorageError:
    if isinstance(error, FileNotFoundError):
        return StorageError(StorageFault.MISSING, str(error))
    return StorageError(
        StorageFault.DENIED if isinstance(error, PermissionError) else StorageFault.UNAVAILABLE, str(error)
    )
