"""Columns of the authority's workbook of step 2, each with the path of its element.

A column is named after its element, with an index for each group that repeats: `TipoImpuesto[2]` is of the totals,
`TipoImpuesto[1][2]` of the first line. Only the few names that differ stand here as `column:element`.
"""

from collections.abc import Iterator, Mapping
from functools import cache

#: Sheets of the workbook.
ECF, RFCE = "ECF", "RFCE"
#: The column that names the case: the issuer's RNC and the number.
CASE, NUMBER = "CasoPrueba", "ENCF"
ISSUER, TYPE, ENDS = "RNCEmisor", "TipoeCF", "FechaVencimientoSecuencia"
CODE = "CodigoSeguridadeCF"

LINES = 62
_ID = "Encabezado.IdDoc"
_TAX = (
    "TipoImpuesto TasaImpuestoAdicional MontoImpuestoSelectivoConsumoEspecifico MontoImpuestoSelectivoConsumoAdvalorem "
    "OtrosImpuestosAdicionales"
)
_AMOUNTS = "MontoGravadoTotal MontoGravadoI1 MontoGravadoI2 MontoGravadoI3 MontoExento"
_VAT = "TotalITBIS TotalITBIS1 TotalITBIS2 TotalITBIS3"
_OTHER_TOTALS = "Encabezado.OtraMoneda"
_OTHER_TAXES = f"{_OTHER_TOTALS}.ImpuestosAdicionalesOtraMoneda.ImpuestoAdicionalOtraMoneda"

