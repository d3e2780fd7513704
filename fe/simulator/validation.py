"""The verdict about an e-CF or a summary, by its checks in the order of authority.md#checks."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from cryptography.hazmat.primitives.hashes import SHA256

from fe.authority.estado import Estado
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.certificate import holder_id
from fe.ecf.dates import local, read_day, read_moment
from fe.ecf.identity import ENcf, e_ncf
from fe.ecf.problems import Problem, Severity
from fe.ecf.thresholds import consumer_in_full
from fe.ecf.trust import check_certificate
from fe.simulator.examine import Examined
from fe.simulator.ledger import Ledger, LedgerVerdict
from fe.simulator.operations import SimulatedOperation
from fe.simulator.registry import Registry
from fe.simulator.rejection_reasons import ACCEPTED, NUMBER_STAYS_FREE, RejectionReason, message
from fe.simulator.settings import Catalogue


@dataclass(frozen=True, slots=True)
class ReceivedDocument:
    """A document that is validated: what it says, where it came in, and what the authority knows."""

    examined: Examined
    operation: SimulatedOperation
    environment: Environment
    now: datetime
    registry: Registry
    ledger: Ledger
    require_references: bool = False

    @property
    def issuer(self) -> str:
        """The issuer's tax id; the file name was compared with it before."""
        return self.examined.facts.issuer or ""

    @property
    def number(self) -> ENcf | None:
        """The fiscal number, if it has the form of one."""
        return e_ncf(self.examined.facts.e_ncf or "")


@dataclass(frozen=True, slots=True)
class Ground:
    """One reason not to accept a document without remarks; `text` where it depends on the document."""

    reason: RejectionReason
    text: str | None = None
    conditional: bool = False


def validate(case: ReceivedDocument, catalogue: Catalogue) -> LedgerVerdict:
    """Decide: the first check that finds something settles it."""
    for check in CHECKS:
        findings = check(case)
        if not findings:
            continue
        rejecting = [finding for finding in findings if not finding.conditional]
        counted = rejecting or findings
        messages = tuple(dict.fromkeys(message(catalogue, finding.reason, finding.text) for finding in counted))
        if not rejecting:
            return LedgerVerdict(Estado.CONDITIONAL, messages, number_used=True)
        used = not any(finding.reason in NUMBER_STAYS_FREE for finding in rejecting)
        return LedgerVerdict(Estado.REJECTED, messages, number_used=used)
    return LedgerVerdict(Estado.ACCEPTED, ACCEPTED, number_used=True)


def _structure(case: ReceivedDocument) -> list[Ground]:
    due = Root.RFCE if case.operation is SimulatedOperation.SUMMARY_RECEPTION else Root.ECF
    if case.examined.facts.root != due:
        return [Ground(RejectionReason.STRUCTURE, f"El elemento raíz debe ser {due}.")]
    return [Ground(RejectionReason.STRUCTURE, _message_of(problem)) for problem in case.examined.schema_problems]


def _signature(case: ReceivedDocument) -> list[Ground]:
    return [Ground(RejectionReason.SIGNATURE)] if case.examined.bad_signature is not None else []


def _certificate(case: ReceivedDocument) -> list[Ground]:
    certificate = case.examined.certificate
    if certificate is None:
        return []
    found = [
        Ground(RejectionReason.CERTIFICATE, f"El certificado con que se firmó es inválido: {objection.message}.")
        for objection in check_certificate(certificate, roots=case.registry.trusted, at=case.now)
    ]
    revoked = case.registry.revocations.get(certificate.fingerprint(SHA256()).hex())
    signed = read_moment(case.examined.facts.signed_at or "")
    if revoked is not None and (signed is None or signed >= revoked):
        found.append(Ground(RejectionReason.CERTIFICATE, "El certificado con que se firmó estaba revocado."))
    return found


def _delegation(case: ReceivedDocument) -> list[Ground]:
    certificate = case.examined.certificate
    if certificate is None or not case.registry.delegations:
        return []
    if case.issuer in case.registry.delegates(holder_id(certificate) or ""):
        return []
    return [Ground(RejectionReason.NOT_DELEGATED, f"El certificado no está delegado para {case.issuer}.")]


def _issuer(case: ReceivedDocument) -> list[Ground]:
    if not case.registry.taxpayers:
        return []
    taxpayer = case.registry.taxpayers.get(case.issuer)
    if taxpayer is None:
        return [Ground(RejectionReason.ISSUER_UNKNOWN)]
    if not taxpayer.active:
        return [Ground(RejectionReason.ISSUER_INACTIVE)]
    return [] if taxpayer.electronic else [Ground(RejectionReason.NOT_ELECTRONIC)]


