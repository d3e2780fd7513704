"""Commercial approvals (authority.md#approval)."""

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.certificate import holder_id
from fe.ecf.identity import e_ncf
from fe.ecf.problems import Severity
from fe.ecf.trust import check_certificate
from fe.simulator.examine import DocumentFacts, Examined
from fe.simulator.ledger import FiledApproval
from fe.simulator.reception import Refusal, journal, named_by, receive_document
from fe.simulator.replies import AuthorityReply
from fe.simulator.settings import AnswerForm
from fe.simulator.state import AuthorityCall, AuthorityState

#: The types whose receiver may approve or refuse them.
_TAKE_APPROVAL = frozenset(
    {
        EcfType.CREDIT_FISCAL,
        EcfType.DEBIT_NOTE,
        EcfType.CREDIT_NOTE,
        EcfType.SPECIAL_REGIME,
        EcfType.GOVERNMENTAL,
    }
)


async def receive_approval(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 9: approved or refused at once; 400 goes with a refusal."""
    refused, facts = None, DocumentFacts("")
    try:
        _, examined = await receive_document(state, call)
        facts = examined.facts
        _check(state, call, examined)
    except Refusal as refusal:
        refused = refusal.text
    # An approval that cannot be read is its sender's, by the file name.
    buyer = facts.buyer or named_by(call.part)[0]
    verdict = {"codigo": 1, "estado": "Aceptado"} if refused is None else {"codigo": 2, "estado": "Rechazado"}
    more = {"issuer": facts.issuer, "eNCF": facts.e_ncf} if refused is None else {"refused": refused}
    journal(state, call, status=200 if refused is None else 400, verdict=verdict, buyer=buyer, **more)
    state.ledger.approvals.append(
        FiledApproval(call.environment, facts.issuer or "", buyer, facts.e_ncf or "", refused is None, call.now)
    )
    if refused is not None:
        return _reply(state, [refused], "Aprobacion Comercial Rechazada.", 2)
    return _reply(state, ["Aprobación Comercial recibida."], "Aprobación Comercial Aprobada.", 1)


def _reply(state: AuthorityState, messages: list[str], estado: str, code: int) -> AuthorityReply:
    codigo: str | int = code if state.settings.answers is AnswerForm.DOCUMENTED else f"{code:02}"
    content = {"mensaje": messages, "estado": estado, "codigo": codigo}
    return AuthorityReply(content, "RespuestaAprobacionComercial", 200 if code == 1 else 400)


def check_signed(state: AuthorityState, call: AuthorityCall, examined: Examined, root: Root, owner: str | None) -> None:
    """Check what approvals and voidings share: root, schema, signature, certificate, delegation for `owner`."""
    problems = [*examined.schema_problems, *examined.rule_problems]
    rejecting = [problem for problem in problems if problem.severity is Severity.REJECTED]
    if examined.facts.root != root or rejecting:
        messages = rejecting[0].message_es if rejecting else f"se esperaba el elemento raíz {root}"
        raise Refusal(f"La estructura del archivo es inválida: {messages}")
    if examined.bad_signature is not None:
        raise Refusal("La firma del archivo es inválida.")
    certificate = examined.certificate
    if certificate is None:
        return
    for objection in check_certificate(certificate, roots=state.registry.trusted, at=call.now):
        raise Refusal(f"El certificado es inválido: {objection.message}.")
    if state.registry.delegations and owner not in state.registry.delegates(holder_id(certificate) or ""):
        raise Refusal(f"El certificado no está delegado para {owner}.")


def _check(state: AuthorityState, call: AuthorityCall, examined: Examined) -> None:
    facts = examined.facts
    check_signed(state, call, examined, Root.ACECF, facts.buyer)
    number = e_ncf(facts.e_ncf or "")
    if number is None or number.type not in _TAKE_APPROVAL:
        raise Refusal("La aprobación comercial no es requerida para este tipo de e-CF.")
    known = state.ledger.of_number(call.environment, facts.issuer or "", str(number))
    if not known and state.settings.require_references:
        raise Refusal("La factura no fue encontrada.")
    if known and not any(filed.verdict.accepted for filed in known):
        raise Refusal("No existe un e-CF válido para la aprobación comercial.")
