"""A tenant's print settings, as clients send and see them."""

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.http.models.response_types import ResponseModel, closed
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import RequestModel

_LOGO = "a PNG of at most 256 kB or an SVG of at most 32 kB, in base64; null: none"
_MARKS = "one for each copy, empty for none"


class PrintSettingsRequest(RequestModel):
    """How receipts are printed where a request says nothing else. A member that is left out takes its default."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"footer": "Gracias por su compra", "marks": ["Original", "Copia"]}]}
    )

    logo: Annotated[str | None, Field(description=_LOGO)] = None
    accent: Annotated[
        str, Field(description="color of headings", json_schema_extra={"pattern": "^#[0-9a-fA-F]{6}$"})
    ] = "#1f3a5f"
    footer: Annotated[str, Field(description="text at the end", json_schema_extra={"maxLength": 400})] = ""
    marks: Annotated[
        list[str],
        Field(
            description=f"{_MARKS}; each of at most 20 characters",
            default_factory=lambda: [""],
            json_schema_extra={"minItems": 1, "maxItems": 4, "default": [""]},
        ),
    ]
    language: Annotated[str, Field(description="of our words", json_schema_extra={"enum": ["es", "en"]})] = "es"
    layout: Annotated[str, Field(description="paper", json_schema_extra={"enum": ["letter", "a4", "80mm", "58mm"]})] = (
        "letter"
    )


class PrintManyRequest(RequestModel):
    """The receipts of an archive. Without it the query chooses them."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["019aa3b0-7c11-7d53-9a53-5c3f8f6f2b10"]}]})

    ids: Annotated[
        list[str],
        Field(description="the `taxLogId` of each, at most 1,000", json_schema_extra={"minItems": 1, "maxItems": 1000}),
    ]


@closed
class PrintSettingsAnswer(TypedDict):
    """How receipts are printed where a request says nothing else."""

    logo: Annotated[str | None, Field(description=_LOGO)]
    accent: str
    footer: str
    marks: Annotated[list[str], Field(description=_MARKS)]
    language: Literal["es", "en"]
    layout: Literal["letter", "a4", "80mm", "58mm"]
    warnings: NotRequired[Warnings]


PRINT_SETTINGS = ResponseModel(PrintSettingsAnswer)
