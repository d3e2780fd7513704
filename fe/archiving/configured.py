"""The archive of an installation, as its settings describe it."""

from base64 import b64decode
from binascii import Error as NotBase64

from fe.archive.keys import ArchiveKey, MemoryKey, NotAnArchiveKey
from fe.archiving.certificates import Chains
from fe.archiving.packing import Archive
from fe.archiving.stamping import Stamper
from fe.clock import Clock
from fe.config import ConfigError, Settings
from fe.config.start_checks import read_certificates
from fe.egress.configured import egress_from_settings
from fe.egress.target import CONFIGURED
from fe.objects.configured import archive_store
from fe.objects.storage import ObjectStore
from fe.offload.pool import Apart
from fe.store.postgres.db import Database


def read_archive_key(settings: Settings) -> ArchiveKey:
    """Read the key that signs packages. Raises ConfigError, which shows nothing of it."""
    if settings.archive_key is None:
        raise ConfigError("FE_ARCHIVE is set, and FE_ARCHIVE_KEY is not: make one with `fe archive key`")
    try:
        return MemoryKey.from_der(b64decode(settings.archive_key.get_secret_value(), validate=True))
    except (NotBase64, NotAnArchiveKey):
        raise ConfigError("FE_ARCHIVE_KEY is no key of `fe archive key`") from None


def stamper_from_settings(settings: Settings, db: Database, store: ObjectStore) -> Stamper | None:
    """Build what stamps packages; None where FE_ARCHIVE_TIME_STAMPS is not set."""
    if not settings.archive_time_stamps:
        return None
    return Stamper(db, store, egress_from_settings(settings, CONFIGURED), settings.archive_time_stamps)


def archive_from_settings(
    settings: Settings, db: Database, clock: Clock, apart: Apart
) -> tuple[Archive, ObjectStore] | None:
    """Build the archive; None where FE_ARCHIVE is not set. Raises ConfigError."""
    store = archive_store(settings)
    if store is None:
        return None
    certifiers = [
        one
        for name, path in (
            ("FE_CERTIFIERS_FILE", settings.certifiers_file),
            ("FE_RECEPTION_ROOTS", settings.reception_roots),
        )
        if path is not None
        for one in read_certificates(name, path)
    ]
    key = read_archive_key(settings)
    return Archive(db, store, key, clock, Chains(certifiers), most=settings.archive_receipts, apart=apart), store
