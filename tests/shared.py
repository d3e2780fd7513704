"""Where the authority's own files lie, when they are at hand. They are not ours to ship: tests read them or skip."""

from pathlib import Path

import pytest

_candidate = Path(__file__).resolve().parent.parent.parent / "shared" / "authority"

#: The folder with the authority's `xsd/` and `samples/`, or None on a machine that does not have it.
SHARED: Path | None = _candidate if _candidate.is_dir() else None

needs_shared = pytest.mark.skipif(
    SHARED is None,
    reason=f"NOT PROVED HERE: the authority's XSDs and samples are absent (looked in {_candidate})",
)


def shared(relative: str) -> Path:
    """A file of the authority's; call it only under `needs_shared`."""
    assert SHARED is not None
    return SHARED / relative
