"""How far our clock may be from another."""

from datetime import timedelta

from fe.clock import MAX_SKEW, Comparison
from fe.operations.doctor.finding import Finding, State

#: How far our clock may be from the authority's before its tokens fail.
_TOKEN_SKEW = timedelta(seconds=30)

_REMEDY = "see which of the two is wrong, and set it: ops/runbooks/clock-skew.md"


def skew(check: str, ahead: timedelta, whose: str, *, grain: timedelta = timedelta(0)) -> Finding:
    """Describe how far our clock is ahead of another one of precision `grain`."""
    says = f"ours is {ahead.total_seconds():+.1f} s from {whose}"
    if abs(ahead) <= MAX_SKEW + grain:
        return Finding(check, State.OK, says)
    state = State.WARNING if abs(ahead) <= _TOKEN_SKEW else State.FAILED
    return Finding(check, state, says, _REMEDY)


def skew_of_the_database(found: Comparison) -> Finding:
    """Check the clock against the database's: `fe run` refuses to start where this fails."""
    says = f"ours is {found.halfway.total_seconds():+.1f} s from the database's"
    if not found.is_wrong:
        return Finding("clock (database)", State.OK, says)
    return Finding("clock (database)", State.FAILED, f"{says}: `fe run` does not start, and signs nothing", _REMEDY)
