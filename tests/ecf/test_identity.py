import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.ecf.catalogue import EcfType
from fe.ecf.identity import ENcf, TaxId, TaxIdKind, e_ncf, referred, tax_id
from fe.ecf.parse import parse_xml
from tests.shared import needs_shared, shared


# Demonstration companies of the authority, and published examples of validators.
@pytest.mark.parametrize("digits", ["131880738", "131880681", "101850043", "00113918205", "40200571939"])
def test_known_ids_check(digits: str) -> None:
    assert TaxId(digits).checks


@pytest.mark.parametrize("digits", ["131880739", "131880682", "101850042", "00113918204", "22400022112"])
def test_ids_with_another_last_digit_do_not_check(digits: str) -> None:
    assert not TaxId(digits).checks


@needs_shared
def test_the_ids_in_the_authoritys_samples_check() -> None:
    found = set()
    for sample in sorted(shared("samples").glob("*.xml")):
        for node in parse_xml(sample.read_bytes()).iter("RNCEmisor", "RNCComprador"):
            found.add(node.text)

    assert found
    assert all(TaxId(text).checks for text in found if text)


@given(st.from_regex(r"[0-9]{8}", fullmatch=True))
def test_exactly_one_last_digit_checks_for_an_rnc(head: str) -> None:
    assert sum(TaxId(f"{head}{last}").checks for last in range(10)) == 1


@given(st.from_regex(r"[0-9]{11}", fullmatch=True), st.integers(0, 10), st.integers(1, 9))
def test_one_mistyped_digit_of_a_cedula_is_always_found(digits: str, place: int, change: int) -> None:
    head = digits[:10]
    good = next(TaxId(f"{head}{last}") for last in range(10) if TaxId(f"{head}{last}").checks)
    wrong = str((int(good.digits[place]) + change) % 10)

    assert not TaxId(good.digits[:place] + wrong + good.digits[place + 1 :]).checks


@pytest.mark.parametrize("text", ["", "13188073", "1318807380", "13188073x", "٣31880738", " 131880738", "131-88073-8"])
def test_malformed_tax_id_is_none(text: str) -> None:
    assert tax_id(text) is None


def test_length_of_a_tax_id_decides_its_kind() -> None:
    assert TaxId("131880738").kind is TaxIdKind.RNC
    assert TaxId("00113918205").kind is TaxIdKind.CEDULA
    assert str(TaxId("131880738")) == "131880738"
    with pytest.raises(ValueError, match="9 digits"):
        TaxId("12")


@given(st.sampled_from(EcfType), st.integers(1, 9_999_999_999))
def test_an_e_ncf_is_read_back_as_it_was_written(ecf_type: EcfType, number: int) -> None:
    assert e_ncf(str(ENcf(ecf_type, number))) == ENcf(ecf_type, number)


@pytest.mark.parametrize(
    "text",
    ["", "E31", "E3100000000011", "E420000000001", "B310000000001", "e310000000001", "E310000000000", "E31000000000X"],
)
def test_malformed_e_ncf_is_none(text: str) -> None:
    assert e_ncf(text) is None


@pytest.mark.parametrize(
    ("text", "electronic", "ecf_type"),
    [
        ("E320000000001", True, EcfType.CONSUMER),
        ("B0100000001", False, EcfType.CREDIT_FISCAL),
        ("B0200000001", False, EcfType.CONSUMER),
        ("B1500000123", False, EcfType.GOVERNMENTAL),
        ("B1200000001", False, None),
        ("A010010010100000001", False, EcfType.CREDIT_FISCAL),
    ],
)
def test_receipts_referred_to_are_electronic_or_on_paper(text: str, electronic: bool, ecf_type: EcfType | None) -> None:
    read = referred(text)

    assert read is not None
    assert (read.text, read.electronic, read.type) == (text, electronic, ecf_type)


@pytest.mark.parametrize(
    "text", ["", "B010000001", "E3100000001", "E990000000001", "A01001001010000001", "B01000000012"]
)
def test_other_texts_are_no_receipt(text: str) -> None:
    assert referred(text) is None
