"""Files as one ZIP, sent while it is made: not compressed, as packages are compressed already."""

import io
import zipfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import IO, Any


class PartsSink(io.RawIOBase):
    """A sink that cannot seek, whose bytes are taken out again."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Keep a part."""
        self._parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        """Take out what was written."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


async def zip_stream(files: AsyncGenerator[tuple[str, bytes], None]) -> AsyncGenerator[bytes, None]:
    """Write the parts of files, each with its file's name, into a ZIP."""
    sink = PartsSink()
    name, opened = "", None
    async with aclosing(files):
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as made:
            async for current, part in files:
                if current != name:
                    _close(opened)
                    name, opened = current, made.open(zipfile.ZipInfo(current), "w", force_zip64=True)
                assert opened is not None
                opened.write(part)
                yield sink.taken()
            _close(opened)
    yield sink.taken()


def _close(opened: IO[bytes] | None) -> None:
    if opened is not None:
        opened.close()
