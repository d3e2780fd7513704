"""Every message of the API, in both languages: what stands alone as a value, what names something as a function.

Words of the interface (interface.md#errors) are what programs of clients may compare: their English is not reworded.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus

from fe.ecf.texts import Text
from fe.store.records.approvals import DecisionOutcome, DecisionResult

# --- what statuses are called

_PHRASES = {
    400: "Solicitud incorrecta",
    401: "No autorizado",
    403: "Prohibido",
    404: "No encontrado",
    405: "Método no permitido",
    406: "No aceptable",
    408: "La solicitud tardó demasiado",
    409: "Conflicto",
    411: "Falta la longitud del cuerpo",
    413: "El cuerpo es demasiado grande",
    414: "La dirección es demasiado larga",
    415: "Tipo de contenido no admitido",
    417: "Expectativa no admitida",
    421: "Solicitud mal dirigida",
    426: "Se requiere otra versión del protocolo",
    429: "Demasiadas solicitudes",
    431: "Las cabeceras son demasiado grandes",
    500: "Error interno del servicio",
    501: "No implementado",
    503: "Servicio no disponible",
    505: "Versión de HTTP no admitida",
}
#: Where the standard library's phrase depends on its version.
_ENGLISH = {413: "Payload Too Large"}


def of_status(status: int) -> Text:
    english = _ENGLISH.get(status) or HTTPStatus(status).phrase
    return Text(english, _PHRASES.get(status, "Error de la solicitud" if status < 500 else "Error del servicio"))


NOT_FOUND = of_status(404)
METHOD_NOT_ALLOWED = of_status(405)
TOO_MANY_REQUESTS = of_status(429)
INTERNAL_ERROR = of_status(500)
UNAVAILABLE = of_status(503)
FOREIGN_VERSION = of_status(505)

# --- who is calling

MISSING_TOKEN = Text("Missing bearer token", "Falta el token (Authorization: Bearer)")
HOW_TO_GET_A_TOKEN = Text(
    "POST /login gives a token for an hour: send it as Authorization: Bearer TOKEN",
    "POST /login entrega un token por una hora: envíelo como Authorization: Bearer TOKEN",
)
BAD_TOKEN = Text("Invalid or expired token", "El token no es válido o ha vencido")
#: The key of the token is revoked, expired or suspended (interface.md#authentication-failures).
KEY_REVOKED = Text("API key has been revoked", "La clave de API fue revocada")
BAD_CREDENTIALS = Text("Invalid credentials", "Credenciales no válidas")
KEY_ID_FORM = Text("apiKeyId must start with fak_", "apiKeyId debe comenzar con fak_")


def locked_out(allowed: int, window: int, seconds: int, *, by_address: bool) -> Text:
    whose = Text("from this address", "desde esta dirección") if by_address else Text("of this key", "de esta clave")
    return Text(
        f"more than {allowed} logins {whose.en} within {window} s: logins are locked for {seconds} s. A token is good"
        " for an hour: log in once and keep it. Tokens that you have go on working.",
        f"más de {allowed} inicios de sesión {whose.es} en {window} s: bloqueados por {seconds} s. Un token sirve una"
        " hora: inicie sesión una vez y guárdelo. Los tokens que ya tiene siguen funcionando.",
    )


def missing_scope(scope: str) -> Text:
    return Text(f"Missing required scope(s): {scope}", f"Falta el permiso (scope): {scope}")


# --- the request itself

TWO_LENGTHS = Text(
    "a request has either Content-Length or Transfer-Encoding",
    "una solicitud tiene Content-Length o bien Transfer-Encoding",
)
NO_PROXY = Text("this is not a proxy", "esto no es un proxy")
BAD_TARGET = Text("the request target must begin with /", "el destino de la solicitud debe comenzar con /")
CRUMBS = Text("the body came in too many small pieces", "el cuerpo llegó en demasiados trozos pequeños")
CODED_BODY = Text(
    "send the body as it is, without Content-Encoding", "envíe el cuerpo tal como es, sin Content-Encoding"
)
FOREIGN_CHARSET = Text("the charset of application/json must be utf-8", "el charset de application/json debe ser utf-8")
BAD_QUERY = Text("the query string cannot be read", "no se puede leer la consulta (query string)")
PARAMETER_TWICE = Text("the query string names a parameter twice", "la consulta nombra un parámetro dos veces")


def not_json_type(media_type: str) -> Text:
    was = media_type or "-"
    return Text(
        f"Content-Type must be application/json (it was {was})", f"Content-Type debe ser application/json (era {was})"
    )


def foreign_charset(charset: str) -> Text:
    return Text(
        f"{FOREIGN_CHARSET.en} (it was {charset})",
        f"{FOREIGN_CHARSET.es} (era {charset})",
    )


def only_one_header(name: str) -> Text:
    return Text(f"a request has only one {name}", f"una solicitud tiene un solo {name}")


def headers_too_large(limit: int) -> Text:
    return Text(f"the headers must not be larger than {limit} bytes", f"las cabeceras no deben pasar de {limit} bytes")


def body_too_large(limit: int | None, announced: int | None = None, *, is_batch: bool = False) -> Text:
    """Say how large a body may be, how large it was, and into how many parts to cut a batch."""
    said = Text(f"the body must not be larger than {limit} bytes", f"el cuerpo no debe pasar de {limit} bytes")
    if not is_batch or announced is None or limit is None or announced <= limit:
        return said
    parts = announced // limit + 1
    return Text(
        f"{said.en}; this batch has {announced}: send its receipts in {parts} batches or more",
        f"{said.es}; este lote tiene {announced}: envíe sus comprobantes en {parts} lotes o más",
    )


def body_too_slow(seconds: float) -> Text:
    return Text(f"the body did not arrive within {seconds:g} s", f"el cuerpo no llegó en {seconds:g} s")


def nearest_path(path: str) -> Text:
    return Text(f"did you mean {path}?", f"¿quiso decir {path}?")


def no_such_parameter(name: str, known: Iterable[str]) -> Text:
    there_are = ", ".join(known)
    return Text(
        f"there is no query parameter {name}; there are {there_are}", f"no hay un parámetro {name}; existen {there_are}"
    )


# --- sandboxes

NO_SANDBOX = Text(
    "simulate is for sandboxes: here the authority is not a simulator, or the key is for production",
    "simulate es para ambientes de prueba: aquí la autoridad no es un simulador, o la clave es de producción",
)
ONLY_VALIDATED = Text(
    "simulate.now is for POST /invoices/validate, and for POST /invoices with strict",
    "simulate.now es para POST /invoices/validate, y para POST /invoices con strict",
)
NOTHING_COMES = Text(
    "simulate.outcome is for POST /invoices: what is only validated has no outcome",
    "simulate.outcome es para POST /invoices: lo que solo se valida no tiene desenlace",
)
NEEDS_OUTCOME = Text(
    "needs an outcome: rejected, conditional, stuck, lost-answer or slow",
    "falta outcome: rejected, conditional, stuck, lost-answer o slow",
)
NEEDS_CODE = Text("rejected needs a code", "rejected necesita code")
SIMULATED_MOMENT = Text(
    "must be a date (YYYY-MM-DD) or an ISO 8601 timestamp between the years 2000 and 2100",
    "debe ser una fecha (AAAA-MM-DD) o fecha y hora ISO 8601, entre los años 2000 y 2100",
)


def _and(names: Iterable[str]) -> Text:
    return Text(" and ".join(sorted(names)), " y ".join(sorted(names)))


def code_goes_with(largest: int, outcomes: Iterable[str]) -> Text:
    listed = _and(outcomes)
    return Text(
        f"a code from 1 to {largest} goes with {listed.en}",
        f"code, de 1 a {largest}, va con {listed.es}",
    )


def seconds_go_with(maximum: int, outcomes: Iterable[str]) -> Text:
    listed = _and(outcomes)
    return Text(
        f"seconds from 1 to {maximum} go with {listed.en}",
        f"seconds, de 1 a {maximum}, va con {listed.es}",
    )


# --- values

FROM_AFTER_TO = Text("from must not be later than to", "from no debe ser posterior a to")
BAD_CURSOR = Text(
    "cursor must be the nextCursor of an earlier answer", "cursor debe ser el nextCursor de una respuesta anterior"
)
SINCE_FORM = Text(
    "since must be a date (YYYY-MM-DD) or an ISO 8601 timestamp",
    "since debe ser una fecha (AAAA-MM-DD) o fecha y hora ISO 8601",
)
E_NCF_FORM = Text("an e-CF number such as E310000000001", "un número de e-CF como E310000000001")
TAX_ID_FORM = Text("a tax id of 9 or 11 digits", "un RNC o cédula de 9 u 11 dígitos")
REQUEST_ID_FORM = Text("a text of 1 to 120 characters", "un texto de 1 a 120 caracteres")
ID_FORM = Text("an id: at most 120 printable characters", "un identificador de máximo 120 caracteres imprimibles")
NOT_AN_OBJECT = Text("the body must be a JSON object", "el cuerpo debe ser un objeto JSON")
XML_IS_REQUIRED = Text("xml is required when format is xml", "xml es obligatorio cuando format es xml")
PAYLOAD_IS_REQUIRED = Text(
    "payload is required when format is structured", "payload es obligatorio cuando format es structured"
)
FORMAT_FORM = Text("format must be one of: xml, structured", "format debe ser uno de: xml, structured")
CLIENT_REQUEST_ID_FORM = Text(
    "clientRequestId must be a string of 1 to 120 characters", "clientRequestId debe ser un texto de 1 a 120 caracteres"
)
REASON_FORM = Text(
    "reason must be a text of 1 to 250 characters that says why",
    "reason debe ser un texto de 1 a 250 caracteres que diga por qué",
)
A_TEXT = Text("must be a text", "debe ser un texto")
A_UUID = Text("must be a UUID", "debe ser un UUID")
AN_ADDRESS = Text("must be an e-mail address", "debe ser un correo electrónico")


LOOKS_LIKE_A_PAYLOAD = Text(
    'this body looks like a payload without its envelope: send {"format": "structured", "payload": {…}}',
    'este cuerpo parece un payload sin su envoltura: envíe {"format": "structured", "payload": {…}}',
)


def unknown_member(name: str) -> Text:
    return Text(f"there is no member {name}: it was ignored", f"no existe el campo {name}: se ignoró")


def unknown_members_refused(names: Iterable[str]) -> Text:
    listed = ", ".join(names)
    return Text(
        f"strict refuses members that do not exist: {listed}", f"strict rechaza los campos que no existen: {listed}"
    )


def did_you_mean(nearest: str | None, known: Iterable[str]) -> Text:
    if nearest is not None:
        return Text(f"did you mean {nearest}?", f"¿quiso decir {nearest}?")
    listed = ", ".join(known)
    return Text(f"leave it out; the members are {listed}", f"elimínelo; los campos son {listed}")


def there_is_instead(said: Text, missing: str, names: Iterable[str]) -> Text:
    listed = ", ".join(names)
    return Text(
        f"{said.en}; {missing} is missing, and there is {listed}", f"{said.es}; falta {missing}, y está {listed}"
    )


def must_be(name: str, form: Text) -> Text:
    return Text(f"{name} must be {form.en}", f"{name} debe ser {form.es}")


def one_of(names: Iterable[str]) -> Text:
    listed = ", ".join(names)
    return Text(f"one of: {listed}", f"uno de: {listed}")


def number_between(name: str, minimum: int, maximum: int) -> Text:
    return must_be(
        name, Text(f"a whole number from {minimum} to {maximum}", f"un número entero de {minimum} a {maximum}")
    )


def moment_form(name: str) -> Text:
    return must_be(
        name,
        Text(
            "a date (YYYY-MM-DD) or an ISO 8601 timestamp between the years 1 and 9999",
            "una fecha (AAAA-MM-DD) o fecha y hora ISO 8601, entre los años 1 y 9999",
        ),
    )


#: Messages after a field's name, by pydantic's error type.
OF_FIELDS = {
    "string_type": Text("must be a string", "debe ser un texto"),
    "bool_type": Text("must be true or false", "debe ser true o false"),
    "int_type": Text("must be a whole number", "debe ser un número entero"),
    "int_from_float": Text("must be a whole number", "debe ser un número entero"),
    "model_type": Text("must be an object", "debe ser un objeto"),
    "dict_type": Text("must be an object", "debe ser un objeto"),
    "list_type": Text("must be an array", "debe ser una lista"),
    "missing": Text("is required", "es obligatorio"),
    "uuid_type": A_UUID,
    "uuid_parsing": A_UUID,
}


#: The Spanish of what has a limit, which stands in the gap; in English pydantic's own words do.
_LIMITS = {
    "string_too_short": ("min_length", "debe tener al menos {} caracteres"),
    "string_too_long": ("max_length", "debe tener máximo {} caracteres"),
    "too_short": ("min_length", "debe tener al menos {} elementos"),
    "too_long": ("max_length", "debe tener máximo {} elementos"),
    "greater_than_equal": ("ge", "debe ser {} o más"),
    "less_than_equal": ("le", "debe ser {} o menos"),
    "literal_error": ("expected", "debe ser uno de: {}"),
}


def of_field(path: str, kind: str, otherwise: str, limits: Mapping[str, object]) -> Text:
    """Say what is wrong with a field; `otherwise` are the validator's own words, for what has none of ours."""
    known = OF_FIELDS.get(kind)
    if known is not None:
        return Text(f"{path} {known.en}", f"{path} {known.es}")
    name, form = _LIMITS.get(kind, ("", "no tiene un valor admitido"))
    return Text(
        f"{path}: {otherwise[:1].lower()}{otherwise[1:]}", f"{path} {form.replace('{}', str(limits.get(name)))}"
    )


