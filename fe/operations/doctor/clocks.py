"""How far our clock may be from another."""

from datetime import timedelta

from fe.operations.doctor.finding import Finding, State

#: How far clocks may differ before somebody should look (ops/runbooks/clock-skew.md), and before tokens fail.
_SKEW = timedelta(seconds=2)
_TOKEN_SKEW = timedelta(seconds=30)


def skew(check: str, ahead: timedelta, whose: str, *, grain: timedelta = timedelta(0)) -> Finding:
    """Tell how far our clock is ahead of another, which may itself be told no finer than `grain`."""
    says = f"ours is {ahead.total_seconds():+.1f} s from {whose}"
    if abs(ahead) <= _SKEW + grain:
        return Finding(check, State.OK, says)
    state = State.WARNING if abs(ahead) <= _TOKEN_SKEW else State.FAILED
    return Finding(check, state, says, "see which of the two is wrong, and keep it: ops/runbooks/clock-skew.md")
