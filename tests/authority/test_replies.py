"""The authority's answers in every documented or observed shape, and in invalid ones."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.authority.bodies import MAX_RAW_BYTES, Body, BodyForm, messages, read_body
from fe.authority.estado import Estado
from fe.authority.replies import (
    Tracking,
    Unreadable,
    read_approval,
    read_receipt,
    read_token,
    read_trackings,
    read_verdict,
    read_verdict_about,
    read_voiding,
)
from fe.authority.services import read_services, read_up, read_windows
from fe.ecf.catalogue import Environment
from fe.identifiers import TrackId
from tests.authority.scripted import NOW, TRACK_ID


def body(content: Any) -> Body:
    return read_body(content if isinstance(content, bytes) else json.dumps(content).encode())


def said(content: Any) -> list[tuple[str, str]]:
    return [(message.codigo, message.valor) for message in messages(body(content))]


# --- Shapes of a body -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"  \r\n", []),
        ("El RNC 1 no está delegado".encode(), [("", "El RNC 1 no está delegado")]),
        ('\ufeff"El RNC 1 no está delegado"'.encode(), [("", "El RNC 1 no está delegado")]),
        (b'"{\\"mensaje\\": \\"dos veces\\"}"', [("", "dos veces")]),
        ({"mensaje": "a"}, [("", "a")]),
        ({"message": "a"}, [("", "a")]),
        ({"error": "a"}, [("", "a")]),
        ({"Message": "a"}, [("", "a")]),
        ({"error": {"code": "x", "message": "a"}}, [("x", "a")]),
        ({"error": True, "mensaje": None}, []),
        ({"mensajes": [{"valor": "a", "codigo": 1}]}, [("1", "a")]),
        ({"mensajes": [{"valor": "a", "codigo": "004"}]}, [("004", "a")]),
        ({"mensajes": {"valor": "a", "codigo": 1}}, [("1", "a")]),
        ({"mensajes": ["a", "b"]}, [("", "a"), ("", "b")]),
        ({"mensajes": "a"}, [("", "a")]),
        ({"mensajes": None}, []),
        ({"mensajes": [{"valor": "", "codigo": 0}]}, [("0", "")]),
        ({"error": "a", "mensaje": "a", "mensajes": ["a"]}, [("", "a")]),
        (["a", {"codigo": 2, "valor": "b"}], [("", "a"), ("2", "b")]),
        (
            {"title": "One or more errors.", "status": 400, "errors": {"xml": ["required", "too long"], "y": ["z"]}},
            [("", "One or more errors."), ("", "required"), ("", "too long"), ("", "z")],
        ),
        (
            b"<html><head><style>p {}</style><title>Error</title></head><body><p>Servicio&nbsp;no disponible</body>",
            [("", "Error Servicio no disponible")],
        ),
        (b"<!DOCTYPE html><html><script>alert(1)</script>x<!-- y --></html>", [("", "x")]),
        (b"<HTML>ERROR:</HTML>", [("", "ERROR:")]),
        (b"<R><mensajes><valor>a</valor><codigo>1</codigo></mensajes></R>", [("1", "a")]),
        (
            b"<R><mensajes><M><valor>a</valor><codigo>1</codigo></M><M><valor>b</valor></M></mensajes></R>",
            [("1", "a"), ("", "b")],
        ),
        (b"<R><mensajes><string>a</string><string>b</string></mensajes></R>", [("", "a"), ("", "b")]),
        (b"<R><mensajes><mensaje>a</mensaje></mensajes></R>", [("", "a")]),
        (b'<string xmlns="urn:x">a</string>', [("", "a")]),
        (b"{broken", [("", "{broken")]),
    ],
)
def test_message_of_any_shape_is_read(content: Any, expected: list[tuple[str, str]]) -> None:
    assert said(content) == expected


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b"", BodyForm.EMPTY),
        (b"{}", BodyForm.DATA),
        (b"<R/>", BodyForm.DATA),
        (b"<html/>", BodyForm.HTML),
        (b'<?xml version="1.0"?><html><body/></html>', BodyForm.HTML),
        (b"<R", BodyForm.TEXT),
        (b'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/hostname">]><R>&e;</R>', BodyForm.TEXT),
        (b'{"a":1,"a":2}', BodyForm.TEXT),
        (b'{"a":NaN}', BodyForm.TEXT),
        (b'{"a":"\\u0000"}', BodyForm.TEXT),
        (b'{"a":' + b"9" * 5000 + b"}", BodyForm.TEXT),
        (b"[" * 5000 + b"]" * 5000, BodyForm.TEXT),
        (b"\xff\xfe{\x00", BodyForm.TEXT),
    ],
)
def test_unstorable_body_is_kept_as_text(content: bytes, form: BodyForm) -> None:
    assert read_body(content).form is form


def test_accents_of_another_encoding_are_read() -> None:
    said = {"codigo": "2", "estado": "Rechazado", "mensajes": [{"valor": "La firma no es válida.", "codigo": 8}]}

    (message,) = read_verdict(read_body(json.dumps(said, ensure_ascii=False).encode("cp1252"))).messages

    assert message.valor == "La firma no es válida."
    assert read_body("no está delegado".encode("latin-1")).value == "no está delegado"


def test_stored_body_is_the_authority_object() -> None:
    content = b'{"codigo":1,"montoTotal":40120.00,"grande":12345678901234567890,"idExtranjero":null,"ok":true,"m":[1]}'

    assert read_body(content).raw == {
        "codigo": 1,
        "montoTotal": "40120.00",
        "grande": "12345678901234567890",
        "idExtranjero": None,
        "ok": True,
        "m": [1],
    }


def test_stored_body_is_an_object_of_bounded_size() -> None:
    assert body("suelto").raw == {"text": "suelto"}
    assert body([1, 2]).raw == {"items": [1, 2]}
    assert body(None).raw == {}
    huge = body({"mensajes": [{"valor": "ñ" * 1900}] * 30}).raw
    assert huge["truncated"] is True
    assert len(json.dumps(huge, ensure_ascii=False).encode()) < MAX_RAW_BYTES


NAMES = (
    "trackId codigo estado encf eNCF mensajes mensaje error errors valor token expira expedido secuenciaUtilizada "
    "estatus ambiente ventanaMantenimientos dias horaInicio title"
)
names = st.sampled_from(NAMES.split())
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | names, inner),
    max_leaves=20,
)
shapes = st.dictionaries(names, json_values | st.sampled_from(["Aceptado", "Rechazado", "01", "x-1", True, 2]))
contents = st.binary() | st.one_of(json_values, shapes, st.lists(shapes)).map(lambda value: json.dumps(value).encode())

READERS: list[Callable[[Body], object]] = [
    read_receipt,
    read_verdict,
    read_approval,
    read_voiding,
    read_trackings,
    read_services,
    read_up,
    read_windows,
    lambda each: read_token(each, NOW),
    lambda each: read_verdict_about(each, e_ncf="E310000000001", track_id=TRACK_ID),
]


@given(contents)
def test_no_body_breaks_a_reader_and_whatever_is_kept_can_be_stored(content: bytes) -> None:
    read = read_body(content)

    for reader in READERS:
        try:
            reader(read)
        except Unreadable as unreadable:
            storable(unreadable.raw)
    for message in messages(read):
        storable({"codigo": message.codigo, "valor": message.valor})
        assert len(message.valor) <= 2000
    storable(read.raw)


def storable(raw: dict[str, Any]) -> None:
    """Whether Postgres takes it as jsonb: no NaN, no NUL, and `encode` refuses lone surrogates."""
    written = json.dumps(raw, ensure_ascii=False, allow_nan=False)
    assert "\\u0000" not in written.replace("\\\\", "")
    assert len(written.encode()) <= MAX_RAW_BYTES


# --- Documents --------------------------------------------------------------------------------------------------------


def test_the_live_and_the_documented_verdict_say_the_same() -> None:
    live = (
        b'{"trackId":"d2b6","codigo":"4","estado":"Aceptado Condicional","rnc":"131880738","encf":"E310005000201",'
        b'"secuenciaUtilizada":true,"fechaRecepcion":"8/15/2023 6:06:57 AM","mensajes":[{"valor":"x","codigo":3205}]}'
    )
    documented = (
        b'{"trackId":"d2b6","codigo":4,"estado":"Aceptado Condicional","rnc":"131880738","eNCF":"E310005000201",'
        b'"secuenciaUtilizada":true,"fechaRecepcion":"8/15/2023 6:06:57 AM","mensajes":[{"valor":"x","codigo":"3205"}]}'
    )
    xml = (
        b"<RespuestaConsultaTrackId><trackId>d2b6</trackId><codigo>4</codigo><estado>Aceptado Condicional</estado>"
        b"<rnc>131880738</rnc><encf>E310005000201</encf><secuenciaUtilizada>true</secuenciaUtilizada>"
        b"<fechaRecepcion>8/15/2023 6:06:57 AM</fechaRecepcion><mensajes><valor>x</valor><codigo>3205</codigo>"
        b"</mensajes></RespuestaConsultaTrackId>"
    )

    verdicts = [read_verdict(body(content)) for content in (live, documented, xml)]

    for verdict in verdicts:
        assert verdict.estado is Estado.CONDITIONAL
        assert (verdict.track_id, verdict.e_ncf, verdict.number_used) == ("d2b6", "E310005000201", True)
        assert verdict.received_at == "8/15/2023 6:06:57 AM"
        assert [(message.number, message.valor) for message in verdict.messages] == [(3205, "x")]


@pytest.mark.parametrize(
    ("content", "estado"),
    [
        ({"codigo": 0}, Estado.NOT_FOUND),
        ({"codigo": "1"}, Estado.ACCEPTED),
        ({"codigo": "01"}, Estado.ACCEPTED),
        ({"codigo": 2.0}, Estado.REJECTED),
        ({"codigo": " 3 "}, Estado.PROCESSING),
        ({"estado": "ACEPTADO CONDICIONAL"}, Estado.CONDITIONAL),
        ({"estado": "Aceptado  condicional."}, Estado.CONDITIONAL),
        ({"estado": "En proceso", "codigo": 99}, Estado.PROCESSING),
        ([{"codigo": 1, "estado": "Aceptado"}], Estado.ACCEPTED),
    ],
)
def test_state_is_read_by_word_or_number(content: Any, estado: Estado) -> None:
    assert read_verdict(body(content)).estado is estado


@pytest.mark.parametrize(
    "told", [{"codigo": 3, "valor": "El eNCF ya fue utilizado."}, {"codigo": 4, "valor": "favor intentar nueva vez"}]
)
def test_array_of_one_answer_is_read_as_the_answer(told: dict[str, Any]) -> None:
    answer = {
        "codigo": "2",
        "estado": "Rechazado",
        "encf": "E310000000001",
        "codigoSeguridad": "AbC1+/",
        "secuenciaUtilizada": True,
        "mensajes": [told],
    }

    alone, wrapped = read_verdict(body(answer)), read_verdict(body([answer]))

    assert wrapped == alone
    assert (wrapped.duplicate, wrapped.try_again) == (told["codigo"] == 3, told["codigo"] == 4)
    assert messages(body([answer])) == messages(body(answer))


@pytest.mark.parametrize(
    "content",
    [
        {"codigo": 1, "estado": "Rechazado"},
        {"codigo": 1, "estado": "Anulado"},
        {"codigo": True},
        {"codigo": 5},
        {"codigo": "uno"},
        {"codigo": 1.5},
        {"estado": None},
        [{"codigo": 1}, {"codigo": 2}],
        [],
        "Aceptado",
        b"Aceptado",
        b"<html>Aceptado</html>",
        b"<Otra><estado>Aceptado</estado></Otra>",
    ],
)
def test_a_verdict_is_never_guessed(content: Any) -> None:
    with pytest.raises(Unreadable):
        read_verdict(body(content))


@pytest.mark.parametrize(
    ("written", "used"), [(True, True), (False, False), ("true", True), ("False", False), (None, None), ("sí", None)]
)
def test_whether_the_number_is_used_is_known_or_not(written: Any, used: bool | None) -> None:
    assert read_verdict(body({"codigo": 2, "secuenciaUtilizada": written})).number_used is used


def test_authority_breakdown_is_recognised_by_its_text() -> None:
    broke_down = {"codigo": "004", "valor": "Ha ocurrido un error validando en eCF, favor intentar nueva vez."}
    exhausted = {"codigo": 4, "valor": "Secuencia agotada"}

    verdicts = [
        read_verdict(body({"codigo": 2, "encf": None, "mensajes": [remark]})) for remark in (broke_down, exhausted)
    ]

    assert [verdict.try_again for verdict in verdicts] == [True, False]


@pytest.mark.parametrize(
    ("content", "estado"),
    [
        ({"mensaje": ["x"], "estado": "Aprobación Comercial Aprobada.", "codigo": "01"}, Estado.ACCEPTED),
        ({"mensaje": ["x"], "estado": "Aprobacion Comercial Rechazada.", "codigo": "02"}, Estado.REJECTED),
        ({"mensaje": [], "estado": "Aprobación Comercial Aprobada.", "codigo": None}, Estado.ACCEPTED),
        ({"codigo": 2}, Estado.REJECTED),
        ({"rnc": "131880738", "codigo": 1, "nombre": "Rango anulado", "mensajes": ["x"]}, Estado.ACCEPTED),
        (
            b"<RespuestaAprobacionComercial><mensaje><string>x</string></mensaje><estado>y</estado><codigo>02</codigo>"
            b"</RespuestaAprobacionComercial>",
            Estado.REJECTED,
        ),
    ],
)
def test_an_approval_is_compared_as_a_number(content: Any, estado: Estado) -> None:
    assert read_approval(body(content)).estado is estado


VOIDED = "Las secuencias fueron anuladas correctamente."
BUT_SOME = "Las secuencias fueron anuladas correctamente. Con excepción de las secuencias del detalle"
USED = "Las secuencias que está intentando anular han sido utilizadas"


@pytest.mark.parametrize(
    ("content", "estado"),
    [
        # The codes of this service are not published, its words are.
        ({"codigo": "200", "nombre": VOIDED, "mensajes": []}, Estado.ACCEPTED),
        ({"codigo": None, "nombre": "Anulación", "mensajes": [VOIDED]}, Estado.ACCEPTED),
        ({"codigo": "01", "nombre": BUT_SOME, "mensajes": ["E310000000005"]}, Estado.CONDITIONAL),
        ({"codigo": "206", "nombre": BUT_SOME, "mensajes": [USED]}, Estado.CONDITIONAL),
        ({"codigo": "0", "nombre": USED, "mensajes": []}, Estado.REJECTED),
        ({"codigo": "3", "nombre": "No fue posible anular las siguientes secuencias"}, Estado.REJECTED),
        ({"codigo": "3", "nombre": "El tipo de comprobante no es válido"}, Estado.REJECTED),
        ({"codigo": 1, "nombre": "Rango anulado", "mensajes": ["x"]}, Estado.ACCEPTED),
        ({"codigo": "02", "nombre": "Anulación rechazada.", "mensajes": ["x"]}, Estado.REJECTED),
    ],
)
def test_a_voiding_is_read_by_its_words(content: Any, estado: Estado) -> None:
    assert read_voiding(body(content)).estado is estado


@pytest.mark.parametrize(
    "content",
    [
        {"codigo": 2, "nombre": VOIDED},
        {"codigo": 1, "nombre": USED},
        {"codigo": "0", "nombre": "Ha ocurrido una excepción", "mensajes": []},
        {"codigo": "0", "nombre": "Las secuencias fueron recibidas", "mensajes": []},
    ],
)
def test_contradictory_or_empty_voiding_is_unreadable(content: Any) -> None:
    with pytest.raises(Unreadable):
        read_voiding(body(content))


ONE = {"trackId": "a-1", "estado": "Aceptado", "fechaRecepcion": "8/15/2023 6:06:57 AM"}


@pytest.mark.parametrize(
    "content",
    [
        [ONE],
        ONE,
        b"<TrackingDetalle><trackId>a-1</trackId><estado>Aceptado</estado>"
        b"<fechaRecepcion>8/15/2023 6:06:57 AM</fechaRecepcion></TrackingDetalle>",
        b"<ArrayOfTrackingDetalle><TrackingDetalle><trackId>a-1</trackId><estado>Aceptado</estado>"
        b"<fechaRecepcion>8/15/2023 6:06:57 AM</fechaRecepcion></TrackingDetalle></ArrayOfTrackingDetalle>",
    ],
)
def test_one_track_id_may_come_as_an_array_or_alone(content: Any) -> None:
    assert read_trackings(body(content)) == [Tracking(TrackId("a-1"), Estado.ACCEPTED, "8/15/2023 6:06:57 AM")]


def test_two_track_ids_in_xml_are_two() -> None:
    two = b"".join(b"<TrackingDetalle><trackId>%d</trackId></TrackingDetalle>" % number for number in (1, 2))

    found = read_trackings(read_body(b"<ArrayOfTrackingDetalle>" + two + b"</ArrayOfTrackingDetalle>"))

    assert found == [Tracking(TrackId("1"), None, None), Tracking(TrackId("2"), None, None)]


@pytest.mark.parametrize("content", [b"", {}, [{}], [ONE, {"trackId": None}], [1], "x", b"<html>x</html>"])
def test_a_list_of_track_ids_that_cannot_be_read_is_not_an_empty_one(content: Any) -> None:
    with pytest.raises(Unreadable):
        read_trackings(body(content))


# --- Sessions and services --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dates", "seconds"),
    [
        ({"expedido": "2026-11-06T14:15:30Z", "expira": "2026-11-06T15:15:30Z"}, 3600),
        ({"expedido": "2001-01-01T00:00:00Z", "expira": "2001-01-01T00:30:00Z"}, 1800),
        ({"expedido": "2026-11-06T14:15:30.1234567-04:00", "expira": "2026-11-06T15:15:30.1234567-04:00"}, 3600),
        ({"expira": "2026-11-06T14:25:30Z"}, 600),
        ({"expira": "2026-11-06T14:25:30"}, 600),
        ({"expira": "2026-11-06T14:00:00Z"}, 300),
        ({"expira": "pronto"}, 300),
        ({}, 300),
        ({"expedido": "2026-11-06T14:15:30Z", "expira": "9999-12-31T23:59:59Z"}, 43200),
    ],
)
def test_token_lifetime_follows_the_authority_clock(dates: dict[str, str], seconds: int) -> None:
    granted = read_token(body({"token": "a.b-c_d", **dates}), NOW)

    assert (granted.token, granted.lifetime) == ("a.b-c_d", timedelta(seconds=seconds))
    assert "a.b-c_d" not in repr(granted)


def test_a_token_may_come_in_xml() -> None:
    granted = read_token(
        read_body(
            b"<RespuestaAutenticacion><token>a.b.c</token><expira>2026-11-06T15:15:30Z</expira>"
            b"<expedido>2026-11-06T14:15:30Z</expedido></RespuestaAutenticacion>"
        ),
        NOW,
    )

    assert (granted.token, granted.lifetime) == ("a.b.c", timedelta(hours=1))


def test_services_are_read_by_their_names() -> None:
    services = read_services(
        body(
            [
                {"servicio": "Autenticación", "estatus": "Disponible", "ambiente": "Produccion"},
                {"servicio": "Recepción FC", "estatus": "No Disponible", "ambiente": "PreCertificacion"},
                {"servicio": "Otro", "estatus": "DISPONIBLE", "ambiente": "Marte"},
            ]
        )
    )

    assert [(each.service, each.available, each.environment) for each in services] == [
        ("Autenticación", True, Environment.ECF),
        ("Recepción FC", False, Environment.TESTECF),
        ("Otro", True, None),
    ]


def test_a_window_is_read_for_each_of_its_days() -> None:
    windows = read_windows(
        body(
            {
                "ventanaMantenimientos": [
                    {
                        "ambiente": "Certificación",
                        "horaInicio": "9:00 AM",
                        "horaFin": "12:00 PM",
                        "dias": ["06-08-2020", "07-08-2020"],
                    },
                    {"ambiente": "ecf", "horaInicio": "12:30 AM", "horaFin": "12:15 a. m.", "dias": "31-12-2026"},
                ]
            }
        )
    )

    assert [(each.environment, each.starts.isoformat(), each.ends.isoformat()) for each in windows] == [
        (Environment.CERTECF, "2020-08-06T09:00:00-04:00", "2020-08-06T12:00:00-04:00"),
        (Environment.CERTECF, "2020-08-07T09:00:00-04:00", "2020-08-07T12:00:00-04:00"),
        (Environment.ECF, "2026-12-31T00:30:00-04:00", "2027-01-01T00:15:00-04:00"),
    ]


@pytest.mark.parametrize(
    "change",
    [{"dias": ["31-02-2026"]}, {"dias": None}, {"horaInicio": "25:00 AM"}, {"horaFin": "9 AM"}, {"dias": [[]]}],
)
def test_a_window_that_cannot_be_read_is_not_skipped(change: dict[str, Any]) -> None:
    window = {"ambiente": "ecf", "horaInicio": "9:00 AM", "horaFin": "12:00 PM", "dias": ["06-08-2020"], **change}

    with pytest.raises(Unreadable):
        read_windows(body({"ventanaMantenimientos": [window]}))
