"""Counters of the certification environment: accepted documents by type, all at 0 again after any rejection.

The portal shows them late, so a document counts when its verdict is older than the lag. A summary that is refused uses
its number up there.
"""

from datetime import datetime, timedelta
from typing import Any

from fe.ecf.catalogue import PREFIXES, Environment
from fe.simulator.ledger import Ledger
from fe.simulator.operations import SimulatedOperation

#: Summaries have a counter of their own, beside that of each type.
SUMMARIES = "RFCE"
_COUNTED = (SimulatedOperation.RECEPTION, SimulatedOperation.SUMMARY_RECEPTION)


def counters(ledger: Ledger, issuer: str, now: datetime, lag: timedelta) -> dict[str, Any]:
    """Return what the portal shows of an issuer: the eleven counters, and how often they were reset."""
    seen = [
        filed
        for filed in ledger
        if filed.environment is Environment.CERTECF
        and filed.issuer == issuer
        and filed.operation in _COUNTED
        and filed.decided(now - lag)
    ]
    counts, resets = _none(), 0
    for filed in sorted(seen, key=lambda one: one.received_at):
        if filed.verdict.accepted:
            counts[SUMMARIES if filed.operation is SimulatedOperation.SUMMARY_RECEPTION else filed.e_ncf[:3]] += 1
        else:
            counts, resets = _none(), resets + 1
    return {"issuer": issuer, "counters": counts, "resets": resets, "lagSeconds": lag.total_seconds()}


def _none() -> dict[str, int]:
    return dict.fromkeys((*PREFIXES, SUMMARIES), 0)
