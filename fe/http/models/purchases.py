"""Classifications of purchases for the 606, as clients send and see them."""

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.http.models.response_types import ResponseModel, closed
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import RequestModel
from fe.month.report_606 import ISR_TYPES, KINDS, LONGEST_CREDIT, PAYMENTS, Expense, Itbis

_KIND = f"kind of expense: {'; '.join(f'{code} {text.es}' for code, text in KINDS.items())}"
_ISR = f"type of ISR withheld, where some is: {'; '.join(f'{code} {text.es}' for code, text in ISR_TYPES.items())}"
_PAYMENT = f"form of payment, where the XML states none: {'; '.join(f'{c} {text.es}' for c, text in PAYMENTS.items())}"
_AFTER = "of a supplier: days from the issue to the payment"
_ON = "of one receipt: its day of payment"
_NUMBER = "one receipt of the supplier; left out: all that are not classified by themselves"
_ITBIS = "where ITBIS goes: deducted, into the cost, or in proportion (art. 349)"


class ExpenseRequest(RequestModel):
    """Classification of a supplier's purchases, or of one. It replaces the one before."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"kind": "02", "payment": "02", "paidAfter": 30},
                {"kind": "09", "eNCF": "E310000000001", "paidOn": "2026-11-20", "itbis": "cost"},
            ]
        }
    )

    kind: Annotated[str, Field(description=_KIND, json_schema_extra={"enum": [*KINDS]})]
    eNCF: Annotated[str | None, Field(description=_NUMBER, json_schema_extra={"pattern": "^E[0-9]{12}$"})] = None
    isrType: Annotated[str | None, Field(description=_ISR, json_schema_extra={"enum": [*ISR_TYPES, None]})] = None
    payment: Annotated[str | None, Field(description=_PAYMENT, json_schema_extra={"enum": [*PAYMENTS, None]})] = None
    paidAfter: Annotated[
        int | None, Field(description=_AFTER, json_schema_extra={"minimum": 0, "maximum": LONGEST_CREDIT})
    ] = None
    paidOn: Annotated[str | None, Field(description=_ON, json_schema_extra={"format": "date"})] = None
    itbis: Annotated[str, Field(description=_ITBIS, json_schema_extra={"enum": [*Itbis]})] = Itbis.ADVANCE


@closed
class ExpenseAnswer(TypedDict):
    """A classification as it is kept."""

    supplier: str
    eNCF: Annotated[str | None, Field(description=_NUMBER)]
    kind: Annotated[str, Field(description=_KIND)]
    isrType: str | None
    payment: str | None
    paidAfter: int | None
    paidOn: str | None
    itbis: Literal["advance", "cost", "proportional"]
    warnings: NotRequired[Warnings]


EXPENSE = ResponseModel(ExpenseAnswer)


def serialize_expense(supplier: str, e_ncf: str | None, expense: Expense) -> ExpenseAnswer:
    """Serialize a classification."""
    return {
        "supplier": supplier,
        "eNCF": e_ncf,
        "kind": expense.kind,
        "isrType": expense.isr_type,
        "payment": expense.payment,
        "paidAfter": expense.paid_after,
        "paidOn": None if expense.paid_on is None else expense.paid_on.isoformat(),
        "itbis": expense.itbis.value,
    }
