"""Every attack on a signature that we could think of, each refused for its own reason.

Many of these documents carry a signature that a general library calls valid: they were signed by one.
"""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from lxml import etree

from fe.ecf.parse import MalformedXml, parse_xml
from fe.ecf.signature import BadSignature, Reason, profile, verify
from fe.ecf.signature.verifier import MAX_CERTIFICATE_BYTES, MAX_CERTIFICATES
from tests.factories import certificates as made
from tests.factories.signatures import (
    DSIG,
    ECF,
    compact,
    forge,
    reason_of,
    sign_with_xmlsec,
    signature_template,
    signed,
)

NS = f' xmlns="{DSIG}"'
ENVELOPED = f'<Transform Algorithm="{profile.ENVELOPED}"/>'


def transforms(*more: str) -> str:
    return f"<Transforms>{''.join(more)}</Transforms>"


def algorithm(element: str, uri: str, inside: str = "") -> str:
    return f'<{element} Algorithm="{uri}">{inside}</{element}>'


def by_xmlsec(**changes: Any) -> bytes:
    return sign_with_xmlsec(compact(), made.default_credential(), signature_template(**changes))


# --- attacks on where the signature is ----------------------------------------------------------------------------


def wrapped() -> bytes:
    """The signed document moved inside an evil one, which carries the signature."""
    root = parse_xml(signed())
    evil = parse_xml(ECF.replace(b"131880738", b"999999999"))
    signature = root[-1]
    evil.append(root)
    evil.append(signature)
    return etree.tostring(evil)


def moved(to: Callable[[etree._Element, etree._Element], None]) -> bytes:
    root = parse_xml(signed())
    signature = root[-1]
    root.remove(signature)
    to(root, signature)
    return etree.tostring(root)


def back_with_parts_swapped(root: etree._Element, signature: etree._Element) -> None:
    signature.insert(0, signature[1])
    root.append(signature)


def back_with_content_swapped(root: etree._Element, signature: etree._Element) -> None:
    root.insert(0, root[1])
    root.append(signature)


def twice() -> bytes:
    root = parse_xml(signed())
    root.append(etree.fromstring(etree.tostring(root[-1])))
    return etree.tostring(root)


def smuggled(where: str, what: str) -> bytes:
    """`what` put behind the last child of the Signature's part `where`."""
    root = parse_xml(signed())
    element = root[-1] if where == "Signature" else next(root.iter(f"{{{DSIG}}}{where}"))
    element.append(etree.fromstring(what))
    return etree.tostring(root)


MISPLACED: dict[str, tuple[Callable[[], bytes], Reason]] = {
    "no signature": (compact, Reason.NONE),
    "signature of another namespace": (
        lambda: signed().replace(DSIG.encode(), DSIG.encode().removesuffix(b"#")),
        Reason.NONE,
    ),
    "original wrapped in an evil document": (wrapped, Reason.DIGEST),
    "original with its signature wrapped": (
        lambda: b"<ECF><Encabezado/>" + signed().partition(b"?>")[2] + b"</ECF>",
        Reason.MISPLACED,
    ),
    "signature first": (lambda: moved(lambda root, it: root.insert(0, it)), Reason.MISPLACED),
    "signature one level down": (lambda: moved(lambda root, it: root[-1].append(it)), Reason.MISPLACED),
    "element after it": (lambda: signed().replace(b"</ECF>", b"<Total>9</Total></ECF>"), Reason.MISPLACED),
    "text after it": (lambda: signed().replace(b"</ECF>", b"9</ECF>"), Reason.MISPLACED),
    "two signatures": (twice, Reason.SEVERAL),
    "two signatures, one nested": (lambda: smuggled("KeyInfo", f"<Signature{NS}/>"), Reason.SEVERAL),
    "a second one inside the content": (
        lambda: signed().replace(b"<Encabezado>", f"<Encabezado><Signature{NS}/>".encode()),
        Reason.SEVERAL,
    ),
    "signature as the root": (lambda: etree.tostring(parse_xml(signed())[-1]), Reason.ROOT),
    "unknown root": (lambda: signed(b"<Factura><A/></Factura>"), Reason.ROOT),
    "root in a namespace": (lambda: signed(b'<ECF xmlns="urn:x"><A/></ECF>'), Reason.ROOT),
    "xml:base on the root": (lambda: signed().replace(b"<ECF>", b'<ECF xml:base="file:///">'), Reason.ROOT),
}