#: Path of a group, its columns, and how often they stand there; 0: the group does not repeat.
_HEADER = (
    ("Encabezado", "Version", 0),
    (
        _ID,
        "TipoeCF ENCF:eNCF FechaVencimientoSecuencia IndicadorNotaCredito IndicadorEnvioDiferido IndicadorMontoGravado "
        "TipoIngresos TipoPago FechaLimitePago TerminoPago",
        0,
    ),
    (f"{_ID}.TablaFormasPago.FormaDePago", "FormaPago MontoPago", 7),
    (_ID, "TipoCuentaPago NumeroCuentaPago BancoPago FechaDesde FechaHasta TotalPaginas", 0),
    (
        "Encabezado.Emisor",
        "RNCEmisor RazonSocialEmisor NombreComercial Sucursal DireccionEmisor Municipio Provincia",
        0,
    ),
    ("Encabezado.Emisor.TablaTelefonoEmisor.TelefonoEmisor", "TelefonoEmisor:", 3),
    (
        "Encabezado.Emisor",
        "CorreoEmisor WebSite ActividadEconomica CodigoVendedor NumeroFacturaInterna NumeroPedidoInterno ZonaVenta "
        "RutaVenta InformacionAdicionalEmisor FechaEmision",
        0,
    ),
    (
        "Encabezado.Comprador",
        "RNCComprador IdentificadorExtranjero RazonSocialComprador ContactoComprador CorreoComprador "
        "DireccionComprador "
        "MunicipioComprador ProvinciaComprador PaisComprador FechaEntrega ContactoEntrega DireccionEntrega "
        "TelefonoAdicional FechaOrdenCompra NumeroOrdenCompra CodigoInternoComprador ResponsablePago "
        "InformacionAdicionalComprador",
        0,
    ),
    (
        "Encabezado.InformacionesAdicionales",
        "FechaEmbarque NumeroEmbarque NumeroContenedor NumeroReferencia NombrePuertoEmbarque CondicionesEntrega "
        "TotalFob "
        "Seguro Flete OtrosGastos TotalCif RegimenAduanero NombrePuertoSalida NombrePuertoDesembarque PesoBruto "
        "PesoNeto "
        "UnidadPesoBruto UnidadPesoNeto CantidadBulto UnidadBulto VolumenBulto UnidadVolumen",
        0,
    ),
    (
        "Encabezado.Transporte",
        "ViaTransporte PaisOrigen DireccionDestino PaisDestino RNCIdentificacionCompaniaTransportista "
        "NombreCompaniaTransportista NumeroViaje Conductor DocumentoTransporte Ficha Placa RutaTransporte "
        "ZonaTransporte "
        "NumeroAlbaran",
        0,
    ),
    ("Encabezado.Totales", f"{_AMOUNTS} ITBIS1 ITBIS2 ITBIS3 {_VAT} MontoImpuestoAdicional", 0),
    ("Encabezado.Totales.ImpuestosAdicionales.ImpuestoAdicional", _TAX, 4),
    (
        "Encabezado.Totales",
        "MontoTotal MontoNoFacturable MontoPeriodo SaldoAnterior MontoAvancePago ValorPagar TotalITBISRetenido "
        "TotalISRRetencion TotalITBISPercepcion TotalISRPercepcion",
        0,
    ),
    (
        _OTHER_TOTALS,
        "TipoMoneda TipoCambio MontoGravadoTotalOtraMoneda MontoGravado1OtraMoneda MontoGravado2OtraMoneda "
        "MontoGravado3OtraMoneda MontoExentoOtraMoneda TotalITBISOtraMoneda TotalITBIS1OtraMoneda "
        "TotalITBIS2OtraMoneda "
        "TotalITBIS3OtraMoneda MontoImpuestoAdicionalOtraMoneda",
        0,
    ),
    (_OTHER_TAXES, " ".join(f"{name}OtraMoneda" for name in _TAX.split()), 4),
    (_OTHER_TOTALS, "MontoTotalOtraMoneda", 0),
)
#: Of one line; paths start at the line.
_LINE = (
    ("", "NumeroLinea", 0),
    ("TablaCodigosItem.CodigosItem", "TipoCodigo CodigoItem", 5),
    ("", "IndicadorFacturacion", 0),
    ("Retencion", "IndicadorAgenteRetencionoPercepcion MontoITBISRetenido MontoISRRetenido", 0),
    (
        "",
        "NombreItem IndicadorBienoServicio DescripcionItem CantidadItem UnidadMedida CantidadReferencia "
        "UnidadReferencia",
        0,
    ),
    ("TablaSubcantidad.SubcantidadItem", "Subcantidad CodigoSubcantidad", 5),
    ("", "GradosAlcohol PrecioUnitarioReferencia FechaElaboracion FechaVencimientoItem", 0),
    ("Mineria", "PesoNetoKilogramo PesoNetoMineria TipoAfiliacion Liquidacion", 0),
    ("", "PrecioUnitarioItem DescuentoMonto", 0),
    ("TablaSubDescuento.SubDescuento", "TipoSubDescuento SubDescuentoPorcentaje MontoSubDescuento", 5),
    ("", "RecargoMonto", 0),
    ("TablaSubRecargo.SubRecargo", "TipoSubRecargo SubRecargoPorcentaje MontosubRecargo:MontoSubRecargo", 5),
    ("TablaImpuestoAdicional.ImpuestoAdicional", "TipoImpuesto", 2),
    ("OtraMonedaDetalle", "PrecioOtraMoneda DescuentoOtraMoneda RecargoOtraMoneda MontoItemOtraMoneda", 0),
    ("", "MontoItem", 0),
)
_SUBTOTAL = (
    "NumeroSubTotal DescripcionSubtotal Orden SubTotalMontoGravadoTotal SubTotalMontoGravadoI1 SubTotalMontoGravadoI2 "
    "SubTotalMontoGravadoI3 SubTotaITBIS SubTotaITBIS1 SubTotaITBIS2 SubTotaITBIS3 SubTotalImpuestoAdicional "
    "SubTotalExento MontoSubTotal Lineas"
)
_ADJUSTMENT = (
    "NumeroLineaDoR:NumeroLinea TipoAjuste IndicadorNorma1007 DescripcionDescuentooRecargo TipoValor "
    "ValorDescuentooRecargo MontoDescuentooRecargo MontoDescuentooRecargoOtraMoneda "
    "IndicadorFacturacionDescuentooRecargo"
)
_PAGE = (
    "PaginaNo NoLineaDesde NoLineaHasta SubtotalMontoGravadoPagina SubtotalMontoGravado1Pagina "
    "SubtotalMontoGravado2Pagina SubtotalMontoGravado3Pagina SubtotalExentoPagina SubtotalItbisPagina "
    "SubtotalItbis1Pagina SubtotalItbis2Pagina SubtotalItbis3Pagina SubtotalImpuestoAdicionalPagina"
)
_PAGE_TAXES = "SubtotalImpuestoSelectivoConsumoEspecificoPagina SubtotalOtrosImpuesto"
_PAGE_END = "MontoSubtotalPagina SubtotalMontoNoFacturablePagina"
_REFERENCE = "NCFModificado RNCOtroContribuyente FechaNCFModificado CodigoModificacion RazonModificacion"

