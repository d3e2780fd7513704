"""Plain words for the documents beside the e-CF. A key that begins with a root holds for that root alone."""

ANCILLARY = {
    "CodigoSeguridadeCF": (
        "The security code of the whole invoice: the first six characters of its signature.",
        "Código de seguridad de la factura completa: los primeros seis caracteres de su firma.",
    ),
    # --- ACECF
    "DetalleAprobacionComercial": (
        "What the buyer says of a receipt that it got.",
        "Lo que el comprador dice de un comprobante recibido.",
    ),
    "DetalleAprobacionComercial.RNCEmisor": (
        "The tax id of who issued the receipt.",
        "RNC de quien emitió el comprobante.",
    ),
    "DetalleAprobacionComercial.eNCF": (
        "The number of the receipt.",
        "Número del comprobante.",
    ),
    "DetalleAprobacionComercial.FechaEmision": (
        "The day of issue of the receipt.",
        "Fecha de emisión del comprobante.",
    ),
    "DetalleAprobacionComercial.MontoTotal": (
        "The total of the receipt, as it stands there.",
        "Monto total del comprobante, tal como figura en él.",
    ),
    "DetalleAprobacionComercial.RNCComprador": (
        "The tax id of the buyer: yours.",
        "RNC del comprador: el suyo.",
    ),
    "DetalleAprobacionComercial.Estado": (
        "Whether the receipt is accepted or rejected.",
        "Si el comprobante se acepta o se rechaza.",
    ),
    "DetalleMotivoRechazo": (
        "Why it is rejected, in words.",
        "Motivo del rechazo, en palabras.",
    ),
    "FechaHoraAprobacionComercial": (
        "When the buyer decided.",
        "Fecha y hora de la decisión.",
    ),
    # --- ANECF
    "ANECF:Encabezado": (
        "Who gives numbers back, how many, and when.",
        "Quién anula números, cuántos y cuándo.",
    ),
    "RncEmisor": (
        "Your tax id.",
        "Su RNC.",
    ),
    "CantidadeNCFAnulados": (
        "How many numbers are given back in all.",
        "Cantidad total de números que se anulan.",
    ),
    "Anulacion.CantidadeNCFAnulados": (
        "How many numbers of this type are given back.",
        "Cantidad de números de este tipo que se anulan.",
    ),
    "FechaHoraAnulacioneNCF": (
        "When they are given back.",
        "Fecha y hora de la anulación.",
    ),
    "DetalleAnulacion": (
        "The numbers, by type.",
        "Los números, por tipo.",
    ),
    "Anulacion": (
        "Numbers of one type.",
        "Números de un mismo tipo.",
    ),
    "NoLinea": (
        "The number of the entry, from 1.",
        "Número de la línea, desde 1.",
    ),
    "Anulacion.TipoeCF": (
        "The type that the numbers are of.",
        "Tipo de comprobante de esos números.",
    ),
    "TablaRangoSecuenciasAnuladaseNCF": (
        "The ranges of numbers.",
        "Los rangos de números.",
    ),
    "Secuencias": (
        "One range.",
        "Un rango.",
    ),
    "SecuenciaeNCFDesde": (
        "The first number of the range.",
        "Primer número del rango.",
    ),
    "SecuenciaeNCFHasta": (
        "The last number of the range; the first again, where it is only one.",
        "Último número del rango; el mismo primero, si es uno solo.",
    ),
    # --- ARECF
    "DetalleAcusedeRecibo": (
        "What the receiver says of a receipt that arrived.",
        "Lo que el receptor dice de un comprobante que llegó.",
    ),
    "DetalleAcusedeRecibo.RNCEmisor": (
        "The tax id of who issued the receipt.",
        "RNC de quien emitió el comprobante.",
    ),
    "DetalleAcusedeRecibo.RNCComprador": (
        "The tax id of who received it.",
        "RNC de quien lo recibió.",
    ),
    "DetalleAcusedeRecibo.eNCF": (
        "The number of the receipt.",
        "Número del comprobante.",
    ),
    "DetalleAcusedeRecibo.Estado": (
        "Whether it counts as received.",
        "Si se da por recibido.",
    ),
    "CodigoMotivoNoRecibido": (
        "Why it does not count as received.",
        "Por qué no se da por recibido.",
    ),
    "FechaHoraAcuseRecibo": (
        "When it was received.",
        "Fecha y hora de recepción.",
    ),
    # --- SemillaModel
    "valor": (
        "What the authority gave to be signed.",
        "Valor que la DGII entrega para firmar.",
    ),
    "fecha": (
        "When the authority made it.",
        "Fecha en que la DGII lo generó.",
    ),
}
