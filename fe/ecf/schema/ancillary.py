"""The documents beside the e-CF: summary, approval, voided ranges, acknowledgement, and the seed of a session.

One column each; how to read the tables: see `header`. Their XSDs were written apart from those of the e-CF and spell
the same kinds of value in other ways, hence the types of their own.
"""

from fe.ecf.schema import codes
from fe.ecf.schema.model import Base, Simple, ValueForm, row
from fe.ecf.schema.simple import (
    ADDITIONAL_TAX,
    DATE,
    E_NCF,
    ECF_TYPE,
    INCOME_TYPE,
    PAYMENT_FORM,
    PAYMENT_TYPE,
    WHOLE_2,
    WHOLE_10,
    coded,
    decimal,
    text,
)

# None or exactly two decimals, where an e-CF may have one (authority.md#formats).
AMOUNT = decimal("amount-2", 16, 2, exactly=True, any_point=True, pad=2)
AMOUNT_ABOVE_0 = decimal("amount-2-above-0", 16, 2, exactly=True, above=0, any_point=True, pad=2)
AMOUNT_SIGNED = decimal("amount-2-signed", 16, 2, exactly=True, signed=True, any_point=True, pad=2)
APPROVED_AMOUNT = Simple(
    "approved-amount",
    Base.DECIMAL,
    "a number of up to 16 digits with exactly 2 decimals",
    "un número de hasta 16 dígitos con exactamente 2 decimales",
    ValueForm.NUMBER,
    pattern=r"[0-9]+(\.[0-9]{2})",
    digits=18,
    decimals=2,
    pad=2,
)
#: Blanks around the digits are ignored.
RNC = Simple(
    "rnc-trimmed",
    Base.INTEGER,
    "a tax id: 9 digits (RNC) or 11 (cédula)",
    "un RNC de 9 dígitos o una cédula de 11",
    pattern="[0-9]{11}|[0-9]{9}",
)
E_NCF_OR_NCF = Simple(
    "e-ncf-or-ncf",
    Base.STRING,
    "an e-NCF of 13 characters, or an NCF of 11 or 9",
    "un e-NCF de 13 caracteres, o un NCF de 11 o 9",
    pattern="[a-z0-9A-Z]{13}|[a-z0-9A-Z]{11}|[a-z0-9A-Z]{9}",
)
DATE_FROM_2000 = Simple(
    "date-from-2000",
    Base.STRING,
    "a date dd-MM-yyyy from the year 2000 on",
    "una fecha dd-MM-aaaa desde el año 2000",
    ValueForm.DATE,
    dated=True,
    pattern=r"(3[01]|[12][0-9]|0?[1-9])\-(1[012]|0?[1-9])\-((20|20)\d{2})",
)
TIMESTAMP = Simple(
    "timestamp-any-year",
    Base.STRING,
    "a date and time dd-MM-yyyy HH:mm:ss",
    "una fecha y hora dd-MM-aaaa HH:mm:ss",
    ValueForm.TIMESTAMP,
    dated=True,
    pattern="(3[01]|[12][0-9]|0[1-9])-(1[0-2]|0[1-9])-[0-9]{4} (2[0-3]|[01]?[0-9]):([0-5]?[0-9]):([0-5]?[0-9])",
)
SECURITY_CODE = Simple("security-code", Base.STRING, "6 characters", "6 caracteres", pattern=".{6}")
VERSION_AS_SPELLED = coded("version-as-spelled", codes.VERSION_1)
VERSION_SHORT = coded("version-short", codes.VERSION_1, Base.DECIMAL, digits=2, decimals=1)
CONSUMER = coded("consumer", codes.CONSUMER_ONLY, Base.INTEGER)
APPROVAL = coded("approval", codes.APPROVALS, Base.INTEGER)
RECEIPT = coded("receipt", codes.RECEIPTS, Base.INTEGER)
REASON_NOT_RECEIVED = coded("reason-not-received", codes.REASONS_NOT_RECEIVED, Base.INTEGER)

# --- RFCE, the summary of a consumer invoice ------------------------------------------------------------------------

FORMA_DE_PAGO = (
    row("o", "FormaPago", PAYMENT_FORM),
    row("o", "MontoPago", AMOUNT),
)

ID_DOC = (
    row("R", "TipoeCF", CONSUMER),
    row("R", "eNCF", E_NCF),
    row("R", "TipoIngresos", INCOME_TYPE),
    row("R", "TipoPago", PAYMENT_TYPE),
    row("o", "TablaFormasPago", (row("o", "FormaDePago", FORMA_DE_PAGO, many=7),)),
)

EMISOR = (
    row("R", "RNCEmisor", RNC),
    row("R", "RazonSocialEmisor", text(150)),
    row("R", "FechaEmision", DATE),
)

