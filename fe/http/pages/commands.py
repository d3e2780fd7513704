"""Reads the guide's commands: the calls that curl makes in a block, as tabs in other languages are written of them.

It knows as much of the shell as the guide uses: functions, variables, quotes, and sed that takes members out.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

#: A block, with the answers that the page shows before the next one.
_BLOCK = re.compile(r"^```(?P<kind>sh run|json|text)\n(?P<code>.*?)^```\n", re.M | re.S)
_FUNCTION = re.compile(r"^(\w+)\(\) \{\n?(.*?)(?:^|; )\}$", re.M | re.S)
_ASSIGNMENT = re.compile(r"(\w+)=\$\((.*)\)", re.S)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+):-(\w*)\})")
_TAKEN = re.compile(r's/\.\*"(\w+)":"\(\[\^"\]\+\)"\.\*/\\1/')
_SHOWN = re.compile(r'"(\w+)":')
#: Answers that are no JSON.
_IS_PRINT = re.compile(r"/(?:pdf|ticket|qr\.\w+)(?:\?|$)")
_MARK = re.compile("\ue000(\\w+)\ue001")


class NotCallsError(ValueError):
    """The block does more than call the service."""


@dataclass(frozen=True, slots=True)
class CurlCall:
    """A request. `into` is the variable that its answer, or what `member` leads to, is kept in."""

    method: str
    path: str
    body: Any = None
    into: str | None = None
    member: tuple[str | int, ...] = ()
    is_shown: bool = True
    #: Members that are shown; none: the whole answer.
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """Show a variable, or some of its members; with `into` keep one of them instead."""

    variable: str
    names: tuple[str, ...] = ()
    into: str | None = None
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class Block:
    """Commands of a page, their calls (None: they are more than calls), and the answers that it shows for them."""

    #: Where they end on the page, with their fence.
    end: int
    text: str
    steps: tuple[CurlCall | Look, ...] | None
    answers: tuple[Any, ...]


def blocks(page: str) -> list[Block]:
    """Read a page of the guide."""
    functions: dict[str, str] = {}
    found: list[Block] = []
    for match in _BLOCK.finditer(page):
        kind, text = match["kind"], match["code"]
        if kind == "sh run":
            functions |= dict(_FUNCTION.findall(text))
            try:
                steps = tuple(_steps(_FUNCTION.sub("", text), functions, {}))
            except NotCallsError:
                steps = None
            found.append(Block(match.end(), text, steps, ()))
        elif found:
            answer = json.loads(text, parse_float=str) if kind == "json" or text.startswith("{") else text
            found[-1] = replace(found[-1], answers=(*found[-1].answers, answer))
    return found


def named(variable: str) -> str:
    """Give a text of a call that is a variable's value."""
    return f"\ue000{variable}\ue001"


def parts(text: str) -> list[tuple[str, bool]]:
    """Split a text of a call into what is written, and names of variables (True)."""
    return [(part, bool(nth % 2)) for nth, part in enumerate(_MARK.split(text)) if part or nth % 2]


def _steps(text: str, functions: Mapping[str, str], given: Mapping[str, str]) -> Iterator[CurlCall | Look]:
    for statement in _split(text, "\n;"):
        assigned = _ASSIGNMENT.fullmatch(statement)
        step = list(_pipeline(assigned[2] if assigned else statement, functions, given))
        if assigned:
            if len(step) != 1:
                raise NotCallsError(statement)
            step = [_kept(step[0], assigned[1])]
        yield from step


def _kept(step: CurlCall | Look, variable: str) -> CurlCall | Look:
    if isinstance(step, Look):
        return replace(step, into=variable, is_shown=False)
    is_list = step.names and step.method == "GET" and "limit=1" in step.path
    member: tuple[str | int, ...] = ("items", 0, *step.names) if is_list else step.names
    return replace(step, into=variable, member=member, names=(), is_shown=False)


def _pipeline(text: str, functions: Mapping[str, str], given: Mapping[str, str]) -> Iterator[CurlCall | Look]:
    first, *filters = (_words(command, given) for command in _split(text, "|"))
    quiet = "/dev/null" in first
    if first[0] == "curl":
        steps: list[CurlCall | Look] = [_call(first[1:])]
    elif first[0] in ("echo", "printf") and (variable := _MARK.fullmatch(first[-1])):
        steps = [Look(variable[1])]
    elif first[0] in functions:
        steps = list(_steps(functions[first[0]], functions, {str(nth): word for nth, word in enumerate(first)}))
    else:
        raise NotCallsError(first[0])
    for command in filters:
        words = _words(functions[command[0]], {}) if command[0] in functions else command
        if words[0] != "sed":
            raise NotCallsError(words[0])
        taken = _TAKEN.fullmatch(words[-1])
        names = (taken[1],) if taken else tuple(_SHOWN.findall(words[-1]))
        steps[-1] = replace(steps[-1], names=names)
    if quiet:
        steps = [replace(step, is_shown=False) for step in steps]
    yield from steps


def _call(words: list[str]) -> CurlCall:
    method, address, body = None, "", None
    rest = iter(words)
    for word in rest:
        if word == "-X":
            method = next(rest)
        elif word == "-H":
            if next(rest) == "Accept-Language: es":
                raise NotCallsError(word)
        elif word == "-o":
            next(rest)
        elif word == "-d":
            body = json.loads(next(rest), parse_float=str)
        elif word not in ("-sS", "-gsS"):
            address = word
    path = address.removeprefix(named("FE_URL"))
    if path == address or path == "/login" or _IS_PRINT.search(path):
        raise NotCallsError(address)
    return CurlCall(method or ("GET" if body is None else "POST"), path.replace("[", "%5B").replace("]", "%5D"), body)


def _split(text: str, separators: str) -> list[str]:
    """Split at characters that stand outside quotes, brackets and `$( )`; a line goes on after `\\` or `|`."""
    found, current, quote, depth = [], "", "", 0
    text = re.sub(r"\\\n\s*", " ", re.sub(r"\|\n\s*", "| ", text)).replace(">/dev/null", "-o /dev/null")
    escaped = False
    for char in text:
        if escaped or char == "\\":
            escaped = not escaped and quote != "'"
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char in separators and not depth:
            found.append(current)
            current = ""
            continue
        current += char
    return [one.strip() for one in (*found, current) if one.strip()]


def _words(command: str, given: Mapping[str, str]) -> list[str]:
    """Split a command into words, without quotes and with their variables: those given, or their names marked."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return given.get(name, found[3] or "") if name.isdecimal() else named(name)

    words: list[str] = []
    for word in re.findall(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+""", command, re.S):
        pieces = re.findall(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|([^'"]+)""", word, re.S)
        words.append(
            "".join(
                single + re.sub(r'\\(["\\$`])', r"\1", _VARIABLE.sub(value, double)) + _VARIABLE.sub(value, bare)
                for single, double, bare in pieces
            )
        )
    return words
