"""The choice of a database engine. A process on plain Postgres loads nothing of Citus."""

from typing import Literal

from fe.store.postgres.engine import POSTGRES, Engine

#: As FE_DATABASE_ENGINE names them.
EngineName = Literal["postgres", "citus"]


def engine_named(name: EngineName) -> Engine:
    """Return the engine of this name."""
    if name == "postgres":
        return POSTGRES
    from fe.store.citus.engine import CITUS

    return CITUS
