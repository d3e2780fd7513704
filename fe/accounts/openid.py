"""OpenID Connect sign-in: code flow with PKCE, for any provider with discovery.

Authlib builds the requests, joserfc verifies tokens, the egress client sends. `fe.accounts.id_token` validates ID
tokens.
"""

import base64
import hmac
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
import trio
from authlib.oauth2.client import OAuth2Client
from authlib.oauth2.rfc6749.parameters import prepare_token_request

from fe.accounts.id_token import BadIdToken, Subject, UnknownSigner, read_id_token, read_keys
from fe.config import is_loopback
from fe.ecf.parse import parse_json
from fe.ecf.texts import LocalizedError, Text
from fe.egress.client import Egress, Request
from fe.egress.errors import EgressError
from fe.egress.target import CONFIGURED

#: For one question to the provider, and how much of its answer is read.
SECONDS: Final = 10.0
LARGEST: Final = 256 * 1024
#: Lifetime of the provider's metadata, and the shortest pause between fetches of missing keys.
_REMEMBERED: Final = 600.0
_SOONEST: Final = 15.0
#: Where it sends browsers back to, at ours.
CALLBACK: Final = "/sign-in/openid/answer"
_SCOPE: Final = "openid email profile"
_LONGEST_CODE: Final = 4096

_log = structlog.get_logger(__name__)


class ProviderAway(LocalizedError):
    """The provider cannot be asked, or nothing can be made of its answer."""

    def __init__(self, name: str) -> None:
        super().__init__(
            Text(
                f"{name} cannot be reached or does not answer as it should. Try again, or sign in with your password.",
                f"{name} no responde o no responde como debe. Intente de nuevo o inicie sesión con su contraseña.",
            )
        )


class ProviderRefused(LocalizedError):
    """The provider's answer does not prove an identity."""

    def __init__(self, name: str) -> None:
        super().__init__(
            Text(
                f"What {name} answered does not prove who you are. Begin again.",
                f"La respuesta de {name} no demuestra quién es usted. Comience de nuevo.",
            )
        )


