"""The consumer-invoice summary (RFCE), made from the full type-32 e-CF it stands for (authority.md#summary)."""

from datetime import date
from typing import Any

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document
from fe.ecf.money import cents, number
from fe.ecf.reading import Fields, rows, section
from fe.ecf.taxes import AMOUNT_ELEMENTS
from fe.ecf.thresholds import consumer_in_full

_ID = ("TipoeCF", "eNCF", "TipoIngresos", "TipoPago")
_ISSUER = ("RNCEmisor", "RazonSocialEmisor", "FechaEmision")
_BUYER = ("RNCComprador", "IdentificadorExtranjero", "RazonSocialComprador")
_TOTALS = (
    "MontoGravadoTotal",
    "MontoGravadoI1",
    "MontoGravadoI2",
    "MontoGravadoI3",
    "MontoExento",
    "TotalITBIS",
    "TotalITBIS1",
    "TotalITBIS2",
    "TotalITBIS3",
    "MontoImpuestoAdicional",
    "MontoTotal",
    "MontoNoFacturable",
    "MontoPeriodo",
)


def takes_summary(document: Document, *, on: date) -> bool:
    """Whether the authority takes only the summary of this document: a type-32 e-CF below the threshold in force `on`.

    False where MontoTotal is missing or no number: such a document is refused as it stands, not summarised.
    """
    if document.root is not Root.ECF or document.type is not EcfType.CONSUMER:
        return False
    total = number(document.get("Encabezado.Totales.MontoTotal"))
    return total is not None and total < consumer_in_full(on)


def summarise(document: Document, security_code: str) -> Document:
    """Make the RFCE of a complete type-32 e-CF.

    `security_code` is that of the signed full document, never the summary's own. Values are copied; an amount keeps its
    text unless it has decimals other than two, which the summary's schema does not take. `Comprador` is there even when
    nothing is known of the buyer. ValueError when the document is no type-32 ECF.
    """
    if document.root is not Root.ECF or document.type is not EcfType.CONSUMER:
        raise ValueError("only a consumer invoice (type 32) has a summary")
    header = section(document.content, "Encabezado")
    id_doc, totals = section(header, "IdDoc"), section(header, "Totales")
    summary_id = _copy(id_doc, _ID)
    payments = rows(id_doc, "TablaFormasPago", "FormaDePago")
    summary_totals = _amounts(totals, _TOTALS)
    taxes = rows(totals, "ImpuestosAdicionales", "ImpuestoAdicional")
    if payments:
        summary_id["TablaFormasPago"] = {
            "FormaDePago": [_copy(row, ("FormaPago",)) | _amounts(row, ("MontoPago",)) for row in payments]
        }
    if taxes:
        summary_totals["ImpuestosAdicionales"] = {
            "ImpuestoAdicional": [_copy(row, ("TipoImpuesto",)) | _amounts(row, AMOUNT_ELEMENTS) for row in taxes]
        }
    content = {
        "Encabezado": {
            "Version": "1.0",
            "IdDoc": summary_id,
            "Emisor": _copy(section(header, "Emisor"), _ISSUER),
            "Comprador": _copy(section(header, "Comprador"), _BUYER),
            "Totales": summary_totals,
            "CodigoSeguridadeCF": security_code,
        }
    }
    return Document(Root.RFCE, EcfType.CONSUMER, content)


def with_security_code(summary: Document, security_code: str) -> Document:
    """Return the same summary with another security code: that of the full document, once that is signed."""
    header = {**summary.content["Encabezado"], "CodigoSeguridadeCF": security_code}
    return Document(summary.root, summary.type, {**summary.content, "Encabezado": header})


def _copy(fields: Fields, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: fields[name] for name in names if fields.get(name) not in (None, "")}


def _amounts(fields: Fields, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _two_or_no_decimals(value) for name, value in _copy(fields, names).items()}


def _two_or_no_decimals(value: Any) -> Any:
    amount = number(value)
    if amount is None:
        return value
    written = format(amount, "f") if not isinstance(value, str) else value.strip()
    if len(written.partition(".")[2]) in (0, 2):
        return written
    return str(cents(amount))
