"""Objects as streams of an answer: the store is read in threads, and its errors come before the first byte."""

from collections.abc import AsyncGenerator, Iterator

import trio

from fe.objects.storage import ObjectStore


async def begin_stream(
    store: ObjectStore, name: str, start: int = 0, end: int | None = None
) -> AsyncGenerator[bytes, None]:
    """Read the first part of an object; return it and the rest as a stream. Raises StorageError."""
    chunks = store.stream(name, start, end)
    first = await trio.to_thread.run_sync(next, chunks, None, abandon_on_cancel=True)
    return _rest(first, chunks)


async def _rest(first: bytes | None, chunks: Iterator[bytes]) -> AsyncGenerator[bytes, None]:
    chunk = first
    while chunk is not None:
        yield chunk
        chunk = await trio.to_thread.run_sync(next, chunks, None, abandon_on_cancel=True)
