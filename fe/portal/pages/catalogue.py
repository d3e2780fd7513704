"""Customers and products of a company: find, write, delete, import."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from fe.catalogue.csv_file import (
    CUSTOMER_COLUMNS,
    MAX_ROWS,
    PRODUCT_COLUMNS,
    CsvColumn,
    CsvEntries,
    CsvFault,
    customers_in,
    products_in,
)
from fe.catalogue.entries import Customer, EntrySource, Product, Stored, check_customer, check_product
from fe.catalogue.fields import BadEntry, EntryId, read_id
from fe.ecf.catalogue import EcfType
from fe.ecf.schema.codes import GEOGRAPHY, UNITS
from fe.ecf.texts import Text
from fe.portal import receipt_words
from fe.portal.csv_cells import CSV_TYPE, csv_file
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Form, Visit
from fe.store.postgres.db import Conn
from fe.store.records.catalogue import (
    CUSTOMERS,
    MOST,
    PRODUCTS,
    CatalogueFull,
    CatalogueTable,
    Cursor,
    VersionConflict,
)

PAGE = 50
#: A file of MAX_ROWS rows.
_FILE_BYTES = 1024 * 1024

_SAVED = Text("Saved: {name}.", "Guardado: {name}.")
_DELETED = Text("Deleted.", "Eliminado.")
_IMPORTED = Text("New or changed: {many}. As they were: {same}.", "Nuevos o modificados: {many}. Sin cambios: {same}.")
_DOUBT = Text("{said} Line {line}: {doubt}.", "{said} Línea {line}: {doubt}.")
_MORE_DOUBTS = Text("{said} And {many} more like these.", "{said} Y {many} más como estas.")
#: Doubts of a file that are named one by one.
_DOUBTS = 10
_FULL = Text("There are {most} already, the most that there may be.", "Ya hay {most}, el máximo permitido.")
_GONE = Text(
    "Somebody deleted it meanwhile. Save again to keep it.",
    "Alguien la eliminó mientras tanto. Guarde de nuevo para conservarla.",
)
_CHANGED = Text(
    "{who} changed it meanwhile. Below is what you typed. Save again to keep yours, or open it anew.",
    "{who} la modificó mientras tanto. Abajo está lo que usted escribió. Guarde de nuevo para conservar lo suyo, o "
    "ábrala otra vez.",
)
_NO_FILE = Text("Choose a file.", "Elija un archivo.")


@dataclass(frozen=True, slots=True)
class Shelf:
    """One of the two parts of the catalogue: its address, table, form and file."""

    path: str
    table: CatalogueTable[Any]
    typed: Callable[[Form], dict[str, Any]]
    check: Callable[..., Customer | Product]
    shown: Callable[[Any], dict[str, Any]]
    columns: Mapping[str, CsvColumn]
    read_file: Callable[[bytes], CsvEntries[Any]]

    def pages(self) -> tuple[Page, ...]:
        """Return the pages below its address."""
        base = f"/companies/<int:company>/{self.path}"
        return (
            Page("GET", base, Needs.READ, self.listed),
            Page("GET", f"{base}/new", Needs.WRITE, self.new),
            Page("POST", f"{base}/new", Needs.WRITE, self.create),
            Page("GET", f"{base}/import", Needs.WRITE, self.show_import),
            Page("POST", f"{base}/import", Needs.WRITE, self.take_file, max_body_bytes=_FILE_BYTES),
            Page("GET", f"{base}/import/template", Needs.READ, self.template),
            Page("GET", f"{base}/entry/<entry>", Needs.READ, self.show),
            Page("POST", f"{base}/entry/<entry>", Needs.WRITE, self.change),
            Page("POST", f"{base}/entry/<entry>/delete", Needs.WRITE, self.delete),
        )

    async def listed(self, visit: Visit) -> Reply:
        """List entries by name, or those with some words."""
        text, after = visit.query.get("q", "").replace("\0", "")[:100], visit.query.get("after", "")
        cursor = None
        if (last := read_id(after)) is not None and (found := await visit.read(self.table.one, last)) is not None:
            cursor = Cursor(found.entry.search, found.id)
        rows = await visit.read_list(self.table.listed, text=text, after=cursor, limit=PAGE + 1)
        more = rows[PAGE - 1].id if len(rows) > PAGE else None
        return self._page(visit, "list", rows=rows[:PAGE], text=text, more=more, is_first=cursor is None)

    async def new(self, visit: Visit) -> Reply:
        """Show the form of a new entry."""
        return self._form(visit, None, self.typed(Form()))

    async def create(self, visit: Visit) -> Reply:
        """Add an entry."""
        return await self._write(visit, EntryId(str(uuid4())), 0, None)

    async def show(self, visit: Visit) -> Reply:
        """Show an entry; members who write get a form."""
        found = await self._found(visit)
        return self._form(visit, found, self.shown(found.entry))

    async def change(self, visit: Visit) -> Reply:
        """Change an entry if it is at the version that the form shows."""
        entry_id, version = _id_in(visit), visit.form.get("version")
        expected = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else -1
        return await self._write(visit, entry_id, expected, entry_id)

    async def delete(self, visit: Visit) -> Reply:
        """Delete an entry."""
        entry_id = _id_in(visit)

        async def work(conn: Conn) -> bool:
            return await self.table.delete(conn, visit.tenant_id, entry_id)

        if not await visit.change(work):
            raise not_found()
        return await visit.go(visit.at(self.path), _DELETED)

    async def show_import(self, visit: Visit) -> Reply:
        """Show how a file is to be made."""
        return self._import(visit)

    async def template(self, visit: Visit) -> Reply:
        """Give a file with the heads of the columns alone."""
        return visit.file(
            f"{self.path}.csv",
            CSV_TYPE,
            csv_file([column.heading.said(visit.language) for column in self.columns.values()], ()),
        )

    async def take_file(self, visit: Visit) -> Reply:
        """Write the entries of a file, all or none."""
        upload = visit.form.files.get("file")
        if upload is None or not upload.name:
            return self._import(visit, [CsvFault(0, _NO_FILE)])
        read = self.read_file(upload.content)
        if read.faults:
            return self._import(visit, read.faults)

        async def work(conn: Conn) -> int:
            source = EntrySource.IMPORT
            at, by = visit.now, visit.by_whom
            return await self.table.write_all(conn, visit.tenant_id, read.entries, source=source, at=at, by=by)

        try:
            many = await visit.change(work)
        except CatalogueFull:
            return self._import(visit, [CsvFault(0, _FULL.fill(most=MOST))])
        said = _IMPORTED.fill(many=many, same=len(read.entries) - many)
        for doubt in read.doubts[:_DOUBTS]:
            said = _DOUBT.fill(said=said, line=doubt.line, doubt=doubt.text)
        if len(read.doubts) > _DOUBTS:
            said = _MORE_DOUBTS.fill(said=said, many=len(read.doubts) - _DOUBTS)
        return await visit.go(visit.at(self.path), said)

    async def _write(self, visit: Visit, entry_id: EntryId, version: int, known: EntryId | None) -> Reply:
        typed = self.typed(visit.form)
        found = None if known is None else await visit.read(self.table.one, known)
        try:
            entry = self.check(**typed)
        except BadEntry as bad:
            return self._form(visit, found, typed, {_BOXES.get(bad.field, bad.field): bad.text}, status=400)

        async def work(conn: Conn) -> None:
            source = EntrySource.PERSON
            at, by = visit.now, visit.by_whom
            tenant_id = visit.tenant_id
            await self.table.put(conn, tenant_id, entry_id, entry, source=source, at=at, by=by, version=version)

        try:
            await visit.change(work)
        except VersionConflict as conflict:
            now: Stored[Any] | None = conflict.current
            said = _GONE if now is None else _CHANGED.fill(who=now.changed_by)
            return self._form(visit, now, typed, message=said, status=409)
        except CatalogueFull:
            return self._form(visit, found, typed, message=_FULL.fill(most=MOST), status=409)
        remark = next(iter(entry.remarks), None)
        saved = _SAVED.fill(name=entry.name)
        said = saved if remark is None else Text(f"{saved.en} {remark.en}.", f"{saved.es} {remark.es}.")
        return await visit.go(visit.at(self.path), said)

    async def _found(self, visit: Visit) -> Stored[Any]:
        found = await visit.read(self.table.one, _id_in(visit))
        if found is None:
            raise not_found()
        return found

    def _form(
        self,
        visit: Visit,
        found: Stored[Any] | None,
        typed: Mapping[str, Any],
        problems: Mapping[str, Text] | None = None,
        message: Text | None = None,
        status: int = 200,
    ) -> Reply:
        entry_id = visit.params.get("entry")
        version = 0 if found is None else found.version
        return self._page(
            visit,
            "form",
            status,
            found=found,
            typed=typed,
            problems=problems or {},
            message=message,
            version=version,
            action=visit.at(f"{self.path}/new" if entry_id is None else f"{self.path}/entry/{entry_id}"),
            types={one.prefix: receipt_words.TYPES[one] for one in EcfType},
            units=UNITS,
            provinces=[one for one in GEOGRAPHY if one.value.endswith("0000")],
            towns=[one for one in GEOGRAPHY if one.value.endswith("00") and not one.value.endswith("0000")],
        )

    def _import(self, visit: Visit, faults: Sequence[CsvFault] = ()) -> Reply:
        status = 400 if faults else 200
        return self._page(visit, "import", status, faults=faults, columns=self.columns, most=MAX_ROWS)

    def _page(self, visit: Visit, name: str, status: int = 200, **values: Any) -> Reply:
        is_products = self.table is PRODUCTS
        return visit.page(f"catalogue/{name}.html", status, path=self.path, is_products=is_products, **values)


#: Boxes of the form that have other names than the fields of the API.
_BOXES = {"type": "receipt_type", "additionalTaxes": "additional_taxes"}


def _id_in(visit: Visit) -> EntryId:
    found = read_id(visit.params["entry"])
    if found is None:
        raise not_found()
    return found


_OF_CUSTOMER = ("name", "rnc", "email", "phone", "address", "municipality", "province", "receipt_type")


def _typed_customer(form: Form) -> dict[str, Any]:
    return {name: form.get(name) for name in _OF_CUSTOMER}


def _shown_customer(entry: Customer) -> dict[str, Any]:
    return {
        "name": entry.name,
        "rnc": "" if entry.rnc is None else entry.rnc.digits,
        "email": entry.email or "",
        "phone": entry.phone or "",
        "address": entry.address or "",
        "municipality": entry.municipality or "",
        "province": entry.province or "",
        "receipt_type": "" if entry.receipt_type is None else entry.receipt_type.prefix,
    }


def _typed_product(form: Form) -> dict[str, Any]:
    texts = {name: form.get(name) for name in ("name", "code", "unit", "price", "itbis", "kind")}
    taxes = form.get("additional_taxes").replace(",", " ").split()
    return {**texts, "price_has_itbis": form.get("price_has_itbis", "yes") == "yes", "additional_taxes": taxes}


def _shown_product(entry: Product) -> dict[str, Any]:
    return {
        "name": entry.name,
        "code": entry.code or "",
        "unit": entry.unit or "",
        "price": entry.price_text or "",
        "price_has_itbis": entry.price_has_itbis is not False,
        "itbis": "" if entry.itbis is None else entry.itbis.value,
        "kind": "" if entry.kind is None else entry.kind.value,
        "additional_taxes": list(entry.additional_taxes),
    }


_SHELVES = (
    Shelf("customers", CUSTOMERS, _typed_customer, check_customer, _shown_customer, CUSTOMER_COLUMNS, customers_in),
    Shelf("products", PRODUCTS, _typed_product, check_product, _shown_product, PRODUCT_COLUMNS, products_in),
)
PAGES = tuple(page for shelf in _SHELVES for page in shelf.pages())
