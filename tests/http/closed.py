"""The description without room for additions: what we answer today has no field that it does not name."""

import copy
from typing import Any

_SCHEMAS = "#/components/schemas/"


def closed(description: dict[str, Any]) -> dict[str, Any]:
    """The description with every object that answers are made of closed.

    For clients answers are open, because releases add to them; so by itself the description would let anything pass.
    """
    strict = copy.deepcopy(description)
    schemas = strict["components"]["schemas"]
    for name, schema in schemas.items():
        if "x-one-of" in schema:  # the merged schema leaves open which fields come together
            schemas[name] = {"anyOf": schema["x-one-of"]}
    answers = [operation["responses"] for path in strict["paths"].values() for operation in path.values()]
    waiting = list(_references(answers))
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += _references(schemas[name])
    for name in seen:
        if "properties" in schemas[name]:
            schemas[name]["additionalProperties"] = False
    return strict


def _references(value: Any) -> list[str]:
    """The names of the schemas that are named anywhere in a value."""
    if isinstance(value, list):
        return [name for each in value for name in _references(each)]
    if not isinstance(value, dict):
        return []
    reference = value.get("$ref")
    here = []
    if isinstance(reference, str) and reference.startswith(_SCHEMAS):
        here.append(reference.removeprefix(_SCHEMAS))
    return here + [name for each in value.values() for name in _references(each)]
