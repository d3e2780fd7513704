"""Counters of the certification environment: accepted documents by type, all at 0 again after any rejection.

The portal shows them late, so a document counts when its verdict is older than the lag. A summary that is refused uses
its number up there. A run is rehearsed by sending it whole to an authority of its own, in this process.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from fe.authority.estado import Estado
from fe.ecf.catalogue import PREFIXES, Environment, Root
from fe.ecf.parse import MalformedXml
from fe.simulator.approval import receive_approval
from fe.simulator.examine import examine
from fe.simulator.exchange import RawRequest
from fe.simulator.ledger import Filed, FiledApproval, Ledger
from fe.simulator.multipart import Part
from fe.simulator.operations import SimulatedOperation, route_of
from fe.simulator.reception import Refusal, receive_ecf, receive_summary
from fe.simulator.settings import SimulatorSettings
from fe.simulator.state import AuthorityCall, AuthorityState

#: Summaries have a counter of their own, beside that of each type.
SUMMARIES = "RFCE"
_COUNTED = (SimulatedOperation.RECEPTION, SimulatedOperation.SUMMARY_RECEPTION)
_RECEIVERS = {
    Root.ECF: (SimulatedOperation.RECEPTION, receive_ecf),
    Root.RFCE: (SimulatedOperation.SUMMARY_RECEPTION, receive_summary),
    Root.ACECF: (SimulatedOperation.COMMERCIAL_APPROVAL, receive_approval),
}


def counters(ledger: Ledger, issuer: str, now: datetime, lag: timedelta) -> dict[str, Any]:
    """Return what the portal shows of a taxpayer: the eleven counters, and how often they were reset.

    `uploads` are invoices that were uploaded by hand since the last reset. `approvals` are those that it answered as
    the buyer; a refused one puts them to 0, and no other counter.
    """
    seen = [
        filed
        for filed in ledger
        if filed.environment is Environment.CERTECF
        and filed.issuer == issuer
        and filed.operation in _COUNTED
        and filed.decided(now - lag)
    ]
    counts, resets, since = _none(), 0, datetime.min.replace(tzinfo=now.tzinfo)
    for filed in sorted(seen, key=lambda one: one.received_at):
        if filed.verdict.accepted:
            counts[SUMMARIES if filed.operation is SimulatedOperation.SUMMARY_RECEPTION else filed.e_ncf[:3]] += 1
        else:
            counts, resets, since = _none(), resets + 1, filed.received_at
    approvals = _approvals([one for one in ledger.approvals if one.buyer == issuer and one.received_at <= now - lag])
    return {
        "issuer": issuer,
        "counters": counts,
        "uploads": sum(owner == issuer and at > since for (owner, _), at in ledger.uploads.items()),
        "approvals": approvals,
        "resets": resets,
        "lagSeconds": lag.total_seconds(),
    }


def _none() -> dict[str, int]:
    return dict.fromkeys((*PREFIXES, SUMMARIES), 0)


def _approvals(received: Sequence[FiledApproval]) -> int:
    counted: set[tuple[str, str]] = set()
    for one in received:
        if one.environment is Environment.CERTECF:
            counted = counted | {(one.issuer, one.e_ncf)} if one.is_accepted else set()
    return len(counted)


def upload(state: AuthorityState, raw: bytes) -> tuple[str, str]:
    """Take in a full invoice below the threshold, as a person uploads it; return its issuer and number.

    It has to be the one that the accepted summary was made of: the same security code. Raises Refusal.
    """
    now = state.now()
    try:
        examined = examine(raw, state.settings.check, now)
    except MalformedXml as wrong:
        raise Refusal(f"El archivo no es un XML válido: {wrong}") from wrong
    facts = examined.facts
    owner, number = facts.issuer or "", facts.e_ncf or ""
    summary = state.ledger.accepted(Environment.CERTECF, owner, number)
    if summary is None or summary.operation is not SimulatedOperation.SUMMARY_RECEPTION:
        raise Refusal(f"No hay un resumen aceptado de {number}.")
    if examined.bad_signature is not None or examined.schema_problems:
        raise Refusal("La firma o la estructura del archivo es inválida.")
    if (facts.security_code, facts.amount) != (summary.facts.security_code, summary.facts.amount):
        raise Refusal("El código de seguridad o el monto no es el del resumen.")
    state.journal.append({"kind": "upload", "at": now.isoformat(), "issuer": owner, "eNCF": number})
    state.ledger.uploads[owner, number] = now
    return owner, number


@dataclass(frozen=True, slots=True)
class RehearsedRun:
    """A run after its rehearsal: an objection to each document, None where it was accepted, and the counters."""

    objections: tuple[str | None, ...]
    counters: dict[str, Any]


async def rehearse_run(documents: Sequence[tuple[Root, str, bytes]], now: datetime, *, taxpayer: str) -> RehearsedRun:
    """Send signed documents, one after the other, to an authority that has received nothing yet; no network.

    Each has its root and its file name without `.xml`. Notes may modify only what was accepted before them.
    """
    settings = SimulatorSettings(verdict_delay=timedelta(0), require_references=True, now=lambda: now)
    state = AuthorityState(settings)
    objections = []
    try:
        for root, name, content in documents:
            operation, receive = _RECEIVERS[root]
            request = RawRequest("POST", "", {}, {}, content)
            part = Part(f"{name}.xml", content)
            call = AuthorityCall(request, route_of(operation), Environment.CERTECF, now, part)
            reply = await receive(state, call)
            filed = state.ledger.of_number(Environment.CERTECF, taxpayer, name[-13:])
            objections.append(_objection(reply.content, filed[-1] if filed and root is not Root.ACECF else None))
        return RehearsedRun(tuple(objections), counters(state.ledger, taxpayer, now, timedelta(0)))
    finally:
        state.close()


def _objection(content: Any, filed: Filed | None) -> str | None:
    if filed is not None:
        if filed.verdict.estado is Estado.ACCEPTED:
            return None
        return "; ".join(f"{one.valor} ({one.codigo})" for one in filed.verdict.messages)
    if content.get("estado") == "Aprobación Comercial Aprobada.":
        return None
    said = content.get("mensaje") or content.get("mensajes")
    return "; ".join(map(str, said)) if isinstance(said, list) else str(said)
