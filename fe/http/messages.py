"""Every message of the API in both languages. The English one is the key, as it stands in the code.

`{}` is a value, and stands in both in the same order; `{~}` is a message of this table, in its language. A test sees
to it that every message which the code can give has its row.
"""

#: Spanish by the English template.
SPANISH = {
    # --- what statuses are called
    "Bad Request": "Solicitud incorrecta",
    "Unauthorized": "No autorizado",
    "Not Found": "No encontrado",
    "Method Not Allowed": "Método no permitido",
    "Request Timeout": "La solicitud tardó demasiado",
    "Payload Too Large": "El cuerpo es demasiado grande",
    "Request Entity Too Large": "El cuerpo es demasiado grande",
    "Request Header Fields Too Large": "Las cabeceras son demasiado grandes",
    "Unsupported Media Type": "Tipo de contenido no admitido",
    "Too Many Requests": "Demasiadas solicitudes",
    "Internal Server Error": "Error interno del servicio",
    "Service Unavailable": "Servicio no disponible",
    "HTTP Version Not Supported": "Versión de HTTP no admitida",
    # --- who is calling
    "Missing bearer token": "Falta el token (Authorization: Bearer)",
    "Invalid or expired token": "El token no es válido o ha vencido",
    "API key has been revoked": "La clave de API fue revocada",
    "Invalid credentials": "Credenciales no válidas",
    "Missing required scope(s): {}": "Falta el permiso (scope): {}",
    "apiKeyId must start with fak_": "apiKeyId debe comenzar con fak_",
    # --- the request itself
    "a request has only one {}": "una solicitud tiene un solo {}",
    "the headers must not be larger than {} bytes": "las cabeceras no deben pasar de {} bytes",
    "a request has either Content-Length or Transfer-Encoding": (
        "una solicitud tiene Content-Length o bien Transfer-Encoding"
    ),
    "no other protocol is spoken here: leave Upgrade out": "aquí no se habla otro protocolo: omita Upgrade",
    "this is not a proxy": "esto no es un proxy",
    "the request target must begin with /": "el destino de la solicitud debe comenzar con /",
    "the body must not be larger than {} bytes": "el cuerpo no debe pasar de {} bytes",
    "the body did not arrive within {} s": "el cuerpo no llegó en {} s",
    "Content-Type must be application/json": "Content-Type debe ser application/json",
    "the charset of application/json must be utf-8": "el charset de application/json debe ser utf-8",
    "the query string cannot be read": "no se puede leer la consulta (query string)",
    "the query string names a parameter twice": "la consulta nombra un parámetro dos veces",
    "there is no query parameter {}; there are {}": "no hay un parámetro {}; existen {}",
    # --- sandboxes
    "simulate is for sandboxes: here the authority is not a simulator, or the key is for production": (
        "simulate es para ambientes de prueba: aquí la autoridad no es un simulador, o la clave es de producción"
    ),
    "simulate.now is for POST /invoices/validate, and for POST /invoices with strict": (
        "simulate.now es para POST /invoices/validate, y para POST /invoices con strict"
    ),
    "simulate.outcome is for POST /invoices: what is only validated has no outcome": (
        "simulate.outcome es para POST /invoices: lo que solo se valida no tiene desenlace"
    ),
    "simulate: needs an outcome: rejected, conditional, stuck, lost-answer or slow": (
        "simulate: falta outcome: rejected, conditional, stuck, lost-answer o slow"
    ),
    "simulate: rejected needs a code": "simulate: rejected necesita code",
    "simulate: a code from {} to {} goes with {}": "simulate: code, de {} a {}, va con {}",
    "simulate: seconds from {} to {} go with {}": "simulate: seconds, de {} a {}, va con {}",
    "simulate.now: must be a date (YYYY-MM-DD) or an ISO 8601 timestamp between the years 2000 and 2100": (
        "simulate.now debe ser una fecha (AAAA-MM-DD) o fecha y hora ISO 8601, entre los años 2000 y 2100"
    ),
    # --- values
    "{} must be a whole number from {} to {}": "{} debe ser un número entero de {} a {}",
    "{} must be {} between the years 1 and 9999": (
        "{} debe ser una fecha (AAAA-MM-DD) o fecha y hora ISO 8601, entre los años 1 y 9999"
    ),
    "from must not be later than to": "from no debe ser posterior a to",
    "cursor must be the nextCursor of an earlier answer": "cursor debe ser el nextCursor de una respuesta anterior",
    "since must be a date (YYYY-MM-DD) or an ISO 8601 timestamp": (
        "since debe ser una fecha (AAAA-MM-DD) o fecha y hora ISO 8601"
    ),
    "{} must be an e-CF number such as E310000000001": "{} debe ser un número de e-CF como E310000000001",
    "{} must be a tax id of 9 or 11 digits": "{} debe ser un RNC o cédula de 9 u 11 dígitos",
    "{} must be a text of 1 to 120 characters": "{} debe ser un texto de 1 a 120 caracteres",
    "{} must be an id: at most 120 printable characters": (
        "{} debe ser un identificador de máximo 120 caracteres imprimibles"
    ),
    "{} must be one of: {}": "{} debe ser uno de: {}",
    "{} must be {}": "{} debe ser {}",
    "{} is required": "{} es obligatorio",
    "{} must be a string": "{} debe ser un texto",
    "{} must be true or false": "{} debe ser true o false",
    "{} must be a whole number": "{} debe ser un número entero",
    "{} must be an object": "{} debe ser un objeto",
    "{} must be an array": "{} debe ser una lista",
    "{} must be a UUID": "{} debe ser un UUID",
    "{}: must be a UUID": "{}: debe ser un UUID",
    "{}: must be an e-mail address": "{}: debe ser un correo electrónico",
    "the body must be a JSON object": "el cuerpo debe ser un objeto JSON",
    "xml is required when format is xml": "xml es obligatorio cuando format es xml",
    "payload is required when format is structured": "payload es obligatorio cuando format es structured",
    "format must be one of: xml, structured": "format debe ser uno de: xml, structured",
    "clientRequestId must be a string of 1 to 120 characters": (
        "clientRequestId debe ser un texto de 1 a 120 caracteres"
    ),
    "reason must be a text of 1 to 250 characters that says why": (
        "reason debe ser un texto de 1 a 250 caracteres que diga por qué"
    ),
    # --- JSON and XML
    "the body is {~}": "el cuerpo: {~}",
    "the body: {~}": "el cuerpo: {~}",
    "xml: {~}": "xml: {~}",
    "{~} (line {})": "{~} (línea {})",
    "{~} (line {}, column {})": "{~} (línea {}, columna {})",
    "not UTF-8": "no es UTF-8",
    "not JSON: {}": "no es JSON: {}",
    "larger than {} bytes": "mayor de {} bytes",
    "begins with a byte order mark": "comienza con una marca de orden de bytes (BOM)",
    "holds a NUL character": "contiene un carácter NUL",
    "more than {} objects and lists": "más de {} objetos y listas",
    "nested deeper than {} levels": "más de {} niveles de profundidad",
    "the text at {} holds a character that is not allowed": "el texto en {} contiene un carácter no permitido",
    'the key "{}" holds a character that is not allowed': 'la clave "{}" contiene un carácter no permitido',
    "a number of more than {} digits": "un número de más de {} dígitos",
    "a number with an exponent; write it out": "un número con exponente; escríbalo completo",
    "{} is not a number of JSON": "{} no es un número de JSON",
    'the key "{}" appears twice in one object': 'la clave "{}" aparece dos veces en un objeto',
    "holds a NUL character, or is not UTF-8": "contiene un carácter NUL, o no es UTF-8",
    "a DOCTYPE is not allowed": "no se permite un DOCTYPE",
    "more than {} elements": "más de {} elementos",
    "a character that XML does not allow": "un carácter que XML no permite",
    "the XML declaration is not one of version 1.0": "la declaración XML no es de la versión 1.0",
    "the declared encoding is not UTF-8": "la codificación declarada no es UTF-8",
    "a comment or processing instruction is not allowed": "no se permiten comentarios ni instrucciones de proceso",
    "a comment, processing instruction or entity is not allowed": (
        "no se permiten comentarios, instrucciones de proceso ni entidades"
    ),
    "not well-formed XML": "no es XML bien formado",
    "there is no document": "no hay documento",
    "there is something after the end of the document": "hay algo después del fin del documento",
    "an end tag does not match its start tag": "una etiqueta de cierre no corresponde a la de apertura",
    "a tag is not finished": "una etiqueta no está terminada",
    "a tag lacks its >": "a una etiqueta le falta su >",
    "a name is missing or not allowed (a bare & or < is written &amp; or &lt;)": (
        "falta un nombre o no se permite (un & o < suelto se escribe &amp; o &lt;)"
    ),
    "a bare & is not allowed: write &amp;": "no se permite un & suelto: escriba &amp;",
    "an entity that XML does not define; write the character itself": (
        "una entidad que XML no define; escriba el carácter mismo"
    ),
    "a reference to a character that XML does not allow": "una referencia a un carácter que XML no permite",
    "an attribute appears twice in one tag": "un atributo aparece dos veces en una etiqueta",
    "an XML declaration is allowed only at the very beginning": "la declaración XML solo se permite al comienzo",
    # --- submissions
    "Accepted for processing. Ask GET /invoices/{taxLogId} for the verdict.": (
        "Aceptado para su proceso. Consulte GET /invoices/{taxLogId} para el veredicto."
    ),
    "This clientRequestId was used before; nothing was processed again.": (
        "Este clientRequestId ya se usó; no se procesó nada de nuevo."
    ),
    (
        "This clientRequestId was used before; nothing was processed again. Its body was another one; the "
        "first is what counts."
    ): "Este clientRequestId ya se usó; no se procesó nada de nuevo. Su cuerpo era otro; cuenta el primero.",
    "no active NCF sequence for {}: configure one with POST /ncf, or send eNCF": (
        "no hay una secuencia de NCF activa para {}: configúrela con POST /ncf, o envíe eNCF"
    ),
    "the NCF sequence for {} has expired": "la secuencia de NCF para {} ha vencido",
    "the NCF sequence for {} is exhausted": "la secuencia de NCF para {} está agotada",
    "{} {} is that of another taxpayer of this service, and no delegation is recorded": (
        "{} {} es de otro contribuyente de este servicio, y no consta una delegación"
    ),
    "items must be an array of 1 to {} receipts": "items debe ser una lista de 1 a {} comprobantes",
    "strict is not for batches: ask POST /invoices/validate before": (
        "strict no es para lotes: consulte antes POST /invoices/validate"
    ),
    "Idempotency-Key and clientRequestId differ: send one of them": (
        "Idempotency-Key y clientRequestId difieren: envíe uno de los dos"
    ),
    "Idempotency-Key must be 1 to 120 printable characters of ASCII": (
        "Idempotency-Key debe ser de 1 a 120 caracteres imprimibles de ASCII"
    ),
    "a batch has no Idempotency-Key: give each of its items a clientRequestId": (
        "un lote no tiene Idempotency-Key: dé un clientRequestId a cada uno de sus items"
    ),
    # --- sequences
    "invalid e-CF type": "tipo de e-CF no válido",
    "no NCF sequence exists for the prefix {}": "no existe una secuencia de NCF para el prefijo {}",
    "prefix must be a valid e-CF type: one of {}": "prefix debe ser un tipo de e-CF válido: uno de {}",
    "maximum sequence must be greater or equal to the minimum": (
        "la secuencia máxima debe ser mayor o igual que la mínima"
    ),
    "numbers go from 1 to {}": "los números van de 1 a {}",
    "a sequence cannot end on {}": "una secuencia no puede terminar el {}",
    "the next number must be in the range, or one past its end": (
        "el próximo número debe estar en el rango, o uno después de su fin"
    ),
    "a number from there on was sent: what the authority may have cannot be drawn again": (
        "se envió un número desde ahí en adelante: lo que la DGII puede tener no se toma de nuevo"
    ),
    "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp": (
        "expireAt debe ser una fecha (AAAA-MM-DD) o fecha y hora ISO 8601 completa"
    ),
    "not a day": "no es un día",
    # --- what suppliers sent
    "there is no received document of this id": "no hay un documento recibido con este id",
    "the document was received in {}: use a key of that environment": (
        "el documento se recibió en {}: use una clave de ese ambiente"
    ),
    (
        "it was {} before, by taxLogId {} (status {}): a decision that the authority has, or may yet have, "
        "cannot be taken back"
    ): (
        "ya se decidió antes ({}), con taxLogId {} (estado {}): una decisión que la DGII tiene, o puede "
        "llegar a tener, no se retira"
    ),
    "an ACECF about it is under way, taxLogId {} (status {}): wait for its end": (
        "hay un ACECF en camino, taxLogId {} (estado {}): espere a que termine"
    ),
    "the clientRequestId was used before, for another submission: taxLogId {}": (
        "el clientRequestId ya se usó, para otro envío: taxLogId {}"
    ),
    # --- webhooks
    "no delivery has this id": "ninguna entrega tiene este id",
    "webhooks are not set up in this installation": "los webhooks no están configurados en esta instalación",
    "{~}: PUT /webhooks sets one": "{~}: PUT /webhooks lo configura",
    "no webhook is set in {}": "no hay un webhook configurado en {}",
}
