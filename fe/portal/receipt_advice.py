"""Advice on a receipt that was rejected or failed, for people: a sentence, and the one page where they act on it
(receipt_advice.toml).

The API's advice on the same codes (fe/ecf/verdicts.py) names requests and JSON fields, which the portal never shows.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from fe.ecf.data_files import toml_file
from fe.ecf.texts import Text
from fe.ecf.verdicts import Explanation, explain
from fe.lifecycle import Status
from fe.store.portal.receipt import ReceiptRecord
from fe.store.records.sequences import Sequence as NumberSequence


class AdvisedStep(StrEnum):
    """The page that a piece of advice leads to."""

    REISSUE = "reissue"
    SEQUENCE = "sequence"
    NUMBER = "number"
    COMPANY = "company"
    CERTIFICATES = "certificates"
    MODIFIED = "modified"


class Advice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence, and the step that it asks for; of some codes."""

    text: Text
    step: AdvisedStep = AdvisedStep.REISSUE
    codes: tuple[str, ...] = ()


class _Advices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    advice: tuple[Advice, ...]
    #: The meaning of a code, without names of XML elements.
    meaning: dict[str, Text]
    #: By the code of a problem: how to correct it in the portal, where the API names a request.
    fix: dict[str, Text]


_READ = toml_file("portal/receipt_advice.toml", _Advices)
_BY_CODE: Mapping[str, Advice] = {code: advice for advice in _READ.advice for code in advice.codes}
OTHER = Advice(
    Text(
        "Correct what the DGII names, check the form, and issue it again.",
        "Corrija lo que indica la DGII, revise el formulario y emita de nuevo.",
    )
)
#: Text in place of advice when the receipt is valid all the same.
VALID = Text(
    "The receipt is valid: you need not issue it again. Mind the remark in the next ones.",
    "El comprobante es válido: no hay que emitirlo de nuevo. Tome en cuenta la observación en los próximos.",
)
_MEANING_ELSEWHERE = Text(
    "The DGII gives its reason in its own words.", "La DGII da el motivo con sus propias palabras."
)


def explained(receipt: ReceiptRecord) -> Sequence[tuple[str, Explanation]]:
    """List the codes of a receipt's verdict, each once, with what the API says of it."""
    said = (receipt.response or {}).get("mensajes")
    if receipt.status is Status.ACCEPTED or not isinstance(said, list):
        return ()
    return list(explain([one for one in said if isinstance(one, dict)]))


def advice_on(code: str) -> Advice:
    """Give the advice on a code of the authority."""
    return _BY_CODE.get(code) or _BY_CODE.get(code.lstrip("0")) or OTHER


def meaning_of(code: str, known: Text) -> Text:
    """Say what a code means without names of XML elements; `known` is what the API says."""
    bare = code.lstrip("0")
    if code in _BY_CODE or bare in _BY_CODE:
        return _READ.meaning.get(bare, known)
    return _MEANING_ELSEWHERE


def fix_of(problem: Mapping[str, Any]) -> Text | None:
    """Say how to mend a problem that is stored with a receipt."""
    if known := _READ.fix.get(str(problem.get("code"))):
        return known
    fix = problem.get("fix")
    if not fix:
        return None
    return Text(str(fix), str(problem.get("fixEs") or fix))


def next_step(receipt: ReceiptRecord, codes: Sequence[str], sequence: NumberSequence | None) -> AdvisedStep | None:
    """Choose the one action that a receipt's page offers first; None where the receipt needs none.

    After a rejection that is the sequence's fault it is the sequence, until that was changed; then issuing again.
    """
    if receipt.status not in (Status.REJECTED, Status.ERROR):
        return None
    step = next((advice_on(code).step for code in codes), AdvisedStep.REISSUE)
    return AdvisedStep.REISSUE if step is AdvisedStep.SEQUENCE and _is_changed(receipt, sequence) else step


def _is_changed(receipt: ReceiptRecord, sequence: NumberSequence | None) -> bool:
    if sequence is None or receipt.e_ncf is None:
        return False
    number = int(receipt.e_ncf[3:]) if receipt.e_ncf[3:].isdigit() else 0
    is_other_day = receipt.ncf_expiration is not None and sequence.last_day != receipt.ncf_expiration
    return is_other_day or not sequence.min_number <= number <= sequence.max_number
