"""Recurring receipts, as clients send and see them."""

from datetime import date
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from pydantic import ConfigDict, Field, JsonValue, ValidationInfo, field_validator

# As in response_models.py.
from typing_extensions import TypedDict

from fe.ecf.mail_address import BadAddress, parse_address
from fe.ecf.texts import Text
from fe.http.messages import say
from fe.http.models.events import Reason
from fe.http.models.requests import SequenceName
from fe.http.models.response_types import Amount, Day, Moment, ResponseModel, closed
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import InvalidField, RequestModel

_EVERY = "issue every so many months"
_STARTS = "the first turn is on its day or later; left out: from tomorrow on"
_ENDS = "the last turn is on its day or earlier; not before `startsOn`"
_DAY = "day of the month; in a shorter month it is the last"
_CUSTOMER = "`id` of a customer: each turn takes name, RNC, mail and address from there"
_PAYMENT_DAYS = "days from the issue to FechaLimitePago, for sales on credit"
_PAYLOAD = (
    "as in POST /invoices, with `TipoeCF`, and without number and dates, which each turn gets; `{mes}` and `{año}` in "
    "NombreItem and DescripcionItem become those of the turn"
)
_STATUS = "`paused`: nothing is issued, also not later; `ended`: for good"
_VERSION = "the `version` that you read: where it is another by now, nothing changes and you get 409; 0: only if new"
_ENDS_EARLY = Text("must not be before startsOn", "no puede ser anterior a startsOn")
_DATE_FORM = Text("must be a date such as 2026-12-01", "debe ser una fecha como 2026-12-01")
_EXAMPLE: dict[str, JsonValue] = {
    "name": "Alquiler, local 3",
    "day": 1,
    "payload": {
        "Encabezado": {
            "IdDoc": {"TipoeCF": "31", "IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1"},
            "Comprador": {"RNCComprador": "131880657", "RazonSocialComprador": "Cliente SRL"},
        },
        "DetallesItems": {
            "Item": [
                {
                    "NumeroLinea": 1,
                    "IndicadorFacturacion": "1",
                    "NombreItem": "Alquiler {mes} {año}",
                    "IndicadorBienoServicio": "2",
                    "CantidadItem": 1,
                    "PrecioUnitarioItem": 25000,
                    "MontoItem": 25000,
                }
            ]
        },
    },
}


class RecurringRequest(RequestModel):
    """A receipt that is issued every month. A field that is left out is unset."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE, {**_EXAMPLE, "day": 5, "version": 1}]})

    name: Annotated[str, Field(min_length=1, max_length=120, description="for people")]
    day: Annotated[int, Field(ge=1, le=31, description=_DAY)]
    everyMonths: Annotated[int, Field(ge=1, le=12, description=_EVERY)] = 1
    startsOn: Annotated[str | None, Field(description=_STARTS, json_schema_extra={"format": "date"})] = None
    endsOn: Annotated[str | None, Field(description=_ENDS, json_schema_extra={"format": "date"})] = None
    status: Annotated[Literal["active", "paused", "ended"], Field(description=_STATUS)] = "active"
    customer: Annotated[str | None, Field(max_length=64, description=_CUSTOMER)] = None
    paymentDays: Annotated[int | None, Field(ge=0, le=365, description=_PAYMENT_DAYS)] = None
    payload: Annotated[dict[str, Any], Field(description=_PAYLOAD)]
    asUser: Annotated[str | None, Field(min_length=3, max_length=254, description="as in POST /invoices")] = None
    asUserId: Annotated[
        str | None, Field(description="the same by id; wins over asUser", json_schema_extra={"format": "uuid"})
    ] = None
    notify: Annotated[str | None, Field(description="as in POST /invoices")] = None
    sequence: SequenceName = None
    version: Annotated[int | None, Field(ge=0, le=2**31 - 1, description=_VERSION)] = None

    @field_validator("startsOn", "endsOn")
    @classmethod
    def _is_a_date(cls, value: str | None, info: ValidationInfo) -> str | None:
        try:
            # Years in which the calendar of turns ends early are not meant.
            is_day = value is None or 2000 <= date.fromisoformat(value).year <= 2200
        except ValueError:
            is_day = False
        if not is_day:
            raise InvalidField(_DATE_FORM)
        starts_on = info.data.get("startsOn")
        if info.field_name == "endsOn" and value is not None and starts_on is not None and value < starts_on:
            raise InvalidField(_ENDS_EARLY)
        return value

    @field_validator("asUserId")
    @classmethod
    def _is_a_uuid(cls, value: str | None) -> str | None:
        try:
            is_uuid = value is None or str(UUID(value)) == value.lower()
        except ValueError:
            is_uuid = False
        if not is_uuid:
            raise InvalidField(say("a-uuid"))
        return value

    @field_validator("notify")
    @classmethod
    def _is_a_mail_address(cls, value: str | None) -> str | None:
        try:
            return None if value is None else parse_address(value)
        except BadAddress as wrong:
            raise InvalidField(wrong.text) from None

    @property
    def starts_on(self) -> date | None:
        """The earliest day of the first turn."""
        return None if self.startsOn is None else date.fromisoformat(self.startsOn)

    @property
    def ends_on(self) -> date | None:
        """The latest day of the last turn."""
        return None if self.endsOn is None else date.fromisoformat(self.endsOn)


class TurnRequest(RequestModel):
    """A decision about a turn that was not issued."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"action": "skip"}]})

    action: Annotated[
        Literal["issue", "skip"], Field(description="`issue` it now, dated today; or `skip` it, also the next one")
    ]


