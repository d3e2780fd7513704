"""Printed receipts over HTTP: PDF, receipt printer's bytes, the QR code as a picture, and the tenant's settings.

Printing takes 40 ms of CPU, and up to two seconds; a QR code takes 13 ms. Processes of a pool of its own do it at low
priority, so that no receipt waits to be taken in. Prints are cached by the digest of the XML and the options, QR codes
by their address.
"""

import io
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from fe.archiving.documents import FoundXml, ReceiptDocuments
from fe.cache import ExpiringCache
from fe.clock import Clock
from fe.ecf.identity import e_ncf
from fe.ecf.ids import read_id
from fe.ecf.qr_code import qr_code
from fe.http.api_headers import ARCHIVED
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.messages import must_be, say
from fe.http.models.printing import PRINT_SETTINGS, PrintSettingsAnswer, PrintSettingsRequest
from fe.http.parameters import read_choice, read_track_or_id
from fe.http.request_bodies import read_body
from fe.lifecycle import Status
from fe.offload.pool import Apart
from fe.printing import (
    BadLogo,
    BadPrintSetting,
    FiscalStanding,
    NotPrintable,
    PaperSize,
    PrintOptions,
    PrintSettings,
    TooManyPages,
    check_settings,
    pdf,
    qr_address,
    read_logo,
    ticket,
)
from fe.printing.options import print_key
from fe.printing.settings import LANGUAGES, LAYOUTS, LOGO_FORM, ROLLS
from fe.store.postgres.db import Database
from fe.store.records import modes, print_settings, received, submissions
from fe.store.records.modes import SignedReceipt
from fe.store.records.print_settings import CachedPrintSettings
from fe.store.records.received import ReceivedRecord
from fe.store.records.submissions import Record

_KEPT, _KEPT_BYTES = 256, 256 * 1024
_STANDINGS = {
    Status.ACCEPTED: FiscalStanding.ACCEPTED,
    Status.CONDITIONAL: FiscalStanding.ACCEPTED,
    Status.REJECTED: FiscalStanding.VOID,
    Status.ERROR: FiscalStanding.VOID,
}
_FOREVER = ("Cache-Control", "private, max-age=86400")


