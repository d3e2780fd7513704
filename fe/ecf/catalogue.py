"""Kinds of document, their destinations, and the authority's environments.

See authority.md#hosts, #operations and #types.
"""

from dataclasses import dataclass
from enum import StrEnum


class Environment(StrEnum):
    """The authority's environments, spelled as the first path segment of its services."""

    ECF = "ecf"
    CERTECF = "certecf"
    TESTECF = "testecf"

    @property
    def billable(self) -> bool:
        """Only production has legal effect, and only production is billed."""
        return self is Environment.ECF


#: Where the authority tells in which state it has a number and under which trackIds; summaries are told of everywhere
#: (authority.md#hosts).
TELLS_BY_NUMBER = frozenset({Environment.ECF, Environment.TESTECF})


class Root(StrEnum):
    """Root elements of the documents this service issues or receives."""

    ECF = "ECF"
    RFCE = "RFCE"
    ACECF = "ACECF"
    ANECF = "ANECF"
    ARECF = "ARECF"


#: The roots a client may submit (interface.md#routing).
SUBMITTABLE = frozenset({Root.ECF, Root.RFCE, Root.ACECF, Root.ANECF})

#: Roots that issue a number: the invoice and its summary. Other roots refer to a number issued before.
NUMBERED = frozenset({Root.ECF, Root.RFCE})


class EcfType(StrEnum):
    """The ten types of e-CF: the two digits after the letter E of an e-NCF."""

    CREDIT_FISCAL = "31"
    CONSUMER = "32"
    DEBIT_NOTE = "33"
    CREDIT_NOTE = "34"
    PURCHASES = "41"
    MINOR_EXPENSES = "43"
    SPECIAL_REGIME = "44"
    GOVERNMENTAL = "45"
    EXPORTS = "46"
    PAYMENTS_ABROAD = "47"

    @property
    def prefix(self) -> str:
        """The prefix of its e-NCF: `E31` for type 31."""
        return f"E{self.value}"


@dataclass(frozen=True, slots=True)
class Prefix:
    """A kind of number sequence, with the description the interface gives it."""

    code: str
    name: str


#: The prefix catalogue of interface.md#prefixes, in its order and words.
PREFIXES = {
    prefix.code: prefix
    for prefix in (
        Prefix("E31", "Credit fiscal invoice"),
        Prefix("E32", "Consumer invoice"),
        Prefix("E33", "Electronic debit note"),
        Prefix("E34", "Electronic credit note"),
        Prefix("E41", "Purchases"),
        Prefix("E43", "Minor expenses"),
        Prefix("E44", "Special regime"),
        Prefix("E45", "Governmental"),
        Prefix("E46", "Payment-abroad voucher"),
        Prefix("E47", "Special regime payment abroad"),
    )
}


class Service(StrEnum):
    """The authority's services that take a document."""

    RECEPTION = "recepcion"
    SUMMARY_RECEPTION = "recepcionfc"
    COMMERCIAL_APPROVAL = "aprobacioncomercial"
    RANGE_VOIDING = "anulacionrangos"


class Host(StrEnum):
    """The authority's hosts; they fail and are maintained apart (authority.md#hosts). The values label metrics."""

    ECF = "ecf"
    FC = "fc"
    STATUS = "statusecf"


#: Where each root goes by default (interface.md#routing). ANECF can be pointed at RANGE_VOIDING by a setting: the
#: interface names the approval service, authority.md#voiding says that only range voiding accepts it.
DESTINATIONS = {
    Root.ECF: Service.RECEPTION,
    Root.RFCE: Service.SUMMARY_RECEPTION,
    Root.ACECF: Service.COMMERCIAL_APPROVAL,
    Root.ANECF: Service.COMMERCIAL_APPROVAL,
}
