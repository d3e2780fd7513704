"""Documents and queries over real sockets: the sent bytes, the meaning of answers, the result of each kind of fault."""

import socket
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
import trio
import trio.testing

from fe.authority.bodies import MAX_MESSAGES
from fe.authority.client import Authority, LastLook, Outgoing
from fe.authority.errors import (
    AuthorityError,
    AuthorityRefused,
    ForeignAnswer,
    NotDelegated,
    OutcomeUnknown,
    Unavailable,
)
from fe.authority.estado import Estado
from fe.authority.hosts import Host, Hosts
from fe.authority.replies import Receipt, Verdict
from fe.ecf.catalogue import Environment, Service
from fe.egress.answer import MAX_ANSWER, MAX_BODY
from tests.authority.scripted import (
    NOW,
    PATIENT,
    QUICK,
    RECEPCION,
    RECEPCION_FC,
    SEED,
    SEMILLA,
    TRACK_ID,
    VALIDAR,
    Heard,
    Step,
    Stream,
    client,
    collector,
    document,
    hang,
    hang_up,
    http,
    in_a_hurry,
    in_turn,
    owner,
    pause,
    raw,
    reset,
    say,
    scripted,
    session,
    tell,
    wait_for,
)
from tests.ports import free_port

TEST = Environment.TESTECF
ACCEPTED = {"codigo": 1, "estado": "Aceptado", "encf": "E320000000001", "secuenciaUtilizada": True, "mensajes": []}


# --- The road ---------------------------------------------------------------------------------------------------------


async def test_document_is_sent_by_the_protocol_and_returns_a_receipt() -> None:
    async with scripted() as server:
        authority = client(server)

        answer = await authority.submit(document(xml="<ECF>ñ</ECF>".encode()), owner())

        assert answer == Receipt(TRACK_ID, {"trackId": TRACK_ID, "error": None, "mensaje": None})
        heard = server.last(RECEPCION)
        assert (heard.method, heard.path) == ("POST", f"testecf/{RECEPCION}")
        assert heard.headers["authorization"] == "Bearer a.b.c"
        assert heard.headers["accept-encoding"] == "identity"
        assert heard.headers["accept"] == "application/json"
        assert int(heard.headers["content-length"]) == len(heard.body)
        assert "transfer-encoding" not in heard.headers
        boundary = heard.headers["content-type"].removeprefix("multipart/form-data; boundary=")
        assert (
            heard.body
            == (
                f'--{boundary}\r\nContent-Disposition: form-data; name="xml"; filename="131880738E310000000001.xml"\r\n'
                f"Content-Type: text/xml\r\n\r\n<ECF>ñ</ECF>\r\n--{boundary}--\r\n"
            ).encode()
        )


async def test_one_session_and_one_connection_serve_many_documents() -> None:
    async with scripted() as server:
        authority = client(server)

        for number in range(1, 11):
            await authority.submit(document(number), owner())

        assert (server.count(SEMILLA), server.count(VALIDAR), server.count(RECEPCION)) == (1, 1, 10)
        assert server.connections == 1


async def test_many_senders_share_a_bounded_number_of_connections() -> None:
    async with scripted() as server:
        authority = client(server, connections=4)

        async with trio.open_nursery() as nursery:
            for number in range(1, 41):
                nursery.start_soon(authority.submit, document(number), owner())

        assert server.count(RECEPCION) == 40
        assert server.count(SEMILLA) == 1
        assert server.connections <= 4


async def test_a_full_lane_is_unavailable_and_other_environments_are_not_held_up() -> None:
    async with scripted() as server:
        authority = client(server, connections=1, timeouts=replace(PATIENT, queue=0.3))
        await authority.submit(document(1), owner())
        await authority.submit(document(1, environment=Environment.ECF), owner())
        arrived = trio.Event()
        server.then(RECEPCION, in_turn(tell(arrived), hang))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(authority.submit, document(2), owner())
            await arrived.wait()

            with pytest.raises(Unavailable, match="no connection became free"):
                await authority.submit(document(3), owner())
            answer = await authority.submit(document(4, environment=Environment.ECF), owner())

            assert isinstance(answer, Receipt)
            nursery.cancel_scope.cancel()


