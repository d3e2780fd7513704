"""HTTP of an agent on loopback: receipts in, their state and paper out, and a page that people read."""

import hmac
import html
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from fe.ecf.parse import MAX_BYTES, MalformedJson, parse_json
from fe.ecf.texts import Language, Text
from fe.integrator.agent.agent import Agent
from fe.integrator.agent.refusals import SaleRefused

_TYPES = {"xml": "application/xml", "pdf": "application/pdf", "ticket": "application/octet-stream"}
_HOSTS = ("127.0.0.1", "localhost")
_NO_TOKEN = Text(
    "send Authorization: Bearer and the token of this agent (the file `token` of its folder)",
    "envíe Authorization: Bearer y el token de este agente (el archivo `token` de su carpeta)",
)
_NOT_HERE = Text("there is nothing here", "aquí no hay nada")
_NO_BODY = Text("send JSON of at most 1 MiB, with Content-Length", "envíe JSON de máximo 1 MiB, con Content-Length")
_LOOPBACK = Text("this address is for programs of this machine", "esta dirección es para programas de este equipo")


def serve(agent: Agent, port: int, token: str) -> ThreadingHTTPServer:
    """Bind the server; `serve_forever` runs it."""
    handler = type("_Bound", (_Handler,), {"agent": agent, "token": token})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    return server


class _Handler(BaseHTTPRequestHandler):
    agent: Agent
    token: str
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent: receipts are in the store."""

    @property
    def _language(self) -> Language:
        return "en" if self.headers.get("Accept-Language", "").startswith("en") else "es"

    def _answer(self, work: Any) -> None:
        try:
            # A page of the web may lead a browser here under a name of its own.
            if (self.headers.get("Host") or "").rpartition(":")[0] not in _HOSTS:
                raise SaleRefused(403, _LOOPBACK)
            work()
        except SaleRefused as refused:
            body: dict[str, Any] = {"message": refused.text.said(self._language), "statusCode": refused.status}
            if refused.problems:
                body["problems"] = refused.problems
            self._send_json(refused.status, body)

    def _require_token(self) -> None:
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
            self.close_connection = True  # its body is not read
            raise SaleRefused(401, _NO_TOKEN)

    def _post(self) -> None:
        self._require_token()
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BYTES:
            self.close_connection = True
            raise SaleRefused(413, _NO_BODY)
        raw = self.rfile.read(int(length))
        if urlsplit(self.path).path != "/invoices":
            raise SaleRefused(404, _NOT_HERE)
        try:
            body = parse_json(raw)
        except MalformedJson as wrong:
            raise SaleRefused(400, wrong.text) from None
        if not isinstance(body, dict):
            raise SaleRefused(400, _NO_BODY)
        receipt, is_new = self.agent.issue(body)
        self._send_json(202 if is_new else 200, {**self.agent.shown(receipt), "deduped": not is_new})

    def _get(self) -> None:
        parts = urlsplit(self.path)
        path = [unquote(one) for one in parts.path.split("/")[1:]]
        if path == [""]:
            self._send(200, "text/html; charset=utf-8", _page(self.agent.status(), self._language).encode())
            return
        self._require_token()
        if path == ["status"]:
            self._send_json(200, self.agent.status())
            return
        receipt = self.agent.store.find(path[1]) if len(path) in (2, 3) and path[0] == "invoices" else None
        if receipt is None or (len(path) == 3 and path[2] not in _TYPES):
            raise SaleRefused(404, _NOT_HERE)
        if len(path) == 2:
            self._send_json(200, self.agent.shown(receipt))
        elif path[2] == "xml" and receipt.is_signed:
            self._send(200, _TYPES["xml"], receipt.body)
        else:
            raster = parse_qs(parts.query).get("qr") == ["raster"]
            kind = "pdf" if path[2] == "xml" else path[2]  # of an unsigned one: raises
            self._send(200, _TYPES[kind], self.agent.print(receipt, kind, raster=raster))

    def _send_json(self, status: int, body: Any) -> None:
        self._send(status, "application/json", json.dumps(body, default=str, ensure_ascii=False).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)


_ROWS = (
    ("waiting", Text("waiting for the line", "esperan la línea")),
    ("handedOver", Text("handed over, without a verdict yet", "entregados, sin resultado todavía")),
    ("done", Text("accepted", "aceptados")),
    ("rejected", Text("rejected by the authority", "rechazados por la DGII")),
    ("refused", Text("refused by the service", "rechazados por el servicio")),
)
_ONLINE = Text("The line is up.", "Hay línea.")
_OFFLINE = Text("The line is down.", "No hay línea.")
_NUMBERS = Text("numbers left", "números disponibles")
_QUIET = Text("Nothing to see to.", "Nada que atender.")


def _page(status: dict[str, Any], language: Language) -> str:
    """The state for people: no amounts and no buyers, because it needs no token."""
    flags = [one["message" if language == "en" else "messageEs"] for one in status["flags"]] or [_QUIET.said(language)]
    rows = [(text.said(language), status[name]) for name, text in _ROWS] + [
        (f"{one['prefix']}: {_NUMBERS.said(language)}", max(0, one["last"] - one["next"] + 1))
        for one in status["ranges"]
    ]
    line = (_ONLINE if status["online"] else _OFFLINE).said(language)
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><meta http-equiv="refresh" content="10">'
        '<meta name="viewport" content="width=device-width">'
        "<style>body{font:16px/1.5 system-ui;margin:1.5rem;max-width:40rem}td{padding:.2rem 1rem .2rem 0}"
        "td+td{text-align:right}li{margin:.5rem 0}</style>"
        f"<title>{html.escape(status['name'])}</title><h1>{html.escape(status['name'])}</h1>"
        f"<p><strong>{line}</strong> {html.escape(status['environment'])}</p><ul>"
        + "".join(f"<li>{html.escape(one)}</li>" for one in flags)
        + "</ul><table>"
        + "".join(f"<tr><td>{html.escape(name)}</td><td>{value}</td></tr>" for name, value in rows)
        + "</table></html>"
    )
