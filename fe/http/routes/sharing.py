"""Sharing a receipt with its buyer: the link to its page, and its end."""

from fe.clock import Clock, iso
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.messages import say
from fe.http.models.sharing import REVOKED, SHARED
from fe.http.routes.printing import find_receipt
from fe.issuing.sharing import Sharing
from fe.store.postgres.db import Database
from fe.store.records import shared_receipts


class ShareHandlers:
    """The handlers; without `sharing` no receipt is shared here, and links that exist can be revoked."""

    def __init__(self, db: Database, sharing: Sharing | None, clock: Clock) -> None:
        self._db = db
        self._sharing = sharing
        self._clock = clock

    async def share(self, call: Call) -> ApiReply:
        """Share an accepted receipt, and show its link; the same link when it is shared already."""
        record = await find_receipt(self._db, call)
        if self._sharing is None:
            raise ApiError(409, say("no-sharing"))
        tenant_id, share = call.identity.tenant_id, self._sharing.share
        link = await self._db.transact_for(tenant_id, share, tenant_id, record.submission_id, self._clock())
        if link is None:
            raise ApiError(409, say("not-shareable"))
        return ApiReply(200, SHARED.write({"url": link.url, "sharedAt": iso(link.since)}))

    async def revoke(self, call: Call) -> ApiReply:
        """End every link to a receipt."""
        record = await find_receipt(self._db, call)
        tenant_id = call.identity.tenant_id
        revoked = await self._db.transact_for(tenant_id, shared_receipts.revoke, tenant_id, record.submission_id)
        return ApiReply(200, REVOKED.write({"ok": True, "revoked": revoked}))
