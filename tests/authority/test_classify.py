"""Classification of each answer to a document: the table of classify.py, row by row."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.authority.classify import classify_query, classify_submission, classify_token, read_retry_after
from fe.authority.errors import AuthorityError, AuthorityRefused, NotThere, OutcomeUnknown, Unavailable
from fe.authority.estado import Estado
from fe.authority.gateway import Unauthorised
from fe.authority.replies import Receipt, Verdict, read_trackings, read_verdict
from fe.ecf.catalogue import Service
from fe.egress.answer import HttpReply
from tests.authority.scripted import NOW, TRACK_ID

E_NCF = "E320000000011"
ECF, RFCE, ACECF, ANECF = Service


def reply(
    body: Any = b"", status: int = 200, kind: str = "application/json", retry_after: str | None = None
) -> HttpReply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpReply(status, kind, retry_after, content)


def judged(service: Service, *answer: Any, **more: Any) -> Receipt | Verdict | AuthorityError:
    try:
        return classify_submission(service, E_NCF, reply(*answer, **more), NOW)
    except AuthorityError as error:
        return error


ACCEPTED = {"codigo": 1, "estado": "Aceptado", "encf": E_NCF, "secuenciaUtilizada": True, "mensajes": [{"codigo": "0"}]}
REJECTED = {**ACCEPTED, "codigo": 2, "estado": "Rechazado", "mensajes": [{"codigo": "1209", "valor": "ya utilizada"}]}
CONDITIONAL = {**ACCEPTED, "codigo": 4, "estado": "Aceptado Condicional"}
BROKE_DOWN = {
    "codigo": 2,
    "estado": "Rechazado",
    "encf": None,
    "secuenciaUtilizada": False,
    "mensajes": [{"codigo": "004", "valor": "Ha ocurrido un error validando en eCF, favor intentar nueva vez."}],
}
BAD_NAME = {"mensajes": [{"codigo": 3243, "valor": "La longitud del nombre del archivo no es válida"}]}
RECEIPT = {"trackId": TRACK_ID, "error": None, "mensaje": None}
PROBLEM = {"title": "One or more validation errors occurred.", "errors": {"xml": ["The xml field is required."]}}
PAGE = b"<html><head><title>Request Rejected</title></head><body>Support ID: 1</body></html>"


@pytest.mark.parametrize(
    ("service", "body", "status", "expected"),
    [
        # Reception of e-CF
        (ECF, RECEIPT, 200, Receipt),
        (ECF, {"TrackID": TRACK_ID}, 202, Receipt),
        (ECF, RECEIPT, 400, Receipt),
        (ECF, {"trackId": "00000000-0000-0000-0000-000000000000"}, 200, OutcomeUnknown),
        (ECF, {"trackId": None, "error": "XML inválido", "mensaje": None}, 200, AuthorityRefused),
        (ECF, {"trackId": None, "error": "XML inválido", "mensaje": "x"}, 400, AuthorityRefused),
        (ECF, {"trackId": None, "error": None, "mensaje": "Recibido"}, 200, OutcomeUnknown),
        (ECF, {"trackId": None, "error": "favor intentar nueva vez", "mensaje": None}, 200, OutcomeUnknown),
        (ECF, BAD_NAME, 200, AuthorityRefused),
        (ECF, BAD_NAME, 400, AuthorityRefused),
        (ECF, ACCEPTED, 200, Verdict),
        # Reception of summaries
        (RFCE, ACCEPTED, 200, Verdict),
        (RFCE, CONDITIONAL, 200, Verdict),
        (RFCE, REJECTED, 200, Verdict),
        (RFCE, REJECTED, 400, Verdict),
        (RFCE, REJECTED, 403, Verdict),
        (RFCE, ACCEPTED, 400, OutcomeUnknown),
        (RFCE, {**ACCEPTED, "encf": None}, 200, Verdict),
        (RFCE, {**ACCEPTED, "encf": "E320000000012"}, 200, OutcomeUnknown),
        (RFCE, {**REJECTED, "encf": "E320000000012"}, 400, OutcomeUnknown),
        (RFCE, {**ACCEPTED, "estado": "Rechazado"}, 200, OutcomeUnknown),
        (RFCE, {**ACCEPTED, "codigo": 3, "estado": "En Proceso"}, 200, OutcomeUnknown),
        (RFCE, {**ACCEPTED, "codigo": 0, "estado": "No encontrado"}, 200, OutcomeUnknown),
        (RFCE, BROKE_DOWN, 200, OutcomeUnknown),
        (RFCE, BROKE_DOWN, 400, OutcomeUnknown),
        (RFCE, {**REJECTED, **BAD_NAME}, 400, AuthorityRefused),
        # Approvals and voided ranges
        (ACECF, {"mensaje": ["x"], "estado": "Aprobación Comercial Aprobada.", "codigo": "01"}, 200, Verdict),
        (ACECF, {"mensaje": ["x"], "estado": "Aprobacion Comercial Rechazada.", "codigo": "02"}, 400, Verdict),
        (ACECF, {"mensaje": ["No se pudo procesar, intente nuevamente"], "codigo": "02"}, 400, OutcomeUnknown),
        (ACECF, {"mensaje": ["x"], "estado": "Aprobación Comercial Aprobada.", "codigo": "02"}, 200, OutcomeUnknown),
        (ACECF, {"mensaje": ["x"], "estado": "Aprobación Comercial Aprobada.", "codigo": "02"}, 400, OutcomeUnknown),
        (ANECF, {"rnc": "131880738", "codigo": 1, "nombre": "", "mensajes": []}, 200, Verdict),
        (ANECF, {"rnc": "131880738", "codigo": "2", "nombre": "x", "mensajes": ["y"]}, 400, Verdict),
        (ANECF, {"codigo": "200", "nombre": "Las secuencias fueron anuladas correctamente."}, 200, Verdict),
        (ANECF, {"rnc": "131880738", "codigo": "7", "nombre": "x", "mensajes": ["y"]}, 200, OutcomeUnknown),
        (ANECF, {"rnc": "131880738", "codigo": "7", "nombre": "x", "mensajes": ["y"]}, 400, AuthorityRefused),
        # The same for every service
        *[
            (service, body, status, expected)
            for service in Service
            for body, status, expected in (
                (b"", 200, OutcomeUnknown),
                (b"", 204, OutcomeUnknown),
                (b"\x00\xff{", 200, OutcomeUnknown),
                (b"{}", 200, OutcomeUnknown),
                (b"[]", 200, OutcomeUnknown),
                (b"null", 200, OutcomeUnknown),
                (b'{"trackId":', 200, OutcomeUnknown),
                (PAGE, 200, OutcomeUnknown),
                (b"Procesado", 200, OutcomeUnknown),
                (b"<Cosa><trackId>a</trackId><estado>Aceptado</estado></Cosa>", 200, OutcomeUnknown),
                (RECEIPT, 302, OutcomeUnknown),
                (b"", 408, OutcomeUnknown),
                (b"", 500, OutcomeUnknown),
                (ACCEPTED, 500, OutcomeUnknown),
                (RECEIPT, 503, OutcomeUnknown),
                (b"", 599, OutcomeUnknown),
                (b"", 401, Unauthorised),
                (ACCEPTED, 401, Unauthorised),
                (REJECTED, 429, Unavailable),
                (b"", 400, Unavailable),
                (PAGE, 400, Unavailable),
                (b"El XML no es valido", 400, AuthorityRefused),
                ("El XML no es valido", 400, AuthorityRefused),
                (PROBLEM, 400, AuthorityRefused),
                ({"Message": "No"}, 422, AuthorityRefused),
                ({"message": "No"}, 404, Unavailable),
                ({"title": "Not Found", "status": 404}, 404, Unavailable),
                (b"", 405, Unavailable),
                (PAGE, 403, Unavailable),
                (PAGE, 413, Unavailable),
            )
        ],
    ],
)
def test_an_answer_to_a_document_is_judged(service: Service, body: Any, status: int, expected: type) -> None:
    assert type(judged(service, body, status)) is expected


def test_the_same_shape_in_xml_means_the_same() -> None:
    nowhere = 'xmlns="http://schemas.datacontract.org/2004/07/DGII" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'
    receipt = f'<RespuestaRecepcion {nowhere}><trackId>{TRACK_ID}</trackId><error i:nil="true"/></RespuestaRecepcion>'
    verdict = (
        f"<Respuesta><codigo>2</codigo><estado>Rechazado</estado><encf>{E_NCF}</encf><mensajes><codigo>75</codigo>"
        "<valor>x</valor></mensajes><secuenciaUtilizada>false</secuenciaUtilizada></Respuesta>"
    )

    received = judged(ECF, receipt.encode(), 200, "application/xml; charset=utf-8")
    rejected = judged(RFCE, verdict.encode(), 400, "text/xml")

    assert isinstance(received, Receipt)
    assert received.track_id == TRACK_ID
    assert isinstance(rejected, Verdict)
    assert (rejected.estado, rejected.number_used) == (Estado.REJECTED, False)
    assert [(message.number, message.valor) for message in rejected.messages] == [(75, "x")]


@pytest.mark.parametrize("kind", ["text/html", "application/xhtml+xml", "image/png", "application/octet-stream"])
def test_data_that_claims_to_be_something_else_is_not_believed(kind: str) -> None:
    assert type(judged(ECF, RECEIPT, 200, kind)) is OutcomeUnknown
    assert type(judged(RFCE, REJECTED, 400, kind)) in (Unavailable, AuthorityRefused)


@pytest.mark.parametrize("kind", ["", "text/plain; charset=utf-8", "application/problem+json", "TEXT/JSON"])
def test_data_under_a_careless_content_type_is_read(kind: str) -> None:
    assert type(judged(ECF, RECEIPT, 200, kind)) is Receipt


def test_a_refusal_is_in_the_interfaces_words_and_carries_the_authoritys() -> None:
    refused = judged(ECF, {"mensajes": [{"codigo": 614, "valor": "NCFModificado"}, "suelto"]}, 400)

    assert isinstance(refused, AuthorityRefused)
    assert (refused.reason, refused.status) == ("authority rejected with status 400", 400)
    assert [(message.codigo, message.valor) for message in refused.messages] == [
        ("614", "NCFModificado"),
        ("", "suelto"),
    ]
    assert refused.raw == {"mensajes": [{"codigo": 614, "valor": "NCFModificado"}, "suelto"]}


def test_duplicate_is_distinguished_from_other_rejections() -> None:
    live, interface, other = (
        judged(RFCE, {**REJECTED, "mensajes": [{"codigo": code, "valor": ""}]}, 400) for code in ("1209", 3, "13")
    )

    assert [isinstance(each, Verdict) and each.duplicate for each in (live, interface, other)] == [True, True, False]


def test_retry_after_is_passed_on() -> None:
    minutes = timedelta(minutes=2)

    for status in (429, 503):
        error = judged(ECF, b"", status, retry_after="120")
        assert isinstance(error, AuthorityError)
        assert error.retry_after == minutes


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("0", 0),
        ("120", 120),
        (" 5 ", 5),
        ("-5", None),
        ("99999999999999999999", 3600),
        ("Fri, 06 Nov 2026 14:16:30 GMT", 60),
        ("Fri, 06 Nov 2026 14:00:00 GMT", 0),
        ("Fri, 06 Nov 2099 14:00:00 GMT", 3600),
        ("Fri, 06 Nov 2026 14:16:30 -0000", None),
        ("Fri, 99 Nov 2026 14:16:30 GMT", None),
        ("Fri, 06 Nov 99999999999999 14:16:30 GMT", None),
        ("Fri, 06 Nov 2026 14:16:30 +9999999999999999", None),
        ("06 Nov 9999999999999999999999 14:16:30 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: int | None) -> None:
    assert read_retry_after(value, NOW) == (None if seconds is None else timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        (b"", 200, Unavailable),
        (PAGE, 200, Unavailable),
        (b"", 302, Unavailable),
        (b"", 500, Unavailable),
        (ACCEPTED, 500, Unavailable),
        (b"", 401, Unauthorised),
        (b"", 404, NotThere),
        (b"", 400, Unavailable),
        ({"mensaje": "ENCF invalido"}, 400, AuthorityRefused),
        ({"mensaje": "favor intentar nueva vez"}, 400, Unavailable),
        ({"mensaje": "x"}, 429, Unavailable),
    ],
)
def test_a_question_that_fails_is_never_an_unknown_outcome(body: Any, status: int, expected: type) -> None:
    with pytest.raises(AuthorityError) as caught:
        classify_query(reply(body, status), NOW, read_verdict, read_verdict)

    assert type(caught.value) is expected


@pytest.mark.parametrize(
    "body", ["TrackId no encontrado.", {"estado": "TrackId no encontrado."}, {"mensaje": "No Encontrado"}]
)
@pytest.mark.parametrize("status", [200, 400, 404])
def test_document_unknown_to_the_authority_is_absent(body: Any, status: int) -> None:
    assert classify_query(reply(body, status), NOW, read_trackings, lambda _: []) == []


@given(
    st.sampled_from(Service),
    st.integers(100, 599),
    st.binary(max_size=300) | st.sampled_from([json.dumps(ACCEPTED).encode(), json.dumps(RECEIPT).encode(), PAGE]),
    st.sampled_from(["", "application/json", "text/html", "text/xml"]) | st.text(max_size=20),
    st.none() | st.text(max_size=40),
)
def test_any_answer_is_classified_without_another_exception(
    service: Service, status: int, body: bytes, kind: str, retry_after: str | None
) -> None:
    answer = HttpReply(status, kind, retry_after, body)

    outcomes: list[Exception] = []
    for judge in (
        lambda: classify_submission(service, E_NCF, answer, NOW),
        lambda: classify_query(answer, NOW, read_verdict, read_verdict),
        lambda: classify_query(answer, NOW, read_trackings, lambda _: []),
        lambda: classify_token(answer, NOW),
    ):
        try:
            judge()
        except AuthorityError as error:
            json.dumps(error.raw, allow_nan=False).encode()
            outcomes.append(error)
    if not 200 <= status < 500:
        refused = [outcome for outcome in outcomes if isinstance(outcome, AuthorityRefused)]
        assert refused == [], "nothing terminal rests on such a status"
        assert len(outcomes) == 4