async def test_the_last_check_before_sending_can_call_the_sending_off() -> None:
    class LeaseLost(Exception):
        pass

    async def lost() -> None:
        raise LeaseLost

    async with scripted() as server:
        authority = client(server)

        with pytest.raises(LeaseLost):
            await authority.submit(document(), owner(), before_send=lost)

        assert server.count(RECEPCION) == 0
        assert isinstance(await authority.submit(document(), owner()), Receipt)
        assert server.connections == 1, "the connection was not touched and serves again"


async def test_last_check_can_cancel_the_sending() -> None:
    class TooLate(Exception):
        pass

    def look() -> None:
        raise TooLate

    async def before_send() -> LastLook:
        return look

    async with scripted() as server:
        authority = client(server)

        with pytest.raises(TooLate):
            await authority.submit(document(), owner(), before_send=before_send)

        assert server.count(RECEPCION) == 0
        assert isinstance(await authority.submit(document(), owner()), Receipt)


async def test_a_file_name_that_would_break_the_header_is_the_callers_fault() -> None:
    async with scripted() as server:
        authority = client(server)

        with pytest.raises(ValueError, match="not a file name"):
            await authority.submit(Outgoing(TEST, Service.RECEPTION, 'a".xml', b"<ECF/>"), owner())

        assert server.connections == 0


# --- Faults of the connection -----------------------------------------------------------------------------------------


async def test_a_refused_connection_is_unavailable() -> None:
    authority = Authority(Hosts.all_at(f"http://127.0.0.1:{free_port()}"), clock=lambda: NOW, timeouts=PATIENT)

    with pytest.raises(Unavailable, match="Connection refused"):
        await authority.submit(document(), owner())


async def test_a_refused_connection_after_a_session_is_unavailable_and_sends_nothing() -> None:
    async with scripted() as server:
        hosts = Hosts(ecf=server.url, fc=f"http://127.0.0.1:{free_port()}")
        authority = client(server, hosts=hosts)

        with pytest.raises(Unavailable, match="Connection refused"):
            await authority.submit(document(service=Service.SUMMARY_RECEPTION), owner())

        assert server.count(VALIDAR) == 1


async def test_a_connection_that_is_never_accepted_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        crowd = []
        for _ in range(4):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            crowd.append(one)
        authority = Authority(Hosts.all_at(f"http://127.0.0.1:{port}"), clock=lambda: NOW, timeouts=QUICK)

        with pytest.raises(Unavailable, match=r"cannot connect to .* within 1 s"):
            await authority.submit(document(), owner())

        for one in crowd:
            one.close()


async def test_a_name_that_does_not_exist_is_unavailable() -> None:
    authority = Authority(Hosts.all_at("https://authority.invalid"), clock=lambda: NOW)

    with pytest.raises(Unavailable, match=r"cannot connect to authority\.invalid"):
        await authority.submit(document(), owner())


