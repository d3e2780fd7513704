"""What is said about each way a document can break the format, in English and in Spanish."""

from typing import NamedTuple

from fe.ecf.problems import Problem, Repair, show
from fe.ecf.texts import Text


class ProblemMessage(NamedTuple):
    """Message and fix of one code; the braces take the words given to `problem`."""

    message: str
    message_es: str
    fix: str
    fix_es: str


MESSAGES = {
    "unknown-root": ProblemMessage(
        "{name} is not the root of a document",
        "{name} no es la raíz de un documento",
        "send {expected}",
        "envíe {expected_es}",
    ),
    "empty-payload": ProblemMessage(
        "the payload is empty",
        "el payload está vacío",
        "send Encabezado and DetallesItems, with the authority's names: /docs/fields lists them",
        "envíe Encabezado y DetallesItems, con los nombres de la DGII: /docs/fields los tiene todos",
    ),
    "payload-without-header": ProblemMessage(
        "a payload begins with Encabezado, and this one has {name}",
        "un payload comienza con Encabezado, y este tiene {name}",
        "send Encabezado and DetallesItems, with the authority's names (/docs/fields lists them); ACECF, ANECF and "
        "RFCE stand around their content",
        "envíe Encabezado y DetallesItems, con los nombres de la DGII (/docs/fields los tiene todos); ACECF, ANECF y "
        "RFCE van alrededor de su contenido",
    ),
    "unknown-type": ProblemMessage(
        "{name} is not a type of e-CF",
        "{name} no es un tipo de e-CF",
        "state one of the ten types in TipoeCF, or an eNCF that begins with E and the type",
        "indique en TipoeCF uno de los diez tipos, o un eNCF que comience con E y el tipo",
    ),
    "missing-type": ProblemMessage(
        "the type of the e-CF is missing",
        "falta el tipo de e-CF",
        "send TipoeCF, or an eNCF that begins with E and the type",
        "envíe TipoeCF, o un eNCF que comience con E y el tipo",
    ),
    "e-ncf-malformed": ProblemMessage(
        "the e-NCF is not the letter E, the two digits of a type of e-CF and ten digits",
        "el e-NCF no es la letra E, los dos dígitos de un tipo de e-CF y diez dígitos",
        "write the number as it was authorised, or leave eNCF out of an e-CF and it is drawn from your sequence",
        "escriba el número como fue autorizado, u omita eNCF en un e-CF y se toma de su secuencia",
    ),
    "indicador-facturacion": ProblemMessage(
        'invalid IndicadorFacturacion "{found}" on line {at}',
        'IndicadorFacturacion inválido "{found}" en la línea {at}',
        "use 1 (ITBIS 18%), 2 (16%), 3 (0%) or 4 (exempt)",
        "use 1 (ITBIS 18%), 2 (16%), 3 (0%) o 4 (exento)",
    ),
    "wrong-shape": ProblemMessage(
        "{name} must be {expected}, not {found}",
        "{name} debe ser {expected_es}, no {found_es}",
        "send {expected}",
        "envíe {expected_es}",
    ),
    "unknown-element": ProblemMessage(
        "{name} is not an element of the format",
        "{name} no es un elemento del formato",
        "leave {name} out",
        "elimine {name}",
    ),
    "forbidden-element": ProblemMessage(
        "{name} is not allowed here in a document {kind}",
        "{name} no se permite aquí en un documento {kind}",
        "leave {name} out",
        "elimine {name}",
    ),
    "element-of-other-type": ProblemMessage(
        "{name} does not belong to a document {kind}; these types have it: {types}",
        "{name} no pertenece a un documento {kind}; lo tienen los tipos: {types}",
        "leave {name} out, or check the type of the document",
        "elimine {name}, o revise el tipo del documento",
    ),
    "element-elsewhere": ProblemMessage(
        "{name} does not stand here; its place is {place}",
        "{name} no va aquí; su lugar es {place}",
        "move it to {place}",
        "muévalo a {place}",
    ),
    "missing-element": ProblemMessage(
        "{name} is missing",
        "falta {name}",
        "add {name}: {expected}",
        "agregue {name}: {expected_es}",
    ),
    "misplaced-element": ProblemMessage(
        "{name} is out of order",
        "{name} está fuera de orden",
        "its place in the format is after {expected}",
        "su lugar en el formato es después de {expected_es}",
    ),
    "too-many": ProblemMessage(
        "{name} stands here {found} times; the limit is {expected}",
        "{name} aparece aquí {found} veces; el límite es {expected_es}",
        "keep {expected}",
        "deje {expected_es}",
    ),
    "empty-element": ProblemMessage(
        "{name} is empty, and the authority rejects empty tags",
        "{name} está vacío, y la DGII rechaza las etiquetas vacías",
        "give {name} a value or leave it out",
        "dé un valor a {name} o elimínelo",
    ),
    "unexpected-text": ProblemMessage(
        "there is text between the elements of {name}",
        "hay texto entre los elementos de {name}",
        "remove the text",
        "elimine el texto",
    ),
    "unexpected-attribute": ProblemMessage(
        "{name} bears an attribute",
        "{name} tiene un atributo",
        "remove the attribute {found}",
        "elimine el atributo {found}",
    ),
    "unexpected-children": ProblemMessage(
        "{name} holds elements instead of a value",
        "{name} contiene elementos en lugar de un valor",
        "give {name} {expected}",
        "dé a {name} {expected_es}",
    ),
    "unwritable": ProblemMessage(
        "{name} holds a character that XML does not allow",
        "{name} contiene un carácter que XML no permite",
        "remove control characters",
        "elimine los caracteres de control",
    ),
    "carriage-return": ProblemMessage(
        "{name} holds a carriage return, over which the authority finds no signature valid",
        "{name} contiene un retorno de carro, con el que la DGII no halla válida ninguna firma",
        "end lines with a line feed alone",
        "termine las líneas solo con un salto de línea (LF)",
    ),
    "blanks-around": ProblemMessage(
        "{name} has blanks or line ends around its value",
        "{name} tiene espacios o saltos de línea alrededor del valor",
        "remove them",
        "elimínelos",
    ),
    "pattern": ProblemMessage(
        "{name} does not have the form of its kind",
        "{name} no tiene la forma debida",
        "write {expected}",
        "escriba {expected_es}",
    ),
    "too-long": ProblemMessage(
        "{name} is too long",
        "{name} es demasiado largo",
        "write {expected}",
        "escriba {expected_es}",
    ),
    "too-short": ProblemMessage(
        "{name} is too short",
        "{name} es demasiado corto",
        "write {expected}",
        "escriba {expected_es}",
    ),
    "unknown-code": ProblemMessage(
        "{name} is not a code of its list",
        "{name} no es un código de su lista",
        "use {expected}",
        "use {expected_es}",
    ),
    "not-a-number": ProblemMessage(
        "{name} is not a number",
        "{name} no es un número",
        "write {expected}",
        "escriba {expected_es}",
    ),
    "out-of-range": ProblemMessage(
        "{name} is outside its range",
        "{name} está fuera de rango",
        "write {expected}",
        "escriba {expected_es}",
    ),
    "too-many-digits": ProblemMessage(
        "{name} has too many digits or decimals",
        "{name} tiene demasiados dígitos o decimales",
        "write {expected}",
        "escriba {expected_es}",
    ),
    "more-problems": ProblemMessage(
        "there are more problems than these",
        "hay más problemas que estos",
        "mend these and ask again",
        "corrija estos y pregunte de nuevo",
    ),
    "schema": ProblemMessage(
        "the document does not follow the format",
        "el documento no sigue el formato",
        "compare it with the authority's XSD",
        "compárelo con el XSD de la DGII",
    ),
}


