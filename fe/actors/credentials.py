"""Cache of certificates ready to sign with: decrypted and opened once, kept for a short time."""

from contextlib import suppress
from dataclasses import dataclass, field

import structlog
import trio

from fe.cache import ExpiringCache
from fe.clock import Clock, system_clock
from fe.ecf.certificate import CertificateError, Credential, PassphraseMissing
from fe.ecf.p12_cache import P12Opener
from fe.ecf.signature import Signer
from fe.ecf.texts import Text
from fe.identifiers import CertificateId, TenantId
from fe.monitoring.metrics import Metrics
from fe.queue.outcome import TryLater
from fe.secrets.vault import P12_PURPOSE, PASSPHRASE_PURPOSE, Belongs, Vault
from fe.store.postgres.db import Database
from fe.store.records import certificates
from fe.store.records.certificates import EncryptedCertificate

_log = structlog.get_logger(__name__)


_REMOVED = Text("no certificate available: it was removed", "no hay un certificado disponible: se eliminó")


class CannotOpen(TryLater):
    """The certificate cannot be used; the message tells the tenant what to do.

    The signer fails the document. A signed document needs one to talk to the authority, and waits for another.
    """

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text


@dataclass(frozen=True, slots=True)
class Opened:
    """A certificate that can sign. Its `id` is also the key of the authority's session."""

    id: str
    signer: Signer
    credential: Credential
    #: Whether it was its holder's certificate in use when it was opened.
    is_in_use: bool = True


@dataclass(slots=True)
class _Slot:
    lock: trio.Lock = field(default_factory=trio.Lock)
    opened: Opened | None = None
    until: float = 0.0


class SigningCredentials:
    """A cache of at most `kept` opened certificates, each for `seconds`; each is opened by one task at a time.

    Opening a .p12 costs some 45 ms of CPU the first time, later 2 to 3 ms; signing takes a third of a millisecond.
    """

    def __init__(
        self,
        db: Database,
        vault: Vault,
        threads: trio.CapacityLimiter,
        metrics: Metrics | None = None,
        *,
        clock: Clock = system_clock,
        seconds: float = 60.0,
        kept: int = 512,
    ) -> None:
        self._clock = clock
        self._seconds = seconds
        self._db = db
        self._metrics = metrics
        self._vault = vault
        self.threads = threads
        self._files = P12Opener()
        self._slots: ExpiringCache[tuple[TenantId, CertificateId], _Slot] = ExpiringCache(kept)

    async def get(self, tenant_id: TenantId, certificate_id: CertificateId) -> Opened:
        """Return the certificate, ready. Raises CannotOpen, DatabaseUnavailable, or a VaultError.

        If the task that is opening it is cancelled, the next one that waits opens it.
        """
        key = tenant_id, certificate_id
        slot = self._slots.get(key)
        if slot is None:
            slot = _Slot()
            self._slots.put(key, slot)
        if slot.opened is not None and trio.current_time() < slot.until:
            return slot.opened
        async with slot.lock:
            if slot.opened is None or trio.current_time() >= slot.until:
                slot.opened = await self._open(tenant_id, certificate_id)
                slot.until = trio.current_time() + self._seconds
            return slot.opened

    async def for_session(
        self, tenant_id: TenantId, certificate_id: CertificateId, *, though_replaced: bool = False
    ) -> Opened:
        """Return the certificate for a session with the authority about a document that this one signed.

        The same one, unless it was replaced, has expired or cannot be opened: the authority opens no session for an
        expired or revoked one, and a session names no document (authority.md#session). Then a valid one in use, the
        holder's before the company's; if there is none, the result of `get`. With `though_replaced` a replaced one is
        used while it is valid. Raises as `get`.
        """
        now = self._clock()
        opened, cannot = None, None
        try:
            opened = await self.get(tenant_id, certificate_id)
        except CannotOpen as error:
            cannot = error
        is_valid = opened is not None and now < opened.credential.not_after
        if opened is not None and is_valid and (opened.is_in_use or though_replaced):
            return opened
        for other in await self._db.run_for(
            tenant_id, certificates.instead_of, certificate_id, now, of_others=not is_valid
        ):
            with suppress(CannotOpen):
                return await self.get(tenant_id, other)
        if opened is None:
            assert cannot is not None
            raise cannot
        return opened

    async def forget_in_time(self) -> None:
        """Drop expired keys until cancelled, so that an idle process soon holds none."""
        while True:
            await trio.sleep(self._seconds / 4)
            self.forget_expired()

    def forget_expired(self) -> None:
        """Drop expired keys."""
        now = trio.current_time()
        for key, slot in self._slots.items():
            if now >= slot.until and not slot.lock.locked():
                self._slots.forget(key)

    async def _open(self, tenant_id: TenantId, certificate_id: CertificateId) -> Opened:
        encrypted = await self._db.run_for(tenant_id, certificates.encrypted, certificate_id)
        if encrypted is None:
            raise CannotOpen(_REMOVED)
        if encrypted.passphrase is None:
            raise CannotOpen(PassphraseMissing.contract)
        try:
            opened = await trio.to_thread.run_sync(self._decrypt, encrypted, limiter=self.threads)
        except Exception:
            self._note("failed", encrypted)
            raise
        self._note("opened", encrypted)
        return opened

    def _note(self, outcome: str, key: EncryptedCertificate) -> None:
        _log.info(
            "a key was decrypted", outcome=outcome, tenant_id=key.tenant_id, certificate_id=str(key.certificate_id)
        )
        if self._metrics is not None:
            self._metrics.decrypted.labels(outcome).inc()

    def _decrypt(self, encrypted: EncryptedCertificate) -> Opened:
        assert encrypted.passphrase is not None
        name = str(encrypted.certificate_id)
        p12 = self._vault.decrypt(encrypted.p12, Belongs(encrypted.tenant_id, name, P12_PURPOSE))
        passphrase = self._vault.decrypt(encrypted.passphrase, Belongs(encrypted.tenant_id, name, PASSPHRASE_PURPOSE))
        try:
            credential = self._files.open(p12, passphrase.decode())
        except CertificateError as error:
            raise CannotOpen(error.failure) from error
        return Opened(name, Signer(credential), credential, not encrypted.is_retired)
