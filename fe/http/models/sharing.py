"""Answers about shared receipts."""

from typing import Annotated, Literal

from pydantic import Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.http.models.response_types import Moment, ResponseModel, closed


@closed
class SharedAnswer(TypedDict):
    """The receipt has a page for its buyer."""

    url: Annotated[str, Field(description="address of the page; anyone who has it can read the receipt")]
    sharedAt: Moment


@closed
class RevokedAnswer(TypedDict):
    """No link leads to the receipt."""

    ok: Literal[True]
    revoked: Annotated[bool, Field(description="false: it was not shared")]


SHARED = ResponseModel(SharedAnswer)
REVOKED = ResponseModel(RevokedAnswer)
