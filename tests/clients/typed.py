"""Answers of every type that Java, C# and PHP read, and what they have to read."""

import json
from typing import Any

from clients.generate import schemas_of
from clients.typed_models import answered
from fe.http.openapi.served import description
from tests.clients.speaker import Speaker

#: An amount that no binary float of 32 bits holds, and that one of 64 bits may round when it is written.
_AMOUNT = 1234567890123.45


def assert_every_answer_is_read(speaker: Speaker) -> None:
    """Give each type an answer with every field and one more, and an answer without any."""
    described = description()
    schemas = schemas_of(described)
    names = sorted(name for name in answered(described) if "properties" in schemas.get(name, {}))
    full = {name: _sample({"$ref": name}, schemas) for name in names}
    later = {"addedLater": {"by": ["a", "newer", "service"]}}

    read = speaker.read_as_types([(name, json.dumps(value | later)) for name, value in full.items()])
    nothing = speaker.read_as_types([(name, json.dumps(later)) for name in names])

    assert len(names) > 100
    for name, found, absent in zip(names, read, nothing, strict=True):
        assert _as_described(found) == _exact(full[name]), name
        assert _as_described(absent) == dict.fromkeys(full[name]), name


def _sample(schema: Any, schemas: dict[str, Any]) -> Any:
    match schema:
        case {"$ref": str(ref)}:
            return _sample(schemas[ref.rpartition("/")[2]], schemas)
        case {"const": value} | {"enum": [value, *_]}:
            return value
        case {"anyOf": [one, *_]} | {"oneOf": [one, *_]} | {"allOf": [one, *_]}:
            return _sample(one, schemas)
        case {"properties": members}:
            return {name: _sample(each, schemas) for name, each in members.items()}
        case {"type": "array", "items": item}:
            return [_sample(item, schemas)] * 2
        case {"type": kind}:
            return {"string": "ñ", "integer": 7, "number": _AMOUNT, "boolean": False, "object": {"a": "b"}}[kind]
        case _:
            return "any"


def _exact(value: Any) -> Any:
    """The same with amounts as texts, as the clients write them."""
    if isinstance(value, dict):
        return {name: _exact(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_exact(each) for each in value]
    return str(value) if value == _AMOUNT else value


def _as_described(value: Any) -> Any:
    """The same with the names of the description: a language may need another letter or ending."""
    if isinstance(value, dict):
        return {_renamed(name): _as_described(each) for name, each in value.items()}
    return [_as_described(each) for each in value] if isinstance(value, list) else value


def _renamed(name: str) -> str:
    if name.endswith("_"):
        return name.removesuffix("_")
    first = name[0].lower() + name[1:]
    return first.removesuffix("Value") if name in ("DedupedValue", "FromValue") else first
