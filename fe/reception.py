"""Reception as a part of the service: whom it trusts, with what it signs, and its own front."""

import socket
from collections.abc import Sequence

import trio

from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.clock import Clock, ClockFault, no_fault
from fe.config import Settings, read_networks
from fe.ecf.signature import Signer
from fe.http.reception.app import ReceptionDeps, create_reception
from fe.http.server.listener import serve_http
from fe.identifiers import CertificateId, TenantId
from fe.queue.supervisor import Supervisor
from fe.receiving.assess import Trust
from fe.receiving.receive import CannotAcknowledge
from fe.receiving.sessions import SESSIONS, derive_keys
from fe.start_checks import read_certifiers
from fe.store.postgres.db import Database
from fe.vault import Vault


class Acknowledgers:
    """What acknowledgements are signed with: the actors' cache of opened certificates, with reception's own rights."""

    def __init__(self, credentials: SigningCredentials) -> None:
        self.credentials = credentials

    async def __call__(self, tenant_id: TenantId, certificate_id: CertificateId) -> Signer:
        """Give what signs with a certificate. Raises CannotAcknowledge, DatabaseUnavailable, or a VaultError."""
        try:
            return (await self.credentials.get(tenant_id, certificate_id)).signer
        except CannotOpen as cannot:
            raise CannotAcknowledge(f"tenant {tenant_id}: {cannot}") from cannot


async def run_reception(
    settings: Settings,
    db: Database,
    vault: Vault,
    clock: Clock,
    supervisor: Supervisor,
    listeners: Sequence[socket.socket],
    clock_fault: ClockFault = no_fault,
    *,
    task_status: trio.TaskStatus[list[socket.socket]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Answer suppliers on `listeners` until `supervisor.stopping`, and then for as long as the grace.

    Nothing is acknowledged while there is a `clock_fault`. `started` says that they are answered. Raises ConfigError.
    """
    credentials = SigningCredentials(db, vault, trio.CapacityLimiter(1))
    app = create_reception(
        ReceptionDeps(
            db=db,
            signers=Acknowledgers(credentials),
            trust=Trust(read_certifiers(settings)),
            keys=derive_keys(vault.roots(SESSIONS)),
            clock=clock,
            metrics=supervisor.metrics,
            in_flight=settings.reception_in_flight,
            threads=settings.reception_threads,
            calls_per_second=settings.reception_calls_per_second,
            trusted_proxies=read_networks(settings.trusted_proxies),
            clock_fault=clock_fault,
        )
    )
    async with trio.open_nursery() as beside:
        supervisor.start(beside, "reception keys", credentials.forget_in_time)
        await serve_http(app, listeners, settings=settings, shutdown=supervisor.stopping, task_status=task_status)
        beside.cancel_scope.cancel()
