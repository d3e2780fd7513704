"""Shape of a structured payload: unknown names, values in place of groups and groups in place of values."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.parse import excerpt
from fe.ecf.problems import Problem, Repair, Room
from fe.ecf.schema.kinds import DocumentKind, kind
from fe.ecf.schema.messages import problem
from fe.ecf.schema.model import Element
from fe.ecf.schema.naming import name_problem, nearest, without_rivals
from fe.ecf.schema.repairs import fold, meant

#: The classes of values a payload may have where the format has text; bool, a kind of int, is none of them.
LEAVES = frozenset({str, int, Decimal})
AN_OBJECT = ("an object", "un objeto")
A_VALUE = ("one text or number", "un texto o número")
#: More keys than these are no misspelt header.
FEW = 50


def renamed(name: str, path: str, meant_name: str) -> Problem:
    """The problem that a name on the way to the document's type is misspelt: nothing below can be read for it."""
    there, to = (f"{path}.{one}" if path else one for one in (excerpt(name), meant_name))
    repair = Repair("rename", there, to=to, certain=fold(name) == fold(meant_name))
    return problem("unknown-element", there, name=excerpt(name), instead=meant_name, repair=repair)


def bars_the_way(content: Mapping[str, Any], path: str, way: tuple[str, ...], room: Room) -> Problem | None:
    """Return why a field cannot be reached: a misspelt name, or a value in place of a group; None where it is just
    absent.

    Searching a group for a misspelt name takes one guess; without room for it, the field counts as absent.
    """
    name, *rest = way
    group: Any = content.get(name)
    there = f"{path}.{name}" if path else name
    if group is None:
        if not room.guess():
            return None
        known = kind(Root.ECF, EcfType.CREDIT_FISCAL).root
        for step in path.split(".") if path else ():
            known = known.by_name[step]
        # Only who means just this name: what stands for another name of its group is not the cause.
        for given in list(content)[:FEW]:
            if str(given) not in known.by_name and nearest(str(given), known.by_name) == name:
                return renamed(str(given), path, name)
        return None
    if not rest:
        return None
    if not isinstance(group, Mapping):
        one = isinstance(group, list) and len(group) == 1 and isinstance(group[0], Mapping)
        repair = Repair("rename", f"{there}[1]", to=there) if one else None
        return wrong_shape(name, there, group, AN_OBJECT, repair)
    return bars_the_way(group, there, tuple(rest), room)


def unknown_problems(
    the_kind: DocumentKind, of: Element, content: Mapping[Any, Any], path: str, room: Room
) -> Iterator[Problem]:
    """One problem for every key of `content` that `of` has no element for; the first say what was meant, by `room`."""
    unknown = (str(name) for name, value in content.items() if name not in of.by_name and value is not None)
    guessed: list[Problem] = []
    for name in unknown:
        if not room.guess():
            yield from without_rivals(guessed)
            yield name_problem(the_kind, of, name, path, suggest=False)
            break
        guessed.append(name_problem(the_kind, of, name, path, present=content))
    else:
        yield from without_rivals(guessed)
    for name in unknown:
        yield name_problem(the_kind, of, name, path, suggest=False)


def shape_problem(of: Element, value: Any, path: str) -> Problem:
    """The problem that `value` is no content for `of`."""
    return wrong_shape(of.name, path, value, AN_OBJECT if of.simple is None else A_VALUE, _reshaped(of, value, path))


def _reshaped(of: Element, value: Any, path: str) -> Repair | None:
    """Take the one thing out of what it is wrapped in, and write `true` as 1."""
    inner: Any = next(iter(value.values())) if isinstance(value, Mapping) and len(value) == 1 else value
    if isinstance(value, list) and len(value) == 1:
        inner = value[0]
    if of.simple is None:
        fits = isinstance(inner, Mapping) and isinstance(value, list)
        return Repair("rename", f"{path}[1]", to=path) if fits else None
    if inner.__class__ in LEAVES and inner is not value:
        # The name of what was wrapped in an object may say more than the format can: {"USD": 100}.
        return Repair("set", path, value=inner, certain=isinstance(value, list))
    if isinstance(inner, bool) and of.simple.codes:
        read = meant(of.simple, inner)
        if read is not None:
            is_flag = {code.value for code in of.simple.codes} <= {"0", "1"}
            return Repair("set", path, value=read.value, certain=is_flag)
    return None


def wrong_shape(name: str, path: str, value: Any, wanted: tuple[str, str], repair: Repair | None = None) -> Problem:
    """The problem that something is of another shape than `wanted`, which is said in both languages."""
    if isinstance(value, Mapping):
        found, found_es = AN_OBJECT
    elif isinstance(value, (list, tuple)):
        found, found_es = "a list", "una lista"
    elif isinstance(value, bool):
        found = found_es = "true" if value else "false"
    elif value is None:
        found, found_es = "null", "nulo"
    elif isinstance(value, float):
        found, found_es = "a binary float", "un flotante binario"
    else:
        found, found_es = "a single value", "un solo valor"
    return problem(
        "wrong-shape",
        path,
        found=found,
        found_es=found_es,
        expected=wanted[0],
        expected_es=wanted[1],
        name=name,
        repair=repair,
    )
