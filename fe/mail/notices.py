"""The mail of notices to an owner: one company's certificates, sequences and rejected receipts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from html import escape
from uuid import uuid4

from fe.ecf.mail_address import MailAddress
from fe.ecf.texts import Language, Text
from fe.mail.message import clean, message_id_of, new_message
from fe.mail.relay import Relay

_SUBJECT = Text("{company}: {many} notices", "{company}: {many} avisos")
_ONE = Text("{company}: 1 notice", "{company}: 1 aviso")
_INTRODUCTION = Text("{company} needs your attention:", "{company} requiere su atención:")
_WHY = Text(
    "You get this mail, at most once a day, because you administer the company in the portal. To stop it, open this"
    " page, clear the box, and save:",
    "Usted recibe este correo, a lo sumo una vez al día, porque administra la empresa en el portal. Para no recibirlo"
    " más, abra esta página, desmarque la casilla y guarde:",
)


@dataclass(frozen=True, slots=True)
class NoticeLine:
    """A sentence, the page that it is about, and names of receipts below it with their pages."""

    text: str
    url: str
    receipts: Sequence[tuple[str, str]] = ()


def notice_message(
    relay: Relay,
    recipient: MailAddress,
    at: datetime,
    language: Language,
    company: str,
    rnc: str,
    lines: Sequence[NoticeLine],
    settings_url: str,
) -> EmailMessage:
    """Make the mail. `settings_url` is the page on which the owner switches it off."""
    name = clean(company)
    subject = (_ONE if len(lines) == 1 else _SUBJECT).fill(company=name, many=len(lines)).said(language)
    message = new_message(relay, recipient, at, subject, message_id_of(uuid4(), relay.sender))
    message["List-Unsubscribe"] = f"<{settings_url.partition('#')[0]}>"
    message["Auto-Submitted"] = "auto-generated"
    named = f"{name} (RNC {clean(rnc)})" if rnc else name
    introduction = _INTRODUCTION.fill(company=named).said(language)
    why = _WHY.said(language)
    text = [introduction]
    for line in lines:
        receipts = "".join(f"\n  - {clean(what)}\n    {url}" for what, url in line.receipts)
        text.append(f"* {clean(line.text, 500)}\n  {line.url}{receipts}")
    message.set_content("\n\n".join([*text, f"{why}\n{settings_url}"]) + "\n", cte="quoted-printable")
    items = "".join(
        f'<li style="margin-bottom:8px"><a href="{escape(line.url)}">{escape(clean(line.text, 500))}</a>'
        + _html_list([f'<a href="{escape(url)}">{escape(clean(what))}</a>' for what, url in line.receipts])
        + "</li>"
        for line in lines
    )
    html = (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
        '<body style="font-family:sans-serif;overflow-wrap:anywhere">'
        f"<p>{escape(introduction)}</p><ul>{items}</ul>"
        f'<p><small>{escape(why)} <a href="{escape(settings_url)}">{escape(settings_url)}</a></small></p>'
        "</body></html>\n"
    )
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    return message


def _html_list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""
