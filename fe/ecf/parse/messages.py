"""Messages about bytes that are not acceptable JSON or XML. None repeats the input at length."""

from lxml import etree

from fe.ecf.texts import Text

NOT_UTF_8 = Text("not UTF-8", "no es UTF-8")
NUL = Text("holds a NUL character", "contiene un carácter NUL")
#: Codings that a body may have in place of UTF-8, and the remedy.
UTF_16 = Text("it looks like UTF-16: send UTF-8", "parece UTF-16: envíe UTF-8")
COMPRESSED = Text("it looks compressed: send it as it is", "parece comprimido: envíelo sin comprimir")
EXPONENT = Text("a number with an exponent; write it out", "un número con exponente; escríbalo completo")
NUL_OR_NOT_UTF_8 = Text("holds a NUL character, or is not UTF-8", "contiene un carácter NUL, o no es UTF-8")
DOCTYPE = Text("a DOCTYPE is not allowed", "no se permite un DOCTYPE")
BAD_CHARACTER = Text("a character that XML does not allow", "un carácter que XML no permite")
NOT_VERSION_1_0 = Text("the XML declaration is not one of version 1.0", "la declaración XML no es de la versión 1.0")
FOREIGN_ENCODING = Text(
    'the XML declaration names another encoding: leave the declaration out, or write encoding="utf-8" and send UTF-8',
    'la declaración XML indica otra codificación: omita la declaración, o escriba encoding="utf-8" y envíe UTF-8',
)
COMMENT = Text(
    "a comment or processing instruction is not allowed", "no se permiten comentarios ni instrucciones de proceso"
)
COMMENT_OR_ENTITY = Text(
    "a comment, processing instruction or entity is not allowed",
    "no se permiten comentarios, instrucciones de proceso ni entidades",
)
NOT_WELL_FORMED = Text("not well-formed XML", "no es XML bien formado")

LARGER = Text("larger than {limit} bytes", "mayor de {limit} bytes")
TOO_MANY_CONTAINERS = Text("more than {limit} objects and lists", "más de {limit} objetos y listas")
TOO_MANY_ELEMENTS = Text("more than {limit} elements", "más de {limit} elementos")
TOO_DEEP = Text("nested deeper than {limit} levels", "más de {limit} niveles de profundidad")
TOO_MANY_NAMESPACES = Text(
    "more than {limit} namespace declarations (xmlns) apply to one element",
    "más de {limit} declaraciones de espacios de nombres (xmlns) valen para un elemento",
)
PREFIX_TOO_LONG = Text(
    "a namespace prefix of more than {limit} characters",
    "un prefijo de espacio de nombres de más de {limit} caracteres",
)
TOO_MANY_ATTRIBUTES = Text("more than {limit} attributes in one tag", "más de {limit} atributos en una etiqueta")
TOO_MANY_DIGITS = Text("a number of more than {limit} digits", "un número de más de {limit} dígitos")
NOT_A_NUMBER = Text("{token} is not a number of JSON", "{token} no es un número de JSON")
UNWRITABLE_KEY = Text(
    'the key "{key}" contains a character that is not allowed', 'la clave "{key}" contiene un carácter no permitido'
)
KEY_TWICE = Text('the key "{key}" appears twice in one object', 'la clave "{key}" aparece dos veces en un objeto')

#: libxml2's commonest errors, reworded: its own texts repeat names and values from the input.
XML_ERRORS: dict[int | None, Text] = {
    etree.ErrorTypes.ERR_DOCUMENT_EMPTY: Text("there is no document", "no hay documento"),
    etree.ErrorTypes.ERR_DOCUMENT_END: Text(
        "there is something after the end of the document", "hay algo después del fin del documento"
    ),
    etree.ErrorTypes.ERR_TAG_NAME_MISMATCH: Text(
        "an end tag does not match its start tag", "una etiqueta de cierre no corresponde a la de apertura"
    ),
    etree.ErrorTypes.ERR_TAG_NOT_FINISHED: Text("a tag is not finished", "una etiqueta no está terminada"),
    etree.ErrorTypes.ERR_GT_REQUIRED: Text("a tag lacks its >", "a una etiqueta le falta su >"),
    etree.ErrorTypes.ERR_NAME_REQUIRED: Text(
        "a name is missing or not allowed (a bare & or < is written &amp; or &lt;)",
        "falta un nombre o no se permite (un & o < suelto se escribe &amp; o &lt;)",
    ),
    etree.ErrorTypes.ERR_ENTITYREF_SEMICOL_MISSING: Text(
        "a bare & is not allowed: write &amp;", "no se permite un & suelto: escriba &amp;"
    ),
    etree.ErrorTypes.ERR_UNDECLARED_ENTITY: Text(
        "an entity that XML does not define; write the character itself",
        "una entidad que XML no define; escriba el carácter mismo",
    ),
    etree.ErrorTypes.ERR_INVALID_CHAR: BAD_CHARACTER,
    etree.ErrorTypes.ERR_INVALID_CHARREF: Text(
        "a reference to a character that XML does not allow", "una referencia a un carácter que XML no permite"
    ),
    etree.ErrorTypes.ERR_ATTRIBUTE_REDEFINED: Text(
        "an attribute appears twice in one tag", "un atributo aparece dos veces en una etiqueta"
    ),
    etree.ErrorTypes.ERR_RESERVED_XML_NAME: Text(
        "an XML declaration is allowed only at the very beginning", "la declaración XML solo se permite al comienzo"
    ),
}

#: Beginnings of the standard library's JSON errors, and their Spanish. Any other error is only "not JSON" in Spanish.
_JSON_ERRORS = {
    "Expecting value": "se esperaba un valor",
    "Expecting property name enclosed in double quotes": "se esperaba el nombre de un campo entre comillas dobles",
    "Expecting ':' delimiter": "se esperaba ':'",
    "Expecting ',' delimiter": "se esperaba ','",
    "Illegal trailing comma": "hay una coma de más al final",
    "Extra data": "hay datos de más después del fin",
    "Unterminated string starting at": "un texto no termina; comienza",
    "Invalid control character": "un carácter de control no válido",
    "Invalid \\escape": "un escape (\\) no válido",
    "Invalid \\uXXXX escape": "un escape \\uXXXX no válido",
}


def not_json(why: str) -> Text:
    """Say why, in the words of the standard library."""
    spanish = next((es for begins, es in _JSON_ERRORS.items() if why.startswith(begins)), None)
    because = Text(f": {why}", "" if spanish is None else f": {spanish}")
    return Text(f"not JSON{because.en}", f"no es JSON{because.es}")


def looks_like(wrong: Text, coding: Text | None) -> Text:
    """Add to a refusal what the bytes look like, where that is known."""
    return wrong if coding is None else Text(f"{wrong.en}; {coding.en}", f"{wrong.es}; {coding.es}")


def unwritable_text(path: str) -> Text:
    """A text that XML cannot carry; "" is the top."""
    where = Text(path or "the top", path or "el nivel superior")
    return Text(
        f"the text at {where.en} contains a character that is not allowed",
        f"el texto en {where.es} contiene un carácter no permitido",
    )
