"""Customers and products of tenants (fe/catalogue): two tables of one form.

Searches read the index `..._in_order` alone, which has the folded words of every entry. An index of words was rejected:
row-level security keeps Postgres from using one (docs/decisions/catalogue.md).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeVar

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from fe.catalogue.entries import Customer, EntrySource, ItbisRate, Product, ProductKind, Stored
from fe.catalogue.fields import EntryId
from fe.catalogue.remembered import is_same, key_of, merged, remembered_id
from fe.catalogue.search import query_words, search_text
from fe.ecf.catalogue import EcfType
from fe.ecf.identity import TaxId
from fe.ecf.mail_address import MailAddress
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn

E = TypeVar("E", bound=Customer | Product)

_NEVER = datetime.min.replace(tzinfo=UTC)
#: Entries that are looked at for one of a receipt.
_ALIKE = 10
_IN_ORDER = "x.search, x.id"
#: Entries of a kind that a tenant may have.
MOST: Final = 100_000


class CatalogueFull(Exception):
    """The tenant has as many entries as it may."""


class VersionConflict(Exception):
    """The entry is not at the version that the change was made from; `current` is what is there, None for nothing."""

    def __init__(self, current: Stored[Any] | None) -> None:
        super().__init__(current)
        self.current = current


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place of an entry in a list."""

    search: str
    id: EntryId


