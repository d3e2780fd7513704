"""Whether a tenant may send a document later than it issues it (docs/contingency.md)."""

import re
from datetime import datetime

import trio

from fe.cache import ExpiringCache
from fe.ecf.catalogue import Environment, Root
from fe.ecf.dates import local, read_moment
from fe.ecf.document import Document
from fe.ecf.problems import Problem
from fe.ecf.reading import section, text, whole
from fe.identifiers import TenantId
from fe.issuing.issuers import FRESH
from fe.issuing.messages import deferral_not_authorised
from fe.store.postgres.db import Database
from fe.store.records import modes
from fe.store.records.modes import ModePeriod

_MAX_KNOWN = 10_000
_DEFERRED = re.compile(rb"<IndicadorEnvioDiferido>\s*1\s*</")


def is_deferred(document: Document) -> bool:
    """Return whether the document says that it is sent later (IndicadorEnvioDiferido 1)."""
    id_doc = section(section(document.content, "Encabezado"), "IdDoc")
    return document.root is Root.ECF and whole(id_doc, "IndicadorEnvioDiferido") == "1"


def is_deferred_in(signed: bytes) -> bool:
    """Return whether a signed document says so, without reading the whole document."""
    return _DEFERRED.search(signed) is not None


def signed_before(form: str, document: Document) -> datetime | None:
    """Return FechaHoraFirma of a document that keeps its signature; None for any other."""
    return read_moment(text(document.content, "FechaHoraFirma") or "") if form == "signed" else None


class KnownDeferrals:
    """Cache of the authorisations of deferred sending; one per process, or one per part of it.

    Only documents with the indicator ask. An authorisation is kept for FRESH seconds; its absence is not kept, so one
    that is recorded counts at once.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: ExpiringCache[tuple[TenantId, Environment], ModePeriod] = ExpiringCache(_MAX_KNOWN)
        #: How often the database was asked.
        self.asked = 0

    async def problem(self, tenant_id: TenantId, environment: Environment, at: datetime) -> Problem | None:
        """Return the problem of a document with the indicator that is signed at `at`. Raises DatabaseUnavailable."""
        asked_at = trio.current_time()
        found = self._known.get((tenant_id, environment), asked_at)
        if found is None or not found.authorises(at):
            self.asked += 1
            found = await self._db.run_for(tenant_id, modes.deferral, environment, at)
            if found is None:
                return deferral_not_authorised(local(at).date())
            self._known.put((tenant_id, environment), found, asked_at + FRESH)
        return None
