"""Check and issue the receipt in the form by the rules of the public API, with results for people to read."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import trio

from fe.ecf.catalogue import Environment
from fe.ecf.document import Document
from fe.ecf.json_text import write_canonical_json
from fe.ecf.money import CENT, ZERO, number
from fe.ecf.parse import parse_json
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import Text
from fe.identifiers import PORTAL_KEY, ClientRequestId, TenantId, UserId
from fe.issuing.accept import admit
from fe.issuing.prepare import Draft
from fe.issuing.validate import DraftInThreads, is_fatal, unsigned
from fe.portal.deps import Portal
from fe.portal.receipt.entry import ReceiptEntry, amount_typed
from fe.portal.receipt.notices import Notices, place_all
from fe.store.records.submissions import Accepted, NewSubmission

#: Shown totals, in this order.
_TOTALS = (
    *("MontoGravadoTotal", "MontoExento", "TotalITBIS", "MontoImpuestoAdicional", "MontoTotal", "MontoNoFacturable"),
    *("TotalITBISRetenido", "TotalISRRetencion", "ValorPagar"),
)
#: A payload of the form is never longer: the form is not.
_MAX_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class CheckedReceipt:
    """Result of validating: problems at their fields, and the computed values, if they can be computed."""

    problems: list[Problem]
    notices: Notices
    number: str | None = None
    totals: dict[str, str] = field(default_factory=dict)
    #: The amount of each line, in their order.
    amounts: list[str] = field(default_factory=list)
    #: Sum of the prices with ITBIS, when the total differs from it by rounding.
    prices: Decimal | None = None
    #: The total without the taxes that are withheld: the amount that the supplier gets.
    net: Decimal | None = None
    #: Change to give: the money paid minus the total.
    change: Decimal | None = None
    #: Warnings for a person; they do not prevent issuing.
    doubts: list[Text] = field(default_factory=list)

    @property
    def fatal(self) -> bool:
        """Whether it would not be sent."""
        return is_fatal(self.problems)

    @property
    def remarks(self) -> list[list[str]]:
        """Return the warnings that a person must confirm before issuing."""
        return [[one.code, one.path] for one in self.problems if one.severity is Severity.CONDITIONAL]


@dataclass(frozen=True, slots=True)
class Issuing:
    """A form that is checked or issued: for whom, under which id of its own, and when."""

    portal: Portal
    tenant_id: TenantId
    environment: Environment
    entry: ReceiptEntry
    now: datetime
    request_id: ClientRequestId

    async def read(self) -> tuple[Draft, int]:
        """Make the draft, and say how many bytes it has. Raises Malformed for what no client may send either."""
        payload, size = await trio.to_thread.run_sync(_through_the_door, self.entry)
        as_user = UserId(UUID(self.entry.as_user)) if self.entry.as_user else None
        draft = Draft(
            "structured",
            payload=payload,
            client_request_id=self.request_id,
            as_user_id=as_user,
            sequence=self.entry.sequence or None,
        )
        return draft, size

    async def check(self, draft: Draft) -> CheckedReceipt:
        """Validate it. Raises ForbiddenIssuer, and DatabaseUnavailable."""
        submitting = self.portal.submitting
        candidate = DraftInThreads(draft, submitting.threads)
        problems = await submitting.validate(candidate, self.tenant_id, self.environment, self.now)
        missing = await unsigned(self.portal.db, self.tenant_id, draft, self.now)
        problems = problems if missing is None else [missing, *problems]
        return _print(problems, self.entry, candidate.completed)

    async def admit(self, draft: Draft) -> NewSubmission:
        """Make the submission. Raises NotADocument, and ForbiddenIssuer."""
        new = await trio.to_thread.run_sync(admit, draft, self.tenant_id, self.environment, PORTAL_KEY, self.now)
        await self.portal.submitting.require_permission(new)
        return new

    async def issue(self, new: NewSubmission, http_request: str) -> Accepted:
        """Take it in. Raises as `Acceptance.accept` does."""
        accepted = await self.portal.submitting.acceptance.accept(new, self.now)
        self.portal.submitting.note(accepted, new, http_request)
        return accepted


def found(entry: ReceiptEntry, problems: list[Problem]) -> CheckedReceipt:
    """Result when nothing can be computed."""
    return _print(problems, entry, None)


def _through_the_door(entry: ReceiptEntry) -> tuple[dict[str, Any], int]:
    """The payload as it comes in from any client: with the same limits, and no other characters."""
    raw = write_canonical_json(entry.payload())
    payload: dict[str, Any] = parse_json(raw, max_bytes=_MAX_BYTES)
    return payload, len(raw)


def _print(problems: list[Problem], entry: ReceiptEntry, completed: Document | None) -> CheckedReceipt:
    checked = CheckedReceipt(problems, place_all(entry, problems))
    if completed is None:
        return checked
    checked.number = completed.e_ncf
    for name in _TOTALS:
        _note_total(checked, completed, f"Encabezado.Totales.{name}")
    _note_total(checked, completed, "Encabezado.OtraMoneda.MontoTotalOtraMoneda")
    items = completed.get("DetallesItems.Item") or []
    checked.amounts = ["" if (amount := item.get("MontoItem")) is None else str(amount) for item in items]
    checked.prices = _prices(checked, completed)
    checked.net = _net(checked)
    paid, total = number(amount_typed(entry.paid)), number(checked.totals.get("MontoTotal"))
    checked.change = paid - total if paid is not None and total is not None and paid >= total else None
    return checked


def _prices(checked: CheckedReceipt, completed: Document) -> Decimal | None:
    """Return the sum of the lines with ITBIS, if only rounding separates it from the total."""
    if str(completed.get("Encabezado.IdDoc.IndicadorMontoGravado")) != "1" or completed.get("DescuentosORecargos"):
        return None
    amounts = [amount for amount in map(number, checked.amounts) if amount is not None]
    total = number(checked.totals.get("MontoTotal"))
    if total is None or len(amounts) < len(checked.amounts):
        return None  # there is no total, or a line that is no amount: which is said beside it
    lines = sum(amounts, ZERO)
    return lines if 0 < abs(lines - total) <= CENT * max(len(amounts), 4) else None


def _net(checked: CheckedReceipt) -> Decimal | None:
    total = number(checked.totals.get("MontoTotal"))
    names = ("TotalITBISRetenido", "TotalISRRetencion")
    withheld = [amount for name in names if (amount := number(checked.totals.get(name)))]
    return None if total is None or not withheld else total - sum(withheld, ZERO)


def _note_total(checked: CheckedReceipt, completed: Document, path: str) -> None:
    value = completed.get(path)
    if value not in (None, ""):
        checked.totals[path.rpartition(".")[2]] = str(value)
