"""`fe padron`: the register from a file and from a server that sends it in pieces."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryFile

import pytest

from fe.operations import register
from fe.operations.register import BadRegister, fetch
from tests.cli.running import Fe
from tests.factories.registers import LINES, zip_of


def test_register_is_loaded_and_asked(fe: Fe) -> None:
    (fe.folder / "DGII_RNC.zip").write_bytes(zip_of([*LINES, "x"]))
    nothing = fe.refused("padron", "show")
    loaded = fe("padron", "load", str(fe.folder / "DGII_RNC.zip"), "--by", "Ana", "--json")
    found = fe("padron", "show", "131-88065-7", "--json").json
    refused = fe.refused("padron", "load", str(fe.folder / "none.zip"))

    assert "no register is loaded" in nothing
    assert (loaded.json, "line 204 was left out: 1 columns" in loaded.err) == ({"rows": 203, "leftOut": 1}, True)
    assert (found["name"], found["status"]) == ("CLIENTE DE PRUEBA SRL", "ACTIVO")
    assert refused.endswith("the register in force stays")
    assert fe("padron", "show", "--json").json["rows"] == 203
    assert "has no 131880738" in fe.refused("padron", "show", "131880738")


@contextmanager
def served(content: bytes, *, ranges: bool = True, mark: str | None = "a") -> Iterator[str]:
    """Serve a file in pieces; `mark` None: another version each time."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            said = self.headers["Range"]
            asked.append(said)
            first, _, last = said.removeprefix("bytes=").partition("-")
            part = content[int(first) : int(last) + 1] if ranges else content
            self.send_response(206 if ranges else 200)
            self.send_header("ETag", mark or f"v{len(asked)}")
            if ranges:
                self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/DGII_RNC.zip"
        server.shutdown()


@pytest.mark.parametrize("ranges", [True, False])
def test_register_is_fetched_whole(ranges: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "PIECE", 100)
    content = zip_of(LINES)
    with served(content, ranges=ranges) as url, TemporaryFile() as made:
        fetch(url, made)
        made.seek(0)
        assert made.read() == content


@pytest.mark.parametrize(("limit", "mark", "said"), [(50, "a", "more than 50 bytes"), (10**6, None, "changed while")])
def test_server_that_sends_too_much_or_two_versions_is_refused(
    limit: int, mark: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(register, "PIECE", 100)
    monkeypatch.setattr(register, "MAX_ZIP", limit)
    with served(zip_of(LINES), mark=mark) as url, TemporaryFile() as made, pytest.raises(BadRegister, match=said):
        fetch(url, made)
