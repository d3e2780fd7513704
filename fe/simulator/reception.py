"""Taking in a document: the checks made at once, the journal, and the two receptions.

See authority.md#reception, #summary and #checks.
"""

import random
import re
import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import trio

from fe.authority.estado import Estado
from fe.ecf.catalogue import Environment
from fe.ecf.identity import E_NCF_FORM, TAX_ID_FORM
from fe.ecf.parse import MalformedXml
from fe.simulator import requested_outcome
from fe.simulator.examine import Examined, examine
from fe.simulator.faults import FaultKind
from fe.simulator.ledger import Filed, LedgerVerdict
from fe.simulator.multipart import Part
from fe.simulator.operations import SimulatedOperation
from fe.simulator.rejection_reasons import RejectionReason, message
from fe.simulator.replies import AuthorityReply
from fe.simulator.state import AuthorityCall, AuthorityState
from fe.simulator.validation import ReceivedDocument, validate

#: 9 or 11 digits and a number, as the file names of documents are made.
_FILE_NAME = re.compile(rf"({TAX_ID_FORM})({E_NCF_FORM})\.xml", re.IGNORECASE)

#: Documents up to this many bytes are examined where they are: a thread would cost more than it gives.
_AT_ONCE = 32 * 1024

_BAD_NAME_LENGTH = "3243"

_random = random.Random()  # noqa: S311 - see _new_track_id


class Refusal(Exception):
    """A refusal on the spot, with HTTP status 400."""

    def __init__(self, text: str, code: str = "0") -> None:
        super().__init__(text)
        self.text = text
        self.code = code


def named_by(part: Part | str | None) -> tuple[str, str]:
    """The tax id and number in a part's file name; empty where it does not have the form."""
    match = _FILE_NAME.fullmatch(part.file_name) if isinstance(part, Part) else None
    return (match[1], match[2].upper()) if match else ("", "")


async def receive_document(state: AuthorityState, call: AuthorityCall) -> tuple[Part, Examined]:
    """Check what is checked before a document is taken in, in the order of section 14; raises Refusal."""
    part = call.part
    if not isinstance(part, Part):
        raise Refusal(f"Archivo inválido: {part or 'no se recibió el archivo xml'}.")
    if call.operation is not SimulatedOperation.RANGE_VOIDING:  # no rule is documented for ANECF
        _check_name_form(part.file_name)
    elif not part.file_name.lower().endswith(".xml"):
        raise Refusal("El archivo no es un XML.")
    try:
        if len(part.content) <= _AT_ONCE:
            examined = examine(part.content, state.settings.check, call.now)
        else:
            examined = await trio.to_thread.run_sync(
                examine, part.content, state.settings.check, call.now, limiter=state.verifiers
            )
    except MalformedXml as wrong:
        raise Refusal(f"El archivo no es un XML válido: {wrong}") from wrong
    if call.operation is not SimulatedOperation.RANGE_VOIDING:
        _check_name(part.file_name, examined, call.operation)
    return part, examined


def _check_name_form(name: str) -> None:
    if not name.lower().endswith(".xml"):
        raise Refusal("El nombre del archivo debe terminar en .xml")
    if len(name) not in (26, 28):
        raise Refusal("La longitud del nombre del archivo no es válida", _BAD_NAME_LENGTH)


def _check_name(name: str, examined: Examined, operation: SimulatedOperation) -> None:
    facts = examined.facts
    # An approval is named after the buyer, or after the issuer, which was seen to pass (authority.md#file-names).
    owners = {facts.issuer, facts.buyer} if operation is SimulatedOperation.COMMERCIAL_APPROVAL else {facts.issuer}
    stem = name[:-4].upper()
    if not any(stem == f"{owner}{facts.e_ncf}".upper() for owner in owners if owner):
        raise Refusal("El nombre del archivo no corresponde con el RNC y el eNCF del documento")


def journal(
    state: AuthorityState, call: AuthorityCall, *, status: int, verdict: dict[str, Any] | None, **more: Any
) -> None:
    """Record a request that carried a document. `status` is the authority's own, before any fault bends the answer."""
    part = call.part if isinstance(call.part, Part) else None
    issuer, number = named_by(part)
    about = call.environment, issuer, number
    asked_at, not_known_at = state.asked_at.get(about), state.not_known_at.get(about)
    record: dict[str, Any] = {
        "kind": "document",
        "at": call.now.isoformat(),
        "operation": call.operation.value,
        "environment": call.environment.value,
        # An approval is named after its sender, the buyer.
        "issuer": None if call.operation is SimulatedOperation.COMMERCIAL_APPROVAL else issuer or None,
        "eNCF": number or None,
        "fileName": part and part.file_name,
        "sha256": part and part.sha256,
        "bytes": part and len(part.content),
        "askedAt": asked_at and asked_at.isoformat(),
        "notKnownAt": not_known_at and not_known_at.isoformat(),
        "trackId": None,
        "status": status,
        "verdict": verdict,
        "refused": None,
        "effect": True,
        "fault": call.fault and {"kind": call.fault.kind.value, "source": call.fault.source},
    }
    state.journal.append({**record, **more})


