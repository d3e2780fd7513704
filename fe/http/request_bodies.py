"""Request bodies: bytes to a checked value, or a 400 that names the field."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from fe.ecf.parse import excerpt, parse_json
from fe.http.errors import ApiError


class RequestModel(BaseModel):
    """A request body. Strict: a number is not a string and true is not 1. Fields nobody knows are ignored.

    `messages` gives the interface's own message for whatever is wrong with a field.
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)

    @classmethod
    def messages(cls) -> dict[str, str]:
        """Messages by field path, for those whose wording the interface document gives."""
        return {}


M = TypeVar("M", bound=RequestModel)

_KINDS = {
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "dict_type": "must be an object",
    "list_type": "must be an array",
    "missing": "is required",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
}


def read_body(model: type[M], raw: bytes) -> M:
    """Read a JSON body. Raises MalformedJson, or ApiError (400) naming the first field that is wrong."""
    return check(model, parse_json(raw))


def check(model: type[M], value: Any) -> M:
    """Check a parsed body. Raises ApiError (400) naming the first field that is wrong."""
    if not isinstance(value, dict):
        raise ApiError(400, "the body must be a JSON object")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # The input is left out: it may hold a secret, and it may be long.
        first = error.errors(include_input=False, include_url=False, include_context=True)[0]
    raise ApiError(400, _message(model, first))


def _message(model: type[RequestModel], error: ErrorDetails) -> str:
    path = ".".join(excerpt(str(part)) for part in error["loc"])
    if path in model.messages():
        return model.messages()[path]
    if error["type"] == "value_error":
        message = error["msg"].removeprefix("Value error, ")
        return f"{path}: {message}" if path else message
    if error["type"] in _KINDS:
        return f"{path} {_KINDS[error['type']]}"
    return f"{path}: {error['msg'][:1].lower()}{error['msg'][1:]}"
