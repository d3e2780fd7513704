"""The routes of paper receipts, a part of the table in fe/http/routes/table.py."""

from fe.http.models import paper as models
from fe.http.openapi.described_errors import errors
from fe.http.routes.paper import PaperHandlers
from fe.http.routes.types import About, Parameter, Route

_GROUP = "Contingency"
_SMALL_BODY = 16 * 1024
_ONE_BODY = 256 * 1024
_RANGE = Parameter("rangeId", "`rangeId` of a range", {"type": "string", "maxLength": 64}, "path")
_NCF = Parameter("ncf", "number of the paper receipt", {"type": "string", "pattern": f"^{models.NCF_FORM}$"}, "path")


def paper_routes(prefix: str, paper: PaperHandlers) -> tuple[Route, ...]:
    """Make the routes of {prefix}/paper-ranges and {prefix}/paper-receipts."""
    ranges, receipts = f"{prefix}/paper-ranges", f"{prefix}/paper-receipts"
    return (
        Route(
            "GET",
            ranges,
            "ncf:read",
            paper.ranges,
            About("listPaperRanges", "List the ranges of series B", _GROUP, {200: (models.PAPER_RANGES,)}),
        ),
        Route(
            "POST",
            ranges,
            "ncf:write",
            paper.add_range,
            About(
                "addPaperRange",
                "Record a range of series B",
                _GROUP,
                {200: (models.PAPER_RANGE,)},
                models.PaperRangeRequest,
                errors=errors("paper-range-bad", "paper-range-overlaps"),
            ),
            _SMALL_BODY,
        ),
        Route(
            "DELETE",
            f"{ranges}/<range_id>",
            "ncf:write",
            paper.delete_range,
            About(
                "deletePaperRange",
                "Delete a range without receipts",
                _GROUP,
                {200: (models.PAPER_RANGE_DELETED,)},
                parameters=(_RANGE,),
                errors=errors("no-paper-range"),
            ),
        ),
        Route(
            "GET",
            receipts,
            "invoices:read",
            paper.listed,
            About(
                "listPaperReceipts",
                "List paper receipts and the e-CF that replace them",
                _GROUP,
                {200: (models.PAPER_RECEIPTS,)},
                parameters=(
                    Parameter("state", "only those without an accepted e-CF", {"type": "string", "enum": ["open"]}),
                    Parameter("cursor", "`nextCursor` of an earlier answer", {"type": "string"}),
                ),
            ),
        ),
        Route(
            "POST",
            receipts,
            "invoices:write",
            paper.enter,
            About(
                "enterPaperReceipts",
                "Enter receipts that were issued on paper",
                _GROUP,
                {200: (models.PAPER_ENTERED,)},
                models.PaperReceiptsRequest,
                note="A number is entered once: a repeat with the same content changes nothing.",
            ),
        ),
        Route(
            "POST",
            f"{receipts}/replacements",
            "invoices:write",
            paper.replace,
            About(
                "replacePaperReceipts",
                "Issue the e-CF that replace paper receipts",
                _GROUP,
                {200: (models.REPLACEMENTS,)},
                models.ReplacementsRequest,
                note="Each paper receipt gets at most one accepted e-CF. The e-CF goes to the authority only.",
                errors=errors("paper-never-entered"),
            ),
            _SMALL_BODY,
        ),
        Route(
            "GET",
            f"{receipts}/<ncf>",
            "invoices:read",
            paper.show,
            About(
                "getPaperReceipt",
                "Show a paper receipt",
                _GROUP,
                {200: (models.PAPER_RECEIPT,)},
                parameters=(_NCF,),
                errors=errors("no-paper-receipt"),
            ),
        ),
        Route(
            "PUT",
            f"{receipts}/<ncf>",
            "invoices:write",
            paper.correct,
            About(
                "correctPaperReceipt",
                "Correct a paper receipt that has no e-CF",
                _GROUP,
                {200: (models.PAPER_RECEIPT,)},
                models.PaperContent,
                (_NCF,),
                errors=errors("paper-never-entered"),
            ),
            _ONE_BODY,
        ),
    )
