"""Imports of receipts from workbooks, as clients send and see them."""

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.http.models.response_types import Amount, Code, Moment, ResponseModel, closed
from fe.http.models.warnings import Warnings
from fe.http.request_bodies import RequestModel


class ImportRequest(RequestModel):
    """A workbook whose rows are receipts."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "ventas.csv",
                    "content": (
                        "Q29tcHJvYmFudGUsVGlwb2VDRixOb21icmVJdGVtLEluZGljYWRvckJpZW5vU2VydmljaW8sQ2FudGlkYWRJdGVtLF"
                        "ByZWNpb1VuaXRhcmlvSXRlbSxJbmRpY2Fkb3JGYWN0dXJhY2lvbgpGQUMtMSwzMixDYWbDqSwxLDEsMTAwLDEK"
                    ),
                }
            ]
        }
    )

    name: Annotated[str, Field(description="of the file, for people", json_schema_extra={"maxLength": 120})]
    content: Annotated[str, Field(description="the .xlsx, .ods or .csv in base64, at most 8 MB before it")]


@closed
class ImportFault(TypedDict):
    """A fault of a cell, or of a row as a whole."""

    row: Annotated[int, Field(description="of the file, from 1")]
    column: Annotated[str | None, Field(description="path of the field; null: the row as a whole")]
    heading: Annotated[str | None, Field(description="of the column in the template")]
    message: str
    messageEs: str


@closed
class ImportedType(TypedDict):
    """Receipts of one type."""

    prefix: Code
    receipts: int
    montoTotal: Annotated[Amount, Field(description="sum of their totals")]


@closed
class ImportAnswer(TypedDict):
    """An import, and how many of its receipts came how far."""

    importId: str
    environment: Literal["ecf", "certecf", "testecf"]
    name: str
    state: Annotated[
        Literal["validating", "validated", "issuing", "issued"],
        Field(description="`validated` waits for POST /imports/{importId}/issue"),
    ]
    createdAt: Moment
    receipts: int
    waiting: Annotated[int, Field(description="not validated yet")]
    valid: Annotated[int, Field(description="valid and not issued yet")]
    faulty: int
    issued: int
    issuedBefore: Annotated[int, Field(description="issued by an earlier import of the same keys, and not again")]
    failed: Annotated[int, Field(description="valid, and refused when it was issued: issue again")]
    types: Annotated[list[ImportedType], Field(description="what was issued and what can be, by type")]
    montoTotal: Annotated[Amount, Field(description="sum of `types`")]
    notes: Annotated[list[str], Field(description="about the whole file")]
    faults: Annotated[list[ImportFault], Field(description="the first 200; the workbook has all")]
    warnings: NotRequired[Warnings]


IMPORT = ResponseModel(ImportAnswer)
