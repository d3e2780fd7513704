"""Everyday labels of the form's fields. `fe.ecf.field_help` explains the elements."""

import re

from fe.ecf.texts import Text

#: By the element's name; an element without one here is called by its name.
LABELS = {
    "Comprador": Text("Buyer", "Comprador"),
    "Emisor": Text("Issuer", "Emisor"),
    "DetallesItems": Text("Lines", "Líneas"),
    "InformacionReferencia": Text("Receipt that the note modifies", "Comprobante que modifica la nota"),
    "MontoItem": Text("Amount of the line", "Monto de la línea"),
    "FechaVencimientoSecuencia": Text("Last day of the sequence", "Vencimiento de la secuencia"),
    "RNCEmisor": Text("RNC of the company", "RNC de la empresa"),
    "RazonSocialEmisor": Text("Name of the company", "Razón social de la empresa"),
    "DireccionEmisor": Text("Address of the company", "Dirección de la empresa"),
    "FechaEmision": Text("Date of issue", "Fecha de emisión"),
    "TipoIngresos": Text("Kind of income", "Tipo de ingreso"),
    "IndicadorMontoGravado": Text("ITBIS in the prices", "ITBIS en los precios"),
    "IndicadorNotaCredito": Text("Age of the modified receipt", "Antigüedad del comprobante modificado"),
    "TipoPago": Text("Payment", "Condición de pago"),
    "FechaLimitePago": Text("Pay by", "Fecha límite de pago"),
    "TerminoPago": Text("Terms", "Término de pago"),
    "FormaPago": Text("Form of payment", "Forma de pago"),
    "MontoPago": Text("Amount", "Monto"),
    "RNCComprador": Text("RNC or cédula", "RNC o cédula"),
    "IdentificadorExtranjero": Text("Foreign identification", "Identificación extranjera"),
    "RazonSocialComprador": Text("Name", "Nombre o razón social"),
    "ContactoComprador": Text("Contact", "Contacto"),
    "CorreoComprador": Text("E-mail address", "Correo electrónico"),
    "DireccionComprador": Text("Address", "Dirección"),
    "PaisComprador": Text("Country", "País"),
    "NumeroOrdenCompra": Text("Purchase order", "Orden de compra"),
    "NCFModificado": Text("Number of the modified receipt", "Número del comprobante modificado (NCF)"),
    "FechaNCFModificado": Text("Date of the modified receipt", "Fecha del comprobante"),
    "CodigoModificacion": Text("Effect of the note", "Tipo de modificación"),
    "RazonModificacion": Text("Reason", "Razón"),
    "NombreItem": Text("What", "Artículo o servicio"),
    "IndicadorBienoServicio": Text("Good or service", "Bien o servicio"),
    "CantidadItem": Text("Quantity", "Cantidad"),
    "UnidadMedida": Text("Unit", "Unidad"),
    "PrecioUnitarioItem": Text("Unit price", "Precio unitario"),
    "DescuentoMonto": Text("Discount", "Descuento"),
    "IndicadorFacturacion": Text("ITBIS", "ITBIS"),
    "IndicadorAgenteRetencionoPercepcion": Text("Withheld or perceived", "Retención o percepción"),
    "MontoITBISRetenido": Text("ITBIS withheld", "ITBIS retenido"),
    "MontoISRRetenido": Text("Income tax withheld (ISR)", "ISR retenido"),
    "PrecioOtraMoneda": Text("Price in the other currency", "Precio en otra moneda"),
    "TipoAjuste": Text("Discount or surcharge", "Descuento o recargo"),
    "DescripcionDescuentooRecargo": Text("For what", "Concepto"),
    "TipoValor": Text("Percentage or amount", "Porcentaje o monto"),
    "ValorDescuentooRecargo": Text("Percentage", "Porcentaje"),
    "MontoDescuentooRecargo": Text("Amount", "Monto"),
    "IndicadorFacturacionDescuentooRecargo": Text("Of which lines", "De cuáles líneas"),
    "TipoMoneda": Text("Currency", "Moneda"),
    "TipoCambio": Text("Pesos for one unit", "Tasa de cambio (RD$ por unidad)"),
    "FechaEmbarque": Text("Date of shipping", "Fecha de embarque"),
    "NumeroEmbarque": Text("Shipment", "Número de embarque"),
    "NumeroContenedor": Text("Container", "Número de contenedor"),
    "NumeroReferencia": Text("Reference", "Número de referencia"),
    "NombrePuertoEmbarque": Text("Port of loading", "Puerto de embarque"),
    "CondicionesEntrega": Text("Terms of delivery (Incoterms)", "Condiciones de entrega (Incoterms)"),
    "TotalFob": Text("FOB total", "Total FOB"),
    "Seguro": Text("Insurance", "Seguro"),
    "Flete": Text("Freight", "Flete"),
    "OtrosGastos": Text("Other costs", "Otros gastos"),
    "TotalCif": Text("CIF total", "Total CIF"),
    "RegimenAduanero": Text("Customs regime", "Régimen aduanero"),
    "NombrePuertoSalida": Text("Port of departure", "Puerto de salida"),
    "NombrePuertoDesembarque": Text("Port of unloading", "Puerto de desembarque"),
    "PesoBruto": Text("Gross weight", "Peso bruto"),
    "PesoNeto": Text("Net weight", "Peso neto"),
    "UnidadPesoBruto": Text("Unit of the gross weight", "Unidad del peso bruto"),
    "UnidadPesoNeto": Text("Unit of the net weight", "Unidad del peso neto"),
    "CantidadBulto": Text("Packages", "Cantidad de bultos"),
    "UnidadBulto": Text("Kind of package", "Unidad de bulto"),
    "VolumenBulto": Text("Volume", "Volumen"),
    "UnidadVolumen": Text("Unit of the volume", "Unidad de volumen"),
    "ViaTransporte": Text("Way of transport", "Vía de transporte"),
    "PaisOrigen": Text("Country of origin", "País de origen"),
    "PaisDestino": Text("Country of destination", "País de destino"),
    "NombreCompaniaTransportista": Text("Carrier", "Compañía transportista"),
    "MontoGravadoTotal": Text("Taxed amount", "Monto gravado"),
    "MontoExento": Text("Exempt amount", "Monto exento"),
    "TotalITBIS": Text("ITBIS", "ITBIS"),
    "MontoImpuestoAdicional": Text("Additional taxes", "Impuestos adicionales"),
    "MontoTotal": Text("Total", "Total"),
    "MontoNoFacturable": Text("Not billable", "Monto no facturable"),
    "ValorPagar": Text("To pay", "Valor a pagar"),
    "TotalITBISRetenido": Text("ITBIS withheld", "ITBIS retenido"),
    "TotalISRRetencion": Text("Income tax withheld (ISR)", "ISR retenido"),
    "MontoTotalOtraMoneda": Text("Total in the other currency", "Total en otra moneda"),
}

