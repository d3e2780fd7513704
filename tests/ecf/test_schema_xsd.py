"""Our tables beside the authority's XSDs: element by element, facet by facet, both ways."""

import re
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from fe.ecf.build import build
from fe.ecf.schema.kinds import SIGNATURE
from fe.ecf.schema.simple import simple_type
from fe.ecf.schema.xsd import quick_xsd, xsd
from tests.ecf import authority_xsd, strategies
from tests.ecf.authority_xsd import FILES, Facets
from tests.shared import needs_shared

pytestmark = needs_shared

#: Patterns the authority's files spell in several ways. The same values match.
SAME_PATTERN = {
    "([a-z0-9A-Z]{13})": "[a-z0-9A-Z]{13}",
    "([a-z0-9A-Z]{13,13})*": "[a-z0-9A-Z]{13}",  # beside a length of 13
    r"(\d{1,16})(\.\d{1,4})?": r"[0-9]{1,16}(\.[0-9]{1,4})?",  # a decimal has no other digits
    r"(\d{11,11})|(\d{9,9})": "[0-9]{11}|[0-9]{9}",  # nor has an integer
    "[0-9]{0,4}": "[0-9]{1,4}",  # nor is it empty
    r"(\D[^0-9]+[a-zA-ZñÑáéíóúÁÉÍÓÚ])": r"\D[^0-9]+[a-zA-ZñÑáéíóúÁÉÍÓÚ]",
    "([a-z0-9A-Z]{13,13})|([a-z0-9A-Z]{11,11})|([a-z0-9A-Z]{9,9})": ("[a-z0-9A-Z]{13}|[a-z0-9A-Z]{11}|[a-z0-9A-Z]{9}"),
}


class Difference(NamedTuple):
    """A place where our facets are others than the authority's, and why."""

    where: str
    theirs: Facets
    ours: Facets
    reason: str


DIFFERENCES = (
    Difference(
        r"e-CF-(33|34):.*\.ResponsablePago",
        {"pattern": r"^[a-zA-ZñÑáéíóúÁÉÍÓÚ,\s]*$"},
        {"pattern": r"[a-zA-ZñÑáéíóúÁÉÍÓÚ,\s]*"},
        "an XSD pattern has no anchors: read to the letter, the value would have to begin with ^ and end with $",
    ),
    Difference(
        r"e-CF-(33|34|44|46):.*\.TipoIngresos",
        {"pattern": "[0]{1}[1-6]{1}"},
        {},
        "says again what the list of codes says",
    ),
    Difference(
        r"(e-CF-45|RFCE-32):.*\.TipoIngresos",
        {"base": "xs:integer", "pattern": "[0]{1}[1-6]{1}"},
        {"base": "xs:string"},
        "the same codes; as an integer it may also have blanks around it, which nobody should send",
    ),
    Difference(
        r"e-CF-34:.*\.IndicadorNotaCredito",
        {"minInclusive": "0", "maxInclusive": "1"},
        {"enumeration": ("0", "1")},
        "the same two numbers, as codes with a meaning",
    ),
    Difference(
        r"RFCE-32:RFCE\.Encabezado\.Version",
        {"base": "xs:decimal", "pattern": "[1]{1}.[0]{1}"},
        {"base": "xs:string"},
        "only 1.0 fits; as a decimal it may also have blanks around it, which nobody should send",
    ),
    Difference(
        r"RFCE-32:.*\.FechaEmision",
        {"pattern": r"\s*(3[01]|[12][$0-9]|0?[1-9])\-(1[012]|0?[1-9])\-((19|20)\d{2})\s*"},
        {"pattern": r"(3[01]|[12][0-9]|0?[1-9])\-(1[012]|0?[1-9])\-((19|20)\d{2})"},
        "a slip of the pen ($ for a digit), and blanks that nobody should send",
    ),
    Difference(
        r"RFCE-32:.*\.(MontoImpuesto.*|OtrosImpuestosAdicionales)",
        {"minInclusive": "0.01"},
        {"minExclusive": "0"},
        "the same amounts: there are two decimals",
    ),
    Difference(
        r"ANECF:.*\.CantidadeNCFAnulados",
        {"pattern": r"(\d{1,10})"},
        {"pattern": "[0-9]{1,10}", "totalDigits": "10"},
        "the same numbers",
    ),
    Difference(
        r"ANECF:.*\.NoLinea",
        {"pattern": r"\d{1,2}"},
        {"pattern": "[0-9]{1,2}", "totalDigits": "2"},
        "the same numbers",
    ),
    Difference(
        r"ARECF:.*\.eNCF",
        {
            "pattern": "([a-z0-9A-Z]{13,13})|([a-z0-9A-Z]{11,11})|([a-z0-9A-Z]{9,9})*",
            "minLength": "9",
            "maxLength": "13",
        },
        {"pattern": "[a-z0-9A-Z]{13}|[a-z0-9A-Z]{11}|[a-z0-9A-Z]{9}"},
        "the same numbers: the lengths leave one repetition",
    ),
)

