"""Customers and products: searches read their own rows, changes meet their version, tenants see their own."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.catalogue.entries import Customer, EntrySource, Product, Stored, check_customer, check_product
from fe.catalogue.fields import EntryId
from fe.catalogue.remembered import MOST_LINES, customer_of, products_of
from fe.ecf.catalogue import EcfType
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.roles import PORTAL
from fe.store.records import catalogue
from fe.store.records.catalogue import CUSTOMERS, PRODUCTS, CatalogueFull, Cursor, VersionConflict
from tests.waiting import PATIENCE

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
LATER = datetime(2026, 11, 28, 12, tzinfo=UTC)
_NAMES = st.sampled_from(
    [
        *("Encabezado", "Comprador", "IdDoc", "RazonSocialComprador", "RNCComprador", "MunicipioComprador"),
        *("DetallesItems", "Item", "NombreItem", "PrecioUnitarioItem", "TablaCodigosItem", "CodigosItem", "CodigoItem"),
    ]
)
TENANT, OTHER, SMALL = TenantId(1), TenantId(2), TenantId(3)
_FILL = (
    "INSERT INTO tenants (tenant_id, name, issuer) SELECT n, 't' || n, '{}' FROM generate_series(1, 3) AS n",
    """INSERT INTO customers (tenant_id, id, name, rnc, search, source, version, changed_at, changed_by, used_at)
       SELECT t.tenant, 'c' || n, m.name, lpad(n::text, 9, '1'), ' ' || lower(m.name) || ' ' || lpad(n::text, 9, '1'),
              'import', 1, now(), 'ana', CASE WHEN n % 100 = 0 THEN now() - n * interval '1 minute' END
         FROM generate_series(1, 2) AS t (tenant)
        CROSS JOIN generate_series(1, 20000) AS n
        CROSS JOIN LATERAL (SELECT CASE WHEN n % 500 = 7 THEN 'Colmado ' ELSE 'Ferreteria ' END || md5(n::text)
                                   || CASE WHEN n = 9 THEN ' Ozama' ELSE '' END AS name) AS m""",
    "VACUUM ANALYZE customers",
)
_READ = "SELECT seq_tup_read::int, idx_tup_fetch::int FROM pg_stat_xact_user_tables WHERE relname = 'customers'"


@pytest.fixture(scope="module")
def filled(shared_dsn: str) -> str:
    """DSN of a database in which two tenants have 20,000 customers each."""
    with psycopg.connect(shared_dsn, autocommit=True) as conn:
        for statement in _FILL:
            conn.execute(statement.encode())
    return shared_dsn


@pytest.fixture
async def portal(filled: str) -> AsyncIterator[Database]:
    """The database with the portal's rights."""
    async with open_database(filled, patience=PATIENCE, role=PORTAL) as db:
        yield db


Search = Callable[[Conn, TenantId], Awaitable[list[Stored[Customer]]]]


@pytest.mark.parametrize(
    ("search", "many"),
    [
        (lambda conn, tenant: CUSTOMERS.listed(conn, tenant), 50),
        (lambda conn, tenant: CUSTOMERS.listed(conn, tenant, after=Cursor(" ferreteria 7", EntryId("c1"))), 50),
        (lambda conn, tenant: CUSTOMERS.listed(conn, tenant, text="Ozama"), 1),
        (lambda conn, tenant: CUSTOMERS.listed(conn, tenant, text="oza FERR"), 1),
        (lambda conn, tenant: CUSTOMERS.listed(conn, tenant, text="no one"), 0),
        (lambda conn, tenant: CUSTOMERS.suggested(conn, tenant, ""), 10),
        (lambda conn, tenant: CUSTOMERS.suggested(conn, tenant, "col"), 10),
        (lambda conn, tenant: CUSTOMERS.suggested(conn, tenant, "11111900"), 10),
        (lambda conn, tenant: CUSTOMERS.by_key(conn, tenant, "111120000"), 1),
    ],
    ids=["first page", "later page", "word", "words", "none", "last used", "name", "rnc", "by rnc"],
)
async def test_search_among_20000_customers_reads_the_rows_of_its_page(
    search: Search, many: int, portal: Database
) -> None:
    async def measured(conn: Conn, tenant_id: TenantId) -> tuple[int, int, int]:
        async with conn.transaction():
            await conn.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            found = await search(conn, tenant_id)
            row = await (await conn.execute(_READ)).fetchone()
        assert row is not None
        return len(found), row[0], row[1]

    found, scanned, fetched = await portal.run_for(TENANT, measured)

    assert (found, scanned) == (many, 0)
    # Planning looks at the ends of indexes, and there at rows that are not known to be visible to all: dozens.
    assert fetched <= 3 * many + 100


ANA = check_customer(name="  Ana  Núñez ", rnc="001-0000000-9", phone="8095550142", municipality="320100")
FLOUR = check_product(name="Harina", code="H-1", price="RD$ 1,234.50", price_has_itbis=True, itbis="18%", unit="libra")


async def put(db: Database, entry: Any, id: str = "a", by: str = "ana", **more: Any) -> tuple[Stored[Any], bool]:
    table: Any = CUSTOMERS if isinstance(entry, Customer) else PRODUCTS
    return await db.transact_for(
        SMALL, table.put, SMALL, EntryId(id), entry, source=EntrySource.PERSON, at=NOW, by=by, **more
    )


