"""Problems of documents and remarks on requests, as answers show them."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.http.models.response_types import closed


@closed
class ProblemRepair(TypedDict):
    """A change of a structured payload that repairs a problem. Paths are as in problems."""

    op: Annotated[
        Literal["set", "rename", "remove"],
        Field(description="give `path` the `value`; move what is there to the path `to`; or take it away"),
    ]
    path: str
    value: NotRequired[Any]
    to: NotRequired[str]
    certain: Annotated[
        bool,
        Field(
            description="true: it loses nothing and has no second reading; false: a proposal that a person decides on"
        ),
    ]


@closed
class DocumentProblem(TypedDict):
    """One thing that is wrong with a document; what does not apply is left out."""

    code: Annotated[str, Field(description="stable, for programs")]
    path: Annotated[
        str,
        Field(
            description="such as Encabezado.Totales.MontoTotal or DetallesItems.Item[3].MontoItem; the first is Item[1]"
        ),
    ]
    message: str
    messageEs: str
    severity: Annotated[
        Literal["rejected", "conditional"],
        Field(description="whether the authority would refuse, or accept with remarks"),
    ]
    line: NotRequired[Annotated[int, Field(description="of the XML")]]
    column: NotRequired[Annotated[int, Field(description="of XML that cannot be signed as it stands")]]
    found: NotRequired[str]
    expected: NotRequired[str]
    expectedEs: NotRequired[str]
    fix: NotRequired[str]
    fixEs: NotRequired[str]
    allowed: NotRequired[
        Annotated[list[str], Field(description="the codes it may be; of a very long list those that are alike")]
    ]
    repair: NotRequired[Annotated[ProblemRepair, Field(description="what to do to a structured payload, for programs")]]


#: Remarks on the request itself.
Warnings = Annotated[
    list[DocumentProblem],
    Field(description="remarks on this request, such as members of its body that do not exist and were ignored"),
]