class PrintHandlers:
    """The handlers that print issued and received receipts, and of the settings of prints."""

    def __init__(
        self, documents: ReceiptDocuments, printers: Apart, clock: Clock, *, ecf_host: str, fc_host: str
    ) -> None:
        self._documents = documents
        self._db = db = documents.db
        self._printers = printers
        self._clock = clock
        self._ecf_host, self._fc_host = ecf_host, fc_host
        self._settings = CachedPrintSettings(db)
        self._made: ExpiringCache[object, bytes] = ExpiringCache(_KEPT)

    async def settings(self, call: Call) -> ApiReply:
        """Show the tenant's settings."""
        found = await self._db.run_for(call.identity.tenant_id, print_settings.of)
        return ApiReply(200, PRINT_SETTINGS.write(_shown(found)))

    async def put_settings(self, call: Call) -> ApiReply:
        """Set all of the tenant's settings."""
        body = read_body(PrintSettingsRequest, await call.body())
        tenant_id = call.identity.tenant_id
        try:
            logo = None if body.logo is None else b64decode(body.logo, validate=True)
        except ValueError:
            raise ApiError(400, must_be("logo", say("base64-of", what=LOGO_FORM))) from None
        try:
            wanted = check_settings(
                logo=logo,
                accent=body.accent,
                footer=body.footer,
                marks=body.marks,
                language=body.language,
                layout=body.layout,
            )
            if logo is not None:
                await self._printers.run(tenant_id, read_logo, logo)
        except BadPrintSetting as bad:
            raise ApiError(400, must_be(bad.field, bad.text)) from None
        except BadLogo as bad:
            raise ApiError(400, must_be("logo", bad.text)) from None
        await self._db.run_for(tenant_id, print_settings.put, wanted, self._clock())
        self._settings.forget(tenant_id)
        answer = _shown(wanted)
        if body.ignored:
            answer["warnings"] = serialize_problems(body.ignored, call.language)
        return ApiReply(200, PRINT_SETTINGS.write(answer))

    async def issued_pdf(self, call: Call) -> ApiReply:
        """Print an issued receipt as PDF."""
        options = await self._options(call, LAYOUTS)
        record, found = await self._issued(call)
        reply = await self._pdf(call, found.content, await self._for_issued(call, record, options), record.e_ncf)
        return replace(reply, headers=(*reply.headers, *ARCHIVED)) if found.is_archived else reply

    async def printer(self, call: Call) -> Callable[[Record | ReceivedRecord, bytes], Awaitable[bytes]]:
        """Make the printer of many receipts, with the options of a call."""
        options = await self._options(call, LAYOUTS)

        async def print_one(record: Record | ReceivedRecord, xml: bytes) -> bytes:
            if isinstance(record, ReceivedRecord):
                return await self._print(call, "pdf", pdf, xml, self._for_received(record, options))
            return await self._print(call, "pdf", pdf, xml, await self._for_issued(call, record, options))

        return print_one

    async def issued_ticket(self, call: Call) -> ApiReply:
        """Print an issued receipt as ESC/POS."""
        options, raster = await self._options(call, ROLLS), _raster(call.query())
        record, found = await self._issued(call)
        return await self._ticket(call, found.content, await self._for_issued(call, record, options), raster)

    async def received_pdf(self, call: Call) -> ApiReply:
        """Print a received receipt as PDF."""
        options = await self._options(call, LAYOUTS)
        xml, options, e_ncf = await self._received(call, options)
        return await self._pdf(call, xml, options, e_ncf)

    async def received_ticket(self, call: Call) -> ApiReply:
        """Print a received receipt as ESC/POS."""
        options, raster = await self._options(call, ROLLS), _raster(call.query())
        xml, options, _ = await self._received(call, options)
        return await self._ticket(call, xml, options, raster)

    async def qr_png(self, call: Call) -> ApiReply:
        """Draw the QR code of an issued receipt as PNG."""
        return await self._qr(call, "png", "image/png")

    async def qr_svg(self, call: Call) -> ApiReply:
        """Draw the QR code of an issued receipt as SVG."""
        return await self._qr(call, "svg", "image/svg+xml")

    async def received_qr_png(self, call: Call) -> ApiReply:
        """Draw the QR code of a received receipt as PNG."""
        return await self._received_qr(call, "image/png", _received_png)

    async def received_qr_svg(self, call: Call) -> ApiReply:
        """Draw the QR code of a received receipt as SVG."""
        return await self._received_qr(call, "image/svg+xml", _received_svg)

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
        key = kind, print_key(xml, options)
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

    async def _options(self, call: Call, layouts: tuple[str, ...]) -> PrintOptions:
        """Read the query; what it leaves out is as the tenant set it, on a roll of 80 mm where a roll is needed."""
        query = call.query()
        layout = PaperSize(read_choice(query, "layout", layouts)) if "layout" in query else None
        language = read_choice(query, "language", LANGUAGES) if "language" in query else None
        settings = await self._settings.of(call.identity.tenant_id)
        if layout is None and settings.layout not in layouts:
            layout = PaperSize.ROLL_80
        return settings.options(layout, None if language is None else "en" if language == "en" else "es")

    async def _issued(self, call: Call) -> tuple[Record, FoundXml]:
        record = await find_receipt(self._db, call)
        found = await self._documents.xml(call.identity.tenant_id, record.submission_id)
        if found.kind != "signed":
            raise ApiError(409, say("not-signed-yet"))
        return record, found

    async def _received(self, call: Call, options: PrintOptions) -> tuple[bytes, PrintOptions, str]:
        wanted = read_id(call.params["received_id"])
        record = None if wanted is None else await self._db.run_for(call.identity.tenant_id, received.one, wanted)
        if record is None:
            raise ApiError(404, say("no-received"))
        xml, _ = await self._db.run_for(call.identity.tenant_id, received.documents, record.received_id)
        return xml, self._for_received(record, options), record.e_ncf

    def _for_received(self, record: ReceivedRecord, options: PrintOptions) -> PrintOptions:
        return options.of_received(record.environment, ecf_host=self._ecf_host, fc_host=self._fc_host)

    async def _for_issued(self, call: Call, record: Record, options: PrintOptions) -> PrintOptions:
        in_contingency = await modes.is_in_contingency(self._db, call.identity.tenant_id, record)
        return standing_as(options, record, in_contingency=in_contingency)

    async def _qr(self, call: Call, kind: str, media_type: str) -> ApiReply:
        record = await find_receipt(self._db, call)
        if record.qr_code_url is None:
            raise ApiError(409, say("not-signed-yet"))
        asked = record.qr_code_url, kind
        made = await self._make(call, asked, _qr_picture, *asked)
        return ApiReply(200, made, (("Content-Type", media_type), _FOREVER))

    async def _received_qr(self, call: Call, media_type: str, work: Callable[[bytes, PrintOptions], bytes]) -> ApiReply:
        xml, options, _ = await self._received(call, PrintOptions())
        made = await self._print(call, media_type, work, xml, options)
        return ApiReply(200, made, (("Content-Type", media_type), _FOREVER))


def _received_png(xml: bytes, options: PrintOptions) -> bytes:
    return _qr_picture(qr_address(xml, options), "png")


def _received_svg(xml: bytes, options: PrintOptions) -> bytes:
    return _qr_picture(qr_address(xml, options), "svg")


def _qr_picture(address: str, kind: str) -> bytes:
    made = io.BytesIO()
    qr_code(address).save(made, kind=kind, scale=6, border=4)
    return made.getvalue()


async def find_receipt(db: Database, call: Call) -> Record:
    """Find the receipt that a path names. Raises ApiError (404)."""
    wanted = read_track_or_id(call.params["track_or_id"])
    record = None
    if wanted is not None:
        record = await db.run_for(call.identity.tenant_id, submissions.find, wanted)
    if record is None:
        hint = say("looks-like-e-ncf") if e_ncf(call.params["track_or_id"]) else None
        raise ApiError(404, say("no-receipt"), hint=hint)
    return record


def _raster_ticket(xml: bytes, options: PrintOptions) -> bytes:
    return ticket(xml, options, raster=True)


def _raster(query: Mapping[str, str]) -> bool:
    return read_choice(query, "qr", ("native", "raster")) == "raster"


def standing_as(options: PrintOptions, receipt: SignedReceipt, *, in_contingency: bool) -> PrintOptions:
    """Add to options what the paper of an issued receipt may claim.

    Before the verdict it is a preview, or carries the legend of the contingency in which it is handed over.
    """
    waiting = FiscalStanding.CONTINGENCY if in_contingency else FiscalStanding.PREVIEW
    standing = _STANDINGS.get(receipt.status, waiting)
    return replace(options, environment=receipt.environment, standing=standing, url=receipt.qr_code_url or "")


def _shown(settings: PrintSettings) -> PrintSettingsAnswer:
    return {
        "logo": None if settings.logo is None else b64encode(settings.logo).decode(),
        "accent": settings.accent,
        "footer": settings.footer,
        "marks": list(settings.marks),
        "language": settings.language,
        "layout": settings.layout.value,
    }
