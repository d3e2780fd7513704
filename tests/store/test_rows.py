"""Rows as records: enums are parsed where they come out of the database."""

from dataclasses import dataclass

import pytest

from fe.ecf.catalogue import Environment, Host
from fe.lifecycle import Status
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class Example:
    number: int
    status: Status
    host: Host | None
    environment: Environment | None
    name: str


async def test_a_column_becomes_the_member_of_its_fields_enum(db: Database) -> None:
    statement = "SELECT 1 AS number, 'En Proceso' AS status, 'fc' AS host, NULL AS environment, 'ecf' AS name"

    async def read(conn: Conn) -> Example | None:
        return await (await conn.cursor(row_factory=record_row(Example)).execute(statement)).fetchone()

    found = await db.run(read)

    assert found == Example(1, Status.PROCESSING, Host.FC, None, "ecf")
    assert (type(found.status), type(found.host), type(found.name)) == (Status, Host, str)


async def test_what_the_enum_does_not_have_is_an_error(db: Database) -> None:
    statement = "SELECT 1 AS number, 'lost' AS status, NULL AS host, NULL AS environment, '' AS name"

    async def read(conn: Conn) -> Example | None:
        return await (await conn.cursor(row_factory=record_row(Example)).execute(statement)).fetchone()

    with pytest.raises(ValueError, match="lost"):
        await db.run(read)
