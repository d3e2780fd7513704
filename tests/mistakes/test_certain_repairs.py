"""A certain repair loses nothing and has no second reading; what is only probable is a proposal."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import NotADocument, read_payload
from fe.ecf.problems import Problem, Repair, serialize_problem
from fe.ecf.schema.kinds import kind
from fe.ecf.schema.model import Element
from fe.ecf.schema.repairs import sample
from fe.ecf.schema.xsd import violations
from tests.ecf.receipts import ISSUER
from tests.ecf.strategies import DOCUMENT_KINDS
from tests.mistakes.corpus import BUYER, ID, ITEM, Payload, changed, good, renamed, without
from tests.mistakes.repairing import _holder, applied, steps
from tests.mistakes.test_mistakes import problems_of

ISSUED = "Encabezado.Emisor.FechaEmision"
PRICE = f"{ITEM}.PrecioUnitarioItem"


def repair_of(of: Payload, path: str) -> Repair | None:
    """The repair of the first problem at the path."""
    return next(one.repair for one in problems_of(of) if one.path == path)


@pytest.mark.parametrize(
    ("path", "value", "repaired", "certain"),
    [
        # A binary float's noise is removed; other decimals are for a person to decide on.
        (PRICE, "0.30000000000000004", "0.3000", True),
        (PRICE, "1180.0000000000002", "1180.0000", True),
        (PRICE, "33.333333333333336", "33.3333", False),
        (PRICE, "2.00005", "2.0001", False),
        (f"{ITEM}.NombreItem", "a" * 79 + " bcd", "a" * 79, False),
        (f"{BUYER}.RazonSocialComprador", "x" * 151, "x" * 150, False),
        # A time of day, an offset, or an order of day and month that may be the other.
        (ISSUED, "2026-11-26T01:30:00Z", "25-11-2026", False),
        (ISSUED, "2026-11-26T01:30:00-04:00", "26-11-2026", False),
        (ISSUED, "2025-10-15T00:00:00", "15-10-2025", True),
        (ISSUED, "2025-10-15T00:00:00.000Z", "15-10-2025", False),
        (ISSUED, "11/05/2025", "11-05-2025", False),
        (ISSUED, "05/05/2025", "05-05-2025", True),
        (ISSUED, "15-10-25", "15-10-2025", False),
        (ISSUED, "2025115", "05-11-2025", False),
        (PRICE, "1,000", "1000", False),
        (PRICE, "1,000.50", "1000.50", True),
        (PRICE, "US$ 100", "100", False),
        (f"{ITEM}.UnidadMedida", "UND", "43", True),
        (f"{ITEM}.UnidadMedida", "cajón", "6", False),
        (f"{BUYER}.RNCComprador", "131-88068-1", "131880681", True),
        (f"{BUYER}.RNCComprador", "131880681 (o 2)", "1318806812", None),
        (f"{BUYER}.MunicipioComprador", "Santo Domingo Este", "320100", True),
        (f"{BUYER}.ProvinciaComprador", "Azua", "020000", True),
        (f"{BUYER}.MunicipioComprador", "Azua", "020100", True),
        (f"{ID}.TipoPago", True, "1", False),
        (f"{ID}.TipoIngresos", "arrendamientos", "04", False),
        (f"{BUYER}.RazonSocialComprador", {"codigo": "Cliente SRL"}, "Cliente SRL", False),
    ],
)
def test_wrong_value_gets_its_reading_and_certainty(path: str, value: Any, repaired: str, certain: bool | None) -> None:
    repair = repair_of(changed(good(EcfType.CREDIT_FISCAL), path, value), path)

    assert repair == (None if certain is None else Repair("set", path, value=repaired, certain=certain))


@pytest.mark.parametrize(
    ("path", "name", "to", "certain"),
    [
        (f"{BUYER}.RNCComprador", "RNC", f"{BUYER}.RNCComprador", True),
        (f"{BUYER}.RNCComprador", "Cedula", f"{BUYER}.RNCComprador", True),
        (f"{BUYER}.RazonSocialComprador", "Nombre", f"{BUYER}.RazonSocialComprador", True),
        (f"{BUYER}.RazonSocialComprador", "RazonSocial", f"{BUYER}.RazonSocialComprador", True),
        (f"{ITEM}.NombreItem", "Nombre", f"{ITEM}.NombreItem", True),
        (f"{ITEM}.PrecioUnitarioItem", "Precio", f"{ITEM}.PrecioUnitarioItem", True),
        (f"{ITEM}.CantidadItem", "Cantidad", f"{ITEM}.CantidadItem", True),
        (f"{ITEM}.CantidadItem", "Cantidades", f"{ITEM}.CantidadItem", False),
    ],
)
def test_name_of_invoicing_programs_is_renamed(path: str, name: str, to: str, certain: bool) -> None:
    of = renamed(good(EcfType.CREDIT_FISCAL), path, name)
    there = f"{path.rpartition('.')[0]}.{name}"

    assert repair_of(of, there) == Repair("rename", there, to=to, certain=certain)


def test_line_code_is_moved_into_its_table_as_a_proposal() -> None:
    of = changed(good(EcfType.CREDIT_FISCAL), f"{ITEM}.Sku", "M-1")

    repair = repair_of(of, f"{ITEM}.Sku")

    assert repair == Repair(
        "rename", f"{ITEM}.Sku", to=f"{ITEM}.TablaCodigosItem.CodigosItem[1].CodigoItem", certain=False
    )
    left = problems_of(applied(of, serialize_problem(problems_of(of)[0])["repair"]))
    assert [one.path for one in left] == [f"{ITEM}.TablaCodigosItem.CodigosItem[1].TipoCodigo"]


def test_two_names_of_one_element_are_both_uncertain() -> None:
    of = without(good(EcfType.CREDIT_FISCAL), f"{BUYER}.RNCComprador")
    of = changed(changed(of, f"{BUYER}.RNC", "131880681"), f"{BUYER}.Cedula", "00113918205")

    repairs = [one.repair for one in problems_of(of)]

    assert [(one.to, one.certain) for one in repairs if one is not None] == [(f"{BUYER}.RNCComprador", False)] * 2


def _elements(of: Element, path: str = "") -> Iterator[tuple[str, Element]]:
    for child in of.children:
        there = f"{path}.{child.name}" if path else child.name
        yield there, child
        yield from _elements(child, there)


def test_examples_are_values_of_their_kind() -> None:
    """No amount, text or date is a tax id."""
    for each in DOCUMENT_KINDS:
        for path, element in _elements(each.root):
            if element.simple is not None:
                value = sample(element.simple, element.name)
                assert not violations(element.simple, value), path
                assert value != "131880657" or "rnc" in path.lower(), path
    items = kind(Root.ECF, EcfType.CREDIT_FISCAL).root.by_name["DetallesItems"].by_name["Item"].by_name
    said = {name: sample(one.simple, name) for name, one in items.items() if one.simple is not None}
    assert said["NombreItem"] == "Martillo"
    assert said["PrecioUnitarioItem"] == said["MontoItem"] == "1180.00"


# --- any number of mistakes at once ---------------------------------------------------------------------------------

#: Ways to write a value that programs have, and rubbish.
_WRITTEN = st.sampled_from(
    ["RD$ {}", "{} ", "$ {}", "{} DOP", "US$ {}", "{}.0000000001", "{}x", " {}", "x{}", "{}00", "'{}'", "{}%", "€{}"]
)
_RUBBISH = st.sampled_from(
    [
        *("", "contado", "11/05/2026", "2026-11-26T01:30:00Z", "20251015", "1,000", "1.000", "0.30000000000000004"),
        *("hoy", "E31", "financieros", "UND", "Azua", "x" * 200, True, False, ["1"], {"valor": "1"}, {"a": 1, "b": 2}),
    ]
)
_RENAMES = st.sampled_from(
    ["RNC", "Nombre", "Precio", "Cantidad", "Monto", "Sku", "Codigo", "Total", "TipoPago", "Retencion", "Cedula", "Qty"]
)


def _leaves(of: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a payload with its path."""
    if isinstance(of, dict):
        for name, value in of.items():
            yield from _leaves(value, f"{path}.{name}" if path else name)
    elif isinstance(of, list):
        for number, value in enumerate(of, 1):
            yield from _leaves(value, f"{path}[{number}]")
    else:
        yield path, of


