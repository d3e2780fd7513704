"""The request log of tenants: their requests that ended with 4xx or 5xx, kept in memory and written every second.

Requests that succeed are not kept: on their path there is one comparison. Rows are dropped, and counted, where a key
fails too often, where the buffer is full, and where a write fails: the log never holds up or fails a request.
"""

import re

import structlog
import trio

from fe.clock import Clock
from fe.ecf.ids import new_id
from fe.http.calls import Call
from fe.http.routes.types import Route
from fe.identifiers import ApiKeyId
from fe.limits import TokenBucket
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import request_log
from fe.store.records.request_log import FailedRequest

FLUSH_SECONDS = 1.0
#: Rows that wait for the next write, of all keys together.
BUFFERED = 1_000
#: Token bucket per key and process: rows at once, then rows per second.
AT_ONCE, A_SECOND = 60, 0.1
#: Bytes kept of a body, and characters of a path and of a message.
BODY_BYTES, _LONGEST = 2_048, 1_000

_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
_LEFT_OUT = "…"
# A value may have been cut off, and the body may not be JSON at all: so this reads text, and hides too much rather than
# too little. Behind an object or a list as a value, nothing is shown.
_SECRET = re.compile(
    r"""((?:secret|passw|pwd|passphrase|clave|contrase|credential|bearer|p12|pfx|authorization|token|api[-_]?key|private|"""
    r"""headers|cookie)[^"':=>]{0,40}["']?\s*[:=>]\s*)"""
    r"""(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|'(?:[^'\\]|\\.)*(?:'|\\?$)|[{\[].*|[^,}\]&"'\n]*)""",
    re.IGNORECASE | re.DOTALL,
)
#: User and password in the address of a webhook: such an address is refused, and so it comes here.
_USER = re.compile(r"(://)[^/\s\"'@]{1,200}@")

_log = structlog.get_logger(__name__)


class RequestLog:
    """Keeps failed requests of API keys. One per process; a crash loses at most the last second."""

    def __init__(self, db: Database, clock: Clock, metrics: Metrics) -> None:
        self._db = db
        self._clock = clock
        self._dropped = metrics.request_log_dropped
        self._entries: list[FailedRequest] = []
        self._flushing = trio.Lock()
        self._rates: TokenBucket[ApiKeyId] = TokenBucket(at_once=AT_ONCE, a_second=A_SECOND)

    def note(self, route: Route, call: Call, status: int, began: float) -> None:
        """Keep a request of a caller that ended with `status`, and began at a moment of Trio's clock."""
        caller, now = call.identity, trio.current_time()
        if len(self._entries) >= BUFFERED or not self._rates.try_take(caller.api_key_id, now):
            self._dropped.inc()
            return
        problem = call.problem
        path = _PARAMETER.sub(lambda found: call.params.get(found[1], found[0]), route.path)
        self._entries.append(
            FailedRequest(
                entry_id=new_id(self._clock()),
                tenant_id=caller.tenant_id,
                environment=caller.environment,
                api_key_id=caller.api_key_id,
                request_id=call.request_id,
                method=route.method,
                route=route.path,
                path=_storable(path[:_LONGEST]),
                status=status,
                duration_ms=round((now - began) * 1000),
                message=None if problem is None else _storable(problem.en[:_LONGEST]),
                message_es=None if problem is None else _storable(problem.es[:_LONGEST]),
                body=redact(call.content) if call.content and status < 500 else None,
            )
        )

    async def run(self) -> None:
        """Write every second, until cancelled."""
        while True:
            await trio.sleep(FLUSH_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Write the buffered rows. Rows that the database does not take are dropped and counted."""
        async with self._flushing:
            entries, self._entries = self._entries, []
            if not entries:
                return
            try:
                await self._db.run(request_log.keep, entries)
            except ANY_OF_THE_DATABASE as error:
                self._dropped.inc(len(entries))
                _log.warning("failed requests were not written to the request log", error=error, rows=len(entries))
            except trio.Cancelled:
                self._entries = entries + self._entries  # the flush at shutdown writes them; rows that are there stay
                raise


def redact(body: bytes) -> str:
    """Return the beginning of a body without the values of members that are named like secrets."""
    text = _USER.sub(rf"\1{_LEFT_OUT}@", body[:BODY_BYTES].decode("utf-8", "replace"))
    return _storable(_SECRET.sub(rf'\1"{_LEFT_OUT}"', text))


def _storable(text: str) -> str:
    """Replace what the database's text cannot hold."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
