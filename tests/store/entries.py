"""How much of a table a statement looks at, by what Postgres says of its plan once it has run it."""

from fe.store.postgres.db import Conn, Database


async def read_of(db: Database, statement: str, parameters: dict[str, object], table: str = "outbox") -> int:
    """How many index or table entries a plan looks at."""

    async def explain(conn: Conn) -> int:
        await conn.execute(f"ANALYZE {table}".encode())
        cursor = await conn.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}".encode(), parameters)
        found = await cursor.fetchone()
        assert found is not None
        return looked_at(found[0][0]["Plan"], table)

    return await db.run(explain)


def looked_at(plan: dict[str, object], table: str) -> int:
    """The same, of a plan."""
    here = 0
    if str(plan["Node Type"]).endswith("Scan") and plan.get("Relation Name") == table:
        removed = float(str(plan.get("Rows Removed by Filter", 0)))
        here = round((float(str(plan["Actual Rows"])) + removed) * float(str(plan["Actual Loops"])))
    below = plan.get("Plans", [])
    assert isinstance(below, list)
    return here + sum(looked_at(part, table) for part in below)
