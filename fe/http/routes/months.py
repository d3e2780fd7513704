"""A tenant's month over HTTP."""

from fe.accounts import months
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.messages import must_be, say
from fe.http.models.month import MONTH, serialize_month
from fe.http.paging import read_in_turn
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit
from fe.month.period import YearMonth
from fe.store.postgres.db import Database


class MonthHandlers:
    """The handlers of /months."""

    def __init__(self, db: Database, lists: ConcurrencyLimit[TenantId]) -> None:
        self._db = db
        self._lists = lists

    async def show(self, call: Call) -> ApiReply:
        """Sum up a month in the environment of the token."""
        caller, month = call.identity, read_month(call)
        report = await read_in_turn(
            self._db, self._lists, caller.tenant_id, months.report, caller.environment, month, with_open=False
        )
        return ApiReply(200, MONTH.write(serialize_month(report)))


def read_month(call: Call) -> YearMonth:
    """Read the month of the path. Raises ApiError (400)."""
    month = YearMonth.read(call.params["month"])
    if month is None:
        raise ApiError(400, must_be("month", say("month-form")))
    return month