HALF = http(b'{"trackId":"d2b6e27c-3908"}')[:-5]
WITHOUT_ANSWER: dict[str, tuple[Step, str]] = {
    "closed": (hang_up, "closed without an answer"),
    "reset": (reset, "reset"),
    "half a head": (raw(b"HTTP/1.1 200 OK\r\nContent-Le", then_close=True), "closed without an answer"),
    "half a body": (raw(HALF, then_close=True), "breaks off"),
    "half a body, then reset": (in_turn(raw(HALF), reset), "reset"),
    "silence": (hang, "no complete answer within"),
    "half a body, then silence": (in_turn(raw(HALF), hang), "no complete answer within"),
    "not HTTP": (raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n", then_close=True), "not HTTP"),
    "an endless body": (
        raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + b" " * (2 * MAX_BODY), then_close=True),
        f"larger than {MAX_BODY} bytes",
    ),
    "an endless head": (raw(b"HTTP/1.1 200 OK\r\n" + b"X-Filler: 1234567890\r\n" * 5_000, then_close=True), "not HTTP"),
    "a flood of interim answers": (
        raw(b"HTTP/1.1 100 Continue\r\n\r\n" * (MAX_ANSWER // 20), then_close=True),
        "does not end",
    ),
    "another protocol": (
        raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
        "not HTTP",
    ),
}


@pytest.mark.parametrize(("step", "reason"), WITHOUT_ANSWER.values(), ids=WITHOUT_ANSWER.keys())
async def test_a_document_without_a_whole_answer_is_an_unknown_outcome_and_its_connection_is_gone(
    step: Step, reason: str
) -> None:
    async with scripted() as server:
        authority = client(server)
        await authority.submit(document(1), owner())
        server.then(RECEPCION, step)

        with patience(authority, reason), pytest.raises(OutcomeUnknown, match=reason):
            await authority.submit(document(2), owner())

        assert isinstance(await authority.submit(document(3), owner()), Receipt)
        assert (server.count(RECEPCION), server.connections) == (3, 2)


@pytest.mark.parametrize(("step", "reason"), WITHOUT_ANSWER.values(), ids=WITHOUT_ANSWER.keys())
async def test_a_question_without_a_whole_answer_is_unavailable(step: Step, reason: str) -> None:
    async with scripted() as server:
        authority = client(server)
        await authority.submit(document(), owner())  # there is a session
        server.then("consultaresultado/api/consultas/estado", step)

        with patience(authority, reason), pytest.raises(Unavailable, match=reason):
            await authority.result(TEST, TRACK_ID, owner())


async def test_a_document_that_is_not_read_is_an_unknown_outcome() -> None:
    async with scripted() as server:
        authority = client(server)
        await authority.submit(document(1), owner())
        server.ignore_body(RECEPCION)
        server.then(RECEPCION, hang)

        with trio.fail_after(60), in_a_hurry(authority), pytest.raises(OutcomeUnknown, match=r"within 1 s"):
            await authority.submit(document(2, xml=b"<ECF>" + b" " * 8_000_000 + b"</ECF>"), owner())


async def test_a_connection_that_breaks_while_a_document_is_written_is_an_unknown_outcome() -> None:
    async with scripted() as server:
        authority = client(server)
        await authority.submit(document(1), owner())
        server.ignore_body(RECEPCION)
        server.then(RECEPCION, reset)

        with pytest.raises(OutcomeUnknown):
            await authority.submit(document(2, xml=b"<ECF>" + b" " * 8_000_000 + b"</ECF>"), owner())


async def test_an_answer_given_before_the_document_was_read_to_its_end_is_heard() -> None:
    async with scripted() as server:
        authority = client(server)
        server.ignore_body(RECEPCION)
        server.then(
            RECEPCION, in_turn(say(b"", status=401), hang_up), in_turn(say({"mensaje": "muy grande"}, 400), hang_up)
        )

        with pytest.raises(AuthorityRefused) as caught:
            await authority.submit(document(xml=b" " * 8_000_000), owner())

        assert caught.value.raw == {"mensaje": "muy grande"}
        assert isinstance(await authority.submit(document(2), owner()), Receipt)


async def test_late_answer_is_not_taken_for_the_next() -> None:
    async with scripted() as server:
        authority = client(server)
        await authority.submit(document(1), owner())
        gave_up, said = trio.Event(), trio.Event()

        async def say_late(stream: Stream, heard: Heard) -> bool:
            await gave_up.wait()
            with suppress(trio.BrokenResourceError):
                await say({"trackId": "late"})(stream, heard)
            said.set()
            return True

        server.then(RECEPCION, say_late, say({"trackId": "own"}))

        with in_a_hurry(authority), pytest.raises(OutcomeUnknown, match=r"no complete answer within 1 s"):
            await authority.submit(document(2), owner())
        gave_up.set()
        await said.wait()
        answer = await authority.submit(document(3), owner())

        assert isinstance(answer, Receipt)
        assert answer.track_id == "own"


async def test_a_second_answer_to_one_request_is_never_taken_for_anothers() -> None:
    twice = http(b'{"trackId":"first"}') + http(b'{"trackId":"surplus"}')
    one, surplus = raw(http(b'{"trackId":"first"}')), raw(http(b'{"trackId":"surplus"}'))
    for at_once in (True, False):
        taken, sent = trio.Event(), trio.Event()
        step = raw(twice) if at_once else in_turn(one, wait_for(taken), surplus)
        async with scripted() as server:
            authority = client(server)
            server.then(RECEPCION, in_turn(step, tell(sent)), say({"trackId": "second"}))

            first = await authority.submit(document(1), owner())
            taken.set()
            await sent.wait()
            second = await authority.submit(document(2), owner())

            assert [answer.track_id for answer in (first, second)] == ["first", "second"]


async def test_a_connection_the_authority_closed_meanwhile_is_not_used() -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(RECEPCION, in_turn(say({"trackId": "first"}), hang_up))
        await authority.submit(document(1), owner())
        await server.closed[server.heard[-1].connection].wait()

        answer = await authority.submit(document(2), owner())

        assert isinstance(answer, Receipt)
        assert server.connections == 2


async def test_closed_connection_is_replaced() -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(RECEPCION, say({"trackId": "first"}, Connection="close"))

        await authority.submit(document(1), owner())
        await authority.submit(document(2), owner())

        assert (server.count(RECEPCION), server.connections) == (2, 2)


# --- Cancellation -----------------------------------------------------------------------------------------------------


async def test_cancelled_while_it_waits_for_the_answer_it_leaves_nothing_behind() -> None:
    seen, observe = collector()
    async with scripted() as server:
        authority = client(server, observe=observe, connections=1)
        await authority.submit(document(1), owner())
        arrived = trio.Event()
        server.then(RECEPCION, in_turn(tell(arrived), hang))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(authority.submit, document(2), owner())
            await arrived.wait()
            nursery.cancel_scope.cancel()

        assert seen[-1] == ("reception", "testecf", "ecf", "cancelled")
        assert isinstance(await authority.submit(document(3), owner()), Receipt)
        assert server.connections == 2


async def test_cancelled_while_it_writes_it_leaves_nothing_behind() -> None:
    async with scripted() as server:
        authority = client(server, connections=1)
        await authority.submit(document(1), owner())
        server.ignore_body(RECEPCION)
        arrived = trio.Event()
        server.then(RECEPCION, in_turn(tell(arrived), hang))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(authority.submit, document(2, xml=b" " * 8_000_000), owner())
            await arrived.wait()
            nursery.cancel_scope.cancel()

        assert isinstance(await authority.submit(document(3), owner()), Receipt)


async def test_cancelled_while_it_connects_it_leaves_nothing_behind() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        crowd = [socket.socket() for _ in range(4)]
        for one in crowd:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        authority = Authority(Hosts.all_at(f"http://127.0.0.1:{port}"), clock=lambda: NOW, connections=1)

        with trio.move_on_after(0.1) as scope:
            await authority.submit(document(), owner())

        assert scope.cancelled_caught
        for one in crowd:
            one.close()
    with pytest.raises(Unavailable, match="Connection refused"):  # and not "no connection became free"
        await authority.submit(document(), owner())


async def test_cancelled_before_the_first_byte_it_has_sent_nothing() -> None:
    async with scripted() as server:
        authority = client(server, connections=1)
        reached = trio.Event()

        async def wait_for_ever() -> None:
            reached.set()
            await trio.sleep_forever()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(authority.submit, document(), owner(), before_send=wait_for_ever))
            await reached.wait()
            nursery.cancel_scope.cancel()

        assert server.count(RECEPCION) == 0
        assert isinstance(await authority.submit(document(), owner()), Receipt)
        assert server.connections == 1


async def test_closed_it_keeps_no_connection() -> None:
    async with scripted() as server:
        authority = client(server)
        await authority.submit(document(1), owner())

        authority.close()
        await trio.testing.wait_all_tasks_blocked(0.05)

        assert server.open == 0


async def test_closed_in_the_middle_of_an_exchange_it_ends_that_one_and_keeps_no_connection() -> None:
    async with scripted() as server:
        authority = client(server)
        arrived = trio.Event()
        server.then(RECEPCION, in_turn(tell(arrived), pause(0.1), say({"trackId": "own"})))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(authority.submit, document(1), owner())
            await arrived.wait()

            authority.close()

        await trio.testing.wait_all_tasks_blocked(0.05)
        assert server.open == 0


# --- Sessions in the middle -------------------------------------------------------------------------------------------


async def test_a_401_brings_a_new_session_and_one_more_try() -> None:
    seen, observe = collector()
    async with scripted() as server:
        authority = client(server, observe=observe)
        server.then(VALIDAR, session("first"), session("second"))
        server.then(RECEPCION, say(b"", status=401, content_type=None))
        sends = []

        async def before_send() -> None:
            sends.append(server.count(RECEPCION))

        answer = await authority.submit(document(), owner(), before_send=before_send)

        assert isinstance(answer, Receipt)
        assert server.last(RECEPCION).headers["authorization"] == "Bearer second"
        assert sends == [0, 1], "the last check is made before each sending"
        assert [outcome for operation, _, _, outcome in seen if operation == "reception"] == ["unauthorised", "ok"]


async def test_a_second_401_is_unavailable() -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(RECEPCION, *[say({"mensaje": "token"}, status=401)] * 2)

        with pytest.raises(Unavailable, match="401") as caught:
            await authority.submit(document(), owner())

        assert caught.value.raw == {"mensaje": "token"}
        assert server.count(RECEPCION) == 2


async def test_no_session_means_that_nothing_was_sent() -> None:
    for step, error in (
        (say(b"<html>ERROR:</html>", status=400, content_type="text/html"), Unavailable),
        (say("El RNC 1 del certificado no está delegado para realizar transaciones.", status=400), NotDelegated),
        (say(b"Firma del certificado invalida", status=400, content_type="text/plain"), AuthorityRefused),
        (reset, Unavailable),
        (say(b"", status=503, Retry_After="7"), Unavailable),
    ):
        async with scripted() as server:
            authority = client(server)
            server.then(VALIDAR, step)

            with pytest.raises(AuthorityError) as caught:
                await authority.submit(document(), owner())

            assert type(caught.value) is error
            assert server.count(RECEPCION) == 0


# --- Questions --------------------------------------------------------------------------------------------------------


async def test_the_result_is_asked_by_track_id() -> None:
    path = "consultaresultado/api/consultas/estado"
    async with scripted() as server:
        authority = client(server)
        server.then(
            path,
            say(
                b'{"trackId":"D2B6E27C-3908-46F3-AFAA-2207B9501B4B","codigo":"1","estado":"Aceptado","rnc":"131880738",'
                b'"encf":"E310005000201","secuenciaUtilizada":true,"fechaRecepcion":"8/15/2023 6:06:57 AM",'
                b'"mensajes":[{"valor":"","codigo":0}]}'
            ),
        )

        verdict = await authority.result(TEST, TRACK_ID, owner(), e_ncf="E310005000201")

        assert server.last(path).query == f"trackid={TRACK_ID}"
        assert (verdict.estado, verdict.e_ncf, verdict.number_used) == (Estado.ACCEPTED, "E310005000201", True)
        assert verdict.received_at == "8/15/2023 6:06:57 AM"
        assert [(message.codigo, message.valor) for message in verdict.messages] == [("0", "")]


async def test_an_unknown_track_id_is_a_verdict() -> None:
    path = "consultaresultado/api/consultas/estado"
    async with scripted() as server:
        authority = client(server)
        server.then(
            path,
            say({"trackId": TRACK_ID, "codigo": 0, "estado": "No encontrado"}),
            say({"codigo": "0", "estado": "No encontrado"}, status=404),
            say("TrackId no encontrado.", status=400),
        )

        for _ in range(3):
            assert (await authority.result(TEST, TRACK_ID, owner())).estado is Estado.NOT_FOUND


async def test_a_result_about_another_document_is_not_believed() -> None:
    path = "consultaresultado/api/consultas/estado"
    async with scripted() as server:
        authority = client(server)
        server.then(
            path,
            say({"trackId": "another", "codigo": 1, "estado": "Aceptado"}),
            say({"trackId": TRACK_ID, "codigo": 1, "estado": "Aceptado", "encf": "E310000000009"}),
        )

        for _ in range(2):
            with pytest.raises(ForeignAnswer, match="another document"):
                await authority.result(TEST, TRACK_ID, owner(), e_ncf="E310000000001")


async def test_all_track_ids_of_a_number_are_found() -> None:
    path = "consultatrackids/api/trackids/consulta"
    one = {"trackId": TRACK_ID, "estado": "Rechazado", "fechaRecepcion": "x"}
    async with scripted() as server:
        authority = client(server)
        server.then(
            path,
            say([one, {**one, "trackId": "b"}]),
            say(one),
            say({"estado": "TrackId no encontrado."}, status=404),
            say([]),
        )
        answers = [await authority.track_ids(TEST, "131880738", "E310000000001", owner()) for _ in range(4)]

        assert server.last(path).query == "rncemisor=131880738&encf=E310000000001"
        assert [[each.track_id for each in answer] for answer in answers] == [[TRACK_ID, "b"], [TRACK_ID], [], []]
        assert answers[0][0].estado is Estado.REJECTED


async def test_state_is_queried_by_number_with_the_known_values() -> None:
    path = "consultaestado/api/consultas/estado"
    found = {"codigo": 1, "estado": "Aceptado", "ncfElectronico": "E310000000001", "montoTotal": 40120.00}
    async with scripted() as server:
        authority = client(server)
        server.then(
            path,
            say(found),
            say({"codigo": 0, "estado": "No encontrado"}),
            say("Comprobante no encontrado", status=404),
        )

        verdict = await authority.state(TEST, "131880738", "E310000000001", owner(), security_code="AbC1+/")
        missing = await authority.state(TEST, "131880738", "E310000000001", owner(), buyer_rnc="101")
        gone = await authority.state(TEST, "131880738", "E310000000001", owner())

        queries = [heard.query for heard in server.heard if heard.path.endswith(path)]
        assert queries == [
            "rncemisor=131880738&ncfelectronico=E310000000001&codigoseguridad=AbC1%2B%2F",
            "rncemisor=131880738&ncfelectronico=E310000000001&rnccomprador=101",
            "rncemisor=131880738&ncfelectronico=E310000000001",
        ]
        assert isinstance(verdict, Verdict)
        assert verdict.raw["montoTotal"] == "40120.0"
        assert (missing, gone) == (None, None)


async def test_the_state_of_a_summary_is_asked_on_its_own_host() -> None:
    path = "consultarfce/api/Consultas/Consulta"
    async with scripted() as ecf, scripted() as fc:
        authority = client(ecf, hosts=Hosts(ecf=ecf.url, fc=fc.url))
        fc.then(path, say({**ACCEPTED, "rnc": "131880738", "codigo": "1"}))

        verdict = await authority.summary_state(TEST, "131880738", "E320000000001", "AbC1+/", owner())

        assert fc.last(path).query == "RNC_Emisor=131880738&ENCF=E320000000001&Cod_Seguridad_eCF=AbC1%2B%2F"
        assert isinstance(verdict, Verdict)
        assert verdict.estado is Estado.ACCEPTED


async def test_refused_query_has_its_reason() -> None:
    async with scripted() as server:
        authority = client(server)
        server.then("consultatrackids/api/trackids/consulta", say({"mensaje": "El RNC es requerido"}, status=400))

        with pytest.raises(AuthorityRefused) as caught:
            await authority.track_ids(TEST, "1", "E310000000001", owner())

        assert [message.valor for message in caught.value.messages] == ["El RNC es requerido"]


async def test_the_status_service_is_asked_with_its_own_key_and_no_session() -> None:
    async with scripted() as server:
        authority = client(server)
        server.then(
            "api/estatusservicios/obtenerestatus",
            say([{"servicio": "Recepción", "estatus": "No Disponible", "ambiente": "PreCertificacion"}]),
        )
        server.then("api/estatusservicios/verificarestado", say({"estado": "Disponible"}), say(b"", status=500))

        (status,) = await authority.service_status("key-1")
        assert (status.service, status.available, status.environment) == ("Recepción", False, TEST)
        assert await authority.is_up(Environment.ECF, "key-1") is True
        with pytest.raises(Unavailable):
            await authority.is_up(Environment.CERTECF, "key-1")

        assert [(h.path, h.query, h.headers["authorization"]) for h in server.heard] == [
            ("api/estatusservicios/obtenerestatus", "", "Apikey key-1"),
            ("api/estatusservicios/verificarestado", "ambiente=2", "Apikey key-1"),
            ("api/estatusservicios/verificarestado", "ambiente=3", "Apikey key-1"),
        ]


async def test_a_key_that_would_break_the_header_is_the_callers_fault() -> None:
    async with scripted() as server:
        with pytest.raises(ValueError, match="visible ASCII"):
            await client(server).service_status("key\r\nX: y")


async def test_maintenance_windows_are_read_as_moments() -> None:
    async with scripted() as server:
        server.then(
            "api/estatusservicios/obtenerventanasmantenimiento",
            say(
                {
                    "ventanaMantenimientos": [
                        {
                            "ambiente": "Produccion",
                            "horaInicio": "11:00 PM",
                            "horaFin": "1:00 AM",
                            "dias": ["06-08-2020"],
                        }
                    ]
                }
            ),
        )

        (window,) = await client(server).maintenance_windows("key-1")

        assert window.environment is Environment.ECF
        assert window.starts.isoformat() == "2020-08-06T23:00:00-04:00"
        assert window.ends - window.starts == timedelta(hours=2)


async def test_a_verdict_that_remarks_on_each_of_a_thousand_lines_is_read() -> None:
    text = "El campo TablaSubDescuento de la sección DetallesItems de la línea {} no es válido."
    remarks = [
        {"valor": f"{text.format(line)}El elemento {name} no es correcto.", "codigo": code}
        for line in range(1, 1001)
        for name, code in (("DescuentoMonto", 2020), ("RecargoMonto", 2030), ("Subcantidad", 2150))
    ]
    said = {"codigo": "2", "estado": "Rechazado", "encf": "E310000000001", "mensajes": remarks}
    async with scripted() as server:
        server.then("consultaresultado/api/consultas/estado", say(said))

        verdict = await client(server).result(TEST, TRACK_ID, owner(), e_ncf="E310000000001")

    assert verdict.estado is Estado.REJECTED
    assert [message.codigo for message in verdict.messages[:3]] == ["2020", "2030", "2150"]
    assert len(verdict.messages) == MAX_MESSAGES


async def test_probe_needs_no_session() -> None:
    async with scripted() as ecf, scripted() as fc:
        authority = client(ecf, hosts=Hosts(ecf=ecf.url, fc=fc.url))
        ecf.then(SEMILLA, say(SEED), say(b"", status=404), say(b"", status=503), reset)
        fc.then("consultatimbrefc", say(b"<html/>", content_type="text/html"))

        answers = [await authority.probe(TEST, Host.ECF) for _ in range(4)]
        summaries = await authority.probe(TEST, Host.FC)
        ecf.then(SEMILLA, say(b"", status=503))
        fc.then("consultatimbrefc", *[say(b"<html/>", content_type="text/html")] * 2, say(b"", status=503))
        without_sessions, with_sessions, away = [await authority.probe(TEST, Host.FC) for _ in range(3)]

        assert answers[:2] == [None, None]
        assert answers[2:] == [
            "seed answered with status 503",
            "the connection was reset before the answer was complete",
        ]
        assert summaries is None
        assert without_sessions == "seed answered with status 503"
        assert with_sessions is None
        assert away == "summary_page answered with status 503"
        assert not any("authorization" in heard.headers for heard in (*ecf.heard, *fc.heard))


async def test_probe_that_gets_a_page_for_a_seed_fails() -> None:
    """A gateway that says with 200 that all is under maintenance: nothing can be sent, and the circuit has to know."""
    seen, observe = collector()
    async with scripted() as server:
        authority = client(server, observe=observe)
        page = say(b"<html><body>En mantenimiento</body></html>", content_type="text/html")
        server.then(SEMILLA, page, page, say(b"<Error/>", content_type="application/xml"))

        with pytest.raises(Unavailable, match="the token service did not give a seed"):
            await authority.submit(document(), owner())
        probed = [await authority.probe(TEST, Host.ECF) for _ in range(3)]

    assert seen[0] == ("seed", "testecf", "ecf", "unavailable")
    assert probed == ["the token service did not give a seed"] * 2 + [None]


async def test_a_call_that_is_not_made_for_want_of_a_session_is_reported_for_its_own_host() -> None:
    not_called: list[tuple[str, str]] = []
    async with scripted() as ecf, scripted() as fc:
        authority = client(
            ecf,
            hosts=Hosts(ecf=ecf.url, fc=fc.url),
            without_session=lambda environment, host: not_called.append((environment, host)),
        )
        ecf.then(SEMILLA, say(b"", status=503), say(b"", status=503))
        summary = document(service=Service.SUMMARY_RECEPTION)

        for outgoing in (summary, document()):
            with pytest.raises(Unavailable, match="the token service answered with status 503"):
                await authority.submit(outgoing, owner())
        ecf.then(VALIDAR, say("El RNC no está delegado.", status=400))
        with pytest.raises(NotDelegated):
            await authority.submit(summary, owner())

    assert not_called == [("testecf", "fc"), ("testecf", "ecf")]
    assert fc.heard == []


async def test_exchange_is_reported() -> None:
    seen, observe = collector()
    async with scripted() as server:
        authority = client(server, observe=observe)
        server.then(RECEPCION_FC, say(ACCEPTED), say(b"", status=502), say({"mensaje": "mal"}, status=400))
        summary = document(service=Service.SUMMARY_RECEPTION)

        await authority.submit(summary, owner())
        for _ in range(2):
            with pytest.raises(AuthorityError):
                await authority.submit(summary, owner())

        assert seen == [
            ("seed", "testecf", "ecf", "ok"),
            ("validate_seed", "testecf", "ecf", "ok"),
            ("summary_reception", "testecf", "fc", "ok"),
            ("summary_reception", "testecf", "fc", "unknown"),
            ("summary_reception", "testecf", "fc", "refused"),
        ]


# --- Helpers ----------------------------------------------------------------------------------------------------------


def patience(authority: Authority, reason: str) -> AbstractContextManager[None]:
    return in_a_hurry(authority) if "within" in reason else nullcontext()