@pytest.mark.parametrize(("table", "entry"), [(CUSTOMERS, ANA), (PRODUCTS, FLOUR)], ids=["customer", "product"])
async def test_entry_changed_by_two_people_keeps_the_first_change(
    table: Any, entry: Customer | Product, portal: Database
) -> None:
    made, is_new = await put(portal, entry, version=0)
    with pytest.raises(VersionConflict):
        await put(portal, entry, version=0)
    second, _ = await put(portal, entry, by="eva", version=1)
    with pytest.raises(VersionConflict) as conflict:
        await put(portal, entry, by="ana", version=1)
    with pytest.raises(VersionConflict):
        await portal.transact_for(SMALL, table.delete, SMALL, EntryId("a"), version=1)
    third, again_new = await put(portal, entry)

    assert (made.entry, made.version, is_new) == (entry, 1, True)
    assert conflict.value.current == second
    assert (second.version, second.changed_by, third.version, again_new) == (2, "eva", 3, False)
    assert await portal.transact_for(SMALL, table.delete, SMALL, EntryId("a"), version=3)
    assert not await portal.transact_for(SMALL, table.delete, SMALL, EntryId("a"))
    with pytest.raises(VersionConflict) as gone:
        await put(portal, entry, version=3)
    assert gone.value.current is None


async def test_another_tenants_entries_are_not_seen(portal: Database) -> None:
    await put(portal, ANA, "mine")

    assert await portal.run_for(OTHER, CUSTOMERS.one, EntryId("mine")) is None
    assert await portal.run_for(OTHER, CUSTOMERS.listed, text="Nunez") == []
    assert [one.entry for one in await portal.run_for(SMALL, CUSTOMERS.listed, text="nun")] == [ANA]


async def test_full_catalogue_refuses_a_new_entry_and_takes_a_change(
    portal: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(portal, FLOUR, "kept")
    monkeypatch.setattr(catalogue, "MOST", 1)

    with pytest.raises(CatalogueFull):
        await put(portal, FLOUR, "more")
    changed, _ = await put(portal, check_product(name="Harina", price="1"), "kept")
    assert (changed.entry.price, changed.version) == (Decimal(1), 2)


RECEIPT: dict[str, Any] = {
    "Encabezado": {
        "IdDoc": {"IndicadorMontoGravado": "1"},
        "Comprador": {"RNCComprador": "131880657", "RazonSocialComprador": "Cliente SRL"},
    },
    "DetallesItems": {
        "Item": [
            {"NombreItem": "Café", "IndicadorFacturacion": "1", "PrecioUnitarioItem": Decimal(59)},
            {"NombreItem": "CAFE", "IndicadorFacturacion": "1", "PrecioUnitarioItem": Decimal(61)},
            {"NombreItem": "Servicio", "IndicadorBienoServicio": "2", "PrecioUnitarioItem": Decimal(100)},
        ]
    },
}


async def test_receipt_is_remembered_and_never_overwrites_a_persons_words(
    portal: Database,
) -> None:
    written = check_product(name="cafe", code="C-1", price="50", unit="43")
    await put(portal, written, "mine")

    async def remember(conn: Conn, receipt: dict[str, Any], at: datetime) -> None:
        buyer = customer_of(receipt, EcfType.CONSUMER)
        assert buyer is not None
        await CUSTOMERS.remember(conn, SMALL, [buyer], at, "eva")
        await PRODUCTS.remember(conn, SMALL, products_of(receipt, EcfType.CONSUMER), at, "eva")

    await portal.transact_for(SMALL, remember, RECEIPT, NOW)
    named = {**RECEIPT["Encabezado"]["Comprador"], "CorreoComprador": "ventas@cliente.do"}
    dearer = [{**RECEIPT["DetallesItems"]["Item"][2], "PrecioUnitarioItem": Decimal(120)}]
    for at, buyer in ((LATER, named), (LATER, RECEIPT["Encabezado"]["Comprador"])):
        receipt = {"Encabezado": {"Comprador": buyer}, "DetallesItems": {"Item": dearer}}
        await portal.transact_for(SMALL, remember, receipt, at)

    kept = await portal.run_for(SMALL, PRODUCTS.one, EntryId("mine"))
    (customer,) = await portal.run_for(SMALL, CUSTOMERS.by_key, "131880657")
    first, second = await portal.run_for(SMALL, PRODUCTS.suggested, "")
    assert kept is not None
    assert (kept.entry, kept.version, kept.source, kept.used_at) == (written, 1, "person", NOW)
    assert (customer.entry.name, customer.entry.email) == ("Cliente SRL", "ventas@cliente.do")
    assert (customer.source, customer.version, customer.used_at) == ("remembered", 2, LATER)
    assert [(one.entry.name, one.entry.price, one.entry.price_has_itbis) for one in (first, second)] == [
        ("Servicio", Decimal(120), False),
        ("cafe", Decimal(50), False),
    ]


@pytest.mark.parametrize("kind", [EcfType.PURCHASES, EcfType.CREDIT_NOTE, EcfType.MINOR_EXPENSES])
def test_receipt_that_is_no_sale_teaches_nothing(kind: EcfType) -> None:
    assert customer_of(RECEIPT, kind) is None
    assert products_of(RECEIPT, kind) == []


@given(
    st.recursive(
        st.none() | st.text(), lambda below: st.lists(below, max_size=3) | st.dictionaries(_NAMES, below), max_leaves=8
    )
)
def test_receipt_of_any_shape_is_remembered_or_left_alone(payload: Any) -> None:
    receipt = payload if isinstance(payload, dict) else {}

    customer, products = customer_of(receipt, EcfType.CREDIT_FISCAL), products_of(receipt, EcfType.CREDIT_FISCAL)

    assert customer is None or customer.name
    assert all(one.name for one in products)
    assert len(products) <= MOST_LINES
