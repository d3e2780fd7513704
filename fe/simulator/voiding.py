"""Voiding of number ranges (authority.md#voiding)."""

from itertools import pairwise

from lxml import etree

from fe.ecf.catalogue import Root
from fe.ecf.identity import ENcf, e_ncf
from fe.simulator.approval import check_signed
from fe.simulator.ledger import Voided
from fe.simulator.reception import Refusal, journal, receive_document
from fe.simulator.replies import AuthorityReply
from fe.simulator.state import AuthorityCall, AuthorityState

#: The values of `codigo` are not published; these are read like those of the approvals.
_VOIDED = "01"
_REFUSED = "02"


async def void_ranges(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 10: the numbers are out of use, but for those already used; refused when none could be voided."""
    try:
        _, examined = await receive_document(state, call)
        issuer = examined.facts.issuer or ""
        check_signed(state, call, examined, Root.ANECF, issuer)
        asked = _read_ranges(examined.root, call, issuer)
        used = [e_ncf for voided in asked for e_ncf in state.ledger.used_within(voided)]
        if used and len(used) == sum(voided.last - voided.first + 1 for voided in asked):
            raise Refusal("Las secuencias que está intentando anular han sido utilizadas.")
    except Refusal as refusal:
        journal(state, call, status=400, verdict={"codigo": 2, "estado": "Rechazado"}, refused=refusal.text)
        return _reply(None, _REFUSED, "Anulación rechazada.", [refusal.text])
    done = {"codigo": 1, "estado": "Aceptado"}
    records = [voided.to_record() for voided in asked]
    journal(state, call, status=200, verdict=done, issuer=issuer, voided=records)
    for voided in asked:
        state.ledger.void(voided)
    name = "Las secuencias fueron anuladas correctamente."
    if used:
        name += " Con excepción de las secuencias del detalle."
    return _reply(issuer, _VOIDED, name, used)


def _reply(rnc: str | None, code: str, name: str, messages: list[str]) -> AuthorityReply:
    content = {"rnc": rnc, "codigo": code, "nombre": name, "mensajes": messages}
    return AuthorityReply(content, "RespuestaAnulacionRango", 200 if code == _VOIDED else 400)


def _read_ranges(root: etree._Element, call: AuthorityCall, issuer: str) -> list[Voided]:
    found: list[Voided] = []
    for line, block in enumerate(root.iterfind("DetalleAnulacion/Anulacion"), 1):
        if block.findtext("NoLinea") != str(line):
            raise Refusal("El NoLinea no está en orden.")
        for pair in block.iterfind("TablaRangoSecuenciasAnuladaseNCF/Secuencias"):
            first, last = _number(pair, "SecuenciaeNCFDesde"), _number(pair, "SecuenciaeNCFHasta")
            if not first.type == last.type == block.findtext("TipoeCF"):
                raise Refusal("El tipo de las secuencias es inválido.")
            if first.number > last.number:
                raise Refusal("La secuencia desde es mayor que la secuencia hasta.")
            found.append(Voided(call.environment, issuer, first.type, first.number, last.number))
        _check_count(block, [one for one in found if one.type == block.findtext("TipoeCF")])
    _check_count(root.find("Encabezado"), found)
    return found


def _check_count(said: etree._Element | None, ranges: list[Voided]) -> None:
    """Check a total; a number in two ranges of one ANECF counts twice and is refused with it."""
    numbers = sum(one.last - one.first + 1 for one in ranges)
    if said is None or (said.findtext("CantidadeNCFAnulados") or "").strip().lstrip("0") != str(numbers):
        raise Refusal("El campo CantidadeNCFAnulados no es válido.")
    in_order = sorted(ranges, key=lambda one: (one.type, one.first))
    for before, after in pairwise(in_order):
        if before.type == after.type and after.first <= before.last:
            raise Refusal("El campo SecuenciaeNCFDesde no es válido.")


def _number(pair: etree._Element, name: str) -> ENcf:
    number = e_ncf((pair.findtext(name) or "").strip())
    if number is None:
        raise Refusal(f"El campo {name} no es válido.")
    return number
