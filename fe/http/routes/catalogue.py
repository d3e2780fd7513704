"""A tenant's customers and products over HTTP (docs/decisions/catalogue.md): the same in each environment."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from fe.catalogue.entries import Customer, EntrySource, Product, Stored, check_customer, check_product
from fe.catalogue.fields import ID_FORM, BadEntry, EntryId, read_id
from fe.catalogue.search import LONGEST
from fe.clock import Clock, iso
from fe.ecf.identity import tax_id
from fe.ecf.problems import Problem, Severity
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.messages import say
from fe.http.models.catalogue import (
    CUSTOMER,
    CUSTOMER_LIST,
    ENTRY_DELETED,
    PRODUCT,
    PRODUCT_LIST,
    TAXPAYER,
    CustomerItem,
    CustomerRequest,
    ProductItem,
    ProductRequest,
    TaxpayerAnswer,
)
from fe.http.models.response_types import ResponseModel
from fe.http.paging import read_in_turn
from fe.http.parameters import LIMIT_DEFAULT, LIMIT_MAX, read_number
from fe.http.request_bodies import read_body
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit
from fe.store.postgres.db import Database
from fe.store.records import taxpayers
from fe.store.records.catalogue import (
    CUSTOMERS,
    MOST,
    PRODUCTS,
    CatalogueFull,
    CatalogueTable,
    Cursor,
    VersionConflict,
)

_LONGEST_CURSOR = 4 * LONGEST * 2


class CatalogueHandlers:
    """The handlers of /customers, /products and /rnc."""

    def __init__(self, db: Database, lists: ConcurrencyLimit[TenantId], clock: Clock) -> None:
        self._db = db
        self._lists = lists
        self._clock = clock

    async def customers(self, call: Call) -> ApiReply:
        """List customers by name."""
        return await self._listed(call, CUSTOMERS, CUSTOMER_LIST)

    async def customer(self, call: Call) -> ApiReply:
        """Show a customer."""
        return await self._show(call, CUSTOMERS, CUSTOMER)

    async def put_customer(self, call: Call) -> ApiReply:
        """Write a customer whole."""
        body = read_body(CustomerRequest, await call.body())
        try:
            entry = check_customer(
                name=body.name,
                rnc=body.rnc,
                email=body.email,
                phone=body.phone,
                address=body.address,
                municipality=body.municipality,
                province=body.province,
                receipt_type=body.type,
            )
        except BadEntry as bad:
            raise ApiError(400, bad.text.after(bad.field)) from None
        return await self._put(call, CUSTOMERS, entry, body.version, body.ignored, CUSTOMER)

    async def delete_customer(self, call: Call) -> ApiReply:
        """Delete a customer."""
        return await self._delete(call, CUSTOMERS)

    async def products(self, call: Call) -> ApiReply:
        """List products by name."""
        return await self._listed(call, PRODUCTS, PRODUCT_LIST)

    async def product(self, call: Call) -> ApiReply:
        """Show a product."""
        return await self._show(call, PRODUCTS, PRODUCT)

    async def put_product(self, call: Call) -> ApiReply:
        """Write a product whole."""
        body = read_body(ProductRequest, await call.body())
        try:
            entry = check_product(
                name=body.name,
                code=body.code,
                unit=body.unit,
                price=body.price if body.price is None or isinstance(body.price, str) else f"{Decimal(body.price):f}",
                price_has_itbis=body.priceHasItbis,
                itbis=body.itbis,
                kind=body.kind,
                additional_taxes=body.additionalTaxes,
            )
        except BadEntry as bad:
            raise ApiError(400, bad.text.after(bad.field)) from None
        return await self._put(call, PRODUCTS, entry, body.version, body.ignored, PRODUCT)

    async def delete_product(self, call: Call) -> ApiReply:
        """Delete a product."""
        return await self._delete(call, PRODUCTS)

    async def taxpayer(self, call: Call) -> ApiReply:
        """Show what the authority's register has of an RNC or cédula."""
        number = tax_id(call.params["rnc"])
        found = None if number is None else await self._db.run(taxpayers.find, number.digits)
        if found is None:
            raise ApiError(404, say("no-taxpayer"))
        answer: TaxpayerAnswer = {
            "rnc": found.rnc,
            "name": found.name,
            "tradeName": found.trade_name,
            "activity": found.activity,
            "status": found.status,
            "active": found.is_active,
            "regime": found.regime,
        }
        return ApiReply(200, TAXPAYER.write(answer))

    async def _listed(self, call: Call, table: CatalogueTable[Any], model: ResponseModel[Any]) -> ApiReply:
        query = call.query()
        limit = read_number(query, "limit", default=LIMIT_DEFAULT, minimum=1, maximum=LIMIT_MAX)
        tenant_id, key = call.identity.tenant_id, query.get(table.key)
        if key is not None:
            found = await self._db.run_for(tenant_id, table.by_key, key[:40].replace("\0", ""), limit=limit)
            cursor = None
        else:
            text, after = query.get("q", ""), _read_cursor(query)
            found = await read_in_turn(
                self._db, self._lists, tenant_id, table.listed, text=text, after=after, limit=limit
            )
            cursor = _write_cursor(found[-1]) if len(found) == limit else None
        items = [_serialize(one) for one in found]
        return ApiReply(200, model.write({"limit": limit, "items": items, "nextCursor": cursor}))

    async def _show(self, call: Call, table: CatalogueTable[Any], model: ResponseModel[Any]) -> ApiReply:
        found = await self._db.run_for(call.identity.tenant_id, table.one, _id_in(call, table))
        if found is None:
            raise _none(table)
        return ApiReply(200, model.write(_serialize(found)))

    async def _put(
        self,
        call: Call,
        table: CatalogueTable[Any],
        entry: Customer | Product,
        version: int | None,
        ignored: tuple[Problem, ...],
        model: ResponseModel[Any],
    ) -> ApiReply:
        caller = call.identity
        entry_id = read_id(call.params["entry_id"])
        if entry_id is None:
            raise ApiError(400, ID_FORM.after("id"))
        try:
            made, _ = await self._db.transact_for(
                caller.tenant_id,
                table.put,
                caller.tenant_id,
                entry_id,
                entry,
                source=EntrySource.API,
                at=self._clock(),
                by=caller.api_key_id,
                version=version,
            )
        except VersionConflict as conflict:
            raise _conflict(conflict) from None
        except CatalogueFull:
            raise ApiError(409, say("catalogue-full", most=MOST)) from None
        answer = _serialize(made)
        if remarks := [*ignored, *_remarks(made.entry)]:
            answer["warnings"] = serialize_problems(remarks, call.language)
        return ApiReply(200, model.write(answer))

    async def _delete(self, call: Call, table: CatalogueTable[Any]) -> ApiReply:
        entry_id, tenant_id = _id_in(call, table), call.identity.tenant_id
        version = read_number(call.query(), "version", default=0, minimum=1, maximum=999_999_999) or None
        try:
            if not await self._db.transact_for(tenant_id, table.delete, tenant_id, entry_id, version=version):
                raise _none(table)
        except VersionConflict as conflict:
            raise _conflict(conflict) from None
        return ApiReply(200, ENTRY_DELETED.write({"ok": True, "id": entry_id}))


