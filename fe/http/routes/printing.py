"""Printed receipts over HTTP: PDF, receipt printer's bytes, and the QR code as a picture.

Printing takes 40 ms of CPU, and up to two seconds; a QR code takes 13 ms. Processes of a pool of its own do it at low
priority, so that no receipt waits to be taken in. Prints are cached by the digest of the XML and the options, QR codes
by their address.
"""

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from fe.cache import ExpiringCache
from fe.ecf.ids import read_id
from fe.ecf.qr_code import qr_code
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.messages import say
from fe.http.parameters import read_choice, read_track_or_id
from fe.lifecycle import Status
from fe.offload.pool import Apart
from fe.printing import FiscalStanding, NotPrintable, PaperSize, PrintOptions, TooManyPages, pdf, ticket
from fe.printing.options import TEMPLATE
from fe.store.postgres.db import Database
from fe.store.records import received, submissions
from fe.store.records.submissions import Record

SHEETS_AND_ROLLS = tuple(map(str, PaperSize))
ROLLS = tuple(str(paper) for paper in PaperSize if paper.is_roll)
LANGUAGES = ("es", "en")
_KEPT, _KEPT_BYTES = 256, 256 * 1024
_STANDINGS = {
    Status.ACCEPTED: FiscalStanding.ACCEPTED,
    Status.CONDITIONAL: FiscalStanding.ACCEPTED,
    Status.REJECTED: FiscalStanding.VOID,
    Status.ERROR: FiscalStanding.VOID,
}
_FOREVER = ("Cache-Control", "private, max-age=86400")


class PrintHandlers:
    """The handlers that print issued and received receipts."""

    def __init__(self, db: Database, printers: Apart, *, ecf_host: str, fc_host: str) -> None:
        self._db = db
        self._printers = printers
        self._ecf_host, self._fc_host = ecf_host, fc_host
        self._made: ExpiringCache[object, bytes] = ExpiringCache(_KEPT)

    async def issued_pdf(self, call: Call) -> ApiReply:
        """Print an issued receipt as PDF."""
        options = _options(call.query(), SHEETS_AND_ROLLS)
        record, xml = await self._issued(call)
        return await self._pdf(call, xml, _for(record, options), record.e_ncf)

    async def issued_ticket(self, call: Call) -> ApiReply:
        """Print an issued receipt as ESC/POS."""
        options, raster = _options(call.query(), ROLLS), _raster(call.query())
        record, xml = await self._issued(call)
        return await self._ticket(call, xml, _for(record, options), raster)

    async def received_pdf(self, call: Call) -> ApiReply:
        """Print a received receipt as PDF."""
        options = _options(call.query(), SHEETS_AND_ROLLS)
        xml, options, e_ncf = await self._received(call, options)
        return await self._pdf(call, xml, options, e_ncf)

    async def received_ticket(self, call: Call) -> ApiReply:
        """Print a received receipt as ESC/POS."""
        options, raster = _options(call.query(), ROLLS), _raster(call.query())
        xml, options, _ = await self._received(call, options)
        return await self._ticket(call, xml, options, raster)

    async def qr_png(self, call: Call) -> ApiReply:
        """Draw the QR code of an issued receipt as PNG."""
        return await self._qr(call, "png", "image/png")

    async def qr_svg(self, call: Call) -> ApiReply:
        """Draw the QR code of an issued receipt as SVG."""
        return await self._qr(call, "svg", "image/svg+xml")

    async def _pdf(self, call: Call, xml: bytes, options: PrintOptions, e_ncf: str | None) -> ApiReply:
        made = await self._print(call, "pdf", pdf, xml, options)
        named = ("Content-Disposition", f'inline; filename="{e_ncf or "e-CF"}.pdf"')
        return ApiReply(200, made, (("Content-Type", "application/pdf"), named))

    async def _ticket(self, call: Call, xml: bytes, options: PrintOptions, raster: bool) -> ApiReply:
        made = await self._print(call, f"ticket{raster}", _raster_ticket if raster else ticket, xml, options)
        return ApiReply(200, made, (("Content-Type", "application/octet-stream"),))

    async def _print(
        self, call: Call, kind: str, work: Callable[[bytes, PrintOptions], bytes], xml: bytes, options: PrintOptions
    ) -> bytes:
        key = f"{TEMPLATE} {kind}", sha256(xml).digest(), options
        try:
            return await self._make(call, key, work, xml, options)
        except (NotPrintable, TooManyPages):
            raise ApiError(409, say("not-printable")) from None

    async def _make(self, call: Call, key: object, work: Callable[..., bytes], *given: Any) -> bytes:
        made = self._made.get(key)
        if made is None:
            made = await self._printers.run(call.identity.tenant_id, work, *given)
            if len(made) <= _KEPT_BYTES:
                self._made.put(key, made)
        return made

    async def _issued(self, call: Call) -> tuple[Record, bytes]:
        record = await self._find(call)
        kind, xml = await self._db.run_for(call.identity.tenant_id, submissions.xml, record.submission_id)
        if kind != "signed":
            raise ApiError(409, say("not-signed-yet"))
        return record, xml

    async def _find(self, call: Call) -> Record:
        wanted = read_track_or_id(call.params["track_or_id"])
        record = None
        if wanted is not None:
            record = await self._db.run_for(call.identity.tenant_id, submissions.find, wanted)
        if record is None:
            raise ApiError(404, say("no-receipt"))
        return record

    async def _received(self, call: Call, options: PrintOptions) -> tuple[bytes, PrintOptions, str]:
        wanted = read_id(call.params["received_id"])
        record = None if wanted is None else await self._db.run_for(call.identity.tenant_id, received.one, wanted)
        if record is None:
            raise ApiError(404, say("no-received"))
        xml, _ = await self._db.run_for(call.identity.tenant_id, received.documents, record.received_id)
        environment, ecf, fc = record.environment, self._ecf_host, self._fc_host
        return xml, replace(options, environment=environment, ecf_host=ecf, fc_host=fc), record.e_ncf

    async def _qr(self, call: Call, kind: str, media_type: str) -> ApiReply:
        record = await self._find(call)
        if record.qr_code_url is None:
            raise ApiError(409, say("not-signed-yet"))
        asked = record.qr_code_url, kind
        made = await self._make(call, asked, _qr_picture, *asked)
        return ApiReply(200, made, (("Content-Type", media_type), _FOREVER))


def _qr_picture(address: str, kind: str) -> bytes:
    made = io.BytesIO()
    qr_code(address).save(made, kind=kind, scale=6, border=4)
    return made.getvalue()


def _raster_ticket(xml: bytes, options: PrintOptions) -> bytes:
    return ticket(xml, options, raster=True)


def _options(query: Mapping[str, str], layouts: tuple[str, ...]) -> PrintOptions:
    layout = read_choice(query, "layout", layouts)
    language = read_choice(query, "language", LANGUAGES)
    return PrintOptions(layout=PaperSize(layout), language="en" if language == "en" else "es")


def _raster(query: Mapping[str, str]) -> bool:
    return read_choice(query, "qr", ("native", "raster")) == "raster"


def _for(record: Record, options: PrintOptions) -> PrintOptions:
    """Add what the paper may claim: nothing but a preview before there is a verdict."""
    standing = _STANDINGS.get(record.status, FiscalStanding.PREVIEW)
    return replace(options, environment=record.environment, standing=standing, url=record.qr_code_url or "")
