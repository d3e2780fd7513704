"""Queries about documents that were sent (authority.md#reception to #queries)."""

from typing import Any

from fe.authority.estado import ESTADO_BY_CODE, Estado
from fe.ecf import money
from fe.ecf.catalogue import EcfType
from fe.ecf.dates import show_moment
from fe.ecf.identity import e_ncf
from fe.simulator.faults import FaultKind
from fe.simulator.ledger import Filed
from fe.simulator.operations import SimulatedOperation
from fe.simulator.rejection_reasons import RejectionReason, message
from fe.simulator.replies import AuthorityReply, us_time
from fe.simulator.settings import AnswerForm
from fe.simulator.state import AuthorityCall, AuthorityState

_NOT_FOUND = Estado.NOT_FOUND.value


def _live(state: AuthorityState) -> bool:
    return state.settings.answers is AnswerForm.LIVE


def _code(state: AuthorityState, code: int) -> int | str:
    """`codigo` is a number in the document and a string in live answers."""
    return str(code) if _live(state) else code


def _received(state: AuthorityState, filed: Filed) -> str:
    return us_time(filed.received_at) if _live(state) else show_moment(filed.received_at)


def _visible(filed: Filed | None, call: AuthorityCall) -> Filed | None:
    if filed is None or filed.hidden(call.now) or call.suffers(FaultKind.NOT_FOUND):
        return None
    return filed


def _note_if_not_known(state: AuthorityState, call: AuthorityCall, filed: Filed | None) -> None:
    """Note the time of an answer after which the sender may send again: "not found", or the verdict "try again"."""
    try_again = message(state.settings.catalogue, RejectionReason.TRY_AGAIN)
    if call.about is not None and (filed is None or try_again in filed.verdict.messages):
        state.not_known_at[call.about] = call.now


