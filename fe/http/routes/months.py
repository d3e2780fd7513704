"""A tenant's month over HTTP: its sums, its workbook, and its 606."""

from functools import partial

from fe.accounts import month_book, months, purchases
from fe.http.calls import ApiReply, Call
from fe.http.models.month import MONTH, PURCHASES, serialize_month, serialize_purchases
from fe.http.paging import read_in_turn
from fe.http.parameters import read_month
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit
from fe.month.book import XLSX, workbook
from fe.offload.pool import Apart
from fe.store.postgres.db import Database
from fe.store.records import tenants


class MonthHandlers:
    """The handlers of /months."""

    def __init__(self, db: Database, lists: ConcurrencyLimit[TenantId], apart: Apart) -> None:
        self._db = db
        self._lists = lists
        self._apart = apart

    async def show(self, call: Call) -> ApiReply:
        """Sum up a month in the environment of the token."""
        caller, month = call.identity, read_month(call.params)
        report = await self._read_for(caller.tenant_id)(months.report, caller.environment, month, with_open=False)
        return ApiReply(200, MONTH.write(serialize_month(report)))

    async def workbook(self, call: Call) -> ApiReply:
        """Send it as a workbook, in the language of the call."""
        caller, month = call.identity, read_month(call.params)
        read = self._read_for(caller.tenant_id)
        sheets = await month_book.read_sheets(read, caller.environment, month, call.language, with_open=False)
        made = await self._apart.run(caller.tenant_id, workbook, sheets)
        named = ("Content-Disposition", f'attachment; filename="{caller.environment}-{month}.xlsx"')
        return ApiReply(200, made, (("Content-Type", XLSX), named))

    async def purchases(self, call: Call) -> ApiReply:
        """Write the 606, or tell what it lacks."""
        caller, month = call.identity, read_month(call.params)
        tenant = await self._db.run_for(caller.tenant_id, tenants.by_id)
        rnc = purchases.rnc_of({} if tenant is None else tenant.issuer)
        found = await self._read_for(caller.tenant_id)(purchases.of_month, caller.environment, month, rnc)
        return ApiReply(200, PURCHASES.write(serialize_purchases(found, caller.environment, call.language)))

    def _read_for(self, tenant_id: TenantId) -> month_book.Read:
        return partial(read_in_turn, self._db, self._lists, tenant_id)
