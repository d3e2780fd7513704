"""The addresses of authority.md#qr, character for character."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.ecf.catalogue import Environment
from fe.ecf.qr_address import qr_url, qr_url_summary
from fe.ecf.qr_code import qr_code

ECF_HOST = "https://ecf.dgii.gov.do"
FC_HOST = "https://fc.dgii.gov.do"


def ecf_address(buyer_rnc: str | None = "131880681", security_code: str = "G8r/fK", total: str = "40120.00") -> str:
    return qr_url(
        ECF_HOST,
        Environment.TESTECF,
        issuer_rnc="131880738",
        buyer_rnc=buyer_rnc,
        e_ncf="E310005000201",
        issued="01-04-2020",
        total=total,
        signed="06-11-2026 10:15:30",
        security_code=security_code,
    )


def test_the_address_of_an_ecf_has_every_parameter_in_the_documents_order() -> None:
    assert ecf_address() == (
        "https://ecf.dgii.gov.do/testecf/ConsultaTimbre"
        "?RncEmisor=131880738&RncComprador=131880681&ENCF=E310005000201&FechaEmision=01-04-2020"
        "&MontoTotal=40120.00&FechaFirma=06-11-2026%2010%3A15%3A30&CodigoSeguridad=G8r%2FfK"
    )


@pytest.mark.parametrize("buyer_rnc", [None, ""])
def test_a_buyer_without_rnc_is_left_out(buyer_rnc: str | None) -> None:
    address = ecf_address(buyer_rnc=buyer_rnc)

    assert "RncComprador" not in address
    assert "?RncEmisor=131880738&ENCF=E310005000201&" in address


def test_the_address_of_a_summary_is_on_the_other_host_and_shorter() -> None:
    address = qr_url_summary(
        FC_HOST,
        Environment.ECF,
        issuer_rnc="131880738",
        e_ncf="E320000000011",
        total="40120.00",
        security_code="AbC1+/",
    )

    assert address == (
        "https://fc.dgii.gov.do/ecf/ConsultaTimbreFC"
        "?RncEmisor=131880738&ENCF=E320000000011&MontoTotal=40120.00&CodigoSeguridad=AbC1%2B%2F"
    )


@pytest.mark.parametrize("total", ["120", "141.6", "40120.00", "0.00"])
def test_the_total_is_the_text_of_the_xml(total: str) -> None:
    assert f"&MontoTotal={total}&" in ecf_address(total=total)


@given(st.text(alphabet="ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", min_size=6, max_size=6))
def test_any_security_code_is_read_back_as_it_was(security_code: str) -> None:
    query = urlsplit(ecf_address(security_code=security_code)).query

    assert dict(parse_qsl(query, strict_parsing=True))["CodigoSeguridad"] == security_code
    assert "+" not in query


def test_a_short_address_has_the_version_the_authority_asks_for_and_a_long_one_the_next_that_holds_it() -> None:
    assert qr_code("https://fc.dgii.gov.do/ecf/ConsultaTimbreFC?x").designator == "8-M"
    assert qr_code("https://ecf.dgii.gov.do/ecf/ConsultaTimbre?" + "x" * 170).designator == "10-M"