@pytest.mark.parametrize("attack", MISPLACED)
def test_the_signature_must_stand_where_it_belongs(attack: str) -> None:
    make, expected = MISPLACED[attack]

    assert reason_of(make()) is expected


# --- attacks on what the signature is made of ---------------------------------------------------------------------

SHAPES: dict[str, tuple[Callable[[], bytes], Reason]] = {
    "ds:Object": (lambda: smuggled("Signature", f"<Object{NS}><ECF xmlns=''/></Object>"), Reason.SHAPE),
    "ds:Manifest": (lambda: smuggled("SignedInfo", f"<Manifest{NS}/>"), Reason.SHAPE),
    "foreign element": (lambda: smuggled("Signature", "<evil/>"), Reason.SHAPE),
    "element inside a value": (lambda: smuggled("SignatureValue", "<evil/>"), Reason.ENCODING),
    "element inside the digest": (lambda: smuggled("DigestValue", "<evil/>"), Reason.ENCODING),
    "text between the parts": (lambda: signed().replace(b"<KeyInfo>", b"x<KeyInfo>"), Reason.SHAPE),
    "text before the parts": (lambda: signed().replace(b"<SignedInfo>", b"x<SignedInfo>"), Reason.SHAPE),
    "no SignatureValue": (lambda: signed().replace(b"SignatureValue>", b"SignatureValues>"), Reason.SHAPE),
    "parts out of order": (lambda: moved(back_with_parts_swapped), Reason.SHAPE),
    "no KeyInfo": (lambda: by_xmlsec(key_info=""), Reason.SHAPE),
    "Id on the Signature": (lambda: signed().replace(b"<Signature ", b'<Signature Id="s" '), Reason.SHAPE),
    "Id on SignedInfo": (lambda: signed().replace(b"<SignedInfo>", b'<SignedInfo Id="s">'), Reason.SHAPE),
    "Id on SignatureValue": (lambda: signed().replace(b"<SignatureValue>", b'<SignatureValue Id="v">'), Reason.SHAPE),
}


@pytest.mark.parametrize("attack", SHAPES)
def test_the_signature_has_exactly_its_parts(attack: str) -> None:
    make, expected = SHAPES[attack]

    assert reason_of(make()) is expected


# --- attacks on what is signed ------------------------------------------------------------------------------------

XPATH = "http://www.w3.org/TR/1999/REC-xpath-19991116"
XPATH_FILTER_2 = "http://www.w3.org/2002/06/xmldsig-filter2"
XSLT = "http://www.w3.org/TR/1999/REC-xslt-19991116"
BASE64 = "http://www.w3.org/2000/09/xmldsig#base64"
C14N_11 = "http://www.w3.org/2006/12/xml-c14n11"
WITH_COMMENTS = profile.INCLUSIVE_C14N + "#WithComments"
PREFIXES = f'<InclusiveNamespaces xmlns="{profile.EXCLUSIVE_C14N}" PrefixList="xsi"/>'


def referring_to_an_id() -> bytes:
    """Signs only the element with the Id; the rest of the document is anything at all."""
    template = signature_template(reference='URI="#a"')
    document = compact().replace(b"<ECF>", b'<ECF Id="a">')
    return sign_with_xmlsec(document, made.default_credential(), template, id_attribute="Id")


