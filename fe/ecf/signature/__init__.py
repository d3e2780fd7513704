"""The electronic signature of a document: written by `Signer`, checked by `verify`.

See authority.md#signature and #security-code.
"""

from fe.ecf.signature.profile import security_code, signature_time
from fe.ecf.signature.signer import Canonical, NotSignable, SignedXml, Signer
from fe.ecf.signature.verifier import BadSignature, Reason, Verified, verify, verify_portal_file

__all__ = [
    "BadSignature",
    "Canonical",
    "NotSignable",
    "Reason",
    "SignedXml",
    "Signer",
    "Verified",
    "security_code",
    "signature_time",
    "verify",
    "verify_portal_file",
]
