"""Check the machine: open files and disk space."""

import shutil
from pathlib import Path

from fe.config import Settings
from fe.operations.doctor.finding import Finding, State
from fe.process.open_files import most_open_files

#: Free disk space: below the first value warn, below the second fail.
_ENOUGH, _FULL = 2 * 1024**3, 256 * 1024**2
#: Other open files of a process: database connections, modules, pipes.
_OTHER_FILES = 128


def check_files(settings: Settings) -> Finding:
    """Check that a process may open as many files as it may have connections."""
    listeners = 1 + bool(settings.reception_bind) + bool(settings.portal_bind) + bool(settings.share_bind)
    to_others = settings.send_slots + settings.track_slots + settings.webhook_slots
    allowed, needed = most_open_files(), listeners * settings.max_connections + to_others + _OTHER_FILES
    if allowed < needed:
        return Finding(
            "open files",
            State.WARNING,
            f"{allowed} may be open, and FE_MAX_CONNECTIONS with what else there is may come to {needed}",
            f"LimitNOFILE={needed} in the unit, or fewer FE_MAX_CONNECTIONS",
        )
    return Finding("open files", State.OK, f"{allowed} may be open")


def check_disk(check: str, path: Path) -> Finding:
    """See how much room there is where `path` is, or would be."""
    there = path.resolve()
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    says = f"{free / 1024**3:.1f} GiB free at {there}"
    if free < _FULL:
        return Finding(check, State.FAILED, says, "make room: logs and the embedded database cannot be written")
    if free < _ENOUGH:
        return Finding(check, State.WARNING, says, "make room before it is full")
    return Finding(check, State.OK, says)
