"""The pages behind the QR codes of printed receipts (authority.md#qr)."""

from html import escape

from fe.ecf import money
from fe.simulator.exchange import RawAnswer
from fe.simulator.ledger import Filed
from fe.simulator.operations import SimulatedOperation
from fe.simulator.replies import AuthorityReply, page
from fe.simulator.state import AuthorityCall, AuthorityState


async def qr(state: AuthorityState, call: AuthorityCall) -> AuthorityReply | RawAnswer:
    """Row 16: every parameter must be the document's own."""
    filed = _find(state, call)
    if filed is not None and not (
        call.request.query.get("rnccomprador") == filed.facts.buyer
        and call.query("fechaemision") == filed.facts.issued_on
        and call.query("fechafirma") == filed.facts.signed_at
    ):
        filed = None
    return _show(call, filed)


async def summary_qr(state: AuthorityState, call: AuthorityCall) -> AuthorityReply | RawAnswer:
    """Row 17: the same for a summary."""
    filed = _find(state, call)
    if filed is not None and filed.operation is not SimulatedOperation.SUMMARY_RECEPTION:
        filed = None
    return _show(call, filed)


def _find(state: AuthorityState, call: AuthorityCall) -> Filed | None:
    number = call.query("encf").upper()
    for filed in reversed(state.ledger.of_number(call.environment, call.query("rncemisor"), number)):
        facts = filed.facts
        if (
            filed.decided(call.now)
            and not filed.hidden(call.now)
            and facts.security_code == call.query("codigoseguridad")
            and facts.amount is not None
            and facts.amount == money.number(call.query("montototal"))
        ):
            return filed
    return None


def _show(call: AuthorityCall, filed: Filed | None) -> AuthorityReply | RawAnswer:
    state = "No encontrado" if filed is None else "Aceptado" if filed.verdict.accepted else "Rechazado"
    rows = {
        "Estado": state,
        "RNC Emisor": call.query("rncemisor"),
        "e-NCF": call.query("encf").upper(),
        "Monto Total": call.query("montototal"),
        "Código de Seguridad": call.query("codigoseguridad"),
    }
    if "json" in call.request.headers.get("accept", "").lower():
        return AuthorityReply({"estado": state, "rncEmisor": rows["RNC Emisor"], "encf": rows["e-NCF"]})
    lines = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    return page(
        200,
        '<!doctype html><html lang="es"><meta charset="utf-8"><title>Consulta de timbre (simulador)</title>'
        f"<h1>Simulador: no es la DGII</h1><table>{lines}</table></html>",
    )