@dataclass
class OpenId:
    """A provider that people may log in by. One for each process."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    #: How people call it.
    name: str
    #: Our address that it sends browsers back to.
    callback: str
    #: Key that nonces and verifiers are derived from, 32 bytes.
    key: bytes = field(repr=False)
    egress: Egress = field(default_factory=lambda: Egress(CONFIGURED), repr=False)
    _metadata: dict[str, Any] | None = field(default=None, repr=False)
    _keys: Any = field(default=None, repr=False)
    _asked_at: float = -_REMEMBERED
    _keys_at: float = -_REMEMBERED

    async def address(self, state: str, *, again: bool = False) -> str:
        """Return the address to redirect to. `again` forces a new sign-in there. Raises ProviderAway."""
        metadata = await self._discovered()
        more = {"prompt": "login", "max_age": "0"} if again else {}
        url, _ = self._client(metadata).create_authorization_url(
            metadata["authorization_endpoint"],
            state=state,
            code_verifier=self._derived("verifier", state),
            nonce=self._derived("nonce", state),
            **more,
        )
        return str(url)

    async def identify(self, code: str, state: str, issuer: str | None, now: datetime) -> Subject:
        """Exchange the browser's code for an identity. Raises ProviderAway or ProviderRefused.

        `issuer` comes from the answer (RFC 9207) and must be ours.
        """
        metadata = await self._discovered()
        is_said = metadata.get("authorization_response_iss_parameter_supported") is True
        if (issuer is not None or is_said) and issuer != self.issuer:
            raise self._refused("the answer is another issuer's")
        if not 0 < len(code) <= _LONGEST_CODE:
            raise self._refused("there is no code")
        token = await self._exchange(metadata, code, state)
        nonce = self._derived("nonce", state)
        try:
            try:
                return read_id_token(token, await self._signers(metadata), self.issuer, self.client_id, nonce, now)
            except UnknownSigner:
                keys = await self._signers(metadata, anew=True)
                return read_id_token(token, keys, self.issuer, self.client_id, nonce, now)
        except BadIdToken as error:
            raise self._refused(str(error)) from error

    async def _exchange(self, metadata: dict[str, Any], code: str, state: str) -> str:
        """Fetch the ID token for a code. Raises ProviderAway or ProviderRefused."""
        client = self._client(metadata)
        body = prepare_token_request(
            "authorization_code",
            code=code,
            redirect_uri=self.callback,
            code_verifier=self._derived("verifier", state),
        )
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        url, headers, body = client.client_auth(client.token_endpoint_auth_method).prepare(
            "POST", metadata["token_endpoint"], headers, body
        )
        status, answer = await self._ask("POST", url, headers, body)
        token = answer.get("id_token")
        if status != 200 or not isinstance(token, str):
            # The provider's error text goes only to the log, cut.
            raise self._refused(f"no ID token: {status} {str(answer.get('error'))[:60]!r}")
        return token

    def _client(self, metadata: dict[str, Any]) -> OAuth2Client:
        ways = metadata.get("token_endpoint_auth_methods_supported")
        offered = ways if isinstance(ways, list) else ["client_secret_basic"]
        way = "client_secret_post" if "client_secret_basic" not in offered else "client_secret_basic"
        return OAuth2Client(
            session=None,
            client_id=self.client_id,
            client_secret=self.client_secret,
            token_endpoint_auth_method=way if self.client_secret else "none",
            scope=_SCOPE,
            redirect_uri=self.callback,
            code_challenge_method="S256",
        )

    async def _discovered(self) -> dict[str, Any]:
        """Fetch and check the provider's metadata. Raises ProviderAway."""
        if self._metadata is not None and trio.current_time() - self._asked_at < _REMEMBERED:
            return self._metadata
        status, found = await self._ask("GET", f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        if status != 200 or found.get("issuer") != self.issuer:
            raise self._away(f"the discovery answers {status}, or is another issuer's")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not self._is_safe(found.get(name)):
                raise self._away(f"its {name} is no https:// address")
        self._metadata, self._asked_at = found, trio.current_time()
        return found

    async def _signers(self, metadata: dict[str, Any], *, anew: bool = False) -> Any:
        """The keys that the provider signs with. Raises ProviderAway."""
        age = trio.current_time() - self._keys_at
        if self._keys is None or age >= _REMEMBERED or (anew and age >= _SOONEST):
            status, found = await self._ask("GET", metadata["jwks_uri"])
            keys = read_keys(found) if status == 200 else None
            if keys is None:
                raise self._away(f"its keys cannot be read ({status})")
            self._keys, self._keys_at = keys, trio.current_time()
        return self._keys

    async def _ask(
        self, method: str, url: str, headers: dict[str, str] | None = None, body: str | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Ask the provider something; the answer is one JSON object. Raises ProviderAway."""
        asked = ({"Accept": "application/json"} | (headers or {})).items()
        request = Request(method, url, tuple(asked), (body or "").encode())
        try:
            answer = await self.egress.exchange(request, seconds=SECONDS, keep=LARGEST)
            if answer.is_cut:
                raise self._away("it answers without an end")
            found = parse_json(answer.body)
        except (EgressError, ValueError, RecursionError) as error:
            raise self._away(f"{type(error).__name__}: {error}"[:200]) from error
        if not isinstance(found, dict):
            raise self._away("it answers with something else than an object")
        return answer.status, found

    def _is_safe(self, url: Any) -> bool:
        """Whether an address may be used: https, or on this machine where the provider itself is."""
        try:
            parts = urlsplit(url) if isinstance(url, str) else None
            if parts is None or not parts.hostname or "@" in parts.netloc or parts.fragment:
                return False
        except ValueError:
            return False
        ours = urlsplit(self.issuer)
        return parts.scheme == "https" or (
            parts.scheme == "http" and ours.scheme == "http" and is_loopback(parts.hostname)
        )

    def _derived(self, what: str, state: str) -> str:
        """Derive the nonce or the verifier of a state from our key, so that nothing has to be stored."""
        made = hmac.new(self.key, f"openid {what} {state}".encode("utf-8", "replace"), "sha256").digest()
        return base64.urlsafe_b64encode(made).decode().rstrip("=")

    def _away(self, why: str) -> ProviderAway:
        _log.warning("the OpenID provider cannot be reached", issuer=self.issuer, reason=why)
        return ProviderAway(self.name)

    def _refused(self, why: str) -> ProviderRefused:
        _log.warning("the OpenID provider's answer was refused", issuer=self.issuer, reason=why)
        return ProviderRefused(self.name)
