"""`fe print` against a scripted API: to a file, to a printer over the network, and what goes wrong."""

import socket
import threading
from pathlib import Path

import pytest

from fe.cli.failures import AWAY, FAILED
from fe.integrator import profiles
from fe.integrator.profiles import Profile
from tests.cli.in_process import FeHere
from tests.cli.integrator.conftest import KEY
from tests.cli.integrator.scripted import Said, Scripted, scripted, token

_ID = "019aa3b0-7c11-7d53-9a53-5c3f8f6f2b10"
SET = Said(200, {"layout": "58mm", "language": "en"})
FOUND = Said(200, {"taxLogId": _ID, "status": "Aceptado", "environment": "testecf", "eNCF": "E310000000001"})


def keep(server: Scripted) -> None:
    profiles.save(Profile("default", server.base_url, environment="testecf", **KEY))


def test_receipt_is_printed_to_a_file(here: FeHere, tmp_path: Path) -> None:
    with scripted(token(), FOUND, SET, Said(200, "%PDF-1.7 …")) as server:
        keep(server)
        said = here.json("print", _ID, "--layout", "a4")

    assert server.calls[-1] == f"GET /api/v1/fe/invoices/{_ID}/pdf?layout=a4&language=en"
    assert said == {"taxLogId": _ID, "layout": "a4", "file": "E310000000001.pdf", "bytes": 12}
    assert (tmp_path / "E310000000001.pdf").read_text() == "%PDF-1.7 …"


def test_receipt_is_sent_to_a_printer_of_the_network(here: FeHere) -> None:
    heard = bytearray()
    with (
        socket.create_server(("127.0.0.1", 0)) as printer,
        scripted(token(), FOUND, SET, Said(200, "\x1b@ticket")) as server,
    ):
        keep(server)

        def take() -> None:
            connection, _ = printer.accept()
            with connection:
                while some := connection.recv(100):
                    heard.extend(some)

        taking = threading.Thread(target=take)
        taking.start()
        here("print", _ID, "--to", f"127.0.0.1:{printer.getsockname()[1]}", "--raster")
        taking.join(10)

    assert server.calls[-1] == f"GET /api/v1/fe/invoices/{_ID}/ticket?layout=58mm&language=en&qr=raster"
    assert bytes(heard) == b"\x1b@ticket"


@pytest.mark.parametrize("printer", ["127.0.0.1:1", "/dev/usb/lp99"])
def test_printer_that_is_not_there_is_named(here: FeHere, printer: str) -> None:
    with scripted(token(), FOUND, Said(200, {"layout": "a4", "language": "es"}), Said(200, "x")) as server:
        keep(server)
        ended = here.refused("print", _ID, "--to", printer, code=AWAY)

    assert server.calls[-1] == f"GET /api/v1/fe/invoices/{_ID}/ticket?layout=80mm&language=es&qr=native"
    assert f"the printer {printer} cannot be reached" in ended


def test_refusal_of_the_api_is_shown(here: FeHere) -> None:
    refusal = Said(409, {"message": "the receipt is not signed yet: ask again in a moment", "statusCode": 409})
    with scripted(token(), FOUND, SET, refusal) as server:
        keep(server)
        ended = here.refused("print", _ID, code=FAILED)

    assert "not signed yet" in ended


def test_sheet_for_a_printer_is_refused(here: FeHere) -> None:
    ended = here.refused("print", _ID, "--to", "/dev/null", "--layout", "letter", code=2)

    assert "a receipt printer takes --layout 80mm or 58mm" in ended


def test_raster_without_a_printer_is_refused(here: FeHere) -> None:
    ended = here.refused("print", _ID, "--raster", code=2)

    assert "--raster is for a receipt printer" in ended


def test_address_without_a_port_is_no_file(here: FeHere, tmp_path: Path) -> None:
    ended = here.refused("print", _ID, "--to", "192.168.1.50", code=2)

    assert "--to 192.168.1.50:9100" in ended
    assert not (tmp_path / "192.168.1.50").exists()
