"""Every single way to break a document that is in order, and what must be said of each."""

from collections.abc import Iterator
from copy import deepcopy
from typing import NamedTuple

from lxml import etree

from fe.ecf.schema.model import Base, Element, Simple, ValueForm

_DATED = "2026-02-05"


class Broken(NamedTuple):
    """A mutation, and the (code, path) of the problems it must cause; of `either` one suffices.

    `emptied` marks those that only the rule about empty tags forbids, which is in no XSD.
    """

    done: str
    expected: frozenset[tuple[str, str]]
    either: bool = False
    emptied: bool = False


def bad_values(simple: Simple) -> Iterator[tuple[str, str]]:
    """Texts the type does not take, with the code of each."""
    number = simple.base in (Base.INTEGER, Base.DECIMAL)
    if number:
        yield "x", "not-a-number"
    if simple.codes:
        yield "99" if number else "~", "unknown-code"
    elif simple.form is ValueForm.NUMBER:
        assert simple.digits is not None
        assert simple.pattern is not None
        if not simple.pattern.startswith("[+-]"):
            yield "-1", "pattern"
        yield "9" * (simple.digits + 2), "too-many-digits"
        if simple.decimals:
            yield "1." + "5" * (simple.decimals + 1), "too-many-digits"
        for bound in (simple.above, simple.minimum and simple.minimum - 1, simple.maximum and simple.maximum + 1):
            if bound is not None:
                yield str(bound), "out-of-range"
    elif simple.base is Base.STRING:
        if simple.pattern:
            yield _DATED if simple.dated else "!" * (simple.shortest or 1), "pattern"
        if simple.longest and not simple.dated:
            yield "e" * (simple.longest + 1), "too-long"
        if simple.shortest and simple.shortest > 1:
            yield "e" * (simple.shortest - 1), "too-short"


def mutations(of: Element, node: etree._Element, path: str = "") -> Iterator[Broken]:
    """Break the children of `node`, one at a time; each is mended again when the next is asked for.

    The tree must have every element, lists with two entries.
    """
    before = f"{path}." if path else ""
    for child in of.children:
        there = f"{before}{child.name}"
        nodes = [each for each in node if each.tag == child.name]
        yield from _dropped(child, node, nodes, there, path)
        yield from _repeated(child, node, nodes, there)
        yield from _strange(node, nodes[0], f"{before}Desconocido")
        here = f"{there}[1]" if child.many > 1 else there
        yield from _attribute(nodes[0], here)
        yield from _emptied(child, nodes[0], here)
        if child.simple is None:
            yield from _talkative(nodes[0], here)
            yield from mutations(child, nodes[0], here)
        else:
            yield from _misread(child.simple, nodes[0], here)
    yield from _swapped(of, node, before)


def _is(code: str, path: str) -> frozenset[tuple[str, str]]:
    return frozenset({(code, path)})


def _dropped(
    child: Element, node: etree._Element, nodes: list[etree._Element], path: str, above: str
) -> Iterator[Broken]:
    place = node.index(nodes[0])
    for each in nodes:
        node.remove(each)
    alone = not len(node)
    if child.required:
        yield Broken(f"drop {path}", _is("missing-element", path))
    else:
        yield Broken(f"drop {path}", _is("empty-element", above) if alone else frozenset(), emptied=alone)
    node[place:place] = nodes


def _repeated(child: Element, node: etree._Element, nodes: list[etree._Element], path: str) -> Iterator[Broken]:
    if child.many > 20:
        return
    more = [deepcopy(nodes[0]) for _ in range(child.many + 1 - len(nodes))]
    place = node.index(nodes[-1]) + 1
    node[place:place] = more
    yield Broken(f"repeat {path}", _is("too-many", f"{path}[{child.many + 1}]"))
    for each in more:
        node.remove(each)


def _strange(node: etree._Element, before: etree._Element, path: str) -> Iterator[Broken]:
    stranger = etree.Element("Desconocido")
    stranger.text = "x"
    before.addprevious(stranger)
    yield Broken(f"insert {path}", _is("unknown-element", path))
    node.remove(stranger)


def _attribute(node: etree._Element, path: str) -> Iterator[Broken]:
    node.set("Id", "x")
    yield Broken(f"attribute of {path}", _is("unexpected-attribute", path))
    del node.attrib["Id"]


def _emptied(child: Element, node: etree._Element, path: str) -> Iterator[Broken]:
    if child.simple is not None:
        for text in (None, " \n"):
            kept, node.text = node.text, text
            yield Broken(f"empty {path}", _is("empty-element", path), emptied=child.simple.base is Base.STRING)
            node.text = kept
        return
    children = list(node)
    node[:] = []
    missing = {("missing-element", f"{path}.{inside.name}") for inside in child.children if inside.required}
    empty = set() if missing or child.may_be_empty else {("empty-element", path)}
    yield Broken(f"empty {path}", frozenset(empty | missing), emptied=not missing)
    node[:] = children


def _talkative(node: etree._Element, path: str) -> Iterator[Broken]:
    node[0].tail = "x"
    yield Broken(f"text in {path}", _is("unexpected-text", path))
    node[0].tail = None


def _misread(simple: Simple, node: etree._Element, path: str) -> Iterator[Broken]:
    kept = node.text
    for text, code in bad_values(simple):
        node.text = text
        yield Broken(f"{path} = {text}", _is(code, path))
    node.text = "x"
    node.append(etree.Element("Desconocido"))
    yield Broken(f"elements in {path}", _is("unexpected-children", path))
    node[:] = []
    node.text = kept


def _swapped(of: Element, node: etree._Element, before: str) -> Iterator[Broken]:
    for first, second in zip(of.children, of.children[1:], strict=False):
        if first.many == second.many == 1:
            one, two = node.find(first.name), node.find(second.name)
            assert one is not None
            assert two is not None
            two.addnext(one)
            either = {("misplaced-element", f"{before}{each.name}") for each in (first, second)}
            yield Broken(f"swap {first.name} and {second.name}", frozenset(either), either=True)
            one.addnext(two)
