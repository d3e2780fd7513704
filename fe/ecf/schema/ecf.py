"""The whole e-CF, for the ten types: header, lines, and what follows them. How to read the tables: see `header`."""

from fe.ecf.schema.details import DETALLES_ITEMS
from fe.ecf.schema.header import ENCABEZADO
from fe.ecf.schema.model import row
from fe.ecf.schema.simple import (
    ADJUSTMENT,
    AMOUNT,
    AMOUNT_ABOVE_0,
    AMOUNT_OR_PERCENT,
    BILLABLE_INDICATOR,
    DATE,
    MODIFICATION,
    MODIFIED_NCF,
    PERCENTAGE,
    RNC,
    RULE_10_07,
    TIMESTAMP,
    TO_1000,
    TO_10000,
    WHOLE_2,
    text,
)

#: The columns of the tables.
TYPES = ("31", "32", "33", "34", "41", "43", "44", "45", "46", "47")

SUBTOTAL = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  o  o  o  o  o  o  o  o  o", "NumeroSubTotal", WHOLE_2),
    row("o  o  o  o  o  o  o  o  o  o", "DescripcionSubtotal", text(40)),
    row("o  o  o  o  o  o  o  o  o  o", "Orden", WHOLE_2),
    row("o  o  o  o  o  -  -  o  o  -", "SubTotalMontoGravadoTotal", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "SubTotalMontoGravadoI1", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "SubTotalMontoGravadoI2", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "SubTotalMontoGravadoI3", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "SubTotaITBIS", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "SubTotaITBIS1", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "SubTotaITBIS2", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "SubTotaITBIS3", AMOUNT),
    row("o  o  o  o  o  -  o  o  -  -", "SubTotalImpuestoAdicional", AMOUNT),
    row("o  o  o  o  o  o  o  o  -  o", "SubTotalExento", AMOUNT),
    row("o  o  o  o  o  o  o  o  o  o", "MontoSubTotal", AMOUNT),
    row("o  o  o  o  o  o  o  o  o  o", "Lineas", WHOLE_2),
)

SUBTOTALES = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "Subtotal", SUBTOTAL, many=20),
)

DESCUENTO_O_RECARGO = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  -  R  R  R  -", "NumeroLinea", WHOLE_2),
    row("R  R  R  R  R  -  R  R  R  -", "TipoAjuste", ADJUSTMENT),
    row("o  o  o  o  -  -  -  o  -  -", "IndicadorNorma1007", RULE_10_07),
    row("o  o  o  o  o  -  o  o  o  -", "DescripcionDescuentooRecargo", text(45)),
    row("o  o  o  o  o  -  o  o  o  -", "TipoValor", AMOUNT_OR_PERCENT),
    row("o  o  o  o  o  -  o  o  o  -", "ValorDescuentooRecargo", PERCENTAGE),
    row("o  o  o  o  o  -  o  o  o  -", "MontoDescuentooRecargo", AMOUNT),
    row("o  o  o  o  o  -  o  o  o  -", "MontoDescuentooRecargoOtraMoneda", AMOUNT),
    row("o  o  o  o  o  -  o  o  o  -", "IndicadorFacturacionDescuentooRecargo", BILLABLE_INDICATOR),
)

DESCUENTOS_O_RECARGOS = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  -  R  R  R  -", "DescuentoORecargo", DESCUENTO_O_RECARGO, many=20),
)

SUBTOTAL_IMPUESTO_ADICIONAL = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  o  o  o  -  -  -  o  -  -", "SubtotalImpuestoSelectivoConsumoEspecificoPagina", AMOUNT_ABOVE_0),
    row("o  o  o  o  -  -  o  o  -  -", "SubtotalOtrosImpuesto", AMOUNT_ABOVE_0),
)

PAGINA = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  o  o  o  o  o  o  o  o  o", "PaginaNo", TO_1000, but={"33 34": TO_10000}),
    row("o  o  o  o  o  o  o  o  o  o", "NoLineaDesde", TO_1000, but={"33 34": TO_10000}),
    row("o  o  o  o  o  o  o  o  o  o", "NoLineaHasta", TO_1000, but={"33 34": TO_10000}),
    row("o  o  o  o  o  -  -  o  o  -", "SubtotalMontoGravadoPagina", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "SubtotalMontoGravado1Pagina", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "SubtotalMontoGravado2Pagina", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "SubtotalMontoGravado3Pagina", AMOUNT),
    row("o  o  o  o  o  o  o  o  -  o", "SubtotalExentoPagina", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "SubtotalItbisPagina", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "SubtotalItbis1Pagina", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "SubtotalItbis2Pagina", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "SubtotalItbis3Pagina", AMOUNT),
    row("o  o  o  o  -  -  o  o  -  -", "SubtotalImpuestoAdicionalPagina", AMOUNT_ABOVE_0),
    row("o  o  o  o  -  -  o  o  -  -", "SubtotalImpuestoAdicional", SUBTOTAL_IMPUESTO_ADICIONAL),
    row("o  o  o  o  o  o  o  o  o  o", "MontoSubtotalPagina", AMOUNT),
    row("o  o  o  o  -  -  o  o  o  -", "SubtotalMontoNoFacturablePagina", AMOUNT),
)

PAGINACION = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "Pagina", PAGINA, many=1000, but={"33 34": 10000}),
)

INFORMACION_REFERENCIA = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  o  R  R  o  o  o  o  o  o", "NCFModificado", MODIFIED_NCF),
    row("o  o  o  o  o  o  o  o  o  o", "RNCOtroContribuyente", RNC),
    row("o  o  R  R  o  o  o  o  o  o", "FechaNCFModificado", DATE),
    row("o  o  R  R  o  o  o  o  o  o", "CodigoModificacion", MODIFICATION),
    row("-  -  o  o  -  -  -  -  -  -", "RazonModificacion", text(90)),
)

ECF = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "Encabezado", ENCABEZADO),
    row("R  R  R  R  R  R  R  R  R  R", "DetallesItems", DETALLES_ITEMS),
    row("o  o  o  o  o  o  o  o  o  o", "Subtotales", SUBTOTALES),
    row("o  o  o  o  o  -  o  o  o  -", "DescuentosORecargos", DESCUENTOS_O_RECARGOS),
    row("o  o  o  o  o  o  o  o  o  o", "Paginacion", PAGINACION),
    row("o  o  R  R  o  o  o  o  o  o", "InformacionReferencia", INFORMACION_REFERENCIA),
    row("R  R  R  R  R  R  R  R  R  R", "FechaHoraFirma", TIMESTAMP),
)
