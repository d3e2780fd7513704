"""Answers of GET /months/{month} and /months/{month}/606."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from fe.accounts.months import MonthReport
from fe.accounts.purchases import PurchaseLine, Purchases, RemarkCode
from fe.ecf.catalogue import Environment
from fe.ecf.texts import Language
from fe.http.models.response_types import Amount, Code, ResponseModel, closed
from fe.lifecycle import Status
from fe.month.report_606 import Missing


@closed
class MonthTotalsAnswer(TypedDict):
    """Amounts of accepted receipts; credit notes are subtracted."""

    sales: Annotated[Amount, Field(description="totals of what you issued, without E41, E43 and E47")]
    itbisCharged: Annotated[Amount, Field(description="ITBIS in `sales`")]
    taxed18: Amount
    taxed16: Amount
    taxed0: Amount
    exempt: Amount
    ownPurchases: Annotated[Amount, Field(description="totals of E41, E43 and E47")]
    itbisWithheld: Amount
    isrWithheld: Amount
    received: Annotated[Amount, Field(description="totals of what suppliers issued to you and you did not reject")]
    itbisPaid: Annotated[Amount, Field(description="ITBIS in `received`")]


@closed
class IssuedOfMonth(TypedDict):
    """Receipts of one type in one state."""

    tipoEcf: Code
    status: Status
    receipts: int
    montoTotal: Amount
    totalITBIS: Amount
    taxed18: Amount
    itbis18: Amount
    taxed16: Amount
    itbis16: Amount
    taxed0: Amount
    exempt: Amount
    itbisWithheld: Amount
    isrWithheld: Amount
    withoutAmounts: Annotated[int, Field(description="signed by an older release: in the first two amounts alone")]


@closed
class ReceivedOfMonth(TypedDict):
    """Received receipts of one type."""

    tipoEcf: str
    receipts: int
    montoTotal: Amount
    totalITBIS: Amount
    rejected: Annotated[int, Field(description="receipts that you rejected; they are in no other number here")]


@closed
class NumberGapAnswer(TypedDict):
    """Numbers in a row that no signed receipt has."""

    first: str
    last: str


@closed
class NumbersOfMonth(TypedDict):
    """Numbers of one type, from the first to the last of the month. `drawn` is the sum of the four behind it."""

    prefix: Code
    first: str
    last: str
    drawn: int
    accepted: int
    rejected: int
    failed: Annotated[int, Field(description="ended as `error`, and still hold their number")]
    others: Annotated[int, Field(description="without a verdict yet, or issued in another month")]
    withoutReceipt: Annotated[int, Field(description="between `first` and `last`, and in no receipt")]
    void: Annotated[int, Field(description="of `withoutReceipt`: voided at the authority")]
    gaps: Annotated[list[NumberGapAnswer], Field(description="the numbers of `withoutReceipt`, 50 gaps at most")]


@closed
class SequenceOfMonth(TypedDict):
    """Accepted receipts whose numbers one sequence gave."""

    prefix: Code
    name: Annotated[str, Field(description="empty of the sequence without a name")]
    receipts: int
    montoTotal: Amount
    first: str
    last: str


@closed
class MonthAnswer(TypedDict):
    """A month by the days of issue that receipts state."""

    month: str
    environment: Environment
    totals: MonthTotalsAnswer
    issued: list[IssuedOfMonth]
    received: list[ReceivedOfMonth]
    numbers: list[NumbersOfMonth]
    sequences: Annotated[
        list[SequenceOfMonth],
        Field(description="by sequence, of the types that have several; empty above 50,000 receipts"),
    ]
    isComplete: Annotated[
        bool,
        Field(
            description="false while ITBIS of received receipts is being computed, or not all receipts that ended in "
            "the last seconds are in the sums: ask again"
        ),
    ]


MONTH = ResponseModel(MonthAnswer)


def serialize_month(report: MonthReport) -> MonthAnswer:
    """Serialize a month."""
    totals = report.totals
    return {
        "month": str(report.month),
        "environment": report.environment,
        "totals": {
            "sales": totals.sales,
            "itbisCharged": totals.itbis_charged,
            "taxed18": totals.base18,
            "taxed16": totals.base16,
            "taxed0": totals.base0,
            "exempt": totals.exempt,
            "ownPurchases": totals.own_purchases,
            "itbisWithheld": totals.itbis_withheld,
            "isrWithheld": totals.isr_withheld,
            "received": totals.received,
            "itbisPaid": totals.itbis_paid,
        },
        "issued": [
            {
                "tipoEcf": f"E{one.ecf_type}",
                "status": one.status,
                "receipts": one.receipts,
                "montoTotal": one.total,
                "totalITBIS": one.itbis,
                "taxed18": one.base18,
                "itbis18": one.itbis18,
                "taxed16": one.base16,
                "itbis16": one.itbis16,
                "taxed0": one.base0,
                "exempt": one.exempt,
                "itbisWithheld": one.itbis_withheld,
                "isrWithheld": one.isr_withheld,
                "withoutAmounts": one.without_amounts,
            }
            for one in report.issued
        ],
        "received": [
            {
                "tipoEcf": f"E{one.ecf_type}",
                "receipts": one.receipts,
                "montoTotal": one.total,
                "totalITBIS": one.itbis,
                "rejected": one.rejected,
            }
            for one in report.received
        ],
        "numbers": [
            {
                "prefix": one.prefix,
                "first": one.first,
                "last": one.last,
                "drawn": one.drawn,
                "accepted": one.accepted,
                "rejected": one.rejected,
                "failed": one.failed,
                "others": one.other_months,
                "withoutReceipt": one.without_receipt,
                "void": one.void,
                "gaps": [
                    {"first": f"{one.prefix}{gap.first:010d}", "last": f"{one.prefix}{gap.last:010d}"}
                    for gap in one.gaps
                ],
            }
            for one in report.numbers
        ],
        "sequences": [
            {
                "prefix": one.prefix,
                "name": one.name,
                "receipts": one.receipts,
                "montoTotal": one.total,
                "first": one.first_number,
                "last": one.last_number,
            }
            for one in report.by_sequence
        ],
        "isComplete": report.is_complete and not report.left_out.ended,
    }


#: Incomplete purchases that an answer lists.
_LISTED = 500


@closed
class IncompletePurchase(TypedDict):
    """A purchase that the 606 cannot take yet."""

    supplier: Annotated[str, Field(description="tax id; your own where the receipt names none")]
    supplierName: str
    eNCF: str
    issuedOn: str
    missing: Annotated[
        list[Missing], Field(description="what no XML has: say it once for a supplier, with PUT /expenses")
    ]
    message: str
    messageEs: str


@closed
class PurchasesRemark(TypedDict):
    """A remark on the file as a whole."""

    code: Annotated[RemarkCode, Field(description="`no-rnc` and `too-many` stand in the way of the file")]
    receipts: Annotated[int, Field(description="how many it is about")]
    message: str
    messageEs: str


@closed
class PurchasesAnswer(TypedDict):
    """The 606 of a month, or what it lacks."""

    month: str
    environment: Environment
    fileName: str
    rows: Annotated[int, Field(description="purchases of the month; none: the 606 is informative")]
    incomplete: Annotated[int, Field(description="of these, purchases that lack something")]
    missing: Annotated[list[IncompletePurchase], Field(description=f"the first {_LISTED} of them")]
    remarks: list[PurchasesRemark]
    content: Annotated[
        str | None,
        Field(description="the TXT that the authority takes, ASCII with CRLF; null while something is missing"),
    ]


PURCHASES = ResponseModel(PurchasesAnswer)


def serialize_purchases(found: Purchases, environment: Environment, language: Language) -> PurchasesAnswer:
    """Serialize a 606."""
    return {
        "month": str(found.month),
        "environment": environment,
        "fileName": found.name,
        "rows": len(found.lines),
        "incomplete": len(found.incomplete),
        "missing": [_incomplete(line, language) for line in found.incomplete[:_LISTED]],
        "remarks": [
            {
                "code": one.code,
                "receipts": one.receipts,
                "message": one.text.said(language),
                "messageEs": one.text.es,
            }
            for one in found.remarks
        ],
        "content": found.file().decode("ascii") if found.is_ready else None,
    }


def _incomplete(line: PurchaseLine, language: Language) -> IncompletePurchase:
    lacks = [lack.name_shown for lack in line.missing]
    return {
        "supplier": line.purchase.supplier,
        "supplierName": line.purchase.supplier_name,
        "eNCF": line.purchase.e_ncf,
        "issuedOn": line.purchase.issued_on.isoformat(),
        "missing": list(line.missing),
        "message": ", ".join(lack.said(language) for lack in lacks),
        "messageEs": ", ".join(lack.es for lack in lacks),
    }
