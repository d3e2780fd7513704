"""Types for Java, C# and PHP from the schemas of the description: what is answered is read, what is sent is built.

The calls of these clients answer with JSON as it came; a type reads it by names that the compiler knows. A member that
a later release adds is ignored, one that is absent is null, and an amount is an exact decimal (in PHP a text).

One class serves all types of receipt: `EcfItem` has the members of `EcfItem31` to `EcfItem47`. A program shares code
between types so, and the service names a member that a type does not have. Descriptions are in the reference.

One walk over the schemas serves three templates: a generator of the registry for each language brings a client of its
own, and a runtime with it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

Schema = Mapping[str, Any]

_ABOUT = "Made from the service's description by `python -m clients.generate`: changes belong there."


@dataclass(frozen=True, slots=True)
class Field:
    """A member of an object. `kind` is that of its value, or the name of an object; `many`: a list of these."""

    name: str
    kind: str
    many: bool
    is_required: bool


@dataclass(frozen=True, slots=True)
class Model:
    """An object that is answered, or one that is sent."""

    name: str
    is_answer: bool
    fields: list[Field]


def typed_models(described: Mapping[str, Any], schemas: Mapping[str, Schema]) -> dict[str, str]:
    """Write the types of each language: by its file below `clients`, the source."""
    read = answered(described)
    models: dict[str, Model] = {}
    for name, schema in sorted(schemas.items()):
        if "properties" in schema:
            model = Model(_family(name), name in read, list(_fields(schema, schemas)))
            models[model.name] = _joined(models[model.name], model) if model.name in models else model
    return {file: write(list(models.values())) for file, write in _WRITERS.items()}


def _family(name: str) -> str:
    """The name without the type of receipt at its end."""
    return re.sub(r"(?<=[A-Za-z])[34]\d$", "", name)


def _joined(one: Model, other: Model) -> Model:
    """Join the members of one object in two types of receipt: those that both require are required."""
    fields = {each.name: replace(each, is_required=False) for each in [*one.fields, *other.fields]}
    required = {each.name for each in other.fields if each.is_required}
    for each in one.fields:
        # A number may be sent as a text, too.
        kind = each.kind if fields[each.name].kind == each.kind else "text"
        fields[each.name] = replace(each, kind=kind, is_required=each.is_required and each.name in required)
    return replace(one, fields=list(fields.values()))


def answered(described: Mapping[str, Any]) -> set[str]:
    """Names of the schemas that answers and webhook calls have."""
    operations = [each for path in described["paths"].values() for each in path.values() if isinstance(each, Mapping)]
    found: set[str] = set()
    ahead = list(_named_in([[each.get("responses") for each in operations], described.get("webhooks")]))
    while ahead:
        if (name := ahead.pop()) not in found:
            found.add(name)
            ahead.extend(_named_in(described["components"]["schemas"].get(name)))
    return found


def _named_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rpartition("/")[2]
        for value in schema.values():
            yield from _named_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _named_in(value)


def _fields(schema: Schema, schemas: Mapping[str, Schema]) -> Iterator[Field]:
    for name, value in schema["properties"].items():
        kind, many = _kind(value, schemas)
        yield Field(name, kind, many, name in schema.get("required", ()))


def _kind(schema: Schema, schemas: Mapping[str, Schema]) -> tuple[str, bool]:
    """Return the kind of a value, and whether it is a list of these."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return (_family(name), False) if "properties" in schemas[name] else _kind(schemas[name], schemas)
    if "const" in schema or "enum" in schema:
        return "text", False
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            kinds = [_kind(each, schemas) for each in schema[several] if each.get("type") != "null"]
            # An amount or a whole number may be sent as a text, too.
            exact = [kind for kind in kinds if kind[0] in ("amount", "whole")]
            return (exact or kinds)[0] if exact or len(set(kinds)) == 1 else ("any", False)
    if schema.get("type") == "array":
        return _kind(schema["items"], schemas)[0], True
    kinds_of_json = {"string": "text", "integer": "whole", "number": "amount", "boolean": "truth", "object": "json"}
    return kinds_of_json.get(str(schema.get("type")), "any"), False


