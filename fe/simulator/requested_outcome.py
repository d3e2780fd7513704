"""Outcomes that a sender requests in a header: see fe/requested_outcome.py and docs/api/testing.md.

A request counts once, the first time that these bytes arrive, and the document's own problems come first. So a sender
that repeats after a lost answer finds what a real authority would show.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

from fe.authority.estado import Estado
from fe.requested_outcome import SIMULATE_HEADER, AskedOutcome, Simulation
from fe.simulator.examine import Examined
from fe.simulator.faults import Fault, FaultKind
from fe.simulator.ledger import Filed, LedgerMessage, LedgerVerdict
from fe.simulator.multipart import Part
from fe.simulator.operations import SimulatedOperation
from fe.simulator.rejection_reasons import about_code
from fe.simulator.settings import Catalogue
from fe.simulator.state import AuthorityCall, AuthorityState

_RECEPTIONS = (SimulatedOperation.RECEPTION, SimulatedOperation.SUMMARY_RECEPTION)

#: Codes of "the number is used", in either catalogue. They need a document that uses it.
_USED = (3, 1209)
_DEFAULT_REMARK = 13
_DEFAULT_SECONDS = 10


def read(state: AuthorityState, call: AuthorityCall, issuer: str, e_ncf: str) -> Simulation | None:
    """Return the outcome that this call requests, if it still counts. Raises ValueError for an unreadable header."""
    text = call.request.headers.get(SIMULATE_HEADER.lower())
    if text is None or call.operation not in _RECEPTIONS or not isinstance(call.part, Part):
        return None
    asked = Simulation.read(text)
    before = state.ledger.of_number(call.environment, issuer, e_ncf)
    return None if any(filed.sha256 == call.part.sha256 for filed in before) else asked


def fault_of(asked: Simulation | None) -> Fault | None:
    """Return the fault that produces the outcome, if it needs one."""
    lost = asked is not None and asked.outcome is AskedOutcome.LOST_ANSWER
    return Fault(FaultKind.RESET_AFTER, source="sender") if lost else None


def apply(verdict: LedgerVerdict, asked: Simulation | None, catalogue: Catalogue) -> LedgerVerdict:
    """Return the requested verdict in place of a plain acceptance; other verdicts stay."""
    if asked is None or verdict.estado is not Estado.ACCEPTED:
        return verdict
    match asked.outcome:
        case AskedOutcome.REJECTED:
            text, stays_free = about_code(catalogue, asked.code or 0)
            messages = (LedgerMessage(asked.code or 0, f"{text} (simulado)"),)
            return LedgerVerdict(Estado.REJECTED, messages, number_used=not stays_free)
        case AskedOutcome.CONDITIONAL:
            code = asked.code or _DEFAULT_REMARK
            text, _ = about_code(catalogue, code)
            return LedgerVerdict(Estado.CONDITIONAL, (LedgerMessage(code, f"{text} (simulado)"),), number_used=True)
    return verdict


def decided_at(asked: Simulation | None, now: datetime, otherwise: datetime | None) -> datetime | None:
    """Return when the verdict becomes visible; None: never."""
    if asked is None:
        return otherwise
    match asked.outcome:
        case AskedOutcome.STUCK:
            return None
        case AskedOutcome.SLOW:
            return now + timedelta(seconds=asked.seconds or _DEFAULT_SECONDS)
    return otherwise


def document_that_used(call: AuthorityCall, examined: Examined, part: Part) -> Filed | None:
    """Make the accepted document of another sender that uses the number, where a rejection for that is requested."""
    asked = call.asked
    if asked is None or asked.outcome is not AskedOutcome.REJECTED or asked.code not in _USED:
        return None
    facts = replace(examined.facts, security_code="OTRO/1")
    return Filed(
        call.operation,
        call.environment,
        facts.issuer or "",
        facts.e_ncf or "",
        None,
        sha256(b"somebody else's\n" + part.content).hexdigest(),
        call.now,
        facts,
        LedgerVerdict(Estado.ACCEPTED, (LedgerMessage(0, ""),), number_used=True),
        call.now,
    )
