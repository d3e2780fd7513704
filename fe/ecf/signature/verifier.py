"""Verify a signed document strictly, and hand out the very tree that was verified.

A general XMLDSig library does what a signature asks of it: fetch a file and call that "the document", follow an Id into
a copy, take an older hash. Here the signature is first held against the one shape that authority.md#signature allows;
what is left to do is then so little that it is done in the open: two canonicalisations, one SHA-256, one RSA check.
"""

from base64 import b64decode, b64encode
from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from lxml import etree

from fe.ecf.catalogue import Root
from fe.ecf.certificate import UNREADABLE, holder, holder_id
from fe.ecf.parse import MAX_BYTES, MAX_XML_ELEMENTS, parse_xml
from fe.ecf.signature import profile

#: Seeds are signed to the same profile as documents (authority.md#session).
SEED = "SemillaModel"
ROOTS = frozenset({*Root, SEED})

MIN_KEY_BITS = 2048
MAX_KEY_BITS = 8192

#: Bounds of a KeyInfo, because parsed certificates are cached: those of the country's certifiers have two kilobytes,
#: and a chain has three of them.
MAX_CERTIFICATE_BYTES = 16 * 1024
MAX_CERTIFICATES = 8

_IS_EXCLUSIVE = {profile.INCLUSIVE_C14N: False, profile.EXCLUSIVE_C14N: True}
_X509_DATA = f"{{{profile.NAMESPACE}}}X509Data"
_X509_CERTIFICATE = f"{{{profile.NAMESPACE}}}X509Certificate"
_BLANKS = str.maketrans("", "", " \t\r\n")


class Reason(StrEnum):
    """Why a signature is not accepted; stable, for programs and metrics."""

    ROOT = "root"
    NONE = "none"
    SEVERAL = "several"
    MISPLACED = "misplaced"
    SHAPE = "shape"
    REFERENCE = "reference"
    TRANSFORM = "transform"
    ALGORITHM = "algorithm"
    ENCODING = "encoding"
    KEY_INFO = "key-info"
    KEY = "key"
    DIGEST = "digest"
    SIGNATURE = "signature"


class BadSignature(ValueError):
    """A well-formed document whose signature cannot be accepted. `message` is fixed text, it repeats no input."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Verified:
    """Verified content of a signed document.

    `root` is the document without its Signature and without whitespace between elements: exactly the tree whose digest
    was signed. Read values from here, never again from the input. Whether `certificate` may be trusted is still open.
    """

    root: etree._Element
    certificate: x509.Certificate
    signature_value: str
    security_code: str


def verify(raw: bytes, *, max_bytes: int = MAX_BYTES, max_elements: int = MAX_XML_ELEMENTS) -> Verified:
    """Check that `raw` is a document signed by the certificate inside it, to the profile of authority.md#signature.

    Inclusive and exclusive C14N 1.0 are both accepted, as CanonicalizationMethod and as an optional second transform;
    the Signature may use a namespace prefix. KeyInfo is not signed, so it may hold more than the signer's certificate
    (its chain, a KeyValue, names): the certificate whose key verifies the signature counts, the rest is ignored.
    Nothing else of the profile may differ. The signature is checked without
    the whitespace between elements, so an indented document passes only if it was signed without its indentation.

    Says nothing about who the signer is: ask `fe.ecf.trust.check_certificate` and compare its holder.

    What was signed here may be larger than what strangers may send: its limits are MAX_SIGNED_BYTES and
    MAX_SIGNED_ELEMENTS.

    Raises MalformedXml for bytes that are no XML document we read, BadSignature for everything else.
    """
    return _verified(parse_xml(raw, max_bytes=max_bytes, max_elements=max_elements), ROOTS)


def verify_portal_file(raw: bytes) -> Verified:
    """Do the same for a file of the authority's portal, whose root may have any name."""
    root = parse_xml(raw)
    return _verified(root, frozenset({str(root.tag)}))


