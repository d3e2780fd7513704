"""The header of an e-CF (`Encabezado`), for the ten types.

Each table is the sequence of one element's children. The columns are the types: `R` required, `o` optional, `-` not
allowed. Where a type has another kind of value or another limit, `but` names it.
"""

from fe.ecf.schema.model import row
from fe.ecf.schema.simple import (
    ACCOUNT_TYPE,
    ADDITIONAL_TAX,
    AMOUNT,
    AMOUNT_ABOVE_0,
    AMOUNT_SIGNED,
    CREDIT_NOTE_AGE,
    CURRENCY,
    DATE,
    E_MAIL,
    E_NCF,
    ECF_TYPE,
    EXCHANGE_RATE,
    EXCHANGE_RATE_OR_0,
    INCOME_TYPE,
    LOCALITY,
    PAGES_4,
    PAGES_5,
    PAYMENT_FORM,
    PAYMENT_TYPE,
    PERCENTAGE,
    PHONE,
    QUANTITY,
    QUANTITY_ABOVE_0,
    RNC,
    TAX_INCLUDED,
    TERMS,
    TRANSPORT_WAY,
    UNIT,
    UNIT_AS_SPELLED,
    VERSION,
    WHOLE_2,
    WHOLE_20,
    YES,
    alphabetic,
    text,
    words,
)

FORMA_DE_PAGO = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  -  R  -  R  R  R  R", "FormaPago", PAYMENT_FORM),
    row("R  R  R  -  R  -  R  R  R  R", "MontoPago", AMOUNT),
)

TABLA_FORMAS_PAGO = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  -  R  -  R  R  R  R", "FormaDePago", FORMA_DE_PAGO, many=7),
)

ID_DOC = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "TipoeCF", ECF_TYPE),
    row("R  R  R  R  R  R  R  R  R  R", "eNCF", E_NCF),
    row("-  -  -  R  -  -  -  -  -  -", "IndicadorNotaCredito", CREDIT_NOTE_AGE),
    row("R  -  R  -  R  R  R  R  R  R", "FechaVencimientoSecuencia", DATE),
    row("o  o  o  o  -  -  o  o  o  -", "IndicadorEnvioDiferido", YES),
    row("o  o  o  o  o  -  -  o  -  -", "IndicadorMontoGravado", TAX_INCLUDED),
    row("o  o  o  o  -  -  o  o  -  -", "IndicadorServicioTodoIncluido", YES),
    row("R  R  R  R  -  -  R  R  R  -", "TipoIngresos", INCOME_TYPE),
    row("R  R  R  R  o  o  R  R  R  o", "TipoPago", PAYMENT_TYPE),
    row("o  o  o  o  o  -  o  o  o  o", "FechaLimitePago", DATE),
    row("o  o  o  -  o  -  o  o  o  o", "TerminoPago", TERMS),
    row("o  o  o  -  o  -  o  o  o  o", "TablaFormasPago", TABLA_FORMAS_PAGO),
    row("o  o  o  -  o  -  o  o  o  o", "TipoCuentaPago", ACCOUNT_TYPE),
    row("o  o  o  -  o  -  o  o  o  o", "NumeroCuentaPago", text(28)),
    row("o  o  o  -  o  -  o  o  o  o", "BancoPago", text(75)),
    row("o  o  o  o  -  -  o  o  o  o", "FechaDesde", DATE),
    row("o  o  o  o  -  -  o  o  o  o", "FechaHasta", DATE),
    row("o  o  o  o  o  o  o  o  o  o", "TotalPaginas", PAGES_4, but={"33 34": PAGES_5}),
)

TABLA_TELEFONO_EMISOR = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "TelefonoEmisor", PHONE, many=3),
)

