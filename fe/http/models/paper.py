"""Ranges of series B and receipts on paper, as clients send and see them."""

from datetime import date
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, JsonValue, field_validator

# As in response_models.py.
from typing_extensions import TypedDict

from fe.clock import iso
from fe.contingency import replace_by
from fe.ecf.catalogue import Environment
from fe.ecf.paper import ncf_of
from fe.ecf.texts import Text
from fe.http.models.response_types import Amount, Day, Moment, ResponseModel, Uuid, closed
from fe.http.models.warnings import DocumentProblem, Warnings
from fe.http.request_bodies import InvalidField, RequestModel
from fe.issuing.paper_replacing import AT_ONCE, PaperState, paper_state
from fe.store.records.paper import PaperRecord, TriedSubmission
from fe.store.records.paper_ranges import PaperRange

MOST_ENTERED = 100
NCF_FORM = "B(01|02|03|04|11|13|14|15|16|17)[0-9]{8}"
_NUMBER: dict[str, JsonValue] = {"pattern": f"^{NCF_FORM}$"}
_DATE: dict[str, JsonValue] = {"format": "date"}
_DATE_FORM = Text("must be a date such as 2026-12-01", "debe ser una fecha como 2026-12-01")
_PAYLOAD = (
    "the receipt as in POST /invoices, with `TipoeCF` of the e-CF that replaces it, and without number, dates of its "
    "own and reference"
)
_STATES = (
    "`open`: without an e-CF; `issued`: its e-CF has no result yet; `rejected`: its last e-CF was rejected or failed, "
    "another can be issued; `replaced`: its e-CF is accepted"
)
_EXAMPLE: dict[str, JsonValue] = {
    "ncf": "B0200000007",
    "issuedOn": "2026-11-27",
    "payload": {
        "Encabezado": {
            "IdDoc": {"TipoeCF": "32", "IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1"},
        },
        "DetallesItems": {
            "Item": [
                {
                    "NumeroLinea": 1,
                    "IndicadorFacturacion": "1",
                    "NombreItem": "Café molido",
                    "IndicadorBienoServicio": "1",
                    "CantidadItem": 2,
                    "PrecioUnitarioItem": 350,
                    "MontoItem": 700,
                }
            ]
        },
    },
}


def _read_day(value: str | None) -> str | None:
    if value is not None:
        try:
            date.fromisoformat(value)
        except ValueError:
            raise InvalidField(_DATE_FORM) from None
    return value


class PaperRangeRequest(RequestModel):
    """Numbers that the authority authorised for paper, of one type, both ends included."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"first": "B0200000001", "last": "B0200000500", "expiresOn": "2027-12-31"}]}
    )

    first: Annotated[str, Field(json_schema_extra=_NUMBER)]
    last: Annotated[str, Field(json_schema_extra=_NUMBER)]
    expiresOn: Annotated[str, Field(description="last day of the range", json_schema_extra=_DATE)]

    _day = field_validator("expiresOn")(_read_day)


class PaperContent(RequestModel):
    """The content of a paper receipt."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"issuedOn": "2026-11-27", "payload": _EXAMPLE["payload"]}]}
    )

    issuedOn: Annotated[
        str | None,
        Field(
            description="the day on the paper; default: today, in a correction the day that was entered",
            json_schema_extra=_DATE,
        ),
    ] = None
    payload: Annotated[dict[str, Any], Field(description=_PAYLOAD)]

    _day = field_validator("issuedOn")(_read_day)


class PaperReceiptRequest(PaperContent):
    """A receipt that was issued on paper, or is now: without `ncf` the service draws the next number of the range.

    It has `ncf`, `clientRequestId`, or both.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    ncf: Annotated[str | None, Field(description="the number on the paper", json_schema_extra=_NUMBER)] = None
    clientRequestId: Annotated[
        str | None,
        Field(
            description="required without `ncf`: with the same id the service draws one number",
            json_schema_extra={"minLength": 1, "maxLength": 120},
        ),
    ] = None


class PaperReceiptsRequest(RequestModel):
    """One paper receipt or several."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"receipts": [_EXAMPLE]}]})

    receipts: Annotated[list[PaperReceiptRequest], Field(min_length=1, max_length=MOST_ENTERED)]


class SentPaperReceipts(RequestModel):
    """The receipts of a `PaperReceiptsRequest`, not checked yet: a wrong one does not refuse the others."""

    receipts: Annotated[list[Any], Field(min_length=1, max_length=MOST_ENTERED)]


