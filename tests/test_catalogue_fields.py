"""Fields of customers and products: what people type becomes one form, and hostile texts are refused by name."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.catalogue.entries import Customer, ItbisRate, Product, ProductKind, check_customer, check_product
from fe.catalogue.fields import BadEntry, read_id
from fe.catalogue.search import LONGEST, query_words, search_text
from fe.ecf.catalogue import EcfType
from fe.ecf.identity import TaxId

anything = st.none() | st.text(max_size=300)


def test_customer_typed_by_a_person_is_put_in_order() -> None:
    assert check_customer(
        name="  Ferretería\tEl  Sol ",
        rnc="1-31-88073-8",
        email="compras@elsol.do",
        phone="(809) 555 0142",
        municipality="320100",
        receipt_type="e31",
    ) == Customer(
        "Ferretería El Sol",
        TaxId("131880738"),
        "compras@elsol.do",  # type: ignore[arg-type]
        "809-555-0142",
        None,
        "320100",
        "320000",
        EcfType.CREDIT_FISCAL,
    )


def test_product_typed_by_a_person_is_put_in_order() -> None:
    assert check_product(
        name="Ron", unit="Litro", price="RD$ 1,234.5", itbis="18%", kind="Bien", additional_taxes=["023", "006", "006"]
    ) == Product("Ron", None, "24", Decimal("1234.5"), False, ItbisRate.R18, ProductKind.GOOD, ("006", "023"))


def test_wrong_check_digit_is_a_remark_and_no_error() -> None:
    assert check_customer(name="A", rnc="131880738").remarks == ()
    (remark,) = check_customer(name="A", rnc="131880739").remarks
    assert "131880739" in remark.es


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": ""}),
        ("name", {"name": "\u202eA"}),
        ("name", {"name": "A" * 151}),
        ("rnc", {"rnc": "13188073"}),
        ("rnc", {"rnc": "１３１８８０７３８"}),
        ("email", {"email": "a@b.do\nBcc: c@d.do"}),
        ("phone", {"phone": "8" * 21}),
        ("municipality", {"municipality": "320000"}),
        ("municipality", {"municipality": "320100", "province": "010000"}),
        ("province", {"province": "990000"}),
        ("type", {"receipt_type": "99"}),
    ],
)
def test_field_of_a_customer_out_of_form_is_named(field: str, given: dict[str, Any]) -> None:
    with pytest.raises(BadEntry) as bad:
        check_customer(**({"name": "A"} | given))
    assert bad.value.field == field


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": "A" * 81}),
        ("unit", {"unit": "manotada"}),
        *(("price", {"price": bad}) for bad in ("1.234,50", "-1", "1e3", "NaN", "1.23456", "9" * 17, "12,34")),
        ("itbis", {"itbis": "17"}),
        ("kind", {"kind": "other"}),
        ("additionalTaxes", {"additional_taxes": ["999"]}),
    ],
)
def test_field_of_a_product_out_of_form_is_named(field: str, given: dict[str, Any]) -> None:
    with pytest.raises(BadEntry) as bad:
        check_product(**({"name": "A"} | given))
    assert bad.value.field == field


@given(st.fixed_dictionaries(dict.fromkeys(("name", "rnc", "email", "phone", "address", "receipt_type"), anything)))
def test_customer_of_any_texts_is_refused_or_within_its_bounds(texts: dict[str, Any]) -> None:
    try:
        made = check_customer(**texts)
    except BadEntry:
        return
    assert 1 <= len(made.name) <= 150
    assert made.name.isprintable()
    assert len(made.search) <= LONGEST
    assert check_customer(name=made.name, phone=made.phone, address=made.address) == Customer(
        made.name, phone=made.phone, address=made.address
    )


@given(st.text(max_size=300), st.text(max_size=300))
def test_entry_is_found_by_the_beginning_of_each_of_its_words(name: str, other: str) -> None:
    words = search_text(name)
    for word in query_words(name[:40]):
        assert f" {word}"[:20] in words or len(words) == LONGEST
    assert not set("%_\\") & set("".join(query_words(other)))


@pytest.mark.parametrize(
    ("text", "taken"),
    [("C-001", True), ("a" * 64, True), ("", False), ("a" * 65, False), ("../x", False), ("a\n", False)],
)
def test_id_of_an_entry_is_safe_in_an_address(text: str, taken: bool) -> None:
    assert (read_id(text) is not None) is taken