REFERENCES: dict[str, tuple[Callable[[], bytes], Reason]] = {
    "Id reference": (referring_to_an_id, Reason.REFERENCE),
    "file reference": (lambda: by_xmlsec(reference='URI="file:///etc/hostname"', transforms=""), Reason.REFERENCE),
    "file reference with transform": (
        lambda: forge(
            compact(b"<ECF><A>1</A></ECF>"),
            made.default_credential(),
            signed_info('URI="file:///etc/passwd"'),
        ),
        Reason.REFERENCE,
    ),
    "http reference": (lambda: forged('URI="http://127.0.0.1:9/"'), Reason.REFERENCE),
    "xpointer to everything": (lambda: by_xmlsec(reference='URI="#xpointer(/)"'), Reason.REFERENCE),
    "no URI": (lambda: forged(""), Reason.REFERENCE),
    "a Type": (lambda: forged('Type="x" URI=""'), Reason.REFERENCE),
    "an Id": (lambda: forged('Id="r" URI=""'), Reason.REFERENCE),
    "two references": (lambda: by_xmlsec(references=2), Reason.SHAPE),
    "no reference": (lambda: sealed_without("Reference"), Reason.SHAPE),
    "no transforms": (lambda: sealed_without("Transforms"), Reason.SHAPE),
    "an empty list of transforms": (lambda: sealed_without("Transform"), Reason.TRANSFORM),
    "XPath transform": (
        lambda: by_xmlsec(
            transforms=transforms(ENVELOPED, algorithm("Transform", XPATH, "<XPath>not(self::text())</XPath>"))
        ),
        Reason.ALGORITHM,
    ),
    "XPath instead of enveloped": (
        lambda: by_xmlsec(
            transforms=transforms(algorithm("Transform", XPATH, "<XPath>self::text()='1'</XPath>")),
        ),
        Reason.ALGORITHM,
    ),
    "XPath filter 2": (lambda: with_transform(algorithm("Transform", XPATH_FILTER_2)), Reason.TRANSFORM),
    "XSLT": (
        lambda: with_transform(
            algorithm("Transform", XSLT, '<stylesheet xmlns="http://www.w3.org/1999/XSL/Transform" version="1.0"/>')
        ),
        Reason.ALGORITHM,
    ),
    "base64 transform": (lambda: with_transform(algorithm("Transform", BASE64)), Reason.TRANSFORM),
    "enveloped twice": (lambda: with_transform(ENVELOPED), Reason.TRANSFORM),
    "C14N first": (
        lambda: with_transforms(algorithm("Transform", profile.EXCLUSIVE_C14N), ENVELOPED),
        Reason.TRANSFORM,
    ),
    "C14N only": (
        lambda: with_transforms(algorithm("Transform", profile.EXCLUSIVE_C14N)),
        Reason.TRANSFORM,
    ),
    "three transforms": (
        lambda: by_xmlsec(
            transforms=transforms(ENVELOPED, *[algorithm("Transform", profile.EXCLUSIVE_C14N)] * 2),
        ),
        Reason.TRANSFORM,
    ),
    "C14N with comments": (
        lambda: by_xmlsec(transforms=transforms(ENVELOPED, algorithm("Transform", WITH_COMMENTS))),
        Reason.TRANSFORM,
    ),
    "C14N 1.1": (
        lambda: by_xmlsec(transforms=transforms(ENVELOPED, algorithm("Transform", C14N_11))),
        Reason.TRANSFORM,
    ),
    "C14N with a prefix list": (
        lambda: by_xmlsec(
            transforms=transforms(ENVELOPED, algorithm("Transform", profile.EXCLUSIVE_C14N, PREFIXES)),
        ),
        Reason.ALGORITHM,
    ),
    "text inside a transform": (
        lambda: with_transforms(algorithm("Transform", profile.ENVELOPED, "x")),
        Reason.ALGORITHM,
    ),
    "a transform without algorithm": (lambda: with_transforms("<Transform/>"), Reason.ALGORITHM),
    "a transform of two attributes": (
        lambda: with_transforms(f'<Transform Algorithm="{profile.ENVELOPED}" x="y"/>'),
        Reason.ALGORITHM,
    ),
}


