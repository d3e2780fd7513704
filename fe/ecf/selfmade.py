"""A self-made certificate, so that a demonstration or a test environment can sign before a certifier has issued one."""

from datetime import datetime
from hashlib import sha256

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat, PublicFormat, pkcs12
from cryptography.x509.oid import NameOID

from fe.ecf.certificate import Credential

#: Name in the certificate itself, so that it cannot be taken for one of a certification body.
ORGANIZATION = "DEMOSTRACION SIN VALOR FISCAL"


def self_made(
    key: RSAPrivateKey, *, holder: str, holder_id: str, not_before: datetime, not_after: datetime
) -> Credential:
    """A credential for `holder` that `key` certifies itself, shaped like a Dominican one for tax procedures.

    `holder_id` is a cédula of 11 digits; it becomes the subject's serialNumber `IDCDO-...`. The dates must have a zone.
    Same arguments, same certificate: its serial number comes from the key and the dates.
    """
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "DO"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANIZATION),
            x509.NameAttribute(NameOID.COMMON_NAME, holder),
            x509.NameAttribute(NameOID.SERIAL_NUMBER, f"IDCDO-{holder_id}"),
        ]
    )
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    seed = sha256(public + f"{not_before.isoformat()}/{not_after.isoformat()}".encode()).digest()
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=True,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(int.from_bytes(seed[:16]) | 1)
        .not_valid_before(not_before)
        .not_valid_after(not_after)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, SHA256())
    )
    return Credential(key, certificate)


def to_p12(credential: Credential, passphrase: str) -> bytes:
    """`credential` as the bytes of a .p12 file (AES-256) that `open_p12` opens. The salts in it are random."""
    encryption = (
        PrivateFormat.PKCS12.encryption_builder()
        .kdf_rounds(20_000)
        .key_cert_algorithm(pkcs12.PBES.PBESv2SHA256AndAES256CBC)
        .hmac_hash(SHA256())
        .build(passphrase.encode())
    )
    return pkcs12.serialize_key_and_certificates(
        credential.holder.encode(), credential.key, credential.certificate, None, encryption
    )
