"""An LRU cache whose entries may expire."""

from collections import OrderedDict
from collections.abc import Hashable
from math import inf
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ExpiringCache(Generic[Key, Value]):
    """Keeps the `size` entries that were used last. The clock is the caller's. Not thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[Key, tuple[Value, float]] = OrderedDict()

    def get(self, key: Key, now: float = -inf) -> Value | None:
        """Return the value of a key; None if there is none, or it expired by `now`."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry[1] <= now:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Key, value: Value, until: float = inf) -> None:
        """Set the value of a key, which expires at `until`; evict the entry that was unused longest if it is full."""
        self._entries[key] = value, until
        self._entries.move_to_end(key)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def forget(self, key: Key) -> None:
        """Remove a key, if it is there."""
        self._entries.pop(key, None)

    def items(self) -> list[tuple[Key, Value]]:
        """All entries, also expired ones."""
        return [(key, value) for key, (value, _) in self._entries.items()]

    def __len__(self) -> int:
        return len(self._entries)
