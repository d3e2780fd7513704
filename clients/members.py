"""Members of request bodies, as source for each language whose client refuses an unknown one at run time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: Names in the clients, and the schemas whose members they list.
_LISTED = {
    "ITEM": ("NewStructuredInvoice", "NewXmlInvoice"),
    "SIMULATE": ("Simulate",),
    "WEBHOOK": ("WebhookRequest",),
}
_ABOUT = "Made from the service's description by `python -m clients.generate`: changes belong there."


def _members(schemas: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        name: list(dict.fromkeys(member for each in listed for member in schemas[each]["properties"]))
        for name, listed in _LISTED.items()
    }


def _php(members: Mapping[str, Sequence[str]]) -> str:
    lines = [f"    public const {name} = [{_quoted(each, chr(39))}];" for name, each in members.items()]
    head = f"<?php\n\ndeclare(strict_types=1);\n\nnamespace FeClient;\n\n/** @internal {_ABOUT} */\n"
    return f"{head}final class Members\n{{\n{_joined(lines)}}}\n"


def _java(members: Mapping[str, Sequence[str]]) -> str:
    lines = [
        f"    static final List<String> {name} = List.of({_quoted(each, chr(34))});" for name, each in members.items()
    ]
    return f"""package fe.client;

import java.util.Collection;
import java.util.List;

/** {_ABOUT} */
final class Members {{
{_joined(lines)}
    private Members() {{}}

    /** Refuse names that do not exist: the service would ignore them. Throws IllegalArgumentException. */
    static void refuseUnknown(String what, Collection<String> given, List<String> members) {{
        for (String name : given) {{
            if (!members.contains(name)) {{
                String meant = "there are " + String.join(", ", members);
                for (String member : members) {{
                    if (member.equalsIgnoreCase(name.replaceAll("[_-]", ""))) {{
                        meant = "did you mean " + member + "?";
                    }}
                }}
                throw new IllegalArgumentException(what + ": there is no " + name + "; " + meant);
            }}
        }}
    }}
}}
"""


def _csharp(members: Mapping[str, Sequence[str]]) -> str:
    lines = [
        f"        internal static readonly string[] {name.title()} = {{ {_quoted(each, chr(34))} }};"
        for name, each in members.items()
    ]
    return f"""using System;
using System.Collections.Generic;
using System.Linq;

namespace FeClient
{{
    /// <summary>{_ABOUT}</summary>
    internal static class Members
    {{
{_joined(lines)}
        /// <summary>Refuse names that do not exist: the service would ignore them.</summary>
        internal static void RefuseUnknown(string what, IEnumerable<string> given, string[] members)
        {{
            foreach (string name in given.Where(each => !members.Contains(each)))
            {{
                string letters = name.Replace("_", "").Replace("-", "");
                string near = members.FirstOrDefault(each => each.Equals(letters, StringComparison.OrdinalIgnoreCase));
                string meant = near == null ? "there are " + string.Join(", ", members) : "did you mean " + near + "?";
                throw new ArgumentException(what + ": there is no " + name + "; " + meant);
            }}
        }}
    }}
}}
"""


def _quoted(members: Sequence[str], quote: str) -> str:
    return ", ".join(f"{quote}{member}{quote}" for member in members)


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


#: By the file below `clients`, what writes it.
_WRITERS: dict[str, Callable[[Mapping[str, Sequence[str]]], str]] = {
    "csharp/src/Members.cs": _csharp,
    "java/src/fe/client/Members.java": _java,
    "php/src/Members.php": _php,
}


def member_files(schemas: Mapping[str, Any]) -> dict[str, str]:
    """Write the list of each language: by its file below `clients`, the source."""
    members = _members(schemas)
    return {file: write(members) for file, write in _WRITERS.items()}
