"""Plain words for the lines of a receipt."""

LINES = {
    "DetallesItems": (
        "What is sold: the lines. You may give the list of lines here directly.",
        "Lo que se vende: las líneas. Puede dar aquí directamente la lista de líneas.",
    ),
    "Item": (
        "One line.",
        "Una línea.",
    ),
    "NumeroLinea": (
        "The number of the line, from 1 without gaps.",
        "Número de la línea, desde 1 y sin saltos.",
    ),
    "TablaCodigosItem": (
        "Codes of the article, up to five.",
        "Códigos del artículo, hasta cinco.",
    ),
    "CodigosItem": (
        "One code of the article.",
        "Un código del artículo.",
    ),
    "TipoCodigo": (
        "What kind of code it is, in your words: Interna, EAN13.",
        "Qué tipo de código es, en sus palabras: Interna, EAN13.",
    ),
    "CodigoItem": (
        "The code itself.",
        "El código mismo.",
    ),
    "IndicadorFacturacion": (
        "How the line is taxed: at 18%, 16%, 0%, exempt, or not billable. Not billable (0) only as XML.",
        "Cómo se grava la línea: 18 %, 16 %, 0 %, exenta o no facturable. No facturable (0), solo en XML.",
    ),
    "Retencion": (
        "Taxes withheld or perceived on this line.",
        "Impuestos retenidos o percibidos en esta línea.",
    ),
    "IndicadorAgenteRetencionoPercepcion": (
        "Whether it is a withholding or a perception.",
        "Si se trata de una retención o de una percepción.",
    ),
    "MontoITBISRetenido": (
        "The ITBIS withheld or perceived on the line, in pesos.",
        "ITBIS retenido o percibido en la línea, en pesos.",
    ),
    "MontoISRRetenido": (
        "The income tax (ISR) withheld or perceived on the line, in pesos.",
        "ISR retenido o percibido en la línea, en pesos.",
    ),
    "NombreItem": (
        "What the good or service is called.",
        "Nombre del bien o servicio.",
    ),
    "IndicadorBienoServicio": (
        "Whether it is goods or a service.",
        "Si es un bien o un servicio.",
    ),
    "DescripcionItem": (
        "A longer description.",
        "Una descripción más amplia.",
    ),
    "CantidadItem": (
        "How many or how much.",
        "Cantidad.",
    ),
    "UnidadMedida": (
        "The unit of the quantity, as a code: 43 is a unit.",
        "Unidad de medida, por su código: 43 es unidad.",
    ),
    "CantidadReferencia": (
        "How many articles are in one unit sold: 24 bottles in a box. For selective taxes.",
        "Cuántos artículos trae cada unidad vendida: 24 botellas por caja. Para el selectivo.",
    ),
    "UnidadReferencia": (
        "The unit of these articles: bottle, pack.",
        "Unidad de esos artículos: botella, cajetilla.",
    ),
    "TablaSubcantidad": (
        "What one article holds, for selective taxes on alcohol.",
        "Contenido de cada artículo, para el selectivo de los alcoholes.",
    ),
    "SubcantidadItem": (
        "One such content.",
        "Un contenido.",
    ),
    "Subcantidad": (
        "How much one article holds: 0.355 litres.",
        "Cuánto contiene cada artículo: 0.355 litros.",
    ),
    "CodigoSubcantidad": (
        "The unit of that content: 24 is a litre.",
        "Unidad de ese contenido: 24 es litro.",
    ),
    "GradosAlcohol": (
        "The strength of the alcohol, in per cent by volume.",
        "Grados de alcohol, en porcentaje por volumen.",
    ),
    "PrecioUnitarioReferencia": (
        "The retail price of one article, from which the selective tax by price is computed.",
        "Precio al detalle de cada artículo, base del selectivo ad valorem.",
    ),
    "FechaElaboracion": (
        "When the article was made.",
        "Fecha de elaboración del artículo.",
    ),
    "FechaVencimientoItem": (
        "When the article expires.",
        "Fecha de vencimiento del artículo.",
    ),
    "Mineria": (
        "What is said of minerals.",
        "Datos de minería.",
    ),
    "PesoNetoKilogramo": (
        "The net weight in kilograms.",
        "Peso neto en kilogramos.",
    ),
    "PesoNetoMineria": (
        "The net weight of the mineral, in its own unit.",
        "Peso neto del mineral, en su propia unidad.",
    ),
    "TipoAfiliacion": (
        "Whether the buyer is affiliated with the seller.",
        "Si el comprador es empresa afiliada.",
    ),
    "Liquidacion": (
        "Whether the settlement is provisional or final.",
        "Si la liquidación es provisional o final.",
    ),
    "PrecioUnitarioItem": (
        "The price of one unit, with up to four decimals; with ITBIS if IndicadorMontoGravado is 1.",
        "Precio unitario, con hasta cuatro decimales; con ITBIS si IndicadorMontoGravado es 1.",
    ),
    "DescuentoMonto": (
        "The discount of the line, in pesos: the sum of its parts.",
        "Descuento de la línea, en pesos: la suma de sus partes.",
    ),
    "TablaSubDescuento": (
        "The parts of which that discount consists.",
        "Las partes que componen ese descuento.",
    ),
    "SubDescuento": (
        "One part of the discount.",
        "Una parte del descuento.",
    ),
    "TipoSubDescuento": (
        "Whether the part is an amount ($) or a percentage (%).",
        "Si la parte es un monto ($) o un porcentaje (%).",
    ),
    "SubDescuentoPorcentaje": (
        "The percentage, where it is one.",
        "El porcentaje, si lo es.",
    ),
    "MontoSubDescuento": (
        "The amount of this part, in pesos.",
        "Monto de esta parte, en pesos.",
    ),
    "RecargoMonto": (
        "The surcharge of the line, in pesos: the sum of its parts.",
        "Recargo de la línea, en pesos: la suma de sus partes.",
    ),
    "TablaSubRecargo": (
        "The parts of which that surcharge consists.",
        "Las partes que componen ese recargo.",
    ),
    "SubRecargo": (
        "One part of the surcharge.",
        "Una parte del recargo.",
    ),
    "TipoSubRecargo": (
        "Whether the part is an amount ($) or a percentage (%).",
        "Si la parte es un monto ($) o un porcentaje (%).",
    ),
    "SubRecargoPorcentaje": (
        "The percentage, where it is one.",
        "El porcentaje, si lo es.",
    ),
    "MontoSubRecargo": (
        "The amount of this part, in pesos.",
        "Monto de esta parte, en pesos.",
    ),
    "TablaImpuestoAdicional": (
        "The additional taxes that the line bears, two at most.",
        "Los impuestos adicionales que lleva la línea, dos como máximo.",
    ),
    "TablaImpuestoAdicional.ImpuestoAdicional": (
        "One additional tax of the line. Its amount stands in the totals.",
        "Un impuesto adicional de la línea. Su monto va en los totales.",
    ),
    "OtraMonedaDetalle": (
        "The line in the other currency.",
        "La línea en la otra moneda.",
    ),
    "PrecioOtraMoneda": (
        "The price of one unit in the other currency.",
        "Precio unitario en la otra moneda.",
    ),
    "DescuentoOtraMoneda": (
        "The discount of the line in the other currency.",
        "Descuento de la línea en la otra moneda.",
    ),
    "RecargoOtraMoneda": (
        "The surcharge of the line in the other currency.",
        "Recargo de la línea en la otra moneda.",
    ),
    "MontoItemOtraMoneda": (
        "The amount of the line in the other currency.",
        "Monto de la línea en la otra moneda.",
    ),
    "MontoItem": (
        "The amount of the line: quantity times price, less discount, plus surcharge.",
        "Monto de la línea: cantidad por precio, menos descuento, más recargo.",
    ),
}
