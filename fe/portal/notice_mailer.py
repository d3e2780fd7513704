"""Mails each owner what needs attention: certificates, sequences and rejected receipts, in one mail a day at most.

Every process of the portal looks once a morning. A mail is claimed in the database before it is sent, so several
processes send one. A crash between the claim and the relay's answer loses the mail of that day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial

import structlog
import trio

from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.ecf.mail_address import BadAddress, parse_address
from fe.ecf.texts import Language
from fe.identifiers import PersonId, TenantId
from fe.mail.message import shown_amount
from fe.mail.notices import NoticeLine, notice_message
from fe.mail.relay import NotTaken, Relay, RelayRefused, RelayUnusable, send
from fe.portal import attention
from fe.portal import receipt_words as words
from fe.portal.attention import PortalNotice
from fe.store.portal import notice_mails, standing
from fe.store.portal.notice_mails import LastMail, Owner, Unsuccessful
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import certificates, sequences, tenants
from fe.store.records.tenants import Tenant

_log = structlog.get_logger(__name__)

#: Hour of the day in Santo Domingo from which the mails of a day are sent.
FROM_HOUR = 7
_EVERY_SECONDS = 600.0
#: Seconds for one mail.
_SENDING = 20.0
#: Production alone: receipts of tests are refused on purpose.
_ENVIRONMENT = Environment.ECF


@dataclass(frozen=True, slots=True)
class _Found:
    """Notices and receipts of the next mail to an owner."""

    tenant: Tenant
    before: LastMail
    notices: Sequence[PortalNotice]
    receipts: Sequence[Unsuccessful]

    @property
    def keys(self) -> list[str]:
        """The notices by key: a mail is sent when one of them is new."""
        return [one.about for one in self.notices if one.about] + [str(one.submission_id) for one in self.receipts]


class NoticeMailer:
    """Sends the mails of a day until cancelled. `url` is the portal's address."""

    def __init__(self, db: Database, relay: Relay, clock: Clock, url: str) -> None:
        self._db = db
        self._relay = relay
        self._clock = clock
        self._url = url
        self._day: date | None = None
        #: Owners who were looked at today.
        self._looked: set[tuple[TenantId, PersonId]] = set()

    async def run(self) -> None:
        """Look every ten minutes."""
        while True:
            try:
                await self.round()
            except ANY_OF_THE_DATABASE as error:
                _log.warning("notice mails paused: database unavailable", error=error)
            await trio.sleep(_EVERY_SECONDS)

    async def round(self) -> int:
        """Send the mails of today that were not sent; return how many the relay took."""
        now = self._clock()
        here = local(now)
        if here.hour < FROM_HOUR:
            return 0
        if self._day != here.date():
            self._day, self._looked = here.date(), set()
        sent, after = 0, None
        while batch := await self._db.run(notice_mails.owners, after):
            for owner in batch:
                after = owner.tenant_id, owner.person_id
                if after in self._looked:
                    continue
                try:
                    sent += await self._mail(owner, here.date(), now)
                except RelayUnusable as error:
                    _log.warning("the mail relay cannot be used, notice mails wait: read its answer", error=error)
                    return sent
        return sent

    async def _mail(self, owner: Owner, day: date, now: datetime) -> bool:
        who = owner.tenant_id, owner.person_id
        try:
            address = parse_address(owner.email)
        except BadAddress:
            self._looked.add(who)
            return False
        found = await self._db.run_for(owner.tenant_id, _read, owner.person_id, day, now)
        if found is None or not await self._db.run_for(
            owner.tenant_id, partial(notice_mails.claim, person_id=owner.person_id, day=day, told=found.keys)
        ):
            self._looked.add(who)
            return False
        language: Language = "es" if owner.language == "es" else "en"
        lines = [self._line(owner.tenant_id, notice, found.receipts, language) for notice in found.notices]
        here = f"{self._url}/companies/{owner.tenant_id}"
        rnc = str(found.tenant.issuer.get("RNCEmisor", ""))
        message = notice_message(
            self._relay, address, now, language, found.tenant.name, rnc, lines, f"{here}/mail#notices"
        )
        try:
            await trio.to_thread.run_sync(
                partial(send, self._relay, message, address, _SENDING), abandon_on_cancel=True
            )
        except RelayRefused as refused:
            self._looked.add(who)
            _log.warning(
                "the relay refused a notice mail for good: check the owner's address",
                tenant=owner.tenant_id,
                person=str(owner.person_id),
                error=refused,
            )
            return False
        except NotTaken as error:
            release = partial(notice_mails.release, person_id=owner.person_id, day=day, before=found.before)
            await self._db.run_for(owner.tenant_id, release)
            if isinstance(error, RelayUnusable):
                raise
            _log.warning(
                "the relay did not take a notice mail, it is sent again in ten minutes",
                tenant=owner.tenant_id,
                error=error,
            )
            return False
        self._looked.add(who)
        return True

    def _line(
        self, tenant_id: TenantId, notice: PortalNotice, receipts: Sequence[Unsuccessful], language: Language
    ) -> NoticeLine:
        here = f"{self._url}/companies/{tenant_id}"
        named = [
            (_receipt(one, language), f"{here}/{_ENVIRONMENT}/submissions/{one.submission_id}")
            for one in receipts
            if notice.status is one.status
        ]
        return NoticeLine(notice.text.said(language), f"{here}/{notice.path}", named)


def _receipt(one: Unsuccessful, language: Language) -> str:
    total = "" if one.total is None else shown_amount(str(one.total))
    parts = (
        one.e_ncf or str(one.submission_id),
        one.buyer_name,
        total,
        words.status_badge(one.status).text.said(language),
    )
    return " · ".join(part for part in parts if part)


async def _read(conn: Conn, tenant_id: TenantId, person_id: PersonId, day: date, now: datetime) -> _Found | None:
    """Read the next mail to an owner; None where nothing in it is new, or the mail of the day was sent."""
    before = await notice_mails.last(conn, tenant_id, person_id)
    if not before.is_on or before.sent_on == day:
        return None
    tenant = await tenants.by_id(conn, tenant_id)
    if tenant is None:
        return None
    seen_at = await standing.troubles_seen_at(conn, tenant_id, person_id)
    since = now - attention.LATELY if seen_at is None else max(now - attention.LATELY, seen_at)
    troubles = [one for one in await standing.trouble(conn, tenant_id, since) if one.environment is _ENVIRONMENT]
    in_use = await certificates.in_use(conn, tenant_id)
    ranges = await sequences.listed(conn, tenant_id, _ENVIRONMENT)
    notices = attention.for_mail(in_use, ranges, troubles, now)
    receipts: Sequence[Unsuccessful] = ()
    if any(one.rejected or one.failed for one in troubles):
        receipts = await notice_mails.unsuccessful(conn, tenant_id, _ENVIRONMENT, since)
    found = _Found(tenant, before, notices, receipts)
    return found if set(found.keys) - set(before.told) else None
