"""As much of PromQL as it takes to see which metrics and labels an expression speaks of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_SELECTOR = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{([^}]*)\}")
_MATCHER = re.compile(r"([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*\"((?:[^\"\\]|\\.)*)\"")
_RANGE = re.compile(r"\[[^\]]*\]")
_NAME = re.compile(r"(?<![\w:.$])([a-zA-Z_:][a-zA-Z0-9_:]*)\b(?!\s*\()")
_WORDS = frozenset({"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left"})


@dataclass(frozen=True)
class Selector:
    """One metric as an expression asks for it: label, operator and value of each matcher."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...] = ()


def selectors(expression: str) -> list[Selector]:
    """Every metric that an expression asks for."""
    found = []

    def take(match: re.Match[str]) -> str:
        found.append(Selector(match[1], tuple(_MATCHER.findall(match[2]))))
        return " "

    rest = _SELECTOR.sub(take, _GROUPING.sub(" ", expression))
    bare = _NAME.findall(_RANGE.sub(" ", _STRING.sub(" ", rest)))
    return found + [Selector(name) for name in bare if name not in _WORDS]


def grouped_by(expression: str) -> set[str]:
    """The labels that an expression groups or joins by."""
    return {label for labels in _GROUPING.findall(expression) for label in re.findall(r"\w+", labels)}


def alternatives(operator: str, value: str) -> Iterator[str]:
    """The values that a matcher names one by one; none when it is a real regular expression, or a variable."""
    if "$" in value:
        return
    if operator in ("=", "!="):
        yield value
    elif re.fullmatch(r"[\w|]+", value):
        yield from value.split("|")