def _id_in(call: Call, table: CatalogueTable[Any]) -> EntryId:
    found = read_id(call.params["entry_id"])
    if found is None:
        raise _none(table)
    return found


def _none(table: CatalogueTable[Any]) -> ApiError:
    return ApiError(404, say("no-customer" if table is CUSTOMERS else "no-product"))


def _conflict(conflict: VersionConflict) -> ApiError:
    there = conflict.current
    if there is None:
        return ApiError(409, say("entry-gone"))
    return ApiError(409, say("entry-changed", version=there.version, at=iso(there.changed_at)))


def _remarks(entry: Customer | Product) -> list[Problem]:
    return [
        Problem(code="check-digit", path="rnc", message=one.en, message_es=one.es, severity=Severity.CONDITIONAL)
        for one in entry.remarks
    ]


def _write_cursor(last: Stored[Any]) -> str:
    """Write the place of an entry: its id, which has no blank, and its words, which begin with one."""
    return urlsafe_b64encode(f"{last.id}{last.entry.search}".encode()).decode().rstrip("=")


def _read_cursor(query: Mapping[str, str]) -> Cursor | None:
    """Read where a list goes on. Raises ApiError (400)."""
    text = query.get("cursor")
    if text is None:
        return None
    try:
        said = urlsafe_b64decode(text[:_LONGEST_CURSOR] + "=" * (-len(text[:_LONGEST_CURSOR]) % 4)).decode()
    except ValueError:
        said = ""
    entry_id = read_id(said.partition(" ")[0])
    if entry_id is None or not said.isprintable():
        raise ApiError(400, say("bad-cursor"))
    return Cursor(said.removeprefix(entry_id), entry_id)


def _serialize(found: Stored[Any]) -> Any:
    return _customer(found) if isinstance(found.entry, Customer) else _product(found)


def _customer(found: Stored[Customer]) -> CustomerItem:
    entry = found.entry
    return {
        "id": found.id,
        "name": entry.name,
        "rnc": None if entry.rnc is None else entry.rnc.digits,
        "email": entry.email,
        "phone": entry.phone,
        "address": entry.address,
        "municipality": entry.municipality,
        "province": entry.province,
        "type": None if entry.receipt_type is None else entry.receipt_type.prefix,
        "source": found.source.value,
        "version": found.version,
        "changedAt": iso(found.changed_at),
        "usedAt": None if found.used_at is None else iso(found.used_at),
    }


def _product(found: Stored[Product]) -> ProductItem:
    entry = found.entry
    return {
        "id": found.id,
        "name": entry.name,
        "code": entry.code,
        "unit": entry.unit,
        "price": None if entry.price is None else entry.price.normalize(),
        "priceHasItbis": entry.price_has_itbis,
        "itbis": None if entry.itbis is None else entry.itbis.value,
        "kind": None if entry.kind is None else entry.kind.value,
        "additionalTaxes": list(entry.additional_taxes),
        "source": found.source.value,
        "version": found.version,
        "changedAt": iso(found.changed_at),
        "usedAt": None if found.used_at is None else iso(found.used_at),
    }
