"""Digital certificates as values: what is in a .p12 file, and who its holder is."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, load_der_private_key, pkcs12
from cryptography.x509.oid import NameOID

from fe.ecf import p12_cost
from fe.ecf.texts import Text

MAX_BYTES = 64 * 1024
MIN_KEY_BITS = 2048
MAX_KEY_BITS = 4096

#: Everything with which cryptography says that a certificate is not as X.509 would have it. A certificate is read piece
#: by piece, so any of them may come from any property; the x509 ones are no ValueErrors. A name made of bits is a
#: TypeError.
UNREADABLE: tuple[type[Exception], ...] = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    x509.InvalidVersion,
    x509.DuplicateExtension,
    x509.UnsupportedGeneralNameType,
)

_NO_PAIR = Text(
    "loaded .p12 did not yield a key and certificate pair", "el .p12 cargado no dio un par de clave y certificado"
)

#: Prefixes of an identifier: `IDCDO-00112233445` (EN 319 412-1: identity card, DO), `RNC 131880738`.
_KIND = re.compile(r"(?:[A-Z]{3}DO-|RNC[ :-]?)\s*")


class CertificateError(ValueError):
    """A .p12 that cannot be used for signing. Permanent: trying again without a change fails again.

    `message` and `message_es` tell the tenant what to do. `contract` is what interface.md#failures promises that
    `response.error` says. None of them holds anything of the file or the passphrase.
    """

    contract: ClassVar[Text] = _NO_PAIR
    message: ClassVar[str] = "The .p12 file cannot be used."
    message_es: ClassVar[str] = "El archivo .p12 no se puede usar."

    def __init__(self) -> None:
        super().__init__(self.message)

    @property
    def failure(self) -> Text:
        """Error that a submission ends with when its certificate cannot sign: the contract's text, and the remedy."""
        return Text(f"{self.contract.en}: {self.message}", f"{self.contract.es}: {self.message_es}")


class PassphraseMissing(CertificateError):
    """There is no passphrase. An empty one counts as none: it would protect nothing."""

    contract = Text(
        "tenant is missing the certificate passphrase setting", "falta configurar la contraseña del certificado"
    )
    message = "The passphrase of the .p12 file is missing: enter the one it was exported with."
    message_es = "Falta la contraseña del archivo .p12: escriba la que se usó al exportarlo."


class CertificateTooLarge(CertificateError):
    """More than MAX_BYTES."""

    message = "The file is larger than 64 KiB: upload the .p12 with the signing certificate only."
    message_es = "El archivo pasa de 64 KiB: suba el .p12 que contiene solo el certificado de firma."


class NotAP12(CertificateError):
    """Not the structure of a PKCS#12 file: empty, cut off, or another format (PEM, .cer, .pdf)."""

    message = "The file is not a .p12 (PKCS#12) file, or it is damaged: upload the file your certifier issued."
    message_es = (
        "El archivo no es un .p12 (PKCS#12) o está dañado: suba el archivo que emitió su entidad de certificación."
    )


class TooCostly(CertificateError):
    """Opening it would take an absurd amount of computing: see fe.ecf.p12_cost."""

    message = "The .p12 file asks for an absurd amount of computing to open: export it again with ordinary settings."
    message_es = "Abrir el .p12 exige demasiado cómputo: expórtelo de nuevo con los ajustes habituales."


class UnsupportedProtection(CertificateError):
    """Encrypted in a way that is not supported."""

    message = "The .p12 file is protected in an unsupported way: export it again with a passphrase and AES-256 or 3DES."
    message_es = "El .p12 usa una protección no admitida: expórtelo de nuevo con contraseña y AES-256 o 3DES."


class WrongPassphrase(CertificateError):
    """The passphrase does not open it. Damage within the encrypted parts looks the same."""

    message = "The passphrase does not open the .p12 file: check it, capitals included, and enter it again."
    message_es = "La contraseña no abre el archivo .p12: revísela, también las mayúsculas, y escríbala de nuevo."


class NoKeyPair(CertificateError):
    """It lacks the private key or the certificate."""

    message = "The .p12 file does not hold both a private key and its certificate: export it again with both."
    message_es = "El .p12 no contiene la clave privada y su certificado: expórtelo de nuevo con ambos."


class KeyMismatch(CertificateError):
    """None of its certificates belongs to its private key."""

    message = "The private key in the .p12 file does not belong to its certificate: export the matching pair."
    message_es = "La clave privada del .p12 no corresponde al certificado: exporte el par correcto."


class UnsupportedKey(CertificateError):
    """A key other than RSA of MIN_KEY_BITS to MAX_KEY_BITS bits. The profile signs with RSA.

    See authority.md#signature.
    """

    message = "The key in the .p12 file is not RSA of 2048 to 4096 bits: ask your certifier for one that is."
    message_es = "La clave del .p12 no es RSA de 2048 a 4096 bits: solicite una así a su entidad de certificación."


class UnreadableCertificate(CertificateError):
    """Its certificate breaks the rules of X.509 so far that holder, issuer or validity cannot be read."""

    message = "The certificate in the .p12 file cannot be read: ask your certifier to issue it again."
    message_es = (
        "El certificado del .p12 no se puede leer: solicite a su entidad de certificación que lo emita de nuevo."
    )


