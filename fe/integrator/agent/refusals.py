"""Refusals of an agent, and the states that it flags, in both languages; each says what to do."""

from typing import Any

from fe.ecf.texts import LocalizedError, Text


class SaleRefused(LocalizedError):
    """A sale was not issued, or a call not served: the HTTP status, and problems of the document."""

    def __init__(self, status: int, text: Text, problems: tuple[dict[str, Any], ...] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.problems = problems


COPIED = Text(
    "this folder was copied or restored: two copies would give the same numbers. If the other copy will never run "
    "again, confirm it with `fe agent init FOLDER --moved`; else delete this one and make an agent with its own range",
    "esta carpeta se copió o se restauró: dos copias darían los mismos números. Si la otra no volverá a trabajar, "
    "confírmelo con `fe agent init CARPETA --moved`; si no, borre esta y cree un agente con su propio rango",
)
FENCED = Text(
    "another copy of this folder has taken over, or this agent was retired in the portal: it issues nothing more and "
    "delivers what it has. Stop it, and make a new agent with its own range",
    "otra copia de esta carpeta tomó el control, o este agente fue retirado en el portal: no emite más y entrega lo "
    "que tiene. Deténgalo y cree un agente nuevo con su propio rango",
)
NO_LEASE = Text(
    "this agent has never reached the service: run `fe agent init` with the line up",
    "este agente nunca se ha comunicado con el servicio: ejecute `fe agent init` con línea",
)
CORRUPT = Text(
    "the store {file} is damaged ({why}): keep the file, and make a new agent with its own range. Receipts that "
    "were not delivered are in that file alone: sqlite3 reads what is left of it (.recover)",
    "el archivo {file} está dañado ({why}): consérvelo y cree un agente nuevo con su propio rango. Lo que no se "
    "entregó está solo en ese archivo: sqlite3 lee lo que quede (.recover)",
)
LOCKED = Text(
    "another process works with {file}: only one agent runs on a folder",
    "otro proceso trabaja con {file}: solo un agente trabaja en una carpeta",
)
NOT_STORED = Text(
    "the receipt could not be stored ({why}): nothing was issued and no number used. Free disk space and try again",
    "el comprobante no se pudo guardar ({why}): no se emitió nada ni se usó número. Libere espacio en el disco e "
    "intente de nuevo",
)
BACKWARDS = Text(
    "the clock of this machine says {now}, earlier than the last signature ({last}): set it right; nothing was issued",
    "el reloj de este equipo dice {now}, antes de la última firma ({last}): corríjalo; no se emitió nada",
)
CLOCK_OFF = Text(
    "the clock of this machine is {seconds} s away from the service's: set it right; nothing was issued",
    "el reloj de este equipo difiere {seconds} s del reloj del servicio: corríjalo; no se emitió nada",
)
CLOCK_WARNS = Text(
    "the clock of this machine is {seconds} s away from the service's: set it right before it is refused",
    "el reloj de este equipo difiere {seconds} s del reloj del servicio: corríjalo antes de que se rechace",
)
NO_RANGE = Text(
    "this agent has no range of {prefix}: reserve one with `fe agent init --range {prefix}=FIRST-LAST`",
    "este agente no tiene un rango de {prefix}: reserve uno con `fe agent init --range {prefix}=PRIMERO-ÚLTIMO`",
)
USED_UP = Text(
    "the range of {prefix} is used up at {last}: reserve another with `fe agent init --range` once the line is back",
    "el rango de {prefix} se agotó en {last}: reserve otro con `fe agent init --range` cuando vuelva la línea",
)
EXPIRED = Text(
    "the range of {prefix} expired on {day}: reserve a new one with `fe agent init --range`",
    "el rango de {prefix} venció el {day}: reserve uno nuevo con `fe agent init --range`",
)
PASSPHRASE_OPEN = Text(
    "{file}: others can read the passphrase; chmod 600 {file}",
    "{file}: otros pueden leer la contraseña; chmod 600 {file}",
)
TOKEN_NAME = Text(
    "name the key such as pkcs11:token=LABEL;object=KEY?module-path=/usr/lib/softhsm/libsofthsm2.so",
    "indique la clave así: pkcs11:token=ETIQUETA;object=CLAVE?module-path=/usr/lib/softhsm/libsofthsm2.so",
)
TOKEN_AWAY = Text(
    "the token with this till's key cannot be used ({why}): plug it in, and check its PIN; nothing was issued",
    "no se puede usar el token con la clave de esta caja ({why}): conéctelo y revise su PIN; no se emitió nada",
)
TOKEN_OTHER = Text(
    "the key in the token is not that of the certificate {file}",
    "la clave del token no es la del certificado {file}",
)
CERTIFICATE_OVER = Text(
    "the certificate of this till is valid from {first} to {last}: install a new one with `fe agent init "
    "--certificate`",
    "el certificado de esta caja es válido del {first} al {last}: instale otro con `fe agent init --certificate`",
)
OWN_NUMBER = Text(
    "leave eNCF out: the agent gives the number, of its own range", "omita eNCF: el agente asigna el número de su rango"
)
ONLY_ECF = Text("an agent issues e-CF (ECF with TipoeCF)", "un agente emite e-CF (ECF con TipoeCF)")
FOR_ANOTHER = Text(
    "this clientRequestId was used for another receipt, {e_ncf}; nothing was issued",
    "este clientRequestId se usó para otro comprobante, {e_ncf}; no se emitió nada",
)
NOT_SIGNED_YET = Text(
    "{e_ncf} is not signed yet: the service signs it when the line is back, and until then there is nothing to print",
    "{e_ncf} aún no está firmado: lo firma el servicio cuando vuelva la línea, y hasta entonces no hay qué imprimir",
)
NOT_PRINTABLE = Text(
    "{e_ncf} is issued and cannot be printed: {why}. Its XML is complete; correct the print settings in the portal, "
    "and fetch them with `fe agent init`",
    "{e_ncf} está emitido y no se puede imprimir: {why}. Su XML está completo; corrija los ajustes de impresión en el "
    "portal y tráigalos con `fe agent init`",
)
CONFLICT = Text(
    "the service has another document of {e_ncf}: two copies of this agent gave one number. Issue the sale again with "
    "another number, and give the customer the new receipt",
    "el servicio tiene otro documento de {e_ncf}: dos copias de este agente dieron un mismo número. Emita la venta de "
    "nuevo con otro número y entregue al cliente el nuevo comprobante",
)
LATE = Text(
    "{e_ncf} was signed {hours} h ago and is not delivered: it must reach the authority within 72 h; restore the line",
    "{e_ncf} se firmó hace {hours} h y no se ha entregado: debe llegar a la DGII dentro de 72 h; restablezca la línea",
)
SIGNED_AHEAD = Text(
    "{e_ncf} was signed while the clock was ahead: it is delivered after {at}, because the authority rejects a "
    "signature of the future",
    "{e_ncf} se firmó con el reloj adelantado: se entrega después de {at}, porque la DGII rechaza una firma con fecha "
    "futura",
)
TOO_LATE = Text(
    "{e_ncf} was signed {hours} h ago: the 72 h are over. It is still delivered when the line is back; tell your "
    "accountant",
    "{e_ncf} se firmó hace {hours} h: las 72 h pasaron. Se entrega igual cuando vuelva la línea; avise a su contador",
)
FEW_LEFT = Text(
    "{left} numbers of {prefix} are left: reserve more with `fe agent init --range`",
    "quedan {left} números de {prefix}: reserve más con `fe agent init --range`",
)
EXPIRES_SOON = Text("the range of {prefix} expires on {day}", "el rango de {prefix} vence el {day}")
CERTIFICATE_SOON = Text("the certificate expires on {day}", "el certificado vence el {day}")
DISK_LOW = Text("{free} MB of disk are free", "quedan {free} MB libres en el disco")
REFUSED_BY_SERVICE = Text(
    "the service refuses {e_ncf}: {why}. It is tried again every hour; correct the cause",
    "el servicio rechaza {e_ncf}: {why}. Se intenta de nuevo cada hora; corrija la causa",
)
REJECTED = Text(
    "{e_ncf} ended as {status}: {why}. Issue the sale again corrected; after a revoked certificate, install a new one "
    "first (`fe agent init --certificate`)",
    "{e_ncf} terminó como {status}: {why}. Emita la venta de nuevo corregida; si el certificado fue revocado, instale "
    "antes uno nuevo (`fe agent init --certificate`)",
)
BAD_FILE = Text("{name} was not issued: {why}", "{name} no se emitió: {why}")
AWAY = Text(
    "the service cannot be reached: receipts are signed here and carry the legend of contingency; hand them over, and "
    "they are sent when the line is back",
    "sin comunicación con el servicio: los comprobantes se firman aquí y llevan la leyenda de contingencia; "
    "entréguelos, y se envían cuando vuelva la línea",
)
AUTHORITY_AWAY = Text(
    "the authority does not answer the service: receipts carry the legend of contingency; hand them over, and the "
    "service sends them when it answers again",
    "la DGII no responde al servicio: los comprobantes llevan la leyenda de contingencia; entréguelos, y el servicio "
    "los envía cuando vuelva a responder",
)
AWAY_UNSIGNED = Text(
    "the service cannot be reached: receipts wait for its signature, and none can be printed",
    "sin comunicación con el servicio: los comprobantes esperan su firma y no se pueden imprimir",
)