def problem(
    code: str,
    path: str,
    line: int | None = None,
    *,
    found: object = None,
    instead: Text | str | None = None,
    allowed: tuple[str, ...] = (),
    repair: Repair | None = None,
    **words: str,
) -> Problem:
    """Say that `code` is so at `path`. `name` is the last part of the path unless it is given.

    `instead` is the name, or value, that was probably meant. `expected` in the words is also the Spanish one unless
    `expected_es` is given.
    """
    text = MESSAGES["unknown-code"] if code == "not-a-number" and allowed else MESSAGES[code]
    said = Text(instead, instead) if isinstance(instead, str) else instead
    if "expected" in words:
        words.setdefault("expected_es", words["expected"])
    shown = None if found is None else show(found)
    words.setdefault("name", path.rpartition(".")[2])
    words.setdefault("found", shown or "")
    return Problem(
        code=code,
        path=path,
        message=text.message.format_map(words),
        message_es=text.message_es.format_map(words),
        line=line,
        found=shown,
        expected=words.get("expected"),
        expected_es=words.get("expected_es"),
        fix=f"did you mean {said.en}?" if said else text.fix.format_map(words),
        fix_es=f"¿quiso decir {said.es}?" if said else text.fix_es.format_map(words),
        allowed=allowed,
        repair=repair,
    )
