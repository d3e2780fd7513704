"""Request bodies: bytes to a checked value, or a 400 that names the field."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from fe.ecf.parse import excerpt, parse_json
from fe.ecf.texts import Text
from fe.http import messages
from fe.http.errors import ApiError


class RequestModel(BaseModel):
    """A request body. Strict: a number is not a string and true is not 1. Fields nobody knows are ignored.

    `messages` gives the interface's own message for whatever is wrong with a field.
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Messages by field path, for those whose wording the interface document gives."""
        return {}


M = TypeVar("M", bound=RequestModel)


class InvalidField(ValueError):
    """What a validator of ours says of a field, or of the whole; after the field's name, where there is one."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text


def read_body(model: type[M], raw: bytes) -> M:
    """Read a JSON body. Raises MalformedJson, or ApiError (400) naming the first field that is wrong."""
    return check(model, parse_json(raw))


def check(model: type[M], value: Any) -> M:
    """Check a parsed body. Raises ApiError (400) naming the first field that is wrong."""
    if not isinstance(value, dict):
        raise ApiError(400, messages.NOT_AN_OBJECT)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # The input is left out: it may hold a secret, and it may be long.
        first = error.errors(include_input=False, include_url=False, include_context=True)[0]
    raise ApiError(400, _message(model, first))


def _message(model: type[RequestModel], error: ErrorDetails) -> Text:
    path = ".".join(excerpt(str(part)) for part in error["loc"])
    if path in model.messages():
        return model.messages()[path]
    context = error.get("ctx", {})
    raised = context.get("error")
    if isinstance(raised, InvalidField):
        return raised.text.after(path) if path else raised.text
    return messages.of_field(path, error["type"], error["msg"], context)
