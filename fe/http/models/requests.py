"""The bodies that clients send about submissions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, field_validator, model_validator

from fe.accounts.sequences import BadSequence, check_name
from fe.ecf.catalogue import Root
from fe.ecf.gobl import Converted, NotConvertible, payload_of
from fe.ecf.mail_address import BadAddress, MailAddress, parse_address
from fe.ecf.parse import writable
from fe.ecf.texts import Text
from fe.http.messages import goes_with, must_be, say
from fe.http.models.labels import LABEL_FORM, LONGEST_VALUE, MAX_LABELS, wrong_labels
from fe.http.parameters import parse_moment
from fe.http.request_bodies import InvalidField, RequestModel
from fe.identifiers import ClientRequestId, UserId
from fe.issuing.decide import MAX_REASON, is_reason
from fe.issuing.prepare import Draft
from fe.requested_outcome import LARGEST_CODE, MAX_SECONDS, WITH_CODE, WITH_SECONDS, AskedOutcome, Simulation

_UUID_LENGTH = 36


def _is_a_sequence_name(value: str | None) -> str | None:
    try:
        if value is not None:
            check_name(value)
    except BadSequence:
        raise InvalidField(must_be("sequence", say("sequence-name"))) from None
    return value


SequenceName = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=40,
        description="name of the sequence that gives the number, where the document has no eNCF; default: the one "
        "that the user of asUser is assigned to, else the one without a name",
    ),
    AfterValidator(_is_a_sequence_name),
]

#: The smallest good credit invoice: the service fills in type, issuer, expiry and totals.
_EXAMPLE: dict[str, JsonValue] = {
    "format": "structured",
    "clientRequestId": "order-1001",
    "payload": {
        "Encabezado": {
            "IdDoc": {
                "eNCF": "E310000000001",
                "IndicadorMontoGravado": "0",
                "TipoIngresos": "01",
                "TipoPago": "1",
            },
            "Comprador": {"RNCComprador": "131880657", "RazonSocialComprador": "Cliente SRL"},
        },
        "DetallesItems": {
            "Item": [
                {
                    "NumeroLinea": 1,
                    "IndicadorFacturacion": "1",
                    "NombreItem": "Servicio de consultoría",
                    "IndicadorBienoServicio": "2",
                    "CantidadItem": 1,
                    "PrecioUnitarioItem": 1000,
                    "MontoItem": 1000,
                }
            ]
        },
    },
}


#: Top-level members of a payload that an envelope never has.
_OF_A_PAYLOAD = frozenset({"Encabezado", "DetallesItems", *Root})


AsUser = Annotated[
    str | None,
    Field(min_length=3, max_length=254, description="e-mail address: issue with that user's certificate"),
]
AsUserId = Annotated[
    str | None,
    Field(description="the same by id; wins over asUser", json_schema_extra={"format": "uuid"}),
]


def _user_address(value: str | None) -> str | None:
    if value is not None and "@" not in value[1:-1]:
        raise InvalidField(say("an-address"))
    return value


def user_id_form(value: str | None) -> str | None:
    """Refuse what is no UUID in its one usual form."""
    # UUID() takes braces, urn: and stray hyphens; the interface means the one usual form.
    if value is not None and (len(value) != _UUID_LENGTH or str(_uuid(value)) != value.lower()):
        raise InvalidField(say("a-uuid"))
    return value


class ByUser(RequestModel):
    """With whose certificate something is signed, and what the client calls its request."""

    clientRequestId: Annotated[
        ClientRequestId | None, Field(min_length=1, max_length=120, description="idempotency key")
    ] = None
    asUser: AsUser = None
    asUserId: AsUserId = None

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """The interface's own messages."""
        return {"clientRequestId": say("client-request-id-form")}

    _is_an_address = field_validator("asUser")(_user_address)
    _is_a_uuid = field_validator("asUserId")(user_id_form)

    @property
    def user_id(self) -> UserId | None:
        """The user whose certificate signs."""
        return UserId(UUID(self.asUserId)) if self.asUserId is not None else None


