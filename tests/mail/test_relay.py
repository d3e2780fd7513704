"""SMTP to a real relay: TLS, login, answers, and what may be repeated."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from fe.ecf.mail_address import MailAddress
from fe.mail.message import link_message
from fe.mail.relay import Relay, RelayRefused, RelayUnavailable, RelayUnusable, send
from tests.mail.relay import PASSWORD, USER, RunningRelay, running_relay

SENDER = MailAddress("facturas@emisor.do")


def relay_at(running: RunningRelay, **changes: object) -> Relay:
    relay = Relay("localhost", running.port, False, False, SENDER, roots=running.roots)
    return replace(relay, **changes)  # type: ignore[arg-type]


def hand_over(relay: Relay, to: str = "compras@cliente.do", seconds: float = 20) -> None:
    recipient = MailAddress(to)
    message = link_message(relay, recipient, datetime.now(UTC), "Saludo", ["ñ", ".", "..a"], "https://x.do", "<1@x.do>")
    send(relay, message, recipient, seconds)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRelay]:
    with running_relay(tmp_path_factory.mktemp("relay")) as one:
        yield one


def test_a_message_goes_over_starttls_with_login_and_arrives_whole(running: RunningRelay) -> None:
    hand_over(relay_at(running, user=USER, password=SecretStr(PASSWORD)))

    about, message = running.taken[-1]
    assert about == {"from": SENDER, "to": "compras@cliente.do", "tls": True, "login": True}
    assert message.get_content().splitlines()[:5] == ["ñ", "", ".", "", "..a"]


def test_tls_from_the_first_byte(tmp_path: Path) -> None:
    with running_relay(tmp_path, "implicit") as one:
        hand_over(relay_at(one, implicit_tls=True))

    assert one.taken[0][0]["to"] == "compras@cliente.do"


def test_a_relay_without_starttls_gets_nothing_unless_it_may_be_plain(tmp_path: Path) -> None:
    with running_relay(tmp_path, "plain") as one:
        with pytest.raises(RelayUnavailable, match="does not offer STARTTLS"):
            hand_over(relay_at(one, user=USER, password=SecretStr(PASSWORD)))
        assert one.taken == []
        hand_over(relay_at(one, may_be_plain=True))

        assert len(one.taken) == 1


@pytest.mark.parametrize("what", ["unknown root", "another name"])
def test_a_certificate_that_proves_nothing_gets_no_message(running: RunningRelay, tmp_path: Path, what: str) -> None:
    before = len(running.taken)
    with running_relay(tmp_path, host="relay.example" if what == "another name" else "localhost") as other:
        relay = relay_at(running, roots=other.roots) if what == "unknown root" else relay_at(other)
        with pytest.raises(RelayUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            hand_over(relay)

        assert other.taken == []
    assert len(running.taken) == before


@pytest.mark.parametrize(
    ("to", "code", "bad_address"),
    [
        ("absent@x.do", 550, True),
        ("gone@x.do", 550, True),
        ("bare@x.do", 550, False),
        ("policy@x.do", 550, False),
        ("toobig@x.do", 552, False),
    ],
)
def test_a_permanent_answer_is_a_refusal(running: RunningRelay, to: str, code: int, bad_address: bool) -> None:
    with pytest.raises(RelayRefused, match=str(code)) as refused:
        hand_over(relay_at(running), to)

    assert (refused.value.code, refused.value.bad_address) == (code, bad_address)


@pytest.mark.parametrize("to", ["norelay@x.do", "badsender@x.do", "login@x.do"])
def test_what_a_relay_says_of_the_sender_at_the_recipient_may_be_repeated(running: RunningRelay, to: str) -> None:
    with pytest.raises(RelayUnusable, match="recipient not accepted: 5"):
        hand_over(relay_at(running), to)


def test_a_temporary_answer_may_be_repeated(running: RunningRelay) -> None:
    with pytest.raises(RelayUnavailable, match=r"451 4\.3\.0 try again later") as later:
        hand_over(relay_at(running), "later@x.do")

    assert (later.value.code, type(later.value)) == (451, RelayUnavailable)


def test_a_relay_that_hangs_up_after_the_last_byte_leaves_it_unknown(running: RunningRelay) -> None:
    before = len(running.taken)

    with pytest.raises(RelayUnavailable) as unknown:
        hand_over(relay_at(running), "cut@x.do")

    assert len(running.taken) == before + 1
    assert type(unknown.value) is RelayUnavailable


def test_a_wrong_password_is_not_in_the_reason(running: RunningRelay) -> None:
    with pytest.raises(RelayUnusable, match="login not accepted: 535") as refused:
        hand_over(relay_at(running, user=USER, password=SecretStr("not-this-one")))

    assert "not-this-one" not in str(refused.value)


def test_a_relay_that_is_not_there_and_one_that_never_answers(running: RunningRelay) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(RelayUnavailable, match=r"[Tt]ime"):
            hand_over(relay_at(running, port=silent.getsockname()[1]), seconds=0.3)
        port = silent.getsockname()[1]
    with pytest.raises(RelayUnusable, match="ConnectionRefusedError"):
        hand_over(relay_at(running, port=port))


@pytest.mark.parametrize("greeting", [b"HTTP/1.1 400 no\r\n\r\n", b"220 x\r\n" + b"5" * 20000, b"\xff\xfe\r\n", b""])
def test_a_program_that_speaks_no_smtp(running: RunningRelay, greeting: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            stream, _ = server.accept()
            with stream:
                stream.sendall(greeting)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(RelayUnavailable):
            hand_over(relay_at(running, port=server.getsockname()[1]), seconds=5)
        thread.join()
