"""Mails links to set a new password to people who ask for one themselves.

The page only queues the address, and so answers alike, in the same time, whether a person has it or not.
"""

import structlog
import trio

from fe.accounts import people as accounts
from fe.clock import Clock
from fe.ecf.texts import Language
from fe.limits import TokenBucket
from fe.mail.links import mail_forgotten
from fe.mail.relay import Relay
from fe.store.portal import people
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import throttle

_log = structlog.get_logger(__name__)

#: Addresses that may wait in this process.
_WAITING = 100
#: Mails to one person: a burst, then one in twenty minutes.
_AT_ONCE = 3
_A_SECOND = 1 / 1200


class ResetMailer:
    """Queue of addresses for which a new password was asked, and the task that mails. `url` is the portal's address."""

    def __init__(self, db: Database, relay: Relay, clock: Clock, url: str) -> None:
        self._db = db
        self._relay = relay
        self._clock = clock
        self._url = url
        self._asked, self._waiting = trio.open_memory_channel[str](_WAITING)
        self._rates: TokenBucket[bytes] = TokenBucket(at_once=_AT_ONCE, a_second=_A_SECOND)

    def ask(self, email: str) -> None:
        """Queue an address as typed; dropped where its person had too many, or too many wait."""
        if not self._rates.try_take(throttle.bucket_of_person(email), trio.current_time()):
            _log.warning("a new password was asked for too often")
            return
        try:
            self._asked.send_nowait(email)
        except trio.WouldBlock:
            _log.warning("a new password was asked for, and too many wait")

    async def run(self) -> None:
        """Mail to each, one after the other, until cancelled."""
        async for email in self._waiting:
            try:
                await self._mail(email)
            except ANY_OF_THE_DATABASE as error:
                _log.warning("no link for a new password was made: database unavailable", error=error)

    async def _mail(self, email: str) -> None:
        found = await self._db.run(people.by_email, email)
        # Without a password a person signs in by a provider alone: a mailbox must not open a second way in.
        if found is None or found.disabled_at is not None or not found.has_password:
            _log.info("a new password was asked for an address that has none")
            return
        now = self._clock()
        token = await self._db.transact(accounts.issue_forgotten, found, now)
        link = f"{self._url}/reset/{token}"
        language: Language = "en" if found.language == "en" else "es"
        mailed = await mail_forgotten(self._relay, found.email, link, now, language)
        _log.info("a new password was asked for", person=str(found.person_id), mailed=mailed)