class ReplacementsRequest(RequestModel):
    """The paper receipts whose e-CF are issued."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ncfs": ["B0200000007"]}, {}]})

    ncfs: Annotated[
        list[str] | None,
        Field(
            max_length=AT_ONCE,
            description=f"default: all that are open, {AT_ONCE} in one call",
            json_schema_extra={"items": {"type": "string", **_NUMBER}},
        ),
    ] = None


@closed
class PaperRangeAnswer(TypedDict):
    """A range of series B."""

    rangeId: Uuid
    environment: Environment
    first: str
    last: str
    next: Annotated[str | None, Field(description="the number that the service draws next; null: none is left")]
    expiresOn: Day
    recordedAt: Moment
    recordedBy: str
    warnings: NotRequired[Warnings]


@closed
class PaperRangesAnswer(TypedDict):
    """The ranges, by type and number."""

    items: list[PaperRangeAnswer]


@closed
class PaperRangeDeleted(TypedDict):
    """The range is gone."""

    ok: bool
    rangeId: Uuid


@closed
class PaperReceiptAnswer(TypedDict):
    """A receipt on paper, and the e-CF that replaces it."""

    ncf: str
    environment: Environment
    issuedOn: Day
    expiresOn: Annotated[Day, Field(description="last day of its range")]
    contingency: Annotated[str, Field(description="number of the declared contingency")]
    buyerRnc: str | None
    buyerName: str | None
    total: Amount
    itbis: Amount
    state: Annotated[PaperState, Field(description=_STATES)]
    replaceBy: Annotated[Moment | None, Field(description="30 days after the contingency; null once it is replaced")]
    taxLogId: Annotated[Uuid | None, Field(description="of its last e-CF")]
    eNCF: str | None
    replacedAt: Moment | None
    clientRequestId: str | None
    enteredAt: Moment
    enteredBy: str
    warnings: NotRequired[Warnings]


@closed
class PaperReceiptsAnswer(TypedDict):
    """Receipts by their number."""

    items: list[PaperReceiptAnswer]
    nextCursor: str | None


@closed
class PaperEntered(TypedDict):
    """The result of one receipt."""

    statusCode: Annotated[
        int, Field(description="201 entered, 200 entered before with the same content, else an error")
    ]
    message: str
    ncf: str | None
    receipt: NotRequired[PaperReceiptAnswer]
    problems: NotRequired[list[DocumentProblem]]


@closed
class PaperEnteredAnswer(TypedDict):
    """The result of each receipt, in the order of the request."""

    items: list[PaperEntered]
    warnings: NotRequired[Warnings]


@closed
class ReplacementItem(TypedDict):
    """The result of one paper receipt; `problems`: why no e-CF was issued."""

    ncf: str
    state: Annotated[PaperState, Field(description=_STATES)]
    issued: Annotated[bool, Field(description="whether this call issued its e-CF")]
    taxLogId: Uuid | None
    eNCF: str | None
    problems: NotRequired[list[DocumentProblem]]


@closed
class ReplacementsAnswer(TypedDict):
    """The paper receipts that were open, or named; `open`: how many have no accepted e-CF now."""

    items: list[ReplacementItem]
    open: int
    warnings: NotRequired[Warnings]


PAPER_RANGE = ResponseModel(PaperRangeAnswer)
PAPER_RANGES = ResponseModel(PaperRangesAnswer)
PAPER_RANGE_DELETED = ResponseModel(PaperRangeDeleted)
PAPER_RECEIPT = ResponseModel(PaperReceiptAnswer)
PAPER_RECEIPTS = ResponseModel(PaperReceiptsAnswer)
PAPER_ENTERED = ResponseModel(PaperEnteredAnswer)
REPLACEMENTS = ResponseModel(ReplacementsAnswer)


def serialize_range(one: PaperRange) -> PaperRangeAnswer:
    """Serialize a range."""
    return {
        "rangeId": str(one.range_id),
        "environment": one.environment,
        "first": ncf_of(one.prefix, one.first_number),
        "last": ncf_of(one.prefix, one.last_number),
        "next": ncf_of(one.prefix, one.next_number) if one.next_number <= one.last_number else None,
        "expiresOn": one.expires_on.isoformat(),
        "recordedAt": iso(one.recorded_at),
        "recordedBy": one.recorded_by,
    }


def serialize_paper(one: PaperRecord, tried: TriedSubmission | None) -> PaperReceiptAnswer:
    """Serialize a paper receipt."""
    submission_id = one.replaced_by or (None if tried is None else tried.submission_id)
    term = None if one.replaced_at else replace_by(one.period_began_at, one.period_ended_at)
    return {
        "ncf": one.ncf,
        "environment": one.environment,
        "issuedOn": one.issued_on.isoformat(),
        "expiresOn": one.expires_on.isoformat(),
        "contingency": one.period_number,
        "buyerRnc": one.buyer_rnc,
        "buyerName": one.buyer_name,
        "total": one.total,
        "itbis": one.itbis,
        "state": paper_state(one, tried),
        "replaceBy": None if term is None else iso(term),
        "taxLogId": None if submission_id is None else str(submission_id),
        "eNCF": one.e_ncf or (None if tried is None else tried.e_ncf),
        "replacedAt": None if one.replaced_at is None else iso(one.replaced_at),
        "clientRequestId": one.client_request_id,
        "enteredAt": iso(one.entered_at),
        "enteredBy": one.entered_by,
    }
