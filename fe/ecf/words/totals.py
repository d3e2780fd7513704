"""Plain words for the totals of a receipt, in pesos and in another currency."""

TOTALS = {
    "Totales": (
        "The totals, in pesos. Leave them out and they are computed from the lines.",
        "Los totales, en pesos. Si los omite, se calculan a partir de las líneas.",
    ),
    "MontoGravadoTotal": (
        "The taxable amount of all rates together, without ITBIS.",
        "Monto gravado de todas las tasas, sin ITBIS.",
    ),
    "MontoGravadoI1": (
        "The amount taxed at 18%, without ITBIS.",
        "Monto gravado al 18 %, sin ITBIS.",
    ),
    "MontoGravadoI2": (
        "The amount taxed at 16%, without ITBIS.",
        "Monto gravado al 16 %, sin ITBIS.",
    ),
    "MontoGravadoI3": (
        "The amount taxed at 0%, such as exports.",
        "Monto gravado a tasa 0 %, como las exportaciones.",
    ),
    "MontoExento": (
        "The amount that is exempt from ITBIS.",
        "Monto exento de ITBIS.",
    ),
    "ITBIS1": (
        "The first rate of ITBIS, in per cent: 18.",
        "Primera tasa de ITBIS, en porcentaje: 18.",
    ),
    "ITBIS2": (
        "The second rate of ITBIS, in per cent: 16.",
        "Segunda tasa de ITBIS, en porcentaje: 16.",
    ),
    "ITBIS3": (
        "The third rate of ITBIS, in per cent: 0.",
        "Tercera tasa de ITBIS, en porcentaje: 0.",
    ),
    "TotalITBIS": (
        "The ITBIS of all rates together.",
        "ITBIS total de todas las tasas.",
    ),
    "TotalITBIS1": (
        "The ITBIS at 18%.",
        "ITBIS al 18 %.",
    ),
    "TotalITBIS2": (
        "The ITBIS at 16%.",
        "ITBIS al 16 %.",
    ),
    "TotalITBIS3": (
        "The ITBIS at 0%: 0.00.",
        "ITBIS a tasa 0 %: 0.00.",
    ),
    "MontoImpuestoAdicional": (
        "All additional taxes together: the selective ones (ISC), the legal tip and the like.",
        "Suma de los impuestos adicionales: selectivo al consumo (ISC), propina legal y similares.",
    ),
    "ImpuestosAdicionales": (
        "The additional taxes, one by one.",
        "Los impuestos adicionales, uno por uno.",
    ),
    "ImpuestoAdicional": (
        "One additional tax.",
        "Un impuesto adicional.",
    ),
    "TipoImpuesto": (
        "Which additional tax it is, by its code of three digits.",
        "Qué impuesto adicional es, por su código de tres dígitos.",
    ),
    "TasaImpuestoAdicional": (
        "Its rate: per cent, or for selective taxes by quantity pesos a unit.",
        "Su tasa: porcentaje o, en el selectivo específico, pesos por unidad.",
    ),
    "MontoImpuestoSelectivoConsumoEspecifico": (
        "Selective tax by quantity (ISC específico), in pesos.",
        "Impuesto selectivo al consumo específico, en pesos.",
    ),
    "MontoImpuestoSelectivoConsumoAdvalorem": (
        "Selective tax by price (ISC ad valorem), in pesos.",
        "Impuesto selectivo al consumo ad valorem, en pesos.",
    ),
    "OtrosImpuestosAdicionales": (
        "The amount of another additional tax (codes 001 to 005), in pesos.",
        "Monto de otro impuesto adicional (códigos 001 a 005), en pesos.",
    ),
    "MontoTotal": (
        "The total of the receipt: taxed and exempt amounts, ITBIS and additional taxes.",
        "Total del comprobante: montos gravados y exentos, ITBIS e impuestos adicionales.",
    ),
    "MontoNoFacturable": (
        "The amount of lines that are not billable (IndicadorFacturacion 0). It may be negative.",
        "Monto de las líneas no facturables (IndicadorFacturacion 0). Puede ser negativo.",
    ),
    "MontoPeriodo": (
        "The amount of the period: MontoTotal and MontoNoFacturable together.",
        "Monto del período: MontoTotal más MontoNoFacturable.",
    ),
    "SaldoAnterior": (
        "The balance of before. It may be negative.",
        "Saldo anterior. Puede ser negativo.",
    ),
    "MontoAvancePago": (
        "What was paid in advance.",
        "Monto pagado por adelantado.",
    ),
    "ValorPagar": (
        "What is to be paid in the end.",
        "Valor a pagar.",
    ),
    "TotalITBISRetenido": (
        "The ITBIS withheld in all lines.",
        "ITBIS retenido en todas las líneas.",
    ),
    "TotalISRRetencion": (
        "The income tax (ISR) withheld in all lines.",
        "ISR retenido en todas las líneas.",
    ),
    "TotalITBISPercepcion": (
        "The ITBIS perceived in all lines.",
        "ITBIS percibido en todas las líneas.",
    ),
    "TotalISRPercepcion": (
        "The income tax (ISR) perceived in all lines.",
        "ISR percibido en todas las líneas.",
    ),
    "OtraMoneda": (
        "The same totals in another currency. Give TipoMoneda and TipoCambio, and the amounts are computed.",
        "Los mismos totales en otra moneda. Indique TipoMoneda y TipoCambio, y los montos se calculan.",
    ),
    "TipoMoneda": (
        "The currency, as the authority spells it.",
        "La moneda, como la escribe la DGII.",
    ),
    "TipoCambio": (
        "How many pesos one unit of that currency is.",
        "Cuántos pesos vale una unidad de esa moneda.",
    ),
    "MontoGravadoTotalOtraMoneda": (
        "MontoGravadoTotal in the other currency.",
        "MontoGravadoTotal en la otra moneda.",
    ),
    "MontoGravado1OtraMoneda": (
        "The amount taxed at 18%, in the other currency.",
        "Monto gravado al 18 %, en la otra moneda.",
    ),
    "MontoGravado2OtraMoneda": (
        "The amount taxed at 16%, in the other currency.",
        "Monto gravado al 16 %, en la otra moneda.",
    ),
    "MontoGravado3OtraMoneda": (
        "The amount taxed at 0%, in the other currency.",
        "Monto gravado a tasa 0 %, en la otra moneda.",
    ),
    "MontoExentoOtraMoneda": (
        "The exempt amount in the other currency.",
        "Monto exento en la otra moneda.",
    ),
    "TotalITBISOtraMoneda": (
        "The ITBIS of all rates in the other currency.",
        "ITBIS total en la otra moneda.",
    ),
    "TotalITBIS1OtraMoneda": (
        "The ITBIS at 18%, in the other currency.",
        "ITBIS al 18 %, en la otra moneda.",
    ),
    "TotalITBIS2OtraMoneda": (
        "The ITBIS at 16%, in the other currency.",
        "ITBIS al 16 %, en la otra moneda.",
    ),
    "TotalITBIS3OtraMoneda": (
        "The ITBIS at 0%, in the other currency: 0.00.",
        "ITBIS a tasa 0 %, en la otra moneda: 0.00.",
    ),
    "MontoImpuestoAdicionalOtraMoneda": (
        "All additional taxes, in the other currency.",
        "Suma de los impuestos adicionales, en la otra moneda.",
    ),
    "ImpuestosAdicionalesOtraMoneda": (
        "The additional taxes one by one, in the other currency.",
        "Los impuestos adicionales uno por uno, en la otra moneda.",
    ),
    "ImpuestoAdicionalOtraMoneda": (
        "One additional tax, in the other currency.",
        "Un impuesto adicional, en la otra moneda.",
    ),
    "TipoImpuestoOtraMoneda": (
        "Which additional tax it is, by its code.",
        "Qué impuesto adicional es, por su código.",
    ),
    "TasaImpuestoAdicionalOtraMoneda": (
        "Its rate.",
        "Su tasa.",
    ),
    "MontoImpuestoSelectivoConsumoEspecificoOtraMoneda": (
        "Selective tax by quantity, in the other currency.",
        "Impuesto selectivo al consumo específico, en la otra moneda.",
    ),
    "MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda": (
        "Selective tax by price, in the other currency.",
        "Impuesto selectivo al consumo ad valorem, en la otra moneda.",
    ),
    "OtrosImpuestosAdicionalesOtraMoneda": (
        "Another additional tax, in the other currency.",
        "Otro impuesto adicional, en la otra moneda.",
    ),
    "MontoTotalOtraMoneda": (
        "The total of the receipt in the other currency.",
        "Total del comprobante en la otra moneda.",
    ),
}
