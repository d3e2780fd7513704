"""Isolates failures: an error of one tenant or duty does not stop the others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fe.identifiers import TenantId
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, DatabaseUnavailable, StoreError


class PartlyDone(StoreError):
    """Something failed, was noted, and what did not depend on it is done."""


class Failures:
    """Those of one turn. `note` is told of each, and whose it was."""

    def __init__(self, note: Callable[[Exception, TenantId | None], None]) -> None:
        self._note = note
        self._many = 0
        self._was_away = False

    @contextmanager
    def apart(self, tenant_id: TenantId | None = None) -> Iterator[None]:
        """Note and count what the database refuses in the block, which ends there.

        Raises DatabaseUnavailable the second time in a row: once may be this one's, who takes too long.
        """
        try:
            yield
            self._was_away = False
        except ANY_OF_THE_DATABASE as error:
            if isinstance(error, DatabaseUnavailable):
                if self._was_away:
                    raise
                self._was_away = True
            self._many += 1
            self._note(error, tenant_id)

    def raise_any(self) -> None:
        """Raise PartlyDone if there were any."""
        if self._many:
            raise PartlyDone(f"{self._many} failed")