def _lines(indent: int, written: str) -> str:
    space = " " * indent
    return "".join(f"{space}{line}\n" for line in written.split("\n"))


# --- Java: records that are read, and builders of what is sent

_JAVA = {
    "text": ("String", "{}.text()"),
    "whole": ("Long", "whole({})"),
    "amount": ("BigDecimal", "{}.amount()"),
    "truth": ("Boolean", "truth({})"),
    "json": ("Json", "{}"),
    "any": ("Json", "{}"),
}
#: Functions that read one item of a list.
_JAVA_EACH = {"text": "Json::text", "whole": "Types::whole", "amount": "Json::amount", "json": "each -> each"}
#: Types of a builder's parameters where they differ: a compiler makes no `Long` of the literal 5.
_JAVA_SENT = {"whole": "long", "any": "Object"}
#: Names that a method cannot have.
_JAVA_RESERVED = {"void", "notify"}


def _java(models: list[Model]) -> str:
    return _JAVA_FILE % "\n".join(_lines(4, _java_model(model)) for model in models)


def _java_model(model: Model) -> str:
    if model.is_answer:
        members = "".join(
            f"    public {_java_type(each)} {_java_name(each)}() {{ return {_java_read(each)}; }}\n"
            for each in model.fields
        )
        return (
            f"public record {model.name}(Json json) {{\n"
            f"    public static {model.name} from(Json json) {{ return read(json, {model.name}::new); }}\n{members}}}"
        )
    setters = "".join(
        f"    public {model.name} {_java_name(each)}({_java_type(each, sent=True)} value)"
        f' {{ return put("{each.name}", value); }}\n'
        for each in model.fields
    )
    return f"public static final class {model.name} extends Request<{model.name}> {{\n{setters}}}"


def _java_name(field: Field) -> str:
    return f"{field.name}_" if field.name in _JAVA_RESERVED else field.name


def _java_type(field: Field, *, sent: bool = False) -> str:
    if sent and not field.many and field.kind in _JAVA_SENT:
        return _JAVA_SENT[field.kind]
    one = "?" if sent and field.kind == "any" else _JAVA.get(field.kind, (field.kind,))[0]
    return f"List<{one}>" if field.many else one


def _java_read(field: Field) -> str:
    member = f'json.get("{field.name}")'
    if field.many:
        return f"list({member}, {_JAVA_EACH.get(field.kind, f'{field.kind}::from')})"
    return _JAVA[field.kind][1].format(member) if field.kind in _JAVA else f"{field.kind}.from({member})"


_JAVA_FILE = f"""package fe.client;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What is answered, as records over its JSON, and what is sent, as builders. A member that is absent is null.
 *
 * <p>`from` reads an answer or a part of one; null of null.
 *
 * <p>{_ABOUT}
 */
public final class Types {{
    private Types() {{}}

    /** What is sent: a member that was not set is left out, and one that was set to null is sent as null. */
    public abstract static class Request<T extends Request<T>> {{
        private final Map<String, Object> members = new LinkedHashMap<>();

        @SuppressWarnings("unchecked")
        final T put(String name, Object value) {{
            members.put(name, value);
            return (T) this;
        }}

        /** This as JSON. */
        public final Json json() {{
            return Json.of(members);
        }}
    }}

    private static <T> T read(Json json, Function<Json, T> read) {{
        return json == null || json.isNull() ? null : read.apply(json);
    }}

    private static Long whole(Json json) {{
        return json.amount() == null ? null : json.amount().longValue();
    }}

    private static Boolean truth(Json json) {{
        return json.isTrue() || json.isFalse() ? json.isTrue() : null;
    }}

    private static <T> List<T> list(Json json, Function<Json, T> read) {{
        return json.isNull() ? null : json.items().stream().map(read).toList();
    }}

%s}}
"""


