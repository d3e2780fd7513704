"""The authority's format as tables of ours, and documents validated against them.

ecf.csv and other_documents.csv list the elements, their order and how often each may stand; `simple` and the code lists
define their values. A test compares them with the authority's XSDs, which are not ours to ship.
"""

from lxml import etree

from fe.ecf.problems import Problem, show
from fe.ecf.schema.kinds import DS, SIGNATURE, DocumentKind, kind_of, probable_kind
from fe.ecf.schema.messages import problem
from fe.ecf.schema.validator import BLANKS, walk
from fe.ecf.schema.xsd import compiled, prepare
from fe.ecf.texts import Text

__all__ = ["DECLARABLE", "prepare", "unknown_kind", "validate"]

#: Namespaces that a root may declare, whatever prefix it gives them: writers put them there, and nothing is in them.
DECLARABLE = frozenset({"http://www.w3.org/2001/XMLSchema-instance", "http://www.w3.org/2001/XMLSchema", DS})


def validate(element: etree._Element, *, is_plain: bool = False) -> list[Problem]:
    """Check a document against the format of its root and type; all problems, none if it is in order.

    (All, up to MAX_PROBLEMS: after those comes one that says there are more.)

    `element` is a root of ECF, RFCE, ACECF, ANECF, ARECF or SemillaModel, with or without its `Signature`: the
    authority's schemas demand one, so an unsigned document is validated as if it followed. Empty tags are a problem,
    but for an empty `Comprador` in a type 32 and an RFCE (authority.md#empty-buyer), and so are blanks around anything
    but a free text. Lines are given for a document
    that was read from more than one line. An e-CF without a good TipoeCF is validated by the type in its e-NCF;
    if that says nothing either, the type is the only problem. `is_plain` says that it was written by `build.write` and
    is plain: then there is nothing in it that XSD overlooks. Any thread may call it.
    """
    kind = kind_of(element) or probable_kind(element)
    if kind is None:
        return [unknown_kind(element)]
    follows = compiled(kind)(element) and (is_plain or _ends_well(element))
    if follows and (is_plain or not _wants_a_look(kind, element)):
        return []
    return walk(kind, element) or ([] if follows else [problem("schema", "")])


def unknown_kind(element: etree._Element) -> Problem:
    """Say that a root, or the type of an ECF, is none that the format knows."""
    if element.tag != "ECF":
        name = show(element.tag)
        roots = Text("ECF, RFCE, ACECF or ANECF", "ECF, RFCE, ACECF o ANECF")
        return problem("unknown-root", "", found=name, name=name, expected=roots.en, expected_es=roots.es)
    path = "Encabezado.IdDoc.TipoeCF"
    found = element.findtext("Encabezado/IdDoc/TipoeCF")
    if not found:
        return problem("missing-type", path)
    return problem("unknown-type", path, found=found)


def _wants_a_look(kind: DocumentKind, element: etree._Element) -> bool:
    """Whether there is something that XSD overlooks and the walk may object to: empty tags, blanks around a value."""
    for node in element.iter():
        text = node.text
        if not text or text.isspace():
            if not len(node):
                name = str(node.tag)
                if name not in kind.may_be_empty and not name.startswith("{"):  # a signature has empty elements
                    return True
        elif text[0] in BLANKS or text[-1] in BLANKS:
            return True
    return False


def _ends_well(element: etree._Element) -> bool:
    # The XSD lets any element of the signature's namespace stand at the end.
    last = element[-1].tag if len(element) else ""
    return last == SIGNATURE or not str(last).startswith(f"{{{DS}}}")