class Simulate(RequestModel):
    """How the simulated authority treats a receipt that it would accept; only in a sandbox."""

    outcome: Annotated[
        Literal["rejected", "conditional", "stuck", "lost-answer", "slow"] | None,
        Field(
            description="`rejected` (with `code`), `conditional` (accepted with a remark), `stuck` (there is never a "
            "verdict), `lost-answer` (it is received, and the connection breaks before the answer), `slow` (the "
            "verdict comes after `seconds`)"
        ),
    ] = None
    code: Annotated[
        int | None,
        Field(ge=1, le=LARGEST_CODE, description="the authority's code: of rejected; of conditional 13 if left out"),
    ] = None
    seconds: Annotated[int | None, Field(ge=1, le=MAX_SECONDS, description="of slow; default 10")] = None
    now: Annotated[
        str | None,
        Field(
            description="validate as if it were this moment: a date or a full ISO 8601 timestamp; for "
            "POST /invoices/validate and with `strict`",
        ),
    ] = None

    @field_validator("now")
    @classmethod
    def _is_a_moment(cls, value: str | None) -> str | None:
        if value is not None and _moment(value) is None:
            raise InvalidField(say("simulated-moment"))
        return value

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self.outcome is None and (self.now is None or self.code is not None or self.seconds is not None):
            raise InvalidField(say("needs-outcome"))
        if self.outcome == AskedOutcome.REJECTED.value and self.code is None:
            raise InvalidField(say("needs-code"))
        if self.code is not None and self.outcome not in WITH_CODE:
            raise InvalidField(goes_with("code-goes-with", LARGEST_CODE, WITH_CODE))
        if self.seconds is not None and self.outcome not in WITH_SECONDS:
            raise InvalidField(goes_with("seconds-go-with", MAX_SECONDS, WITH_SECONDS))
        return self

    def asked(self) -> Simulation | None:
        """The outcome that is asked for."""
        if self.outcome is None:
            return None
        return Simulation(AskedOutcome(self.outcome), self.code, self.seconds)

    def moment(self) -> datetime | None:
        """The moment for which the receipt is to be validated."""
        return None if self.now is None else _moment(self.now)


class NewInvoice(ByUser):
    """A receipt to submit."""

    # The description shows it as two objects, one for each `format` (openapi.py).
    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    format: Annotated[Literal["xml", "structured", "gobl"], Field(description="form of the document")]
    xml: Annotated[str | None, Field(description="complete e-CF XML; required when format is xml")] = None
    payload: Annotated[
        dict[str, Any] | None,
        Field(
            description="the document as JSON: in the authority's element names, required when format is structured; "
            "with format gobl a GOBL invoice"
        ),
    ] = None
    keepSignature: Annotated[
        bool | None,
        Field(
            description="with format xml: the e-CF is signed already, by a certificate of one of your agents, and is "
            "sent as it is; otherwise the service signs it anew"
        ),
    ] = None
    strict: Annotated[
        bool | None,
        Field(description="refuse at once, with every problem, a document that would not be sent"),
    ] = None
    simulate: Annotated[
        Simulate | None,
        Field(description="where the authority is a simulator: what becomes of the receipt, for testing a client"),
    ] = None

    sequence: SequenceName = None
    notify: Annotated[
        str | None,
        Field(
            description="e-mail address that gets the accepted receipt instead of CorreoComprador, where the company "
            "sends receipts by mail",
        ),
    ] = None

    metadata: Annotated[
        dict[str, Annotated[str, Field(max_length=LONGEST_VALUE)]] | None,
        Field(
            description="your own labels, such as a branch or an order: at most 20, with names of letters, digits and "
            "`_.-`; 4,096 bytes in all. They come back with the submission and its webhooks",
            json_schema_extra={
                "maxProperties": MAX_LABELS,
                "propertyNames": {"pattern": f"^{LABEL_FORM}$"},
                "examples": [{"branch": "norte", "till": "4"}],
            },
        ),
    ] = None

    @field_validator("metadata")
    @classmethod
    def _are_labels(cls, value: dict[str, str] | None) -> dict[str, str] | None:
        if value is not None and (wrong := wrong_labels(value)) is not None:
            raise InvalidField(wrong)
        return value

    #: Of format gobl. Set in the instance, as `ignored` is, and for the same reason.
    converted: ClassVar[Converted | None] = None

    @field_validator("notify")
    @classmethod
    def _is_a_mail_address(cls, value: str | None) -> str | None:
        try:
            return None if value is None else parse_address(value)
        except BadAddress as wrong:
            raise InvalidField(wrong.text) from None

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """The interface's own messages."""
        return {
            **super().messages(),
            "format": say("format-form"),
            "sequence": must_be("sequence", say("sequence-name")),
        }

    @classmethod
    def hint(cls, value: Mapping[str, Any]) -> Text | None:
        """Recognise a payload that came without its envelope."""
        return say("looks-like-a-payload") if "format" not in value and value.keys() & _OF_A_PAYLOAD else None

    @model_validator(mode="after")
    def _has_its_document(self) -> Self:
        if self.format == "xml" and not (self.xml or "").strip():
            raise InvalidField(say("xml-is-required"))
        if self.format != "xml" and self.payload is None:
            raise InvalidField(say("payload-is-required"))
        if self.format == "gobl":
            try:
                self.__dict__["converted"] = payload_of(self.payload or {})
            except NotConvertible as wrong:
                raise InvalidField(wrong.text) from None
        if self.keepSignature and self.format != "xml":
            raise InvalidField(say("keeps-of-xml"))
        return self

    def as_draft(self) -> Draft:
        """The draft that `fe.issuing` works on."""
        converted = self.converted
        return Draft(
            format="signed" if self.keepSignature else "xml" if self.format == "xml" else "structured",
            xml=self.xml,
            payload=self.payload if converted is None else converted.payload,
            client_request_id=self.clientRequestId,
            as_user=self.asUser,
            as_user_id=self.user_id,
            sequence=self.sequence,
            simulation=None if self.simulate is None else self.simulate.asked(),
            simulated_now=None if self.simulate is None else self.simulate.moment(),
            notify=None if self.notify is None else MailAddress(self.notify),
            metadata=self.metadata or None,
            remarks=self.ignored if converted is None else (*self.ignored, *converted.remarks),
        )


