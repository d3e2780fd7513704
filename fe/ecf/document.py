"""A document as a value: which kind it is and what it says; from JSON and from XML to it. `build` leads back."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from lxml import etree

from fe.ecf.catalogue import NUMBERED, SUBMITTABLE, EcfType, Root
from fe.ecf.formats import write_text
from fe.ecf.parse import excerpt
from fe.ecf.problems import Enough, Findings, Problem, Repair, Room, show
from fe.ecf.reading import text_at
from fe.ecf.schema import unknown_kind
from fe.ecf.schema.codes import CODES
from fe.ecf.schema.kinds import SEED, SIGNATURE, DocumentKind, kind, kind_of, type_of
from fe.ecf.schema.messages import problem
from fe.ecf.schema.model import Element
from fe.ecf.schema.naming import spelt
from fe.ecf.schema.repairs import code_meant, is_as_written, number_meant
from fe.ecf.schema.simple import simple_type
from fe.ecf.shape_checks import (
    AN_OBJECT,
    FEW,
    LEAVES,
    bars_the_way,
    renamed,
    shape_problem,
    unknown_problems,
    wrong_shape,
)
from fe.ecf.texts import Text

#: IndicadorFacturacion in a structured item; 0 (not billable) is possible with `format: xml` (interface.md#structured).
_INDICATORS = frozenset({"1", "2", "3", "4", 1, 2, 3, 4})
_NOTES = frozenset({EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE})
_BILLABLE = simple_type("billable-indicator")
_E_NCF_EXPECTED = Text(
    "E, the two digits of a type, ten digits: E310000000001",
    "E, los dos dígitos de un tipo, diez dígitos: E310000000001",
)

#: A number that can be one: well formed, and of a type there is. Whether it was authorised is the authority's matter.
_E_NCF_FORM = re.compile(rf"E(?:{'|'.join(EcfType)})[0-9]{{10}}", re.ASCII)

_STEP = re.compile(r"(?P<name>\w+)(?:\[(?P<number>\d+)\])?")

_E_NCF = {
    Root.ECF: "Encabezado.IdDoc.eNCF",
    Root.RFCE: "Encabezado.IdDoc.eNCF",
    Root.ACECF: "DetalleAprobacionComercial.eNCF",
    Root.ARECF: "DetalleAcusedeRecibo.eNCF",
}
_ISSUER = {
    Root.ECF: "Encabezado.Emisor.RNCEmisor",
    Root.RFCE: "Encabezado.Emisor.RNCEmisor",
    Root.ACECF: "DetalleAprobacionComercial.RNCEmisor",
    Root.ARECF: "DetalleAcusedeRecibo.RNCEmisor",
    Root.ANECF: "Encabezado.RncEmisor",
}
_BUYER = {
    Root.ECF: "Encabezado.Comprador.RNCComprador",
    Root.RFCE: "Encabezado.Comprador.RNCComprador",
    Root.ACECF: "DetalleAprobacionComercial.RNCComprador",
    Root.ARECF: "DetalleAcusedeRecibo.RNCComprador",
}


@lru_cache(maxsize=4096)
def _steps(path: str) -> tuple[tuple[str, int | None], ...]:
    matches = (_STEP.fullmatch(step) for step in path.split("."))
    return tuple((m["name"], int(m["number"]) if m["number"] else None) for m in matches if m)


def _at(content: Mapping[str, Any], path: str) -> Any:
    """Return the content at a path, as `Document.get`."""
    value: Any = content
    for name, number in _steps(path):
        if value.__class__ is not dict and not isinstance(value, Mapping):  # the first is ten times faster
            return None
        value = value.get(name)
        if number is not None:
            if not isinstance(value, list) or not 1 <= number <= len(value):
                return None
            value = value[number - 1]
    return value


class NotADocument(ValueError):
    """The input cannot become a document. `problems` holds every reason found, at least one."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(f"{p.path}: {p.message}" if p.path else p.message for p in problems[:5]))
        self.problems = problems

    def __reduce__(self) -> tuple[type["NotADocument"], tuple[tuple[Problem, ...]]]:
        """Go from process to process whole."""
        return NotADocument, (self.problems,)


