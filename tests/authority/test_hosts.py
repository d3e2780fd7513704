"""Addresses of the services, and the form that documents travel in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.authority.hosts import Host, Hosts, Operation, Origin
from fe.authority.multipart import xml_form
from fe.ecf.catalogue import Environment

ADDRESSES = {
    Operation.SEED: "https://ecf.dgii.gov.do/certecf/autenticacion/api/autenticacion/semilla",
    Operation.VALIDATE_SEED: "https://ecf.dgii.gov.do/certecf/autenticacion/api/autenticacion/validarsemilla",
    Operation.RECEPTION: "https://ecf.dgii.gov.do/certecf/recepcion/api/facturaselectronicas",
    Operation.SUMMARY_RECEPTION: "https://fc.dgii.gov.do/certecf/recepcionfc/api/recepcion/ecf",
    Operation.COMMERCIAL_APPROVAL: "https://ecf.dgii.gov.do/certecf/aprobacioncomercial/api/aprobacioncomercial",
    Operation.RANGE_VOIDING: "https://ecf.dgii.gov.do/certecf/anulacionrangos/api/operaciones/anularrango",
    Operation.RESULT: "https://ecf.dgii.gov.do/certecf/consultaresultado/api/consultas/estado",
    Operation.STATE: "https://ecf.dgii.gov.do/certecf/consultaestado/api/consultas/estado",
    Operation.TRACK_IDS: "https://ecf.dgii.gov.do/certecf/consultatrackids/api/trackids/consulta",
    Operation.SUMMARY_STATE: "https://fc.dgii.gov.do/certecf/consultarfce/api/Consultas/Consulta",
    Operation.SUMMARY_PAGE: "https://fc.dgii.gov.do/certecf/consultatimbrefc",
    Operation.DIRECTORY: "https://ecf.dgii.gov.do/certecf/consultadirectorio/api/consultas/obtenerdirectorioporrnc",
    Operation.SERVICES: "https://statusecf.dgii.gov.do/api/estatusservicios/obtenerestatus",
    Operation.WINDOWS: "https://statusecf.dgii.gov.do/api/estatusservicios/obtenerventanasmantenimiento",
    Operation.IS_UP: "https://statusecf.dgii.gov.do/api/estatusservicios/verificarestado",
}


@pytest.mark.parametrize("operation", Operation)
def test_every_operation_has_the_published_address(operation: Operation) -> None:
    status = operation in (Operation.SERVICES, Operation.WINDOWS, Operation.IS_UP)

    location = Hosts().locate(operation, None if status else Environment.CERTECF)

    assert f"https://{location.origin.authority}{location.target}" == ADDRESSES[operation]
    assert location.origin.tls
    assert (location.host is Host.STATUS) is status


def test_each_host_can_be_set_and_may_lie_under_a_path() -> None:
    hosts = Hosts(ecf="http://127.0.0.1:8085", fc="https://gateway.example:8443/dgii/", status="http://[::1]:80")

    reception = hosts.locate(Operation.RECEPTION, Environment.TESTECF)
    summary = hosts.locate(Operation.SUMMARY_RECEPTION, Environment.TESTECF)
    status = hosts.locate(Operation.SERVICES, None)

    assert reception.origin == Origin(False, "127.0.0.1", 8085)
    assert summary.target == "/dgii/testecf/recepcionfc/api/recepcion/ecf"
    assert summary.origin.authority == "gateway.example:8443"
    assert status.origin.authority == "[::1]"


@pytest.mark.parametrize(
    "base",
    [
        "",
        "ecf.dgii.gov.do",
        "ftp://ecf.dgii.gov.do",
        "https://",
        "https://user:secret@ecf.dgii.gov.do",
        "https://ecf.dgii.gov.do?x=1",
        "https://ecf.dgii.gov.do#x",
        "https://ecf.dgii.gov.do:99999",
        "https://ecf dgii.gov.do",
        "https://ecf.dgii.gov.do/a b",
        "https://ecf.dgii.gov.do/\r\nX: y",
        "https://exámple.do",
    ],
)
def test_invalid_base_url_is_refused(base: str) -> None:
    with pytest.raises(ValueError, match="not the base URL"):
        Hosts(fc=base)


def test_values_are_escaped_and_empty_parameters_left_out() -> None:
    location = Hosts().locate(
        Operation.STATE, Environment.ECF, {"a": "AbC1+/", "b": None, "c": "", "d": "x&y=z #\r\nñ"}
    )

    assert location.target.partition("?")[2] == "a=AbC1%2B%2F&d=x%26y%3Dz%20%23%0D%0A%C3%B1"


def test_the_same_file_makes_the_same_form() -> None:
    assert xml_form("a.xml", b"<a/>") == xml_form("a.xml", b"<a/>")


@given(st.binary(max_size=200))
def test_a_form_holds_the_file_to_the_byte(xml: bytes) -> None:
    form = xml_form("131880738E310000000001.xml", xml)

    boundary = form.content_type.removeprefix("multipart/form-data; boundary=").encode()
    start, middle, end = form.body.split(b"--" + boundary)
    assert (start, end) == (b"", b"--\r\n")
    assert middle.partition(b"\r\n\r\n")[2] == xml + b"\r\n"


@pytest.mark.parametrize("name", ["", ".xml", "a.txt", 'a".xml', "a\r\n.xml", "ñ.xml", "../a.xml", "a" * 200 + ".xml"])
def test_a_file_name_must_fit_into_a_header(name: str) -> None:
    with pytest.raises(ValueError, match="not a file name"):
        xml_form(name, b"<a/>")
