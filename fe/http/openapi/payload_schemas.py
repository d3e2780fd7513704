"""Structured payloads as JSON schemas, made from the tables of the format: one for each type, and the parts they share.

A part (`EcfItem31`) is named after its element and the first type that has it in this shape; where every type that has
the element has it alike, the type is left out (`EcfCodigosItem`). Code lists and kinds of number are parts as well.

The schemas describe how a payload is best written, and so do less than the service: it also takes a code as a number, a
single object where a list may stand, a list in place of the table around it, and nulls as if they were absent
(interface.md#structured).
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fe.ecf.catalogue import SUBMITTABLE, EcfType, Root
from fe.ecf.describe import Described, described
from fe.ecf.field_help import help_of
from fe.ecf.schema.codes import CODES
from fe.ecf.schema.model import Base, Code, Simple, ValueForm
from fe.ecf.schema.simple import MANY_CODES, simple_type

Schema = dict[str, Any]

_REFERENCE = "#/components/schemas/"
_ISO_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


def payload_schemas() -> tuple[list[Schema], dict[str, Schema]]:
    """The schemas that a payload may follow, as references, and every component that they need."""
    kinds = [_Kind(Root.ECF, ecf_type) for ecf_type in EcfType]
    kinds += [_Kind(root, None) for root in (Root.RFCE, Root.ACECF, Root.ANECF) if root in SUBMITTABLE]
    parts = _Parts(kinds)
    for one in kinds:
        parts.add(one)
    return [{"$ref": f"{_REFERENCE}{one.name}"} for one in kinds], parts.components


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of document that may be submitted."""

    root: Root
    ecf_type: EcfType | None

    @property
    def name(self) -> str:
        """The component that its payload is."""
        return f"{self.prefix}{self.ecf_type or 'Payload'}"

    @property
    def prefix(self) -> str:
        """The prefix of its components' names."""
        return str(self.root).capitalize()

    @property
    def tree(self) -> Described:
        return described(self.root, self.ecf_type)


class _Parts:
    """The components, each under a name that tells whose it is."""

    def __init__(self, kinds: list[_Kind]) -> None:
        self.components: dict[str, Schema] = {}
        #: By name without a type: the shapes that it has, and the types that have each, in their order.
        self._shapes: dict[str, dict[str, list[_Kind]]] = {}
        #: By the path of a group: the name it goes by, without a type.
        self._names: dict[tuple[Root, str], str] = {}
        #: The component of each simple type. Types that differ in spelling alone share one.
        self._values: dict[str, tuple[str, Schema]] = {}
        groups = [(one, of, owner) for one in kinds for of, owner in _groups(one.tree, "")]
        ambiguous = _ambiguous(groups)
        for one, of, owner in groups:
            named = f"{owner}{of.name}" if (one.prefix, of.name) in ambiguous else of.name
            name = self._names[one.root, of.path] = f"{one.prefix}{named}"
            self._shapes.setdefault(name, {}).setdefault(self._shape(one, of), []).append(one)

    def add(self, one: _Kind) -> None:
        """Add what a kind of document needs."""
        content = self._group(one, one.tree)
        if one.root is Root.ECF:
            assert one.ecf_type is not None
            meaning = next(code for code in CODES["ecf-type"] if code.value == one.ecf_type)
            content["description"] = (
                f"An e-CF of type {meaning.value}, {meaning.meaning}. "
                f"Un e-CF de tipo {meaning.value}, {meaning.meaning_es}."
            )
            self.components[one.name] = content
        else:
            self.components[one.prefix] = content
            self.components[one.name] = {
                "type": "object",
                "description": f"A payload that is an {one.root}, under the name of its root.",
                "properties": {str(one.root): {"$ref": f"{_REFERENCE}{one.prefix}"}},
                "required": [str(one.root)],
                "additionalProperties": False,
            }

    def _group(self, one: _Kind, of: Described) -> Schema:
        schema: Schema = {
            "type": "object",
            "properties": {child.name: self._property(one, child) for child in of.children},
            "required": [child.name for child in of.children if child.needed],
            "additionalProperties": False,
        }
        if not schema["required"]:
            del schema["required"]
        return schema

    def _property(self, one: _Kind, of: Described) -> Schema:
        value = self._value(one, of)
        if of.many > 1:
            value = {"type": "array", "items": value, "maxItems": of.many}
            if of.required:
                value["minItems"] = 1
        said = " ".join(filter(None, (value.get("description"), _said(one.root, of))))
        return {**value, "description": said} if said else value

    def _value(self, one: _Kind, of: Described) -> Schema:
        if of.simple is not None:
            return self._leaf(one, of.simple)
        name = self._names[one.root, of.path]
        shapes = self._shapes[name]
        if len(shapes) > 1:
            name += shapes[self._shape(one, of)][0].ecf_type or ""
        if name not in self.components:
            self.components[name] = {}  # its place, before those of its own parts
            self.components[name] = self._group(one, of)
        return {"$ref": f"{_REFERENCE}{name}"}

    def _leaf(self, one: _Kind, simple: Simple) -> Schema:
        if simple is simple_type("ecf-type") and one.ecf_type is not None:
            return {"const": one.ecf_type.value, "type": "string"}
        if simple is simple_type("e-ncf") and one.ecf_type is not None:
            return {"type": "string", "pattern": f"^{one.ecf_type.prefix}[0-9]{{10}}$"}
        if len(simple.codes) == 1:
            return {"const": simple.codes[0].value, "type": "string"}
        if simple.form is ValueForm.TEXT:
            return _text(simple)
        if simple.name not in self._values:
            component = _component(simple)
            # Units are spelled strictly in some types, which makes no difference to how they are described.
            alike = (name for name, other in self._values.values() if other == component and simple.codes)
            self._values[simple.name] = (next(alike, f"Ecf{_camel(simple.name)}"), component)
        name, component = self._values[simple.name]
        self.components.setdefault(name, component)
        return {"$ref": f"{_REFERENCE}{name}"}

    def _shape(self, one: _Kind, of: Described) -> str:
        """All that is said of a group, as a text: two groups of the same shape are one component."""

        def structure_of(child: Described) -> Any:
            inside = (
                self._leaf(one, child.simple) if child.simple is not None else list(map(structure_of, child.children))
            )
            return [child.name, child.many, child.required, _said(one.root, child), inside]

        return json.dumps(list(map(structure_of, of.children)))