def _filed(state: AuthorityState, call: AuthorityCall, part: Part, examined: Examined) -> Filed:
    """Decide about a document and keep it: in the journal first, then in the ledger."""
    facts = examined.facts
    if call.suffers(FaultKind.TRY_AGAIN):
        messages = message(state.settings.catalogue, RejectionReason.TRY_AGAIN)
        verdict = LedgerVerdict(Estado.REJECTED, (messages,), number_used=False)
    else:
        case = ReceivedDocument(
            examined,
            call.operation,
            call.environment,
            call.now,
            state.registry,
            state.ledger,
            state.settings.require_references,
        )
        if (other := requested_outcome.document_that_used(call, examined, part)) is not None:
            _keep(state, call, other, status=200)
        verdict = requested_outcome.apply(
            validate(case, state.settings.catalogue), call.asked, state.settings.catalogue
        )
        is_summary = call.operation is SimulatedOperation.SUMMARY_RECEPTION
        if is_summary and call.environment is Environment.CERTECF and not verdict.accepted and call.asked is None:
            verdict = replace(verdict, number_used=True)  # a refused summary burns its number there
    at_once = call.operation is SimulatedOperation.SUMMARY_RECEPTION
    filed = Filed(
        call.operation,
        call.environment,
        facts.issuer or "",
        facts.e_ncf or "",
        None if at_once else _new_track_id(),
        part.sha256,
        call.now,
        facts,
        verdict,
        requested_outcome.decided_at(call.asked, call.now, call.now if at_once else _decided_at(state, call)),
        call.now + _lasting(call, 5) if call.suffers(FaultKind.NOT_FOUND) else None,
    )
    status = 400 if at_once and not verdict.accepted else 200
    _keep(state, call, filed, status)
    return filed


def _keep(state: AuthorityState, call: AuthorityCall, filed: Filed, status: int) -> None:
    journal(state, call, status=status, **filed.to_record())
    state.ledger.file(filed)


def _new_track_id() -> str:
    # Like the authority's own, a random UUID; it keeps no secret.
    return str(uuid.UUID(int=_random.getrandbits(128), version=4))


def _decided_at(state: AuthorityState, call: AuthorityCall) -> datetime | None:
    if not call.suffers(FaultKind.STUCK):
        return call.now + state.settings.verdict_delay
    if call.fault is None or call.fault.seconds is None:
        return None
    return call.now + _lasting(call, 0)


def _lasting(call: AuthorityCall, default: float) -> timedelta:
    seconds = call.fault.seconds if call.fault is not None else None
    return timedelta(seconds=default if seconds is None else seconds)


async def receive_ecf(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 3: a trackId, or a refusal on the spot."""
    try:
        part, examined = await receive_document(state, call)
    except Refusal as refusal:
        journal(state, call, status=400, verdict=None, refused=refusal.text)
        content = {"trackId": None, "error": refusal.code, "mensaje": refusal.text}
        return AuthorityReply(content, "RespuestaRecepcion", 400)
    filed = _filed(state, call, part, examined)
    track_id = filed.track_id
    if call.suffers(FaultKind.OTHER_TRACK):
        other = state.ledger.another(filed)
        track_id = other.track_id if other is not None else _new_track_id()
    return AuthorityReply({"trackId": track_id, "error": None, "mensaje": None}, "RespuestaRecepcion")


async def receive_summary(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 4: the verdict itself. A rejection comes with HTTP status 400 and the same body."""
    try:
        part, examined = await receive_document(state, call)
    except Refusal as refusal:
        journal(state, call, status=400, verdict=None, refused=refusal.text)
        return _summary_reply(2, "Rechazado", [(refusal.code, refusal.text)], None, used=False)
    filed = _filed(state, call, part, examined)
    if not filed.decided(call.now):
        return _summary_reply(3, Estado.PROCESSING.value, [], filed.e_ncf, used=False)
    verdict = filed.verdict
    messages = [(str(message.codigo), message.valor) for message in verdict.messages]
    # When the authority itself breaks down it answers without the number (authority.md#summary).
    number = None if call.suffers(FaultKind.TRY_AGAIN) else filed.e_ncf
    return _summary_reply(verdict.code, verdict.estado.value, messages, number, used=verdict.number_used)


def _summary_reply(
    code: int, estado: str, messages: list[tuple[str, str]], number: str | None, *, used: bool
) -> AuthorityReply:
    content = {
        "codigo": code,
        "estado": estado,
        "mensajes": [{"codigo": codigo, "valor": valor} for codigo, valor in messages],
        "encf": number,
        "secuenciaUtilizada": used,
    }
    return AuthorityReply(content, "Respuesta", 400 if code == 2 else 200)
