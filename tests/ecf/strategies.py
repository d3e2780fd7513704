"""Documents that follow the format, drawn from our own tables. Their arithmetic need not hold."""

import re
import string
from typing import Any

from hypothesis import strategies as st

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document
from fe.ecf.schema.kinds import SEED, DocumentKind, kinds, type_of
from fe.ecf.schema.model import Base, Element, Simple, ValueForm

#: All kinds but the seed, which clients never send.
DOCUMENT_KINDS = tuple(kind for kind in kinds() if kind.root.name != SEED)

_LETTERS = string.ascii_letters + "ñÑáéíóúÁÉÍÓÚ"
#: Characters of a text that is kept as it is: letters of any script, signs, quotes, line feeds.
_TEXT = st.characters(exclude_categories=["Cs", "Cc", "Cn"], include_characters="\t\n&<>\"'") | st.sampled_from(
    _LETTERS
)
_PATTERNS: dict[str, st.SearchStrategy[str]] = {}


def values(simple: Simple) -> st.SearchStrategy[str]:
    """Texts a simple type takes, none of them blank."""
    if simple.name not in _PATTERNS:
        _PATTERNS[simple.name] = _values(simple)
    return _PATTERNS[simple.name]


def _values(simple: Simple) -> st.SearchStrategy[str]:
    if simple.codes:
        return st.sampled_from([code.value for code in simple.codes])
    if simple.base is Base.DATE_TIME:
        return st.datetimes().map(lambda moment: moment.isoformat())
    if simple.form is ValueForm.NUMBER:
        return _numbers(simple)
    if simple.name == "e-mail":
        word = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
        return st.builds("{}.{}@{}.example".format, word, word, word)
    if simple.name == "e-ncf":  # its pattern allows more than a payload may name
        types = st.sampled_from([ecf_type.prefix for ecf_type in EcfType])
        return st.builds("{}{:010}".format, types, st.integers(1, 10**10 - 1))
    if simple.pattern is None:
        messages = st.text(_TEXT, min_size=simple.shortest or 1, max_size=min(simple.longest or 40, 40))
        longest = st.sampled_from(_LETTERS).map(lambda letter: letter * (simple.longest or 40))
        return st.one_of(messages, longest).filter(lambda text: bool(text.strip()))
    # Python reads \d and \w more widely than XSD does, or less; the plain letters and digits both agree on will do.
    pattern = simple.pattern.replace(r"\w", "[a-zA-Z0-9]").replace(r"[\s\d[a-zA-Z0-9]]", r"[ 0-9a-zA-Z]")
    alphabet = st.sampled_from(_LETTERS + string.digits + string.punctuation + " ")
    return st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True, alphabet=alphabet).filter(
        lambda text: bool(text.strip()) and len(text) <= (simple.longest or 1000)
    )


@st.composite
def _numbers(draw: st.DrawFn, simple: Simple) -> str:
    assert simple.digits is not None
    decimals = simple.decimals or 0
    whole = simple.digits - decimals
    minimum = simple.minimum if simple.minimum is not None else 0 if simple.above is None else simple.above + 1
    maximum = simple.maximum or 10**whole - 1
    text = str(draw(st.integers(minimum, maximum) | st.integers(minimum, min(maximum, 20))))
    assert simple.pattern is not None
    exactly, optional = f"{{{decimals}}}" in simple.pattern, simple.pattern.endswith("?")
    if decimals and (not optional or draw(st.booleans())):
        places = decimals if exactly else draw(st.integers(1, decimals))
        text += "." + draw(st.text(string.digits, min_size=places, max_size=places))
    if simple.pattern.startswith("[+-]?"):
        text = draw(st.sampled_from(["", "-"])) + text
    return text


@st.composite
def contents(draw: st.DrawFn, of: Element, *, chance: int = 3) -> Any:
    """The content of an element: what is required, and of the rest one in `chance` (all of it, if that is 1)."""
    if of.simple is not None:
        return draw(values(of.simple))
    chosen = [child for child in of.children if child.required or draw(st.integers(1, chance)) == 1]
    if not chosen and not of.may_be_empty:
        chosen = [draw(st.sampled_from(of.children))]
    content = {}
    for child in chosen:
        inside = contents(child, chance=chance)
        content[child.name] = draw(st.lists(inside, min_size=1, max_size=2) if child.many > 1 else inside)
    return content


@st.composite
def documents(draw: st.DrawFn, kind: DocumentKind, *, chance: int = 3) -> Document:
    """A document of that kind which follows the format."""
    content = draw(contents(kind.root, chance=chance))
    root = Root(kind.root.name)
    if root is Root.ECF:
        ecf_type = kind.name.removeprefix("e-CF ")
        content["Encabezado"]["IdDoc"]["TipoeCF"] = ecf_type
        return Document(root, EcfType(ecf_type), content)
    return Document(root, type_of(root, None), content)


#: Values of a JSON body after `parse_json`.
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.decimals(allow_nan=False, places=3) | st.text(),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=20), inside, max_size=4),
    max_leaves=20,
)


# --- one document that has everything, the same each time -------------------------------------------------------------

_ONE_OF_EACH = {
    "date": "05-02-2026",
    "date-from-2000": "05-02-2026",
    "timestamp": "05-02-2026 14:03:09",
    "timestamp-any-year": "05-02-2026 14:03:09",
    "seed-time": "2026-02-05T14:03:09.1234567-04:00",
    "rnc": "131880738",
    "rnc-trimmed": "00112345678",
    "e-ncf": "E310000000007",
    "e-ncf-or-ncf": "E310000000007",
    "phone": "809-555-0100",
    "e-mail": "ventas@palmera.example",
    "terms": "30 dias",
    "security-code": "aB3+/x",
    "approved-amount": "118.00",
}


def one_value(simple: Simple) -> str:
    """A value the type takes, always the same."""
    if simple.name in _ONE_OF_EACH:
        return _ONE_OF_EACH[simple.name]
    if simple.codes:
        return simple.codes[-1].value
    if simple.form is ValueForm.NUMBER:
        whole = simple.minimum if simple.minimum is not None else (simple.above or 0) + 1
        return f"{whole}.{'5' * simple.decimals}" if simple.decimals else str(whole)
    return "Mar"[: simple.longest].ljust(simple.shortest or 0, "e")


def everything(of: Element) -> Any:
    """Content with every element there is, lists with two entries."""
    if of.simple is not None:
        return one_value(of.simple)
    return {
        child.name: [everything(child), everything(child)] if child.many > 1 else everything(child)
        for child in of.children
    }


def whole_document(kind: DocumentKind) -> Document:
    """The document of that kind that has everything."""
    content = everything(kind.root)
    root = Root(kind.root.name)
    ecf_type = EcfType(kind.name.removeprefix("e-CF ")) if root is Root.ECF else type_of(root, None)
    if root is Root.ECF:
        content["Encabezado"]["IdDoc"] |= {"TipoeCF": str(ecf_type), "eNCF": f"E{ecf_type}0000000007"}
    return Document(root, ecf_type, content)
