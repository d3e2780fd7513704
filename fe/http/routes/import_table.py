"""The routes of imports, a part of the table in fe/http/routes/table.py."""

from fe.ecf.catalogue import PREFIXES
from fe.http.models.imports import IMPORT, ImportRequest
from fe.http.openapi.described_errors import errors
from fe.http.routes.imports import MAX_BODY, ImportHandlers
from fe.http.routes.types import About, Parameter, Route, RouteLink
from fe.workbooks.report import XLSX

_GROUP = "Imports"
_ID = Parameter("importId", "`importId` of an import", {"type": "string", "maxLength": 64}, "path")
_PREFIX = Parameter("prefix", "a type of e-CF", {"type": "string", "enum": list(PREFIXES)}, "path")
_EMPTY_BODY = 4 * 1024


def import_routes(prefix: str, imports: ImportHandlers) -> tuple[Route, ...]:
    """Make the routes below `{prefix}/imports`."""
    base = f"{prefix}/imports"
    one = f"{base}/<import_id>"
    to_one = tuple(
        RouteLink(202, "importId", operation, "importId")
        for operation in ("getImport", "issueImport", "getImportWorkbook")
    )
    return (
        Route(
            "GET",
            f"{base}/templates/<prefix>",
            "invoices:read",
            imports.template,
            About(
                "getImportTemplate",
                "Download the template of a type",
                _GROUP,
                {},
                parameters=(_PREFIX,),
                errors=errors("bad-prefix"),
                file=XLSX,
            ),
        ),
        Route(
            "POST",
            base,
            "invoices:write",
            imports.upload,
            About(
                "createImport",
                "Upload a workbook of receipts, to be validated",
                _GROUP,
                {202: (IMPORT,)},
                ImportRequest,
                errors=errors("bad-workbook", "large-workbook", "foreign-file"),
                links=to_one,
            ),
            MAX_BODY,
        ),
        Route(
            "GET",
            one,
            "invoices:read",
            imports.show,
            About(
                "getImport",
                "Get the progress of an import",
                _GROUP,
                {200: (IMPORT,)},
                parameters=(_ID,),
                errors=errors("no-import"),
            ),
        ),
        Route(
            "POST",
            f"{one}/issue",
            "invoices:write",
            imports.issue,
            About(
                "issueImport",
                "Issue the valid receipts of an import, or resume",
                _GROUP,
                {202: (IMPORT,)},
                parameters=(_ID,),
                errors=errors("no-import", "not-issuable"),
            ),
            _EMPTY_BODY,
        ),
        Route(
            "GET",
            f"{one}/workbook",
            "invoices:read",
            imports.workbook,
            About(
                "getImportWorkbook",
                "Download the workbook of an import, with errors and numbers",
                _GROUP,
                {},
                parameters=(_ID,),
                errors=errors("no-import"),
                file="application/octet-stream",
            ),
        ),
    )
