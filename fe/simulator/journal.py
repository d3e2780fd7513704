"""Journal of events, one JSON object a line: in memory, or in a file that outlives a kill -9 of the process."""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

Record = dict[str, Any]


class JournalInUse(RuntimeError):
    """Another simulator keeps its state in this file."""


class JournalDamaged(ValueError):
    """A line other than the last is not a record."""


class Journal(Protocol):
    """An append-only list of records. A record is safe once `append` has returned."""

    def append(self, record: Record) -> None:
        """Add a record at the end, numbered in `seq` from 1."""

    def records(self) -> Iterator[Record]:
        """All records, oldest first."""

    def clear(self) -> None:
        """Forget everything; numbering starts again."""

    def close(self) -> None:
        """Let go of what is behind it."""


def _line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class MemoryJournal:
    """A journal that dies with the process. Lines are kept as bytes: a fifth of the memory of the objects."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def append(self, record: Record) -> None:
        """Add a record at the end."""
        self._lines.append(_line({"seq": len(self._lines) + 1, **record}))

    def records(self) -> Iterator[Record]:
        """All records, oldest first."""
        return map(json.loads, self._lines.copy())

    def clear(self) -> None:
        """Forget everything."""
        self._lines.clear()

    def close(self) -> None:
        """Nothing to let go of."""


class FileJournal:
    """A journal in a JSON-lines file that only one process may hold.

    Each record is handed to the system in one write, so the death of the process leaves whole lines; a torn last line,
    which a full disk or a power cut can leave, is cut off at the next opening.
    """

    def __init__(self, path: Path, *, fsync: bool = False) -> None:
        self._path = path
        self._fsync = fsync
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._lock()
            self._seq = self._mend()
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalInUse(f"{self._path} belongs to another running simulator") from None

    def _mend(self) -> int:
        count = 0
        whole = 0
        with self._path.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    os.ftruncate(self._file, whole)
                    break
                whole += len(line)
                count += 1
        return count

    def append(self, record: Record) -> None:
        """Add a record at the end; OSError when it could not be written whole, and then it is not there."""
        line = _line({"seq": self._seq + 1, **record})
        size = os.fstat(self._file).st_size
        written = os.write(self._file, line)
        if written != len(line):
            os.ftruncate(self._file, size)
            raise OSError(f"{self._path}: only {written} of {len(line)} bytes could be written")
        if self._fsync:
            os.fsync(self._file)
        self._seq += 1

    def records(self) -> Iterator[Record]:
        """All records, oldest first; raises JournalDamaged at a line that is not one."""
        with self._path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    record = json.loads(line)
                except ValueError as wrong:
                    raise JournalDamaged(f"{self._path}, line {number}: {wrong}") from wrong
                if not isinstance(record, dict):
                    raise JournalDamaged(f"{self._path}, line {number}: not a record")
                yield record

    def clear(self) -> None:
        """Forget everything."""
        os.ftruncate(self._file, 0)
        self._seq = 0

    def close(self) -> None:
        """Close the file and free it for another process."""
        os.close(self._file)


def open_journal(path: Path | None, *, fsync: bool = False) -> Journal:
    """A journal in `path`, or in memory when there is none."""
    return MemoryJournal() if path is None else FileJournal(path, fsync=fsync)
