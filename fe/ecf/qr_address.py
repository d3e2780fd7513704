"""The address in the QR code of a printed invoice, which shows its verdict to the public (authority.md#qr).

Values are passed as the texts of the signed XML, because the authority compares them with what it received: no number
or date is formatted here.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

from lxml import etree

from fe.ecf.catalogue import Environment, Root
from fe.ecf.reading import text_at

_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]*")


def qr_url(
    host: str,
    environment: Environment,
    *,
    issuer_rnc: str,
    buyer_rnc: str | None,
    e_ncf: str,
    issued: str,
    total: str,
    signed: str,
    security_code: str,
) -> str:
    """The address of an e-CF.

    `host` is where the service lives, `https://ecf.dgii.gov.do`. `issued` is FechaEmision (`dd-MM-yyyy`), `total` is
    MontoTotal, `signed` is FechaHoraFirma (`dd-MM-yyyy HH:mm:ss`), each as it stands in the XML. Without `buyer_rnc`
    the parameter is left out: an empty one makes the page say that the document was not found.
    """
    return _address(
        f"{host}/{environment.value}/ConsultaTimbre",
        RncEmisor=issuer_rnc,
        RncComprador=buyer_rnc,
        ENCF=e_ncf,
        FechaEmision=issued,
        MontoTotal=total,
        FechaFirma=signed,
        CodigoSeguridad=security_code,
    )


def qr_url_summary(
    host: str, environment: Environment, *, issuer_rnc: str, e_ncf: str, total: str, security_code: str
) -> str:
    """The address of a consumer invoice that went out as a summary (RFCE).

    `host` is `https://fc.dgii.gov.do`, another one than that of e-CF. `security_code` is that of the full e-CF, which
    the summary carries as CodigoSeguridadeCF.
    """
    return _address(
        f"{host}/{environment.value}/ConsultaTimbreFC",
        RncEmisor=issuer_rnc,
        ENCF=e_ncf,
        MontoTotal=total,
        CodigoSeguridad=security_code,
    )


@dataclass(frozen=True, slots=True)
class Printed:
    """The very texts of an XML that its QR code repeats, beside the security code; and two that lists show."""

    is_summary: bool
    issuer: str
    buyer: str | None
    e_ncf: str
    issued: str
    total: str
    signed: str
    buyer_name: str | None = None
    itbis: str | None = None

    @classmethod
    def of(cls, sent: etree._Element) -> "Printed":
        """Read them from the document that the authority gets: an ECF, or an RFCE."""
        head = next(sent.iterchildren("Encabezado"), sent)
        issuer, buyer, totals = (next(head.iterchildren(name), sent) for name in ("Emisor", "Comprador", "Totales"))
        return cls(
            is_summary=sent.tag == Root.RFCE,
            issuer=text_at(issuer, "RNCEmisor") or "",
            buyer=text_at(buyer, "RNCComprador"),
            e_ncf=text_at(head, "IdDoc", "eNCF") or "",
            issued=text_at(issuer, "FechaEmision") or "",
            total=text_at(totals, "MontoTotal") or "",
            signed=text_at(sent, "FechaHoraFirma") or "",
            buyer_name=text_at(buyer, "RazonSocialComprador"),
            itbis=text_at(totals, "TotalITBIS"),
        )

    def address(self, environment: Environment, security_code: str, *, ecf: str, fc: str) -> str:
        """Return the address; `ecf` and `fc` are the hosts of whole documents and of summaries."""
        if self.is_summary:
            return qr_url_summary(
                fc,
                environment,
                issuer_rnc=self.issuer,
                e_ncf=self.e_ncf,
                total=self.total,
                security_code=security_code,
            )
        return qr_url(
            ecf,
            environment,
            issuer_rnc=self.issuer,
            buyer_rnc=self.buyer,
            e_ncf=self.e_ncf,
            issued=self.issued,
            total=self.total,
            signed=self.signed,
            security_code=security_code,
        )


def _address(page: str, **parameters: str | None) -> str:
    # Everything but the unreserved characters is encoded: the space as %20 (a + is not read back as one), the slash and
    # plus of a security code, and the colons of a time, as the authority's own table of reserved characters has them.
    return f"{page}?" + "&".join(f"{name}={_quote(value)}" for name, value in parameters.items() if value)


def _quote(value: str) -> str:
    return value if _UNRESERVED.fullmatch(value) else quote(value, safe="")  # the first is nearly every value