def signed_info(reference: str, the_transforms: str = transforms(ENVELOPED)) -> str:
    """A canonical SignedInfo of the profile, but for the attributes of its Reference and its transforms."""
    written = (
        f"<SignedInfo{NS}>{algorithm('CanonicalizationMethod', profile.INCLUSIVE_C14N)}"
        f"{algorithm('SignatureMethod', profile.RSA_SHA256)}<Reference {reference}>{the_transforms}"
        f"{algorithm('DigestMethod', profile.SHA256)}<DigestValue>{{digest}}</DigestValue></Reference></SignedInfo>"
    )
    canonical = etree.tostring(etree.fromstring(written), method="c14n").decode()
    return canonical.partition(">")[2].removesuffix("</SignedInfo>")


def forged(reference: str, the_transforms: str = transforms(ENVELOPED)) -> bytes:
    return forge(b"<ECF><A>1</A></ECF>", made.default_credential(), signed_info(reference, the_transforms))


def with_transforms(*which: str) -> bytes:
    return forged('URI=""', transforms(*which))


def with_transform(another: str) -> bytes:
    return with_transforms(ENVELOPED, another)


def sealed_without(part: str) -> bytes:
    root = parse_xml(signed())
    for element in list(root.iter(f"{{{DSIG}}}{part}")):
        parent = element.getparent()
        assert parent is not None
        parent.remove(element)
    return etree.tostring(root)


def test_the_forger_of_these_tests_can_make_a_good_signature() -> None:
    assert verify(forged('URI=""')).root.findtext("A") == "1"


@pytest.mark.parametrize("attack", REFERENCES)
def test_the_signature_covers_the_whole_document_as_it_stands(attack: str) -> None:
    make, expected = REFERENCES[attack]

    assert reason_of(make()) is expected


# --- attacks on the algorithms ------------------------------------------------------------------------------------

MORE = "http://www.w3.org/2001/04/xmldsig-more#"


def with_method(uri: str, inside: str = "") -> bytes:
    info = signed_info('URI=""').replace(
        algorithm("SignatureMethod", profile.RSA_SHA256), algorithm("SignatureMethod", uri, inside)
    )
    return forge(b"<ECF><A>1</A></ECF>", made.default_credential(), info)


def with_digest(uri: str) -> bytes:
    info = signed_info('URI=""').replace(algorithm("DigestMethod", profile.SHA256), algorithm("DigestMethod", uri))
    return forge(b"<ECF><A>1</A></ECF>", made.default_credential(), info)


def with_canonicalization(uri: str, inside: str = "") -> bytes:
    info = signed_info('URI=""').replace(
        algorithm("CanonicalizationMethod", profile.INCLUSIVE_C14N), algorithm("CanonicalizationMethod", uri, inside)
    )
    return forge(b"<ECF><A>1</A></ECF>", made.default_credential(), info)


ALGORITHMS: dict[str, Callable[[], bytes]] = {
    "rsa-sha1": lambda: by_xmlsec(method=algorithm("SignatureMethod", DSIG + "rsa-sha1")),
    "rsa-md5": lambda: with_method(MORE + "rsa-md5"),
    "rsa-sha512": lambda: by_xmlsec(method=algorithm("SignatureMethod", MORE + "rsa-sha512")),
    "rsa-pss": lambda: with_method("http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1"),
    "dsa-sha1": lambda: with_method(DSIG + "dsa-sha1"),
    "ecdsa-sha256": lambda: with_method(MORE + "ecdsa-sha256"),
    "hmac-sha1": lambda: with_method(DSIG + "hmac-sha1"),
    "hmac-sha256 truncated": lambda: with_method(MORE + "hmac-sha256", "<HMACOutputLength>8</HMACOutputLength>"),
    "parameters for rsa-sha256": lambda: with_method(profile.RSA_SHA256, "<HMACOutputLength>8</HMACOutputLength>"),
    "no method at all": lambda: with_method(""),
    "sha1 digest": lambda: by_xmlsec(digest=algorithm("DigestMethod", DSIG + "sha1")),
    "md5 digest": lambda: with_digest(MORE + "md5"),
    "sha512 digest": lambda: by_xmlsec(digest=algorithm("DigestMethod", "http://www.w3.org/2001/04/xmlenc#sha512")),
    "canonicalisation with comments": lambda: by_xmlsec(c14n=algorithm("CanonicalizationMethod", WITH_COMMENTS)),
    "canonicalisation 1.1": lambda: by_xmlsec(c14n=algorithm("CanonicalizationMethod", C14N_11)),
    "canonicalisation by XSLT": lambda: with_canonicalization(XSLT),
    "canonicalisation with a prefix list": lambda: with_canonicalization(profile.EXCLUSIVE_C14N, PREFIXES),
}


