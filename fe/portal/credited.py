"""Credit notes on a receipt, and how much of it is left to credit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import trio

from fe.ecf.catalogue import Root
from fe.ecf.document import NotADocument, read_xml
from fe.ecf.modified import NOTES, total_in
from fe.ecf.money import ZERO, exact
from fe.ecf.parse import Malformed, parse_xml
from fe.ecf.reading import rows
from fe.identifiers import SubmissionId
from fe.lifecycle import Status
from fe.portal.visit import Visit
from fe.store.portal.receipt import ReceiptRecord
from fe.store.records import numbers
from fe.store.records.numbers import NumberUse


@dataclass(frozen=True, slots=True)
class CreditNote:
    """A signed credit note on a receipt, and its lines."""

    submission_id: SubmissionId
    status: Status
    e_ncf: str
    total: Decimal
    items: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Credited:
    """The credit notes on a receipt, the oldest first; rejected ones are left out. `total` is the receipt's."""

    notes: Sequence[CreditNote] = ()
    total: Decimal = ZERO

    @property
    def amount(self) -> Decimal:
        """The sum of the notes."""
        with exact():
            return sum((one.total for one in self.notes), ZERO)

    @property
    def left(self) -> Decimal:
        """The amount that another note may credit."""
        with exact():
            return max(self.total - self.amount, ZERO)


async def credited_of(visit: Visit, receipt: ReceiptRecord) -> Credited:
    """Find the credit notes on an accepted receipt, as validation does (fe/store/records/numbers.py)."""
    is_receipt = receipt.root in (Root.ECF, Root.RFCE) and receipt.ecf_type not in NOTES
    if not is_receipt or receipt.e_ncf is None or receipt.status not in (Status.ACCEPTED, Status.CONDITIONAL):
        return Credited()
    uses = await visit.read(numbers.issued, receipt.environment, receipt.e_ncf)
    own = next((one.signed for one in uses if one.submission_id == receipt.submission_id), None)
    ours = [one for one in uses if one.is_note and one.issuer_rnc in (None, receipt.issuer_rnc)]
    read = await trio.to_thread.run_sync(lambda: [_note(one) for one in ours]) if ours else []
    notes = sorted((one for one in read if one is not None), key=lambda one: one.submission_id)
    return Credited(notes, ZERO if own is None else total_in(own))


def _note(use: NumberUse) -> CreditNote | None:
    signed = use.signed or b""
    try:
        document = read_xml(parse_xml(signed))
    except (Malformed, NotADocument):
        return None
    items = rows(document.content, "DetallesItems", "Item")
    return CreditNote(use.submission_id, use.status, document.e_ncf or "", total_in(signed), items)
