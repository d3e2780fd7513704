"""Fields of answers that are the same wherever a submission is shown: to print, and its facts."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

# The library's own: what typing has before Python 3.12 does not tell pydantic which fields are required.
from typing_extensions import TypedDict

from fe.clock import iso
from fe.contingency import Milestones
from fe.ecf.catalogue import EcfType
from fe.ecf.receipt_facts import FactsToPrint
from fe.http.models.response_types import Amount, Code, Day, Moment, closed

TypeOfReceipt = Annotated[Code | None, Field(description="type prefix such as E31; null: no receipt")]
Total = Annotated[Amount | None, Field(description="MontoTotal of the signed XML, in pesos; null until it is known")]
TotalVat = Annotated[
    Amount | None,
    Field(description="TotalITBIS of the signed XML, 0 where it has none; null until it is known"),
]
BuyerRnc = Annotated[str | None, Field(description="null where the receipt names none")]
BuyerName = Annotated[str | None, Field(description="null until it is known, or where the receipt names none")]
IssueDate = Annotated[Day | None, Field(description="FechaEmision of the signed XML; null until it is known")]
ReadyToPrint = Annotated[
    bool,
    Field(
        description="whether all that is printed is there: security code, moment of signing and QR address; before "
        "the verdict the service marks its prints as a preview"
    ),
]


class PrintedFacts(TypedDict):
    """The facts of a receipt."""

    tipoEcf: TypeOfReceipt
    montoTotal: Total
    totalITBIS: TotalVat
    rncComprador: BuyerRnc
    razonSocialComprador: BuyerName
    fechaEmision: IssueDate


def serialize_facts(ecf_type: EcfType | None, buyer_rnc: str | None, facts: FactsToPrint) -> PrintedFacts:
    """Show the facts of a receipt."""
    return {
        "tipoEcf": None if ecf_type is None else ecf_type.prefix,
        "montoTotal": facts.total,
        "totalITBIS": facts.itbis,
        "rncComprador": buyer_rnc,
        "razonSocialComprador": facts.buyer_name,
        "fechaEmision": None if facts.issued_on is None else facts.issued_on.isoformat(),
    }


@closed
class SubmissionFacts(TypedDict):
    """Independent facts of the document; null: not yet, as far as the service knows."""

    signedAt: Moment | None
    sendBy: Annotated[
        Moment | None,
        Field(description="72 hours after the signature (24 in deferred mode); null once the authority has it"),
    ]
    receivedAt: Annotated[Moment | None, Field(description="when the authority first answered about it")]
    verdictAt: Moment | None
    deliveredAt: Annotated[
        Moment | None, Field(description="when its receiver acknowledged it, or the relay took the mail with it")
    ]


def serialize_document_facts(facts: Milestones) -> SubmissionFacts:
    """Show the facts of a document."""
    return {
        "signedAt": _moment(facts.signed_at),
        "sendBy": _moment(facts.send_by),
        "receivedAt": _moment(facts.received_at),
        "verdictAt": _moment(facts.verdict_at),
        "deliveredAt": _moment(facts.delivered_at),
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else iso(at)
