"""The authority's own word about a document, as all its services say it."""

from enum import StrEnum


class Estado(StrEnum):
    """The authority's own word about a document (authority.md#tracking)."""

    NOT_FOUND = "No encontrado"
    ACCEPTED = "Aceptado"
    REJECTED = "Rechazado"
    PROCESSING = "En Proceso"
    CONDITIONAL = "Aceptado Condicional"


#: The numeric `codigo` that goes with each state in the authority's answers.
ESTADO_BY_CODE = {
    0: Estado.NOT_FOUND,
    1: Estado.ACCEPTED,
    2: Estado.REJECTED,
    3: Estado.PROCESSING,
    4: Estado.CONDITIONAL,
}