#: Cardinalities where we differ. At the end of a root (`.*`) the authority allows any element; we allow a Signature, in
#: every kind.
OTHER_COUNTS = {
    "ECF.*": "a document is judged before it is signed as if a Signature followed",
    "RFCE.*": "likewise",
    "ANECF.*": "likewise",
    "SemillaModel.*": "likewise",
    "ANECF.DetalleAnulacion.Anulacion.NoLinea": "a block has one number; ten of them would leave open which it is",
}


@pytest.mark.parametrize("name", FILES)
def test_elements_have_the_order_and_cardinality_of_the_xsd(name: str) -> None:
    theirs = authority_xsd.facts(authority_xsd.read(name))
    ours = authority_xsd.facts(xsd(FILES[name]))

    assert [fact.path for fact in ours] == [fact.path for fact in theirs]
    for their, our in zip(theirs, ours, strict=True):
        if their.path not in OTHER_COUNTS:
            assert (our.minimum, our.maximum) == (their.minimum, their.maximum), their.path


@pytest.mark.parametrize("name", FILES)
def test_every_value_has_the_same_facets(name: str) -> None:
    theirs = authority_xsd.facts(authority_xsd.read(name))
    ours = authority_xsd.facts(xsd(FILES[name]))

    for their, our in zip(theirs, ours, strict=True):
        assert (their.facets is None) == (our.facets is None), their.path
        left, right = _apart(their.facets or {}, our.facets or {})
        assert (left, right) in [({}, {}), *_allowed(f"{name}:{their.path}")], their.path


def test_listed_differences_still_exist() -> None:
    found = []
    for name, kind in FILES.items():
        theirs = authority_xsd.facts(authority_xsd.read(name))
        for their, our in zip(theirs, authority_xsd.facts(xsd(kind)), strict=True):
            apart = _apart(their.facets or {}, our.facets or {})
            found += [
                difference
                for difference in DIFFERENCES
                if re.fullmatch(difference.where, f"{name}:{their.path}")
                and apart == (difference.theirs, difference.ours)
            ]

    assert set(map(DIFFERENCES.index, found)) == set(range(len(DIFFERENCES)))


def _apart(theirs: Facets, ours: Facets) -> tuple[Facets, Facets]:
    """Differences in either direction, except for other spellings of a pattern."""
    pattern = theirs.get("pattern")
    if isinstance(pattern, str) and pattern in SAME_PATTERN:
        theirs = {**theirs, "pattern": SAME_PATTERN[pattern]}
    left = {name: value for name, value in theirs.items() if ours.get(name) != value}
    right = {name: value for name, value in ours.items() if theirs.get(name) != value}
    return left, right


def _allowed(place: str) -> list[tuple[Facets, Facets]]:
    return [(each.theirs, each.ours) for each in DIFFERENCES if re.fullmatch(each.where, place)]


@pytest.mark.parametrize("name", [name for name in FILES if name != "Semilla"])
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_random_documents_of_our_tables_follow_the_authority_s_xsd(name: str, data: st.DataObject) -> None:
    chance = data.draw(st.sampled_from([1, 3]))
    tree = build(data.draw(strategies.documents(FILES[name], chance=chance)))
    etree.SubElement(tree, SIGNATURE)

    theirs = _theirs(name)

    assert theirs.validate(tree), theirs.error_log


_compiled: dict[str, etree.XMLSchema] = {}


def _theirs(name: str) -> etree.XMLSchema:
    if name not in _compiled:
        _compiled[name] = authority_xsd.compiled(name)
    return _compiled[name]


def test_long_lists_of_codes_mean_the_same_as_one_pattern() -> None:
    invoice = FILES["e-CF-31"]
    listed, quick = xsd(invoice), quick_xsd(invoice)
    for schema in (listed, quick):
        for simple in (simple_type("place"), simple_type("additional-tax")):
            etree.SubElement(schema, f"{authority_xsd.XS}element", name=simple.name, type=simple.name)
    assert etree.tostring(listed) != etree.tostring(quick)
    by_list, by_pattern = etree.XMLSchema(listed), etree.XMLSchema(quick)

    for simple in (simple_type("place"), simple_type("additional-tax")):
        codes = [code.value for code in simple.codes]
        near = [word for code in codes for word in (code[:-1], f"{code}0", f"9{code[1:]}", f"{code[:-1]}9")]
        for text in {*codes, *near, "", "x"}:
            probe = etree.Element(simple.name)
            probe.text = text
            assert by_pattern.validate(probe) == by_list.validate(probe) == (text in codes), (simple.name, text)
