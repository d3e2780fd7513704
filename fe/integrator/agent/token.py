"""The key of a till in a token (PKCS #11), which signs there and never leaves it."""

from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, unquote

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256

from fe.ecf.certificate import Credential
from fe.integrator.agent import refusals
from fe.integrator.agent.refusals import SaleRefused


class TokenKey:
    """A private key that a PKCS #11 URI (RFC 7512) names by `token`, `object` and `module-path`."""

    def __init__(self, uri: str, pin: str) -> None:
        path, _, query = uri.removeprefix("pkcs11:").partition("?")
        parts = {name: unquote(value) for name, _, value in (one.partition("=") for one in path.split(";"))}
        module = parse_qs(query).get("module-path", [""])[0]
        if not uri.startswith("pkcs11:") or not module or not {"token", "object"} <= set(parts):
            raise SaleRefused(503, refusals.TOKEN_NAME)
        self._module, self._token, self._object, self._pin = module, parts["token"], parts["object"], pin
        self._key: Any = None

    def sign(self, data: bytes, _padding: object, _hash: object) -> bytes:
        """Sign as RSAPrivateKey.sign with PKCS1v15 and SHA-256. Raises SaleRefused; the next call opens it again."""
        try:
            import pkcs11  # here: an extra that few installations have
        except ImportError:
            raise SaleRefused(503, refusals.TOKEN_AWAY.fill(why="pip install 'fe[pkcs11]'")) from None
        try:
            if self._key is None:
                session = pkcs11.lib(self._module).get_token(token_label=self._token).open(user_pin=self._pin)
                self._key = session.get_key(object_class=pkcs11.ObjectClass.PRIVATE_KEY, label=self._object)
            return bytes(self._key.sign(data, mechanism=pkcs11.Mechanism.SHA256_RSA_PKCS))
        except (pkcs11.exceptions.PKCS11Error, RuntimeError) as error:  # RuntimeError: the library is not there
            self._key = None
            raise SaleRefused(503, refusals.TOKEN_AWAY.fill(why=str(error) or type(error).__name__)) from error


def open_token(certificate: Path, uri: str, pin: str) -> Credential:
    """Open a certificate file (PEM) whose key is in a token. Raises SaleRefused, also where they do not belong."""
    found = x509.load_pem_x509_certificate(certificate.read_bytes())
    key = TokenKey(uri, pin)
    public = found.public_key()
    if not isinstance(public, RSAPublicKey):
        raise SaleRefused(503, refusals.TOKEN_OTHER.fill(file=certificate))
    try:
        public.verify(key.sign(b"fe agent", None, None), b"fe agent", PKCS1v15(), SHA256())
    except InvalidSignature:
        raise SaleRefused(503, refusals.TOKEN_OTHER.fill(file=certificate)) from None
    return Credential(cast(RSAPrivateKey, key), found)  # a signer of documents uses `sign` alone