def _verified(root: etree._Element, roots: Collection[str]) -> Verified:
    signature = _only_signature(root, roots)
    signed_info, value, key_info = _children(signature, "SignedInfo", "SignatureValue", "KeyInfo")
    exclusive, expected_digest, reference_exclusive = _read_signed_info(signed_info)
    candidates = _read_key_info(key_info)
    signature_bytes, signature_value = _base64(value, Reason.SIGNATURE)

    # Whatever costs little has been looked at by now. A canonical form does work in proportion to the bytes, because of
    # what `parse_xml` lets pass of declarations and attributes.
    signed_bytes = _canonical(_as_apex(signed_info), exclusive=exclusive)
    root.remove(signature)
    if sha256(_canonical(root, exclusive=reference_exclusive)).digest() != expected_digest:
        raise BadSignature(Reason.DIGEST, "the content is not what was signed")
    certificate = _signing_certificate(candidates, signature_bytes, signed_bytes)
    return Verified(root, certificate, signature_value, profile.security_code(signature_value))


def _only_signature(root: etree._Element, roots: Collection[str]) -> etree._Element:
    if root.tag not in roots:
        raise BadSignature(Reason.ROOT, "the root element is none of those that are signed")
    if any(str(name).startswith(f"{{{profile.XML_NAMESPACE}}}") for name in root.attrib):
        raise BadSignature(Reason.ROOT, "the root element has an xml: attribute")
    signatures = list(root.iter(profile.SIGNATURE))
    if not signatures:
        raise BadSignature(Reason.NONE, "there is no Signature")
    if len(signatures) > 1:
        raise BadSignature(Reason.SEVERAL, "there is more than one Signature")
    (signature,) = signatures
    if signature.getparent() is not root or signature.getnext() is not None or signature.tail:
        raise BadSignature(Reason.MISPLACED, "the Signature is not the last child of the root")
    _no_attributes(signature)
    return signature


def _read_signed_info(signed_info: etree._Element) -> tuple[bool, bytes, bool]:
    """Whether SignedInfo is canonicalised exclusively, the digest it names, and whether that is over exclusive C14N."""
    _no_attributes(signed_info)
    canonicalization, method, reference = _children(
        signed_info, "CanonicalizationMethod", "SignatureMethod", "Reference"
    )
    exclusive = _IS_EXCLUSIVE.get(_algorithm(canonicalization))
    if exclusive is None:
        raise BadSignature(Reason.ALGORITHM, "the canonicalisation is neither inclusive nor exclusive C14N 1.0")
    if _algorithm(method) != profile.RSA_SHA256:
        raise BadSignature(Reason.ALGORITHM, "the signature method is not rsa-sha256")

    if reference.attrib.items() != [("URI", "")]:
        raise BadSignature(Reason.REFERENCE, 'the Reference is not to the whole document (URI="")')
    transforms, digest_method, digest_value = _children(reference, "Transforms", "DigestMethod", "DigestValue")
    _no_attributes(transforms)
    if _algorithm(digest_method) != profile.SHA256:
        raise BadSignature(Reason.ALGORITHM, "the digest method is not sha256")
    digest, _ = _base64(digest_value, Reason.DIGEST)
    return exclusive, digest, _read_transforms(transforms)


def _read_transforms(transforms: etree._Element) -> bool:
    names = _children(transforms, *["Transform"] * len(transforms))
    match [_algorithm(name) for name in names]:
        case [profile.ENVELOPED]:
            return False  # XMLDSig: without a C14N among the transforms, inclusive C14N 1.0 is applied
        case [profile.ENVELOPED, second] if second in _IS_EXCLUSIVE:
            return _IS_EXCLUSIVE[second]
    raise BadSignature(Reason.TRANSFORM, "the transforms are not the enveloped one and at most one C14N 1.0")


def _read_key_info(key_info: etree._Element) -> list[tuple[x509.Certificate, RSAPublicKey]]:
    """Return the certificates of a KeyInfo that can verify a signature; raise the first one's fault if none can."""
    elements = key_info.findall(f"{_X509_DATA}/{_X509_CERTIFICATE}")
    if not 1 <= len(elements) <= MAX_CERTIFICATES:
        raise BadSignature(Reason.KEY_INFO, f"the KeyInfo does not hold 1 to {MAX_CERTIFICATES} X509Certificate")
    usable: list[tuple[x509.Certificate, RSAPublicKey]] = []
    faults: list[BadSignature] = []
    for element in elements:
        try:
            der, _ = _base64(element, Reason.KEY_INFO)
            if len(der) > MAX_CERTIFICATE_BYTES:
                text = f"the X509Certificate is larger than {MAX_CERTIFICATE_BYTES} bytes"
                raise BadSignature(Reason.KEY_INFO, text)
            usable.append(_read_certificate(der))
        except BadSignature as fault:
            faults.append(fault)
    if not usable:
        raise faults[0]
    return usable


