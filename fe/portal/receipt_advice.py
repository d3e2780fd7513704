"""Advice on a receipt that was rejected or failed, for people: a sentence, and the one page where they act on it.

The API's advice on the same codes (fe/ecf/verdicts.py) names requests and JSON fields, which the portal never shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from fe.ecf.texts import Text
from fe.ecf.verdicts import Explanation, explain
from fe.lifecycle import Status
from fe.store.portal.receipt import ReceiptRecord
from fe.store.records.sequences import Sequence as NumberSequence


class AdvisedStep(Enum):
    """The page that a piece of advice leads to."""

    REISSUE = auto()
    SEQUENCE = auto()
    NUMBER = auto()
    COMPANY = auto()
    CERTIFICATES = auto()
    MODIFIED = auto()


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence, and the step that it asks for."""

    text: Text
    step: AdvisedStep = AdvisedStep.REISSUE


_RANGES = Advice(
    Text(
        "Compare the range of the sequence with the one that the DGII authorised, and correct it here. If you have no "
        "numbers left, ask the DGII for more. Then issue again.",
        "Compare el rango de la secuencia con el que autorizó la DGII y corríjalo aquí. Si ya no le quedan números, "
        "solicite más a la DGII. Después emita de nuevo.",
    ),
    AdvisedStep.SEQUENCE,
)
_NUMBER_USED = Advice(
    Text(
        "Another receipt has this number: look at it. If this sale is not in it, issue it again with a new number.",
        "Otro comprobante ya tiene este número: revíselo. Si esta venta no está en él, emítala de nuevo con otro "
        "número.",
    ),
    AdvisedStep.NUMBER,
)
_SUMS = Advice(
    Text(
        "Correct the amounts and issue again; the totals are computed for you.",
        "Corrija los montos y emita de nuevo; los totales se calculan solos.",
    )
)
OTHER = Advice(
    Text(
        "Correct what the DGII names, check the form, and issue it again.",
        "Corrija lo que indica la DGII, revise el formulario y emita de nuevo.",
    )
)
_BY_CODE: Mapping[str, Advice] = {
    "1": Advice(
        Text(
            "Open the receipt again, correct what the check marks, and issue it.",
            "Abra de nuevo el comprobante, corrija lo que marque la revisión y emítalo.",
        )
    ),
    "2": Advice(
        Text(
            "Look both RNC up at the DGII: your company's, and that of the other side. Correct the wrong one and "
            "issue again.",
            "Consulte en la DGII los dos RNC: el de su empresa y el de la otra parte. Corrija el que esté mal y emita "
            "de nuevo.",
        )
    ),
    "3": _NUMBER_USED,
    "004": Advice(
        Text(
            "The DGII could not check it at that moment. Issue it again: the number is available.",
            "La DGII no pudo validarlo en ese momento. Emítalo de nuevo: el número quedó disponible.",
        )
    ),
    "4": _RANGES,
    "7": Advice(
        Text(
            "Correct the expiry date of the sequence: it has to be the one that the DGII gave. If that has passed, ask "
            "the DGII for a new range. Issuing again before that gives the same rejection.",
            "Corrija la fecha de vencimiento de la secuencia: debe ser la que dio la DGII. Si ya pasó, solicite un "
            "rango nuevo a la DGII. Si emite antes de corregirla, recibirá el mismo rechazo.",
        ),
        AdvisedStep.SEQUENCE,
    ),
    "8": Advice(
        Text(
            "Look at the expiry of the certificate here, and at the DGII whether its holder may sign for the company. "
            "Then issue again.",
            "Revise aquí el vencimiento del certificado y, en la Oficina Virtual de la DGII, que su titular esté "
            "autorizado a firmar por la empresa. Después emita de nuevo.",
        ),
        AdvisedStep.CERTIFICATES,
    ),
    "13": _SUMS,
    "64": Advice(
        Text(
            "To cancel a receipt issue a credit note; a debit note only raises its amount. Correct it and issue again.",
            "Para anular un comprobante emita una nota de crédito; la de débito solo aumenta su monto. Corríjalo y "
            "emita de nuevo.",
        ),
        AdvisedStep.MODIFIED,
    ),
    "75": _RANGES,
    "176": _SUMS,
    "260": Advice(
        Text(
            "Give the ITBIS withheld of each line, 0 where nothing is withheld, and issue again.",
            "Indique el ITBIS retenido de cada línea, 0 donde no se retiene, y emita de nuevo.",
        )
    ),
    "614": Advice(
        Text(
            "The receipt that this note modifies has to be accepted first. Look at it, and issue the note again once "
            "it is.",
            "El comprobante que modifica esta nota debe estar aceptado primero. Revíselo y emita la nota de nuevo "
            "cuando lo esté.",
        ),
        AdvisedStep.MODIFIED,
    ),
    "634": Advice(
        Text(
            "The note gives another date than its receipt has. Look at the receipt, and issue the note again.",
            "La nota indica otra fecha que la del comprobante. Revise el comprobante y emita la nota de nuevo.",
        ),
        AdvisedStep.MODIFIED,
    ),
    "1100": Advice(
        Text(
            "Give the day by which the sale on credit is to be paid, and issue again.",
            "Indique hasta qué fecha se paga la venta a crédito y emita de nuevo.",
        )
    ),
    "1209": _NUMBER_USED,
    "1381": Advice(
        Text(
            "A consumer invoice of RD$250,000 or more needs the buyer's RNC or cédula and name. Add them and issue "
            "again.",
            "Una factura de consumo de RD$250,000 o más requiere el RNC o la cédula y el nombre del cliente. "
            "Agréguelos y emita de nuevo.",
        )
    ),
    "1930": _SUMS,
    "1934": _SUMS,
    "2020": _SUMS,
    "2030": _SUMS,
    "2150": Advice(
        Text(
            "Correct the quantities and units of the lines and issue again.",
            "Corrija las cantidades y unidades de las líneas y emita de nuevo.",
        )
    ),
    "3205": _SUMS,
    "3243": Advice(
        Text("Check the RNC of the company and issue again.", "Revise el RNC de la empresa y emita de nuevo."),
        AdvisedStep.COMPANY,
    ),
}
#: Text in place of advice when the receipt is valid all the same.
VALID = Text(
    "The receipt is valid: you need not issue it again. Mind the remark in the next ones.",
    "El comprobante es válido: no hay que emitirlo de nuevo. Tome en cuenta la observación en los próximos.",
)
_MEANING_ELSEWHERE = Text(
    "The DGII gives its reason in its own words.", "La DGII da el motivo con sus propias palabras."
)
_MEANINGS = {
    "64": Text("A debit note cannot cancel a receipt.", "Una nota de débito no puede anular un comprobante."),
    "176": Text(
        "Whether amounts include ITBIS is missing or not valid.", "Falta si los montos incluyen ITBIS, o no es válido."
    ),
    "260": Text("The ITBIS withheld of a purchase is not valid.", "El ITBIS retenido de una compra no es válido."),
    "634": Text(
        "The date of the receipt that this note modifies is another one.",
        "La fecha del comprobante que modifica esta nota es otra.",
    ),
    "1100": Text(
        "The day by which a sale on credit is to be paid is missing or not valid.",
        "Falta la fecha de pago de una venta a crédito, o no es válida.",
    ),
    "1381": Text(
        "The buyer's RNC or cédula is missing in a consumer invoice of RD$250,000 or more.",
        "Falta el RNC o la cédula del cliente en una factura de consumo de RD$250,000 o más.",
    ),
    "1930": Text("The amount taxed at 18% is missing.", "Falta el monto gravado al 18 %."),
    "1934": Text("The amount taxed at 18% differs from the lines.", "El monto gravado al 18 % difiere de las líneas."),
    "614": Text(
        "The receipt that this note modifies was not issued, or may not be modified by a note.",
        "El comprobante que modifica esta nota no ha sido emitido o no admite una nota.",
    ),
    "2020": Text("The discounts of a line do not add up.", "Los descuentos de una línea no cuadran."),
    "2030": Text("The surcharges of a line do not add up.", "Los recargos de una línea no cuadran."),
    "2150": Text(
        "The quantities of a line that is taxed by content are not valid.",
        "Las cantidades de una línea gravada por contenido no son válidas.",
    ),
    "3205": Text(
        "The total is not the sum of the lines and taxes.", "El total no es la suma de las líneas y los impuestos."
    ),
}
#: By the code of a problem: how to mend it in the portal, where the API says it by a request.
_FIXES = {
    "number-taken": Text("look for the receipt that has the number", "busque el comprobante que tiene el número"),
    "number-far-ahead": Text(
        "if it was a mistake, set the next number of the sequence back before you send more",
        "si fue un error, devuelva el próximo número de la secuencia antes de enviar más",
    ),
    "sequence-without-end": Text(
        "write the expiry date that the DGII gave into the sequence",
        "escriba en la secuencia la fecha de vencimiento que dio la DGII",
    ),
}


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
        return _MEANINGS.get(bare, known)
    return _MEANING_ELSEWHERE


def fix_of(problem: Mapping[str, Any]) -> Text | None:
    """Say how to mend a problem that is stored with a receipt."""
    if known := _FIXES.get(str(problem.get("code"))):
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
