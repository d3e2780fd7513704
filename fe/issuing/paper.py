"""Content of receipts of series B on paper, and of the e-CF that replace them (docs/contingency.md). No I/O."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from fe.ecf.catalogue import Root
from fe.ecf.dates import local, show_day
from fe.ecf.document import Document, NotADocument, read_payload
from fe.ecf.json_text import write_canonical_json
from fe.ecf.money import ZERO
from fe.ecf.money import number as amount
from fe.ecf.paper import TYPES, PaperOfTomorrow, PaperRefused, ncf_of, read_ncf
from fe.ecf.parse import parse_json
from fe.ecf.problems import Problem, Severity
from fe.ecf.reading import section, text
from fe.ecf.texts import Text
from fe.issuing.prepare import Prepared, prepare
from fe.store.records.paper import AskedPaper, ExaminedPaper, PaperRecord

MAX_PAYLOAD = 256 * 1024
_PREFIX_OF = {of: prefix for prefix, of in TYPES.items()}
#: Fields of the replacing e-CF that it gets when it is issued.
_OWN = (
    *("Encabezado.IdDoc.eNCF", "Encabezado.IdDoc.FechaVencimientoSecuencia", "Encabezado.Emisor.FechaEmision"),
    *("Encabezado.IdDoc.IndicadorEnvioDiferido", "FechaHoraFirma"),
)
_REFERENCE = "InformacionReferencia"

_TYPE = Text(
    "{ncf} is replaced by an e-CF of type {wanted}, and the payload is of type {found}",
    "{ncf} se reemplaza con un e-CF tipo {wanted}, y el payload es de tipo {found}",
)
_NO_TYPE = Text(
    "payload: must be an e-CF of a type that exists on paper",
    "payload: debe ser un e-CF de un tipo que exista en papel",
)
_OWN_FIELD = Text(
    "{path}: the replacing e-CF gets its own; leave it out",
    "{path}: el e-CF que reemplaza recibe el suyo; omítalo",
)
_FUTURE = Text("the date on the paper, {day}, lies in the future", "la fecha del papel, {day}, está en el futuro")
_TOO_LARGE = Text("payload: at most 256 KB", "payload: máximo 256 KB")


class BadPaper(Exception):
    """The content could never be issued as an e-CF; `problems` is all that is wrong with it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].message)
        self.problems = list(problems)


def examine(asked: AskedPaper, issuer: Mapping[str, Any], now: datetime) -> ExaminedPaper:
    """Read the content, and see that it can be issued as an e-CF. CPU work. Raises PaperRefused, BadPaper."""
    prefix = None if asked.ncf is None else read_ncf(asked.ncf)[0]
    today = local(now).date()
    day = asked.issued_on or today
    if day > today:
        raise PaperOfTomorrow(_FUTURE.fill(day=show_day(day)))
    try:
        document = read_payload(asked.payload)
    except NotADocument as bad:
        raise BadPaper(bad.problems) from None
    if document.root is not Root.ECF or document.type is None or document.type not in _PREFIX_OF:
        raise PaperRefused(_NO_TYPE)
    if prefix is not None and TYPES[prefix] is not document.type:
        raise PaperRefused(_TYPE.fill(ncf=asked.ncf, wanted=TYPES[prefix].value, found=document.type.value))
    for path in _OWN:
        if document.get(path) not in (None, ""):
            raise PaperRefused(_OWN_FIELD.fill(path=path))
    content = {name: value for name, value in document.content.items() if name != _REFERENCE}
    head = dict(section(content, "Encabezado"))
    content["Encabezado"] = {**head, "IdDoc": {**section(head, "IdDoc"), "TipoeCF": document.type.value}}
    written = write_canonical_json(content)
    if len(written) > MAX_PAYLOAD:
        raise PaperRefused(_TOO_LARGE)
    prefix = _PREFIX_OF[document.type]
    replacing = read_payload(with_reference(parse_json(written), asked.ncf or ncf_of(prefix, 1), day))
    prepared = _prepared(replacing, issuer, now)
    if prepared.fatal:
        raise BadPaper(prepared.fatal)
    made = prepared.document
    buyer = section(section(made.content, "Encabezado"), "Comprador")
    remarks = [one for one in prepared.problems if one.severity is Severity.CONDITIONAL]
    if document.get(_REFERENCE):
        remarks.insert(0, _REFERENCE_LEFT_OUT)
    return ExaminedPaper(
        prefix,
        written,
        text(buyer, "RNCComprador"),
        text(buyer, "RazonSocialComprador"),
        amount(made.get("Encabezado.Totales.MontoTotal")) or ZERO,
        amount(made.get("Encabezado.Totales.TotalITBIS")) or ZERO,
        tuple(remarks),
    )


def _prepared(document: Document, issuer: Mapping[str, Any], now: datetime) -> Prepared:
    """Complete a document under a number that stands for the one it gets."""
    assert document.type is not None
    last_day = local(now).date() + timedelta(days=365)
    number = f"{document.type.prefix}{1:010d}"
    return prepare(document, number=number, issuer=issuer, last_day=last_day, holders=(), now=now)


def with_reference(payload: dict[str, Any], ncf: str, issued_on: date) -> dict[str, Any]:
    """Return the payload of the e-CF that replaces a paper receipt: code 4, its number, and its date."""
    reference = {"NCFModificado": ncf, "FechaNCFModificado": show_day(issued_on), "CodigoModificacion": "4"}
    return {**payload, _REFERENCE: reference}


def printed_document(record: PaperRecord, issuer: Mapping[str, Any]) -> Document:
    """Return the content of a paper receipt, dated as it is, for printing. CPU work. Raises NotADocument."""
    payload = parse_json(record.payload, max_bytes=MAX_PAYLOAD)
    head = payload["Encabezado"]
    head["Emisor"] = {**head.get("Emisor", {}), "FechaEmision": show_day(record.issued_on)}
    return _prepared(read_payload(payload), issuer, record.entered_at).document


_REFERENCE_LEFT_OUT = Problem(
    code="paper-reference",
    path=_REFERENCE,
    message="the reference is left out: the e-CF refers to the paper receipt that it replaces (code 4)",
    message_es="se omite la referencia: el e-CF se refiere al comprobante en papel que reemplaza (código 4)",
    fix="nothing is to be done; keep the paper note with the receipt that it modifies",
    fix_es="no hay que hacer nada; conserve la nota en papel con el comprobante que modifica",
    severity=Severity.CONDITIONAL,
)
