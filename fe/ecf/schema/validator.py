"""Every way in which a document breaks the format, with the exact place of each.

libxml2 stops at the first wrong element of a sequence. This walk over our tables is slower and finds all of them, so it
is made only for a document that libxml2 has refused.
"""

from bisect import bisect_right
from typing import Any, Literal, TypedDict

from lxml import etree

from fe.ecf.problems import MAX_GUESSES, Enough, Findings, Problem, Repair, Room
from fe.ecf.schema.kinds import SIGNATURE, DocumentKind
from fe.ecf.schema.messages import problem
from fe.ecf.schema.model import Base, Element, Simple
from fe.ecf.schema.naming import name_problem
from fe.ecf.schema.repairs import allowed, example, meant
from fe.ecf.schema.xsd import violations
from fe.ecf.texts import Text

BLANKS = " \t\r\n"
_XSI = "{http://www.w3.org/2001/XMLSchema-instance}"

#: The code of a broken facet, the more telling first: `abc` breaks the pattern of an amount too.
_CODES = {
    "DATATYPE": "not-a-number",
    "ENUMERATION": "unknown-code",
    "FRACTIONDIGITS": "too-many-digits",
    "TOTALDIGITS": "too-many-digits",
    "MAXLENGTH": "too-long",
    "MINLENGTH": "too-short",
    "PATTERN": "pattern",
    "MININCLUSIVE": "out-of-range",
    "MINEXCLUSIVE": "out-of-range",
    "MAXINCLUSIVE": "out-of-range",
}
_RANK = {facet: rank for rank, facet in enumerate(_CODES)}

#: Where a problem is: at an element's tag, or in the text after its start tag (`text`) or after its end tag (`tail`).
Spot = tuple[etree._Element, Literal["tag", "text", "tail"]]


