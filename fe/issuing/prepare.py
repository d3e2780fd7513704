"""The one way from what a client handed in to the document that is signed: read, number, complete, check.

Validating and signing both go it to the end, each with what it knows: so what one calls valid is what the other signs.
CPU work only, and nothing is fetched: safe in a thread.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Literal

from lxml import etree

from fe.ecf.autofill import autofill
from fe.ecf.build import Written, write
from fe.ecf.catalogue import Root
from fe.ecf.document import Document, NotADocument, read_payload
from fe.ecf.finished_xml import read_finished
from fe.ecf.mail_address import MailAddress
from fe.ecf.modified import ModifiedReceipt, complete_note
from fe.ecf.parse import parse_json
from fe.ecf.problems import Problem, Room, Severity
from fe.ecf.rules import assumptions, check
from fe.ecf.taxes import RATES, Rates
from fe.identifiers import ClientRequestId, SubmissionId, UserId
from fe.issuing.messages import number_taken
from fe.requested_outcome import Simulation
from fe.store.records.numbers import Holder


@dataclass(frozen=True, slots=True)
class Draft:
    """A client's input: `xml` or `payload`, by `format`."""

    #: `signed`: XML that keeps the signature it came with.
    format: Literal["xml", "structured", "signed"]
    xml: str | None = None
    payload: Mapping[str, Any] | None = None
    client_request_id: ClientRequestId | None = None
    as_user: str | None = None
    as_user_id: UserId | None = None
    #: The name of the sequence that gives the number; None: that of its user, or the one without a name.
    sequence: str | None = None
    #: The outcome requested of the simulated authority, and the moment to validate for.
    simulation: Simulation | None = None
    simulated_now: datetime | None = None
    #: The address that gets the accepted receipt by mail.
    notify: MailAddress | None = None
    #: The client's own labels of the submission.
    metadata: Mapping[str, str] | None = None
    #: Notes about the request, beside the document.
    remarks: tuple[Problem, ...] = ()

    def read(self, room: Room | None = None) -> Document:
        """Read the document; raises as the function of that name does. `room` is that of its request."""
        if self.format != "structured":
            assert self.xml is not None
            return read_finished(self.xml.encode(), room=room)
        assert self.payload is not None
        return read_payload(self.payload, room=room)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document as it would be signed, and all that is wrong with it, the gravest first.

    Without `written` it could not even be written; then at least one problem is fatal.
    """

    document: Document
    written: Written | None
    problems: tuple[Problem, ...]
    #: The other submission that has its number.
    holder: SubmissionId | None = None

    @property
    def element(self) -> etree._Element | None:
        """The document as a tree."""
        return None if self.written is None else self.written.element

    @property
    def fatal(self) -> tuple[Problem, ...]:
        """Problems that keep it from being sent."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.REJECTED)


def read(form: str, original: bytes) -> Document:
    """Read what is kept of a submission. Raises NotADocument, or Malformed where it cannot be parsed at all."""
    return read_finished(original) if form != "structured" else read_payload(parse_json(original))


def prefix_to_draw(form: str, document: Document) -> str | None:
    """Tell whose next number a document gets: a structured ECF without one draws (interface.md#drawn-numbers)."""
    draws = form == "structured" and document.root is Root.ECF and document.e_ncf is None
    return document.type.prefix if draws and document.type is not None else None


def prepare(
    document: Document,
    *,
    number: str | None,
    issuer: Mapping[str, Any],
    last_day: date | None,
    holders: Sequence[Holder],
    now: datetime,
    rates: Rates = RATES,
    modified: ModifiedReceipt | None = None,
) -> Prepared:
    """Number, complete and check a document.

    `number` is written into an ECF that has none. `issuer` and `last_day` (of the number's sequence) fill in omitted
    elements. `holders` are other submissions with its number, of any issuer; `rates` the known rates of additional
    taxes; `modified` the receipt that a note is about, if it was issued here.
    """
    if number is not None and document.root is Root.ECF and document.e_ncf is None:
        document = _with_number(document, number)
    sent = document
    assumed = assumptions(document)
    if modified is not None:
        document = complete_note(document, modified)
    try:
        document = autofill(document, issuer=issuer, expiry=last_day, now=now, rates=rates)
        written = write(document)
    except NotADocument as error:
        return Prepared(document, None, error.problems)
    holder = _holder(document, holders)
    found = [*assumed] if holder is None else [number_taken(document, holder), *assumed]
    found += check(document, now=now, element=written.element, is_plain=written.is_plain, rates=rates)
    # A cause stands before the amounts that were computed from it.
    found.sort(key=lambda one: (one.severity is not Severity.REJECTED, _is_computed(one.path, sent)))
    return Prepared(document, written, tuple(found), holder)


def _is_computed(path: str, sent: Document) -> bool:
    """Return whether an amount was computed here: the client did not send it."""
    is_amount = path.startswith(("Encabezado.Totales", "Encabezado.OtraMoneda")) or path.endswith(".MontoItem")
    return is_amount and sent.get(path) is None


def _with_number(document: Document, e_ncf: str) -> Document:
    head = dict(document.content["Encabezado"])
    head["IdDoc"] = {**head["IdDoc"], "eNCF": e_ncf}
    return replace(document, content={**document.content, "Encabezado": head})


def _holder(document: Document, holders: Sequence[Holder]) -> SubmissionId | None:
    """The earliest other submission with this number. A number belongs to an issuer, and a tenant may have several.

    Of a submission that is not signed yet the issuer may not be known: then it counts as the same.
    """
    if not holders or document.issued_number is None:
        return None
    same = (one.submission_id for one in holders if one.issuer_rnc in (None, document.issuer_rnc))
    return min(same, default=None)
