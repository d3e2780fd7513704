"""Why a document is not simply accepted, and how the authority says so (authority.md#reception and #messages)."""

from collections.abc import Mapping
from enum import StrEnum

from fe.simulator.ledger import LedgerMessage
from fe.simulator.settings import Catalogue


class RejectionReason(StrEnum):
    """The reasons, in the order of authority.md#checks."""

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
        RejectionReason.STRUCTURE,
        RejectionReason.SIGNATURE,
        RejectionReason.CERTIFICATE,
        RejectionReason.NOT_DELEGATED,
        RejectionReason.ISSUER_UNKNOWN,
        RejectionReason.ISSUER_INACTIVE,
        RejectionReason.NOT_ELECTRONIC,
        RejectionReason.NOT_AUTHORISED,
        RejectionReason.EXPIRED,
        RejectionReason.TRY_AGAIN,
    }
)

#: The interface's table knows no code for the rest; they carry 0 and a text, as free-text rejections do live.
_INTERFACE = {
    RejectionReason.STRUCTURE: 1,
    RejectionReason.ISSUER_UNKNOWN: 2,
    RejectionReason.ISSUER_INACTIVE: 2,
    RejectionReason.NOT_ELECTRONIC: 2,
    RejectionReason.DUPLICATE: 3,
    RejectionReason.VOIDED: 3,
    RejectionReason.NOT_AUTHORISED: 4,
    RejectionReason.TRY_AGAIN: 4,
    RejectionReason.EXPIRED: 7,
    RejectionReason.EXPIRY_DIFFERS: 7,
    RejectionReason.SIGNATURE: 8,
    RejectionReason.CERTIFICATE: 8,
    RejectionReason.NOT_DELEGATED: 8,
    RejectionReason.TOTAL: 13,
    RejectionReason.SUMS: 13,
    RejectionReason.REFERENCE: 614,
}
_LIVE = {
    RejectionReason.TRY_AGAIN: 4,
    RejectionReason.NOT_AUTHORISED: 75,
    RejectionReason.REFERENCE: 614,
    RejectionReason.DUPLICATE: 1209,
    RejectionReason.VOIDED: 1209,
    RejectionReason.TOTAL: 3205,
    RejectionReason.SUB_DISCOUNTS: 2020,
    RejectionReason.SUB_SURCHARGES: 2030,
}
_CODES: dict[Catalogue, Mapping[RejectionReason, int]] = {Catalogue.INTERFACE: _INTERFACE, Catalogue.LIVE: _LIVE}

#: Texts as seen live, where one was seen; the others say the same as the help desk's list of causes.
_MESSAGES = {
    RejectionReason.SIGNATURE: "La firma digital del documento es inválida.",
    RejectionReason.CERTIFICATE: "El certificado con que se firmó es inválido.",
    RejectionReason.ISSUER_UNKNOWN: "El RNC del emisor no existe.",
    RejectionReason.ISSUER_INACTIVE: "El RNC del emisor no está activo.",
    RejectionReason.NOT_ELECTRONIC: "El emisor no es emisor electrónico.",
    RejectionReason.NOT_AUTHORISED: "Número de secuencia no autorizada.",
    RejectionReason.EXPIRED: "Fecha de vencimiento de secuencia inválida",
    RejectionReason.EXPIRY_DIFFERS: "Fecha de vencimiento de secuencia inválida",
    RejectionReason.DUPLICATE: "El eNCF ya fue utilizado.",
    RejectionReason.VOIDED: "El eNCF fue anulado.",
    RejectionReason.REFERENCE: "El eNCF del campo NCFModificado no ha sido emitido o no es válido.",
    RejectionReason.TRY_AGAIN: "Ha ocurrido un error validando en eCF, favor intentar nueva vez.",
}

#: Of those whose text says what is wrong in the document: what is said where nothing is.
_IN_GENERAL = {
    RejectionReason.STRUCTURE: "El documento no cumple el formato.",
    RejectionReason.TOTAL: "Los montos del documento no cuadran.",
    RejectionReason.SUB_DISCOUNTS: "Los descuentos no cuadran.",
    RejectionReason.SUB_SURCHARGES: "Los recargos no cuadran.",
}

ACCEPTED = (LedgerMessage(0, ""),)


def message(catalogue: Catalogue, reason: RejectionReason, text: str | None = None) -> LedgerMessage:
    """The message for a cause; `text` where it depends on the document."""
    return LedgerMessage(_CODES[catalogue].get(reason, 0), text or _MESSAGES[reason])


def about_code(catalogue: Catalogue, code: int) -> tuple[str, bool]:
    """Return the text that goes with a code, and whether a rejection with it leaves the number free."""
    reasons = [reason for reason, number in _CODES[catalogue].items() if number == code]
    known = {**_MESSAGES, **_IN_GENERAL}
    texts = [known[reason] for reason in reasons if reason in known and reason is not RejectionReason.TRY_AGAIN]
    return texts[0] if texts else f"Código {code}.", any(reason in NUMBER_STAYS_FREE for reason in reasons)