EMISOR = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "RNCEmisor", RNC),
    row("R  R  R  R  R  R  R  R  R  R", "RazonSocialEmisor", text(150)),
    row("o  o  o  o  o  o  o  o  o  o", "NombreComercial", text(150)),
    row("o  o  o  o  o  o  o  o  o  o", "Sucursal", text(20)),
    row("R  R  R  R  R  R  R  R  R  R", "DireccionEmisor", text(100)),
    row("o  o  o  o  o  o  o  o  o  o", "Municipio", LOCALITY),
    row("o  o  o  o  o  o  o  o  o  o", "Provincia", LOCALITY),
    row("o  o  o  o  o  o  o  o  o  o", "TablaTelefonoEmisor", TABLA_TELEFONO_EMISOR),
    row("o  o  o  o  o  o  o  o  o  o", "CorreoEmisor", E_MAIL),
    row("o  o  o  o  o  o  o  o  o  o", "WebSite", text(50)),
    row("o  o  o  o  o  o  o  o  o  o", "ActividadEconomica", text(100)),
    row("o  o  o  o  -  -  o  o  o  -", "CodigoVendedor", text(60)),
    row("o  o  o  o  o  o  o  o  o  o", "NumeroFacturaInterna", text(20)),
    row("o  o  o  o  o  o  o  o  o  o", "NumeroPedidoInterno", WHOLE_20),
    row("o  o  o  o  -  -  o  o  o  -", "ZonaVenta", text(20)),
    row("o  o  o  o  -  -  o  o  o  -", "RutaVenta", text(20)),
    row("o  o  o  o  o  o  o  o  o  o", "InformacionAdicionalEmisor", text(250)),
    row("R  R  R  R  R  R  R  R  R  R", "FechaEmision", DATE),
)

COMPRADOR = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  o  o  o  R  -  o  R  o  -", "RNCComprador", RNC),
    row("-  o  o  o  -  -  o  -  o  o", "IdentificadorExtranjero", text(20)),
    row("R  o  o  o  R  -  R  R  R  o", "RazonSocialComprador", text(150)),
    row("o  o  o  o  o  -  o  o  o  -", "ContactoComprador", text(80)),
    row("o  o  o  o  o  -  o  o  o  -", "CorreoComprador", E_MAIL),
    row("o  o  o  o  o  -  o  o  o  -", "DireccionComprador", text(100)),
    row("o  o  o  o  o  -  o  o  o  -", "MunicipioComprador", LOCALITY),
    row("o  o  o  o  o  -  o  o  o  -", "ProvinciaComprador", LOCALITY),
    row("-  -  -  -  -  -  -  -  o  -", "PaisComprador", words(60)),
    row("o  o  o  o  -  -  o  o  o  -", "FechaEntrega", DATE),
    row("o  o  o  o  -  -  o  o  o  -", "ContactoEntrega", text(100)),
    row("o  o  o  o  -  -  o  o  o  -", "DireccionEntrega", text(100)),
    row("o  o  o  o  -  -  o  o  o  -", "TelefonoAdicional", PHONE),
    row("o  o  o  o  -  -  o  o  o  -", "FechaOrdenCompra", DATE),
    row("o  o  o  o  -  -  o  o  o  -", "NumeroOrdenCompra", text(20)),
    row("o  o  o  o  o  -  o  o  o  -", "CodigoInternoComprador", text(20)),
    row("o  o  o  o  o  -  o  o  o  -", "ResponsablePago", alphabetic(20)),
    row("o  o  o  o  o  -  o  o  o  -", "InformacionAdicionalComprador", text(150)),
)

INFORMACIONES_ADICIONALES = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  o  o  o  -  -  o  o  o  -", "FechaEmbarque", DATE),
    row("o  o  o  o  -  -  o  o  o  -", "NumeroEmbarque", text(25)),
    row("o  o  o  o  -  -  o  o  o  -", "NumeroContenedor", text(100)),
    row("o  o  o  o  -  -  o  o  o  -", "NumeroReferencia", WHOLE_20, but={"45": text(20)}),
    row("-  -  -  -  -  -  -  -  o  -", "NombrePuertoEmbarque", text(40)),
    row("-  -  -  -  -  -  -  -  o  -", "CondicionesEntrega", words(3)),
    row("-  -  -  -  -  -  -  -  o  -", "TotalFob", AMOUNT_ABOVE_0),
    row("-  -  -  -  -  -  -  -  o  -", "Seguro", AMOUNT_ABOVE_0),
    row("-  -  -  -  -  -  -  -  o  -", "Flete", AMOUNT_ABOVE_0),
    row("-  -  -  -  -  -  -  -  o  -", "OtrosGastos", AMOUNT_ABOVE_0),
    row("-  -  -  -  -  -  -  -  o  -", "TotalCif", AMOUNT),
    row("-  -  -  -  -  -  -  -  o  -", "RegimenAduanero", words(35)),
    row("-  -  -  -  -  -  -  -  o  -", "NombrePuertoSalida", text(40)),
    row("-  -  -  -  -  -  -  -  o  -", "NombrePuertoDesembarque", text(40)),
    row("o  o  o  o  -  -  o  o  o  -", "PesoBruto", QUANTITY),
    row("o  o  o  o  -  -  o  o  o  -", "PesoNeto", QUANTITY),
    row("o  o  o  o  -  -  o  o  o  -", "UnidadPesoBruto", UNIT, but={"33 44": UNIT_AS_SPELLED}),
    row("o  o  o  o  -  -  o  o  o  -", "UnidadPesoNeto", UNIT, but={"33 44": UNIT_AS_SPELLED}),
    row("o  o  o  o  -  -  o  o  o  -", "CantidadBulto", QUANTITY),
    row("o  o  o  o  -  -  o  o  o  -", "UnidadBulto", UNIT, but={"33 44": UNIT_AS_SPELLED}),
    row("o  o  o  o  -  -  o  o  o  -", "VolumenBulto", QUANTITY_ABOVE_0),
    row("o  o  o  o  -  -  o  o  o  -", "UnidadVolumen", UNIT, but={"33 44": UNIT_AS_SPELLED}),
)