class _Walk:
    """One walk over one document."""

    def __init__(
        self, kind: DocumentKind, tree: etree._Element, *, values: bool = True, room: Room | None = None
    ) -> None:
        self._kind = kind
        self._tree = tree
        #: Whether values are validated too, and what is missing; else only whether what is there fits.
        self._values = values
        #: For each problem, where it is.
        self.spots: list[Spot] = []
        self._problems = Findings(room)
        #: The group that names were last guessed in, and those that stand there.
        self._beside: tuple[etree._Element | None, frozenset[str]] = (None, frozenset())
        #: A document of 10,000 lines repeats its units and rates: each value is validated once.
        self._known: dict[tuple[str, str], str | None] = {}
        last = tree[-1] if len(tree) else tree
        #: Where a document stands on one line, its number says nothing.
        self._lines = last.sourceline != tree.sourceline

    def problems(self) -> list[Problem]:
        try:
            self._group(self._kind.root, self._tree, "")
        except Enough:
            self._problems.append(problem("more-problems", ""))
        return self._problems

    def _line(self, node: etree._Element) -> int | None:
        line: Any = node.sourceline  # the type stubs say `...`
        return line if self._lines else None

    def _say(
        self,
        code: str,
        path: str,
        node: etree._Element,
        *,
        found: object = None,
        instead: Text | None = None,
        codes: tuple[str, ...] = (),
        repair: Repair | None = None,
        **words: str,
    ) -> None:
        line = self._line(node)
        self._problems.add(
            problem(code, path, line, found=found, instead=instead, allowed=codes, repair=repair, **words)
        )
        self.spots.append((node, "tag"))

    def _group(self, of: Element, node: etree._Element, path: str) -> None:
        self._attributes(of, node, path)
        children = list(node)
        stray = _stray_text(node, children)
        if not path and children and children[-1].tag == SIGNATURE:
            children.pop()
        if stray is not None:
            text, spot = stray
            self._say("unexpected-text", path, node, found=text, name=of.name)
            self.spots[-1] = spot
        elif not children and not of.may_be_empty and not (self._values and any(c.required for c in of.children)):
            self._say("empty-element", path, node, name=of.name)
        prefix = f"{path}." if path else ""
        misplaced = _misplaced(of, children)
        seen: dict[str, int] = {}
        for place, child in enumerate(children):
            name = str(child.tag)
            known = of.by_name.get(name)
            if known is None:
                self._unknown(of, name, path, child)
                continue
            number = seen[name] = seen.get(name, 0) + 1
            there = f"{prefix}{name}[{number}]" if known.many > 1 or number > 1 else f"{prefix}{name}"
            if place in misplaced:
                self._say("misplaced-element", there, child, name=name, **_before(of, known))
            if number == known.many + 1:
                count = sum(other.tag == name for other in children)
                self._say("too-many", there, child, found=count, name=name, expected=str(known.many))
            if known.simple is None:
                self._group(known, child, there)
            else:
                self._leaf(known, known.simple, child, there)
        for known in of.children if self._values else ():
            if known.required and known.name not in seen:
                words = _expected(known)
                there = f"{prefix}{known.name}"
                few = len(self._problems) < MAX_GUESSES
                repair = Repair("set", there, value=example(known), certain=False) if few else None
                codes = allowed(known.simple) if known.simple is not None and few else ()
                self._say("missing-element", there, node, codes=codes, repair=repair, **words)

    def _leaf(self, of: Element, simple: Simple, node: etree._Element, path: str) -> None:
        self._attributes(of, node, path)
        text = node.text or ""
        if len(node):
            self._say("unexpected-children", path, node, name=of.name, **_expected(of))
        elif not text.strip(BLANKS):
            self._say("empty-element", path, node, name=of.name, repair=Repair("remove", path), **_expected(of))
        elif self._values:
            key = (simple.name, text)
            if key not in self._known:
                self._known[key] = _wrong(simple, text)
            code = self._known[key]
            if code is not None:
                few = len(self._problems) < MAX_GUESSES
                read = meant(simple, text, of.name) if few else None
                repair = None if read is None else Repair("set", path, value=read.value, certain=read.certain)
                codes = allowed(simple, text) if few else ()
                # Of a text that is too long the proposal is its beginning: no other text was meant.
                instead = None if read is None or code == "too-long" else _named(simple, read.value)
                words = _expected(of)
                self._say(
                    code, path, node, found=text, name=of.name, instead=instead, codes=codes, repair=repair, **words
                )

    def _attributes(self, of: Element, node: etree._Element, path: str) -> None:
        for attribute in node.attrib:
            if not self._values or not str(attribute).startswith(_XSI):
                self._say("unexpected-attribute", path, node, found=attribute, name=of.name)

    def _unknown(self, of: Element, name: str, path: str, node: etree._Element) -> None:
        suggest = self._problems.room.guess()
        self._problems.add(
            name_problem(
                self._kind,
                of,
                name,
                path,
                present=self._present(node) if suggest else (),
                suggest=suggest,
                line=self._line(node),
            )
        )
        self.spots.append((node, "tag"))

    def _present(self, node: etree._Element) -> frozenset[str]:
        """The names that stand beside an element; those of a group of 15,000 are looked up once."""
        group = node.getparent()
        if group is not self._beside[0]:
            self._beside = group, frozenset(str(one.tag) for one in group) if group is not None else frozenset()
        return self._beside[1]


def _stray_text(node: etree._Element, children: list[etree._Element]) -> tuple[str, Spot] | None:
    """The first text in an element that is to hold elements alone, and where it is."""
    if node.text and node.text.strip(BLANKS):
        return node.text.strip(BLANKS), (node, "text")
    for child in children:
        if child.tail and child.tail.strip(BLANKS):
            return child.tail.strip(BLANKS), (child, "tail")
    return None


def _wrong(simple: Simple, text: str) -> str | None:
    """The code of the problem of a value, or None.

    XSD ignores blanks around numbers. We refuse them, because signed values are used literally in addresses and
    comparisons. Blanks around a free text belong to the text, unless they make it too long.
    """
    facets = violations(simple, text)
    bare = text.strip(BLANKS)
    if bare != text and (facets or simple.base is not Base.STRING) and not violations(simple, bare):
        return "blanks-around"
    worst = min(facets, key=lambda facet: _RANK.get(facet, len(_RANK)), default=None)
    return None if worst is None else _code(simple, worst)


