"""Request bodies: bytes to a checked value, or a 400 that names the field."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from fe.ecf.parse import excerpt, parse_json
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import Text
from fe.http.errors import ApiError
from fe.http.messages import did_you_mean, of_field, say

#: The number of unknown members that are named, and the characters of each name.
_MAX_UNKNOWN = 20
_LONGEST_NAME = 40

#: Synonyms of members, in lower case and without separators.
_CALLED_ELSEWHERE: Mapping[str, frozenset[str]] = {
    "apiKeyId": frozenset({"key", "keyid", "clientid", "user", "username"}),
    "apiSecret": frozenset({"secret", "clientsecret", "password"}),
    "clientRequestId": frozenset({"idempotencykey", "requestid", "externalid"}),
    "reason": frozenset({"motivo", "detallemotivorechazo", "message", "comment"}),
    "prefix": frozenset({"type", "tipo", "tipoecf"}),
    "minSequence": frozenset({"from", "desde", "first", "start"}),
    "maxSequence": frozenset({"to", "hasta", "last", "end"}),
    "currentSequence": frozenset({"next", "nextnumber", "nextsequence"}),
    "expireAt": frozenset({"expires", "expiry", "expireon", "vence"}),
    "isActive": frozenset({"active", "enabled"}),
    "enabled": frozenset({"active", "isactive"}),
    "events": frozenset({"event", "eventtypes"}),
}


class RequestModel(BaseModel):
    """A request body. Strict: a number is not a string and true is not 1. Unknown members are ignored, with a remark.

    `messages` gives the interface's own message for whatever is wrong with a field.
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)

    #: A remark for each member of the body that does not exist, with the nearest one that does. Set in the instance by
    #: `check`: a private attribute would cost each body some microseconds, also where there is nothing to remark.
    ignored: ClassVar[tuple[Problem, ...]] = ()

    @classmethod
    def messages(cls) -> dict[str, Text]:
        """Messages by field path, for those whose wording the interface document gives."""
        return {}

    @classmethod
    def hint(cls, value: Mapping[str, Any]) -> Text | None:
        """Advice about a refused body, beyond the error of its first field."""
        return None


M = TypeVar("M", bound=RequestModel)


class InvalidField(ValueError):
    """A validator's message about a field, which follows the field's name, or about the whole body."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text


def read_body(model: type[M], raw: bytes) -> M:
    """Read a JSON body. Raises MalformedJson, or ApiError (400) naming the first field that is wrong."""
    return check(model, parse_json(raw))


def check(model: type[M], value: Any) -> M:
    """Check a parsed body. Raises ApiError (400) naming the first field that is wrong."""
    if not isinstance(value, dict):
        raise ApiError(400, say("not-an-object"))
    try:
        body = model.model_validate(value)
    except ValidationError as error:
        # The input is left out: it may hold a secret, and it may be long.
        first = error.errors(include_input=False, include_url=False, include_context=True)[0]
        raise ApiError(400, _message(model, first, value)) from None
    if ignored := tuple(_unknown_members(body, value)):
        body.__dict__["ignored"] = ignored
    return body


@cache
def _names(model: type[RequestModel]) -> frozenset[str]:
    return frozenset(model.model_fields)


def _unknown_members(body: RequestModel, value: Mapping[str, Any], place: str = "") -> Iterator[Problem]:
    """A remark for each of the first unknown members, those of the objects in the body included."""
    known = _names(type(body))
    if not value.keys() <= known:
        for name in [name for name in value if name not in known][:_MAX_UNKNOWN]:
            yield _unknown_member(type(body), name, place)
    for name, below in body.__dict__.items():
        if isinstance(below, RequestModel):
            yield from _unknown_members(below, value[name], f"{place}{name}.")


def _unknown_member(model: type[RequestModel], name: str, place: str) -> Problem:
    nearest = _nearest(model, name)
    said = say("unknown-member", name=excerpt(name, _LONGEST_NAME))
    fix = did_you_mean(nearest, sorted(_names(model)))
    return Problem(
        code="unknown-member",
        path=f"{place}{excerpt(name, _LONGEST_NAME)}",
        message=said.en,
        message_es=said.es,
        found=excerpt(name, _LONGEST_NAME),
        expected=nearest,
        fix=fix.en,
        fix_es=fix.es,
        severity=Severity.CONDITIONAL,
    )


def _nearest(model: type[RequestModel], name: str) -> str | None:
    """The member that was probably meant: the same letters, a synonym, or the most similar name."""
    wanted = _letters(name[:_LONGEST_NAME])
    known = {_letters(one): one for one in sorted(_names(model))}
    if wanted in known:
        return known[wanted]
    for one in known.values():
        if wanted in _CALLED_ELSEWHERE.get(one, ()):
            return one
    likeliest = get_close_matches(wanted, known, n=1)
    return known[likeliest[0]] if likeliest else None


def _letters(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def _message(model: type[RequestModel], error: ErrorDetails, value: Mapping[str, Any]) -> Text:
    said = _of_field(model, error)
    if error["type"] == "missing" and len(error["loc"]) == 1:
        missing = str(error["loc"][0])
        unknown = [name for name in value if name not in _names(model)][:_MAX_UNKNOWN]
        if instead := [name for name in unknown if _nearest(model, name) == missing] or unknown[:3]:
            listed = ", ".join(excerpt(name, _LONGEST_NAME) for name in instead)
            said = say("there-is-instead", said=said, missing=missing, listed=listed)
    hint = model.hint(value)
    return said if hint is None else Text(f"{said.en}; {hint.en}", f"{said.es}; {hint.es}")


def _of_field(model: type[RequestModel], error: ErrorDetails) -> Text:
    path = ".".join(excerpt(str(part)) for part in error["loc"])
    if path in model.messages():
        return model.messages()[path]
    context = error.get("ctx", {})
    raised = context.get("error")
    if isinstance(raised, InvalidField):
        return raised.text.after(path) if path else raised.text
    return of_field(path, error["type"], error["msg"], context)
