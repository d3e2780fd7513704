"""Proving that the audit trail is as it was written: from the database, or from an export without one."""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from fe.store.records.audit_trail import Link


class NotALink(Exception):
    """A line of an export is none."""


def export(link: Link) -> str:
    """A link as one line of JSON."""
    previous = link.previous.hex() if link.previous is not None else None
    line = {"number": link.number, "entry": link.entry, "previous": previous, "hash": link.hash.hex()}
    return json.dumps(line, ensure_ascii=False)


def read_export(line: str) -> Link:
    """Read a line that `export` wrote. Raises NotALink."""
    try:
        value: Any = json.loads(line)
        previous = bytes.fromhex(value["previous"]) if value["previous"] is not None else None
        return Link(int(value["number"]), str(value["entry"]), previous, bytes.fromhex(value["hash"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise NotALink("a line is no link of an audit trail") from None


class Chain:
    """Looks at links one after the other."""

    def __init__(self, first: Link | None = None) -> None:
        """Begin with the first link, or with a later one that is trusted to follow."""
        self.links = 0 if first is None else first.number
        self.last: bytes | None = None if first is None else first.previous

    def faults(self, link: Link) -> Iterator[str]:
        """Yield the faults of the next link; nothing if it follows the previous one."""
        if link.number != self.links:
            yield f"link {self.links} is missing: {link.number} comes instead"
        if link.previous != self.last:
            yield f"link {link.number} does not follow the one before"
        if link.hash != sha256((link.previous or b"") + link.entry.encode()).digest():
            yield f"link {link.number} was changed"
        if _number_in(link.entry) != link.number:
            yield f"link {link.number} says that it is another"
        self.links, self.last = link.number + 1, link.hash


def _number_in(entry: str) -> object:
    try:
        value = json.loads(entry)
    except (ValueError, RecursionError):
        return None
    return value.get("number") if isinstance(value, dict) else None
