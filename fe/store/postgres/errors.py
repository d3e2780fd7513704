"""Errors of the database, as few types. Names and values of rows never appear in a message."""

import psycopg


class StoreError(Exception):
    """Something in the store went wrong."""


class DatabaseUnavailable(StoreError):
    """The database cannot be asked right now: no connection, shutting down, out of resources, or a timeout.

    What was being written may or may not have been committed; callers make their writes safe to repeat.
    """


class NodeUnavailable(DatabaseUnavailable):
    """A node of a cluster does not answer: what lies there cannot be served, and all else can."""


class Contended(DatabaseUnavailable):
    """Contention: a deadlock or a serialisation failure. Nothing was written; it may be repeated."""


class LockNotHad(Contended):
    """Contention: a lock wait timed out."""


class SchemaChanging(Contended):
    """A migration changed what the statement names while it waited or ran."""


class RoleRefused(StoreError):
    """The login may not take a role that is needed, or the role is not as it should be; the message says what to do."""


class SessionRefused(StoreError):
    """A session setting does not hold, as behind a transaction pooler; the message says what to do."""


class LeaseLost(StoreError):
    """The claim being booked is no longer ours: the row has a newer epoch, or is gone. Nothing was written."""


class NoNumber(StoreError):
    """A number was to be drawn and there is none.

    `reason` is one of `none`, `expired`, `paused`, `used up`, and `unknown` where no sequence has the name; then
    `names` are those that there are. `key` is that of the sequence (sequences.prefix).
    """

    def __init__(self, key: str, reason: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(key, reason)
        self.key = key
        self.prefix, self.name = key[:3], key[4:]
        self.label = f"{self.prefix} {self.name}".rstrip()
        self.reason = reason
        self.names = names


class SecondPersonNeeded(StoreError):
    """The act takes the approval of a second operator (require_second_person.sql). Nothing was written."""


class TenantDisabled(StoreError):
    """A new submission or document was refused because its tenant is disabled. Nothing was written."""


#: Any error of the database. Periodic background tasks log it and retry later. To end the process would stop the main
#: work, and would not repair a missing right either.
ANY_OF_THE_DATABASE = (StoreError, psycopg.Error)


def words(error: Exception) -> str:
    """Put on one line what a failing link says: addresses, logins and reasons, never a password or a row."""
    return " ".join(str(error).split()) or type(error).__name__
