"""Sign an XML of the authority's portal: the application, the declaration. Its bytes are signed as they are."""

from lxml import etree

from fe.certification.steps import SIGNED
from fe.ecf.parse import MalformedXml, parse_xml
from fe.ecf.signature import BadSignature, NotSignable, Signer, verify_portal_file
from fe.ecf.signature.profile import SIGNATURE
from fe.ecf.signature.verifier import ROOTS
from fe.ecf.texts import LocalizedError, Text

#: Root of the application; the declaration's is not known.
_APPLICATION = "Postulacion"
#: Elements that name the taxpayer and the representative, as far as the portal's files have them.
_TAXPAYER, _REPRESENTATIVE = "RNCContribuyente", "RNCRepresentante"


class CannotSign(LocalizedError):
    """The file is not signed, and what to do."""


def sign_portal_file(raw: bytes, signer: Signer, *, rnc: str, holder_id: str) -> bytes:
    """Check, sign and verify a file of the portal for the taxpayer `rnc`, with the certificate of `holder_id`.

    Raises CannotSign.
    """
    try:
        root = parse_xml(raw)
    except MalformedXml as error:
        raise CannotSign(error.message) from None
    name = str(root.tag)
    if name in ROOTS:
        raise CannotSign(
            Text(
                f"{name} is no file of the portal: documents are signed when they are issued",
                f"{name} no es un archivo del portal: los documentos se firman al emitirlos",
            )
        )
    if next(root.iter(SIGNATURE), None) is not None:
        raise CannotSign(
            Text(
                "the file is signed already: upload it, or download it anew",
                "el archivo ya está firmado: súbalo o descárguelo otra vez",
            )
        )
    _require(root, _TAXPAYER, rnc, Text("this company's RNC is {own}", "el RNC de esta empresa es {own}"))
    _require(
        root,
        _REPRESENTATIVE,
        holder_id,
        Text(
            "the certificate is of {own}: the representative has to sign",
            "el certificado es de {own}: debe firmar el representante",
        ),
    )
    try:
        signed = signer.sign(root).xml
        verify_portal_file(signed)
    except (NotSignable, BadSignature, MalformedXml) as error:
        raise CannotSign(
            Text(f"the file cannot be signed: {error}", f"el archivo no se puede firmar: {error}")
        ) from None
    return signed


def step_of(signed: bytes) -> int:
    """Return the step of a file that was signed: the application, or the declaration."""
    return SIGNED[0] if verify_portal_file(signed).root.tag == _APPLICATION else SIGNED[1]


def _require(root: etree._Element, name: str, own: str, said: Text) -> None:
    for node in root.iter(name):
        found = (node.text or "").strip()
        if found and found != own:
            raise CannotSign(said.fill(own=own).after(f"{name} {found}"))
