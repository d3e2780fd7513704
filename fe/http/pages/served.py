"""Pages as they are served: compressed and tagged once, then answered from memory.

Without a token, and the same for everyone: so caches may keep them (`Cache-Control`), and a client that has one asks
whether it still holds (`If-None-Match`).
"""

import gzip
import re
from dataclasses import dataclass
from hashlib import sha256

from fe.http.calls import ApiReply, Call

#: Seconds for which a cache need not ask. Most pages change only with a release.
FRESH = 300
#: A smaller body is not worth compressing.
_SMALLEST = 1000
_NOT_WANTED = re.compile(r"\s*q\s*=\s*0(\.0*)?\s*")
_TAG = re.compile(r'(?:W/)?"([^"]*)"|(\*)')


@dataclass(frozen=True, slots=True)
class ServedPage:
    """A page in memory: its bytes, the same compressed (empty: not worth it), its tag and its headers."""

    body: bytes
    compressed: bytes
    tag: str
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, body: bytes, *headers: tuple[str, str], vary: str = "", fresh: int = FRESH) -> "ServedPage":
        """Compress and tag a page. CPU work. `vary`: the request header by which another page would be answered.

        `fresh`: seconds for which a cache need not ask.
        """
        compressed = gzip.compress(body, 6, mtime=0) if len(body) >= _SMALLEST else b""
        varies = ", ".join(filter(None, (vary, "Accept-Encoding")))
        cached = (("Vary", varies), ("Cache-Control", f"public, max-age={fresh}"))
        return cls(body, compressed, sha256(body).hexdigest()[:24], (*headers, *cached))

    def answer(self, call: Call) -> ApiReply:
        """Answer with the page, or 304 where the client has it."""
        tagged = (*self.headers, ("ETag", f'W/"{self.tag}"'))
        if self.is_at(call.headers.get("if-none-match", "")):
            return ApiReply(304, b"", tagged)
        if self.takes(call.headers.get("accept-encoding", "")):
            return ApiReply(200, self.compressed, (*tagged, ("Content-Encoding", "gzip")))
        return ApiReply(200, self.body, tagged)

    def is_at(self, known: str) -> bool:
        """Return whether `If-None-Match` names this page."""
        return any(found[2] or found[1] == self.tag for found in _TAG.finditer(known))

    def takes(self, accepted: str) -> bool:
        """Return whether a client with this `Accept-Encoding` gets the compressed page."""
        for one in accepted.split(",") if self.compressed else ():
            name, _, weight = one.partition(";")
            if name.strip().lower() in ("gzip", "*"):
                return _NOT_WANTED.fullmatch(weight) is None
        return False