@dataclass(frozen=True, slots=True)
class CatalogueTable(Generic[E]):
    """One of the two tables. `columns` are those of the entry's content; `key` is what a receipt names it by."""

    name: str
    columns: tuple[str, ...]
    key: str
    read: Callable[[Mapping[str, Any]], E]
    written: Callable[[E], dict[str, Any]]

    async def one(self, conn: Conn, tenant_id: TenantId, entry_id: EntryId) -> Stored[E] | None:
        """Find an entry by its id."""
        found = await self._select(
            conn, "x.tenant_id = %(tenant)s AND x.id = %(id)s", "x.id", tenant=tenant_id, id=entry_id, limit=1
        )
        return found[0] if found else None

    async def by_key(self, conn: Conn, tenant_id: TenantId, key: str, *, limit: int = 20) -> list[Stored[E]]:
        """Find the entries of an RNC or cédula, or of a code."""
        where = f"x.tenant_id = %(tenant)s AND x.{self.key} = %(key)s"
        return await self._select(conn, where, "x.id", tenant=tenant_id, key=key, limit=limit)

    async def listed(
        self, conn: Conn, tenant_id: TenantId, *, text: str = "", after: Cursor | None = None, limit: int = 50
    ) -> list[Stored[E]]:
        """List entries by name, those whose words begin with each of the words of `text`, after a place of the list."""
        values: dict[str, Any] = {"tenant": tenant_id, "limit": limit}
        where = "x.tenant_id = %(tenant)s"
        if after is not None:
            where += " AND (x.search, x.id) > (%(search)s, %(id)s)"
            values |= {"search": after.search, "id": after.id}
        words = {f"word{n}": f"% {word}%" for n, word in enumerate(query_words(text))}
        if not words:
            return await self._select(conn, where, _IN_ORDER, **values)
        # OFFSET 0: read in order from the index, however few entries the planner expects to have the words.
        source = f"(SELECT x.id, x.search FROM {self.name} AS x WHERE {where} ORDER BY {_IN_ORDER} OFFSET 0)"
        has_words = " AND ".join(f"x.search LIKE %({name})s" for name in words)
        return await self._select(conn, has_words, _IN_ORDER, source, **values, **words)

    async def suggested(self, conn: Conn, tenant_id: TenantId, text: str, *, limit: int = 10) -> list[Stored[E]]:
        """Suggest entries while a person types: first names that begin so, then those with such words.

        Without a text: those used last.
        """
        words = query_words(text)
        if not words:
            where = "x.tenant_id = %(tenant)s AND x.used_at IS NOT NULL"
            return await self._select(conn, where, "x.used_at DESC, x.id", tenant=tenant_id, limit=limit)
        start = f" {' '.join(words)}"
        begins: list[Stored[E]] = await self._select(
            conn,
            "x.tenant_id = %(tenant)s AND x.search >= %(start)s AND x.search < %(end)s",
            _IN_ORDER,
            tenant=tenant_id,
            start=start,
            end=f"{start}\U0010ffff",
            limit=limit,
        )
        if len(begins) == limit:
            return begins
        known = {one.id for one in begins}
        more: list[Stored[E]] = await self.listed(conn, tenant_id, text=text, limit=limit)
        return [*begins, *(one for one in more if one.id not in known)][:limit]

    async def put(
        self,
        conn: Conn,
        tenant_id: TenantId,
        entry_id: EntryId,
        entry: E,
        *,
        source: EntrySource,
        at: datetime,
        by: str,
        version: int | None = None,
    ) -> tuple[Stored[E], bool]:
        """Write an entry whole; return it, and whether it is new. One transaction; concurrent calls wait.

        `version`: the one that the change was made from, 0 for a new entry, None for whatever is there. Raises
        VersionConflict, CatalogueFull.
        """
        values = self._values(tenant_id, entry_id, entry, source=source, at=at, by=by, version=version)
        if version != 0:
            sets = ", ".join(f"{name} = %({name})s" for name in (*self.columns, *_WRITTEN))
            changed = await conn.execute(
                f"""UPDATE {self.name} SET {sets}, version = version + 1
                     WHERE tenant_id = %(tenant)s AND id = %(id)s
                       AND (%(version)s::int IS NULL OR version = %(version)s)""".encode(),
                values,
            )
            if changed.rowcount == 1:
                return await self._there(conn, tenant_id, entry_id), False
        if version is None or version == 0:
            if await self.add(conn, tenant_id, entry_id, entry, source=source, at=at, by=by):
                return await self._there(conn, tenant_id, entry_id), True
            if version is None:  # it was made meanwhile
                return await self.put(conn, tenant_id, entry_id, entry, source=source, at=at, by=by)
        raise VersionConflict(await self.one(conn, tenant_id, entry_id))

    async def add(
        self,
        conn: Conn,
        tenant_id: TenantId,
        entry_id: EntryId,
        entry: E,
        *,
        source: EntrySource,
        at: datetime,
        by: str,
    ) -> bool:
        """Add an entry; False where its id is taken. Raises CatalogueFull."""
        if await self.count(conn, tenant_id) >= MOST:
            raise CatalogueFull
        names = ("id", *self.columns, *_WRITTEN)
        made = await conn.execute(
            f"""INSERT INTO {self.name} (tenant_id, {", ".join(names)}, version)
                VALUES (%(tenant)s, {", ".join(f"%({name})s" for name in names)}, 1)
                ON CONFLICT DO NOTHING""".encode(),
            self._values(tenant_id, entry_id, entry, source=source, at=at, by=by),
        )
        return made.rowcount == 1

    async def write_all(
        self,
        conn: Conn,
        tenant_id: TenantId,
        entries: Mapping[EntryId, E],
        *,
        source: EntrySource,
        at: datetime,
        by: str,
    ) -> int:
        """Write many entries whole; return how many are new or changed. One transaction. Raises CatalogueFull.

        An id that follows from the entry (`remembered_id`) gives way to that of an entry with the same RNC or code.
        """
        known = await self._ids(conn, tenant_id, [key for one in entries.values() if (key := key_of(one)) is not None])
        meant = {
            known.get(key_of(one) or "", entry_id) if entry_id == remembered_id(one) else entry_id: one
            for entry_id, one in entries.items()
        }
        names = ("tenant_id", "id", *self.columns, *_WRITTEN, "version")
        before, after = (", ".join(f"{one}.{name}" for name in self.columns) for one in ("t", "EXCLUDED"))
        rows = [
            {
                **self._values(tenant_id, entry_id, entry, source=source, at=at.isoformat(), by=by),
                "tenant_id": tenant_id,
                "version": 1,
            }
            for entry_id, entry in meant.items()
        ]
        written = await conn.execute(
            f"""INSERT INTO {self.name} AS t ({", ".join(names)})
                SELECT {", ".join(f"r.{name}" for name in names)}
                  FROM jsonb_populate_recordset(NULL::{self.name}, %(rows)s) AS r
                    ON CONFLICT (tenant_id, id) DO UPDATE
                   SET {", ".join(f"{name} = EXCLUDED.{name}" for name in (*self.columns, *_WRITTEN))},
                       version = t.version + 1
                 WHERE ({before}) IS DISTINCT FROM ({after})
                RETURNING t.id""".encode(),
            {"rows": Jsonb(rows, dumps=_dumped)},
        )
        many = len(await written.fetchall())  # on a cluster its rowcount includes entries that stayed as they were
        if await self.count(conn, tenant_id) >= MOST:
            raise CatalogueFull
        return many

    async def delete(self, conn: Conn, tenant_id: TenantId, entry_id: EntryId, *, version: int | None = None) -> bool:
        """Delete an entry; False where there is none. Raises VersionConflict."""
        gone = await conn.execute(
            f"""DELETE FROM {self.name} AS x
                 WHERE x.tenant_id = %(tenant)s AND x.id = %(id)s
                   AND (%(version)s::int IS NULL OR x.version = %(version)s)""".encode(),
            {"tenant": tenant_id, "id": entry_id, "version": version},
        )
        if gone.rowcount == 1:
            return True
        if version is not None and (found := await self.one(conn, tenant_id, entry_id)) is not None:
            raise VersionConflict(found)
        return False

    async def remember(self, conn: Conn, tenant_id: TenantId, entries: Sequence[E], at: datetime, by: str) -> None:
        """Remember the entries of an issued receipt, and that they were used. One transaction.

        A remembered entry follows the newest receipt; one from another source keeps its content.
        """
        written: Any = {"source": EntrySource.REMEMBERED, "at": at, "by": by}
        there = await self._like(conn, tenant_id, entries)
        used: list[EntryId] = []
        for entry in entries:
            found = next((one for one in there if is_same(one.entry, entry)), None)
            entry_id = remembered_id(entry) if found is None else found.id
            if found is None:
                await self.add(conn, tenant_id, entry_id, entry, **written)
            elif found.source is EntrySource.REMEMBERED and (new := merged(found.entry, entry)) != found.entry:
                await self.put(conn, tenant_id, entry_id, new, **written)
            used.append(entry_id)
        await conn.execute(
            f"UPDATE {self.name} SET used_at = %(at)s WHERE tenant_id = %(tenant)s AND id = ANY (%(ids)s)".encode(),
            {"tenant": tenant_id, "ids": used, "at": at},
        )

    async def _like(self, conn: Conn, tenant_id: TenantId, entries: Sequence[E]) -> list[Stored[E]]:
        """Find and lock entries of the same keys, or whose names begin so, the last used first."""
        cursor = conn.cursor(row_factory=dict_row)
        await cursor.execute(
            f"""SELECT {self._all}
                  FROM {self.name} AS x
                 WHERE x.tenant_id = %(tenant)s AND x.id IN (
                    SELECT f.id
                      FROM unnest(%(keys)s::text[], %(names)s::text[]) AS a (key, name)
                     CROSS JOIN LATERAL (
                        (SELECT k.id FROM {self.name} AS k
                          WHERE k.tenant_id = %(tenant)s AND k.{self.key} = a.key
                          ORDER BY k.id
                          LIMIT {_ALIKE})
                         UNION ALL
                        (SELECT n.id FROM {self.name} AS n
                          WHERE n.tenant_id = %(tenant)s AND n.search >= a.name AND n.search < a.name || '!'
                          ORDER BY n.search, n.id
                          LIMIT {_ALIKE})) AS f)
                 ORDER BY x.id
                   FOR UPDATE""".encode(),
            {
                "tenant": tenant_id,
                "keys": [key_of(one) for one in entries],
                "names": [search_text(one.name) for one in entries],
            },
        )
        found = [self._stored(row) for row in await cursor.fetchall()]
        return sorted(found, key=lambda one: one.used_at or _NEVER, reverse=True)

    async def _ids(self, conn: Conn, tenant_id: TenantId, keys: Sequence[str]) -> dict[str, EntryId]:
        """Find the ids of entries by RNC or code; of several the last by id."""
        found = await conn.execute(
            f"""SELECT x.{self.key}, x.id FROM {self.name} AS x
                 WHERE x.tenant_id = %(tenant)s AND x.{self.key} = ANY (%(keys)s::text[])
                 ORDER BY x.id""".encode(),
            {"tenant": tenant_id, "keys": list(keys)},
        )
        return {key: EntryId(entry_id) for key, entry_id in await found.fetchall()}

    async def count(self, conn: Conn, tenant_id: TenantId) -> int:
        """Count a tenant's entries, up to MOST."""
        cursor = await conn.execute(
            f"""SELECT count(*) FROM (
                    SELECT FROM {self.name} AS x WHERE x.tenant_id = %(tenant)s LIMIT {MOST}) AS c""".encode(),
            {"tenant": tenant_id},
        )
        row = await cursor.fetchone()
        assert row is not None
        return int(row[0])

    @property
    def _all(self) -> str:
        return ", ".join(f"x.{name}" for name in ("id", *self.columns, *_STORED))

    async def _there(self, conn: Conn, tenant_id: TenantId, entry_id: EntryId) -> Stored[E]:
        found = await self.one(conn, tenant_id, entry_id)
        assert found is not None
        return found

    async def _select(
        self, conn: Conn, where: str, order: str, source: str | None = None, **values: Any
    ) -> list[Stored[E]]:
        cursor = conn.cursor(row_factory=dict_row)
        await cursor.execute(
            f"""SELECT {self._all}
                  FROM (SELECT x.id
                          FROM {source or self.name} AS x
                         WHERE {where}
                         ORDER BY {order}
                         LIMIT %(limit)s) AS p
                 CROSS JOIN LATERAL (
                    SELECT y.* FROM {self.name} AS y
                     WHERE y.tenant_id = %(tenant)s AND y.id = p.id
                    OFFSET 0) AS x
                 ORDER BY {order}""".encode(),
            values,
        )
        return [self._stored(row) for row in await cursor.fetchall()]

    def _stored(self, row: Mapping[str, Any]) -> Stored[E]:
        return Stored(
            EntryId(row["id"]),
            self.read(row),
            EntrySource(row["source"]),
            row["version"],
            row["changed_at"],
            row["changed_by"],
            row["used_at"],
        )

    def _values(self, tenant_id: TenantId, entry_id: EntryId, entry: E, **more: Any) -> dict[str, Any]:
        return {
            "tenant": tenant_id,
            "id": entry_id,
            **self.written(entry),
            "search": entry.search,
            "source": more["source"].value,
            "changed_at": more["at"],
            "changed_by": more["by"],
            "version": more.get("version"),
        }