# --- JSON and XML


def of_body(wrong: Text) -> Text:
    between = Text(" is" if wrong.en.startswith("not ") else ":", ":")
    return Text(f"the body{between.en} {wrong.en}", f"el cuerpo{between.es} {wrong.es}")


# --- submissions

TAKEN_IN = Text(
    "Accepted for processing. Ask GET /invoices/{taxLogId} for the verdict.",
    "Aceptado para su proceso. Consulte GET /invoices/{taxLogId} para el veredicto.",
)
USED_BEFORE = Text(
    "This clientRequestId was used before; nothing was processed again.",
    "Este clientRequestId ya se usó; no se procesó nada de nuevo.",
)
USED_BEFORE_FOR_ANOTHER = Text(
    f"{USED_BEFORE.en} Its body was another one; the first is what counts.",
    f"{USED_BEFORE.es} Su cuerpo era otro; cuenta el primero.",
)
TWO_KEYS = Text(
    "Idempotency-Key and clientRequestId differ: send one of them",
    "Idempotency-Key y clientRequestId difieren: envíe uno de los dos",
)
KEY_FORM = Text(
    "Idempotency-Key must be 1 to 120 printable characters of ASCII",
    "Idempotency-Key debe ser de 1 a 120 caracteres imprimibles de ASCII",
)
NO_KEY_OF_BATCH = Text(
    "a batch has no Idempotency-Key: give each of its items a clientRequestId",
    "un lote no tiene Idempotency-Key: dé un clientRequestId a cada uno de sus items",
)