@pytest.mark.parametrize("attack", ALGORITHMS)
def test_older_weaker_and_odder_algorithms_are_refused(attack: str) -> None:
    assert reason_of(ALGORITHMS[attack]()) is Reason.ALGORITHM


def test_a_signature_by_hmac_under_the_public_key_is_refused() -> None:
    """The classic confusion: the certificate is public, so an attacker can make this one."""
    key = made.default_credential().key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    root = parse_xml(with_method(MORE + "hmac-sha256"))
    (value,) = root.iter(f"{{{DSIG}}}SignatureValue")
    value.text = b64encode(key[:32]).decode()

    assert reason_of(etree.tostring(root)) is Reason.ALGORITHM


# --- attacks on the key -------------------------------------------------------------------------------------------


def with_key_info(inside: str) -> bytes:
    return forge(
        b"<ECF><A>1</A></ECF>",
        made.default_credential(),
        signed_info('URI=""'),
        key_info=f"<KeyInfo>{inside}</KeyInfo>",
    )


def certificate_of(der: bytes) -> str:
    return f"<X509Certificate>{b64encode(der).decode()}</X509Certificate>"


def own() -> str:
    return certificate_of(made.default_credential().der)


def issuer() -> str:
    return certificate_of(made.default_root().certificate.public_bytes(Encoding.DER))


def short_key() -> str:
    issued = made.default_root().issue(made.name("CORTA"), made.rsa_key("corta", 1024))
    return certificate_of(issued.public_bytes(Encoding.DER))


def elliptic_key() -> str:
    return certificate_of(made.make_ec_pair()[1].public_bytes(Encoding.DER))


KEY_VALUE = "<KeyValue><RSAKeyValue><Modulus>AQAB</Modulus><Exponent>AQAB</Exponent></RSAKeyValue></KeyValue>"

KEYS: dict[str, tuple[Callable[[], str], Reason]] = {
    "KeyValue instead": (lambda: KEY_VALUE, Reason.KEY_INFO),
    "RetrievalMethod": (lambda: '<RetrievalMethod URI="file:///etc/passwd"/>', Reason.KEY_INFO),
    "no certificate": (lambda: "<X509Data/>", Reason.KEY_INFO),
    "more certificates than a chain has": (
        lambda: f"<X509Data>{own() * (MAX_CERTIFICATES + 1)}</X509Data>",
        Reason.KEY_INFO,
    ),
    "certificate below another element": (lambda: f"<KeyName><X509Data>{own()}</X509Data></KeyName>", Reason.KEY_INFO),
    "only the issuer's certificate": (lambda: f"<X509Data>{issuer()}</X509Data>", Reason.SIGNATURE),
    "nothing": (lambda: "", Reason.KEY_INFO),
    "garbage": (lambda: f"<X509Data>{certificate_of(b'garbage')}</X509Data>", Reason.KEY_INFO),
    "trailing bytes": (
        lambda: f"<X509Data>{certificate_of(made.default_credential().der + b'x')}</X509Data>",
        Reason.KEY_INFO,
    ),
    "a holder that cannot be read": (
        lambda: f"<X509Data>{certificate_of(made.make_unreadable().public_bytes(Encoding.DER))}</X509Data>",
        Reason.KEY_INFO,
    ),
    "a holder that is bits": (
        lambda: f"<X509Data>{certificate_of(made.make_bitwise().public_bytes(Encoding.DER))}</X509Data>",
        Reason.KEY_INFO,
    ),
    "a version there is not": (
        lambda: f"<X509Data>{certificate_of(made.der_of_another_version())}</X509Data>",
        Reason.KEY_INFO,
    ),
    "not base64": (lambda: "<X509Data><X509Certificate>ñ!</X509Certificate></X509Data>", Reason.ENCODING),
    "somebody else's certificate": (
        lambda: f"<X509Data>{certificate_of(made.make_credential('OTRA PERSONA').der)}</X509Data>",
        Reason.SIGNATURE,
    ),
    "a short key": (lambda: f"<X509Data>{short_key()}</X509Data>", Reason.KEY),
    "an elliptic key": (lambda: f"<X509Data>{elliptic_key()}</X509Data>", Reason.KEY),
}