@dataclass(frozen=True, slots=True)
class Document:
    """The children of a root element as nested dicts; elements that may repeat are lists, leaves are text.

    Until `build` has written it, a leaf may also be an int or a Decimal. `type` is None for ACECF, ANECF and ARECF. The
    content is not copied: do not change it after making a Document.
    """

    root: Root
    type: EcfType | None
    content: Mapping[str, Any]
    #: Namespaces that finished XML declares on its root, by prefix: they are signed with the rest. No element uses
    #: them.
    namespaces: Mapping[str, str] = field(default_factory=dict)

    def get(self, path: str) -> Any:
        """Return the content at `path` (`Encabezado.IdDoc.eNCF`, `DetallesItems.Item[2].MontoItem`), or None.

        Without a number a repeating element is its whole list.
        """
        return _at(self.content, path)

    @property
    def e_ncf(self) -> str | None:
        """The fiscal number, as it stands in the document."""
        return self._text(_E_NCF)

    @property
    def issued_number(self) -> str | None:
        """The fiscal number that this document issues; None where it only refers to one."""
        return self.e_ncf if self.root in NUMBERED else None

    @property
    def issuer_rnc(self) -> str | None:
        """The tax id of who issued the e-CF (in ACECF and ARECF too: not of the buyer who signs those)."""
        return self._text(_ISSUER)

    @property
    def buyer_rnc(self) -> str | None:
        """The tax id of the buyer, where the document names one."""
        return self._text(_BUYER)

    def _text(self, paths: Mapping[Root, str]) -> str | None:
        path = paths.get(self.root)
        value = None if path is None else self.get(path)
        return str(value) if isinstance(value, (str, int)) and value != "" else None


# --- from JSON ------------------------------------------------------------------------------------------------------


def read_payload(
    payload: Mapping[str, Any], *, roots: Collection[Root] = SUBMITTABLE, room: Room | None = None
) -> Document:
    """Read a structured payload (interface.md#structured).

    `payload` is a value from `parse_json`: the content of an ECF, with `Encabezado` at its top, or an object with one
    key, one of `roots`. The type is that of `TipoeCF`, else the two digits in `eNCF`. Where an element may repeat, one
    object is a list of one, and a table may be given as the list it holds: `"DetallesItems": [...]` is `{"Item":
    [...]}`. Nulls count as absent. `room` is shared by all documents of the request. ISO dates become the authority's
    form (`formats.write_text`).

    Raises NotADocument with all reasons: an impossible e-NCF, an unknown root or type, keys that the format of the type
    does not have, more elements than the format allows (none of them is read), values of the wrong shape, booleans, and
    in an ECF an item's IndicadorFacturacion that is not 1 to 4.
    """
    room = room or Room()
    root, given = _root_of(payload, roots, room)
    malformed = malformed_number(root, given)
    try:
        the_type = _type_of(root, given, room)
    except NotADocument:
        if malformed is not None:  # the cause; that no type can be read off it is what follows
            raise NotADocument((malformed,)) from None
        raise
    the_kind = kind(root, the_type)
    reader = _PayloadReader(the_kind, room)
    if malformed is not None:
        reader.problems.add(malformed)
    try:
        content = reader.group(the_kind.root, given, "")
        if root is Root.ECF:
            reader.problems.add_all(_wrong_indicators(content, the_type))
    except Enough:
        raise NotADocument((*reader.problems, problem("more-problems", ""))) from None
    if reader.problems:
        raise NotADocument(tuple(reader.problems))
    return Document(root, the_type, content)


def malformed_number(root: Root, content: Mapping[str, Any]) -> Problem | None:
    """Say that the e-NCF of an ECF or RFCE is not `E`, the two digits of a type and ten digits; None where it is.

    A document without one has nothing to say here: it may get one yet.
    """
    if root not in (Root.ECF, Root.RFCE):
        return None
    given = _at(content, _E_NCF[root])
    if not isinstance(given, (str, int, Decimal)) or given == "" or _E_NCF_FORM.fullmatch(str(given)):
        return None
    number = number_meant(str(given))
    repair = None
    if number is not None:
        repair = Repair("set", _E_NCF[root], value=number, certain=is_as_written(str(given), number))
    return problem(
        "e-ncf-malformed",
        _E_NCF[root],
        found=given,
        expected=_E_NCF_EXPECTED.en,
        expected_es=_E_NCF_EXPECTED.es,
        instead=number,
        repair=repair,
    )


