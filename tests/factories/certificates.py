"""Certificates and .p12 files as Dominican certifiers issue them, and faulty ones."""

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from cryptography.hazmat.primitives.serialization import NoEncryption, PrivateFormat, pkcs12
from cryptography.x509.oid import NameOID

from fe.ecf.certificate import Credential

VALID_FROM = datetime(2024, 1, 1, tzinfo=UTC)
VALID_UNTIL = datetime(2044, 1, 1, tzinfo=UTC)
WITHIN = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)

HOLDER = "JUANA DE PRUEBA"
HOLDER_ID = "00112233445"
ISSUER = "CERTIFICADORA DE PRUEBA RAIZ"
PASSPHRASE = "contraseña de prueba"

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@cache
def rsa_key(name: str, bits: int = 2048) -> rsa.RSAPrivateKey:
    """A key that is made once in a test run for each `name`: making one takes a tenth of a second."""
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


def key_usage(
    *, digital_signature: bool = False, content_commitment: bool = False, key_cert_sign: bool = False
) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=content_commitment,
        key_encipherment=not key_cert_sign,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=key_cert_sign,
        encipher_only=False,
        decipher_only=False,
    )


SIGNS_DOCUMENTS = key_usage(digital_signature=True, content_commitment=True)
SIGNS_CERTIFICATES = key_usage(key_cert_sign=True)


def name(common_name: str, *, serial_number: str | None = None, organization: str | None = None) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COUNTRY_NAME, "DO")]
    if organization:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, common_name))
    if serial_number:
        attributes.append(x509.NameAttribute(NameOID.SERIAL_NUMBER, serial_number))
    return x509.Name(attributes)


@dataclass(frozen=True)
class Certifier:
    """An issuer of certificates: a root, or an authority below one."""

    key: rsa.RSAPrivateKey
    certificate: x509.Certificate

    def issue(
        self,
        subject: x509.Name,
        key: Key,
        *,
        not_before: datetime = VALID_FROM,
        not_after: datetime = VALID_UNTIL,
        is_ca: bool = False,
        usage: x509.KeyUsage | None = SIGNS_DOCUMENTS,
        more: Sequence[x509.ExtensionType] = (),
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(not_before)
            .not_valid_after(not_after)
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        )
        if usage is not None:
            builder = builder.add_extension(usage, critical=True)
        for extension in more:
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(self.key, SHA256())