@closed
class RecurringTurn(TypedDict):
    """A turn and what became of it."""

    month: Annotated[str, Field(description="YYYY-MM")]
    dueOn: Day
    status: Annotated[
        Literal["waiting", "issued", "held", "skipped", "missed"],
        Field(description="`held`: not issued yet, for `reason`; `missed`: the next turn came first"),
    ]
    reason: Reason | None
    messages: list[str]
    triedAt: Moment | None
    retryAt: Annotated[Moment | None, Field(description="when it is tried again; null: when you say so")]
    clientRequestId: Annotated[str, Field(description="of its receipt")]
    taxLogId: str | None
    eNCF: str | None


@closed
class PreviewAnswer(TypedDict):
    """The next turn, completed and validated the day before."""

    dueOn: Day
    type: str | None
    buyerName: str | None
    buyerRnc: str | None
    total: Amount | None
    itbis: Amount | None
    reason: Annotated[Reason | None, Field(description="why it would not be issued; null: it would")]
    messages: list[str]


@closed
class RecurringSummary(TypedDict):
    """A recurring receipt in a list."""

    id: str
    name: str
    status: Annotated[Literal["active", "paused", "ended"], Field(description=_STATUS)]
    day: Annotated[int, Field(description=_DAY)]
    everyMonths: Annotated[int, Field(description=_EVERY)]
    nextOn: Annotated[Day | None, Field(description="the next due day; null: none comes")]
    held: Annotated[int, Field(description="turns that could not be issued and may yet be")]
    version: int
    changedAt: Moment


@closed
class RecurringAnswer(RecurringSummary):
    """A recurring receipt with its template and turns."""

    environment: Literal["ecf", "certecf", "testecf"]
    startsOn: Day | None
    endsOn: Day | None
    nextDays: Annotated[list[Day], Field(description="the next due days, three at most")]
    customer: str | None
    paymentDays: int | None
    payload: dict[str, Any]
    asUser: str | None
    asUserId: str | None
    notify: str | None
    sequence: str | None
    preview: PreviewAnswer | None
    turns: Annotated[list[RecurringTurn], Field(description="the newest first, 24 at most")]
    warnings: NotRequired[Warnings]


@closed
class RecurringList(TypedDict):
    """Recurring receipts by id."""

    limit: int
    items: list[RecurringSummary]
    nextCursor: Annotated[str | None, Field(description="null at the end")]


@closed
class RecurringDeleted(TypedDict):
    """It is gone. Receipts already issued are not touched."""

    ok: bool
    id: str


RECURRING, RECURRING_LIST = ResponseModel(RecurringAnswer), ResponseModel(RecurringList)
RECURRING_DELETED = ResponseModel(RecurringDeleted)