def _groups(of: Described, owner: str) -> Iterator[tuple[Described, str]]:
    """Each group below, and the group it belongs to; tables that hold nothing but a list are passed over."""
    inner = owner if len(of.children) == 1 and of.children[0].many > 1 else of.name
    for child in of.children:
        if child.simple is None:
            yield child, inner
            yield from _groups(child, inner)


def _ambiguous(groups: list[tuple[_Kind, Described, str]]) -> set[tuple[str, str]]:
    """The names that stand for groups of more than one kind within a document."""
    owners: dict[tuple[str, str], set[str]] = {}
    for one, of, owner in groups:
        owners.setdefault((one.prefix, of.name), set()).add(owner)
    return {name for name, those in owners.items() if len(those) > 1}


def _said(root: Root, of: Described) -> str:
    """The description of an element beside its schema, in both languages."""
    text = help_of(root, of.path)
    said, said_es = text.en, text.es
    if of.filled is not None:
        when, when_es = "Always ours", "Siempre nuestro"
        if not of.filled.always:
            when, when_es = "Filled in where left out", "Si falta, se completa"
        said += f" {when}: {of.filled.words}."
        said_es += f" {when_es}: {of.filled.words_es}."
    return f"{said} · {said_es}"


# --- values ---------------------------------------------------------------------------------------------------------


def _text(simple: Simple) -> Schema:
    schema: Schema = {"type": "string"}
    if simple.shortest is not None:
        schema["minLength"] = simple.shortest
    if simple.longest is not None:
        schema["maxLength"] = simple.longest
    if simple.pattern is not None:
        schema |= {"pattern": _pattern(simple.pattern), "description": _words(simple)}
    return schema


def _component(simple: Simple) -> Schema:
    words = _words(simple)
    match simple.form:
        case ValueForm.CODE:
            return _codes(simple)
        case ValueForm.NUMBER:
            number = {"type": "integer" if simple.base is Base.INTEGER else "number", **_bounds(simple)}
            text = {"type": "string", "pattern": _pattern(simple.pattern or ".*")}
            return {"anyOf": [number, text], "description": words}
        case ValueForm.DATE:
            day = {"type": "string", "format": "date", "pattern": f"^{_ISO_DAY}$"}
            text = {"type": "string", "pattern": _pattern(simple.pattern or ".*")}
            return {"anyOf": [day, text], "description": f"{words} Or ISO 8601. O ISO 8601."}
    text = {"type": "string", "pattern": _pattern(f"{simple.pattern}|{_ISO_DAY}[T ].+")}
    return text | {"description": f"{words} Or ISO 8601. O ISO 8601."}


def _bounds(simple: Simple) -> Schema:
    signed = simple.pattern is not None and simple.pattern.startswith("[+-]")
    bounds: Schema = {}
    if simple.above is not None:
        bounds["exclusiveMinimum"] = simple.above
    elif simple.minimum is not None or not signed:
        bounds["minimum"] = simple.minimum or 0
    if simple.maximum is not None:
        bounds["maximum"] = simple.maximum
    return bounds


def _codes(simple: Simple) -> Schema:
    codes = simple.codes
    schema: Schema = {"type": "string", "enum": [code.value for code in codes]}
    if len(codes) > MANY_CODES:
        schema["description"] = _words(simple)
    else:
        schema["description"] = "; ".join(f"`{code.value}` {_meaning(code)}" for code in codes)
    # Names for the members of an enumeration, which generators read; without them there are only numbers to go by.
    schema["x-enum-varnames"] = list(_names(codes))
    schema["x-enum-descriptions"] = [_meaning(code) for code in codes]
    return schema


def _meaning(code: Code) -> str:
    return code.meaning if code.meaning == code.meaning_es else f"{code.meaning} · {code.meaning_es}"


def _names(codes: tuple[Code, ...]) -> Iterator[str]:
    """A name for each code, of the words of its meaning; with the code itself where that is not enough."""
    names = [_upper(code.meaning) for code in codes]
    for code, name in zip(codes, names, strict=True):
        yield f"{name}_{_upper(code.value)}" if names.count(name) > 1 or len(codes) > MANY_CODES else name


def _upper(words: str) -> str:
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    return "_".join(re.findall("[A-Z0-9]+", plain.upper().replace("%", " PERCENT")))


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _words(simple: Simple) -> str:
    return " ".join(f"{words[:1].upper()}{words[1:]}." for words in (simple.expected, simple.expected_es))


def _pattern(xsd: str) -> str:
    """A pattern of XSD, which holds for the whole text, as one of ECMAScript. There `-` is not to be escaped."""
    return f"^(?:{xsd})$".replace(r"\-", "-")
