"""Read the narrow profile of ZIP of archive-format.md#container, with no more memory than one file takes."""

import struct
import zlib
from dataclasses import dataclass
from typing import BinaryIO

from .faults import Broken

MAX_FILE = 16 * 1024 * 1024
MAX_MANIFEST = 32 * 1024 * 1024
MAX_BYTES = 1024 * 1024 * 1024
MAX_FILES = 65_534
MANIFEST = "manifest.json"

_LOCAL = struct.Struct("<IHHHHHIIIHH")
_CENTRAL = struct.Struct("<IHHHHHHIIIHHHHHII")
_END = struct.Struct("<IHHHHIIH")
_DATE, _VERSION, _STORED, _DEFLATED = 0x0021, 20, 0, 8
#: A header with its name is smaller; so a directory is read whole.
_MAX_HEADER = 256


@dataclass(frozen=True)
class _Entry:
    start: int
    method: int
    crc: int
    packed: int
    size: int


class Container:
    """Files of a package by name, in their order. Raises Broken for bytes that are not of the profile."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._entries: dict[str, _Entry] = {}
        size = file.seek(0, 2)
        start, count = self._end(size)
        directory = self._at(start, size - _END.size - start)
        place = expected = total = 0
        for _ in range(count):
            if place + _CENTRAL.size > len(directory):
                raise Broken("the directory is too short")
            signature, made, *rest, comment, disk, inside, outside, offset = _CENTRAL.unpack_from(directory, place)
            length, extra = rest[8], rest[9]
            raw = directory[place + _CENTRAL.size : place + _CENTRAL.size + length]
            place += _CENTRAL.size + length
            fixed = signature == 0x02014B50 and made == _VERSION and not any((comment, disk, inside, outside, extra))
            if not fixed or len(raw) != length or not 1 <= length <= _MAX_HEADER - _CENTRAL.size or offset != expected:
                raise Broken("the directory is not of the profile")
            local = self._at(offset, _LOCAL.size + length)
            if local != _LOCAL.pack(0x04034B50, *rest) + raw:
                raise Broken("a header of a file differs from the directory")
            name, entry = _read_entry(raw, rest, offset + len(local))
            if name in self._entries:
                raise Broken(f"{name} is there twice")
            total += entry.size
            expected = entry.start + entry.packed
            self._entries[name] = entry
        if place != len(directory) or expected != start:
            raise Broken("there are bytes beside the files and the directory")
        if total > MAX_BYTES + MAX_MANIFEST:
            raise Broken("the files are larger than a package may be")

    @property
    def names(self) -> list[str]:
        """Names in their order."""
        return list(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """Return a file's content. Raises Broken."""
        entry = self._entries[name]
        packed = self._at(entry.start, entry.packed)
        content = packed if entry.method == _STORED else _inflate(name, packed, entry.size)
        if len(content) != entry.size or zlib.crc32(content) != entry.crc:
            raise Broken(f"{name} does not have its length and CRC")
        return content

    def _end(self, size: int) -> tuple[int, int]:
        if size < _END.size:
            raise Broken("it is too short")
        signature, disk, start_disk, here, count, length, start, comment = _END.unpack(
            self._at(size - _END.size, _END.size)
        )
        if signature != 0x06054B50 or any((disk, start_disk, comment)) or here != count:
            raise Broken("it does not end with the directory's end record")
        if count > MAX_FILES or length > count * _MAX_HEADER or start + length + _END.size != size:
            raise Broken("the directory is not where the end record says")
        return start, count

    def _at(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        found = self._file.read(length)
        if len(found) != length:
            raise Broken("it is too short")
        return found


def _read_entry(raw: bytes, rest: list[int], start: int) -> tuple[str, _Entry]:
    version, flags, method, time, date, crc, packed, size, _, _ = rest
    try:
        name = raw.decode("ascii")
    except UnicodeDecodeError:
        raise Broken("a name is not ASCII") from None
    if (version, flags, time, date) != (_VERSION, 0, 0, _DATE) or method not in (_STORED, _DEFLATED):
        raise Broken(f"the header of {name!r} is not of the profile")
    if (method == _STORED) != (packed == size) or packed > size:
        raise Broken(f"the sizes of {name!r} do not fit its method")
    if size > (MAX_MANIFEST if name == MANIFEST else MAX_FILE):
        raise Broken(f"{name!r} is larger than a file may be")
    return name, _Entry(start, method, crc, packed, size)


def _inflate(name: str, packed: bytes, size: int) -> bytes:
    unpacker = zlib.decompressobj(-15)
    try:
        content = unpacker.decompress(packed, size + 1)
    except zlib.error:
        raise Broken(f"{name} cannot be inflated") from None
    if not unpacker.eof or unpacker.unused_data or len(content) > size:
        raise Broken(f"{name} does not inflate to its length")
    return content
