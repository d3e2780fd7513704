"""The mail of a receipt to its buyer: what became of it, why there was none, and sending it again."""

from dataclasses import dataclass
from datetime import datetime

from fe.ecf.catalogue import Environment, Root
from fe.ecf.mail_address import BadAddress, parse_address
from fe.ecf.texts import Text
from fe.identifiers import SubmissionId
from fe.lifecycle import Status
from fe.portal.document_facts import Facts
from fe.portal.page_types import Needs, Page
from fe.portal.receipt_words import MAILS, Badge
from fe.portal.replies import Refused, Reply, not_found
from fe.portal.visit import Visit
from fe.store.portal import receipt as store
from fe.store.portal.receipt import ReceiptRecord
from fe.store.postgres.db import Conn
from fe.store.records import mail, submissions
from fe.store.records.mail import CAPPED, MailState

_TEST = Text(
    "None was sent: in the test environments mail goes to an address that a program gives, never to the buyer's.",
    "No se envió ninguno: en los ambientes de prueba se usa el correo que indica un programa, nunca el del comprador.",
)
_NO_ADDRESS = Text(
    "None was sent: the receipt has no e-mail address of its buyer.",
    "No se envió ninguno: el comprobante no lleva un correo electrónico del comprador.",
)
_WAS_OFF = Text(
    "None was sent: mail to buyers was off when the DGII accepted the receipt.",
    "No se envió ninguno: el correo a los compradores estaba desactivado cuando la DGII aceptó el comprobante.",
)
_CAPPED = Text(
    "The company's mails of the day are used up: it goes out tomorrow, or once the daily limit is raised.",
    "Se agotaron los correos del día de la empresa: sale mañana, o en cuanto se aumente el máximo diario.",
)
_AGAIN = Text(
    "The mail server has not taken it yet: it is tried again.",
    "El servidor de correo todavía no lo acepta: se intentará de nuevo.",
)
_BAD_RECIPIENT = Text("The mail server refused this address.", "El servidor de correo no acepta esta dirección.")
_BAD_MESSAGE = Text("The mail server refused this message.", "El servidor de correo no acepta este mensaje.")
_LISTED = Text(
    "It is among the addresses that get no mail, on the page Mail.",
    "Está entre las direcciones que no reciben correo, en la página Correo.",
)
_GAVE_UP = Text("The mail server did not take it for three days.", "El servidor de correo no lo aceptó en tres días.")
_SENT = Text("The mail to {address} is on its way.", "El correo a {address} está en camino.")
_NOT_NOW = Text(
    "Nothing was sent: its mail is on its way already, or mail to buyers is off.",
    "No se envió nada: su correo ya está en camino, o el correo a los compradores está desactivado.",
)
_WRONG = Text("Nothing was sent: the address {why}.", "No se envió nada: la dirección {why}.")


@dataclass(frozen=True, slots=True)
class MailStanding:
    """Mail of a receipt as its page shows it. Without a badge there was none, and `reason` says why."""

    badge: Badge | None
    at: datetime | None
    address: str | None
    reason: Text | None
    #: The mail server's own words.
    answer: str | None
    #: The address to offer where it can be sent again; None where it cannot.
    offered: str | None


async def mail_of(visit: Visit, receipt: ReceiptRecord, facts: Facts) -> MailStanding | None:
    """Find what became of a receipt's mail; None where there was to be none, and before its first try."""
    if not _is_accepted(receipt):
        return None
    found = await visit.read(submissions.find, receipt.submission_id)
    is_on = (await visit.read(mail.choice_of)).in_force is not None
    may_send = is_on and visit.company.writes
    if found is None or found.mail_state is None:
        offered = _offered(facts.buyer_mail) if may_send else None
        return MailStanding(None, None, None, _why_none(receipt, facts), None, offered) if is_on else None
    state, address = found.mail_state, found.mail_address
    if state is MailState.WAITING and address is None:
        return None
    reason, answer = _said(state, found.mail_reason)
    offered = (address or "") if may_send and state is not MailState.WAITING else None
    return MailStanding(MAILS[state], found.mail_at, address, reason, answer, offered)


async def send(visit: Visit) -> Reply:
    """Send the mail of a receipt to the address of the form, also one that was sent before."""
    receipt = await visit.read(store.one, SubmissionId(visit.params["submission"]))
    if receipt is None or receipt.environment is not visit.environment:
        raise not_found()
    try:
        address = parse_address(visit.form.get("address"))
    except BadAddress as bad:
        raise Refused(400, _WRONG.fill(why=bad.text)) from None

    async def do(conn: Conn) -> None:
        choice = await mail.choice_of(conn, visit.tenant_id)
        may_go = choice.in_force is not None and _is_accepted(receipt)
        if not may_go or not await mail.resend(
            conn, visit.tenant_id, receipt.submission_id, receipt.environment, address
        ):
            raise Refused(409, _NOT_NOW)
        after = {"eNCF": receipt.e_ncf, "email": address}
        await visit.note(conn, "receipt mailed", str(receipt.submission_id), None, after)

    await visit.change(do)
    return await visit.go(visit.within(f"submissions/{receipt.submission_id}"), _SENT.fill(address=address))


def _is_accepted(receipt: ReceiptRecord) -> bool:
    return receipt.status in (Status.ACCEPTED, Status.CONDITIONAL) and receipt.root == Root.ECF


def _why_none(receipt: ReceiptRecord, facts: Facts) -> Text:
    if receipt.environment is not Environment.ECF:
        return _TEST
    return _WAS_OFF if _offered(facts.buyer_mail) else _NO_ADDRESS


def _offered(address: str | None) -> str:
    try:
        return parse_address((address or "").strip())
    except BadAddress:
        return ""


def _said(state: MailState, reason: str | None) -> tuple[Text | None, str | None]:
    """Say in plain words why it is in this state, and what the mail server answered to a refused one."""
    match state:
        case MailState.WAITING if reason is not None:
            return (_CAPPED if reason == CAPPED else _AGAIN), None
        case MailState.REFUSED:
            what, _, answer = (reason or "").rpartition("not accepted: ")
            return (_BAD_MESSAGE if what.startswith("message") else _BAD_RECIPIENT), answer or None
        case MailState.SUPPRESSED:
            return _LISTED, None
        case MailState.FAILED:
            return _GAVE_UP, None
    return None, None


PAGES = (
    Page(
        "POST",
        "/companies/<int:company>/<environment>/submissions/<uuid:submission>/mail",
        Needs.WRITE,
        send,
    ),
)
