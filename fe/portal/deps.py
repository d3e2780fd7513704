"""Dependencies of the portal's pages."""

from collections.abc import Mapping
from dataclasses import dataclass

from fe.accounts.openid import OpenId
from fe.archiving.documents import ReceiptDocuments
from fe.clock import Clock, ClockFault, no_fault
from fe.config import Network, Settings
from fe.ecf.texts import Language
from fe.identifiers import TenantId
from fe.issuing.sharing import Sharing
from fe.issuing.submitting import Submitting
from fe.limits import ConcurrencyLimit, DocumentQuota
from fe.mail.relay import Relay
from fe.monitoring.metrics import Metrics
from fe.objects.storage import ObjectStore
from fe.offload.pool import Apart
from fe.portal.plan_runner import PlanRunner
from fe.portal.rendering import Renderer
from fe.portal.reset_mailer import ResetMailer
from fe.secrets.vault import Vault
from fe.store.postgres.db import Database
from fe.store.queue.wakeups import Wakeups
from fe.store.records.month_memory import MonthMemory
from fe.webhooks.accounts import WebhookAccounts

#: Purpose of the portal's derived keys: proofs in forms, and values left with browsers.
FORMS = b"fe portal forms"


@dataclass(frozen=True, slots=True)
class Portal:
    """Everything a page may need. `db` sees one tenant at a time, `operators` all of them; None: no pages of theirs."""

    settings: Settings
    db: Database
    #: Reads documents, those of months that left the database from the archive.
    documents: ReceiptDocuments
    #: Limits the lists that are read from `db`.
    lists: ConcurrencyLimit[TenantId]
    months: MonthMemory
    operators: Database | None
    wakeups: Wakeups
    vault: Vault
    peppers: Mapping[str, bytes]
    webhooks: WebhookAccounts | None
    #: Counts the calls of its webhook that a tenant's people ask for, as the API counts its programs'.
    webhook_calls: DocumentQuota
    clock: Clock
    metrics: Metrics
    #: The keys of form proofs, of 32 bytes each: the first makes them, all are believed.
    form_keys: tuple[bytes, ...]
    #: Under which people reach it: scheme, host and port, without a slash at the end.
    url: str
    renderer: Renderer
    #: Accepts receipts, as the API does, and limits them per company and process.
    submitting: Submitting
    quotas: DocumentQuota
    #: Prints receipts.
    printers: Apart
    #: Limits the archives of prints that a company takes at once.
    archives: ConcurrencyLimit[TenantId]
    trusted_proxies: tuple[Network, ...] = ()
    #: The provider that people may log in by; None: by password alone.
    openid: OpenId | None = None
    #: Runs what operators started; None without operators' pages.
    plans: PlanRunner | None = None
    #: Where invitations are mailed; None: people hand their links over.
    relay: Relay | None = None
    #: Mails links to set a new password; None without a relay.
    resets: ResetMailer | None = None
    #: Shares receipts with their buyers; None: no address is set for their page.
    sharing: Sharing | None = None
    #: The archive's store; None: there is no archive.
    archive: ObjectStore | None = None
    #: Why this process must not sign; then it is not ready either.
    clock_fault: ClockFault = no_fault

    @property
    def is_https(self) -> bool:
        """Whether browsers reach it encrypted; else only from this machine, in development."""
        return self.url.startswith("https://")

    @property
    def cookie(self) -> str:
        """The name of the cookie: with https one that only this very host can set."""
        return "__Host-fe" if self.is_https else "fe"

    def render(self, template: str, language: Language, **values: object) -> str:
        """Render a template."""
        return self.renderer.render(template, language, portal=self, **values)
