"""Receipts to try arithmetic and rules on: small, valid, of every type; the parties are demonstration companies."""

from datetime import UTC, date, datetime
from typing import Any

from fe.ecf.autofill import autofill
from fe.ecf.catalogue import EcfType
from fe.ecf.document import Document, read_payload

NOW = datetime(2026, 11, 20, 14, 0, 0, tzinfo=UTC)
EXPIRY = date(2028, 12, 31)
#: A day on which the rates of alcohol and of cigarettes are both known.
RATED_DAY = "15-10-2025"

ISSUER = {
    "RNCEmisor": "131880738",
    "RazonSocialEmisor": "DOCUMENTOS ELECTRONICOS DE 02",
    "DireccionEmisor": "AVE. ISABEL AGUIAR NO. 269",
    "Municipio": "010100",
    "Provincia": "010000",
    "ZonaVenta": "NORTE",
}
BUYER = {"RNCComprador": "131880681", "RazonSocialComprador": "DOCUMENTOS ELECTRONICOS DE 03"}

_BUYERS: dict[EcfType, dict[str, str]] = dict.fromkeys(EcfType, BUYER) | {
    EcfType.MINOR_EXPENSES: {},
    EcfType.PAYMENTS_ABROAD: {"IdentificadorExtranjero": "X-1", "RazonSocialComprador": "ACME LTD"},
}
_WITHOUT_INCOME = {EcfType.PURCHASES, EcfType.MINOR_EXPENSES, EcfType.PAYMENTS_ABROAD}

#: A line's IndicadorFacturacion where nothing else is asked for.
USUAL_INDICATOR = dict.fromkeys(EcfType, "1") | {
    EcfType.MINOR_EXPENSES: "4",
    EcfType.SPECIAL_REGIME: "4",
    EcfType.EXPORTS: "3",
    EcfType.PAYMENTS_ABROAD: "4",
}


def line(price: str = "100.00", quantity: str = "1.00", indicator: str | None = "1", **more: Any) -> dict[str, Any]:
    """One line of goods."""
    fields = {
        "NombreItem": "COSA",
        "IndicadorBienoServicio": "1",
        "CantidadItem": quantity,
        "PrecioUnitarioItem": price,
        **more,
    }
    return fields if indicator is None else {"IndicadorFacturacion": indicator, **fields}


def withheld(ecf_type: EcfType, fields: dict[str, Any], vat: str = "0.00", income: str = "10.00") -> dict[str, Any]:
    """The line, with the Retencion that types 41 and 47 must have."""
    retention = {"IndicadorAgenteRetencionoPercepcion": "1", "MontoISRRetenido": income}
    if ecf_type is EcfType.PURCHASES:
        return {**fields, "Retencion": {**retention, "MontoITBISRetenido": vat}}
    if ecf_type is EcfType.PAYMENTS_ABROAD:
        return {**fields, "Retencion": retention, "IndicadorBienoServicio": "2"}
    return fields


def payload(
    ecf_type: EcfType, lines: list[dict[str, Any]], *, included: bool | None = None, issued: str = RATED_DAY, **top: Any
) -> dict[str, Any]:
    """A client's payload in mode A: no issuer but for the day, no totals, no line numbers."""
    id_doc: dict[str, Any] = {"eNCF": f"{ecf_type.prefix}0000000007", "TipoPago": "1"}
    if ecf_type not in _WITHOUT_INCOME:
        id_doc["TipoIngresos"] = "01"
    if included is not None:
        id_doc["IndicadorMontoGravado"] = "1" if included else "0"
    content: dict[str, Any] = {
        "Encabezado": {"IdDoc": id_doc, "Emisor": {"FechaEmision": issued}},
        "DetallesItems": {"Item": [withheld(ecf_type, one) if "Retencion" not in one else one for one in lines]},
    }
    buyer = _BUYERS[ecf_type]
    if buyer:
        content["Encabezado"]["Comprador"] = dict(buyer)
    if ecf_type in (EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE):
        content["InformacionReferencia"] = {
            "NCFModificado": "E310000000003",
            "FechaNCFModificado": issued,
            "CodigoModificacion": "3",
        }
    if ecf_type is EcfType.CREDIT_NOTE:
        id_doc["IndicadorNotaCredito"] = "0"
    for name in ("OtraMoneda", "Totales"):
        if name in top:
            content["Encabezado"][name] = top.pop(name)
    return {**content, **top}


def draft(ecf_type: EcfType, lines: list[dict[str, Any]], **more: Any) -> Document:
    """The payload read, not filled in."""
    return read_payload(payload(ecf_type, lines, **more))


def long_draft() -> Document:
    """As many lines as a receipt may have, with all that lines may have of codes and discounts in a body of 1 MiB.

    It is 0.7 MB as a payload, and 1.2 MB as XML.
    """
    codes = [
        {"TipoCodigo": "Interna", "CodigoItem": "AB-00000001"},
        {"TipoCodigo": "EAN13", "CodigoItem": "7501234567890"},
    ]
    discounts = [
        {"TipoSubDescuento": "%", "SubDescuentoPorcentaje": "5.00"},
        {"TipoSubDescuento": "$", "MontoSubDescuento": "1.00"},
    ]
    one = line(
        "1234.56",
        "12.50",
        TablaCodigosItem={"CodigosItem": codes},
        DescripcionItem="Servicio técnico prestado en el mes, según orden de trabajo. " * 2,
        UnidadMedida="43",
        TablaSubDescuento={"SubDescuento": discounts},
        TablaSubRecargo={"SubRecargo": [{"TipoSubRecargo": "$", "MontoSubRecargo": "1.00"}]},
    )
    return draft(EcfType.CREDIT_FISCAL, [one] * 1000)


def fill(document: Document) -> Document:
    """The document after autofill."""
    return autofill(document, issuer=ISSUER, expiry=EXPIRY, now=NOW)


def receipt(ecf_type: EcfType, lines: list[dict[str, Any]] | None = None, **more: Any) -> Document:
    """A complete document."""
    return fill(draft(ecf_type, lines or [line(indicator=USUAL_INDICATOR[ecf_type])], **more))


def changed(document: Document, path: str, value: Any) -> Document:
    """The document with another value at `path` (items counted from 1); None takes it away."""
    content = _changed(document.content, path.split("."), value)
    return Document(document.root, document.type, content)


def _changed(content: Any, steps: list[str], value: Any) -> Any:
    name, _, number = steps[0].rstrip("]").partition("[")
    copy = dict(content)
    if number:
        entries = list(copy[name])
        entries[int(number) - 1] = value if len(steps) == 1 else _changed(entries[int(number) - 1], steps[1:], value)
        copy[name] = entries
    elif len(steps) > 1:
        copy[name] = _changed(copy.get(name, {}), steps[1:], value)
    elif value is None:
        copy.pop(name, None)
    else:
        copy[name] = value
    return copy