@pytest.mark.parametrize("attack", KEYS)
def test_key_info_without_the_signing_certificate_is_refused(attack: str) -> None:
    make, expected = KEYS[attack]

    assert reason_of(with_key_info(make())) is expected


SERIAL = (
    "<X509IssuerSerial><X509IssuerName>CN=x</X509IssuerName><X509SerialNumber>1</X509SerialNumber></X509IssuerSerial>"
)

#: KeyInfo as signers of other languages write it; each holds the certificate that signed.
MORE_KEY_INFO: dict[str, Callable[[], str]] = {
    "chain": lambda: f"<X509Data>{own()}{issuer()}</X509Data>",
    "chain, issuer first": lambda: f"<X509Data>{issuer()}{own()}</X509Data>",
    "chain over several X509Data": lambda: f"<X509Data>{own()}</X509Data><X509Data>{issuer()}</X509Data>",
    "chain with an elliptic issuer": lambda: f"<X509Data>{elliptic_key()}{own()}</X509Data>",
    "certificate that cannot be read beside it": (lambda: f"<X509Data>{certificate_of(b'garbage')}{own()}</X509Data>"),
    "same certificate twice": lambda: f"<X509Data>{own()}{own()}</X509Data>",
    "KeyValue before": lambda: f"{KEY_VALUE}<X509Data>{own()}</X509Data>",
    "KeyValue after": lambda: f"<X509Data>{own()}</X509Data>{KEY_VALUE}",
    "KeyName": lambda: f"<KeyName>x</KeyName><X509Data>{own()}</X509Data>",
    "subject name": lambda: f"<X509Data><X509SubjectName>CN=x</X509SubjectName>{own()}</X509Data>",
    "issuer and serial number": lambda: f"<X509Data>{SERIAL}{own()}</X509Data>",
    "key identifier": lambda: f"<X509Data><X509SKI>AQAB</X509SKI>{own()}</X509Data>",
    "Id": lambda: f"<X509Data Id='x'>{own()}</X509Data>",
    "whitespace between the parts": lambda: f"\n  <X509Data>\n{own()}\n</X509Data>\n",
}


@pytest.mark.parametrize("form", MORE_KEY_INFO)
def test_key_info_with_more_than_the_certificate_verifies_with_the_one_that_signed(form: str) -> None:
    verified = verify(with_key_info(MORE_KEY_INFO[form]()))

    assert verified.certificate == made.default_credential().certificate


def test_key_value_of_another_key_does_not_verify_a_foreign_signature() -> None:
    """Only certificates are read: a KeyValue has no name, and any key may be written there."""
    other = made.make_credential("OTRA PERSONA")
    numbers = other.key.public_key().public_numbers()
    modulus = b64encode(numbers.n.to_bytes(256)).decode()
    key_value = f"<KeyValue><RSAKeyValue><Modulus>{modulus}</Modulus><Exponent>AQAB</Exponent></RSAKeyValue></KeyValue>"
    key_info = f"<KeyInfo>{key_value}<X509Data>{own()}</X509Data></KeyInfo>"

    document = forge(b"<ECF><A>1</A></ECF>", other, signed_info('URI=""'), key_info=key_info)

    assert reason_of(document) is Reason.SIGNATURE