async def result(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 5: the verdict of a trackId."""
    track_id = call.query("trackid")
    if not track_id:
        return AuthorityReply("El campo trackId es requerido.", status=400)
    filed = _visible(state.ledger.track(call.environment, track_id), call)
    if filed is not None and call.suffers(FaultKind.OTHER_TRACK):
        filed = state.ledger.another(filed) or filed
    if filed is None:
        _note_if_not_known(state, call, None)
        return _result(state, track_id, 0, None, used=False, messages=[])
    named = filed.track_id or track_id
    if not filed.decided(call.now) or call.suffers(FaultKind.STUCK):
        return _result(state, named, 3, filed, used=False, messages=[])
    _note_if_not_known(state, call, filed)
    verdict = filed.verdict
    messages = [{"valor": each.valor, "codigo": each.codigo} for each in verdict.messages]
    return _result(state, named, verdict.code, filed, used=verdict.number_used, messages=messages)


def _result(
    state: AuthorityState, track_id: str, code: int, filed: Filed | None, *, used: bool, messages: list[dict[str, Any]]
) -> AuthorityReply:
    number = "encf" if _live(state) else "eNCF"
    content = {
        "trackId": track_id,
        "codigo": _code(state, code),
        "estado": ESTADO_BY_CODE[code].value,
        "rnc": filed and filed.issuer,
        number: filed and filed.e_ncf,
        "secuenciaUtilizada": used,
        "fechaRecepcion": filed and _received(state, filed),
        "mensajes": messages,
    }
    return AuthorityReply(content, "RespuestaConsultaTrackId")


def _may_ask(state: AuthorityState, call: AuthorityCall, issuer: str, buyer: str | None) -> bool:
    """The token's owner must be delegated for the issuer or the receiver."""
    if not state.registry.delegations or call.session is None:
        return True
    return not state.registry.delegates(call.session.holder).isdisjoint({issuer, buyer})


def _best(state: AuthorityState, call: AuthorityCall, issuer: str, number: str) -> Filed | None:
    """The accepted document of a number, else the last rejected one whose verdict is out."""
    decided = [
        filed
        for filed in state.ledger.of_number(call.environment, issuer, number)
        if filed.decided(call.now) and _visible(filed, call)
    ]
    if call.suffers(FaultKind.BY_CODE) and (code := call.query("codigoseguridad")):
        decided = [filed for filed in decided if filed.facts.security_code == code]
    return next((filed for filed in decided if filed.verdict.accepted), decided[-1] if decided else None)


def _undecided(state: AuthorityState, call: AuthorityCall, issuer: str, number: str) -> Filed | None:
    """The last document of a number whose verdict is not out: of a summary only where its sender asked for that."""
    waiting = [filed for filed in state.ledger.of_number(call.environment, issuer, number) if _visible(filed, call)]
    return waiting[-1] if waiting else None


def _refused(call: AuthorityCall, *names: str) -> AuthorityReply | None:
    for name in names:
        if not call.query(name):
            return AuthorityReply(f"El campo {name} es requerido.", status=400)
    if len(call.query(names[0])) not in (9, 11):
        return AuthorityReply(f"La longitud del campo {names[0]} no es válida.", status=400)
    if e_ncf(call.query(names[1]).upper()) is None:
        return AuthorityReply(f"El campo {names[1]} no es válido.", status=400)
    return None


async def state(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 6: the state of a number. Buyer and security code must agree where they are given."""
    refused = _refused(call, "rncemisor", "ncfelectronico")
    if refused is not None:
        return refused
    issuer, number = call.query("rncemisor"), call.query("ncfelectronico").upper()
    filed = _best(state, call, issuer, number)
    if filed is not None and not _may_ask(state, call, issuer, filed.facts.buyer):
        return AuthorityReply("El RNC del token no está autorizado para consultar.", status=400)
    if filed is None or not _agrees(filed, call):
        _note_if_not_known(state, call, None)
        return _state(call, 0, _NOT_FOUND, None)
    # Conditional acceptance is told apart for summaries only.
    code = filed.verdict.code
    if code == 4 and filed.operation is not SimulatedOperation.SUMMARY_RECEPTION:
        code = 1
    return _state(call, code, ESTADO_BY_CODE[code].value, filed)


def _agrees(filed: Filed, call: AuthorityCall) -> bool:
    buyer, code = call.query("rnccomprador"), call.query("codigoseguridad")
    number = e_ncf(filed.e_ncf)
    consumer = number is not None and number.type is EcfType.CONSUMER
    return (not buyer or consumer or buyer == filed.facts.buyer) and (not code or code == filed.facts.security_code)


def _state(call: AuthorityCall, code: int, estado: str, filed: Filed | None) -> AuthorityReply:
    facts = filed and filed.facts
    content = {
        "codigo": code,
        "estado": estado,
        "rncEmisor": call.query("rncemisor"),
        "ncfElectronico": call.query("ncfelectronico").upper(),
        "montoTotal": money.number(facts.total) if facts else None,
        "totalITBIS": money.number(facts.total_itbis) if facts else None,
        "fechaEmision": facts and facts.issued_on,
        "fechaFirma": facts and facts.signed_at,
        "rncComprador": facts and facts.buyer,
        "codigoSeguridad": facts and facts.security_code,
        "idExtranjero": facts and facts.foreign_id,
    }
    return AuthorityReply(content, "RespuestaConsultaEstado")


async def track_ids(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 7: every trackId of a number, oldest first; 404 when there is none."""
    refused = _refused(call, "rncemisor", "encf")
    if refused is not None:
        return refused
    issuer, number = call.query("rncemisor"), call.query("encf").upper()
    found = [
        filed
        for filed in state.ledger.of_number(call.environment, issuer, number)
        if filed.track_id is not None and _visible(filed, call)
    ]
    if found and not _may_ask(state, call, issuer, found[0].facts.buyer):
        return AuthorityReply("El RNC del token no está autorizado para consultar.", status=400)
    if not found:
        _note_if_not_known(state, call, None)
        return AuthorityReply({"trackId": None, "estado": "TrackId no encontrado.", "fechaRecepcion": None}, status=404)
    entries = [
        {
            "trackId": filed.track_id,
            "estado": (filed.verdict.estado if filed.decided(call.now) else Estado.PROCESSING).value,
            "fechaRecepcion": _received(state, filed),
        }
        for filed in found
    ]
    # The document shows one object; live there is an array.
    content = entries if _live(state) or len(entries) > 1 else entries[0]
    return AuthorityReply(content, "TrackingDetalle")


async def summary_state(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 8: the verdict of a summary; the security code must agree."""
    refused = _refused(call, "rnc_emisor", "encf", "cod_seguridad_ecf")
    if refused is not None:
        return refused
    issuer, number = call.query("rnc_emisor"), call.query("encf").upper()
    filed = _best(state, call, issuer, number) or _undecided(state, call, issuer, number)
    if (
        filed is None
        or filed.operation is not SimulatedOperation.SUMMARY_RECEPTION
        or filed.facts.security_code != call.query("cod_seguridad_ecf")
        or not _may_ask(state, call, issuer, filed.facts.buyer)
    ):
        _note_if_not_known(state, call, None)
        return _summary_state(state, issuer, number, 0, [], used=False)
    if not filed.decided(call.now):
        return _summary_state(state, issuer, number, 3, [], used=False)
    _note_if_not_known(state, call, filed)
    verdict = filed.verdict
    messages = [{"valor": each.valor, "codigo": each.codigo} for each in verdict.messages]
    return _summary_state(state, issuer, number, verdict.code, messages, used=verdict.number_used)


def _summary_state(
    state: AuthorityState, issuer: str, number: str, code: int, messages: list[dict[str, Any]], *, used: bool
) -> AuthorityReply:
    content = {
        "rnc": issuer,
        "encf": number,
        "secuenciaUtilizada": used,
        "codigo": _code(state, code),
        "estado": ESTADO_BY_CODE[code].value,
        "mensajes": messages,
    }
    return AuthorityReply(content)
