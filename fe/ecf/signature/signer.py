"""Sign a document to the profile of authority.md#signature.

The bytes are joined, not serialised. The sent document is the canonical form that was digested, with the Signature
inserted before the last end tag, and three characters written as references, which do not change the digest. So no
serialiser works between signing and sending. The only work besides two hashes and the RSA operation is one
canonicalisation. Both release the interpreter lock.
"""

import re
from base64 import b64encode
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from lxml import etree

from fe.ecf.certificate import Credential
from fe.ecf.signature import profile

_DECLARATION = b'<?xml version="1.0" encoding="utf-8"?>'
_DSIG = profile.NAMESPACE.encode()
_SIGNED_INFO = (
    f'><CanonicalizationMethod Algorithm="{profile.INCLUSIVE_C14N}"></CanonicalizationMethod>'
    f'<SignatureMethod Algorithm="{profile.RSA_SHA256}"></SignatureMethod>'
    f'<Reference URI=""><Transforms><Transform Algorithm="{profile.ENVELOPED}"></Transform></Transforms>'
    f'<DigestMethod Algorithm="{profile.SHA256}"></DigestMethod>'
    "<DigestValue>%b</DigestValue></Reference></SignedInfo>"
).encode()

#: A whitespace-only text node in canonical bytes. Exact, because there every other `<` and, in text, every other `>`
#: is written as a reference, and a carriage return as this one.
_BLANK = re.compile(rb">(?:[ \t\n]|&#xD;)+<")

#: The authority takes these signs as numeric references; the canonical form, which is digested, has the characters.
_REFERENCES = tuple((sign.encode(), f"&#{ord(sign)};".encode()) for sign in "\u00a9\u00ae\u20ac")

_PADDING = PKCS1v15()
_HASH = SHA256()


class NotSignable(ValueError):
    """The tree holds what no document of the profile may hold, so no signature over it would be accepted."""


@dataclass(frozen=True, slots=True)
class SignedXml:
    """A signed document. `xml` is what is stored, sent and served: it must never be parsed and written again."""

    xml: bytes
    signature_value: str
    security_code: str


@dataclass(frozen=True, slots=True)
class Canonical:
    """The digested form of a document that is to be signed, made without a key; it may be made in another process.

    `declarations` are those that a canonical SignedInfo takes over from the root.
    """

    content: bytes
    declarations: bytes

    @classmethod
    def of(cls, root: etree._Element) -> "Canonical":
        """Make it. `root` is not changed. Raises NotSignable; see `Signer.sign`."""
        if root.getparent() is not None:
            root = deepcopy(root)  # lxml canonicalises only whole documents reliably
        content = _BLANK.sub(b"><", _canonical(root))
        return cls(content, _inherited_declarations(root))

    @classmethod
    def of_plain(cls, text: str) -> "Canonical":
        """Take it from the text of a document that is its own canonical form (`build.Written.is_plain`)."""
        return cls(text.encode(), b"")


class Signer:
    """Signs any number of documents with one credential; made once, because preparing a key costs many signatures.

    One instance may be used by many threads at once, each with a tree of its own.
    """

    def __init__(self, credential: Credential) -> None:
        self._key = credential.key
        self._key_info = (
            b"<KeyInfo><X509Data><X509Certificate>%b</X509Certificate></X509Data></KeyInfo></Signature>"
            % b64encode(credential.der)
        )

    def sign(self, root: etree._Element) -> SignedXml:
        """Sign `root` and return the finished bytes: UTF-8, with declaration, compact, Signature last.

        `root` is not changed. A Signature that it already has as a child is replaced. Text nodes of whitespace alone
        are left out, because the authority drops them before it verifies. Set FechaHoraFirma before.

        Raises NotSignable for a comment, processing instruction or entity anywhere, a Signature that is not a child of
        the root, an `xml:` attribute on the root, or a namespace that has no canonical form. Nodes beside the root,
        such as comments, are left out.
        """
        return self.sign_canonical(Canonical.of(root))

    def sign_canonical(self, canonical: Canonical) -> SignedXml:
        """Sign what was made of a document before, by `Canonical.of`."""
        content = canonical.content
        digest = b64encode(sha256(content).digest())
        signed_info = _SIGNED_INFO % digest
        in_scope = b'<SignedInfo xmlns="%b"%b' % (_DSIG, canonical.declarations)
        value = b64encode(self._key.sign(in_scope + signed_info, _PADDING, _HASH))
        end = content.rindex(b"</")
        xml = b"".join(
            (
                _DECLARATION,
                content[:end],
                b'<Signature xmlns="%b"><SignedInfo' % _DSIG,
                signed_info,
                b"<SignatureValue>",
                value,
                b"</SignatureValue>",
                self._key_info,
                content[end:],
            )
        )
        for sign, reference in _REFERENCES:
            if sign in content:
                xml = xml.replace(sign, reference)
        text = value.decode("ascii")
        return SignedXml(xml, text, profile.security_code(text))


def _canonical(root: etree._Element) -> bytes:
    """The canonical form of `root` without its signature."""
    if next(root.iter(etree.Comment, etree.ProcessingInstruction, etree.Entity), None) is not None:
        raise NotSignable("a comment, processing instruction or entity cannot be signed")
    try:
        content = etree.tostring(root, method="c14n")
        if b" xmlns" in content:  # no e-CF has it, unless it comes signed
            _refuse_unwritable_namespaces(root)
            content = etree.tostring(_without_signature(root), method="c14n")
    except etree.C14NError as wrong:
        raise NotSignable("the document has no canonical form") from wrong
    return content


def _without_signature(root: etree._Element) -> etree._Element:
    bare = deepcopy(root)
    for signature in bare.findall(profile.SIGNATURE):
        if signature.tail and signature.tail.strip(" \t\r\n"):
            raise NotSignable("there is text after the Signature")
        bare.remove(signature)
    if next(bare.iter(profile.SIGNATURE), None) is not None:
        raise NotSignable("there is a Signature that is not a child of the root")
    return bare


def _refuse_unwritable_namespaces(root: etree._Element) -> None:
    # libxml2 forgets to escape this character in canonical form; others that would need it are in no valid address.
    if any("&" in address for element in root.iter() for address in element.nsmap.values()):
        raise NotSignable("a namespace address with an ampersand cannot be signed")


def _inherited_declarations(root: etree._Element) -> bytes:
    """Return the namespaces that a canonical SignedInfo inherits from its root, sorted by prefix.

    Seeds and acknowledgements declare `xsi` and `xsd` on their root; e-CF declare nothing.
    """
    if any(name.startswith(f"{{{profile.XML_NAMESPACE}}}") for name in map(str, root.attrib)):
        raise NotSignable("an xml: attribute on the root cannot be signed")
    addresses: dict[Any, str] = root.nsmap
    return "".join(f' xmlns:{prefix}="{addresses[prefix]}"' for prefix in sorted(filter(None, addresses))).encode()
