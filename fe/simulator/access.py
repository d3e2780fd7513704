"""The handshake: a seed, and a token for its signature (authority.md#session)."""

import trio

from fe.ecf.certificate import holder_id
from fe.ecf.parse import MalformedXml
from fe.ecf.signature import BadSignature, verify
from fe.ecf.trust import check_certificate
from fe.simulator.exchange import RawAnswer
from fe.simulator.multipart import Part
from fe.simulator.replies import JSON, TEXT, XML, AuthorityReply, to_json, utc_time
from fe.simulator.settings import AnswerForm
from fe.simulator.state import AuthorityCall, AuthorityState


async def give_seed(state: AuthorityState, call: AuthorityCall) -> RawAnswer:
    """Row 1: always XML."""
    return RawAnswer(200, state.sessions.new_seed(call.environment, call.now), XML)


async def validate_seed(state: AuthorityState, call: AuthorityCall) -> AuthorityReply | RawAnswer:
    """Row 2: a token, or 400 with a bare string."""
    part = call.part
    if not isinstance(part, Part) or not part.file_name.lower().endswith(".xml"):
        return _refused(state, f"Archivo inválido: {part}" if isinstance(part, str) else "El archivo no es un XML.")
    try:
        verified = await trio.to_thread.run_sync(verify, part.content, limiter=state.verifiers)
    except MalformedXml:
        return _refused(state, "El archivo no es un XML válido.")
    except BadSignature:
        return _refused(state, "Firma del certificado invalida")
    value = verified.root.findtext("valor") if verified.root.tag == "SemillaModel" else None
    if not state.sessions.spend_seed(call.environment, value or "", call.now):
        return _refused(state, "La semilla es inválida o ha expirado.")
    if check_certificate(verified.certificate, roots=state.registry.trusted, at=call.now):
        return _refused(state, "El certificado es inválido o ha expirado.")
    holder = holder_id(verified.certificate) or ""
    if state.registry.delegations and not state.registry.delegates(holder):
        # The authority's own spelling.
        return _refused(state, f"El RNC {holder} del certificado no está delegado para realizar transaciones.")
    granted = state.sessions.grant(call.environment, holder, call.now)
    content = {
        "token": granted.token,
        "expira": utc_time(granted.expires),
        "expedido": utc_time(granted.issued),
    }
    return AuthorityReply(content, "RespuestaAutenticacion")


def _refused(state: AuthorityState, messages: str) -> RawAnswer:
    """A bare string; live sometimes as JSON, sometimes as text."""
    if state.settings.answers is AnswerForm.LIVE:
        return RawAnswer(400, to_json(messages).encode(), JSON)
    return RawAnswer(400, messages.encode(), TEXT)
