"""An S3 server (moto) as a process, with a bucket that locks its objects, and that lies when it is told to.

`python tests/archiving/bucket.py` prints its port. `POST /-lie/KIND` begins a lie, `POST /-lie/none` ends it.
"""

import io
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

Start = Callable[..., Any]

#: `half`: an upload is cut and reported as stored. `other`: an answer has other bytes. `old`: lists are empty.
#: `denied`: the credentials have ended. `midway`: they end after one upload. `away`: the service is overloaded.
LIES = ("none", "half", "other", "old", "denied", "midway", "away")
_FAILURES = {"denied": ("403 Forbidden", "ExpiredToken"), "away": ("503 Service Unavailable", "SlowDown")}


class Bucket:
    """The WSGI application: moto behind the lie of the moment."""

    def __init__(self) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._lie = "none"
        self._uploads = 0

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path.startswith("/-lie/"):
            self._lie, self._uploads = path.removeprefix("/-lie/"), 0
            assert self._lie in LIES
            start("200 OK", [])
            return [b""]
        if "HTTP_X_AMZ_CHECKSUM_SHA256" in environ:
            # S3 takes any x-amz-checksum- header for a locked bucket, moto only this one or Content-MD5.
            environ["HTTP_X_AMZ_SDK_CHECKSUM_ALGORITHM"] = "SHA256"
        self._uploads += method == "PUT"
        ended = "denied" if self._lie == "midway" and self._uploads > 1 else self._lie
        if ended in _FAILURES:
            status, code = _FAILURES[ended]
            start(status, [("Content-Type", "application/xml")])
            return [f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()]
        if self._lie == "half" and method == "PUT":
            body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            environ["wsgi.input"] = io.BytesIO(body[: len(body) // 2])
            environ["CONTENT_LENGTH"] = str(len(body) // 2)
        is_object = path.rstrip("/").count("/") > 1
        if self._lie == "old" and method == "GET" and not is_object:
            start("200 OK", [("Content-Type", "application/xml")])
            return [b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"]
        answer: Iterable[bytes] = self._moto(environ, start)
        if self._lie == "other" and method == "GET" and is_object:
            return [bytes(len(b"".join(answer)))]
        return answer


def main() -> None:
    """Serve until killed."""
    server = make_server("127.0.0.1", 0, Bucket(), threaded=True)
    json.dump(server.server_port, sys.stdout)
    sys.stdout.write("\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