def _root_of(payload: Mapping[str, Any], roots: Collection[Root], room: Room) -> tuple[Root, Mapping[str, Any]]:
    if Root.ECF in roots and "Encabezado" in payload:
        return Root.ECF, payload
    names = ", ".join(sorted(roots))
    if len(payload) == 1:
        ((name, content),) = payload.items()
        if name in roots:
            if isinstance(content, Mapping):
                return Root(name), content
            raise NotADocument((wrong_shape(name, "", content, AN_OBJECT),))
    if len(payload) == 1 and (root := spelt(str(name), roots)) is not None and isinstance(content, Mapping):
        raise NotADocument((renamed(str(name), "", root),))
    if Root.ECF in roots and len(payload) <= FEW:
        cause = bars_the_way(payload, "", ("Encabezado",), room)
        if cause is not None:
            raise NotADocument((cause,))
    given = ", ".join(excerpt(str(name), 16) for name in list(payload)[:3])
    if Root.ECF not in roots:
        raise NotADocument((problem("unknown-root", "", found=given or "{}", name=given or "{}", expected=names),))
    words = "payload-without-header" if given else "empty-payload"
    wrong = problem(words, "", found=given or "{}", name=given, expected=f"Encabezado, DetallesItems; {names}")
    raise NotADocument((replace(wrong, code="unknown-root"),))


def _type_of(root: Root, content: Mapping[str, Any], room: Room) -> EcfType | None:
    if root is not Root.ECF:
        return type_of(root, None)
    e_ncf = _at(content, "Encabezado.IdDoc.eNCF")
    stated = _at(content, "Encabezado.IdDoc.TipoeCF")
    if isinstance(stated, (str, int, Decimal)) and stated != "":
        path, text = "Encabezado.IdDoc.TipoeCF", str(stated)
    elif isinstance(e_ncf, str) and e_ncf:
        path, text = "Encabezado.IdDoc.eNCF", e_ncf[1:3]
    else:
        cause = bars_the_way(content, "", ("Encabezado", "IdDoc", "eNCF"), room)
        if cause is None:
            cause = bars_the_way(content, "", ("Encabezado", "IdDoc", "TipoeCF"), room)
        raise NotADocument((cause or problem("missing-type", "Encabezado.IdDoc.TipoeCF", allowed=tuple(EcfType)),))
    try:
        return type_of(root, text)
    except ValueError:
        found = show(stated if stated else e_ncf)
        number = e_ncf[1:3] if isinstance(e_ncf, str) and _E_NCF_FORM.fullmatch(e_ncf) else None
        read = code_meant(CODES["ecf-type"], text.strip("Ee- "))
        instead = number or (None if read is None else read.value)
        certain = read is not None and read.certain and instead == read.value
        repair = None
        if instead is not None and not path.endswith("eNCF"):
            repair = Repair("set", path, value=instead, certain=certain)
        wrong = problem("unknown-type", path, found=found, name=found, allowed=tuple(EcfType), repair=repair)
        raise NotADocument((wrong,)) from None


