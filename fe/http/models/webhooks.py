"""Request and answer models of webhooks."""

import re
from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, field_validator

# The library's own: what typing has before Python 3.12 does not tell pydantic which fields are required.
from typing_extensions import TypedDict

from fe.ecf.catalogue import Environment
from fe.ecf.texts import Text
from fe.http.messages import must_be, say
from fe.http.models.response_types import Moment, ResponseModel, Uuid, closed
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import InvalidField, RequestModel
from fe.lifecycle import WANTED, WebhookEvent
from fe.store.webhooks.endpoints import DEFAULT
from fe.webhooks.accounts import NAME_FORM

#: Events that an endpoint can choose, in the order of the page.
EVENTS = [str(kind) for kind in WebhookEvent if kind in WANTED]

# No enum: a release may add kinds, and a client made from this description must not fail on them.
EventName = Annotated[str, Field(description="; ".join(f"`{kind}`" for kind in EVENTS))]
State = Literal["pending", "held", "delivered", "failed"]


class WebhookRequest(RequestModel):
    """Where the tenant wants to be called in the key's environment; there is one address for each.

    What is left out takes its default, but `headers`: their values are not shown, so what is left out stays.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"url": "https://erp.example.com/webhooks/fe"},
                {
                    "url": "https://erp.example.com/webhooks/fe",
                    "events": ["received_ecf", "submission.rejected"],
                    "headers": {"Authorization": "Bearer our-own"},
                },
            ]
        }
    )

    url: Annotated[str, Field(max_length=2048, description=say("url-words").en)]
    enabled: Annotated[bool | None, Field(json_schema_extra={"default": True})] = None
    events: Annotated[
        list[Annotated[str, Field(json_schema_extra={"enum": EVENTS})]] | None,
        Field(min_length=1, description="what to be told of", json_schema_extra={"default": ["received_ecf"]}),
    ] = None
    headers: Annotated[
        dict[str, str] | None,
        Field(description="at most 20 of your own, sent with every call; `{}`: none"),
    ] = None

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Our own words for what pydantic would word otherwise."""
        return {
            "url": must_be("url", say("url-form", longest=2048)),
            "headers": say("headers-form"),
        }


class RecoveryRequest(RequestModel):
    """Since when what did not arrive is to be sent again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"since": "2026-11-20"}]})

    since: Annotated[
        str,
        Field(
            description="a date (its start in UTC) or a timestamp",
            json_schema_extra={"examples": ["2026-11-20T14:00Z"]},
        ),
    ]
    endpoint: Annotated[
        str | None,
        Field(
            description="name of the endpoint",
            json_schema_extra={"pattern": f"^{NAME_FORM}$", "default": DEFAULT},
        ),
    ] = None

    @field_validator("endpoint")
    @classmethod
    def _is_a_name(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(NAME_FORM, value):
            raise InvalidField(must_be("endpoint", say("endpoint-name")))
        return value


@closed
class Webhook(TypedDict):
    """Where the tenant is called, and how that goes."""

    id: Uuid
    environment: Annotated[Environment | None, Field(description="null: of every one; set by who runs the service")]
    name: Annotated[str, Field(description="`default`: the one that PUT /webhooks sets")]
    url: str
    enabled: bool
    events: list[EventName]
    headers: Annotated[list[str], Field(description="the names of those that are sent with every call")]
    createdAt: Moment
    updatedAt: Moment
    failingSince: Annotated[Moment | None, Field(description="since when every try has failed; null: it answers")]
    disabledAt: Annotated[
        Moment | None, Field(description="since when we do not call it; events are kept until it is enabled again")
    ]
    disabledReason: Annotated[
        str | None,
        Field(description="`gone`: it answered 410; `failing`: nothing had arrived for five days"),
    ]
    oldSecretUntil: Annotated[
        Moment | None, Field(description="until when the secret before the last rotation signs beside the new one")
    ]
    secret: NotRequired[
        Annotated[str, Field(description="only where it has just been made: keep it, it is not shown again")]
    ]
    warnings: NotRequired[Warnings]


@closed
class Webhooks(TypedDict):
    """Where the tenant is called: in the key's environment, and in all."""

    items: list[Webhook]


@closed
class WebhookDeleted(TypedDict):
    """The endpoint was deleted. Its undelivered events ended as `failed`, with `lastError` `deleted`."""

    ok: Literal[True]
    name: str


@closed
class Delivery(TypedDict):
    """An event on its way to an endpoint, as it was tried so far."""

    id: Annotated[Uuid, Field(description="as in `X-Service-Delivery` and `webhook-id`")]
    webhookId: Uuid
    endpoint: Annotated[str | None, Field(description="name of the endpoint")]
    event: EventName
    about: Annotated[str, Field(description="id of the received document or the submission, or what else it tells of")]
    environment: Environment | None
    state: Annotated[
        State,
        Field(description="`pending`: waits for its next try; `held`: kept while its endpoint is disabled"),
    ]
    attempts: Annotated[int, Field(description="tries since it was last begun")]
    createdAt: Moment
    nextAttemptAt: Moment | None
    finishedAt: Moment | None
    lastError: Annotated[
        str | None,
        Field(description="what the last try failed by; null: it did not; `deleted`: the endpoint was deleted"),
    ]
    redirected: Annotated[bool, Field(description="whether a 3xx confirmed it, which was not followed")]


@closed
class DeliveryPage(TypedDict):
    """One page of deliveries, newest first."""

    page: int
    limit: int
    total: int
    items: list[Delivery]
    nextCursor: Annotated[str | None, Field(description="for `cursor`: what is older; null at the end")]


@closed
class DeliveryStretch(TypedDict):
    """The deliveries that follow a cursor."""

    limit: int
    items: list[Delivery]
    nextCursor: str | None


@closed
class Attempt(TypedDict):
    """A try."""

    at: Moment
    durationMs: int
    status: Annotated[int | None, Field(description="what was answered; null where nothing was")]
    error: Annotated[str | None, Field(description="short name of the error; null where it was confirmed")]
    redirected: bool
    answer: Annotated[str | None, Field(description="the first bytes of the answer's body, as text")]


@closed
class DeliveryDetail(Delivery):
    """A delivery with its tries, the first one first."""

    tries: list[Attempt]


@closed
class DeliveryAgain(TypedDict):
    """It is on its way again, or for the first time."""

    id: Uuid
    state: Literal["pending", "held"]
    message: str


@closed
class Recovery(TypedDict):
    """A requested recovery of deliveries and its progress."""

    id: Uuid
    webhookId: Uuid
    since: Moment
    until: Moment
    state: Literal["pending", "done", "failed"]
    recovered: Annotated[int, Field(description="deliveries put on their way so far")]
    askedAt: Moment
    finishedAt: Moment | None
    warnings: NotRequired[Warnings]


@closed
class Recoveries(TypedDict):
    """The latest recoveries, newest first."""

    items: list[Recovery]


WEBHOOK = ResponseModel(Webhook)
WEBHOOKS = ResponseModel(Webhooks)
WEBHOOK_DELETED = ResponseModel(WebhookDeleted)
DELIVERY_PAGE = ResponseModel(DeliveryPage)
DELIVERY_STRETCH = ResponseModel(DeliveryStretch)
DELIVERY_DETAIL = ResponseModel(DeliveryDetail)
DELIVERY_AGAIN = ResponseModel(DeliveryAgain)
RECOVERY = ResponseModel(Recovery)
RECOVERIES = ResponseModel(Recoveries)