#: Meaning of an empty field, if it has one.
BLANKS = {
    "IndicadorMontoGravado": Text("It is added to the prices", "Se suma a los precios"),
    "TipoMoneda": Text("Pesos alone", "Solo pesos"),
    "UnidadMedida": Text("None", "Ninguna"),
    "IndicadorFacturacionDescuentooRecargo": Text("All, where they are of one kind", "Todas, si son de una sola clase"),
}


def label(name: str) -> Text:
    """Return the label of an element."""
    return LABELS.get(name) or Text(name, name)


_SUPPLIERS = (("comprador", "suplidor"), ("Comprador", "Suplidor"))
_SUPPLIERS_EN = (("buyer", "supplier"), ("Buyer", "Supplier"))


def of_supplier(said: Text) -> Text:
    """Say of the supplier what the format says of the buyer: in purchases and payments abroad the other side sells."""
    en, es = said.en, said.es
    for old, new in _SUPPLIERS_EN:
        en = en.replace(old, new)
    for old, new in _SUPPLIERS:
        es = es.replace(old, new)
    return Text(en, es)


_NAME = re.compile(r"\b[A-Z][A-Za-z]+\b", re.ASCII)


def plainly(text: str, *, spanish: bool) -> str:
    """A text with the names that fields have here, in place of the elements'."""

    def named(found: re.Match[str]) -> str:
        known = LABELS.get(found[0])
        return found[0] if known is None else f"«{known.es if spanish else known.en}»"

    return _NAME.sub(named, text)
