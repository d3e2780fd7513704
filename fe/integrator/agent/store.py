"""Embedded store of an agent: SQLite in WAL mode, every commit flushed, one process at a time.

A sale is committed before anything of it is shown or printed, so a kill at any moment loses none.
"""

import json
import os
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fe.ecf.texts import Text
from fe.integrator.agent.refusals import CORRUPT, LOCKED, NOT_STORED, SaleRefused

FILE = "agent.db"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS receipts (
    place INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    e_ncf TEXT NOT NULL UNIQUE,
    body BLOB NOT NULL,
    is_signed INTEGER NOT NULL,
    security_code TEXT,
    qr_url TEXT,
    signed_at TEXT NOT NULL,
    state TEXT NOT NULL,
    tax_log_id TEXT,
    answer TEXT,
    looked_at TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE IF NOT EXISTS outputs (place INTEGER PRIMARY KEY, stem TEXT NOT NULL, written TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS outputs_open ON outputs (place) WHERE written <> 'verdict';
CREATE INDEX IF NOT EXISTS receipts_open ON receipts (state, looked_at, place) WHERE state <> 'done';
"""
_COLUMNS = (
    "place, request_id, digest, e_ncf, body, is_signed, security_code, qr_url, signed_at, state, tax_log_id, answer"
)
#: Milliseconds until a folder that another process uses is given up.
_BUSY = 2_000


@dataclass(frozen=True, slots=True)
class Sale:
    """A receipt of the till. `state`: waiting, handed over, done (accepted), rejected, or refused by the service.

    `body` is the signed XML, or the payload as JSON where the service signs.
    """

    place: int
    request_id: str
    digest: str
    e_ncf: str
    body: bytes
    is_signed: bool
    security_code: str | None
    qr_url: str | None
    signed_at: str
    state: str
    tax_log_id: str | None = None
    answer: Mapping[str, Any] | None = None

    @property
    def status(self) -> str:
        """The status as the service names it; `queued` without a verdict."""
        return str((self.answer or {}).get("status", "queued"))


class Store:
    """The store of one folder; threads share it."""

    def __init__(self, folder: Path) -> None:
        """Open or create it. Raises SaleRefused for a store that is damaged, or that another process uses."""
        self.file = folder / FILE
        self.lock = threading.RLock()
        try:
            self._db = sqlite3.connect(self.file, isolation_level=None, check_same_thread=False, timeout=_BUSY / 1000)
            self._db.row_factory = sqlite3.Row
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_SCHEMA)
            (found,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError as busy:
            text = LOCKED.fill(file=self.file) if "locked" in str(busy) else self._damage(busy)
            raise SaleRefused(503, text) from None
        except sqlite3.DatabaseError as damaged:
            raise SaleRefused(503, self._damage(damaged)) from None
        if found != "ok":
            raise SaleRefused(503, self._damage(found))
        os.chmod(self.file, 0o600)

    def _damage(self, why: object) -> Text:
        return CORRUPT.fill(file=self.file, why=why)

    def close(self) -> None:
        """Close it; the next process may open it."""
        with self.lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block writes, flushed to the disk, or nothing of it. Raises SaleRefused where it cannot."""
        with self.lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield
                self._db.execute("COMMIT")
            except BaseException as error:  # an interrupted sale is rolled back, too
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                if isinstance(error, sqlite3.OperationalError):
                    raise SaleRefused(507, NOT_STORED.fill(why=error)) from error
                if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.IntegrityError):
                    raise SaleRefused(503, self._damage(error)) from error
                raise

    def fact(self, name: str) -> Any:
        """Return a stored value; None where there is none."""
        row = self._one("SELECT value FROM facts WHERE name = ?", name)
        return None if row is None else json.loads(row["value"])

    def put(self, **facts: Any) -> None:
        """Store values; None deletes one. Within `transaction`."""
        for name, value in facts.items():
            if value is None:
                self._run("DELETE FROM facts WHERE name = ?", name)
            else:
                self._run("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, json.dumps(value))

    def last_within(self, first: str, last: str) -> str | None:
        """Return the highest number of a range that a receipt has."""
        row = self._one("SELECT max(e_ncf) FROM receipts WHERE e_ncf BETWEEN ? AND ?", first, last)
        return None if row is None else row[0]

    def add(self, receipt: Sale) -> None:
        """Store a receipt and use its number. Within `transaction`."""
        self._run(
            "INSERT INTO receipts (request_id, digest, e_ncf, body, is_signed, security_code, qr_url, signed_at, state)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            receipt.request_id,
            receipt.digest,
            receipt.e_ncf,
            receipt.body,
            receipt.is_signed,
            receipt.security_code,
            receipt.qr_url,
            receipt.signed_at,
            receipt.state,
        )

    def move(self, receipt: Sale, state: str, *, tax_log_id: str | None = None, answer: Any = None) -> None:
        """Change the state of a receipt. Within `transaction`."""
        self._run(
            "UPDATE receipts SET state = ?, tax_log_id = coalesce(?, tax_log_id), answer = coalesce(?, answer)"
            " WHERE place = ?",
            state,
            tax_log_id,
            None if answer is None else json.dumps(answer, default=str),
            receipt.place,
        )

    def keep_signature(self, receipt: Sale, xml: bytes, security_code: str | None, qr_url: str | None) -> None:
        """Keep the XML that the service has signed. Within `transaction`."""
        self._run(
            "UPDATE receipts SET body = ?, is_signed = 1, security_code = ?, qr_url = ? WHERE place = ?",
            xml,
            security_code,
            qr_url,
            receipt.place,
        )

    def looked(self, receipt: Sale, at: str) -> None:
        """Note that a verdict was asked for. Within `transaction`."""
        self._run("UPDATE receipts SET looked_at = ? WHERE place = ?", at, receipt.place)

    def try_refused_again(self) -> None:
        """Let refused receipts be handed over again. Within `transaction`."""
        self._run("UPDATE receipts SET state = 'waiting' WHERE state = 'refused'")

    def add_output(self, receipt: Sale, stem: str) -> None:
        """Note under which name the files of a receipt are written. Within `transaction`."""
        self._run("INSERT OR IGNORE INTO outputs VALUES (?, ?, '')", receipt.place, stem)

    def wrote_output(self, receipt: Sale, written: str) -> None:
        """Note that its files say what is known: `issued`, or `verdict`. Within `transaction`."""
        self._run("UPDATE outputs SET written = ? WHERE place = ?", written, receipt.place)

    def outputs(self, limit: int) -> list[tuple[Sale, str, str]]:
        """List receipts of files without their verdict's, with the name of their files and what these say."""
        found = self._all(
            f"SELECT {_COLUMNS}, stem, written FROM outputs JOIN receipts USING (place)"
            " WHERE written <> 'verdict' AND (written = '' OR state IN ('done', 'rejected')) ORDER BY place LIMIT ?",
            limit,
        )
        return [(_receipt(row), row["stem"], row["written"]) for row in found]

    def find(self, name: str) -> Sale | None:
        """Find a receipt by its number or its clientRequestId."""
        row = self._one(f"SELECT {_COLUMNS} FROM receipts WHERE e_ncf = ? OR request_id = ?", name, name)
        return None if row is None else _receipt(row)

    def of_request(self, request_id: str) -> Sale | None:
        """Find a receipt by its clientRequestId."""
        row = self._one(f"SELECT {_COLUMNS} FROM receipts WHERE request_id = ?", request_id)
        return None if row is None else _receipt(row)

    def in_state(
        self, state: str, limit: int, *, oldest_look: bool = False, since: str = "", until: str = "9"
    ) -> list[Sale]:
        """List receipts of a state in the order of signing, or those first that were looked at longest ago.

        `since` and `until` are moments of signatures, in UTC.
        """
        order = "looked_at, place" if oldest_look else "place"
        found = self._all(
            f"SELECT {_COLUMNS} FROM receipts WHERE state = ? AND signed_at >= ? AND signed_at <= ?"
            f" ORDER BY {order} LIMIT ?",
            state,
            since,
            until,
            limit,
        )
        return [_receipt(row) for row in found]

    def last_handed_over(self) -> Sale | None:
        """Return the last receipt that the service has and that has no verdict yet."""
        row = self._one(f"SELECT {_COLUMNS} FROM receipts WHERE state = 'handed over' ORDER BY place DESC LIMIT 1")
        return None if row is None else _receipt(row)

    def counts(self) -> dict[str, int]:
        """Count receipts by state."""
        return {row[0]: row[1] for row in self._all("SELECT state, count(*) FROM receipts GROUP BY state")}

    def last_signed_at(self) -> str | None:
        """Return the moment of the last signature."""
        row = self._one("SELECT signed_at FROM receipts ORDER BY place DESC LIMIT 1")
        return None if row is None else str(row["signed_at"])

    def _run(self, statement: str, *values: Any) -> None:
        self._db.execute(statement, values)

    def _one(self, statement: str, *values: Any) -> sqlite3.Row | None:
        with self.lock:
            row: sqlite3.Row | None = self._db.execute(statement, values).fetchone()
            return row

    def _all(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        with self.lock:
            return self._db.execute(statement, values).fetchall()


def _receipt(row: sqlite3.Row) -> Sale:
    fields = {name: row[name] for name in _COLUMNS.split(", ")}
    answer = fields.pop("answer")
    fields["is_signed"] = bool(fields["is_signed"])
    return Sale(**fields, answer=None if answer is None else json.loads(answer))


def place_of(folder: Path) -> str:
    """Name the machine and the file: a copy of the folder has another file, or is on another machine."""
    try:
        machine = Path("/etc/machine-id").read_text().strip()
    except OSError:
        machine = f"{uuid.getnode():x}"
    return f"{machine}:{(folder / FILE).stat().st_ino}"
