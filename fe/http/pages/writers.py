"""Writes the calls of the guide's commands in each client's language: what stands behind the tabs beside curl."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from fe.http.pages.commands import CurlCall, Look, named, parts

#: Columns that a line of code may fill.
_WIDTH = 100
#: Characters of a receipt that gets a variable.
_LONG = 90
#: Members of a refusal.
_REFUSED = {"message", "statusCode", "problems", "hint"}
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WAIT = re.compile(r"/invoices/([^/?]+)\?wait=[1-9]\d*(&until=signed)?")


class Writer(ABC):
    """Code of one page in one language. It remembers which variables were declared."""

    fence: ClassVar[str]
    #: Words that declare a variable: of an answer, of a text, of a receipt.
    declares: ClassVar[tuple[str, str, str]] = ("", "", "")
    ends: ClassVar[str] = ";"
    step: ClassVar[str] = "    "
    #: Forms of a call, of its argument for a body and for none, of a wait, and of its option for a signature.
    call: ClassVar[str]
    body: ClassVar[tuple[str, str]] = (", %s", "")
    wait: ClassVar[str]
    signed: ClassVar[str]
    #: Forms that show an answer and texts, what stands between texts, and a call that is refused.
    shows: ClassVar[str]
    shows_texts: ClassVar[str]
    between: ClassVar[str] = ' + " " + '
    catches: ClassVar[str]
    constants: ClassVar[Mapping[object, str]] = {True: "true", False: "false", None: "null"}

    def __init__(self) -> None:
        """Begin a page."""
        self._declared: set[str] = set()
        self._payload: Any = None

    def block(self, steps: Iterable[CurlCall | Look], answers: Iterable[Any]) -> str:
        """Write the calls of a block, which the page shows these answers of."""
        shown = iter(answers)
        lines: list[str] = []
        for step in steps:
            if (
                isinstance(step, CurlCall)
                and isinstance(step.body, dict)
                and len(str(step.body.get("payload"))) > _LONG
            ):
                if step.body["payload"] != self._payload:
                    self._payload = step.body["payload"]
                    written = self.literal(self._payload, lead=len("payload = "))
                    lines.append(self._keep("PAYLOAD", written, self.declares[2]))
                step = replace(step, body={**step.body, "payload": named("PAYLOAD")})
            is_refused = step.is_shown and self.is_refusal(next(shown, None))
            lines += self._refused(step) if is_refused else self._step(step)
        return "\n".join([*self._imports("\n".join(lines)), *lines]) + "\n"

    @staticmethod
    def is_refusal(answer: Any) -> bool:
        """Tell whether an answer that a page shows is an error of the service."""
        return isinstance(answer, dict) and "message" in answer and set(answer) <= _REFUSED

    def _step(self, step: CurlCall | Look) -> list[str]:
        answer = self._asked(step) if isinstance(step, CurlCall) else self._name(step.variable)
        if step.into is not None:
            member = step.member if isinstance(step, CurlCall) else step.names
            return [
                self._keep(step.into, self._member(answer, member) if member else answer, self.declares[bool(member)])
            ]
        if not step.is_shown:
            return [answer + self.ends]
        if not step.names:
            return [self.shows % answer + self.ends]
        before = [] if isinstance(step, Look) else [self._keep("SEEN", answer, self.declares[0])]
        seen = self._name("SEEN") if before else answer
        texts = self.between.join(self._member(seen, (name,)) for name in step.names)
        return [*before, self.shows_texts % texts + self.ends]

    def _keep(self, variable: str, value: str, declares: str) -> str:
        declares = "" if variable in self._declared else declares
        self._declared.add(variable)
        return f"{declares}{self._name(variable)} = {value}{self.ends}"

    def _asked(self, call: CurlCall) -> str:
        if call.method == "GET" and (waits := _WAIT.fullmatch(call.path)):
            return self.wait % (self._text(waits[1]) + (self.signed if waits[2] else ""))
        lead = len(self.shows + self.call + call.method + call.path)
        body = self.body[1] if call.body is None else self.body[0] % self.literal(call.body, lead=lead)
        return self.call % f"{self._text(call.method)}, {self._text(call.path)}{body}"

    def literal(self, value: Any, pad: str = "", lead: int = 0) -> str:
        """Write a value of JSON, over several lines where it is long. `lead`: columns before it."""
        if isinstance(value, str):
            return self._text(value)
        if not isinstance(value, dict | list):
            return self.constants[value] if value is None or isinstance(value, bool) else str(value)
        items = (
            [(self._key(name, value), each) for name, each in value.items()]
            if isinstance(value, dict)
            else [("", each) for each in value]
        )
        opening, closing = self._brackets(value)
        if not items:
            return opening + closing.lstrip()
        if len(items) == 1:
            key, each = items[0]
            return opening + key + self.literal(each, pad, lead + len(opening + key)) + closing
        flat = opening + ", ".join(key + self.literal(each) for key, each in items) + closing
        if "\n" not in flat and len(pad) + lead + len(flat) <= _WIDTH:
            return flat
        inner = pad + self.step
        lines = f",\n{inner}".join(key + self.literal(each, inner, len(key)) for key, each in items)
        return f"{opening.rstrip()}\n{inner}{lines}\n{pad}{closing.lstrip()}"

    def _text(self, text: str) -> str:
        pieces = parts(text) or [("", False)]
        return self._joined([(self._name(piece) if is_name else piece, is_name) for piece, is_name in pieces])

    def _joined(self, pieces: Sequence[tuple[str, bool]]) -> str:
        return " + ".join(piece if is_name else self._quoted(piece) for piece, is_name in pieces)

    def _quoted(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    def _imports(self, _code: str) -> list[str]:
        return []

    def _name(self, variable: str) -> str:
        first, *more = variable.lower().split("_")
        return first + "".join(map(str.capitalize, more))

    def _refused(self, step: CurlCall | Look) -> list[str]:
        asked = self._asked(step) if isinstance(step, CurlCall) else ""
        inner = asked.replace("\n", f"\n{self.step}")
        return (self.catches % f"{self.step}{inner}{self.ends}").split("\n")

    @abstractmethod
    def _brackets(self, value: dict[str, Any] | list[Any]) -> tuple[str, str]:
        """Give the marks around an object or a list."""

    @abstractmethod
    def _key(self, name: str, within: dict[str, Any]) -> str:
        """Give the name of a member, up to its value."""

    @abstractmethod
    def _member(self, answer: str, path: Sequence[str | int]) -> str:
        """Follow a path in an answer, to a text."""


class _Python(Writer):
    fence = "python"
    ends = ""
    constants: ClassVar[Mapping[object, str]] = {True: "True", False: "False", None: "None"}
    call = "fe.call(%s)"
    wait = "fe.wait(%s)"
    signed = ', until="signed"'
    shows = shows_texts = "print(%s)"
    between = ", "
    catches = "try:\n%s\nexcept FeError as error:\n    print(error)"

    def _imports(self, code: str) -> list[str]:
        return ["from fe_client import FeError\n"] if "except FeError" in code else []

    def _name(self, variable: str) -> str:
        return variable.lower()

    def _joined(self, pieces: Sequence[tuple[str, bool]]) -> str:
        if len(pieces) == 1:
            return super()._joined(pieces)
        return "f" + self._quoted("".join(f"{{{piece}}}" if is_name else piece for piece, is_name in pieces))

    def _brackets(self, value: dict[str, Any] | list[Any]) -> tuple[str, str]:
        return ("{", "}") if isinstance(value, dict) else ("[", "]")

    def _key(self, name: str, within: dict[str, Any]) -> str:
        return f"{self._quoted(name)}: "

    def _member(self, answer: str, path: Sequence[str | int]) -> str:
        return answer + "".join(f"[{json.dumps(name)}]" for name in path)


class _TypeScript(Writer):
    fence = "js"
    declares = ("let ", "let ", "let ")
    step = "  "
    call = "await fe.call(%s)"
    wait = "await fe.wait(%s)"
    signed = ", { until: 'signed' }"
    shows = shows_texts = "console.log(%s)"
    between = ", "
    catches = "try {\n%s\n} catch (error) {\n  console.log(error.message);\n}"

    def _quoted(self, text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"

    def _joined(self, pieces: Sequence[tuple[str, bool]]) -> str:
        if len(pieces) == 1:
            return super()._joined(pieces)
        return "`" + "".join(f"${{{piece}}}" if is_name else piece for piece, is_name in pieces) + "`"

    def _brackets(self, value: dict[str, Any] | list[Any]) -> tuple[str, str]:
        return ("{ ", " }") if isinstance(value, dict) else ("[", "]")

    def _key(self, name: str, within: dict[str, Any]) -> str:
        return f"{name if _WORD.fullmatch(name) else self._quoted(name)}: "

    def _member(self, answer: str, path: Sequence[str | int]) -> str:
        answer = f"({answer})" if answer.startswith("await ") else answer
        return answer + "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)


class _Php(Writer):
    fence = "php"
    call = "$fe->call(%s)"
    body = (", body: %s", "")
    wait = "$fe->wait(%s)"
    signed = ", until: 'signed'"
    shows = 'echo json_encode(%s), "\\n"'
    shows_texts = 'echo %s, "\\n"'
    between = ", ' ', "
    catches = 'try {\n%s\n} catch (FeClient\\FeError $error) {\n    echo $error->getMessage(), "\\n";\n}'

    def _quoted(self, text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def _name(self, variable: str) -> str:
        return f"${super()._name(variable)}"

    def _joined(self, pieces: Sequence[tuple[str, bool]]) -> str:
        return super()._joined(pieces) if len(pieces) == 1 else f'"{"".join(piece for piece, _ in pieces)}"'

    def _brackets(self, value: dict[str, Any] | list[Any]) -> tuple[str, str]:
        return ("(object) [" if value == {} else "["), "]"

    def _key(self, name: str, within: dict[str, Any]) -> str:
        return f"{self._quoted(name)} => "

    def _member(self, answer: str, path: Sequence[str | int]) -> str:
        return answer + "".join(f"[{name}]" if isinstance(name, int) else f"['{name}']" for name in path)


class _Java(Writer):
    fence = "java"
    declares = ("Json ", "String ", "Json ")
    call = "fe.call(%s)"
    body = (", %s", ", null")
    wait = "fe.await(%s)"
    signed = ", Option.untilSigned()"
    shows = shows_texts = "System.out.println(%s)"
    catches = "try {\n%s\n} catch (FeError error) {\n    System.out.println(error.getMessage());\n}"

    def _brackets(self, value: dict[str, Any] | list[Any]) -> tuple[str, str]:
        return ("Json.object(" if isinstance(value, dict) else "Json.list("), ")"

    def _key(self, name: str, within: dict[str, Any]) -> str:
        return f"{self._quoted(name)}, "

    def _member(self, answer: str, path: Sequence[str | int]) -> str:
        found = (f".at({name})" if isinstance(name, int) else f'.get("{name}")' for name in path)
        return f"{answer}{''.join(found)}.text()"


class _CSharp(Writer):
    """Objects are anonymous, and dictionaries where a name is no word."""

    fence = "csharp"
    declares = ("Json ", "string ", "object ")
    constants: ClassVar[Mapping[object, str]] = {True: "true", False: "false", None: "(object)null"}
    call = "await fe.CallAsync(%s)"
    wait = "await fe.WaitAsync(%s)"
    signed = ", untilSigned: true"
    shows = shows_texts = "Console.WriteLine(%s)"
    catches = "try\n{\n%s\n}\ncatch (FeException error)\n{\n    Console.WriteLine(error.Message);\n}"

    def _brackets(self, value: dict[str, Any] | list[Any]) -> tuple[str, str]:
        if isinstance(value, dict):
            return ("new { " if _are_words(value) else "new Dictionary<string, object> { "), " }"
        is_alike = len(value) == 1 or (value and all(isinstance(item, str) for item in value))
        return ("new[] { " if is_alike else "new object[] { "), " }"

    def _key(self, name: str, within: dict[str, Any]) -> str:
        return f"{name} = " if _are_words(within) else f"[{self._quoted(name)}] = "

    def _member(self, answer: str, path: Sequence[str | int]) -> str:
        answer = f"({answer})" if answer.startswith("await ") else answer
        return f"{answer}{''.join(f'[{json.dumps(name)}]' for name in path)}.Text"


#: By the name of the clients' folders, in the order of the tabs.
WRITERS: Final[Mapping[str, type[Writer]]] = {
    "python": _Python,
    "typescript": _TypeScript,
    "php": _Php,
    "java": _Java,
    "csharp": _CSharp,
}


def _are_words(names: Iterable[str]) -> bool:
    return all(map(_WORD.fullmatch, names))