# --- C#: classes over what is read, and classes that an object initializer fills

_CSHARP = {
    "text": ("string", "{}.Text"),
    "whole": ("long?", "(long?){}.Amount"),
    "amount": ("decimal?", "{}.Amount"),
    "truth": ("bool?", "Truth({})"),
    "json": ("Json", "{}"),
    "any": ("Json", "{}"),
}


def _csharp(models: list[Model]) -> str:
    return _CSHARP_FILE % "\n".join(_lines(8, _csharp_model(model)) for model in models)


def _csharp_model(model: Model) -> str:
    name = model.name
    if model.is_answer:
        members = [
            f"public {_csharp_type(each)} {_csharp_name(model, each)} => {_csharp_read(each)};" for each in model.fields
        ]
        members[:0] = [
            f"private {name}(Json json) : base(json) {{ }}",
            f"public static {name} From(Json json) => Read(json, each => new {name}(each));",
        ]
    else:
        members = [_csharp_setter(model, each) for each in model.fields]
    base = "Answer" if model.is_answer else "Request"
    return f"public sealed class {name} : {base}\n{{\n{_lines(4, chr(10).join(members))}}}"


def _csharp_setter(model: Model, field: Field) -> str:
    kind = _csharp_type(field, sent=True)
    access = f'get => ({kind})Get("{field.name}"); set => Set("{field.name}", value);'
    return f"public {kind} {_csharp_name(model, field)} {{ {access} }}"


def _csharp_name(model: Model, field: Field) -> str:
    name = field.name[0].upper() + field.name[1:]
    # A class cannot have a member of its own name, or a second one called From.
    return f"{name}Value" if name in (model.name, "From") else name


def _csharp_type(field: Field, *, sent: bool = False) -> str:
    one = "object" if sent and field.kind == "any" else _CSHARP.get(field.kind, (field.kind,))[0]
    return f"IReadOnlyList<{one}>" if field.many else one


def _csharp_read(field: Field) -> str:
    member = f'json["{field.name}"]'
    if field.many:
        each = f"each => {_CSHARP[field.kind][1].format('each')}" if field.kind in _CSHARP else f"{field.kind}.From"
        return f"List({member}, {each})"
    return _CSHARP[field.kind][1].format(member) if field.kind in _CSHARP else f"{field.kind}.From({member})"


_CSHARP_FILE = f"""using System;
using System.Collections.Generic;
using System.Linq;

namespace FeClient
{{
    /// <summary>
    /// What is answered, as classes over its JSON, and what is sent, as classes that an object initializer fills. A
    /// member that is absent is null.
    ///
    /// `From` reads an answer or a part of one; null of null.
    ///
    /// {_ABOUT}
    /// </summary>
    public static class Types
    {{
        /// <summary>What is sent: a member that was not set is left out, and one set to null is sent as null.</summary>
        public abstract class Request
        {{
            private readonly Dictionary<string, object> members = new Dictionary<string, object>();

            internal Request() {{ }}

            private protected object Get(string name) => members.TryGetValue(name, out object value) ? value : null;

            private protected void Set(string name, object value) => members[name] = value;

            /// <summary>This as JSON.</summary>
            public Json ToJson() => Json.Of(members);
        }}

        /// <summary>What is answered.</summary>
        public abstract class Answer
        {{
            private protected readonly Json json;

            private protected Answer(Json json) {{ this.json = json; }}

            /// <summary>This as it came.</summary>
            public override string ToString() => json.ToString();
        }}

        private static T Read<T>(Json json, Func<Json, T> read) where T : class =>
            json == null || json.IsNull ? null : read(json);

        private static bool? Truth(Json json) => json.IsTrue || json.IsFalse ? json.IsTrue : (bool?)null;

        private static IReadOnlyList<T> List<T>(Json json, Func<Json, T> read) =>
            json.IsNull ? null : json.Items.Select(read).ToList();

%s    }}
}}
"""