def _code(simple: Simple, facet: str) -> str:
    if facet == "DATATYPE" and simple.base is Base.DATE_TIME:
        return "pattern"
    return _CODES.get(facet, "pattern")


class _Expected(TypedDict):
    expected: str
    expected_es: str


def _expected(of: Element) -> _Expected:
    if of.simple is not None:
        return {"expected": of.simple.expected, "expected_es": of.simple.expected_es}
    inside = ", ".join(child.name for child in of.children if child.required) or ", ".join(of.by_name)
    return {"expected": f"an element with {inside}", "expected_es": f"un elemento con {inside}"}


def _before(of: Element, known: Element) -> _Expected:
    place = of.order[known.name]
    if not place:
        return {"expected": f"the start of {of.name}", "expected_es": f"el inicio de {of.name}"}
    return {"expected": of.children[place - 1].name, "expected_es": of.children[place - 1].name}


def _named(simple: Simple, value: str) -> Text:
    """A value, with what it means if it is a code."""
    code = next((code for code in simple.codes if code.value == value), None)
    if code is None:
        return Text(value, value)
    return Text(f"{value} ({code.meaning})", f"{value} ({code.meaning_es})")


def _misplaced(of: Element, children: list[etree._Element]) -> set[int]:
    """The fewest children that are out of order: those outside a longest run of places that never falls."""
    placed = [(index, of.order[str(child.tag)]) for index, child in enumerate(children) if str(child.tag) in of.order]
    tops: list[int] = []  # the lowest last place of a run of each length
    ends: list[int] = []  # which of `placed` ends it
    before: list[int | None] = []
    for at, (_, place) in enumerate(placed):
        length = bisect_right(tops, place)
        before.append(ends[length - 1] if length else None)
        tops[length:] = [place, *tops[length + 1 :]]
        ends[length:] = [at, *ends[length + 1 :]]
    kept: set[int] = set()
    at_end = ends[-1] if ends else None
    while at_end is not None:
        kept.add(placed[at_end][0])
        at_end = before[at_end]
    return {index for index, _ in placed} - kept


def walk(kind: DocumentKind, tree: etree._Element) -> list[Problem]:
    """The problems of `tree`, read as a document of that kind, in the order of the document."""
    return _Walk(kind, tree).problems()


def misfits(kind: DocumentKind, tree: etree._Element, room: Room | None = None) -> list[tuple[Problem, Spot]]:
    """Return the parts of `tree` that rewriting would lose, move or repair, with their places.

    These are stray text, attributes (`xsi:` ones too), elements that are unknown, out of order, empty, or too many.
    Values and missing elements are not checked.
    """
    if _fits(kind.root, tree, at_top=True):
        return []
    walk = _Walk(kind, tree, values=False, room=room)
    problems = walk.problems()
    return list(zip(problems, walk.spots, strict=False))  # the one that says there are more has no place


def _fits(of: Element, node: etree._Element, *, at_top: bool = False) -> bool:
    """Whether a walk for misfits would find nothing: the answer for nearly every document, without paths or spots."""
    if node.keys() or _has_text(node.text):
        return False
    by_name, order = of.by_name, of.order
    last, count = -1, 0
    for child in node:
        name = str(child.tag)
        known = by_name.get(name)
        if _has_text(child.tail):
            return False
        if known is None:
            if at_top and name == SIGNATURE and child.getnext() is None:
                break
            return False
        place = order[name]
        count = count + 1 if place == last else 1
        if place < last or count > known.many:
            return False
        last = place
        if known.simple is None:
            if not _fits(known, child):
                return False
        elif child.keys() or len(child) or not _has_text(child.text):
            return False
    return last >= 0 or of.may_be_empty


def _has_text(text: str | None) -> bool:
    return text is not None and text.strip(BLANKS) != ""
