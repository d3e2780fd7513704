"""Documents and what is known when they come: one set for validating and signing, which agree on each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import EcfType
from fe.identifiers import SubmissionId
from fe.store.records.numbers import Holder
from tests.ecf.receipts import ISSUER, USUAL_INDICATOR, line, payload

NOON = datetime(2028, 12, 31, 15, tzinfo=UTC)  # 11:00 on the last day of 2028 in Santo Domingo
OTHER = SubmissionId(UUID(int=0xA))
GOLDEN = Path(__file__).parent.parent / "ecf" / "golden"


def sale(ecf_type: EcfType = EcfType.CREDIT_FISCAL, issued: str = "31-12-2028", **head: Any) -> dict[str, Any]:
    made = payload(ecf_type, [line(indicator=USUAL_INDICATOR[ecf_type])], issued=issued)
    made["Encabezado"]["IdDoc"].update(head)
    return made


def without_number(**head: Any) -> dict[str, Any]:
    made = sale(**{"TipoeCF": "31", **head})
    del made["Encabezado"]["IdDoc"]["eNCF"]
    return made


def of_another(rnc: str = "101000001") -> dict[str, Any]:
    made = sale()
    made["Encabezado"]["Emisor"] = {**ISSUER, "RNCEmisor": rnc, "FechaEmision": "31-12-2028"}
    return made


@dataclass(frozen=True)
class Case:
    """Input, known records, and whether it is issued: `codes` are those of the fatal problems."""

    name: str
    given: Mapping[str, Any] | bytes
    codes: frozenset[str] = frozenset()
    now: datetime = NOON
    #: When the sequence of its prefix expires.
    expires: datetime | None = datetime(2028, 12, 31, tzinfo=UTC)
    #: The number it gets if it has none.
    next_number: int | None = None
    holders: tuple[Holder, ...] = ()
    issuer: Mapping[str, Any] = field(default_factory=lambda: ISSUER)
    #: The final `FechaVencimientoSecuencia`, where the case is about it.
    until: str | None = None

    def __str__(self) -> str:
        return self.name


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


_EXPIRED = frozenset({"sequence-expired"})
_TAKEN = frozenset({"number-taken"})

CASES = [
    Case("a good receipt", sale()),
    *(Case(f"a good receipt of type {the_type}", sale(the_type)) for the_type in EcfType),
    # --- The last day of a sequence.
    Case("its last day, told as midnight UTC", sale(), until="31-12-2028"),
    Case(
        "its last day, told as its end in UTC", sale(), expires=_moment("2028-12-31T23:59:59.999Z"), until="31-12-2028"
    ),
    Case(
        "its last day, told as its end there", sale(), expires=_moment("2029-01-01T03:59:59.999Z"), until="31-12-2028"
    ),
    Case("its last evening", sale(), now=_moment("2029-01-01T03:59:59Z"), until="31-12-2028"),
    Case("the moment after its last day", sale(issued="01-01-2029"), _EXPIRED, now=_moment("2029-01-01T04:00:00Z")),
    Case("the day before, told at 20:00 there", sale(), _EXPIRED, expires=_moment("2028-12-31T00:00:01Z")),
    Case("a sequence without an end", sale(FechaVencimientoSecuencia="31-12-2029"), expires=None, until="31-12-2029"),
    Case("an end that was sent and is over", sale(FechaVencimientoSecuencia="30-12-2028"), _EXPIRED),
    # --- The number.
    Case("a number to be drawn", without_number(), next_number=7),
    Case("no number at all", without_number(), frozenset({"missing-element"})),
    Case("another submission's number", sale(), _TAKEN, holders=(Holder(OTHER, ISSUER["RNCEmisor"]),)),
    Case("of one whose issuer is not known yet", sale(), _TAKEN, holders=(Holder(OTHER, None),)),
    Case("the same number of another issuer", sale(), holders=(Holder(OTHER, "101000001"),)),
    Case("of another issuer, told in the document", of_another(), holders=(Holder(OTHER, ISSUER["RNCEmisor"]),)),
    # --- What else can be wrong.
    Case("a code that there is not", sale(TipoIngresos="99"), frozenset({"unknown-code"})),
    Case("a type against its number", sale(TipoeCF="33"), frozenset({"e-ncf-type"})),
    Case("another issuer", sale(), issuer={**ISSUER, "RNCEmisor": "101000001"}),
    Case("an issuer without an address", sale(), frozenset({"missing-element"}), issuer={"RNCEmisor": "131880738"}),
    # --- As XML.
    Case("XML as it is", (GOLDEN / "ecf31-coffee-on-credit.xml").read_bytes(), now=_moment("2026-11-20T15:00:00Z")),
    Case(
        "XML that is over",
        (GOLDEN / "ecf31-coffee-on-credit.xml").read_bytes(),
        _EXPIRED,
        now=_moment("2040-01-01T15:00Z"),
    ),
    Case(
        "XML of another's number",
        (GOLDEN / "ecf32-lunch-with-tip.xml").read_bytes(),
        _TAKEN,
        holders=(Holder(OTHER, None),),
    ),
]