@st.composite
def broken(draw: st.DrawFn) -> Payload:
    """A good document with some of its values written otherwise, renamed, or put beside others."""
    made = good(draw(st.sampled_from(list(EcfType))))
    # All that is required of it: without an RNC the service would fill it in.
    made["Encabezado"]["Emisor"] |= {
        name: ISSUER[name] for name in ("RNCEmisor", "RazonSocialEmisor", "DireccionEmisor")
    }
    for _ in range(draw(st.integers(1, 6))):
        path, value = draw(st.sampled_from(list(_leaves(made)) or [(f"{ID}.TipoPago", "1")]))
        holder, last = _holder(made, steps(path))
        match draw(st.integers(0, 3)):
            case 0:
                holder[last] = draw(_WRITTEN).format(value)
            case 1:
                holder[last] = deepcopy(draw(_RUBBISH))
            case 2 if isinstance(last, str):
                name = draw(_RENAMES | st.just(last.lower()) | st.just(f"{last}s") | st.just(last.upper()))
                holder[name] = holder.pop(last)
            case _ if isinstance(holder, dict):
                holder[draw(_RENAMES)] = value
    return made


_GATES = {"unknown-root", "unknown-type", "missing-type"}


def _all_problems(of: Payload) -> list[Problem] | None:
    """Problems of reading, and those of checking the rest; None where a problem of reading hides the rest."""
    try:
        read_payload(of)
    except NotADocument as error:
        if _GATES & {one.code for one in error.problems}:
            return None
        rest = deepcopy(of)
        for one in error.problems:
            try:
                holder, last = _holder(rest, steps(one.path))
                del holder[last]
            except (KeyError, IndexError, TypeError):
                return None
        left = _all_problems(rest)
        return None if left is None else [*error.problems, *left]
    return problems_of(of)


def _said(of: Payload) -> list[str]:
    """The values of a payload that say anything."""
    return sorted(str(value) for _, value in _leaves(of) if value not in ("", None))


@given(broken())
def test_all_certain_repairs_together_lose_no_value_and_add_no_problem(of: Payload) -> None:
    found = [serialize_problem(one).get("repair") for one in problems_of(of)]
    repairs = [repair for repair in found if repair is not None and repair["certain"]]

    mended = of
    for repair in repairs:
        before = mended
        mended = applied(before, repair)
        if repair["op"] == "set":
            assert len(_said(mended)) == len(_said(before)), repair
        else:
            assert _said(mended) == _said(before), repair

    first, then = _all_problems(of), _all_problems(mended)
    if first is not None and then is not None:
        assert len(then) <= len(first), (repairs, then, first)