COMPRADOR = (
    row("o", "RNCComprador", RNC),
    row("o", "IdentificadorExtranjero", text(20, None)),
    row("o", "RazonSocialComprador", text(150, None)),
)

IMPUESTO_ADICIONAL = (
    row("o", "TipoImpuesto", ADDITIONAL_TAX),
    row("o", "MontoImpuestoSelectivoConsumoEspecifico", AMOUNT_ABOVE_0),
    row("o", "MontoImpuestoSelectivoConsumoAdvalorem", AMOUNT_ABOVE_0),
    row("o", "OtrosImpuestosAdicionales", AMOUNT_ABOVE_0),
)

TOTALES = (
    row("o", "MontoGravadoTotal", AMOUNT),
    row("o", "MontoGravadoI1", AMOUNT),
    row("o", "MontoGravadoI2", AMOUNT),
    row("o", "MontoGravadoI3", AMOUNT),
    row("o", "MontoExento", AMOUNT),
    row("o", "TotalITBIS", AMOUNT),
    row("o", "TotalITBIS1", AMOUNT),
    row("o", "TotalITBIS2", AMOUNT),
    row("o", "TotalITBIS3", AMOUNT),
    row("o", "MontoImpuestoAdicional", AMOUNT_ABOVE_0),
    row("o", "ImpuestosAdicionales", (row("o", "ImpuestoAdicional", IMPUESTO_ADICIONAL, many=20),)),
    row("R", "MontoTotal", AMOUNT),
    row("o", "MontoNoFacturable", AMOUNT_SIGNED),
    row("o", "MontoPeriodo", AMOUNT_SIGNED),
)

RFCE = (
    row(
        "R",
        "Encabezado",
        (
            row("R", "Version", VERSION_AS_SPELLED),
            row("R", "IdDoc", ID_DOC),
            row("R", "Emisor", EMISOR),
            row("R", "Comprador", COMPRADOR),
            row("R", "Totales", TOTALES),
            row("R", "CodigoSeguridadeCF", SECURITY_CODE),
        ),
    ),
)

# --- ACECF, the buyer's commercial approval -------------------------------------------------------------------------

ACECF = (
    row(
        "R",
        "DetalleAprobacionComercial",
        (
            row("R", "Version", VERSION_AS_SPELLED),
            row("R", "RNCEmisor", RNC),
            row("R", "eNCF", E_NCF_OR_NCF),
            row("R", "FechaEmision", DATE_FROM_2000),
            row("R", "MontoTotal", APPROVED_AMOUNT),
            row("R", "RNCComprador", RNC),
            row("R", "Estado", APPROVAL),
            row("o", "DetalleMotivoRechazo", text(250, None)),
            row("R", "FechaHoraAprobacionComercial", TIMESTAMP),
        ),
    ),
)

# --- ANECF, ranges of numbers made void -----------------------------------------------------------------------------

SECUENCIAS = (
    row("R", "SecuenciaeNCFDesde", text(13, 13)),
    row("R", "SecuenciaeNCFHasta", text(13, 13)),
)

ANULACION = (
    row("R", "NoLinea", WHOLE_2),
    row("R", "TipoeCF", ECF_TYPE),
    row("R", "TablaRangoSecuenciasAnuladaseNCF", (row("R", "Secuencias", SECUENCIAS, many=10_000),)),
    row("R", "CantidadeNCFAnulados", WHOLE_10),
)

ANECF = (
    row(
        "R",
        "Encabezado",
        (
            row("R", "Version", VERSION_AS_SPELLED),
            row("R", "RncEmisor", RNC),
            row("R", "CantidadeNCFAnulados", WHOLE_10),
            row("R", "FechaHoraAnulacioneNCF", TIMESTAMP),
        ),
    ),
    row("R", "DetalleAnulacion", (row("R", "Anulacion", ANULACION, many=10),)),
)

# --- ARECF, the receiver's acknowledgement --------------------------------------------------------------------------

ARECF = (
    row(
        "R",
        "DetalleAcusedeRecibo",
        (
            row("R", "Version", VERSION_SHORT),
            row("R", "RNCEmisor", RNC),
            row("R", "RNCComprador", RNC),
            row("R", "eNCF", E_NCF_OR_NCF),
            row("R", "Estado", RECEIPT),
            row("o", "CodigoMotivoNoRecibido", REASON_NOT_RECEIVED),
            row("R", "FechaHoraAcuseRecibo", TIMESTAMP),
        ),
    ),
)

# --- SemillaModel, the authority's seed, signed to open a session ---------------------------------------------------

SEMILLA = (
    row("R", "valor", Simple("seed", Base.STRING, "any text", "cualquier texto")),
    row("R", "fecha", Simple("seed-time", Base.DATE_TIME, "an ISO 8601 date and time", "una fecha y hora ISO 8601")),
)