def large_certificate(of: int) -> bytes:
    """A readable certificate, a little larger than the given size, whose holder signs."""
    padding = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4.5"), bytes(of))
    key = made.rsa_key(made.HOLDER)
    certificate = made.default_root().issue(
        made.name(made.HOLDER, serial_number=f"IDCDO-{made.HOLDER_ID}"), key, more=[padding]
    )
    return certificate.public_bytes(Encoding.DER)


def test_a_certificate_larger_than_any_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Certificates are cached for the next document: two hundred of a megabyte would fill a process."""
    read: list[int] = []
    load = x509.load_der_x509_certificate

    def noting(der: bytes) -> x509.Certificate:
        read.append(len(der))
        return load(der)

    monkeypatch.setattr(x509, "load_der_x509_certificate", noting)

    for size in (MAX_CERTIFICATE_BYTES, 700_000):
        document = with_key_info(f"<X509Data>{certificate_of(large_certificate(size))}</X509Data>")
        assert reason_of(document) is Reason.KEY_INFO
    assert read == []

    large = large_certificate(MAX_CERTIFICATE_BYTES - 2_000)
    verify(with_key_info(f"<X509Data>{certificate_of(large)}</X509Data>"))
    assert read == [len(large)]


# --- attacks on the values ----------------------------------------------------------------------------------------


def with_value(change: Callable[[str], str], part: str = "SignatureValue") -> bytes:
    root = parse_xml(signed())
    (element,) = root.iter(f"{{{DSIG}}}{part}")
    element.text = change(element.text or "")
    return etree.tostring(root)


def transplanted() -> bytes:
    """A good signature of the same signer, from another document."""
    other = parse_xml(signed(ECF.replace(b"40120.00", b"1.00")))
    root = parse_xml(signed())
    root.replace(root[-1], other[-1])
    return etree.tostring(root)


def with_spare_bits(text: str) -> str:
    """Another spelling of the same bytes: the last character before the padding has bits that mean nothing."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    at = text.index("=") - 1
    return text[:at] + alphabet[alphabet.index(text[at]) + 1] + text[at + 1 :]


VALUES: dict[str, tuple[Callable[[], bytes], Reason]] = {
    "altered amount": (lambda: signed().replace(b"40120.00", b"40120.01"), Reason.DIGEST),
    "altered blank in a text": (lambda: signed().replace(b"uno  dos", b"uno dos"), Reason.DIGEST),
    "element added": (lambda: signed().replace(b"<Totales>", b"<Totales><A>1</A>"), Reason.DIGEST),
    "empty element added": (lambda: signed().replace(b"<Totales>", b"<Totales><A/>"), Reason.DIGEST),
    "attribute added": (lambda: signed().replace(b"<Totales>", b'<Totales a="1">'), Reason.DIGEST),
    "namespace declared": (lambda: signed().replace(b"<ECF>", b'<ECF xmlns:x="urn:x">'), Reason.DIGEST),
    "elements swapped": (lambda: moved(back_with_content_swapped), Reason.DIGEST),
    "root renamed": (
        lambda: signed().replace(b"<ECF>", b"<RFCE>").replace(b"</ECF>", b"</RFCE>"),
        Reason.DIGEST,
    ),
    "another document's signature": (transplanted, Reason.DIGEST),
    "altered digest": (lambda: with_value(lambda text: "A" * 43 + "=", "DigestValue"), Reason.DIGEST),
    "short digest": (lambda: with_value(lambda text: text[:40], "DigestValue"), Reason.DIGEST),
    "empty digest": (lambda: with_value(lambda text: "", "DigestValue"), Reason.ENCODING),
    "altered signature": (lambda: with_value(lambda text: "AAAA" + text[4:]), Reason.SIGNATURE),
    "cut signature": (lambda: with_value(lambda text: text[:-4]), Reason.SIGNATURE),
    "signature of zeros": (lambda: with_value(lambda text: b64encode(bytes(256)).decode()), Reason.SIGNATURE),
    "signature above the modulus": (
        lambda: with_value(lambda text: b64encode(b"\xff" * 256).decode()),
        Reason.SIGNATURE,
    ),
    "padded signature": (lambda: with_value(lambda text: b64encode(bytes(1) + b"x" * 256).decode()), Reason.SIGNATURE),
    "empty signature": (lambda: with_value(lambda text: ""), Reason.ENCODING),
    "another spelling of the signature": (lambda: with_value(with_spare_bits), Reason.ENCODING),
    "another spelling of the digest": (lambda: with_value(with_spare_bits, "DigestValue"), Reason.ENCODING),
    "url-safe base64": (lambda: with_value(lambda text: text.replace("/", "_").replace("+", "-")), Reason.ENCODING),
    "base64 without padding": (lambda: with_value(lambda text: text.rstrip("=")), Reason.ENCODING),
    "base64 with junk": (lambda: with_value(lambda text: text[:8] + "\u00a0" + text[8:]), Reason.ENCODING),
    "relative namespace": (lambda: signed().replace(b"<ECF>", b'<ECF xmlns:x="x">'), Reason.SHAPE),
}


