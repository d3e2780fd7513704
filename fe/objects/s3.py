"""A store in a bucket, by the S3 protocol (obstore)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from fe.objects.storage import CHUNK, StorageError, StorageFault

if TYPE_CHECKING:
    from obstore.store import S3Config

#: Seconds for a connection, for one request, and for a request with its retries.
_CONNECT, _REQUEST, _RETRIES = timedelta(seconds=10), timedelta(seconds=120), timedelta(seconds=180)


class S3Objects:
    """Objects of a bucket. A new object is written with If-None-Match, and with its SHA-256, which a lock asks for."""

    def __init__(
        self,
        bucket: str,
        *,
        prefix: str,
        endpoint: str,
        region: str,
        access_key: str | None,
        secret_key: str | None,
    ) -> None:
        """Open a bucket. Without keys, the environment of the machine names them (instance or web identity)."""
        config: S3Config = {
            "region": region,
            "checksum_algorithm": "SHA256",
            "conditional_put": "etag",
            "virtual_hosted_style_request": not endpoint,
        }
        if endpoint:
            config["endpoint"] = endpoint
        if access_key and secret_key:
            config["access_key_id"], config["secret_access_key"] = access_key, secret_key
        self._store = S3Store(
            bucket,
            prefix=prefix or None,
            config=config,
            client_options={
                "connect_timeout": _CONNECT,
                "timeout": _REQUEST,
                "allow_http": endpoint.startswith("http://"),
            },
            retry_config={"max_retries": 2, "retry_timeout": _RETRIES},
        )

    def create(self, name: str, source: Path) -> bool:
        """Put an object if there is none of that name."""
        with _translated():
            try:
                obstore.put(self._store, name, source, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
        return True

    def replace(self, name: str, source: Path) -> None:
        """Put an object; a versioned bucket keeps the one before."""
        with _translated():
            obstore.put(self._store, name, source, use_multipart=False)

    def stream(self, name: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Get an object, or a range of it."""
        with _translated():
            if start or end is not None:
                size = self.size(name) if end is None else end
                if size is None:
                    raise StorageError(StorageFault.MISSING, name)
                for first in range(start, size, CHUNK):
                    yield bytes(obstore.get_range(self._store, name, start=first, end=min(first + CHUNK, size)))
                return
            for chunk in obstore.get(self._store, name).stream(min_chunk_size=CHUNK):
                yield bytes(chunk)

    def size(self, name: str) -> int | None:
        """Ask for the head of an object."""
        with _translated():
            try:
                return int(obstore.head(self._store, name)["size"])
            except FileNotFoundError:
                return None

    def sizes(self, prefix: str) -> dict[str, int]:
        """List a folder."""
        with _translated():
            found = obstore.list_with_delimiter(self._store, prefix)["objects"]
            return {str(one["path"]): int(one["size"]) for one in found}


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise StorageError(StorageFault.MISSING, _said(error)) from error
    except (PermissionDeniedError, UnauthenticatedError) as error:
        raise StorageError(StorageFault.DENIED, _said(error)) from error
    except (BaseError, OSError, ValueError) as error:
        raise StorageError(StorageFault.UNAVAILABLE, _said(error)) from error


def _said(error: BaseException) -> str:
    """Return the first line: obstore appends a dump of its error after it."""
    return str(error).strip().partition("\n")[0]
