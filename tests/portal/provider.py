"""An OpenID Connect provider in a process of its own on a real socket; tests script its answers.

python -m tests.portal.provider

Its first line of output is its address. POST /control sets the next answer: `subject`, `email`, `email_verified`,
`name`, and `fault`, a way to answer wrongly. It checks the client's secret, the code, its redirect, and the verifier.
"""

import base64
import gzip
import json
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from tests.waiting import PATIENCE

CLIENT_ID = "fe-portal"
CLIENT_SECRET = "a secret of the tests"


@dataclass
class State:
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"}))
    other: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    told: dict[str, Any] = field(default_factory=lambda: {"subject": "s-1"})
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def fault(self) -> str:
        return str(self.told.get("fault", ""))


class Handler(BaseHTTPRequestHandler):
    state: State
    protocol_version = "HTTP/1.1"

    @property
    def issuer(self) -> str:
        return f"http://{self.headers['Host']}"

    def handle(self) -> None:
        """Serve a connection; that the other side leaves is its business."""
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Be silent."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.state.asked.append(parts.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match parts.path:
            case "/.well-known/openid-configuration":
                self._discovery()
            case "/keys":
                self._json({"keys": [self.state.key.as_dict(private=False), {"kty": "unheard of"}]})
            case "/authorize":
                self._authorize(query)
            case "/asked":
                self._json({"asked": self.state.asked, "codes": len(self.state.codes)})
            case _:
                self._json({}, 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.state.asked.append(self.path)
        if self.path == "/control":
            self.state.told = json.loads(body)
            if self.state.fault == "new key":
                self.state.key = RSAKey.generate_key(2048, {"kid": secrets.token_hex(4), "use": "sig"})
            self._json({})
        else:
            self._token({name: values[0] for name, values in parse_qs(body).items()})

    def _discovery(self) -> None:
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "authorization_response_iss_parameter_supported": True,
        }
        match self.state.fault:
            case "garbage":
                self._send(b"<html>{not json", 200, "text/html")
            case "endless":
                self._send(b'{"a": "' + b"x" * 400_000 + b'"}', 200, "application/json")
            case "deep":
                self._send(b"[" * 100_000, 200, "application/json")
            case "compressed":
                self._send(gzip.compress(json.dumps(found).encode()), 200, "application/json", ("gzip",))
            case "redirect":
                self._send(b"", 302, "text/html", (), f"{self.issuer}/elsewhere")
            case "another issuer":
                self._json(found | {"issuer": "https://evil.example"})
            case "plain endpoints":
                self._json(found | {"token_endpoint": "http://evil.example/token"})
            case "a list":
                self._json([found])
            case _:
                self._json(found)

    def _authorize(self, query: dict[str, str]) -> None:
        if query.get("client_id") != CLIENT_ID or query.get("code_challenge_method") != "S256":
            return self._json({"error": "invalid_request"}, 400)
        code = secrets.token_urlsafe(16)
        self.state.codes[code] = query
        answer = {"code": code, "state": query["state"], "iss": self.issuer}
        match self.state.fault:
            case "refused":
                answer = {"error": "access_denied", "state": query["state"]}
            case "other iss":
                answer["iss"] = "https://evil.example"
            case "no iss":
                del answer["iss"]
            case "tampered state":
                answer["state"] = f"{query['state'][:-2]}xx"
        return self._send(b"", 302, "text/html", (), f"{query['redirect_uri']}?{urlencode(answer)}")

    def _token(self, form: dict[str, str]) -> None:
        asked = self.state.codes.pop(form.get("code", ""), None)
        expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if self.headers.get("Authorization") != f"Basic {expected}":
            return self._json({"error": "invalid_client"}, 401)
        if (
            asked is None
            or form.get("redirect_uri") != asked["redirect_uri"]
            or create_s256_code_challenge(form.get("code_verifier", "")) != asked["code_challenge"]
        ):
            return self._json({"error": "invalid_grant"}, 400)
        answer = {"access_token": "not used", "token_type": "Bearer", "expires_in": 60}
        if self.state.fault != "no id token":
            answer["id_token"] = self._id_token(asked)
        return self._json(answer)

    def _id_token(self, asked: dict[str, str]) -> str:
        told, now = self.state.told, int(time.time())
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": told["subject"],
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "name": told.get("name", "Ana by Acme"),
        }
        if "email" in told:
            claims |= {"email": told["email"], "email_verified": told.get("email_verified", True)}
        if "max_age" in asked:
            claims["auth_time"] = now
        header, key = {"alg": "RS256", "kid": self.state.key.kid}, self.state.key
        match self.state.fault:
            case "wrong nonce":
                claims["nonce"] = "another"
            case "no nonce":
                del claims["nonce"]
            case "wrong aud":
                claims["aud"] = "somebody else"
            case "more aud":
                claims["aud"] = [CLIENT_ID, "somebody else"]
            case "other party":
                claims["azp"] = "somebody else"
            case "expired":
                claims["exp"] = now - 3600
            case "no exp":
                del claims["exp"]
            case "of the future":
                claims["iat"] = now + 3600
            case "wrong iss":
                claims["iss"] = "https://evil.example"
            case "no subject":
                del claims["sub"]
            case "old login":
                claims["auth_time"] = now - 7200
            case "other key":
                key = self.state.other
            case "none":
                parts = [{"alg": "none"}, claims]
                encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
                return ".".join([*encoded, ""])
            case "shared secret":
                return jwt.encode({"alg": "HS256", "kid": key.kid}, claims, OctKey.import_key(CLIENT_SECRET * 2))
            case "garbage token":
                return "x" * 100_000
        return jwt.encode(header, claims, key)

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), status, "application/json")

    def _send(self, body: bytes, status: int, kind: str, coding: tuple[str, ...] = (), to: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for one in coding:
            self.send_header("Content-Encoding", one)
        if to is not None:
            self.send_header("Location", to)
        self.end_headers()
        self.wfile.write(body)


@dataclass(frozen=True)
class Provider:
    """One that runs."""

    issuer: str
    process: "subprocess.Popen[str]"

    def script(self, **told: Any) -> None:
        """Say as whom it logs people in, and how it answers."""
        httpx.post(f"{self.issuer}/control", json=told, timeout=PATIENCE, trust_env=False).raise_for_status()

    def asked(self) -> list[str]:
        """The paths that it was asked for."""
        found = httpx.get(f"{self.issuer}/asked", timeout=PATIENCE, trust_env=False).json()["asked"]
        return [path for path in found if path not in ("/asked", "/control")]

    def stop(self) -> None:
        """End its process."""
        self.process.kill()
        self.process.wait()


@contextmanager
def running_provider() -> Iterator[Provider]:
    """Run it in a process of its own."""
    command = [sys.executable, "-m", "tests.portal.provider"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Provider(process.stdout.readline().strip(), process)
        finally:
            process.kill()


def main() -> None:
    """Serve until killed."""
    handler = type("Bound", (Handler,), {"state": State()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever).start()


if __name__ == "__main__":
    main()
