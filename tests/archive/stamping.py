"""A time stamp authority of our own: tokens as RFC 3161 has them."""

from datetime import UTC, datetime
from functools import cache
from hashlib import sha256

from asn1crypto import algos, cms, core, tsp
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.factories import certificates as made

AT = datetime(2026, 11, 27, 4, 10, 5, tzinfo=UTC)
_USAGE = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]),)


@cache
def _key(curve: str | None) -> made.Key:
    if curve is None:
        return made.rsa_key("time stamps")
    return ec.generate_private_key(ec.SECP256R1() if curve == "P-256" else ec.SECP384R1())


def token(digest: bytes, curve: str | None = None, at: datetime = AT) -> bytes:
    """A token about a digest, signed with RSA or on a curve."""
    key = _key(curve)
    certificate = made.default_root().issue(made.name("SELLO DE PRUEBA"), key, more=_USAGE)
    signer = asn1_x509.Certificate.load(certificate.public_bytes(Encoding.DER))
    sha = algos.DigestAlgorithm({"algorithm": "sha256"})
    info = tsp.TSTInfo(
        {
            "version": "v1",
            "policy": "1.2.3.4",
            "message_imprint": {"hash_algorithm": sha, "hashed_message": digest},
            "serial_number": 7,
            "gen_time": at,
        }
    ).dump()
    attributes = cms.CMSAttributes(
        [
            cms.CMSAttribute({"type": "content_type", "values": ["tst_info"]}),
            cms.CMSAttribute({"type": "message_digest", "values": [sha256(info).digest()]}),
        ]
    )
    covered = attributes.dump()
    if isinstance(key, ec.EllipticCurvePrivateKey):
        signature, algorithm = key.sign(covered, ec.ECDSA(SHA256())), "sha256_ecdsa"
    else:
        signature, algorithm = key.sign(covered, PKCS1v15(), SHA256()), "rsassa_pkcs1v15"
    signed = cms.SignedData(
        {
            "version": "v3",
            "digest_algorithms": [sha],
            "encap_content_info": {"content_type": "tst_info", "content": core.ParsableOctetString(info)},
            "certificates": [signer],
            "signer_infos": [
                {
                    "version": "v1",
                    "sid": cms.IssuerAndSerialNumber({"issuer": signer.issuer, "serial_number": signer.serial_number}),
                    "digest_algorithm": sha,
                    "signed_attrs": attributes,
                    "signature_algorithm": {"algorithm": algorithm},
                    "signature": signature,
                }
            ],
        }
    )
    return bytes(cms.ContentInfo({"content_type": "signed_data", "content": signed}).dump())


def response(stamped: bytes) -> bytes:
    """A response that grants a token."""
    value = {"status": {"status": "granted"}, "time_stamp_token": cms.ContentInfo.load(stamped)}
    return bytes(tsp.TimeStampResp(value).dump())
