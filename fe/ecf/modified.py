"""Which receipt of its issuer a document refers to (authority.md#types, "Notes and references")."""

import re

from fe.ecf.catalogue import Root
from fe.ecf.document import Document
from fe.ecf.identity import E_NCF_FORM, e_ncf
from fe.ecf.reading import section, text

# In canonical form a tag stands in a document as an element and nowhere else: in texts `<` is written `&lt;`.
_MODIFIED = b"<NCFModificado>"
_NUMBER = re.compile(rb"\s*(" + E_NCF_FORM.encode() + rb")\s*<")
_OF_ANOTHER = b"<RNCOtroContribuyente>"


def number_modified_by(document: Document) -> str | None:
    """The e-NCF of the receipt of the same issuer that a document refers to (NCFModificado).

    None where it refers to nothing, to a receipt on paper, or to another taxpayer's.
    """
    reference = section(document.content, "InformacionReferencia") if document.root is Root.ECF else {}
    written = text(reference, "NCFModificado")
    if written is None or "RNCOtroContribuyente" in reference:
        return None
    return written if e_ncf(written) is not None else None


def number_modified_in(signed: bytes) -> str | None:
    """The same of a signed document, without reading it."""
    start = signed.rfind(_MODIFIED)
    if start < 0 or _OF_ANOTHER in signed[start:]:
        return None
    found = _NUMBER.match(signed, start + len(_MODIFIED))
    written = found[1].decode() if found is not None else ""
    return written if e_ncf(written) is not None else None