_WRITTEN = ("search", "source", "changed_at", "changed_by")
_STORED = ("source", "version", "changed_at", "changed_by", "used_at")


def _dumped(value: Any) -> str:
    return json.dumps(value, default=str)


def _customer(row: Mapping[str, Any]) -> Customer:
    return Customer(
        row["name"],
        None if row["rnc"] is None else TaxId(row["rnc"]),
        None if row["email"] is None else MailAddress(row["email"]),
        row["phone"],
        row["address"],
        row["municipality"],
        row["province"],
        None if row["receipt_type"] is None else EcfType(row["receipt_type"]),
    )


def _of_customer(one: Customer) -> dict[str, Any]:
    return {
        "name": one.name,
        "rnc": None if one.rnc is None else one.rnc.digits,
        "email": one.email,
        "phone": one.phone,
        "address": one.address,
        "municipality": one.municipality,
        "province": one.province,
        "receipt_type": None if one.receipt_type is None else one.receipt_type.value,
    }


def _product(row: Mapping[str, Any]) -> Product:
    return Product(
        row["name"],
        row["code"],
        row["unit"],
        row["price"],
        row["price_has_itbis"],
        None if row["itbis"] is None else ItbisRate(row["itbis"]),
        None if row["kind"] is None else ProductKind(row["kind"]),
        tuple(row["additional_taxes"]),
    )


def _of_product(one: Product) -> dict[str, Any]:
    return {
        "name": one.name,
        "code": one.code,
        "unit": one.unit,
        "price": one.price,
        "price_has_itbis": one.price_has_itbis,
        "itbis": None if one.itbis is None else one.itbis.value,
        "kind": None if one.kind is None else one.kind.value,
        "additional_taxes": list(one.additional_taxes),
    }


CUSTOMERS: Final = CatalogueTable(
    "customers",
    ("name", "rnc", "email", "phone", "address", "municipality", "province", "receipt_type"),
    "rnc",
    _customer,
    _of_customer,
)
PRODUCTS: Final = CatalogueTable(
    "products",
    ("name", "code", "unit", "price", "price_has_itbis", "itbis", "kind", "additional_taxes"),
    "code",
    _product,
    _of_product,
)
