"""The routes of the 606, a part of the table in fe/http/routes/table.py."""

from fe.ecf.identity import TAX_ID_FORM
from fe.http.models.month import PURCHASES
from fe.http.models.purchases import EXPENSE, ExpenseRequest
from fe.http.openapi.described_errors import errors
from fe.http.routes.months import MonthHandlers
from fe.http.routes.types import About, Parameter, Route

_GROUP = "Account"
_SUPPLIER = Parameter(
    "rnc",
    "RNC or cédula of the supplier, as the 606 names it",
    {"type": "string", "pattern": f"^{TAX_ID_FORM}$"},
    "path",
)
_BODY = 4 * 1024


def purchase_routes(prefix: str, months: MonthHandlers, month: Parameter) -> tuple[Route, ...]:
    """Make the routes of the 606 and of its classifications."""
    return (
        Route(
            "GET",
            f"{prefix}/months/<month>/606",
            "invoices:read",
            months.purchases,
            About(
                "getMonthPurchases",
                "Get the 606 of a month, or what it lacks",
                _GROUP,
                {200: (PURCHASES,)},
                parameters=(month,),
                errors=errors("bad-month"),
            ),
        ),
        Route(
            "PUT",
            f"{prefix}/expenses/<rnc>",
            "invoices:write",
            months.classify,
            About(
                "classifyPurchases",
                "Classify the expenses of a supplier or a receipt for the 606",
                _GROUP,
                {200: (EXPENSE,)},
                ExpenseRequest,
                parameters=(_SUPPLIER,),
                errors=errors("bad-expense"),
            ),
            _BODY,
        ),
    )