def _signing_certificate(
    candidates: list[tuple[x509.Certificate, RSAPublicKey]], signature: bytes, signed: bytes
) -> x509.Certificate:
    for certificate, key in candidates:
        try:
            key.verify(signature, signed, PKCS1v15(), SHA256())
        except InvalidSignature:
            continue
        return certificate
    raise BadSignature(Reason.SIGNATURE, "the signature was not made with the certificate's key")


@lru_cache(maxsize=256)  # a signer signs many documents with one certificate, and reading it costs four RSA checks
def _read_certificate(der: bytes) -> tuple[x509.Certificate, RSAPublicKey]:
    try:
        certificate = x509.load_der_x509_certificate(der)
        key = certificate.public_key()
        # Certificates are parsed lazily: parse here the fields that callers read later.
        _ = holder(certificate), holder_id(certificate), certificate.serial_number
    except UNREADABLE:
        raise BadSignature(Reason.KEY_INFO, "the X509Certificate cannot be read") from None
    if not isinstance(key, RSAPublicKey) or not MIN_KEY_BITS <= key.key_size <= MAX_KEY_BITS:
        raise BadSignature(Reason.KEY, f"the certificate's key is not RSA of {MIN_KEY_BITS} to {MAX_KEY_BITS} bits")
    return certificate, key


def _children(parent: etree._Element, *names: str) -> Sequence[etree._Element]:
    """The children of `parent`, which are exactly `names`, in that order, with no text among them."""
    children = list(parent)
    if [child.tag for child in children] != [f"{{{profile.NAMESPACE}}}{name}" for name in names]:
        raise BadSignature(Reason.SHAPE, "the Signature has a part too many, too few, or out of place")
    if parent.text or any(child.tail for child in children):
        raise BadSignature(Reason.SHAPE, "the Signature has text between its parts")
    return children


def _no_attributes(element: etree._Element) -> None:
    if len(element.attrib):
        raise BadSignature(Reason.SHAPE, "a part of the Signature has an attribute it may not have")


def _algorithm(element: etree._Element) -> str:
    """The Algorithm of a method or transform that takes no parameters."""
    if list(element.attrib) != ["Algorithm"] or len(element) or element.text:
        raise BadSignature(Reason.ALGORITHM, "an algorithm has parameters")
    return str(element.attrib["Algorithm"])


def _base64(element: etree._Element, reason: Reason) -> tuple[bytes, str]:
    """The bytes, and their base64 text without whitespace.

    Only the one canonical spelling passes: these texts are outside the signature, and the security code is cut from
    one of them.
    """
    _no_attributes(element)
    text = (element.text or "").translate(_BLANKS)
    try:
        value = b64decode(text, validate=True)
    except ValueError:
        value = b""
    if len(element) or not value or b64encode(value).decode("ascii") != text:
        raise BadSignature(Reason.ENCODING, f"the base64 of the {reason} is not well-formed")
    return value, text


def _as_apex(element: etree._Element) -> etree._Element:
    """A copy of `element`, which has no attributes, as a root that declares every namespace in scope where it stands.

    Not canonicalised in place, because lxml then gives `xmlns=""` to children whose namespace an ancestor declares.
    """
    in_scope: Any = element.nsmap  # the type stubs do not allow for the default namespace
    apex = etree.Element(element.tag, nsmap=in_scope)
    apex.extend(deepcopy(child) for child in element)
    return apex


def _canonical(element: etree._Element, *, exclusive: bool) -> bytes:
    try:
        return etree.tostring(element, method="c14n", exclusive=exclusive, with_comments=False)
    except etree.C14NError:
        raise BadSignature(Reason.SHAPE, "the document has no canonical form") from None
