"""Problems that only a tenant's records show (messages.toml); the codes are stable.

`fe.ecf.rules` reports problems that the document alone shows.
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from uuid import UUID

import msgspec

from fe.ecf.catalogue import Root
from fe.ecf.data_files import toml_rows
from fe.ecf.dates import show_day
from fe.ecf.document import Document
from fe.ecf.problems import Problem, Repair, Severity, show
from fe.ecf.texts import Text
from fe.identifiers import SubmissionId
from fe.lifecycle import Status


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    code: str
    message: Text
    fix: Text
    path: str = ""
    severity: Severity = Severity.REJECTED


_MESSAGES = toml_rows("issuing/messages.toml", _Message)


def _problem(
    code: str,
    path: str | None = None,
    *,
    found: str | None = None,
    expected: str | None = None,
    repair: Repair | None = None,
    **values: object,
) -> Problem:
    text = _MESSAGES[code]
    message, fix = text.message.fill(**values), text.fix.fill(**values)
    return Problem(
        code=code,
        path=text.path if path is None else path,
        message=message.en,
        message_es=message.es,
        found=found,
        expected=expected,
        fix=fix.en,
        fix_es=fix.es,
        severity=text.severity,
        repair=repair,
    )


def number_taken(document: Document, holder: SubmissionId) -> Problem:
    """The number is accepted, or on its way, under another submission of this tenant in this environment."""
    return _problem("number-taken", found=document.e_ncf, holder=holder)


def number_voided(e_ncf: str, voiding: UUID) -> Problem:
    """The number is in a voiding of this tenant, asked or done: a document that has it ends unsigned."""
    return _problem("number-voided", found=e_ncf, voiding=voiding)


def number_far_ahead(e_ncf: str, skipped: int, left: int) -> Problem:
    """The number skips many unused ones: a typing error can use a sequence up."""
    return _problem("number-far-ahead", found=e_ncf, prefix=e_ncf[:3], skipped=skipped, left=left)


def unknown_user(asked: str, found: str) -> Problem:
    """The tenant has no user with that id or address; `asked` is `asUser` or `asUserId`."""
    return _problem("unknown-user", asked, found=show(found), asked=asked)


def unknown_sequence(prefix: str, name: str, names: Sequence[str]) -> Problem:
    """No sequence of the prefix has the name that the client wrote."""
    return _problem(
        "unknown-sequence", found=show(name), expected=", ".join(names) or None, asked=show(name), prefix=prefix
    )


def of_the_sequence(name: str | None, prefix: str | None) -> list[Problem]:
    """Remark on a sequence that was named for a document that draws no number (`prefix` is None)."""
    return [] if name is None or prefix is not None else [_problem("sequence-not-drawn", found=show(name))]


def of_the_number(document: Document, prefix: str | None) -> list[Problem]:
    """Remark on an eNCF that is there and empty, where a number of `prefix` is drawn."""
    is_empty = prefix is not None and document.get("Encabezado.IdDoc.eNCF") is not None
    return [_problem("empty-number", found="")] if is_empty else []


def deferral_not_authorised(day: date) -> Problem:
    """It is to be sent later, and no authorisation of that day is on record."""
    return _problem("deferral-not-authorised", found="1", day=show_day(day))


def foreign_issuer(root: Root, path: str, rnc: str, own: str) -> Problem:
    """It is signed for one that is neither the tenant nor one of its users: a remark, not a refusal."""
    who = Text("buyer", "comprador") if root is Root.ACECF else Text("issuer", "emisor")
    return _problem("foreign-issuer", path, found=show(rnc), expected=own or None, who=who)


def modified_not_accepted(e_ncf: str, submission: SubmissionId, status: Status) -> Problem:
    """The receipt that it modifies was not accepted, as far as is known here: a remark, not a refusal."""
    return _problem("modified-not-accepted", found=e_ncf, submission=submission, status=status)


def modified_on_another_day(found: str, issued: str) -> Problem:
    """The note gives the receipt that it modifies another date than that receipt has."""
    repair = Repair("set", _MESSAGES["modified-date"].path, value=issued, certain=False)
    return _problem("modified-date", found=show(found), expected=issued, repair=repair)


def modified_of_another_buyer(found: str, buyer: str) -> Problem:
    """The note has another buyer than the receipt that it modifies: a remark, not a refusal."""
    return _problem("modified-buyer", found=show(found), expected=buyer)


def credited_too_much(total: Decimal, before: Decimal, receipt: Decimal) -> Problem:
    """The credit notes on a receipt come to more than the receipt (authority.md#references)."""
    left = max(receipt - before, Decimal(0))
    return _problem(
        "credited-too-much", found=f"{total:.2f}", expected=f"<= {left:.2f}", before=before, receipt=receipt
    )


def goes_out_whole(document: Document) -> Problem:
    """A consumer invoice under the threshold of a tenant whose program makes the summaries: a remark, not a refusal."""
    return _problem("goes-out-whole", found=show(document.get("Encabezado.Totales.MontoTotal")))


def no_certificate(said: Text) -> Problem:
    """No certificate could sign it at that moment; `said` is what the receipt would end with."""
    return _problem("no-certificate", said=said)
