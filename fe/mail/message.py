"""Mails as the standard library's messages: text and HTML, English or Spanish.

Every value in a header is either a parsed address or text without control characters: no line break can enter one.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from html import escape
from urllib.parse import quote

from fe.ecf.mail_address import MailAddress, domain_of
from fe.ecf.texts import Language, Text
from fe.mail.facts import ReceiptFacts
from fe.mail.relay import Relay

#: Longest name shown in a header or a line.
_LONGEST_NAME = 100
#: More is not attached, XML and PDF together: most relays refuse a mail of 10 MB, and base64 adds a third.
MAX_ATTACHED = 6 * 1024 * 1024
_AMOUNT = re.compile(r"[0-9]{1,18}(\.[0-9]{1,4})?")

_SUBJECT = Text("Electronic receipt {number} of {issuer}", "Comprobante electrónico {number} de {issuer}")
_TEST = Text("[TEST, NO FISCAL VALUE] ", "[PRUEBA, SIN VALOR FISCAL] ")
_GREETING = Text("To {buyer}:", "A {buyer}:")
_INTRODUCTION = Text(
    "{issuer} (RNC {rnc}) issued this electronic receipt, and the DGII (tax authority) accepted it.",
    "{issuer} (RNC {rnc}) emitió este comprobante fiscal electrónico y la DGII lo aceptó.",
)
_CONDITIONAL = Text(
    "{issuer} (RNC {rnc}) issued this electronic receipt, and the DGII (tax authority) accepted it conditionally.",
    "{issuer} (RNC {rnc}) emitió este comprobante fiscal electrónico y la DGII lo dio por aceptado condicional.",
)
_LABELS = (
    Text("Receipt (e-NCF)", "Comprobante (e-NCF)"),
    Text("Issue date", "Fecha de emisión"),
    Text("Total", "Monto total"),
    Text("Security code", "Código de seguridad"),
)
_ATTACHED = Text(
    "The signed XML is attached. It is the original: please keep it.",
    "El XML firmado va adjunto. Es el original: consérvelo.",
)
_BOTH_ATTACHED = Text(
    "A PDF and the signed XML are attached. The XML is the original: please keep it.",
    "Van adjuntos un PDF y el XML firmado. El XML es el original: consérvelo.",
)
_TOO_LARGE = Text(
    "The signed XML is too large for a mail. Please ask the issuer for it.",
    "El XML firmado es muy grande para un correo. Solicítelo al emisor.",
)
_TOO_LARGE_LINKED = Text(
    "The signed XML is too large for a mail. It is the original: please save it from this page.",
    "El XML firmado es muy grande para un correo. Es el original: descárguelo de esta página y consérvelo.",
)
_LINKED = Text(
    "The PDF and the signed XML are on this page. The XML is the original: please save and keep it.",
    "El PDF y el XML firmado están en esta página. El XML es el original: descárguelo y consérvelo.",
)
_CHECK = Text("Check it at the DGII:", "Consúltelo en la DGII:")
_STOP = Text(
    "To receive no more receipts by mail, answer this message with the subject unsubscribe.",
    "Si no desea recibir más comprobantes por correo, responda este mensaje con el asunto «baja».",
)


@dataclass(frozen=True, slots=True)
class ReceiptMail:
    """All that goes into the mail of one receipt. `pdf` is None where none could be made."""

    facts: ReceiptFacts
    signed: bytes
    pdf: bytes | None
    security_code: str | None
    qr_code_url: str | None
    is_conditional: bool
    is_test: bool
    language: Language
    reply_to: MailAddress
    message_id: str
    #: The receipt's page, in place of attachments: the tenant's choice, or the XML is too large for a mail.
    page: str | None = None


def message_id_of(subject: object, sender: MailAddress) -> str:
    """Return the Message-ID of a submission's mail."""
    return f"<{subject}@{domain_of(sender)}>"


