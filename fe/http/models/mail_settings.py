"""A tenant's mail settings, as clients send and see them."""

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.accounts.mail import DOCUMENTS, LANGUAGES, MOST_A_DAY
from fe.http.models.response_types import ResponseModel, closed
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import RequestModel

_REPLY_TO = "address that buyers' answers go to"
_DOCUMENTS = "PDF and XML: `attached`, or `linked` on the page of the receipt"
_A_DAY = "most mails of a day; the rest waits for the next"


class MailSettingsRequest(RequestModel):
    """Mail of accepted receipts to their buyers. A member that is left out takes its default."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"enabled": True, "replyTo": "ventas@ozama.do"}, {"enabled": False}]}
    )

    enabled: bool
    replyTo: Annotated[
        str | None,
        Field(
            description=f"{_REPLY_TO}; required with `enabled`. Without it, mail is off and the other settings stay",
            json_schema_extra={"maxLength": 254},
        ),
    ] = None
    language: Annotated[str, Field(description="of the mail and its PDF", json_schema_extra={"enum": LANGUAGES})] = "es"
    documents: Annotated[str, Field(description=_DOCUMENTS, json_schema_extra={"enum": DOCUMENTS})] = "attached"
    aDay: Annotated[
        int, Field(description=_A_DAY, json_schema_extra={"minimum": 1, "maximum": MOST_A_DAY, "default": 2000})
    ] = 2000


@closed
class MailSettingsAnswer(TypedDict):
    """Mail of accepted receipts to their buyers."""

    enabled: bool
    replyTo: Annotated[str | None, Field(description=f"{_REPLY_TO}; null until it is set")]
    language: Literal["es", "en"]
    documents: Annotated[Literal["attached", "linked"], Field(description=_DOCUMENTS)]
    aDay: Annotated[int, Field(description=_A_DAY)]
    aDayAllowed: Annotated[
        int | None, Field(description="the operator's limit: the smaller one holds; 0: no mail is sent, null: no limit")
    ]
    warnings: NotRequired[Warnings]


MAIL_SETTINGS = ResponseModel(MailSettingsAnswer)
