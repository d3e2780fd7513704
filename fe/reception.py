"""Reception as a part of the service: whom it trusts, with what it signs, and its own front."""

from cryptography import x509
from quart_trio import QuartTrio

from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.clock import Clock
from fe.config import ConfigError, Settings, read_networks
from fe.ecf.signature import Signer
from fe.http.reception.app import ReceptionDeps, create_reception
from fe.identifiers import CertificateId, TenantId
from fe.monitoring.metrics import Metrics
from fe.receiving.assess import Trust
from fe.receiving.receive import CannotAcknowledge
from fe.receiving.sessions import SESSIONS, derive_keys
from fe.store.postgres.db import Database
from fe.vault import Vault


def require_receivable(settings: Settings, *, must: bool) -> None:
    """Look, before anything is started, whether suppliers can be received, where they are to be. Raises ConfigError."""
    if settings.reception_bind:
        read_roots(settings)
    elif must:
        raise ConfigError("FE_RECEPTION_BIND is not set: where should suppliers be received?")


def read_roots(settings: Settings) -> Trust:
    """Read the certifiers that are trusted to have issued suppliers' certificates. Raises ConfigError."""
    if settings.reception_roots is None:
        raise ConfigError("FE_RECEPTION_ROOTS is not set: whose certificates may suppliers sign with?")
    try:
        return Trust(x509.load_pem_x509_certificates(settings.reception_roots.read_bytes()))
    except (OSError, ValueError) as error:
        raise ConfigError(f"FE_RECEPTION_ROOTS {settings.reception_roots}: {error}") from error


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


def reception_from_settings(
    settings: Settings, db: Database, vault: Vault, signers: Acknowledgers, clock: Clock, metrics: Metrics
) -> QuartTrio:
    """Build the front that suppliers talk to. Raises ConfigError."""
    deps = ReceptionDeps(
        db=db,
        signers=signers,
        trust=read_roots(settings),
        keys=derive_keys(vault.roots(SESSIONS)),
        clock=clock,
        metrics=metrics,
        in_flight=settings.reception_in_flight,
        threads=settings.reception_threads,
        calls_per_second=settings.reception_calls_per_second,
        trusted_proxies=read_networks(settings.trusted_proxies),
    )
    return create_reception(deps)