def too_many_items(count: int, maximum: int) -> Text:
    parts = -(-count // maximum)
    return Text(f"there are {count}: send them in {parts} batches", f"hay {count}: envíelos en {parts} lotes")


def batch_form(maximum: int) -> Text:
    return Text(
        f"items must be an array of 1 to {maximum} receipts", f"items debe ser una lista de 1 a {maximum} comprobantes"
    )


def no_number(reason: str, prefix: str) -> Text:
    match reason:
        case "none":
            return Text(
                f"no active NCF sequence for {prefix}: configure one with POST /ncf, or send eNCF",
                f"no hay una secuencia de NCF activa para {prefix}: configúrela con POST /ncf, o envíe eNCF",
            )
        case "expired":
            return Text(f"the NCF sequence for {prefix} has expired", f"la secuencia de NCF para {prefix} ha vencido")
        case "paused":
            return Text(
                f"the NCF sequence for {prefix} is paused: another document of this issuer holds a number it gave. "
                f"Set its next number (PATCH /ncf/{prefix}, currentSequence), or send eNCF",
                f"la secuencia de NCF para {prefix} está en pausa: otro comprobante de este emisor tiene un número que "
                f"ella dio. Indique su próximo número (PATCH /ncf/{prefix}, currentSequence), o envíe eNCF",
            )
    return Text(f"the NCF sequence for {prefix} is exhausted", f"la secuencia de NCF para {prefix} está agotada")


LOOKS_LIKE_E_NCF = Text(
    "this is an e-NCF: GET /invoices?encf= finds its receipts",
    "es un e-NCF: GET /invoices?encf= busca sus comprobantes",
)
IS_A_REQUEST_ID = Text(
    "this is a clientRequestId: GET /invoices?clientRequestId= finds its receipt",
    "es un clientRequestId: GET /invoices?clientRequestId= busca su comprobante",
)

# --- sequences

NO_SUCH_TYPE = Text("invalid e-CF type", "tipo de e-CF no válido")
EXPIRY_FORM = Text(
    "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp",
    "expireAt debe ser una fecha (AAAA-MM-DD) o fecha y hora ISO 8601 completa",
)

# --- what suppliers sent

NO_RECEIVED = Text("there is no received document of this id", "no hay un documento recibido con este id")
DECISION_TAKEN_IN = Text(
    "Accepted for processing. Ask GET /received/{id} how it stands with the authority and the issuer.",
    "Aceptado para su proceso. Consulte GET /received/{id} para saber cómo va ante la DGII y el emisor.",
)
DECIDED_BEFORE = Text(
    "This was decided before; nothing was processed again.", "Ya se había decidido; no se procesó nada de nuevo."
)


def received_elsewhere(environment: str) -> Text:
    return Text(
        f"the document was received in {environment}: use a key of that environment",
        f"el documento se recibió en {environment}: use una clave de ese ambiente",
    )


def decided_otherwise(*, approved: bool, tax_log_id: object, status: object) -> Text:
    """Say that it was approved, or rejected, before."""
    decided = Text("approved", "aprobó") if approved else Text("rejected", "rechazó")
    return Text(
        f"it was {decided.en} before, by taxLogId {tax_log_id} (status {status}): a decision that the authority has, or"
        " may yet have, cannot be taken back",
        f"ya se {decided.es} antes, con taxLogId {tax_log_id} (estado {status}): una decisión que la DGII tiene, o"
        " puede llegar a tener, no se retira",
    )


def decision_under_way(tax_log_id: object, status: object) -> Text:
    return Text(
        f"an ACECF about it is under way, taxLogId {tax_log_id} (status {status}): wait for its end",
        f"hay un ACECF en camino, taxLogId {tax_log_id} (estado {status}): espere a que termine",
    )


def request_id_taken(tax_log_id: object) -> Text:
    return Text(
        f"the clientRequestId was used before, for another submission: taxLogId {tax_log_id}",
        f"el clientRequestId ya se usó, para otro envío: taxLogId {tax_log_id}",
    )


def of_decision(decided: DecisionResult, *, approved: bool) -> Text | None:
    """Say what stands in the way of a decision; None where it was taken in, now or before."""
    match decided.outcome:
        case DecisionOutcome.CONTRARY:
            return decided_otherwise(approved=not approved, tax_log_id=decided.submission_id, status=decided.status)
        case DecisionOutcome.ELSEWHERE:
            return decision_under_way(decided.submission_id, decided.status)
        case DecisionOutcome.TAKEN:
            return request_id_taken(decided.submission_id)
    return None


# --- webhooks

NO_DELIVERY = Text("no delivery has this id", "ninguna entrega tiene este id")
NO_WEBHOOKS_HERE = Text(
    "webhooks are not set up in this installation", "los webhooks no están configurados en esta instalación"
)
TEST_ON_ITS_WAY = Text("the test event is on its way", "el evento de prueba va en camino")
AGAIN_ON_ITS_WAY = Text("it is on its way again", "va en camino de nuevo")


def set_a_webhook(missing: Text) -> Text:
    return Text(f"{missing.en}: PUT /webhooks sets one", f"{missing.es}: PUT /webhooks lo configura")


URL_WORDS = Text(
    "https, a public host name, without user, password or fragment",
    "https, un nombre de host público, sin usuario, contraseña ni fragmento",
)
HEADERS_FORM = Text("headers must be an object of texts", "headers debe ser un objeto de textos")


def url_form(longest: int) -> Text:
    return Text(
        f"a text of at most {longest} characters: {URL_WORDS.en}",
        f"un texto de máximo {longest} caracteres: {URL_WORDS.es}",
    )
