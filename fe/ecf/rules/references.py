"""Rules on the receipt a document refers to (authority.md#references; format document, section F)."""

from collections.abc import Mapping

from fe.ecf.catalogue import EcfType
from fe.ecf.identity import Referred, referred
from fe.ecf.money import number
from fe.ecf.reading import Fields, says_anything, section, text, whole
from fe.ecf.rules.case import Examination, day_in
from fe.ecf.rules.parties import check_digit
from fe.ecf.thresholds import credit_note_age

_PLACE = "InformacionReferencia"
_NOTES = frozenset({EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE})
_CANCELS, _TEXT, _CONTINGENCY, _CONSUMER = "1", "2", "4", "5"

#: Why a document may refer to another one.
_REASONS: Mapping[EcfType, frozenset[str]] = dict.fromkeys(EcfType, frozenset({_CONTINGENCY})) | {
    EcfType.CREDIT_FISCAL: frozenset({_CONTINGENCY, _CONSUMER}),
    EcfType.DEBIT_NOTE: frozenset({"1", _TEXT, "3", _CONTINGENCY}),
    EcfType.CREDIT_NOTE: frozenset({"1", _TEXT, "3", _CONTINGENCY}),
}


def check_references(case: Examination, ecf_type: EcfType) -> None:
    """Check InformacionReferencia, where there is one: the schema knows who must have it."""
    reference = section(case.content, _PLACE)
    if not says_anything(reference):
        return
    if ecf_type not in _NOTES:
        for name in ("NCFModificado", "FechaNCFModificado", "CodigoModificacion"):
            if text(reference, name) is None:
                case.report("reference-incomplete", f"{_PLACE}.{name}")
    if "RNCOtroContribuyente" in reference:
        check_digit(case, reference, "RNCOtroContribuyente", _PLACE)
    written = text(reference, "NCFModificado")
    target = referred(written) if written else None
    if written is not None and target is None:
        case.report("reference-form", f"{_PLACE}.NCFModificado", found=written, expected="E310000000001")
    elif written is not None and written == case.e_ncf and "RNCOtroContribuyente" not in reference:
        case.report("reference-self", f"{_PLACE}.NCFModificado", found=written)
    _check_reason(case, ecf_type, whole(reference, "CodigoModificacion"), target)
    _check_age(case, ecf_type, reference)


def _check_reason(case: Examination, ecf_type: EcfType, reason: str | None, target: Referred | None) -> None:
    if reason is None:
        return
    allowed = _REASONS[ecf_type]
    if reason not in allowed:
        expected = ", ".join(sorted(allowed))
        case.report("reference-code", f"{_PLACE}.CodigoModificacion", found=reason, expected=expected)
        return
    if reason == _TEXT and case.total:
        path = "Encabezado.Totales.MontoTotal"
        case.report("text-correction-total", path, found=case.totals["MontoTotal"], expected="0.00")
    if ecf_type is EcfType.DEBIT_NOTE and reason == _CANCELS:
        case.report("debit-note-cancels", f"{_PLACE}.CodigoModificacion", found=reason, expected="3")
    if target is None:
        return
    if ecf_type in _NOTES and reason != _CONTINGENCY and target.type in _NOTES:
        case.report("note-on-note", f"{_PLACE}.NCFModificado", found=target.text)
    if reason == _CONTINGENCY and (target.electronic or target.type not in (ecf_type, None)):
        case.report("contingency-type", f"{_PLACE}.NCFModificado", found=target.text)
    if reason == _CONSUMER and target.type is not EcfType.CONSUMER:
        case.report("consumer-reference", f"{_PLACE}.NCFModificado", found=target.text, expected="E32..., B02...")


def _check_age(case: Examination, ecf_type: EcfType, reference: Fields) -> None:
    then = day_in(reference, "FechaNCFModificado")
    if then is None or case.issued is None:
        return
    if then > case.issued:
        case.report("reference-date", f"{_PLACE}.FechaNCFModificado", found=reference["FechaNCFModificado"])
        return
    stated = number(case.id_doc.get("IndicadorNotaCredito"))
    if ecf_type is EcfType.CREDIT_NOTE and stated is not None:
        expected = credit_note_age(case.issued, then)
        if stated != expected:
            path = "Encabezado.IdDoc.IndicadorNotaCredito"
            case.report("credit-note-age", path, found=case.id_doc["IndicadorNotaCredito"], expected=expected)
