"""Print settings: the database keeps them within their bounds, one row per tenant."""

from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest

from fe.printing import PaperSize, PrintSettings
from fe.store.postgres.db import Database
from fe.store.records import print_settings
from fe.store.records.print_settings import CachedPrintSettings
from tests.http.front import make_tenant

NOW = datetime(2026, 11, 27, tzinfo=UTC)
MINE = PrintSettings(b"<svg/>", "#AA0000", "a\nb", ("", "Copia"), "en", PaperSize.ROLL_58)


async def test_settings_are_kept_and_replaced_whole(db: Database) -> None:
    tenant = await make_tenant(db)
    assert await db.run(print_settings.of, tenant) == PrintSettings()
    for wanted in (MINE, PrintSettings(), replace(MINE, marks=("1", "2", "3", "4"))):
        await db.run(print_settings.put, tenant, wanted, NOW)
        assert await db.run(print_settings.of, tenant) == wanted


@pytest.mark.parametrize(
    "bad",
    [
        replace(MINE, logo=b""),
        replace(MINE, logo=bytes(256 * 1024 + 1)),
        replace(MINE, accent="red"),
        replace(MINE, footer="a" * 401),
        replace(MINE, marks=()),
        replace(MINE, marks=("",) * 5),
        replace(MINE, marks=("a" * 81,)),
    ],
    ids=range(7),
)
async def test_settings_out_of_bounds_are_refused_by_the_database(db: Database, bad: PrintSettings) -> None:
    tenant = await make_tenant(db)

    with pytest.raises(psycopg.errors.CheckViolation):
        await db.run(print_settings.put, tenant, bad, NOW)


async def test_cached_settings_are_read_again_once_forgotten(db: Database) -> None:
    tenant = await make_tenant(db)
    cached = CachedPrintSettings(db)
    assert await cached.of(tenant) == PrintSettings()
    await db.run(print_settings.put, tenant, MINE, NOW)

    assert await cached.of(tenant) == PrintSettings()
    cached.forget(tenant)
    assert await cached.of(tenant) == MINE
