"""The routes of voidings and of the 608, a part of the table in fe/http/routes/table.py."""

from fe.ecf.catalogue import PREFIXES
from fe.http.models.voidings import PROPOSALS, VOIDED, VOIDING, VOIDINGS, VoidingRequest
from fe.http.openapi.described_errors import errors
from fe.http.routes.types import About, Parameter, Route, RouteLink
from fe.http.routes.voidings import VoidingHandlers

_GROUP = "Number sequences"
_ID = Parameter("voidingId", "`voidingId` of a voiding", {"type": "string", "maxLength": 64}, "path")
_PREFIX = Parameter("prefix", "of this type", {"type": "string", "enum": list(PREFIXES)})
#: Two hundred ranges.
_BODY = 16 * 1024


def voiding_routes(prefix: str, voidings: VoidingHandlers, month: Parameter) -> tuple[Route, ...]:
    """Make the routes below `{prefix}/voidings`, and the 608."""
    base = f"{prefix}/voidings"
    one = f"{base}/<voiding_id>"
    to_one = tuple(
        RouteLink(status, "voidingId", operation, "voidingId")
        for status in (200, 202)
        for operation in ("getVoiding", "getVoidingXml")
    )
    return (
        Route(
            "GET",
            f"{base}/proposals",
            "ncf:read",
            voidings.propose,
            About(
                "listVoidable",
                "List the numbers that can be voided",
                _GROUP,
                {200: (PROPOSALS,)},
                parameters=(_PREFIX,),
            ),
        ),
        Route(
            "GET",
            base,
            "ncf:read",
            voidings.listed,
            About("listVoidings", "List voidings", _GROUP, {200: (VOIDINGS,)}),
        ),
        Route(
            "POST",
            base,
            "ncf:write",
            voidings.request,
            About(
                "voidNumbers",
                "Void numbers that were never sent nor handed over",
                _GROUP,
                {202: (VOIDING,), 200: (VOIDING,)},
                VoidingRequest,
                links=to_one,
                errors=errors("bad-ranges", "not-voidable"),
                note="It cannot be undone.",
            ),
            _BODY,
        ),
        Route(
            "GET",
            one,
            "ncf:read",
            voidings.show,
            About(
                "getVoiding",
                "Show a voiding",
                _GROUP,
                {200: (VOIDING,)},
                parameters=(_ID,),
                errors=errors("no-voiding"),
            ),
        ),
        Route(
            "GET",
            f"{one}/xml",
            "ncf:read",
            voidings.xml,
            About(
                "getVoidingXml",
                "Get the signed ANECF of a voiding",
                _GROUP,
                {},
                parameters=(_ID,),
                errors=errors("no-voiding", "voiding-unsigned"),
                file="application/xml",
            ),
        ),
        Route(
            "GET",
            f"{prefix}/months/<month>/608",
            "invoices:read",
            voidings.voided_in_month,
            About(
                "getMonthVoided",
                "Get the 608 of a month: its voided numbers",
                "Account",
                {200: (VOIDED,)},
                parameters=(month,),
                errors=errors("bad-month", "not-in-608"),
            ),
        ),
    )