@pytest.mark.parametrize("attack", VALUES)
def test_no_value_can_be_changed(attack: str) -> None:
    make, expected = VALUES[attack]

    assert reason_of(make()) is expected


# --- attacks on the parser ----------------------------------------------------------------------------------------

PARSERS: dict[str, Callable[[], bytes]] = {
    "comment in a text": lambda: signed().replace(b">131000001<", b">131<!--x-->000001<"),
    "comment between elements": lambda: signed().replace(b"<Totales>", b"<!--x--><Totales>"),
    "comment in the signature": lambda: signed().replace(b"<KeyInfo>", b"<!--x--><KeyInfo>"),
    "comment in the digest": lambda: signed().replace(b"<DigestValue>", b"<DigestValue><!--x-->"),
    "processing instruction": lambda: signed().replace(b">131000001<", b">131<?x y?>000001<"),
    "instruction before the root": lambda: signed().replace(b"<ECF>", b"<?x y?><ECF>"),
    "comment after the root": lambda: signed() + b"<!--x-->",
    "DOCTYPE": lambda: signed().replace(b"<ECF>", b"<!DOCTYPE ECF><ECF>"),
    "entity": lambda: (
        signed().replace(b"<ECF>", b"<!DOCTYPE ECF [<!ENTITY e '131880738'>]><ECF>").replace(b">131880738<", b">&e;<")
    ),
    "Id by DOCTYPE": lambda: signed().replace(b"<ECF>", b"<!DOCTYPE ECF [<!ATTLIST ECF Id ID #IMPLIED>]><ECF>"),
    "external entity": lambda: signed().replace(
        b"<ECF>", b'<!DOCTYPE ECF [<!ENTITY e SYSTEM "file:///etc/hostname">]><ECF>'
    ),
    "UTF-16": lambda: signed().decode().replace("utf-8", "utf-16").encode("utf-16"),
    "Latin-1": lambda: signed().decode().replace("utf-8", "iso-8859-1").replace("日本 😀", "").encode("latin-1"),
    "NUL": lambda: signed() + b"\0",
    "two roots": lambda: signed() + signed().partition(b"?>")[2],
    "too large": lambda: signed().replace(b"<Totales>", b"<Totales>" + b" " * 1_100_000),
    "nothing": lambda: b"",
}


@pytest.mark.parametrize("attack", PARSERS)
def test_ambiguous_markup_is_refused(attack: str) -> None:
    with pytest.raises(MalformedXml):
        verify(PARSERS[attack]())


def test_a_refusal_repeats_nothing_of_the_document() -> None:
    document = signed().replace(b"131880738", b"canary-value")

    with pytest.raises(BadSignature) as error:
        verify(document)

    assert "canary" not in repr(error.value)
