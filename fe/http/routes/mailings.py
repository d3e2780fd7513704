"""The mails of receipts, looked up only for tenants that send any."""

import trio

from fe.cache import ExpiringCache
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Database
from fe.store.records import mail
from fe.store.records.mail import MailRecord
from fe.store.records.submissions import Record

#: Seconds to cache whether a tenant sends mail: receipts of tenants without mail cost no statement.
_REMEMBERED = 60.0
_KEPT = 10_000


class Mailings:
    """Reads the mail of a receipt; remembers which tenants send none."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._send: ExpiringCache[TenantId, bool] = ExpiringCache(_KEPT)

    async def of(self, tenant_id: TenantId, record: Record) -> MailRecord | None:
        """Return the mail of an accepted receipt, if one was to be sent."""
        if record.status not in (Status.ACCEPTED, Status.CONDITIONAL):
            return None
        now = trio.current_time()
        sends = self._send.get(tenant_id, now)
        if sends is None:
            sends = await self._db.run_for(tenant_id, mail.settings_of) is not None
            self._send.put(tenant_id, sends, now + _REMEMBERED)
        if not sends:
            return None
        return await self._db.run_for(tenant_id, mail.of_submission, record.submission_id)
