"""The acknowledgement of a document (ARECF, authority.md#receivers), ready to be signed. Pure."""

from datetime import datetime

from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import Root
from fe.ecf.dates import show_moment
from fe.ecf.document import Document
from fe.receiving.assess import AckReason, Heading


def acknowledgement(heading: Heading, reason: AckReason, *, rnc: str, at: datetime) -> etree._Element:
    """Write what the receiver with this tax id says at `at`. The reason is left out where it was received."""
    detail = {
        "Version": "1.0",
        "RNCEmisor": heading.issuer_rnc,
        "RNCComprador": heading.buyer_rnc or rnc,
        "eNCF": heading.e_ncf,
        "Estado": "0" if reason is AckReason.RECEIVED else "1",
    }
    if reason is not AckReason.RECEIVED:
        detail["CodigoMotivoNoRecibido"] = str(int(reason))
    detail["FechaHoraAcuseRecibo"] = show_moment(at)
    return build(Document(Root.ARECF, None, {"DetalleAcusedeRecibo": detail}))
