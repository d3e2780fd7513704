"""The engine is tried with the rights of the actors, and what it logs is caught."""

from tests.actors.conftest import db, logs

__all__ = ["db", "logs"]