#: Receipts in one batch.
MAX_ITEMS = 500


class BatchRequest(RequestModel):
    """Receipts to submit together; each is taken or refused by itself."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE]}]})

    items: Annotated[
        list[Any],
        Field(
            min_length=1,
            max_length=MAX_ITEMS,
            description="each as the body of POST /invoices",
            json_schema_extra={"items": {"$ref": "#/components/schemas/NewInvoice"}},
        ),
    ]
    strict: Annotated[
        bool | None,
        Field(description="refuse each receipt that would not be sent, with every problem; the others are taken in"),
    ] = None

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Our own message for a list of a wrong length, or none."""
        return {"items": say("batch-form", maximum=MAX_ITEMS)}

    @classmethod
    def hint(cls, value: Mapping[str, Any]) -> Text | None:
        """Say into how many batches to cut one that is too long."""
        items = value.get("items")
        if isinstance(items, list) and len(items) > MAX_ITEMS:
            return say("too-many-items", count=len(items), parts=-(-len(items) // MAX_ITEMS))
        return None


class ApproveReceived(ByUser):
    """Optional fields of the approval of a received document."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"clientRequestId": "approval-17"}]})


class RejectReceived(ByUser):
    """Why a received document is rejected."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "La mercancía no llegó completa"}]})

    reason: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_REASON,
            description="DetalleMotivoRechazo: the issuer and the authority read it",
        ),
    ]

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Name the required form of the reason."""
        return {**super().messages(), "reason": say("reason-form")}

    @field_validator("reason")
    @classmethod
    def _is_text(cls, value: str) -> str:
        if not value.strip() or not writable(value):
            raise InvalidField(say("a-text"))
        return value


#: Received documents that one request decides about.
MAX_DECIDED = 100


class DecideReceived(RequestModel):
    """One decision about many received documents; each is decided by itself."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"decision": "approved", "ids": ["019aa3b0-7c11-7d53-9a53-5c3f8f6f2b10"]}]}
    )

    decision: Annotated[Literal["approved", "rejected"], Field(description="of all of them")]
    ids: Annotated[
        list[Annotated[str, Field(max_length=64)]],
        Field(min_length=1, max_length=MAX_DECIDED, description="`id` of received documents"),
    ]
    reason: Annotated[
        str | None,
        Field(max_length=MAX_REASON, description="of a rejection: the issuers and the authority read it"),
    ] = None
    asUser: AsUser = None
    asUserId: AsUserId = None

    _is_an_address = field_validator("asUser")(_user_address)
    _is_a_uuid = field_validator("asUserId")(user_id_form)

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Name the required forms."""
        return {"ids": say("decided-ids-form", maximum=MAX_DECIDED), "reason": say("reason-form")}

    @model_validator(mode="after")
    def _has_its_reason(self) -> Self:
        if self.decision == "rejected" and not is_reason(self.reason or ""):
            raise InvalidField(say("reason-form"))
        if self.decision == "approved" and self.reason is not None:
            raise InvalidField(say("no-reason-of-approval"))
        return self

    @property
    def user_id(self) -> UserId | None:
        """The user whose certificate signs."""
        return UserId(UUID(self.asUserId)) if self.asUserId is not None else None


def _moment(text: str) -> datetime | None:
    moment = parse_moment(text)
    return moment if moment is not None and 2000 <= moment.year <= 2100 else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
