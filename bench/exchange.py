"""CPU of one exchange with the authority: form, head, sending, reading, judging the answer.

The other end is a thread that answers each request with one constant. Only the CPU of the asking thread counts.
"""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import trio

from fe.authority.classify import classify_query, classify_submission
from fe.authority.client import Timeouts
from fe.authority.gateway import Gateway
from fe.authority.hosts import Hosts, Operation
from fe.authority.multipart import xml_form
from fe.authority.replies import read_verdict
from fe.authority.transport import Transport
from fe.ecf.catalogue import Environment, Service
from fe.egress.connection import LastLook
from fe.egress.tls import default_tls

NOW = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)
_BEARER = "Bearer " + "x" * 400
_TRACK_ID = "d2b6e27c-3908-46f3-afaa-2207b9501b4b"
_RECEIPT = b'{"trackId":"%b","error":null,"mensaje":null}' % _TRACK_ID.encode()
_VERDICT = (
    b'{"trackId":"%b","codigo":"1","estado":"Aceptado","rnc":"131880738","encf":"E310005000201",'
    b'"secuenciaUtilizada":true,"fechaRecepcion":"11/6/2026 10:15:30 AM","mensajes":[{"valor":"","codigo":0}]}'
) % _TRACK_ID.encode()


def exchange_us(xml: bytes, exchanges: int = 500) -> tuple[float, float]:
    """Microseconds of CPU for sending a document, and for asking for a verdict, over one connection that is kept."""
    with _other_end() as port:
        return trio.run(_exchange_us, port, xml, exchanges)


async def _exchange_us(port: int, xml: bytes, exchanges: int) -> tuple[float, float]:
    hosts = Hosts.all_at(f"http://127.0.0.1:{port}")
    transport = Transport(tls=default_tls(), timeouts=Timeouts(), connections=1)
    line = Gateway(hosts, transport)

    async def look() -> LastLook:
        return lambda: None

    async def send() -> None:
        location = hosts.locate(Operation.RECEPTION, Environment.TESTECF)
        form = xml_form("131880738E310005000201.xml", xml)
        reply = await line.submit(location, "lane", authorization=_BEARER, form=form, before_send=look)
        classify_submission(Service.RECEPTION, "E310005000201", reply, NOW)

    async def ask() -> None:
        location = hosts.locate(Operation.RESULT, Environment.TESTECF, {"trackid": _TRACK_ID})
        reply = await line.ask(location, "lane", authorization=_BEARER)
        classify_query(reply, NOW, read_verdict, read_verdict)

    measured = []
    for work in (send, ask):
        await work()
        began = time.thread_time()
        for _ in range(exchanges):
            await work()
        measured.append((time.thread_time() - began) / exchanges * 1e6)
    transport.close()
    return measured[0], measured[1]


@contextmanager
def _other_end() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_answer, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def _answer(listener: socket.socket) -> None:
    """Answer one connection to its end."""
    connection, _ = listener.accept()
    with connection:
        seen = b""
        while data := connection.recv(1 << 20):
            seen += data
            head, blank, body = seen.partition(b"\r\n\r\n")
            if not blank:
                continue
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0)
            if len(body) < length:
                continue
            said = _VERDICT if head.startswith(b"GET") else _RECEIPT
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b"
                % (len(said), said)
            )
            seen = b""
