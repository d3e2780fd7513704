"""Rules on issuer and buyer (authority.md#types)."""

from fe.ecf.catalogue import EcfType
from fe.ecf.identity import TaxIdKind, referred, tax_id
from fe.ecf.reading import Fields, section, text
from fe.ecf.rules.case import Examination
from fe.ecf.thresholds import consumer_in_full


def check_digit(case: Examination, fields: Fields, name: str, place: str) -> None:
    """Remark on an RNC or cédula whose last digit does not check.

    A remark and no more: the authority looks numbers up in its registry, and the registry holds RNCs and cédulas that
    fail the public algorithm. To refuse those would stop taxpayers who can do nothing about it; a mistyped number of a
    supplier or buyer, on the other hand, is what this finds before the authority does.
    """
    written = text(fields, name)
    number = tax_id(written) if written else None
    if number is not None and not number.checks:
        kind = "RNC" if number.kind is TaxIdKind.RNC else "cédula"
        case.report("check-digit", f"{place}.{name}", found=written, kind=kind)


def check_parties(case: Examination) -> None:
    """Check the buyer's ids, and that it is named where it must be.

    The issuer's RNC is looked at when a company is created: on each receipt the remark would only be in the way.
    """
    if "RNCComprador" in case.buyer:
        check_digit(case, case.buyer, "RNCComprador", "Encabezado.Comprador")
    by_rnc, by_foreign_id = text(case.buyer, "RNCComprador"), text(case.buyer, "IdentificadorExtranjero")
    if by_rnc and by_foreign_id:
        case.report("buyer-two-ids", "Encabezado.Comprador.IdentificadorExtranjero", found=by_foreign_id)
    if case.type is EcfType.SPECIAL_REGIME and not by_rnc and not by_foreign_id:
        case.report("buyer-id-missing", "Encabezado.Comprador.RNCComprador")
    if _is_consumer_sale(case):
        _check_named(case, by_rnc, by_foreign_id)


def _check_named(case: Examination, by_rnc: str | None, by_foreign_id: str | None) -> None:
    threshold = consumer_in_full(case.day)
    if case.total is None or case.total < threshold:
        return
    words = {"threshold": f"{threshold:,.2f}"}
    if not by_rnc and not by_foreign_id:
        case.report("buyer-missing", "Encabezado.Comprador.RNCComprador", **words)
    if not text(case.buyer, "RazonSocialComprador"):
        case.report("buyer-missing", "Encabezado.Comprador.RazonSocialComprador", **words)


def _is_consumer_sale(case: Examination) -> bool:
    # A credit note is never above what it corrects, so that one at the threshold corrects an invoice at or above it. A
    # debit note's own amount says nothing of the invoice.
    if case.type is EcfType.CONSUMER:
        return True
    if case.type is not EcfType.CREDIT_NOTE:
        return False
    corrected = referred(text(section(case.content, "InformacionReferencia"), "NCFModificado") or "")
    return corrected is not None and corrected.type is EcfType.CONSUMER
