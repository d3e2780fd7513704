"""A time stamp authority by `openssl ts`, over loopback HTTP."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

_CONFIG = """
[tsa]
default_tsa = mine
[mine]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
certs = {folder}/tsa.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ordering = yes
ess_cert_id_chain = no
"""


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@contextmanager
def time_stamp_authority(folder: Path) -> Iterator[str]:
    """Serve stamps; yield the address."""
    config = folder / "tsa.cnf"
    config.write_text(_CONFIG.format(folder=folder))
    (folder / "serial").write_text("01")
    _openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(folder / "tsa.key"), "-out",
        str(folder / "tsa.pem"), "-days", "9", "-subj", "/CN=Sellos de prueba", "-addext",
        "extendedKeyUsage=critical,timeStamping",
    )  # fmt: skip

    class Stamps(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name is http.server's
            (folder / "request").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            _openssl(
                "ts", "-reply", "-config", str(config), "-section", "mine", "-queryfile", str(folder / "request"),
                "-out", str(folder / "reply"),
            )  # fmt: skip
            body = (folder / "reply").read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Stamps)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tsa"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
