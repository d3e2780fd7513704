"""The lease of an agent, as clients ask for it and see it."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, JsonValue, field_validator

# As in response_models.py.
from typing_extensions import TypedDict

from fe.ecf.texts import Text
from fe.http.messages import must_be, say
from fe.http.models.requests import user_id_form
from fe.http.models.response_types import ResponseModel, Uuid, closed
from fe.http.models.responses import NumberSequence
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import RequestModel

_EXAMPLE: dict[str, JsonValue] = {"epoch": 0, "nonce": "5f0d1c1e-6c0d-4a0b-9d0a-2f1f6f8f7a10", "certificate": "ab" * 32}


class LeaseRequest(RequestModel):
    """A lease: the agent proves by its epoch that it is the only one with its identity."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    epoch: Annotated[int, Field(ge=0, le=2**53, description="of the last lease; 0 creates the agent")]
    nonce: Annotated[
        str,
        Field(
            description="kept before it is sent: a repeat after a lost answer gets the same lease",
            json_schema_extra={"format": "uuid"},
        ),
    ]
    certificate: Annotated[
        str | None,
        Field(
            pattern="^[0-9a-f]{64}$",
            description="SHA-256 of the certificate that signs at the till; its e-CF may keep their signature",
        ),
    ] = None

    _is_a_uuid = field_validator("nonce")(user_id_form)

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Name the form of a certificate."""
        return {"certificate": must_be("certificate", say("certificate-form"))}


@closed
class Lease(TypedDict):
    """Settings and numbers for an agent to issue with until its next lease."""

    agentId: Uuid
    environment: str
    epoch: Annotated[int, Field(description="for the next lease")]
    issuer: Annotated[dict[str, Any], Field(description="Emisor, in the authority's element names")]
    consumerSummary: Annotated[Literal["automatic", "off"], Field(description="of type 32 below the threshold")]
    ecfHost: Annotated[str, Field(description="host of the QR addresses of e-CF")]
    fcHost: Annotated[str, Field(description="host of the QR addresses of summaries")]
    sequences: Annotated[list[NumberSequence], Field(description="those whose numbers are this agent's")]
    warnings: NotRequired[Warnings]


LEASE = ResponseModel(Lease)
