"""A tenant's month over HTTP: its sums, its workbook, its 606, and what that asks."""

from datetime import date
from functools import partial

from fe.accounts import month_book, months, purchases
from fe.accounts.audited_changes import Author
from fe.clock import Clock
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.models.month import MONTH, PURCHASES, serialize_month, serialize_purchases
from fe.http.models.purchases import EXPENSE, ExpenseRequest, serialize_expense
from fe.http.paging import read_in_turn
from fe.http.parameters import read_month
from fe.http.request_bodies import read_body
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit
from fe.month.book import XLSX, workbook
from fe.month.report_606 import A_DAY, BadExpense, check_expense, check_place
from fe.offload.pool import Apart
from fe.store.postgres.db import Conn, Database
from fe.store.records import tenants
from fe.store.records.month_memory import MonthMemory


class MonthHandlers:
    """The handlers of /months."""

    def __init__(self, db: Database, lists: ConcurrencyLimit[TenantId], apart: Apart, clock: Clock) -> None:
        self._db = db
        self._lists = lists
        self._apart = apart
        self._clock = clock
        self._memory = MonthMemory(clock)

    async def show(self, call: Call) -> ApiReply:
        """Sum up a month in the environment of the token."""
        caller, month = call.identity, read_month(call.params)
        read = self._read_for(caller.tenant_id)
        report = await read(months.report, caller.environment, month, self._memory, with_open=False)
        return ApiReply(200, MONTH.write(serialize_month(report)))

    async def workbook(self, call: Call) -> ApiReply:
        """Send it as a workbook, in the language of the call."""
        caller, month = call.identity, read_month(call.params)
        read = self._read_for(caller.tenant_id)
        sheets = await month_book.read_sheets(
            read, caller.environment, month, self._memory, call.language, with_open=False
        )
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

    async def classify(self, call: Call) -> ApiReply:
        """Keep what the 606 asks about a supplier, or about one receipt."""
        supplier, asked = call.params["rnc"], read_body(ExpenseRequest, await call.body())
        number = asked.eNCF
        try:
            expense = check_expense(
                kind=asked.kind,
                isr_type=asked.isrType,
                payment=asked.payment,
                paid_after=asked.paidAfter,
                paid_on=_day(asked.paidOn),
                itbis=asked.itbis,
                is_of_receipt=number is not None,
            )
            check_place(supplier, number)
        except BadExpense as bad:
            raise ApiError(400, bad.text.after(bad.field)) from None
        caller = call.identity
        by = Author(str(caller.api_key_id), self._clock(), "api")

        async def keep(conn: Conn) -> None:
            tenant = await tenants.by_id(conn, caller.tenant_id)
            assert tenant is not None
            await purchases.classify(conn, by, tenant, supplier, number, expense)

        await self._db.transact_for(caller.tenant_id, keep)
        answer = serialize_expense(supplier, number, expense)
        if asked.ignored:
            answer["warnings"] = serialize_problems(asked.ignored, call.language)
        return ApiReply(200, EXPENSE.write(answer))

    def _read_for(self, tenant_id: TenantId) -> month_book.Read:
        return partial(read_in_turn, self._db, self._lists, tenant_id)


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise BadExpense("paidOn", A_DAY) from None
