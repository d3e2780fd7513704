"""How much is in work, and when that is enough: an overloaded process turns requests away rather than queue them."""

from collections.abc import Iterator
from contextlib import contextmanager

from fe.http import messages
from fe.http.errors import RETRY_WHEN_SHED, ApiError
from fe.http.limits.shares import Shares
from fe.monitoring.metrics import Metrics


class Admission:
    """Counts the requests in work in this process. Waiting for a slow body, or for a verdict, is not work.

    Requests with the very same authorization have a share of it, looked at before anything is known of the token: the
    framework takes its time with a request, and a thousand of one client meanwhile would be a 503 for everybody.
    """

    def __init__(self, maximum: int, metrics: Metrics, *, of_one: int, shown: bool = True) -> None:
        """Take how many, in all and of one; `shown`: whether `fe_http_in_flight` tells of these, where two count."""
        self._max = maximum
        self._of_one: Shares[bytes] = Shares("tenant_requests", metrics, each=of_one)
        self._metrics = metrics
        self._in_work = 0
        if not shown:
            return
        metrics.http_in_flight.set_function(lambda: self._in_work)

    def admit(self, authorization: bytes | None) -> None:
        """Count a request, for whoever has this authorization too, until its `release`. Raises ApiError (429, 503)."""
        self.require_capacity(authorization)
        self._in_work += 1
        if authorization is not None:
            self._of_one.acquire(authorization)

    def release(self, authorization: bytes | None) -> None:
        """Undo one `admit`."""
        self._leave()
        if authorization is not None:
            self._of_one.release(authorization)

    def require_capacity(self, authorization: bytes | None) -> None:
        """See that a request of this authorization would be admitted now. Raises ApiError (429, 503)."""
        if authorization is not None:
            self._of_one.require_capacity(authorization)
        self._require_capacity()

    @contextmanager
    def waiting(self, authorization: bytes) -> Iterator[None]:
        """Take a request that waits for a verdict out of both counts. Raises as `resting` does."""
        with self._of_one.released(authorization), self.resting():
            yield

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Take the request of this block out of the count. Raises ApiError (503) at its end if it cannot go on."""
        self._leave()
        try:
            yield
        except BaseException:
            self._in_work += 1  # the block around us will take it off again
            raise
        self._enter(after_rest=True)

    def _enter(self, *, after_rest: bool = False) -> None:
        try:
            self._require_capacity()
        except ApiError:
            if after_rest:
                self._in_work += 1  # likewise
            raise
        self._in_work += 1

    def _require_capacity(self) -> None:
        if self._in_work >= self._max:
            self._metrics.http_shed.inc()
            raise ApiError(503, messages.UNAVAILABLE, (("Retry-After", str(RETRY_WHEN_SHED)),))

    def _leave(self) -> None:
        self._in_work -= 1
