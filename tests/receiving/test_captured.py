"""Whole requests as real senders write them, over the socket as they stand, past any client library that would tidy.

Of two bodies that were captured it is on record how they name the part, what type they give it, and what their
documents lack (docs/reference/authority.md#receivers); head and boundary around that are those of the software.
"""

import re
from dataclasses import dataclass

import pytest
import trio

from fe.store.postgres.db import Database
from tests.factories.tenants import rows
from tests.receiving.supplier import OURS, THEIRS, Acknowledged, Running, approval, sign, unsigned
from tests.receiving.test_approvals import NUMBER, issue, said
from tests.waiting import PATIENCE


@dataclass(frozen=True)
class Capture:
    """A sender's request: its line and head, and the form around the document."""

    request_line: str
    head: str
    before: str
    after: str

    def around(self, document: bytes) -> bytes:
        body = self.before.encode() + document + self.after.encode()
        return f"{self.request_line}\r\n{self.head}Content-Length: {len(body)}\r\n\r\n".encode() + body


#: The authority's own counterparty, with the form of .NET: a quoted boundary, names without quotes, the file's name
#: twice, no type of the part; the paths as its pages write them.
COUNTERPARTY = Capture(
    request_line=f"POST /TesteCF/{OURS}/fe/AprobacionComercial/api/ecf HTTP/1.1",
    head=(
        "Host: receptor.example\r\n"
        "Accept: application/json\r\n"
        'Content-Type: multipart/form-data; boundary="7d1c5c1f-2e8a-4c55-9d3e-0f9f6f1f2a10"\r\n'
    ),
    before=(
        "--7d1c5c1f-2e8a-4c55-9d3e-0f9f6f1f2a10\r\n"
        "Content-Disposition: form-data; name=xml; filename=aprobacionComercial.xml;"
        " filename*=utf-8''aprobacionComercial.xml\r\n\r\n"
    ),
    after="\r\n--7d1c5c1f-2e8a-4c55-9d3e-0f9f6f1f2a10--\r\n",
)

#: The other: it says of the part that it is a form, and the document inside has no declaration and `Version` 1.
FORM_IN_NAME = Capture(
    request_line=f"POST /testecf/{OURS}/FE/RECEPCION/API/ECF HTTP/1.1",
    head=(
        "host: receptor.example\r\n"
        "accept: */*\r\n"
        "content-type: multipart/form-data; boundary=--------------------------839205716482759301847562\r\n"
        "user-agent: axios/1.6.2\r\n"
    ),
    before=(
        "----------------------------839205716482759301847562\r\n"
        'Content-Disposition: form-data; name="xml"; filename="131880738E310000000007.xml"\r\n'
        "Content-Type: multipart/form-data\r\n\r\n"
    ),
    after="\r\n----------------------------839205716482759301847562--\r\n",
)


async def exchange(reception: Running, request: bytes, *, pieces: int) -> tuple[int, bytes]:
    """Send a request in pieces; return the status and the body of the answer."""
    step = -(-len(request) // pieces)
    got = b""
    async with await trio.open_tcp_stream("127.0.0.1", reception.port) as stream:
        for at in range(0, len(request), step):
            await stream.send_all(request[at : at + step])
        with trio.fail_after(PATIENCE):
            while True:
                head, found, body = got.partition(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head, re.I)
                if found and length and len(body) >= int(length[1]):
                    return int(got.split(b" ", 2)[1]), body
                chunk = await stream.receive_some(65536)
                assert chunk, got
                got += chunk


def bare(signed: bytes, *, mark: bytes = b"") -> bytes:
    """A document without its declaration, perhaps behind a byte order mark."""
    return mark + signed[signed.index(b"?>") + 2 :].lstrip()


@pytest.mark.parametrize(("mark", "pieces"), [(b"", 1), (b"\xef\xbb\xbf", 7)], ids=["plain", "marked, in pieces"])
@pytest.mark.parametrize("capture", [COUNTERPARTY, FORM_IN_NAME], ids=["counterparty", "form in name"])
async def test_a_document_in_either_form_is_received_to_the_byte(
    reception: Running, db: Database, capture: Capture, mark: bytes, pieces: int
) -> None:
    document = bare(sign(unsigned(Encabezado__Version="1")), mark=mark)
    request = capture.around(document).replace(b"AprobacionComercial/api", b"Recepcion/api")

    status, answer = await exchange(reception, request, pieces=pieces)

    assert status == 200, answer
    assert _said(answer) == Acknowledged("0", None)
    (kept,) = await rows(db, "SELECT document FROM acknowledgements")
    assert bytes(kept["document"]) == document


@pytest.mark.parametrize("capture", [COUNTERPARTY, FORM_IN_NAME], ids=["counterparty", "form in name"])
async def test_an_approval_in_either_form_is_kept_to_the_byte(
    reception: Running, db: Database, capture: Capture
) -> None:
    subject = await issue(db, reception)
    document = bare(approval(NUMBER, THEIRS))
    request = capture.around(document)
    request = re.sub(rb"RECEPCION(?=/API)", b"AprobacionComercial", request)

    status, answer = await exchange(reception, request, pieces=1)

    assert status == 200, answer
    assert await said(db, reception, subject) == (True, None)
    (row,) = await rows(db, "SELECT document FROM received_approvals")
    assert bytes(row["document"]) == document


def _said(answer: bytes) -> Acknowledged:
    state = re.search(rb"<Estado>(\d)</Estado>", answer)
    reason = re.search(rb"<CodigoMotivoNoRecibido>(\d)<", answer)
    assert state is not None, answer
    return Acknowledged(state[1].decode(), reason[1].decode() if reason else None)
