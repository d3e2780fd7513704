"""Signed documents of every make: ours, two foreign libraries', and forgeries that a foreign library calls valid."""

from base64 import b64encode
from hashlib import sha256

import pytest
import xmlsec
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import etree
from signxml.algorithms import CanonicalizationMethod
from signxml.signer import XMLSigner
from signxml.verifier import VerifyResult, XMLVerifier

from fe.ecf.certificate import Credential
from fe.ecf.parse import parse_xml
from fe.ecf.signature import BadSignature, Reason, Signer, profile, verify
from tests.factories.certificates import default_credential

DSIG = profile.NAMESPACE

#: Enough of an e-CF to sign, with texts that serialisers differ about.
ECF = (
    "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310005000201</eNCF></IdDoc>"
    '<Emisor><RNCEmisor>131880738</RNCEmisor><RazonSocialEmisor>PEÑA &amp; HIJOS &lt;SRL&gt; "A\'B"</RazonSocialEmisor>'
    "</Emisor><Comprador/><Totales><MontoTotal>40120.00</MontoTotal></Totales></Encabezado><DetallesItems>"
    "<Item><NumeroLinea>1</NumeroLinea><NombreItem>uno  dos\n tres &#xD; 日本 😀</NombreItem></Item>"
    "<Item><NumeroLinea>2</NumeroLinea><NombreItem>131000001</NombreItem></Item>"
    "</DetallesItems><FechaHoraFirma>06-11-2026 10:15:30</FechaHoraFirma></ECF>"
).encode()

#: A seed as it travels: indented, namespaces declared and not in canonical order.
SEED = (
    b'<?xml version="1.0" encoding="utf-8"?>\n'
    b'<SemillaModel xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">\n'
    b"  <valor>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=</valor>\n"
    b"  <fecha>2026-11-06T10:15:30.1234567-04:00</fecha>\n"
    b"</SemillaModel>"
)


def compact(document: bytes = ECF) -> bytes:
    return etree.tostring(parse_xml(document))


def signed(document: bytes = ECF) -> bytes:
    """`document` signed by us."""
    return Signer(default_credential()).sign(parse_xml(document)).xml


def reason_of(document: bytes) -> Reason:
    """Why `verify` refuses `document`; fails when it does not."""
    with pytest.raises(BadSignature) as wrong:
        verify(document)
    assert str(wrong.value) == wrong.value.message
    return wrong.value.reason


ALGORITHM_DEFAULTS = {
    "c14n": f'<CanonicalizationMethod Algorithm="{profile.INCLUSIVE_C14N}"/>',
    "method": f'<SignatureMethod Algorithm="{profile.RSA_SHA256}"/>',
    "transforms": f'<Transforms><Transform Algorithm="{profile.ENVELOPED}"/></Transforms>',
    "digest": f'<DigestMethod Algorithm="{profile.SHA256}"/>',
}


def signature_template(
    *,
    c14n: str = ALGORITHM_DEFAULTS["c14n"],
    method: str = ALGORITHM_DEFAULTS["method"],
    reference: str = 'URI=""',
    transforms: str = ALGORITHM_DEFAULTS["transforms"],
    digest: str = ALGORITHM_DEFAULTS["digest"],
    references: int = 1,
    key_info: str = "<KeyInfo><X509Data/></KeyInfo>",
    extra: str = "",
    attributes: str = "",
) -> str:
    """A Signature of the profile that still has to be computed, changed wherever a test wants it changed."""
    one = f"<Reference {reference}>{transforms}{digest}<DigestValue/></Reference>"
    return (
        f'<Signature xmlns="{DSIG}"{attributes}><SignedInfo>{c14n}{method}{one * references}</SignedInfo>'
        f"<SignatureValue/>{key_info}{extra}</Signature>"
    )


def sign_with_xmlsec(
    document: bytes, credential: Credential, template: str = "", *, id_attribute: str | None = None
) -> bytes:
    """`document` with `template` appended to its root and computed by xmlsec, which asks no questions."""
    root = etree.fromstring(document)
    root.append(etree.fromstring(template or signature_template()))
    context = xmlsec.SignatureContext()
    if id_attribute:
        context.register_id(root, id_attribute)
    pem = credential.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    context.key = xmlsec.Key.from_memory(pem, xmlsec.constants.KeyDataFormatPem)
    context.key.load_cert_from_memory(credential.der, xmlsec.constants.KeyDataFormatCertDer)
    context.sign(root[-1])
    for element in root[-1].iter():  # xmlsec breaks its base64 into lines, which is allowed, but here unwanted
        if not len(element) and element.text:
            element.text = "".join(element.text.split())
        element.tail = None
    for data in root[-1].iter(f"{{{DSIG}}}X509Data", f"{{{DSIG}}}KeyInfo"):
        data.text = None
    return etree.tostring(root, xml_declaration=True, encoding="utf-8")


def verify_with_xmlsec(signed: bytes, credential: Credential) -> None:
    """Raises xmlsec.Error unless xmlsec finds the signature in order under the credential's key."""
    root = etree.fromstring(signed)
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(credential.der, xmlsec.constants.KeyDataFormatCertDer)
    (signature,) = root.findall(f"{{{DSIG}}}Signature")
    context.verify(signature)


def sign_with_signxml(document: bytes, credential: Credential, c14n: CanonicalizationMethod) -> bytes:
    signer = XMLSigner(c14n_algorithm=c14n)
    pem = credential.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    root = etree.fromstring(document)
    signed = signer.sign(root, key=pem, cert=[credential.certificate])
    return etree.tostring(signed, xml_declaration=True, encoding="utf-8")


def verify_with_signxml(signed: bytes, credential: Credential) -> bytes:
    """Return the content that signxml says was signed; raises signxml.exceptions.InvalidSignature."""
    verifier = XMLVerifier()
    # Its own remedy for lxml writing xmlns="" into a SignedInfo that is canonicalised in place.
    verifier.excise_empty_xmlns_declarations = True
    result = verifier.verify(signed, x509_cert=credential.certificate)
    assert isinstance(result, VerifyResult)  # a list only where several references are asked for
    return result.signed_data


def forge(content: bytes, credential: Credential, signed_info: str, *, key_info: str | None = None) -> bytes:
    """A compact document with any SignedInfo at all, rightly signed over its canonical form.

    `content` is canonical and without namespaces; `signed_info` is canonical too but for its own xmlns and may use
    `{digest}`. For what no library would write.
    """
    digest = b64encode(sha256(content).digest()).decode()
    inside = signed_info.replace("{digest}", digest)
    value = credential.key.sign(f'<SignedInfo xmlns="{DSIG}">{inside}</SignedInfo>'.encode(), PKCS1v15(), SHA256())
    certificate = b64encode(credential.der).decode()
    key_info = key_info or f"<KeyInfo><X509Data><X509Certificate>{certificate}</X509Certificate></X509Data></KeyInfo>"
    signature = (
        f'<Signature xmlns="{DSIG}"><SignedInfo>{inside}</SignedInfo>'
        f"<SignatureValue>{b64encode(value).decode()}</SignatureValue>{key_info}</Signature>"
    )
    end = content.rindex(b"</")
    return content[:end] + signature.encode() + content[end:]
