"""A company's print settings, with a preview of them on a sample receipt."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

from fe.accounts.audited_changes import difference
from fe.ecf.texts import Text
from fe.offload.pool import ApartFailed
from fe.portal.page_types import Needs, Page
from fe.portal.printing import PRINTING_FAILED, pdf_reply
from fe.portal.replies import Refused, Reply
from fe.portal.visit import Visit
from fe.printing import BadLogo, BadPrintSetting, FiscalStanding, PrintSettings, check_settings, read_logo
from fe.printing.logo import MAX_BYTES
from fe.printing.options import MAX_COPIES, MAX_FOOTER, MAX_MARK
from fe.printing.sample import sample_receipt
from fe.store.postgres.db import Conn
from fe.store.records import print_settings

#: A file larger than any logo is still read up to here, so that the error appears in the form.
_MAX_BODY_BYTES = 1024 * 1024
#: The form shows the preview in a frame.
_FRAMED = (
    ("Content-Security-Policy", "default-src 'none'; style-src 'self'; frame-ancestors 'self'"),
    ("X-Frame-Options", "SAMEORIGIN"),
)
_SAVED = Text("Print settings saved.", "Ajustes de impresión guardados.")


async def settings(visit: Visit) -> Reply:
    """Show the settings; to an owner as a form."""
    return _form(visit, await visit.read(print_settings.of))


async def save(visit: Visit) -> Reply:
    """Save all settings, or none."""
    try:
        wanted = await _wanted(visit)
    except BadPrintSetting as bad:
        return await _again(visit, bad)

    async def work(conn: Conn) -> None:
        await visit.locked_tenant(conn)
        kept = await print_settings.of(conn, visit.tenant_id)
        await print_settings.put(conn, visit.tenant_id, wanted, visit.now)
        before, after = difference(_shown(kept), _shown(wanted))
        if before != after:
            await visit.note(conn, "print settings changed", visit.company.tenant.name, before, after)

    await visit.change(work)
    return await visit.go(visit.at("printing"), _SAVED)


async def preview(visit: Visit) -> Reply:
    """Print a sample receipt with the settings of the form, or name what is wrong with them; change nothing."""
    try:
        reply = await _sample(visit, await _wanted(visit))
    except BadPrintSetting as bad:
        reply = visit.page("company/print_problem.html", 400, problem=bad)
    return replace(reply, headers=(*reply.headers, *_FRAMED))


async def _sample(visit: Visit, wanted: PrintSettings) -> Reply:
    issuer = visit.company.tenant.issuer
    rnc, name, address = (str(issuer.get(each, "")) for each in ("RNCEmisor", "RazonSocialEmisor", "DireccionEmisor"))
    options = replace(wanted.options(), standing=FiscalStanding.PREVIEW)
    return await pdf_reply(visit, sample_receipt(rnc, name, address), options, "preview")


async def _wanted(visit: Visit) -> PrintSettings:
    """Read the form; without a new file the logo stays. Raises BadPrintSetting, Refused."""
    form, upload = visit.form, visit.form.files.get("logo")
    is_new = upload is not None and bool(upload.content)
    logo = upload.content if upload is not None and is_new else None
    if not is_new and not form.has("no_logo"):
        logo = (await visit.read(print_settings.of)).logo
    copies = form.get("copies")
    count = int(copies) if copies in _COPIES else 0
    wanted = check_settings(
        logo=logo,
        accent=form.get("accent"),
        footer=form.get("footer"),
        marks=[mark.strip() for mark in form.every("mark")[:count]],
        language=form.get("language"),
        layout=form.get("layout"),
    )
    if logo is not None and is_new:
        try:
            await visit.portal.printers.run(visit.tenant_id, read_logo, logo)
        except BadLogo as bad:
            raise BadPrintSetting("logo", bad.text) from None
        except ApartFailed:
            raise Refused(503, PRINTING_FAILED) from None
    return wanted


_COPIES = tuple(map(str, range(1, MAX_COPIES + 1)))


async def _again(visit: Visit, bad: BadPrintSetting) -> Reply:
    """Show the sent form with its error. A browser does not keep a chosen file."""
    form = visit.form
    typed = {name: form.get(name) for name in ("accent", "footer", "language", "layout")}
    kept = await visit.read(print_settings.of)
    return _form(visit, kept, bad, {**typed, "marks": list(form.every("mark")), "copies": form.get("copies")})


def _form(
    visit: Visit, kept: PrintSettings, bad: BadPrintSetting | None = None, typed: dict[str, Any] | None = None
) -> Reply:
    values = typed or {**_shown(kept), "copies": str(len(kept.marks))}
    return visit.page(
        "company/printing.html",
        200 if bad is None else 400,
        has_logo=kept.logo is not None,
        values={**values, "marks": [*values["marks"], *[""] * MAX_COPIES][:MAX_COPIES]},
        problem=bad,
        copies=_COPIES,
        largest_kib=MAX_BYTES // 1024,
        longest_footer=MAX_FOOTER,
        longest_mark=MAX_MARK,
    )


def _shown(settings: PrintSettings) -> dict[str, Any]:
    """Show settings in a record of changes; of the logo, the beginning of its digest."""
    return {
        "logo": None if settings.logo is None else sha256(settings.logo).hexdigest()[:16],
        "accent": settings.accent,
        "footer": settings.footer,
        "marks": list(settings.marks),
        "language": str(settings.language),
        "layout": str(settings.layout),
    }


_HERE = "/companies/<int:company>/printing"
PAGES = (
    Page("GET", _HERE, Needs.READ, settings),
    Page("POST", _HERE, Needs.OWN, save, max_body_bytes=_MAX_BODY_BYTES),
    Page("POST", f"{_HERE}/preview", Needs.OWN, preview, max_body_bytes=_MAX_BODY_BYTES),
)
