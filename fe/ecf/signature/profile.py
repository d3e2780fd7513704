"""The signature profile of authority.md#signature, as names."""

from datetime import datetime

from fe.ecf.dates import ZONE

NAMESPACE = "http://www.w3.org/2000/09/xmldsig#"
SIGNATURE = f"{{{NAMESPACE}}}Signature"

INCLUSIVE_C14N = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"
EXCLUSIVE_C14N = "http://www.w3.org/2001/10/xml-exc-c14n#"
RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256"
ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"

#: Attributes of this namespace (such as `xml:lang`) on the root would be inherited by a canonical SignedInfo. The
#: authority's schemas allow none, so neither side of the profile needs to carry them.
XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"


def security_code(signature_value: str) -> str:
    """The first six characters of a SignatureValue without whitespace, case kept (authority.md#security-code)."""
    return signature_value[:6]


def signature_time(now: datetime) -> str:
    """`now` as FechaHoraFirma wants it: `dd-MM-yyyy HH:mm:ss`, 24 hours, at -04:00 (the country has no summer time).

    Fractions of a second are cut off, never rounded up: the authority refuses a time later than its own. A `now`
    without a zone is a ValueError.
    """
    if now.utcoffset() is None:
        raise ValueError("a time without a zone cannot be told at -04:00")
    return now.astimezone(ZONE).strftime("%d-%m-%Y %H:%M:%S")
