"""Plain words for what the header says of shipment and transport."""

TRANSPORT = {
    "InformacionesAdicionales": (
        "Shipment: weights, packages, and for exports ports and costs.",
        "Datos del embarque: pesos, bultos y, en exportaciones, puertos y costos.",
    ),
    "FechaEmbarque": (
        "The day on which it is shipped.",
        "Fecha de embarque.",
    ),
    "NumeroEmbarque": (
        "The number of the shipment.",
        "Número de embarque.",
    ),
    "NumeroContenedor": (
        "The number of the container.",
        "Número de contenedor.",
    ),
    "NumeroReferencia": (
        "A reference number of the shipment.",
        "Número de referencia del embarque.",
    ),
    "NombrePuertoEmbarque": (
        "The port where it is loaded.",
        "Puerto de embarque.",
    ),
    "CondicionesEntrega": (
        "The terms of delivery, as the three letters of an Incoterm, such as FOB or CIF.",
        "Condiciones de entrega: las tres letras del Incoterm, como FOB o CIF.",
    ),
    "TotalFob": (
        "The value of the goods on board (FOB).",
        "Valor FOB de la mercancía.",
    ),
    "Seguro": (
        "The cost of insurance.",
        "Costo del seguro.",
    ),
    "Flete": (
        "The cost of freight.",
        "Costo del flete.",
    ),
    "OtrosGastos": (
        "Other costs of the shipment.",
        "Otros gastos del embarque.",
    ),
    "TotalCif": (
        "The value with insurance and freight (CIF).",
        "Valor CIF: con seguro y flete.",
    ),
    "RegimenAduanero": (
        "The customs regime under which it leaves the country.",
        "Régimen aduanero con que sale del país.",
    ),
    "NombrePuertoSalida": (
        "The port where it leaves the country.",
        "Puerto de salida del país.",
    ),
    "NombrePuertoDesembarque": (
        "The port where it is unloaded.",
        "Puerto de desembarque.",
    ),
    "PesoBruto": (
        "The gross weight of the shipment.",
        "Peso bruto del embarque.",
    ),
    "PesoNeto": (
        "The net weight of the shipment.",
        "Peso neto del embarque.",
    ),
    "UnidadPesoBruto": (
        "The unit of the gross weight.",
        "Unidad de medida del peso bruto.",
    ),
    "UnidadPesoNeto": (
        "The unit of the net weight.",
        "Unidad de medida del peso neto.",
    ),
    "CantidadBulto": (
        "How many packages there are.",
        "Cantidad de bultos.",
    ),
    "UnidadBulto": (
        "What the packages are: boxes, sacks and so on.",
        "Unidad de los bultos: cajas, sacos, etc.",
    ),
    "VolumenBulto": (
        "The volume of the packages.",
        "Volumen de los bultos.",
    ),
    "UnidadVolumen": (
        "The unit of that volume.",
        "Unidad de medida de ese volumen.",
    ),
    "Transporte": (
        "How the goods travel; in payments abroad, only the country they go to.",
        "Cómo viaja la mercancía; en pagos al exterior, solo el país de destino.",
    ),
    "ViaTransporte": (
        "By land, by sea or by air.",
        "Vía: terrestre, marítima o aérea.",
    ),
    "PaisOrigen": (
        "The country of origin, in words.",
        "País de origen, en palabras.",
    ),
    "DireccionDestino": (
        "The address it goes to.",
        "Dirección de destino.",
    ),
    "PaisDestino": (
        "The country it goes to, in words.",
        "País de destino, en palabras.",
    ),
    "RNCIdentificacionCompaniaTransportista": (
        "The tax id of the carrier.",
        "RNC o identificación de la compañía transportista.",
    ),
    "NombreCompaniaTransportista": (
        "The name of the carrier.",
        "Nombre de la compañía transportista.",
    ),
    "NumeroViaje": (
        "The number of the voyage or flight.",
        "Número de viaje o de vuelo.",
    ),
    "Conductor": (
        "The driver.",
        "Conductor.",
    ),
    "DocumentoTransporte": (
        "The number of the transport document; digits only.",
        "Número del documento de transporte; solo dígitos.",
    ),
    "Ficha": (
        "The fleet number of the vehicle.",
        "Ficha del vehículo.",
    ),
    "Placa": (
        "The number plate of the vehicle.",
        "Placa del vehículo.",
    ),
    "RutaTransporte": (
        "The route.",
        "Ruta de transporte.",
    ),
    "ZonaTransporte": (
        "The zone.",
        "Zona de transporte.",
    ),
    "NumeroAlbaran": (
        "The number of the delivery note.",
        "Número de albarán o conduce.",
    ),
}