TRANSPORTE = (
    #    31 32 33 34 41 43 44 45 46 47
    row("-  -  -  -  -  -  -  -  o  -", "ViaTransporte", TRANSPORT_WAY),
    row("-  -  -  -  -  -  -  -  o  -", "PaisOrigen", words(60)),
    row("-  -  -  -  -  -  -  -  o  -", "DireccionDestino", text(100)),
    row("-  -  -  -  -  -  -  -  o  o", "PaisDestino", words(60), but={"47": alphabetic(60)}),
    row("-  -  -  -  -  -  -  -  o  -", "RNCIdentificacionCompaniaTransportista", text(20)),
    row("-  -  -  -  -  -  -  -  o  -", "NombreCompaniaTransportista", text(150)),
    row("-  -  -  -  -  -  -  -  o  -", "NumeroViaje", text(20)),
    row("o  o  o  o  -  -  o  o  o  -", "Conductor", text(20)),
    row("o  o  o  o  -  -  o  o  o  -", "DocumentoTransporte", WHOLE_20),
    row("o  o  o  o  -  -  o  o  o  -", "Ficha", text(10)),
    row("o  o  o  o  -  -  o  o  o  -", "Placa", text(7)),
    row("o  o  o  o  -  -  o  o  o  -", "RutaTransporte", text(20)),
    row("o  o  o  o  -  -  o  o  o  -", "ZonaTransporte", text(20)),
    row("o  o  o  o  -  -  o  o  o  -", "NumeroAlbaran", text(20)),
)

IMPUESTO_ADICIONAL = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  o  -  -  R  R  -  -", "TipoImpuesto", ADDITIONAL_TAX),
    row("R  R  R  o  -  -  R  R  -  -", "TasaImpuestoAdicional", PERCENTAGE),
    row("o  o  o  o  -  -  -  o  -  -", "MontoImpuestoSelectivoConsumoEspecifico", AMOUNT_ABOVE_0),
    row("o  o  o  o  -  -  -  o  -  -", "MontoImpuestoSelectivoConsumoAdvalorem", AMOUNT_ABOVE_0),
    row("o  o  o  o  -  -  R  o  -  -", "OtrosImpuestosAdicionales", AMOUNT_ABOVE_0),
)

IMPUESTOS_ADICIONALES = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  -  -  R  R  -  -", "ImpuestoAdicional", IMPUESTO_ADICIONAL, many=20),
)

TOTALES = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  o  o  o  o  -  -  o  o  -", "MontoGravadoTotal", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "MontoGravadoI1", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "MontoGravadoI2", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "MontoGravadoI3", AMOUNT),
    row("o  o  o  o  o  o  o  o  -  o", "MontoExento", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "ITBIS1", WHOLE_2),
    row("o  o  o  o  o  -  -  o  -  -", "ITBIS2", WHOLE_2),
    row("o  o  o  o  o  -  -  o  o  -", "ITBIS3", WHOLE_2),
    row("o  o  o  o  o  -  -  o  o  -", "TotalITBIS", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "TotalITBIS1", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "TotalITBIS2", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "TotalITBIS3", AMOUNT),
    row("o  o  o  o  -  -  o  o  -  -", "MontoImpuestoAdicional", AMOUNT_ABOVE_0),
    row("o  o  o  o  -  -  o  o  -  -", "ImpuestosAdicionales", IMPUESTOS_ADICIONALES),
    row("R  R  R  R  R  R  R  R  R  R", "MontoTotal", AMOUNT),
    row("o  o  o  o  -  -  o  o  o  -", "MontoNoFacturable", AMOUNT_SIGNED),
    row("o  o  o  o  o  o  o  o  o  o", "MontoPeriodo", AMOUNT_SIGNED),
    row("o  o  o  o  o  o  o  o  o  o", "SaldoAnterior", AMOUNT_SIGNED),
    row("o  o  o  o  o  o  o  o  o  o", "MontoAvancePago", AMOUNT),
    row("o  o  o  o  o  o  o  o  o  o", "ValorPagar", AMOUNT_SIGNED),
    row("o  -  o  o  o  -  -  -  -  -", "TotalITBISRetenido", AMOUNT),
    row("o  -  o  o  o  -  -  -  -  o", "TotalISRRetencion", AMOUNT),
    row("o  -  o  o  o  -  -  -  -  -", "TotalITBISPercepcion", AMOUNT),
    row("o  -  o  o  o  -  -  -  -  -", "TotalISRPercepcion", AMOUNT),
)