def make_root(
    common_name: str = ISSUER,
    *,
    not_before: datetime = VALID_FROM,
    not_after: datetime = VALID_UNTIL,
    is_ca: bool = True,
    usage: x509.KeyUsage | None = SIGNS_CERTIFICATES,
) -> Certifier:
    key = rsa_key(common_name)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(common_name))
        .issuer_name(name(common_name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(not_before)
        .not_valid_after(not_after)
    )
    if is_ca:
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    if usage is not None:
        builder = builder.add_extension(usage, critical=True)
    return Certifier(key, builder.sign(key, SHA256()))


def make_intermediate(root: Certifier, common_name: str = "CERTIFICADORA DE PRUEBA EMISORA") -> Certifier:
    key = rsa_key(common_name)
    return Certifier(key, root.issue(name(common_name), key, is_ca=True, usage=SIGNS_CERTIFICATES))


@cache
def default_root() -> Certifier:
    return make_root()


def make_credential(
    holder: str = HOLDER,
    holder_id: str = HOLDER_ID,
    *,
    issuer: Certifier | None = None,
    key: rsa.RSAPrivateKey | None = None,
    not_before: datetime = VALID_FROM,
    not_after: datetime = VALID_UNTIL,
    usage: x509.KeyUsage | None = SIGNS_DOCUMENTS,
) -> Credential:
    """A natural person's certificate for tax procedures: subject serialNumber `IDCDO-` and the cédula."""
    key = key or rsa_key(holder)
    issuer = issuer or default_root()
    subject = name(holder, serial_number=f"IDCDO-{holder_id}")
    return Credential(key, issuer.issue(subject, key, not_before=not_before, not_after=not_after, usage=usage))


@cache
def default_credential() -> Credential:
    return make_credential()


def make_ec_pair() -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    return key, default_root().issue(name(HOLDER), key)


def make_unreadable() -> x509.Certificate:
    """A certificate that loads, has a key, and fails when its subject is asked for: the name is not UTF-8."""
    der = bytearray(default_credential().der)
    der[der.rindex(HOLDER.encode())] = 0xFF
    return x509.load_der_x509_certificate(bytes(der))


def make_bitwise(whose: str = HOLDER) -> x509.Certificate:
    """One that loads, has a key, and fails otherwise when this name is asked for: it is a string of bits."""
    said = whose.encode()
    text, bits = bytes([0x0C, len(said)]) + said, bytes([0x03, len(said), 0]) + said[1:]
    return x509.load_der_x509_certificate(default_credential().der.replace(text, bits, 1))


def der_of_another_version() -> bytes:
    """The usual certificate, saying that it is one of version 5, which there is not."""
    return default_credential().der.replace(b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x04", 1)


def p12_with(der: bytes) -> bytes:
    """A file without encryption that holds `der` where the usual certificate would be; as long as that."""
    usual = default_credential().der
    assert len(der) == len(usual)
    return _unencrypted_p12().replace(usual, der)


@cache
def _unencrypted_p12() -> bytes:
    credential = default_credential()
    return pkcs12.serialize_key_and_certificates(None, credential.key, credential.certificate, None, NoEncryption())


def p12_with_unreadable_certificate() -> bytes:
    """A file without encryption whose certificate is valid from a day that does not exist."""
    return p12_with(default_credential().der.replace(b"240101000000Z", b"249901000000Z"))


# --- .p12 files ---------------------------------------------------------------------------------------------------


def make_p12(
    key: Key | None,
    certificate: x509.Certificate | None,
    passphrase: str = PASSPHRASE,
    *,
    others: list[x509.Certificate] | None = None,
    rounds: int = 2_048,
) -> bytes:
    """A file as today's tools write it: AES-256, PBKDF2, SHA-256."""
    encryption = (
        PrivateFormat.PKCS12.encryption_builder()
        .kdf_rounds(rounds)
        .key_cert_algorithm(pkcs12.PBES.PBESv2SHA256AndAES256CBC)
        .hmac_hash(SHA256())
        .build(passphrase.encode())
    )
    return pkcs12.serialize_key_and_certificates(b"firma", key, certificate, others, encryption)


def make_two_pair_p12(*pairs: Credential) -> bytes:
    """A file with a pair for each use, as certifiers issue it; its parts are in the order of `pairs`."""
    files = [make_p12(each.key, each.certificate) for each in pairs]
    return p12_of(*(part for file in files for part in parts_of(file)))


def make_3des_p12(credential: Credential, passphrase: str = PASSPHRASE) -> bytes:
    """A file as Windows and Java wrote it for twenty years."""
    encryption = (
        PrivateFormat.PKCS12.encryption_builder()
        .kdf_rounds(2_000)
        .key_cert_algorithm(pkcs12.PBES.PBESv1SHA1And3KeyTripleDESCBC)
        .build(passphrase.encode())
    )
    return pkcs12.serialize_key_and_certificates(b"firma", credential.key, credential.certificate, None, encryption)


#: `openssl pkcs12 -export -legacy`: the certificate under RC2-40, the key under 3DES. `cryptography` reads that but
#: cannot write it. Subject CN=DEMO, serialNumber=IDCDO-00112233445; a throw-away key.
RC2_40_PASSPHRASE = "secreto"
RC2_40_P12 = b64decode(
    """
    MIIJeQIBAzCCCT8GCSqGSIb3DQEHAaCCCTAEggksMIIJKDCCA98GCSqGSIb3DQEHBqCCA9AwggPMAgEAMIIDxQYJKoZIhvcNAQcBMBwGCiqGSIb3
    DQEMAQYwDgQIWu9Fhy0VcjgCAggAgIIDmBxqLM/iO6kinOEm6VPCcRmo2h/h2tpms57r+N/2Jo5h5P/Pw166y9y6LhdA/XzuQsRRwtN6KcqEkEQl
    yjTipCOSpepOdthtif48ek3JPpm/xaJ3G1d32LSlDDXrM6OJXjl+mi7/2EcHdIbKdMdmq4z8m8KfF/IN+uy2yP8Bgn1SEnGWB/R2gazKbwEb8DW7
    +QPb5sG4z9CknzA2KNE92jXQZTF+fWrSiyMEgRbwGhz/UR24qZzMjOhkwhynlznZWRBQBxgzzfUJ05V62DsI1A1erANWlDNCAurmDbiDecr9JBia
    eVjdVrHQs5zOtuRvZalbmZOIiij9mf/+d+V0PbYywGo6TOusoiaJ7WczDMC9+2Tfq9jongjqyJRSUI+cDFMAgg3N3LnBYKJ21nLlhoLIx/MxWm5p
    fUVc21fw+rV63vMeKIWtotxxi1dieyb6L0buYpkHuHyPJzwPhiAlVYqQJHVqnb3fL/5XqU+DbDpmGSml+ESOLyRDkf+L/lFFUgaHKNRVZk/XmK4D
    +Q7a4X8/ZDJeZ0tNkLOJox0/2nedL2pn2fQZR//nRpD9zity6fUGbIzLgs61uMSbk7rBhoTfZzOV54Cn45EUWpHk6/+6v3l8pW9/n7ORw4lQFuL6
    rf3Ti6c3q3Nf5FyOzueu5HkzHwYawgWwjmusfSv+BuK40XyICSKFUbbZzky4t98hKuQUXyP5QnyvwxVBuam9XtNXK3g2W1p3FiktrMlEs4KLimyw
    /rDl8sp2gQ2u3qbCD87AyemUnjfCbPxxZmc+zvE71jhh0toJnAcTBCLFtMXNDQEfM1cDxR+C9O7GDnJiPyqHFeOrC5RGeLpHC5yR3+hcgMB1UKUo
    bUT6nN8uTJRzoW/PycTTqN6C8dPn3QwqnpnNBFyNagf4BnMFpK7fE6dW+hN8MaHkXaVfS5abp4S9SdV2G3qYAAWuwzHk+QSOGo7RTzgSkeADfiXC
    G4ig3CmOowhCdzORofwet1HmaOCvTt1nNYHjn5ySmpdk43CJrN8ohYVyxbDdYDm/Qu3Jl6oCW6i7skxtNR/vkwZ03wW7ri+KVfhECjduekVHML7y
    yuMmwWGOcHorUYvnEgkPl49MhvVdEcv/9DosmQSwS/FBD7G08oo6/rSSe2iMsbnmoNKEpATJJdcrBnHtD/2WgUMT+UuoMRVNun9LSSiHuD02c9Rw
    OQPC7+r9SIOG8hiitbiFzua9S5+fMIIFQQYJKoZIhvcNAQcBoIIFMgSCBS4wggUqMIIFJgYLKoZIhvcNAQwKAQKgggTuMIIE6jAcBgoqhkiG9w0B
    DAEDMA4ECB/zqGjVA8NjAgIIAASCBMjCWhdA90kOMISOIPJNCenslnDNmYbQ7SWAlVxy8PADjrMr8+v9RJf/0/g3vWs/IVNIFUuHrYN1/h7E9cOI
    Qfn4J0bjnzmo5kUepq4W2J1NdShy/0jad83odAFwxPtuZ4t3KOXksgfws3BRm1s+DD/LJQ9Pw50iJn5kLnvKiEVelNNADU29/W9CCPu45LSSuFHe
    Ugnch1LyvTSRsK0vfxg5wSL2+/8tuvDskQx0rMZoWrr/DbjZAly928ZiO8n+3MGhPkef7d4kVqhd+TUwuNgE2t0UGm1FLZOIJ1iWUrCvK7INzREQ
    lX8wePwrRUjdQ7jz2JQ86OoVOY1qX3kmDUIBlvl7/O0M7i2IgeHzvLsoVH1dRWK6aAoZKSw4vcC46+DHdjfPRpmvFrIj8ZT4PGMAN1BBw34khaWn
    qvgL0Q98wowhw9cXriQhi4+XForeOy6npZWzDMBj1WDF3OcfRo8HtR8/4slD+9dUXK4m0GP6yT5RZ2pd7Fqsi+nWLqTDHaZJORExjfS5VttZjf/H
    5i1qyjnuEOINAkRbcMMU0PxbvRNrUGYm02hOciZO7xPz3k+komMjVncPnxio/OycU84wfT0n3K8jMFWwprW7jviqsA1b9JTDiMXposqhDiDxVrax
    i6LeQiKeGEyjVjT4V3XxqKnWaOEwhib3engvvlfpWPjL3419Z8ciMqBqktihpljLKmp3qVg2ONuK4lHcryU2mUiPWGYLXAaYhi8yRdLGZ2n44utl
    mO7HomwV+cgPye4cOwtp8DrXxOv9n5rPYWlnilCR1whe+UMLDFvMM93qSMM6TaW+SeXDdlJFllh9Ckc5p1dPUtv6dAo5hjFx0vu+6NG6OrMiYEy5
    a0q2Azd6TpmvxFlAro+hqrj3uyHD3W8Z1lb4t1ypc5OYLxirjPSALWVhlDvYzj5fldUrDPntElfDI1tp20zLjW/blQ1BWoFgM9PiG/xTH/2LimID
    T4D4/OXnB5WK6RLxG8vXmaX+LHLhUMuvhhcsotTorvy+Yl3gd1F8oehgn9sJS1elCwo6raeEs3AwQC+sfsE1zAvsS1ImCpexDWOD9kijob5btD52
    AJmWmVVyomDTH12M8rScWlHUt87bmwYWLl+QU8xLSg0FcBVOnwgMZKSDX9EyHsdC48dCZpLFgCHKSc3xObT+JB8Wvhn6ZCtANfbz4JVtbD50aHFr
    ALQanAPUurYYaB+UEtxAp5bJghAv0sVfJtFx4DzM7RR/GYnSYGaZ3H4wpGLzE5EseR8ImxCneihl7avACsF5jQTpamEdmdOGfltvi3G4zVw5ctFx
    pw32RdsqrCkIzzfRp2wa/TTG0cEVFiv7oJJcbKq0bvUF0vgzY/Kws5pzSwgJXbh/sZ/yv94f9vFpmcfbepLycUsEf3549Bl6Gqpl1rQ5NDpHUlv1
    hr7fGr+dCJO3peT3y+hDOOszL3mrGMGYcXTWmaohBkiF/s57gitExuV1GdDxvFl83GCamOuE3NTsZQa15EsMRk76zqtvvP7gnV3jM2QlszY5lQwT
    X8U7PeAUtX6XGeitOnimE7adPedaqiIyS3/BOH7w131UKTm4XA7l9PcTyd6p3nZTbqk2QFL+9J7XVTCvMFd+GyFqU2AeHVQxJTAjBgkqhkiG9w0B
    CRUxFgQUoAAZrAZ5AaA1ueDNnYp7EGbvSwUwMTAhMAkGBSsOAwIaBQAEFFuNVwg9d2gWp0FqBucPULZerlTDBAju6U7Wcef9LwICCAA=
    """
)


# --- hostile .p12 files, written by hand --------------------------------------------------------------------------

_PKCS = "2a864886f70d01"


def der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(length)]) + length + content