def _route(case: ReceivedDocument) -> list[Ground]:
    """A consumer invoice below the threshold belongs to summary reception, and from the threshold on to reception."""
    number, amount = case.number, case.examined.facts.amount
    if number is None or number.type is not EcfType.CONSUMER or amount is None:
        return []
    issued_on = read_day(case.examined.facts.issued_on or "") or local(case.now).date()
    small = amount < consumer_in_full(issued_on)
    if small == (case.operation is SimulatedOperation.SUMMARY_RECEPTION):
        return []
    where = "Recepción FC" if small else "Recepción"
    return [
        Ground(RejectionReason.ROUTE, f"La factura de consumo debe enviarse al servicio {where} según su MontoTotal.")
    ]


def _authorised(case: ReceivedDocument) -> list[Ground]:
    if any(problem.code == _EXPIRED for problem in case.examined.rule_problems):
        return [Ground(RejectionReason.EXPIRED)]
    number = case.number
    if number is None or not case.registry.has_ranges(case.environment, case.issuer):
        return []
    granted = case.registry.range_of(case.environment, case.issuer, number.type, number.number)
    if granted is None:
        return [Ground(RejectionReason.NOT_AUTHORISED)]
    if granted.expires is None:
        return []
    if granted.expires < local(case.now).date():
        return [Ground(RejectionReason.EXPIRED)]
    written = case.examined.facts.expires
    # Types 32 and 34 carry no date (authority.md#e-ncf).
    if written is not None and read_day(written) != granted.expires:
        return [Ground(RejectionReason.EXPIRY_DIFFERS)]
    return []


def _duplicate(case: ReceivedDocument) -> list[Ground]:
    number = case.number
    if number is None:
        return []
    if case.ledger.is_used(case.environment, case.issuer, str(number)):
        return [Ground(RejectionReason.DUPLICATE)]
    if case.ledger.is_void(case.environment, case.issuer, number.type, number.number):
        return [Ground(RejectionReason.VOIDED)]
    return []


def _references(case: ReceivedDocument) -> list[Ground]:
    """Check that the modified receipt was accepted, if it is electronic; paper NCF are not in the ledger."""
    number = case.number
    modified = e_ncf(case.examined.facts.modified or "")
    if modified is None or number is None or number.type not in (EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE):
        return []
    known = case.ledger.of_number(case.environment, case.issuer, str(modified))
    if not known and not case.require_references:
        return []
    return [] if any(filed.verdict.accepted for filed in known) else [Ground(RejectionReason.REFERENCE)]


def _rules(case: ReceivedDocument) -> list[Ground]:
    return [
        Ground(
            _REASONS.get(problem.code, RejectionReason.RULE),
            _message_of(problem),
            conditional=problem.severity is Severity.CONDITIONAL,
        )
        for problem in case.examined.rule_problems
        if problem.code not in ADVICE
    ]


_EXPIRED = "sequence-expired"
#: Codes of fe.ecf.rules for which the authority has words of its own.
_REASONS = {
    "e-ncf-form": RejectionReason.STRUCTURE,
    "e-ncf-type": RejectionReason.STRUCTURE,
    "not-a-date": RejectionReason.STRUCTURE,
    _EXPIRED: RejectionReason.EXPIRED,
    "reference-self": RejectionReason.REFERENCE,
    "line-amount": RejectionReason.TOTAL,
    "total-mismatch": RejectionReason.TOTAL,
    "base-mismatch": RejectionReason.SUMS,
    "vat-mismatch": RejectionReason.SUMS,
    "tax-amount": RejectionReason.SUMS,
    "tax-total-mismatch": RejectionReason.SUMS,
    "withholding-mismatch": RejectionReason.SUMS,
    "discount-sum": RejectionReason.SUB_DISCOUNTS,
    "surcharge-sum": RejectionReason.SUB_SURCHARGES,
}
#: Remarks of ours that help who issues. The authority has the registers and tables that these only guess at.
ADVICE = frozenset(
    {
        "check-digit",
        "debit-note-cancels",
        "issue-date-future",
        "issue-date-old",
        "issue-date-past",
        "note-on-note",
        "payments-differ",
        "tax-rate-assumed",
        "total-not-prices",
        "withholding-between-companies",
    }
)


def _message_of(problem: Problem) -> str:
    return f"{problem.path}: {problem.message_es}" if problem.path else problem.message_es


#: The order is that of authority.md#checks.
CHECKS: tuple[Callable[[ReceivedDocument], list[Ground]], ...] = (
    _structure,
    _signature,
    _certificate,
    _delegation,
    _issuer,
    _route,
    _authorised,
    _duplicate,
    _references,
    _rules,
)
