"""Why a document is not simply accepted, and how the authority says so (authority.md#reception and #messages)."""

from collections.abc import Mapping
from enum import StrEnum

from fe.authority.simulator.ledger import Message
from fe.authority.simulator.settings import Catalogue


class Cause(StrEnum):
    """The causes, in the order of authority.md#checks."""

    STRUCTURE = "structure"
    SIGNATURE = "signature"
    CERTIFICATE = "certificate"
    NOT_DELEGATED = "not-delegated"
    ISSUER_UNKNOWN = "issuer-unknown"
    ISSUER_INACTIVE = "issuer-inactive"
    NOT_ELECTRONIC = "not-electronic"
    ROUTE = "route"
    NOT_AUTHORISED = "not-authorised"
    EXPIRED = "expired"
    EXPIRY_DIFFERS = "expiry-differs"
    DUPLICATE = "duplicate"
    VOIDED = "voided"
    REFERENCE = "reference"
    TOTAL = "total"
    SUMS = "sums"
    SUB_DISCOUNTS = "sub-discounts"
    SUB_SURCHARGES = "sub-surcharges"
    RULE = "rule"
    TRY_AGAIN = "try-again"


#: The only rejections that leave the number free (authority.md#number-fate); and the authority's own breakdown, code
#: 004.
NUMBER_STAYS_FREE = frozenset(
    {
        Cause.STRUCTURE,
        Cause.SIGNATURE,
        Cause.CERTIFICATE,
        Cause.NOT_DELEGATED,
        Cause.ISSUER_UNKNOWN,
        Cause.ISSUER_INACTIVE,
        Cause.NOT_ELECTRONIC,
        Cause.NOT_AUTHORISED,
        Cause.EXPIRED,
        Cause.TRY_AGAIN,
    }
)

#: The interface's table knows no code for the rest; they carry 0 and a text, as free-text rejections do live.
_INTERFACE = {
    Cause.STRUCTURE: 1,
    Cause.ISSUER_UNKNOWN: 2,
    Cause.ISSUER_INACTIVE: 2,
    Cause.NOT_ELECTRONIC: 2,
    Cause.DUPLICATE: 3,
    Cause.VOIDED: 3,
    Cause.NOT_AUTHORISED: 4,
    Cause.TRY_AGAIN: 4,
    Cause.EXPIRED: 7,
    Cause.EXPIRY_DIFFERS: 7,
    Cause.SIGNATURE: 8,
    Cause.CERTIFICATE: 8,
    Cause.NOT_DELEGATED: 8,
    Cause.TOTAL: 13,
    Cause.SUMS: 13,
    Cause.REFERENCE: 614,
}
_LIVE = {
    Cause.TRY_AGAIN: 4,
    Cause.NOT_AUTHORISED: 75,
    Cause.REFERENCE: 614,
    Cause.DUPLICATE: 1209,
    Cause.VOIDED: 1209,
    Cause.TOTAL: 3205,
    Cause.SUB_DISCOUNTS: 2020,
    Cause.SUB_SURCHARGES: 2030,
}
_CODES: dict[Catalogue, Mapping[Cause, int]] = {Catalogue.INTERFACE: _INTERFACE, Catalogue.LIVE: _LIVE}

#: Texts as seen live, where one was seen; the others say the same as the help desk's list of causes.
_TEXTS = {
    Cause.SIGNATURE: "La firma digital del documento es inválida.",
    Cause.CERTIFICATE: "El certificado con que se firmó es inválido.",
    Cause.ISSUER_UNKNOWN: "El RNC del emisor no existe.",
    Cause.ISSUER_INACTIVE: "El RNC del emisor no está activo.",
    Cause.NOT_ELECTRONIC: "El emisor no es emisor electrónico.",
    Cause.NOT_AUTHORISED: "Número de secuencia no autorizada.",
    Cause.EXPIRED: "Fecha de vencimiento de secuencia inválida",
    Cause.EXPIRY_DIFFERS: "Fecha de vencimiento de secuencia inválida",
    Cause.DUPLICATE: "El eNCF ya fue utilizado.",
    Cause.VOIDED: "El eNCF fue anulado.",
    Cause.REFERENCE: "El eNCF del campo NCFModificado no ha sido emitido o no es válido.",
    Cause.TRY_AGAIN: "Ha ocurrido un error validando en eCF, favor intentar nueva vez.",
}

ACCEPTED = (Message(0, ""),)


def message(catalogue: Catalogue, cause: Cause, text: str | None = None) -> Message:
    """The message for a cause; `text` where it depends on the document."""
    return Message(_CODES[catalogue].get(cause, 0), text or _TEXTS[cause])
