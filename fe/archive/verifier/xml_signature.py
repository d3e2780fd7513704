"""Verify the signature of a document, to the profile of authority.md#signature: two digests and one RSA check."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from .certificates import Certificate, read_certificate
from .faults import Broken
from .keys import RsaKey
from .xml_tree import BLANKS, XmlElement, canonical, parse

DSIG = "http://www.w3.org/2000/09/xmldsig#"
_EXCLUSIVE = {
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315": False,
    "http://www.w3.org/2001/10/xml-exc-c14n#": True,
}
_ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"
_RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
_SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256"
_ROOTS = ("ECF", "RFCE", "ACECF", "ANECF", "ARECF")
_DROP_BLANKS = str.maketrans("", "", BLANKS)
MAX_CERTIFICATES = 8
MAX_CERTIFICATE = 16 * 1024


class SignatureRefused(ValueError):
    """A document whose signature does not hold; the text says why."""


@dataclass(frozen=True)
class VerifiedDocument:
    """A document whose signature holds."""

    root: XmlElement
    signer: Certificate


def verify(raw: bytes) -> VerifiedDocument:
    """Check a document's signature. Raises Broken for bytes that are no document, SignatureRefused for the rest."""
    root = parse(raw)
    if root.local not in _ROOTS or root.namespace or any(prefix == "xml" for prefix, _, _, _ in root.attributes):
        raise SignatureRefused("the root is not one of those that are signed")
    signature = _only_signature(root)
    info, value, key_info = _children(signature, "SignedInfo", "SignatureValue", "KeyInfo")
    exclusive, digest, digest_exclusive = _signed_info(info)
    candidates = _certificates(key_info)
    signature_value = _base64(value)
    if sha256(canonical(root, exclusive=digest_exclusive, without=signature)).digest() != digest:
        raise SignatureRefused("the content is not what was signed")
    data = canonical(info, exclusive=exclusive)
    for certificate, key in candidates:
        if key.verifies(signature_value, data):
            return VerifiedDocument(root, certificate)
    raise SignatureRefused("the signature was not made with the certificate's key")


def _only_signature(root: XmlElement) -> XmlElement:
    waiting, found = [root], []
    while waiting:
        for one in waiting.pop().elements:
            waiting.append(one)
            if (one.namespace, one.local) == (DSIG, "Signature"):
                found.append(one)
    if len(found) != 1 or root.content[-1] is not found[0] or found[0].attributes:
        raise SignatureRefused("there is not exactly one Signature, as the last child of the root")
    return found[0]


def _children(parent: XmlElement, *names: str) -> Sequence[XmlElement]:
    found = parent.elements
    if len(found) != len(parent.content) or [(one.namespace, one.local) for one in found] != [(DSIG, n) for n in names]:
        raise SignatureRefused("the Signature does not have its parts")
    return found


def _signed_info(info: XmlElement) -> tuple[bool, bytes, bool]:
    _plain(info)
    method, signing, reference = _children(info, "CanonicalizationMethod", "SignatureMethod", "Reference")
    if _algorithm(method) not in _EXCLUSIVE or _algorithm(signing) != _RSA_SHA256:
        raise SignatureRefused("the algorithms are not those of the profile")
    if [(prefix, local, value) for prefix, local, _, value in reference.attributes] != [("", "URI", "")]:
        raise SignatureRefused("the reference is not to the whole document")
    transforms, hashing, digest = _children(reference, "Transforms", "DigestMethod", "DigestValue")
    _plain(transforms)
    names = [_algorithm(one) for one in _children(transforms, *["Transform"] * len(transforms.elements))]
    is_known = names[:1] == [_ENVELOPED] and (len(names) == 1 or (len(names) == 2 and names[1] in _EXCLUSIVE))
    if _algorithm(hashing) != _SHA256 or not is_known:
        raise SignatureRefused("the transforms or the digest are not those of the profile")
    return _EXCLUSIVE[_algorithm(method)], _base64(digest), len(names) == 2 and _EXCLUSIVE[names[1]]


def _certificates(key_info: XmlElement) -> list[tuple[Certificate, RsaKey]]:
    listed = [
        one
        for data in key_info.elements
        if (data.namespace, data.local) == (DSIG, "X509Data")
        for one in data.elements
        if (one.namespace, one.local) == (DSIG, "X509Certificate")
    ]
    if not 1 <= len(listed) <= MAX_CERTIFICATES:
        raise SignatureRefused("there are no certificates, or too many")
    found = []
    for one in listed:
        try:
            raw = _base64(one)
            if len(raw) <= MAX_CERTIFICATE:
                certificate = read_certificate(raw)
                if isinstance(certificate.key, RsaKey):
                    found.append((certificate, certificate.key))
        except (SignatureRefused, Broken):
            continue
    if not found:
        raise SignatureRefused("no certificate can be read")
    return found


def _plain(element: XmlElement) -> None:
    if element.attributes:
        raise SignatureRefused("a part of the Signature has an attribute")


def _algorithm(element: XmlElement) -> str:
    if [(prefix, local) for prefix, local, _, _ in element.attributes] != [("", "Algorithm")] or element.content:
        raise SignatureRefused("an algorithm has parameters")
    return element.attributes[0][3]


def _base64(element: XmlElement) -> bytes:
    _plain(element)
    text = element.text.translate(_DROP_BLANKS)
    try:
        value = b64decode(text, validate=True)
    except ValueError:
        value = b""
    if element.elements or not value or b64encode(value).decode() != text:
        raise SignatureRefused("a base64 text is not well-formed")
    return value
