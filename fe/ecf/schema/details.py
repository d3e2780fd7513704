"""The lines of an e-CF (`DetallesItems`), for the ten types. How to read the tables: see `header`."""

from fe.ecf.schema.model import row
from fe.ecf.schema.simple import (
    ADDITIONAL_TAX,
    AFFILIATION,
    AMOUNT,
    AMOUNT_ABOVE_0,
    AMOUNT_OR_PERCENT,
    BILLING_INDICATOR,
    DATE,
    FINE_QUANTITY,
    GOODS_OR_SERVICE,
    PERCENTAGE,
    PRICE,
    QUANTITY,
    QUANTITY_ABOVE_0,
    SETTLEMENT,
    TO_1000,
    TO_10000,
    UNIT,
    UNIT_AS_SPELLED,
    WITHHOLDING_AGENT,
    text,
)

CODIGOS_ITEM = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "TipoCodigo", text(14)),
    row("R  R  R  R  R  R  R  R  R  R", "CodigoItem", text(35)),
)

TABLA_CODIGOS_ITEM = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "CodigosItem", CODIGOS_ITEM, many=5),
)

RETENCION = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  -  o  o  R  -  -  -  -  R", "IndicadorAgenteRetencionoPercepcion", WITHHOLDING_AGENT),
    row("o  -  o  o  o  -  -  -  -  -", "MontoITBISRetenido", AMOUNT),
    row("o  -  o  o  o  -  -  -  -  R", "MontoISRRetenido", AMOUNT),
)

SUBCANTIDAD_ITEM = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  o  o  o  -  -  -  o  -  -", "Subcantidad", FINE_QUANTITY),
    row("o  o  o  o  -  -  -  o  -  -", "CodigoSubcantidad", UNIT, but={"33": UNIT_AS_SPELLED}),
)

TABLA_SUBCANTIDAD = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  -  -  -  R  -  -", "SubcantidadItem", SUBCANTIDAD_ITEM, many=5),
)

MINERIA = (
    #    31 32 33 34 41 43 44 45 46 47
    row("-  o  o  o  -  -  -  -  o  -", "PesoNetoKilogramo", FINE_QUANTITY),
    row("-  o  o  o  -  -  -  -  o  -", "PesoNetoMineria", FINE_QUANTITY),
    row("-  o  o  o  -  -  -  -  o  -", "TipoAfiliacion", AFFILIATION),
    row("-  o  o  o  -  -  -  -  o  -", "Liquidacion", SETTLEMENT),
)

SUB_DESCUENTO = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  -  R  R  R  -", "TipoSubDescuento", AMOUNT_OR_PERCENT),
    row("o  o  o  o  o  -  o  o  o  -", "SubDescuentoPorcentaje", PERCENTAGE),
    row("o  o  o  o  o  -  o  o  o  -", "MontoSubDescuento", AMOUNT),
)

TABLA_SUB_DESCUENTO = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  -  R  R  R  -", "SubDescuento", SUB_DESCUENTO, many=12),
)

SUB_RECARGO = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  -  R  R  R  -", "TipoSubRecargo", AMOUNT_OR_PERCENT),
    row("o  o  o  o  o  -  o  o  o  -", "SubRecargoPorcentaje", PERCENTAGE),
    row("o  o  o  o  o  -  o  o  o  -", "MontoSubRecargo", AMOUNT),
)

TABLA_SUB_RECARGO = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  -  R  R  R  -", "SubRecargo", SUB_RECARGO, many=12),
)

IMPUESTO_ADICIONAL = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  -  -  R  R  -  -", "TipoImpuesto", ADDITIONAL_TAX),
)

TABLA_IMPUESTO_ADICIONAL = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  -  -  R  R  -  -", "ImpuestoAdicional", IMPUESTO_ADICIONAL, many=2),
)

OTRA_MONEDA_DETALLE = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  o  o  o  o  o  o  o  o  o", "PrecioOtraMoneda", PRICE),
    row("o  o  o  o  o  o  o  o  o  o", "DescuentoOtraMoneda", AMOUNT),
    row("o  o  o  o  o  o  o  o  o  o", "RecargoOtraMoneda", AMOUNT),
    row("o  o  o  o  o  o  o  o  o  o", "MontoItemOtraMoneda", AMOUNT),
)

ITEM = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "NumeroLinea", TO_1000, but={"33 34": TO_10000}),
    row("o  o  o  o  o  o  o  o  o  o", "TablaCodigosItem", TABLA_CODIGOS_ITEM),
    row("R  R  R  R  R  R  R  R  R  R", "IndicadorFacturacion", BILLING_INDICATOR),
    row("o  -  o  o  R  -  -  -  -  R", "Retencion", RETENCION),
    row("R  R  R  R  R  R  R  R  R  R", "NombreItem", text(80)),
    row("R  R  R  R  R  R  R  R  R  R", "IndicadorBienoServicio", GOODS_OR_SERVICE),
    row("o  o  o  o  o  o  o  o  o  o", "DescripcionItem", text(1000)),
    row("R  R  R  R  R  R  R  R  R  R", "CantidadItem", QUANTITY_ABOVE_0),
    row("o  o  o  o  o  o  o  o  o  o", "UnidadMedida", UNIT, but={"33 44": UNIT_AS_SPELLED}),
    row("o  o  o  o  -  -  -  o  -  -", "CantidadReferencia", QUANTITY),
    row("o  o  o  o  -  -  -  o  -  -", "UnidadReferencia", UNIT, but={"33": UNIT_AS_SPELLED}),
    row("o  o  o  o  -  -  -  o  -  -", "TablaSubcantidad", TABLA_SUBCANTIDAD),
    row("o  o  o  o  -  -  -  o  -  -", "GradosAlcohol", PERCENTAGE),
    row("o  o  o  o  -  -  -  o  -  -", "PrecioUnitarioReferencia", AMOUNT_ABOVE_0),
    row("o  o  o  o  o  -  o  o  o  -", "FechaElaboracion", DATE),
    row("o  o  o  o  o  -  o  o  o  -", "FechaVencimientoItem", DATE),
    row("-  o  o  o  -  -  -  -  o  -", "Mineria", MINERIA),
    row("R  R  R  R  R  R  R  R  R  R", "PrecioUnitarioItem", PRICE),
    row("o  o  o  o  o  -  o  o  o  -", "DescuentoMonto", AMOUNT),
    row("o  o  o  o  o  -  o  o  o  -", "TablaSubDescuento", TABLA_SUB_DESCUENTO),
    row("o  o  o  o  o  -  o  o  o  -", "RecargoMonto", AMOUNT),
    row("o  o  o  o  o  -  o  o  o  -", "TablaSubRecargo", TABLA_SUB_RECARGO),
    row("o  o  o  o  -  -  o  o  -  -", "TablaImpuestoAdicional", TABLA_IMPUESTO_ADICIONAL),
    row("o  o  o  o  o  o  o  o  o  o", "OtraMonedaDetalle", OTRA_MONEDA_DETALLE),
    row("R  R  R  R  R  R  R  R  R  R", "MontoItem", AMOUNT),
)

DETALLES_ITEMS = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "Item", ITEM, many=1000, but={"33 34": 10000}),
)
