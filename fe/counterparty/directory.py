"""Where the other party of a receipt is reached: what the authority's directory says, kept for a while."""

from datetime import timedelta

import trio

from fe.authority.client import Authority, DirectoryEntry, Signing
from fe.cache import ExpiringCache
from fe.ecf.catalogue import Environment
from fe.store.records.counterparty import HandingKind

#: How long an entry is believed, and that there is none.
FOUND_FOR = timedelta(hours=1)
ABSENT_FOR = timedelta(minutes=5)

_MAX_ENTRIES = 10_000
#: The certification environment has no directory (authority.md#hosts).
_WITHOUT = frozenset({Environment.CERTECF})


class Directory:
    """The directory as one process knows it. Any number of tasks may ask at once."""

    def __init__(self, authority: Authority, *, scale: float = 1.0) -> None:
        self._authority = authority
        self._scale = scale
        #: The entry of an RNC as a tuple of one, empty where it has none.
        self._known: ExpiringCache[tuple[Environment, str], tuple[DirectoryEntry, ...]] = ExpiringCache(_MAX_ENTRIES)

    async def address(self, environment: Environment, rnc: str, kind: HandingKind, credential: Signing) -> str | None:
        """Return the base under which `rnc` takes documents of this kind, or None: it has none.

        Raises what the authority's client raises. Cancelled, nothing was learned.
        """
        entry = await self._entry(environment, rnc, credential)
        if entry is None:
            return None
        return _base(entry.reception if kind is HandingKind.RECEIPT else entry.approval)

    async def authentication(self, environment: Environment, rnc: str, credential: Signing) -> str | None:
        """Return the base under which `rnc` gives tokens, or None where the directory names none; as `address` does."""
        entry = await self._entry(environment, rnc, credential)
        return None if entry is None else _base(entry.authentication)

    def forget(self, environment: Environment, rnc: str) -> None:
        """Drop the entry, because the receiver was not at its address: the next call asks again."""
        self._known.forget((environment, rnc))

    async def _entry(self, environment: Environment, rnc: str, credential: Signing) -> DirectoryEntry | None:
        if environment in _WITHOUT:
            return None
        if (known := self._known.get((environment, rnc), trio.current_time())) is not None:
            return next(iter(known), None)
        found = await self._authority.directory_entry(environment, rnc, credential)
        life = (FOUND_FOR if found is not None else ABSENT_FOR) * self._scale
        entry = () if found is None else (found,)
        self._known.put((environment, rnc), entry, trio.current_time() + life.total_seconds())
        return found


def _base(written: str | None) -> str | None:
    """Read a base: taxpayers register them without `https://`, and the directory may say them so."""
    base = "" if written is None else written.strip().rstrip("/")
    return base if "://" in base else f"https://{base}" if base else None
