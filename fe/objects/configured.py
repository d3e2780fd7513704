"""The archive's store, as the settings name it."""

from pathlib import Path
from urllib.parse import urlsplit

from fe.config import ConfigError, Settings
from fe.objects.storage import FolderStore, ObjectStore


def archive_store(settings: Settings) -> ObjectStore | None:
    """Open the store that FE_ARCHIVE names; None where it is not set. Raises ConfigError."""
    if not settings.archive:
        return None
    parts = urlsplit(settings.archive)
    if parts.scheme != "s3":
        return FolderStore(Path(settings.archive))
    try:
        from fe.objects.s3 import S3Objects  # late: the extra `s3` is not installed where the archive is a folder
    except ImportError:
        raise ConfigError("FE_ARCHIVE names a bucket, and obstore is not installed: install fe[s3]") from None
    secret = settings.archive_secret_key
    return S3Objects(
        parts.netloc,
        prefix=parts.path.strip("/"),
        endpoint=settings.archive_endpoint,
        region=settings.archive_region,
        access_key=settings.archive_access_key or None,
        secret_key=None if secret is None else secret.get_secret_value(),
    )