IMPUESTO_ADICIONAL_OTRA_MONEDA = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  -  -  o  o  -  -", "TipoImpuestoOtraMoneda", ADDITIONAL_TAX),
    row("R  R  R  R  -  -  o  o  -  -", "TasaImpuestoAdicionalOtraMoneda", PERCENTAGE),
    row("o  o  o  o  -  -  -  o  -  -", "MontoImpuestoSelectivoConsumoEspecificoOtraMoneda", AMOUNT_ABOVE_0),
    row("o  o  o  o  -  -  -  o  -  -", "MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda", AMOUNT_ABOVE_0),
    row("o  o  o  o  -  -  o  o  -  -", "OtrosImpuestosAdicionalesOtraMoneda", AMOUNT_ABOVE_0),
)

IMPUESTOS_ADICIONALES_OTRA_MONEDA = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  -  -  R  R  -  -", "ImpuestoAdicionalOtraMoneda", IMPUESTO_ADICIONAL_OTRA_MONEDA, many=20),
)

OTRA_MONEDA = (
    #    31 32 33 34 41 43 44 45 46 47
    row("o  o  o  o  o  o  o  o  o  o", "TipoMoneda", CURRENCY),
    row("o  o  o  o  o  o  o  o  o  o", "TipoCambio", EXCHANGE_RATE, but={"41": EXCHANGE_RATE_OR_0}),
    row("o  o  o  o  o  -  -  o  o  -", "MontoGravadoTotalOtraMoneda", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "MontoGravado1OtraMoneda", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "MontoGravado2OtraMoneda", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "MontoGravado3OtraMoneda", AMOUNT),
    row("o  o  o  o  o  o  o  o  -  o", "MontoExentoOtraMoneda", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "TotalITBISOtraMoneda", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "TotalITBIS1OtraMoneda", AMOUNT),
    row("o  o  o  o  o  -  -  o  -  -", "TotalITBIS2OtraMoneda", AMOUNT),
    row("o  o  o  o  o  -  -  o  o  -", "TotalITBIS3OtraMoneda", AMOUNT),
    row("o  o  o  o  -  -  o  o  -  -", "MontoImpuestoAdicionalOtraMoneda", AMOUNT_ABOVE_0),
    row("o  o  o  o  -  -  o  o  -  -", "ImpuestosAdicionalesOtraMoneda", IMPUESTOS_ADICIONALES_OTRA_MONEDA),
    row("o  o  o  o  o  o  o  o  o  o", "MontoTotalOtraMoneda", AMOUNT),
)

ENCABEZADO = (
    #    31 32 33 34 41 43 44 45 46 47
    row("R  R  R  R  R  R  R  R  R  R", "Version", VERSION),
    row("R  R  R  R  R  R  R  R  R  R", "IdDoc", ID_DOC),
    row("R  R  R  R  R  R  R  R  R  R", "Emisor", EMISOR),
    row("R  R  o  o  R  -  R  R  R  o", "Comprador", COMPRADOR),
    row("o  o  o  o  -  -  o  o  o  -", "InformacionesAdicionales", INFORMACIONES_ADICIONALES),
    row("o  o  o  o  -  -  o  o  o  o", "Transporte", TRANSPORTE),
    row("R  R  R  R  R  R  R  R  R  R", "Totales", TOTALES),
    row("o  o  o  o  o  o  o  o  o  o", "OtraMoneda", OTRA_MONEDA),
)
