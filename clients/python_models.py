"""Types for Python from the schemas of the description: each a TypedDict, or a name for one of several.

TypedDicts are what they describe: the dicts of `json`. Nothing is checked or copied while a program runs, so a field
that a later release adds breaks nobody, and one that is read is known to the type checker.

This is a script of ours and no generator of the registry: those that write TypedDicts bring some ten packages. Ours has
decimals for numbers, and the words of the description beside each field.
"""

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_HEAD = '''"""What is sent and answered, as dicts with known members.

Made from the service's description by `python -m clients.generate`: changes belong there.
"""

# ruff: noqa: E501

from decimal import Decimal
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

#: Amounts are never binary floats. Where one is sent, a text such as "118.50" serves as well.
Number: TypeAlias = int | Decimal
'''


def python_models(schemas: Mapping[str, Schema]) -> str:
    """Write the module that has a type for each schema."""
    parts = [_HEAD]
    for name in _in_order(schemas):
        parts.append(_definition(name, schemas[name]))
    return "\n".join(parts)


def _in_order(schemas: Mapping[str, Schema]) -> list[str]:
    """Names in an order in which each alias comes after what it is made of; classes may refer forward in quotes."""
    placed: dict[str, None] = {}

    def place(name: str) -> None:
        if name in placed:
            return
        if not _is_object(schemas[name]):
            for other in _named_in(schemas[name]):
                if other != name:
                    place(other)
        placed[name] = None

    for name in sorted(schemas):
        place(name)
    return list(placed)


def _named_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield _name(schema["$ref"])
        for value in schema.values():
            yield from _named_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _named_in(value)


def _is_object(schema: Schema) -> bool:
    return "properties" in schema


def _definition(name: str, schema: Schema) -> str:
    if not _is_object(schema):
        return _commented(schema) + f"{name}: TypeAlias = {_type(schema, aliased=True)}\n"
    required = set(schema.get("required", ()))
    fields = {field: _field(field in required, value) for field, value in schema["properties"].items()}
    if any(keyword.iskeyword(field) or not field.isidentifier() for field in fields):
        members = "".join(f'        "{field}": {kind},\n' for field, kind in fields.items())
        return _commented(schema) + f'\n{name} = TypedDict(\n    "{name}",\n    {{\n{members}    }},\n)\n'
    lines = [f"\nclass {name}(TypedDict):", f'    """{_words(schema) or name}"""', ""]
    for field, kind in fields.items():
        lines.append(f"    {field}: {kind}")
        if words := _words(schema["properties"][field]):
            lines.append(f'    """{words}"""')
    return "\n".join(lines) + "\n"


def _field(required: bool, schema: Schema) -> str:
    kind = _type(schema)
    if any(_named_in(schema)):
        kind = f'"{kind}"'  # it may be one that comes later
    return kind if required else f"NotRequired[{kind}]"


def _words(schema: Schema) -> str:
    """The description as one line, which ends where the first paragraph does."""
    words = schema.get("description", "").partition("\n\n")[0].replace("\n", " ").replace("\\", "\\\\")
    return str(words).replace('"', "'").strip()


def _commented(schema: Schema) -> str:
    return f"\n#: {words}\n" if (words := _words(schema)) else "\n"


def _type(schema: Schema, *, aliased: bool = False) -> str:
    """The type of a value. With `aliased` it is evaluated when the module is imported, and what it names is quoted."""
    if "$ref" in schema:
        name = _name(schema["$ref"])
        return f'"{name}"' if aliased else name
    if "const" in schema:
        return f"Literal[{_literal(schema['const'])}]"
    if "enum" in schema:
        return f"Literal[{', '.join(map(_literal, schema['enum']))}]"
    for several in ("anyOf", "oneOf"):
        if several in schema and not _is_object(schema):
            return _either([_type(each, aliased=aliased) for each in schema[several]], aliased)
    if len(schema.get("allOf", ())) == 1:
        return _type(schema["allOf"][0], aliased=aliased)
    kind = schema.get("type")
    if isinstance(kind, list):
        return _either([_type({**schema, "type": each}, aliased=aliased) for each in kind], aliased)
    if kind == "array":
        return f"list[{_type(schema.get('items', {}), aliased=aliased)}]"
    if kind == "object":
        further = schema.get("additionalProperties", True)
        return f"dict[str, {_type(further, aliased=aliased) if isinstance(further, Mapping) else 'Any'}]"
    return {"string": "str", "integer": "int", "number": "Number", "boolean": "bool", "null": "None"}.get(
        str(kind), "Any"
    )


def _either(kinds: list[str], aliased: bool) -> str:
    """Several types as one. Names that are still to come are put together as one text: `|` of texts is none."""
    distinct = list(dict.fromkeys(kinds))
    if aliased and any('"' in kind for kind in distinct):
        return '"' + " | ".join(kind.replace('"', "") for kind in distinct) + '"'
    return " | ".join(distinct)


def _literal(value: Any) -> str:
    return repr(value)


def _name(ref: str) -> str:
    return re.sub(r"\W", "", ref.rpartition("/")[2])
