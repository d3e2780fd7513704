"""Field types of answer models, and how a model is described and serialized."""

from decimal import Decimal
from typing import Annotated, Generic, TypeVar

from pydantic import ConfigDict, Field, PlainSerializer, TypeAdapter, WithJsonSchema, with_config

from fe.ecf.catalogue import PREFIXES
from fe.ecf.json_text import mark, unmark

T = TypeVar("T")

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Day = Annotated[str, Field(json_schema_extra={"format": "date"})]
#: A UUID. Described as a plain text, as the paths that take it are: else generated clients cannot pass it on.
Uuid = str
Digits = Annotated[str, Field(pattern="^[0-9]+$")]
Code = Annotated[str, Field(json_schema_extra={"enum": list(PREFIXES)})]
#: A number with every digit it has.
Amount = Annotated[Decimal, PlainSerializer(mark, return_type=str), WithJsonSchema({"type": "number"})]

#: No answer has a field that is not described.
closed = with_config(ConfigDict(extra="forbid"))


class ResponseModel(Generic[T]):
    """A kind of answer: its description and its bytes."""

    def __init__(self, model: type[T]) -> None:
        """Take the model, a TypedDict."""
        #: The source of the description.
        self.adapter = TypeAdapter(model)
        self._serializer = self.adapter.serializer

    def write(self, answer: T) -> bytes:
        """Write an answer as JSON in UTF-8.

        Some of it is stored as it is shown, perhaps by another release: then a field that is not described is left out,
        and one that is missing is missing.
        """
        return unmark(self._serializer.to_json(answer, warnings=False))
