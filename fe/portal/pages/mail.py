"""A company's mail to its buyers: its settings, and the addresses that get none; and notices to its owners."""

from dataclasses import dataclass

from fe.accounts import mail as accounts
from fe.accounts.mail import BadMailSetting, MailForbidden, show_choice
from fe.ecf.mail_address import BadAddress, parse_address
from fe.ecf.texts import Text
from fe.portal.page_types import Needs, Page
from fe.portal.replies import RESUMED, Reply
from fe.portal.visit import Form, Visit
from fe.store.portal import notice_mails
from fe.store.postgres.db import Conn
from fe.store.records import mail
from fe.store.records.mail import MailChoice

_SHOWN = 200
_REASONS = {
    "refused": Text("the mailbox does not exist", "el buzón no existe"),
    "tenant": Text("put here by your company", "agregada por su empresa"),
    "operator": Text("put here by the operator", "agregada por el operador"),
}
_ON = Text(
    "Accepted receipts are sent by mail from now on.", "Desde ahora los comprobantes aceptados se envían por correo."
)
_OFF = Text("No receipts are sent by mail.", "No se envían comprobantes por correo.")
_NOTICES_ON = Text("You get notices by mail.", "Usted recibe los avisos por correo.")
_NOTICES_OFF = Text("You get no notices by mail.", "Usted no recibe avisos por correo.")
_ADDED = Text("The address gets no more mail.", "La dirección no recibe más correos.")
_REMOVED = Text("The address may get mail again.", "La dirección puede recibir correos de nuevo.")
_WAS_SO = Text("Nothing was changed: it was so already.", "No se cambió nada: ya estaba así.")


@dataclass(frozen=True, slots=True)
class _Typed:
    """The form's values."""

    enabled: bool = False
    reply_to: str = ""
    language: str = "es"
    documents: str = "attached"
    a_day: str = "2000"


async def show(visit: Visit) -> Reply:
    """Show the settings and the list."""
    return await _page(visit)


async def _page(
    visit: Visit,
    status: int = 200,
    *,
    typed: _Typed | None = None,
    problems: dict[str, Text] | None = None,
    address: str = "",
) -> Reply:
    choice = await visit.read(mail.choice_of)
    listed = await visit.read(mail.suppressed, limit=_SHOWN)
    notices = await visit.read(notice_mails.last, visit.person.person.person_id)
    return visit.page(
        "company/mail.html",
        status,
        choice=choice,
        shown=show_choice(choice),
        stale=visit.form.get("shown") if typed else None,
        typed=typed or _as_it_is(choice),
        problems=problems or {},
        listed=listed,
        reasons=_REASONS,
        address=address,
        notices=notices,
        has_relay=visit.portal.relay is not None,
    )


def _as_it_is(choice: MailChoice) -> _Typed:
    found = choice.settings
    if found is None:
        return _Typed()
    return _Typed(choice.enabled, found.reply_to, found.language, found.documents, str(found.a_day))


async def save(visit: Visit) -> Reply:
    """Set all settings, or none."""
    typed = _typed(visit.form)
    try:
        settings = accounts.check_settings(
            reply_to=typed.reply_to, language=typed.language, documents=typed.documents, a_day=_number(typed.a_day)
        )

        async def work(conn: Conn) -> None:
            await visit.locked_tenant(conn)
            visit.require_unchanged(show_choice(await mail.choice_of(conn, visit.tenant_id)))
            await accounts.change_settings(conn, visit.author, visit.tenant_id, settings, enabled=typed.enabled)

        await visit.change(work)
    except BadMailSetting as bad:
        return await _page(visit, 400, typed=typed, problems={bad.field: bad.text})
    except MailForbidden as forbidden:
        return await _page(visit, 409, typed=typed, problems={"": forbidden.text})
    return await visit.go(visit.at("mail"), _ON if typed.enabled else _OFF)


async def suppress(visit: Visit) -> Reply:
    """Put an address on the list of those that get no mail."""
    written = visit.form.get("address")
    try:
        address = parse_address(written)
    except BadAddress as bad:
        return await _page(visit, 400, problems={"address": bad.text}, address=written)

    async def work(conn: Conn) -> bool:
        return await accounts.suppress(conn, visit.author, visit.company.tenant, address)

    return await visit.go(visit.at("mail"), _ADDED if await visit.change(work) else _WAS_SO)


async def allow(visit: Visit) -> Reply:
    """Take an address off that list."""
    try:
        address = parse_address(visit.form.get("address"))
    except BadAddress as bad:
        return await _page(visit, 400, problems={"address": bad.text})

    async def work(conn: Conn) -> bool:
        return await accounts.allow(conn, visit.author, visit.company.tenant, address)

    return await visit.go(visit.at("mail"), _REMOVED if await visit.change(work) else _WAS_SO)


async def switch_notices(visit: Visit) -> Reply:
    """Switch the mails of notices to this owner on or off."""
    on = visit.form.get("notices") == "yes"

    async def work(conn: Conn) -> None:
        await notice_mails.switch(conn, visit.tenant_id, visit.person.person.person_id, on=on)

    await visit.change(work)
    return await visit.go(visit.at("mail"), _NOTICES_ON if on else _NOTICES_OFF)


async def resume(visit: Visit) -> Reply:
    """Show a form of an earlier session with its typed text; change nothing."""
    return await _page(visit, 403, typed=_typed(visit.form), problems={"": RESUMED})


def _typed(form: Form) -> _Typed:
    return _Typed(
        form.get("enabled") == "yes",
        form.get("reply_to"),
        form.get("language"),
        form.get("documents"),
        form.get("a_day"),
    )


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


PAGES = (
    Page("GET", "/companies/<int:company>/mail", Needs.READ, show),
    Page("POST", "/companies/<int:company>/mail", Needs.OWN, save, resume=resume),
    Page("POST", "/companies/<int:company>/mail/notices", Needs.OWN, switch_notices),
    Page("POST", "/companies/<int:company>/mail/suppress", Needs.WRITE, suppress),
    Page("POST", "/companies/<int:company>/mail/allow", Needs.WRITE, allow),
)
