"""A connection that answers from memory: what fe.store's functions see of psycopg, and no more."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from psycopg.pq import ExecStatus

from fe.store.postgres.db import Conn
from tests.simulation.statements import Answer, Statements


class _Result:
    """The part of libpq's result that row factories read."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self.nfields = len(columns)
        self.status = ExecStatus.TUPLES_OK if columns else ExecStatus.COMMAND_OK

    def fname(self, index: int) -> bytes:
        return self._columns[index].encode()


class Cursor:
    """Runs one statement and hands out its rows by the row factory it was made with."""

    _encoding = "utf-8"

    def __init__(self, connection: "Connection", row_factory: Callable[..., Any] | None) -> None:
        self.connection = connection
        self._row_factory = row_factory
        self._rows: list[Any] = []
        self.pgresult: _Result | None = None
        self.rowcount = -1

    async def execute(
        self, statement: str, values: Mapping[str, Any] | None = None, *, binary: bool = False
    ) -> "Cursor":
        answer: Answer = await self.connection.ask(statement, values or {})
        self.pgresult = _Result(answer.columns)
        self.rowcount = len(answer.rows) if answer.columns else answer.touched
        make = self._row_factory(self) if self._row_factory is not None else tuple
        self._rows = [make(row) for row in answer.rows]
        return self

    async def fetchone(self) -> Any:
        return self._rows.pop(0) if self._rows else None

    async def fetchall(self) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows


class Connection:
    """A connection in autocommit mode. `between` is awaited before every statement but the first of a unit of work:

    others may come in between there, as they may between two statements of which each is its own transaction.
    """

    def __init__(self, statements: Statements, between: Callable[[], Awaitable[None]] | None = None) -> None:
        self._statements = statements
        self._between = between
        self._begun = False
        self._together = False

    async def ask(self, statement: str, values: Mapping[str, Any]) -> Answer:
        if self._begun and not self._together and self._between is not None:
            await self._between()
        self._begun = True
        return self._statements.answer(statement, values)

    def cursor(self, row_factory: Callable[..., Any] | None = None, *, binary: bool = False) -> Cursor:
        return Cursor(self, row_factory)

    async def execute(self, statement: str, values: Mapping[str, Any] | None = None, *, binary: bool = False) -> Cursor:
        return await self.cursor().execute(statement, values)

    @asynccontextmanager
    async def pipeline(self) -> AsyncIterator[None]:
        yield

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """All or nothing: statements run without interruption, and none fails half way."""
        self._together = True
        try:
            yield
        finally:
            self._together = False

    def as_conn(self) -> Conn:
        """Itself, by the type that fe.store's functions ask for."""
        return cast(Conn, self)
