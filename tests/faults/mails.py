"""Mail in a run: a relay that takes mails, refuses some for now, hangs, and hangs up; and its judge (I13)."""

import random
import re
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import psycopg
import trio

from fe.ecf.catalogue import Root
from fe.ecf.mail_address import MailAddress
from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from fe.store.records import mail
from fe.store.records.mail import MailSettings
from tests.faults.history import History

SENDER = "facturas@faults.example"
#: Most troubles with one address: the waits between tries grow, and a run ends.
_MOST_TROUBLES = 2
_MESSAGE_ID = re.compile(rb"^Message-ID: (\S+)\r$", re.MULTILINE | re.IGNORECASE)
_ACCEPTED = ("Aceptado", "Aceptado Condicional")


@dataclass
class MailRelay:
    """The relay. It lives with the run itself, so what it wrote down outlives everything that is killed."""

    port: int
    seed: int
    #: The Message-ID of each mail that was taken, in their order, whether that was answered or not.
    taken: list[str] = field(default_factory=list)
    calm: bool = False
    _troubles: Counter[bytes] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(f"{self.seed}/mails")

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve one connection."""
        try:
            with trio.move_on_after(30):
                await self._serve(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the sender has died or closed the connection
        finally:
            await trio.aclose_forcefully(stream)

    async def _serve(self, stream: trio.SocketStream) -> None:
        buffered, is_data, trouble = b"", False, 1.0
        await stream.send_all(b"220 faults\r\n")
        async for some in stream:
            buffered += some
            while (end := b"\r\n.\r\n" if is_data else b"\r\n") in buffered:
                line, _, buffered = buffered.partition(end)
                reply, verb = b"250 ok", b"" if is_data else line[:4].upper()
                if is_data:
                    found = _MESSAGE_ID.search(line)
                    self.taken.append("none" if found is None else found[1].decode())
                    if trouble < 0.18:
                        await trio.sleep(3.0 if trouble < 0.13 else 0.0)
                        return
                if verb == b"RCPT":
                    trouble = self._trouble(line)
                    reply = b"451 4.3.0 later" if trouble < 0.08 else reply
                is_data = verb == b"DATA"
                await stream.send_all((b"354 go on" if is_data else reply) + b"\r\n")

    def _trouble(self, address: bytes) -> float:
        """Draw what happens to a mail; 1.0: nothing."""
        if self.calm or self._troubles[address] >= _MOST_TROUBLES:
            return 1.0
        drawn = self._random.random()
        self._troubles[address] += drawn < 0.18
        return drawn

    async def run(self, listeners: list[trio.SocketListener]) -> None:
        """Serve until cancelled."""
        async with trio.open_nursery() as nursery:
            await trio.serve_listeners(self.serve, listeners, handler_nursery=nursery)


async def switch_on(db: Database, tenant: TenantId) -> None:
    """Let a tenant send its receipts by mail."""
    await db.run(mail.set_settings, tenant, MailSettings("es", MailAddress("ventas@faults.example"), 1_000_000))


def mail_again(dsn: str) -> frozenset[Hashable]:
    """Make mails due that wait for their next try and that no worker holds; return all that wait."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("UPDATE mails SET run_at = clock_timestamp() WHERE stage = 'mail' AND holder IS NULL")
        return frozenset(conn.execute("SELECT subject FROM mails WHERE stage = 'mail'"))


def mailed_at_least_once(history: History) -> Iterator[tuple[str, str]]:
    """I13: an accepted e-CF with an address is mailed at least once under its one Message-ID; no other is mailed."""
    if history.mails is None:
        return
    ids = {f"<{row.submission_id}@faults.example>": row for row in history.database.submissions}
    for message_id, times in Counter(history.mails).items():
        row = ids.get(message_id)
        if row is None:
            yield message_id, f"{times} mails under an id that no receipt has"
        elif row.status not in _ACCEPTED or row.root != Root.ECF:
            yield message_id, f"it is mailed, and its receipt is {row.status}"
    mailed = set(history.mails)
    wanted = set(history.database.mail_recipients)
    for message_id, row in ids.items():
        is_wanted = row.submission_id in wanted and row.status in _ACCEPTED and row.root == Root.ECF
        if is_wanted and message_id not in mailed:
            yield message_id, "it was accepted and has an address, and the relay never took its mail"
