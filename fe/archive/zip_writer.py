"""Write the profile of ZIP that packages use: one byte sequence for the same files, in the same order.

The standard library's writer puts its platform, and data descriptors where the sink cannot seek, into the file.
"""

import struct
import zlib
from dataclasses import dataclass
from typing import Protocol

#: 1980-01-01 00:00:00, the first moment that ZIP knows.
_DATE = 0x0021
_TIME = 0
_VERSION = 20
_STORED, _DEFLATED = 0, 8
_LOCAL = struct.Struct("<IHHHHHIIIHH")
_CENTRAL = struct.Struct("<IHHHHHHIIIHHHHHII")
_END = struct.Struct("<IHHHHIIH")
#: Without ZIP64 neither files nor offsets may be more.
MAX_FILES = 65_534
MAX_SIZE = 0xFFFF_FFFE


class Sink(Protocol):
    """A file that is written from its beginning to its end; it need not seek."""

    def write(self, data: bytes, /) -> object:
        """Write all of it."""


class TooLarge(ValueError):
    """More files or bytes than a package may have."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file as a package has it. `name` is ASCII, `size` and `crc` are those of the content."""

    name: str
    method: int
    crc: int
    size: int
    packed: bytes


def pack_file(name: str, content: bytes) -> PackedFile:
    """Deflate a file where that makes it smaller."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = packer.compress(content) + packer.flush()
    method = _DEFLATED if len(packed) < len(content) else _STORED
    return PackedFile(name, method, zlib.crc32(content), len(content), content if method == _STORED else packed)


class ZipWriter:
    """Writes files, then the directory. Holds one file and the directory in memory."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._offset = 0
        self._directory = bytearray()
        self.files = 0

    @property
    def size(self) -> int:
        """Bytes of the package if it were closed now."""
        return self._offset + len(self._directory) + _END.size

    def add(self, name: str, content: bytes) -> None:
        """Append a file. `name` is ASCII."""
        self.append(pack_file(name, content))

    def append(self, file: PackedFile) -> None:
        """Append a file that is packed."""
        raw, packed = file.name.encode("ascii"), file.packed
        rest = _VERSION, 0, file.method, _TIME, _DATE, file.crc, len(packed), file.size, len(raw), 0
        entry = _CENTRAL.pack(0x02014B50, _VERSION, *rest, 0, 0, 0, 0, self._offset) + raw
        local = _LOCAL.pack(0x04034B50, *rest) + raw
        if self.files == MAX_FILES or self.size + len(local) + len(packed) + len(entry) > MAX_SIZE:
            raise TooLarge("a package has room for 65,534 files and 4 GiB")
        self._write(local)
        self._write(packed)
        self._directory += entry
        self.files += 1

    def close(self) -> None:
        """Write the directory. The sink stays open."""
        start, size = self._offset, len(self._directory)
        self._write(bytes(self._directory))
        self._write(_END.pack(0x06054B50, 0, 0, self.files, self.files, size, start, 0))

    def _write(self, data: bytes) -> None:
        self._sink.write(data)
        self._offset += len(data)