# --- PHP: readonly classes that are read, and such that named arguments fill

_PHP = {"text": "string", "whole": "int", "amount": "string", "truth": "bool", "json": "array", "any": "mixed"}


def _php(models: list[Model]) -> str:
    return _PHP_FILE + "\n".join(map(_php_model, models))


def _php_model(model: Model) -> str:
    # PHP wants the parameters without a default first.
    members = "".join(_php_member(model, each) for each in sorted(model.fields, key=lambda each: not each.is_required))
    lists = [f"'{each.name}' => {each.kind}::class" for each in model.fields if each.many and each.kind not in _PHP]
    known = f"    protected const LISTS = [{', '.join(lists)}];\n\n" * (model.is_answer and bool(lists))
    return (
        f"final readonly class {model.name} extends {'Answer' if model.is_answer else 'Request'}\n{{\n"
        f"{known}    public function __construct(\n{members}    ) {{\n    }}\n}}\n"
    )


def _php_member(model: Model, field: Field) -> str:
    one = _PHP.get(field.kind, field.kind)
    declared = "array" if field.many else one
    must = field.is_required and not model.is_answer
    shape = f"list<{one}>" if field.many else "array<string, mixed>" if one == "array" else ""
    comment = f"        /** @var {shape}{'' if must else '|null'} */\n" * bool(shape)
    optional = declared if must or declared == "mixed" else f"?{declared}"
    return f"{comment}        public {optional} ${field.name}{'' if must else ' = null'},\n"


_PHP_FILE = f"""<?php

/**
 * What is answered, as classes that `from` reads, and what is sent, as classes that named arguments fill. A member that
 * is absent is null; amounts are texts such as "118.50".
 *
 * {_ABOUT}
 */

declare(strict_types=1);

namespace FeClient\\Types;

/** What is sent: a member that is null is left out. */
abstract readonly class Request implements \\JsonSerializable
{{
    /** @return array<string, mixed> this as the calls take it */
    final public function toArray(): array
    {{
        return array_map(self::plain(...), array_filter(get_object_vars($this), fn (mixed $value) => $value !== null));
    }}

    private static function plain(mixed $value): mixed
    {{
        return match (true) {{
            $value instanceof self => $value->toArray(),
            is_array($value) => array_map(self::plain(...), $value),
            default => $value,
        }};
    }}

    final public function jsonSerialize(): object
    {{
        return (object) $this->toArray();
    }}
}}

/** What is answered: a member that is absent is null, and so is one of another kind than the description has. */
abstract readonly class Answer
{{
    /** @var array<string, class-string<Answer>> by a member, the class of what its list holds */
    protected const LISTS = [];

    /** @param array<string, mixed> $data an answer, or a part of one */
    final public static function from(array $data): static
    {{
        $values = [];
        foreach ((new \\ReflectionMethod(static::class, '__construct'))->getParameters() as $member) {{
            $values[] = self::read($data[$member->name] ?? null, $member);
        }}
        return new static(...$values);
    }}

    private static function read(mixed $value, \\ReflectionParameter $member): mixed
    {{
        $class = static::LISTS[$member->name] ?? null;
        if ($class !== null) {{
            return is_array($value) ? array_map($class::from(...), $value) : null;
        }}
        return match ($type = $member->getType()->getName()) {{
            'string' => is_string($value) || is_int($value) ? (string) $value : null,
            'int' => is_int($value) ? $value : null,
            'bool' => is_bool($value) ? $value : null,
            'array' => is_array($value) ? $value : null,
            'mixed' => $value,
            default => is_array($value) ? $type::from($value) : null,
        }};
    }}
}}

"""

#: By the file below `clients`, what writes it.
_WRITERS: dict[str, Callable[[list[Model]], str]] = {
    "csharp/src/Types.cs": _csharp,
    "java/src/fe/client/Types.java": _java,
    "php/src/Types.php": _php,
}
