"""The routes of recurring receipts, a part of the table in fe/http/routes/table.py."""

from fe.catalogue.fields import ID_PATTERN
from fe.http.models import recurring as models
from fe.http.openapi.described_errors import errors
from fe.http.parameters import LIMIT_DEFAULT, LIMIT_MAX
from fe.http.routes.recurring import RecurringHandlers
from fe.http.routes.types import About, Parameter, Route, whole

_GROUP = "Recurring receipts"
_BODY = 256 * 1024
_SMALL_BODY = 4 * 1024
_ID = Parameter(
    "recurringId",
    "yours: letters without accents, digits and . _ ~ -",
    {"type": "string", "pattern": ID_PATTERN},
    "path",
)
_MONTH = Parameter("month", "of the turn", {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"}, "path")
_VERSION = Parameter(
    "version", "delete only if it is at this version", {"type": "integer", "minimum": 1, "maximum": 999_999_999}
)


def recurring_routes(prefix: str, recurring: RecurringHandlers) -> tuple[Route, ...]:
    """Make the routes below `{prefix}/recurring`."""
    base = f"{prefix}/recurring"
    one = f"{base}/<recurring_id>"
    return (
        Route(
            "GET",
            base,
            "recurring:read",
            recurring.listed,
            About(
                "listRecurring",
                "List recurring receipts",
                _GROUP,
                {200: (models.RECURRING_LIST,)},
                parameters=(
                    Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
                    Parameter("cursor", "`nextCursor` of an earlier answer", {"type": "string"}),
                ),
                errors=errors("bad-limit"),
            ),
        ),
        Route(
            "GET",
            one,
            "recurring:read",
            recurring.show,
            About(
                "getRecurring",
                "Show a recurring receipt with its turns",
                _GROUP,
                {200: (models.RECURRING,)},
                parameters=(_ID,),
                errors=errors("no-recurring"),
            ),
        ),
        Route(
            "PUT",
            one,
            "recurring:write",
            recurring.put,
            About(
                "putRecurring",
                "Create or change a recurring receipt",
                _GROUP,
                {200: (models.RECURRING,)},
                models.RecurringRequest,
                parameters=(_ID,),
                errors=errors("bad-recurring", "entry-changed"),
            ),
            _BODY,
        ),
        Route(
            "DELETE",
            one,
            "recurring:write",
            recurring.delete,
            About(
                "deleteRecurring",
                "Delete a recurring receipt",
                _GROUP,
                {200: (models.RECURRING_DELETED,)},
                parameters=(_ID, _VERSION),
                errors=errors("no-recurring", "entry-changed"),
            ),
        ),
        Route(
            "POST",
            f"{one}/turns/<month>",
            "recurring:write",
            recurring.decide,
            About(
                "decideRecurringTurn",
                "Issue a turn that was not issued, or skip one",
                _GROUP,
                {200: (models.RECURRING,)},
                models.TurnRequest,
                parameters=(_ID, _MONTH),
                errors=errors("no-turn", "turn-issued"),
            ),
            _SMALL_BODY,
        ),
    )