class _PayloadReader:
    def __init__(self, the_kind: DocumentKind, room: Room) -> None:
        self._kind = the_kind
        self.problems = Findings(room)

    def group(self, of: Element, given: Any, path: str) -> dict[str, Any]:
        content: dict[str, Any] = {}
        if given.__class__ is not dict and not isinstance(given, Mapping):  # the first is ten times faster
            listed = of.listed
            if listed is None or not isinstance(given, list):
                self.problems.add(shape_problem(of, given, path))
                return content
            given = {listed.name: given}
        # Nearly every line of a table is of this kind, and is most of what there is to read: at a glance.
        if of.plain.issuperset(given) and LEAVES.issuperset(map(type, given.values())):
            return dict(given)
        by_name = of.by_name
        unknown = False
        for name, value in given.items():
            if value is None:
                continue
            child = by_name.get(name)
            if child is None:
                unknown = True
            elif child.many > 1:
                content[name] = self._list(child, value, f"{path}.{name}" if path else name)
            elif child.simple is None:
                content[name] = self.group(child, value, f"{path}.{name}" if path else name)
            elif value.__class__ in LEAVES:
                content[name] = write_text(child.simple, value) if child.simple.dated and type(value) is str else value
            else:
                self.problems.add(shape_problem(child, value, f"{path}.{name}" if path else name))
        if unknown:
            self.problems.add_all(unknown_problems(self._kind, of, given, path, self.problems.room))
        return content

    def _list(self, of: Element, given: Any, path: str) -> list[Any]:
        content: list[Any] = []
        if isinstance(given, list) and len(given) > of.many:
            # Said at once: nothing is built of them, which would take a second of CPU, and a hundred megabytes.
            there = f"{path}[{of.many + 1}]"
            self.problems.add(problem("too-many", there, found=len(given), name=of.name, expected=str(of.many)))
            return content
        for number, value in enumerate(given if isinstance(given, list) else [given], 1):
            there = f"{path}[{number}]"
            if of.simple is None:
                content.append(self.group(of, value, there))
            elif value.__class__ in LEAVES:
                content.append(value)
            else:
                self.problems.add(shape_problem(of, value, there))
        return content


def _wrong_indicators(content: Mapping[str, Any], the_type: EcfType | None) -> Iterator[Problem]:
    # A note that corrects a text has a line that is not billable: its total is zero (authority.md#references).
    reference = content.get("InformacionReferencia", {})
    corrects_text = the_type in _NOTES and str(reference.get("CodigoModificacion")) == "2"
    items = content.get("DetallesItems", {}).get("Item", [])
    if _INDICATORS.issuperset([item.get("IndicadorFacturacion") for item in items]):
        return
    for number, item in enumerate(items, 1):
        given = item.get("IndicadorFacturacion")
        if given is not None and given not in _INDICATORS and not (corrects_text and str(given) == "0"):
            line = item.get("NumeroLinea") or number
            path = f"DetallesItems.Item[{number}].IndicadorFacturacion"
            code = code_meant(_BILLABLE.codes, given)
            repair = None if code is None else Repair("set", path, value=code.value, certain=code.certain)
            codes = tuple(code.value for code in _BILLABLE.codes)
            yield problem("indicador-facturacion", path, found=given, at=show(line), allowed=codes, repair=repair)


# --- from XML -------------------------------------------------------------------------------------------------------


def read_xml(root: etree._Element) -> Document:
    """Read the tree of an XML document; a `Signature` at its end is left aside.

    For a document that `schema.validate` finds in order this is exact: `build` gives back the same XML. Of others it
    keeps what it can for rules to look at: elements the format does not have, and those that stand there too often,
    so that `build` refuses them. Their order, attributes, and text between elements are not kept.

    Raises NotADocument for an unknown root, or an ECF whose `TipoeCF` is not one of the ten types.
    """
    the_kind = kind_of(root)
    if the_kind is None or root.tag == SEED:
        raise NotADocument((unknown_kind(root),))
    name = Root(str(root.tag))
    children = [child for child in root if child.tag != SIGNATURE]
    content = _read_children(the_kind.root, children)
    return Document(name, type_of(name, text_at(root, "Encabezado", "IdDoc", "TipoeCF")), content)


def _read_children(of: Element, nodes: Iterable[etree._Element]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    by_name = of.by_name
    for node in nodes:
        name = str(node.tag)
        child = by_name.get(name)
        value: Any
        if child is None or (child.simple is not None and len(node)):
            value = _read_unknown(node)
        elif child.simple is not None:
            value = node.text or ""
        else:
            value = _read_children(child, node)
        if child is not None and child.many > 1:
            content.setdefault(name, []).append(value)
        elif name not in content:
            content[name] = value
        elif isinstance(content[name], list):
            content[name].append(value)
        else:
            content[name] = [content[name], value]
    return content


def _read_unknown(node: etree._Element) -> Any:
    return [_read_unknown(child) for child in node] if len(node) else node.text or ""