def clean(text: str, limit: int = _LONGEST_NAME) -> str:
    """Return a text for one line: no control, bidi or unassigned characters, single blanks, few marks per letter."""
    kept: list[str] = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks <= 2:
            kept.append(character if category[0] != "C" and category not in ("Zl", "Zp") else " ")
    line = " ".join("".join(kept).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def receipt_message(relay: Relay, mail: ReceiptMail, recipient: MailAddress, at: datetime) -> EmailMessage:
    """Make the mail of an accepted receipt."""
    facts, language = mail.facts, mail.language
    issuer = clean(facts.issuer_name) or facts.issuer_rnc
    subject = _SUBJECT.fill(number=clean(facts.e_ncf), issuer=issuer).said(language)
    if mail.pdf is not None and len(mail.signed) + len(mail.pdf) > MAX_ATTACHED:
        mail = replace(mail, pdf=None)
    message = new_message(
        relay, recipient, at, (_TEST.said(language) if mail.is_test else "") + subject, mail.message_id
    )
    del message["From"]
    message["From"] = Address(issuer, addr_spec=relay.sender)
    message["Reply-To"] = Address(issuer, addr_spec=mail.reply_to)
    message["List-Unsubscribe"] = f"<mailto:{quote(mail.reply_to, safe='@')}?subject=unsubscribe>"
    message["Auto-Submitted"] = "auto-generated"
    _set_bodies(message, language, *_bodies(mail, issuer))
    name = re.sub(r"[^0-9A-Za-z]", "", f"{facts.issuer_rnc}{facts.e_ncf}") or "receipt"
    if mail.page is None and len(mail.signed) <= MAX_ATTACHED:
        message.add_attachment(mail.signed, maintype="application", subtype="xml", filename=f"{name}.xml")
    if mail.pdf is not None:
        message.add_attachment(mail.pdf, maintype="application", subtype="pdf", filename=f"{name}.pdf")
    return message


def _bodies(
    mail: ReceiptMail, issuer: str
) -> tuple[list[str], list[tuple[str, str]], list[tuple[str, str]], list[str]]:
    """Return the lines before the facts, the facts by label, links with their words, and the lines after."""
    facts, language = mail.facts, mail.language
    said = _CONDITIONAL if mail.is_conditional else _INTRODUCTION
    before = [said.fill(issuer=issuer, rnc=clean(facts.issuer_rnc)).said(language)]
    if buyer := clean(facts.buyer_name):
        before.insert(0, _GREETING.fill(buyer=buyer).said(language))
    if mail.is_test:
        before.insert(0, _TEST.said(language).strip())
    values = (facts.e_ncf, facts.issued_on, shown_amount(facts.total), mail.security_code or "")
    shown = [(label.said(language), clean(value)) for label, value in zip(_LABELS, values, strict=True) if value]
    attached = _TOO_LARGE
    if len(mail.signed) <= MAX_ATTACHED:
        attached = _ATTACHED if mail.pdf is None else _BOTH_ATTACHED
    links = [(_CHECK.said(language), mail.qr_code_url)] if mail.qr_code_url else []
    links = [(words, url) for words, url in links if url.startswith(("https://", "http://"))]
    after = [attached.said(language), _STOP.said(language)]
    if mail.page is not None:
        linked = _LINKED if len(mail.signed) <= MAX_ATTACHED else _TOO_LARGE_LINKED
        return before, shown, [*links, (linked.said(language), mail.page)], after[1:]
    return before, shown, links, after


def _set_bodies(
    message: EmailMessage,
    language: Language,
    before: Sequence[str],
    shown: Sequence[tuple[str, str]],
    links: Sequence[tuple[str, str]],
    after: Sequence[str],
) -> None:
    """Set the text, and the same as HTML without anything fetched from elsewhere."""
    facts = "\n".join(f"{label}: {value}" for label, value in shown)
    linked = [f"{words}\n{url}" for words, url in links]
    message.set_content("\n\n".join([*before, facts, *linked, *after]) + "\n", cte="quoted-printable")
    cells = "".join(
        f'<tr><th align="left" style="padding:2px 16px 2px 0">{escape(label)}</th><td>{escape(value)}</td></tr>'
        for label, value in shown
    )
    links_html = "".join(f'<p>{escape(words)} <a href="{escape(url)}">{escape(url)}</a></p>' for words, url in links)
    html = (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
        '<body style="font-family:sans-serif;overflow-wrap:anywhere">'
        + "".join(f"<p>{escape(line)}</p>" for line in before)
        + f"<table>{cells}</table>{links_html}"
        + "".join(f"<p>{escape(line)}</p>" for line in after)
        + "</body></html>\n"
    )
    message.add_alternative(html, subtype="html", cte="quoted-printable")


def shown_amount(written: str) -> str:
    """Return an amount of a document as people read it; other texts as they are."""
    if not _AMOUNT.fullmatch(written):
        return written
    whole, _, cents = written.partition(".")
    return f"RD$ {int(whole):,}.{cents.ljust(2, '0')}"


def link_message(
    relay: Relay, recipient: MailAddress, at: datetime, subject: str, lines: Sequence[str], url: str, message_id: str
) -> EmailMessage:
    """Make a plain mail with one link: an invitation, or a password link."""
    message = new_message(relay, recipient, at, clean(subject, 150), message_id)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n\n".join([*(clean(line, 500) for line in lines), url]) + "\n", cte="quoted-printable")
    return message


def new_message(relay: Relay, recipient: MailAddress, at: datetime, subject: str, message_id: str) -> EmailMessage:
    """Begin a mail of the installation: its headers, without a body."""
    message = EmailMessage(policy=SMTP)
    message["From"] = Address(clean(relay.sender_name), addr_spec=relay.sender)
    message["To"] = Address(addr_spec=recipient)
    message["Subject"] = subject
    message["Date"] = format_datetime(at)
    message["Message-ID"] = message_id
    return message
