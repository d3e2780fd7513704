"""The portal as a process runs it: built from the settings, and served until the process stops."""

import socket
from collections.abc import Mapping, Sequence

import trio
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from fe.accounts.openid import CALLBACK, OpenId
from fe.archiving.documents import ReceiptDocuments
from fe.clock import Clock, ClockFault, no_fault
from fe.config import Settings, origin_of, read_networks
from fe.egress.configured import egress_from_settings
from fe.egress.target import CONFIGURED
from fe.http.archives import archive_limit
from fe.http.paging import list_limit
from fe.http.server.listener import serve_http
from fe.issuing.sharing import Sharing
from fe.issuing.submitting import Submitting
from fe.limits import WEBHOOK_QUOTA, DocumentQuota, QuotaLimits
from fe.mail.configured import relay_from_settings
from fe.monitoring.metrics import Metrics
from fe.monitoring.submission_log import SubmissionLog
from fe.objects.configured import archive_store
from fe.offload.pool import PRINTER_IDLE_SECONDS, Apart
from fe.portal.app import create_portal
from fe.portal.deps import FORMS, Portal
from fe.portal.notice_mailer import NoticeMailer
from fe.portal.plan_runner import PlanRunner
from fe.portal.rendering import Renderer
from fe.portal.reset_mailer import ResetMailer
from fe.queue.service_context import ServiceContext
from fe.secrets.vault import Vault
from fe.store.postgres.db import Database
from fe.store.postgres.roles import OPERATOR, PORTAL
from fe.store.queue.wakeups import Wakeups
from fe.store.queue.workers import new_holder
from fe.store.records.month_memory import MonthMemory
from fe.webhooks.accounts import webhook_accounts


def portal_url(settings: Settings) -> str:
    """Under which address people reach the portal, without a slash at the end."""
    return origin_of(settings.portal_url) if settings.portal_url else f"http://{settings.portal_bind}"


def build_portal(
    settings: Settings,
    pools: Mapping[str, Database],
    vault: Vault,
    wakeups: Wakeups,
    clock: Clock,
    metrics: Metrics,
    clock_fault: ClockFault = no_fault,
) -> Portal:
    """Put together what all pages share. Raises ConfigError."""
    # A form from before a change of the vault's keys, or of a process that has not had it yet, is still ours.
    form_keys = tuple(HKDF(SHA256(), 32, None, FORMS).derive(root) for root in vault.roots(FORMS).values())
    relay = relay_from_settings(settings)
    return Portal(
        settings=settings,
        db=pools[PORTAL],
        documents=ReceiptDocuments(pools[PORTAL], archive_store(settings), metrics),
        lists=list_limit(metrics),
        months=MonthMemory(clock),
        operators=pools.get(OPERATOR),
        wakeups=wakeups,
        vault=vault,
        peppers=settings.peppers(),
        webhooks=webhook_accounts(settings),
        webhook_calls=DocumentQuota(WEBHOOK_QUOTA, metrics, name="tenant_webhooks"),
        clock=clock,
        metrics=metrics,
        form_keys=form_keys,
        url=portal_url(settings),
        renderer=Renderer(),
        submitting=Submitting(pools[PORTAL], wakeups, metrics, SubmissionLog(settings.submission_log)),
        quotas=DocumentQuota(QuotaLimits.from_settings(settings), metrics),
        printers=Apart(settings.large_processes, metrics, idle=PRINTER_IDLE_SECONDS),
        archives=archive_limit(metrics),
        trusted_proxies=read_networks(settings.trusted_proxies),
        openid=openid_of(settings, form_keys[0]),
        plans=None if OPERATOR not in pools else PlanRunner(pools[OPERATOR], new_holder(), clock),
        relay=relay,
        resets=None if relay is None else ResetMailer(pools[PORTAL], relay, clock, portal_url(settings)),
        sharing=Sharing.from_settings(settings),
        archive=archive_store(settings),
        clock_fault=clock_fault,
    )


def openid_of(settings: Settings, key: bytes) -> OpenId | None:
    """The provider that people may log in by, as the settings say it."""
    if not settings.portal_oidc_issuer:
        return None
    secret = settings.portal_oidc_client_secret
    return OpenId(
        issuer=settings.portal_oidc_issuer,
        client_id=settings.portal_oidc_client_id,
        client_secret="" if secret is None else secret.get_secret_value(),
        name=settings.portal_oidc_name,
        callback=f"{portal_url(settings)}{CALLBACK}",
        key=key,
        egress=egress_from_settings(settings, CONFIGURED),
    )


async def run_portal(
    context: ServiceContext,
    pools: Mapping[str, Database],
    vault: Vault,
    listeners: Sequence[socket.socket],
    *,
    task_status: trio.TaskStatus[list[socket.socket]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Answer people on `listeners` until the service stops, then for the grace period. Raises ConfigError."""
    settings, supervisor = context.settings, context.supervisor
    portal = build_portal(settings, pools, vault, context.wakeups, context.clock, context.metrics, context.clock_fault)
    async with trio.open_nursery() as nursery:
        if portal.plans is not None:
            supervisor.start(nursery, "replay plans", portal.plans.run)
        if portal.relay is not None:
            assert portal.resets is not None
            supervisor.start(nursery, "password mails", portal.resets.run)
            mailer = NoticeMailer(portal.db, portal.relay, portal.clock, portal.url)
            supervisor.start(nursery, "notice mails", mailer.run)
        await serve_http(
            create_portal(portal),
            listeners,
            settings=settings,
            shutdown=supervisor.stopping,
            task_status=task_status,
        )
        nursery.cancel_scope.cancel()