_SUMMARY = (
    ("Encabezado", "Version", 0),
    (_ID, "TipoeCF ENCF:eNCF TipoIngresos TipoPago", 0),
    (f"{_ID}.TablaFormasPago.FormaDePago", "FormaPago MontoPago", 7),
    ("Encabezado.Emisor", "RNCEmisor RazonSocialEmisor FechaEmision", 0),
    ("Encabezado.Comprador", "RNCComprador IdentificadorExtranjero RazonSocialComprador", 0),
    ("Encabezado.Totales", f"{_AMOUNTS} {_VAT} MontoImpuestoAdicional", 0),
    (
        "Encabezado.Totales.ImpuestosAdicionales.ImpuestoAdicional",
        _TAX.replace("TasaImpuestoAdicional ", ""),
        4,
    ),
    ("Encabezado.Totales", "MontoTotal MontoNoFacturable MontoPeriodo", 0),
    ("Encabezado", CODE, 0),
)


def _named(
    groups: tuple[tuple[str, str, int], ...], below: str = "", place: str = ""
) -> Iterator[tuple[str, str | None]]:
    for group, names, times in groups:
        path = ".".join(filter(None, (below, group)))
        for number in range(1, times + 1) if times else (0,):
            index = f"[{number}]" if number else ""
            for name in names.split():
                column, renamed, element = name.partition(":")
                leaf = f".{element or column}" if element or not renamed else ""
                yield f"{column}{place}{index}", f"{path}{index}{leaf}"


def _tail() -> Iterator[tuple[str, str | None]]:
    yield from _named((("Subtotales.Subtotal[1]", _SUBTOTAL, 0),))
    yield from _named((("DescuentosORecargos.DescuentoORecargo", _ADJUSTMENT, 2),))
    for number in (1, 2):
        page, place = f"Paginacion.Pagina[{number}]", f"[{number}]"
        yield from _named(((page, _PAGE, 0),), place=place)
        if number == 1:
            yield "SubtotalImpuestoAdicionalPaginaTabla[1]", None
        for column, path in _named((("SubtotalImpuestoAdicional", _PAGE_TAXES, 0),), page, place):
            yield f"{column}[1]", path
        yield from _named(((page, _PAGE_END, 0),), place=place)
    yield from _named((("InformacionReferencia", _REFERENCE, 0),))


@cache
def columns(sheet: str) -> Mapping[str, str | None]:
    """Return the columns of a sheet in their order, each with its path; None for one that has no element."""
    found: dict[str, str | None] = {CASE: None}
    if sheet == RFCE:
        found.update(_named(_SUMMARY))
        return found
    found.update(_named(_HEADER))
    for number in range(1, LINES + 1):
        found.update(_named(_LINE, f"DetallesItems.Item[{number}]", f"[{number}]"))
    found.update(_tail())
    return found