def der_oid(suffix: str) -> bytes:
    return der(0x06, bytes.fromhex(_PKCS + suffix))


def der_integer(value: int) -> bytes:
    return der(0x02, value.to_bytes(value.bit_length() // 8 + 1))


def pbes2(iterations: int, *, kdf: str = "050c", salt: bytes = bytes(8), iv: bytes = bytes(16)) -> bytes:
    prf = der(0x30, der(0x06, bytes.fromhex("2a864886f70d0209")), der(0x05))  # hmacWithSHA256
    derivation = der(0x30, der_oid(kdf), der(0x30, der(0x04, salt), der_integer(iterations), prf))
    aes_256_cbc = der(0x30, der(0x06, bytes.fromhex("60864801650304012a")), der(0x04, iv))
    return der(0x30, der_oid("050d"), der(0x30, derivation, aes_256_cbc))


def pkcs12_pbe(iterations: int) -> bytes:
    return der(0x30, der_oid("0c0103"), der(0x30, der(0x04, bytes(8)), der_integer(iterations)))


def shrouded_key_bag(algorithm: bytes, ciphertext: bytes = bytes(1_232)) -> bytes:
    return der(0x30, der_oid("0c0a0102"), der(0xA0, der(0x30, algorithm, der(0x04, ciphertext))))


def plain_part(*bags: bytes) -> bytes:
    return der(0x30, der_oid("0701"), der(0xA0, der(0x04, der(0x30, *bags))))


def encrypted_part(algorithm: bytes, ciphertext: bytes = bytes(1_232)) -> bytes:
    content = der(0x30, der_oid("0701"), algorithm, der(0x80, ciphertext))
    return der(0x30, der_oid("0706"), der(0xA0, der(0x30, der_integer(0), content)))


def p12_of(*parts: bytes) -> bytes:
    return der(0x30, der_integer(3), plain_content(der(0x30, *parts)))


def plain_content(content: bytes) -> bytes:
    return der(0x30, der_oid("0701"), der(0xA0, der(0x04, content)))


def encrypt_cheaply(plaintext: bytes, passphrase: str = PASSPHRASE) -> bytes:
    """An encrypted part that takes one round to open and holds `plaintext`."""
    padding = 16 - len(plaintext) % 16
    key = PBKDF2HMAC(SHA256(), 32, bytes(8), 1).derive(passphrase.encode())
    encryptor = Cipher(AES(key), CBC(bytes(16))).encryptor()
    return encrypted_part(pbes2(1), encryptor.update(plaintext + bytes([padding]) * padding) + encryptor.finalize())


def parts_of(p12: bytes) -> list[bytes]:
    """The parts (ContentInfo) of a file, as they stand in it."""
    _version, content, *_mac = _members(p12)
    _oid, explicit = _members(content)
    return _members(_inside(_inside(explicit)))


def as_ber(p12: bytes) -> bytes:
    """The same file with lengths of the indefinite form and octets in segments, as Java libraries stream it."""
    version, content, *mac = _members(p12)
    oid, explicit = _members(content)
    octets = _inside(_inside(explicit))
    segments = b"".join(der(0x04, octets[at : at + 500]) for at in range(0, len(octets), 500))
    inside = indefinite(0xA0, indefinite(0x24, segments))
    return indefinite(0x30, version + indefinite(0x30, oid + inside) + b"".join(mac))


def indefinite(tag: int, content: bytes) -> bytes:
    return bytes([tag, 0x80]) + content + b"\0\0"


def _header(element: bytes) -> tuple[int, int]:
    length = element[1]
    if length < 0x80:
        return 2, length
    size = length & 0x7F
    return 2 + size, int.from_bytes(element[2 : 2 + size])


def _inside(element: bytes) -> bytes:
    header, length = _header(element)
    return element[header : header + length]


def _members(element: bytes) -> list[bytes]:
    rest, members = _inside(element), []
    while rest:
        header, length = _header(rest)
        members.append(rest[: header + length])
        rest = rest[header + length :]
    return members
