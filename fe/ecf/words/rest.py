"""Plain words for what follows the lines: subtotals, discounts of the whole, pages, references, signing."""

REST = {
    # --- Subtotales
    "Subtotales": (
        "Subtotals for print; they count for nothing in the totals.",
        "Subtotales informativos; no cambian los totales.",
    ),
    "Subtotal": (
        "One subtotal.",
        "Un subtotal.",
    ),
    "NumeroSubTotal": (
        "The number of the subtotal.",
        "Número del subtotal.",
    ),
    "DescripcionSubtotal": (
        "What it is a subtotal of.",
        "Título del subtotal.",
    ),
    "Orden": (
        "Its place in print.",
        "Orden en que se imprime.",
    ),
    "SubTotalMontoGravadoTotal": (
        "The taxable amount of all rates in it.",
        "Monto gravado total que incluye.",
    ),
    "SubTotalMontoGravadoI1": (
        "The amount taxed at 18% in it.",
        "Monto gravado al 18 % que incluye.",
    ),
    "SubTotalMontoGravadoI2": (
        "The amount taxed at 16% in it.",
        "Monto gravado al 16 % que incluye.",
    ),
    "SubTotalMontoGravadoI3": (
        "The amount taxed at 0% in it.",
        "Monto gravado a tasa 0 % que incluye.",
    ),
    "SubTotaITBIS": (
        "The ITBIS of all rates in it. (The authority spells it without the l.)",
        "ITBIS total que incluye. (La DGII lo escribe sin la l.)",
    ),
    "SubTotaITBIS1": (
        "The ITBIS at 18% in it.",
        "ITBIS al 18 % que incluye.",
    ),
    "SubTotaITBIS2": (
        "The ITBIS at 16% in it.",
        "ITBIS al 16 % que incluye.",
    ),
    "SubTotaITBIS3": (
        "The ITBIS at 0% in it.",
        "ITBIS a tasa 0 % que incluye.",
    ),
    "SubTotalImpuestoAdicional": (
        "The additional taxes in it.",
        "Impuestos adicionales que incluye.",
    ),
    "SubTotalExento": (
        "The exempt amount in it.",
        "Monto exento que incluye.",
    ),
    "MontoSubTotal": (
        "The amount of the subtotal.",
        "Monto del subtotal.",
    ),
    "Lineas": (
        "How many lines it sums.",
        "Cantidad de líneas que suma.",
    ),
    # --- DescuentosORecargos
    "DescuentosORecargos": (
        "Discounts and surcharges on the whole receipt, not on one line.",
        "Descuentos y recargos sobre todo el comprobante, no sobre una línea.",
    ),
    "DescuentoORecargo": (
        "One discount or surcharge.",
        "Un descuento o recargo.",
    ),
    "DescuentoORecargo.NumeroLinea": (
        "The number of the discount or surcharge, from 1.",
        "Número del descuento o recargo, desde 1.",
    ),
    "TipoAjuste": (
        "Discount (D) or surcharge (R).",
        "Descuento (D) o recargo (R).",
    ),
    "IndicadorNorma1007": (
        "Whether it is a discount under the authority's general rule 10-07.",
        "Si es un descuento de la Norma General 10-07 de la DGII.",
    ),
    "DescripcionDescuentooRecargo": (
        "Why it is given, in words.",
        "Motivo, en palabras.",
    ),
    "TipoValor": (
        "Whether it is an amount ($) or a percentage (%).",
        "Si es un monto ($) o un porcentaje (%).",
    ),
    "ValorDescuentooRecargo": (
        "The percentage, where it is one.",
        "El porcentaje, si lo es.",
    ),
    "MontoDescuentooRecargo": (
        "The amount, in pesos. Of a percentage it is computed.",
        "El monto, en pesos. Si es un porcentaje, se calcula.",
    ),
    "MontoDescuentooRecargoOtraMoneda": (
        "The amount in the other currency.",
        "El monto en la otra moneda.",
    ),
    "IndicadorFacturacionDescuentooRecargo": (
        "Which lines it changes: those taxed at 18%, 16%, 0%, or the exempt ones.",
        "A qué líneas se aplica: las gravadas al 18 %, 16 %, 0 % o las exentas.",
    ),
    # --- Paginacion
    "Paginacion": (
        "The pages of the printed receipt with their subtotals, where it has several.",
        "Las páginas de la representación impresa con sus subtotales, si son varias.",
    ),
    "Pagina": (
        "One page.",
        "Una página.",
    ),
    "PaginaNo": (
        "The number of the page.",
        "Número de la página.",
    ),
    "NoLineaDesde": (
        "The first line on it.",
        "Primera línea de la página.",
    ),
    "NoLineaHasta": (
        "The last line on it.",
        "Última línea de la página.",
    ),
    "SubtotalMontoGravadoPagina": (
        "The taxable amount on the page.",
        "Monto gravado de la página.",
    ),
    "SubtotalMontoGravado1Pagina": (
        "The amount taxed at 18% on the page.",
        "Monto gravado al 18 % de la página.",
    ),
    "SubtotalMontoGravado2Pagina": (
        "The amount taxed at 16% on the page.",
        "Monto gravado al 16 % de la página.",
    ),
    "SubtotalMontoGravado3Pagina": (
        "The amount taxed at 0% on the page.",
        "Monto gravado a tasa 0 % de la página.",
    ),
    "SubtotalExentoPagina": (
        "The exempt amount on the page.",
        "Monto exento de la página.",
    ),
    "SubtotalItbisPagina": (
        "The ITBIS on the page.",
        "ITBIS de la página.",
    ),
    "SubtotalItbis1Pagina": (
        "The ITBIS at 18% on the page.",
        "ITBIS al 18 % de la página.",
    ),
    "SubtotalItbis2Pagina": (
        "The ITBIS at 16% on the page.",
        "ITBIS al 16 % de la página.",
    ),
    "SubtotalItbis3Pagina": (
        "The ITBIS at 0% on the page.",
        "ITBIS a tasa 0 % de la página.",
    ),
    "SubtotalImpuestoAdicionalPagina": (
        "The additional taxes on the page.",
        "Impuestos adicionales de la página.",
    ),
    "SubtotalImpuestoAdicional": (
        "The additional taxes on the page, by kind.",
        "Impuestos adicionales de la página, por clase.",
    ),
    "SubtotalImpuestoSelectivoConsumoEspecificoPagina": (
        "Selective tax by quantity on the page.",
        "Selectivo específico de la página.",
    ),
    "SubtotalOtrosImpuesto": (
        "Other additional taxes on the page.",
        "Otros impuestos adicionales de la página.",
    ),
    "MontoSubtotalPagina": (
        "The subtotal of the page.",
        "Subtotal de la página.",
    ),
    "SubtotalMontoNoFacturablePagina": (
        "The amount on the page that is not billable.",
        "Monto no facturable de la página.",
    ),
    # --- InformacionReferencia
    "InformacionReferencia": (
        "The receipt that this one changes, replaces or refers to.",
        "El comprobante que este modifica, reemplaza o al que hace referencia.",
    ),
    "NCFModificado": (
        "The number of that receipt.",
        "Número de ese comprobante.",
    ),
    "RNCOtroContribuyente": (
        "The tax id of who issued it, if it was not you (after a merger, for example).",
        "RNC de quien lo emitió, si no fue usted (por ejemplo, tras una fusión).",
    ),
    "FechaNCFModificado": (
        "The day of issue of that receipt.",
        "Fecha de emisión de ese comprobante.",
    ),
    "CodigoModificacion": (
        "What this receipt does to it: cancels it, corrects its text or its amounts, replaces it, or refers to it.",
        "Qué le hace: lo anula, corrige su texto o sus montos, lo reemplaza o le hace referencia.",
    ),
    "RazonModificacion": (
        "Why, in words.",
        "El motivo, en palabras.",
    ),
    "FechaHoraFirma": (
        "When it was signed. Always set by the service, whatever is sent.",
        "Fecha y hora de la firma. Siempre la pone el servicio, sin importar lo que se envíe.",
    ),
}
