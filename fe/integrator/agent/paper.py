"""Prints a receipt at the till: what the customer may be given at this moment."""

import base64
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from fe.ecf.catalogue import Environment
from fe.integrator.agent import refusals
from fe.integrator.agent.refusals import SaleRefused
from fe.integrator.agent.store import Sale
from fe.printing import BadLogo, FiscalStanding, NotPrintable, PaperSize, PrintSettings, TooManyPages, pdf, ticket


def settings_of(answer: Mapping[str, Any] | None) -> PrintSettings:
    """Read the tenant's print settings as GET /printing gives them; without an answer the defaults."""
    if answer is None:
        return PrintSettings()
    return PrintSettings(
        logo=None if answer["logo"] is None else base64.b64decode(answer["logo"]),
        accent=answer["accent"],
        footer=answer["footer"],
        marks=tuple(answer["marks"]),
        language=answer["language"],
        layout=PaperSize(answer["layout"]),
    )


def standing_of(receipt: Sale, *, is_online: bool, hosts_down: Collection[str]) -> FiscalStanding:
    """Return what the paper says: accepted, void, in contingency, else a preview.

    It is in contingency while the line is down, or while the authority's host for it does not answer the service.
    """
    if receipt.state in ("done", "rejected"):
        return FiscalStanding.ACCEPTED if receipt.state == "done" else FiscalStanding.VOID
    host = "fc" if "/ConsultaTimbreFC" in (receipt.qr_url or "") else "ecf"
    return FiscalStanding.PREVIEW if is_online and host not in hosts_down else FiscalStanding.CONTINGENCY


def print_receipt(
    receipt: Sale,
    kind: str,
    settings: PrintSettings,
    environment: str,
    *,
    is_online: bool,
    hosts_down: Collection[str],
    raster: bool = False,
) -> bytes:
    """Make the PDF or the ticket of a receipt. Raises SaleRefused for one that is not signed, or cannot be printed."""
    if not receipt.is_signed:
        raise SaleRefused(409, refusals.NOT_SIGNED_YET.fill(e_ncf=receipt.e_ncf))
    layout = settings.layout
    if kind == "ticket" and not layout.is_roll:
        layout = PaperSize.ROLL_80
    options = replace(
        settings.options(layout),
        environment=Environment(environment),
        url=receipt.qr_url or "",
        standing=standing_of(receipt, is_online=is_online, hosts_down=hosts_down),
    )
    try:
        return ticket(receipt.body, options, raster=raster) if kind == "ticket" else pdf(receipt.body, options)
    except BadLogo as wrong:
        raise SaleRefused(500, refusals.NOT_PRINTABLE.fill(e_ncf=receipt.e_ncf, why=wrong.text)) from wrong
    except (NotPrintable, TooManyPages) as wrong:
        raise SaleRefused(500, refusals.NOT_PRINTABLE.fill(e_ncf=receipt.e_ncf, why=wrong)) from wrong