@dataclass(frozen=True, slots=True)
class Credential:
    """A private key with its certificate. Holds the key in memory: keep it no longer than it is used."""

    key: RSAPrivateKey
    certificate: x509.Certificate

    @property
    def holder(self) -> str:
        """The holder's name: the subject's common name, or the whole subject when it has none."""
        return holder(self.certificate)

    @property
    def holder_id(self) -> str | None:
        """The holder's cédula, RNC or passport number: see `holder_id`."""
        return holder_id(self.certificate)

    @property
    def serial(self) -> str:
        """The certificate's serial number in lower-case hexadecimal."""
        return f"{self.certificate.serial_number:x}"

    @property
    def not_before(self) -> datetime:
        """From when it is valid (UTC)."""
        return self.certificate.not_valid_before_utc

    @property
    def not_after(self) -> datetime:
        """Until when it is valid (UTC)."""
        return self.certificate.not_valid_after_utc

    @property
    def der(self) -> bytes:
        """The certificate as it stands in a signature, before base64."""
        return self.certificate.public_bytes(Encoding.DER)


def holder(certificate: x509.Certificate) -> str:
    """The subject's common name, or the whole subject when it has none."""
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[0].value) if names else certificate.subject.rfc4514_string()


def holder_id(certificate: x509.Certificate) -> str | None:
    """The identifier in the subject's serialNumber without its kind: `00112233445` for `IDCDO-00112233445`.

    None when there is none. It names a person, who need not be the issuer of a document (authority.md#certificate):
    never compare it with RNCEmisor to refuse one of our own.
    """
    numbers = certificate.subject.get_attributes_for_oid(NameOID.SERIAL_NUMBER)
    return _KIND.sub("", str(numbers[0].value), count=1).strip() or None if numbers else None


def open_p12(data: bytes, passphrase: str | None) -> Credential:
    """Open a .p12 file, old ciphers (RC2-40, 3DES) included. Raises a CertificateError, one kind for each cause.

    Bounded: nothing is derived from the passphrase before the file's size, its key's size and the rounds it asks for
    are known to be in reason (fe.ecf.p12_cost), so no separate process is needed to stop it. A usual file takes 40 ms,
    nearly all of it the check of the key; the worst that is let through took half a second. Whether the certificate is
    valid in time is not checked here.
    """
    if not passphrase:
        raise PassphraseMissing
    if len(data) > MAX_BYTES:
        raise CertificateTooLarge
    try:
        bounded = p12_cost.bound(data)
    except p12_cost.NotPkcs12:
        raise NotAP12 from None
    except p12_cost.Costly:
        raise TooCostly from None
    except p12_cost.Unsupported:
        raise UnsupportedProtection from None
    if not bounded.has_key:
        raise NoKeyPair
    if "\0" in passphrase:  # OpenSSL would read no further
        raise WrongPassphrase
    try:
        opened = pkcs12.load_pkcs12(bounded.data, passphrase.encode())
    except UnsupportedAlgorithm:
        raise UnsupportedKey from None
    except (x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        raise UnreadableCertificate from None
    except UnicodeEncodeError:  # a lone surrogate is in no passphrase
        raise WrongPassphrase from None
    except ValueError as wrong:  # only its text tells a wrong passphrase from a bad certificate
        raise (WrongPassphrase if "password" in str(wrong) else UnreadableCertificate) from None
    return _pair(opened, p12_cost.encrypted_keys(bounded.data)[1:], passphrase)


def is_for_signing(certificate: x509.Certificate) -> bool:
    """Whether its KeyUsage allows signing documents (digitalSignature or nonRepudiation); true where it names none."""
    usage = key_usage(certificate)
    return usage is None or usage.digital_signature or usage.content_commitment


def key_usage(certificate: x509.Certificate) -> x509.KeyUsage | None:
    """Return its KeyUsage extension; None where it has none. Raises one of UNREADABLE for a broken one."""
    try:
        return certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return None


def _pair(opened: pkcs12.PKCS12KeyAndCertificates, more_keys: list[bytes], passphrase: str) -> Credential:
    """Choose the pair that signs: certifiers put an encryption pair into the same file, in either order."""
    if opened.key is None:
        raise NoKeyPair
    found = [opened.key, *(_private_key(each, passphrase) for each in more_keys)]
    keys = [each for each in found if isinstance(each, RSAPrivateKey) and MIN_KEY_BITS <= each.key_size <= MAX_KEY_BITS]
    if not keys:
        raise UnsupportedKey
    certificates = [each.certificate for each in (opened.cert, *opened.additional_certs) if each is not None]
    if not certificates:
        raise NoKeyPair
    pairs: list[Credential] = []
    is_unreadable = False
    for certificate in certificates:
        try:
            public_key = certificate.public_key()
            pairs += [Credential(key, certificate) for key in keys if key.public_key() == public_key]
        except UNREADABLE:
            is_unreadable = True
    if not pairs:
        raise UnreadableCertificate if is_unreadable else KeyMismatch
    try:
        chosen = next((each for each in pairs if is_for_signing(each.certificate)), pairs[0])
        # Certificates are parsed lazily: parse here the fields that callers read later.
        _ = chosen.holder, chosen.holder_id, chosen.serial, chosen.not_before, chosen.not_after
        _ = chosen.certificate.issuer
    except UNREADABLE:
        raise UnreadableCertificate from None
    return chosen


def _private_key(encrypted: bytes, passphrase: str) -> object:
    try:
        return load_der_private_key(encrypted, passphrase.encode())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None  # the pair of the first key may do
