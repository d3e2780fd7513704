"""Plain words for the elements of the header that say what, who and when: `Encabezado` but for totals and transport."""

HEADER = {
    "Encabezado": (
        "What the receipt is, who issues it to whom, and its totals.",
        "Qué comprobante es, quién lo emite, a quién, y sus totales.",
    ),
    "Version": (
        "The version of the authority's format: always 1.0.",
        "Versión del formato de la DGII: siempre 1.0.",
    ),
    # --- IdDoc
    "IdDoc": (
        "What identifies the receipt: its type, its number, and how it is paid.",
        "Identificación del comprobante: su tipo, su número y cómo se paga.",
    ),
    "TipoeCF": (
        "The type of the receipt, as two digits. It must be the type that the number (eNCF) names.",
        "Tipo de comprobante, en dos dígitos. Debe ser el mismo que indica el número (eNCF).",
    ),
    "eNCF": (
        "The fiscal number: E, two digits of the type, ten of the sequence. Leave it out and say TipoeCF: then the "
        "service takes the next number of your sequence.",
        "Número de comprobante fiscal: E, dos dígitos del tipo y diez de la secuencia. Si lo omite e indica TipoeCF, "
        "el servicio toma el próximo número de su secuencia.",
    ),
    "IndicadorNotaCredito": (
        "Whether the receipt that the credit note changes is older than 30 days. If it is, its ITBIS can no longer be "
        "taken back.",
        "Si el comprobante que la nota modifica tiene más de 30 días. Si los tiene, ya no se puede rebajar su ITBIS.",
    ),
    "FechaVencimientoSecuencia": (
        "The last day on which the number may be used, as the authority authorised the sequence.",
        "Último día en que se puede usar el número, según la autorización de la secuencia.",
    ),
    "IndicadorEnvioDiferido": (
        "Say 1 if you issued the receipt away from a connection and are authorised to send such receipts later.",
        "Indique 1 si emitió el comprobante sin conexión y está autorizado a hacer envíos diferidos.",
    ),
    "IndicadorMontoGravado": (
        "Whether the prices of the lines already include ITBIS.",
        "Indica si los precios de las líneas ya incluyen el ITBIS.",
    ),
    "IndicadorServicioTodoIncluido": (
        "Say 1 if what is billed is an all-inclusive service, as hotels sell it.",
        "Indique 1 si factura un servicio todo incluido, como los de los hoteles.",
    ),
    "TipoIngresos": (
        "What kind of income the sale is for you, as you declare it to the authority.",
        "Qué tipo de ingreso es la venta para usted, tal como lo declara a la DGII.",
    ),
    "TipoPago": (
        "Whether it is paid at once, on credit, or free of charge. Credit demands FechaLimitePago.",
        "Si se paga al contado, a crédito o es gratuito. A crédito exige FechaLimitePago.",
    ),
    "FechaLimitePago": (
        "The last day to pay, where the sale is on credit.",
        "Último día para pagar, cuando la venta es a crédito.",
    ),
    "TerminoPago": (
        "The terms of payment in your words, such as 30 días.",
        "Condiciones de pago en sus palabras, por ejemplo 30 días.",
    ),
    "TablaFormasPago": (
        "The ways in which it is paid, if you want to list them.",
        "Las formas en que se paga, si desea detallarlas.",
    ),
    "FormaDePago": (
        "One way of payment with its amount.",
        "Una forma de pago con su monto.",
    ),
    "FormaPago": (
        "How this part is paid: cash, transfer, card and so on.",
        "Cómo se paga esta parte: efectivo, transferencia, tarjeta, etc.",
    ),
    "MontoPago": (
        "How much is paid in this way, in pesos.",
        "Cuánto se paga de esta forma, en pesos.",
    ),
    "TipoCuentaPago": (
        "The kind of bank account that the payment goes to.",
        "Tipo de cuenta bancaria en que se recibe el pago.",
    ),
    "NumeroCuentaPago": (
        "The number of that bank account.",
        "Número de esa cuenta bancaria.",
    ),
    "BancoPago": (
        "The bank where the account is.",
        "Banco donde está la cuenta.",
    ),
    "FechaDesde": (
        "The first day of the period that is billed, for services that go on, such as rent or electricity.",
        "Primer día del período que se factura, en servicios continuos como alquiler o electricidad.",
    ),
    "FechaHasta": (
        "The last day of the period that is billed.",
        "Último día del período que se factura.",
    ),
    "TotalPaginas": (
        "How many pages the printed receipt has, if it has more than one.",
        "Cuántas páginas tiene la representación impresa, si es más de una.",
    ),
    # --- Emisor
    "Emisor": (
        "Who issues the receipt: your own fiscal data.",
        "Quien emite el comprobante: sus propios datos fiscales.",
    ),
    "RNCEmisor": (
        "Your tax id, of 9 digits, or your cédula, of 11.",
        "Su RNC de 9 dígitos, o su cédula de 11.",
    ),
    "RazonSocialEmisor": (
        "Your legal name, as it is registered with the authority.",
        "Su nombre o razón social, como está registrado en la DGII.",
    ),
    "NombreComercial": (
        "The name that your customers know you by.",
        "Nombre comercial con que lo conocen sus clientes.",
    ),
    "Sucursal": (
        "The branch that issues it.",
        "Sucursal que emite.",
    ),
    "DireccionEmisor": (
        "Your address.",
        "Su dirección.",
    ),
    "Municipio": (
        "Your municipality, as a code of six digits.",
        "Su municipio, por su código de seis dígitos.",
    ),
    "Provincia": (
        "Your province, as a code of six digits.",
        "Su provincia, por su código de seis dígitos.",
    ),
    "TablaTelefonoEmisor": (
        "Your telephone numbers, three at most.",
        "Sus teléfonos, tres como máximo.",
    ),
    "TelefonoEmisor": (
        "A telephone number of yours.",
        "Un teléfono suyo.",
    ),
    "CorreoEmisor": (
        "Your e-mail address.",
        "Su correo electrónico.",
    ),
    "WebSite": (
        "Your web site.",
        "Su página web.",
    ),
    "ActividadEconomica": (
        "Your line of business, in words.",
        "Su actividad económica, en palabras.",
    ),
    "CodigoVendedor": (
        "Your code of whoever sold it.",
        "Código del vendedor en su sistema.",
    ),
    "NumeroFacturaInterna": (
        "Your own number of the invoice, beside the fiscal one.",
        "Su número interno de factura, aparte del fiscal.",
    ),
    "NumeroPedidoInterno": (
        "Your own number of the order; digits only.",
        "Su número interno de pedido; solo dígitos.",
    ),
    "ZonaVenta": (
        "Your sales zone.",
        "Su zona de venta.",
    ),
    "RutaVenta": (
        "Your sales route.",
        "Su ruta de venta.",
    ),
    "InformacionAdicionalEmisor": (
        "Whatever else you want to say about yourself.",
        "Cualquier otra información suya que quiera incluir.",
    ),
    "FechaEmision": (
        "The day of issue in Santo Domingo. It cannot be in the future.",
        "Fecha de emisión, en hora de Santo Domingo. No puede ser futura.",
    ),
    # --- Comprador
    "Comprador": (
        "Who buys. A consumer invoice of RD$250,000 or more must name the buyer; below that it may be left out.",
        "Quien compra. En una factura de consumo de RD$250,000 o más hay que identificarlo; por debajo puede omitirse.",
    ),
    "RNCComprador": (
        "The buyer's tax id, of 9 digits, or cédula, of 11. Its check digit is verified.",
        "RNC del comprador, de 9 dígitos, o su cédula, de 11. Se verifica su dígito verificador.",
    ),
    "IdentificadorExtranjero": (
        "The passport or foreign tax id of a buyer who has neither RNC nor cédula.",
        "Pasaporte o identificación fiscal extranjera de quien no tiene RNC ni cédula.",
    ),
    "RazonSocialComprador": (
        "The buyer's name or legal name.",
        "Nombre o razón social del comprador.",
    ),
    "ContactoComprador": (
        "Whom to ask for at the buyer's.",
        "Persona de contacto del comprador.",
    ),
    "CorreoComprador": (
        "The buyer's e-mail address.",
        "Correo electrónico del comprador.",
    ),
    "DireccionComprador": (
        "The buyer's address.",
        "Dirección del comprador.",
    ),
    "MunicipioComprador": (
        "The buyer's municipality, as a code of six digits.",
        "Municipio del comprador, por su código de seis dígitos.",
    ),
    "ProvinciaComprador": (
        "The buyer's province, as a code of six digits.",
        "Provincia del comprador, por su código de seis dígitos.",
    ),
    "PaisComprador": (
        "The buyer's country, in words.",
        "País del comprador, en palabras.",
    ),
    "FechaEntrega": (
        "The day of delivery.",
        "Fecha de entrega.",
    ),
    "ContactoEntrega": (
        "Who receives the delivery.",
        "Persona que recibe la entrega.",
    ),
    "DireccionEntrega": (
        "Where it is delivered.",
        "Dirección de entrega.",
    ),
    "TelefonoAdicional": (
        "Another telephone number for the delivery.",
        "Otro teléfono, para la entrega.",
    ),
    "FechaOrdenCompra": (
        "The date of the buyer's purchase order.",
        "Fecha de la orden de compra del comprador.",
    ),
    "NumeroOrdenCompra": (
        "The number of the buyer's purchase order.",
        "Número de la orden de compra del comprador.",
    ),
    "CodigoInternoComprador": (
        "The buyer's code in your system.",
        "Código del comprador en su sistema.",
    ),
    "ResponsablePago": (
        "Who pays, if that is somebody else than the buyer.",
        "Quien paga, si no es el mismo comprador.",
    ),
    "InformacionAdicionalComprador": (
        "Whatever else is to be said about the buyer.",
        "Cualquier otra información del comprador.",
    ),
}
