"""The wall: no URL and no name that it resolves to leads to a connection with a forbidden address."""

import itertools
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from fe.config import Settings
from fe.egress.answer import HttpReply
from fe.egress.client import KEEP, Egress, Proxy, Request, Resolve
from fe.egress.configured import policy_from_settings
from fe.egress.errors import KINDS, CallBroken, CallNotSent, CallRefused
from fe.egress.public_addresses import is_loopback, is_public
from fe.egress.target import CONFIGURED, BadTarget, Policy, Target, read_target
from tests.authority.scripted import Step, hang, hang_up, raw, say
from tests.authority.test_transport import server_tls, trusting
from tests.webhooks.receiver import Receiver, receiving

PUBLIC = Policy()
HERE = Policy(development=True)

#: Addresses that are not of the public internet, or hide one that is not.
HOSTILE = (
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.254",
    "127.0.0.1",
    "127.255.255.255",
    "168.63.129.16",
    "169.254.0.23",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.9",
    "192.0.0.170",
    "192.0.0.192",
    "192.0.2.1",
    "192.31.196.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:100.100.100.200",
    "::ffff:168.63.129.16",
    "::ffff:169.254.169.254",
    "0:0:0:0:0:ffff:a9fe:a9fe",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b::a83f:8110",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:7f00:1::",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "2002:a83f:8110::1",
    "2620:4f:8000::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:42::42",
    "fd00:ec2::254",
    "fd00:0ec2:0000:0000:0000:0000:0000:0254",
    "fd12:3456::1",
    "fd20:ce::254",
    "fe80::1",
    "fe80::1%eth0",
    "fe80::a9fe:a9fe",
    "fec0::1",
    "ff02::1",
    "",
    "localhost",
    "2130706433",
)
OURS = ("8.8.8.8", "168.63.129.15", "168.63.129.17", "200.26.171.10", "1.1.1.1", "2606:4700::1111", "2800:3f0::1")


@pytest.mark.parametrize("address", HOSTILE)
def test_an_address_that_is_not_of_the_public_internet_is_told(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OURS)
def test_one_that_is_is_told_too(address: str) -> None:
    assert is_public(address)
    assert not is_loopback(address)


@given(st.ip_addresses(v=4))
def test_no_form_that_holds_an_ipv4_address_is_public(address: Any) -> None:
    as_hex = f"{int(address) >> 16:x}:{int(address) & 0xFFFF:x}"
    hidden = (
        f"::{address}",
        f"::ffff:{address}",
        f"64:ff9b::{address}",
        f"2002:{as_hex}::1",
        f"2001:0:{as_hex}::1",
    )
    assert not any(is_public(each) for each in hidden)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "https://"),
        ("hooks.example.do", "https://"),
        ("ftp://hooks.example.do/", "https://"),
        ("http://hooks.example.do/", "https://"),
        ("http\u017f://hooks.example.do/", "https://"),  # a long s, which is an s to a reader that ignores case
        ("HTTP://hooks.example.do/", "https://"),
        ("https://user:password@hooks.example.do/", "credentials"),
        ("https://user@hooks.example.do/", "credentials"),
        ("https://hooks.example.do@127.0.0.1/", "credentials"),
        ("https://hooks.example.do/#here", "fragment"),
        ("https://hooks.example.do:80/", "port"),
        ("https://hooks.example.do:22/", "port"),
        ("https://hooks.example.do:/", "port"),
        ("https://hooks.example.do:443x/", "port"),
        ("https://hooks.example.do:0443000/", "port"),
        ("https://hooks.example.do:99999/", "port"),
        ("https://hooks.example.do:٤٤٣/", "port"),
        ("https:///x", "no name"),
        ("https://.example.do/", "no name"),
        ("https://a..example.do/", "no name"),
        ("https://example.do../", "no name"),
        ("https://-a.example.do/", "no name"),
        ("https://ex%61mple.do/", "no name"),
        ("https://a b.example.do/", "blanks"),
        ("https://hooks.example.do/a b", "blanks"),
        ("https://hooks.example.do/\r\nHost: x", "blanks"),
        ("https://hooks.example.do\\@127.0.0.1/", "backslash"),
        ("https://hooks.example.do/ñ", "with %"),
        (f"https://{'a' * 64}.example.do/", "no name"),
        (f"https://hooks.example.do/{'a' * 2048}", "longer"),
        ("https://127.0.0.1/", "own"),
        ("https://127.1/", "not an address"),
        ("https://2130706433/", "not an address"),
        ("https://0x7f000001/", "not an address"),
        ("https://0x7f.1/", "not an address"),
        ("https://0177.0.0.1/", "not an address"),
        ("https://017700000001/", "not an address"),
        ("https://0/", "not an address"),
        ("https://127.0.0.1./", "not an address"),
        ("https://127.1./", "not an address"),
        ("https://2130706433./", "not an address"),
        ("https://169.254.169.254./", "not an address"),
        ("https://168.63.129.16/", "not an address"),
        ("https://100.100.100.200/", "not an address"),
        ("https://[fd00:ec2::254]/", "not an address"),
        ("https://１２７.０.０.１/", "own"),
        ("https://①②⑦.⓪.⓪.①/", "own"),
        ("https://127。0。0。1/", "own"),
        ("https://8.8.8.8/", "not an address"),
        ("https://[::1]/", "own"),
        ("https://[::ffff:127.0.0.1]/", "not an address"),
        ("https://[2606:4700::1111]/", "not an address"),
        ("https://[fe80::1%25eth0]/", "not an address"),
        ("https://[::1/", "not an address"),
        ("https://[::1]x/", "no name"),
        ("https://localhost/", "own"),
        ("https://LOCALHOST./", "public internet"),
        ("https://api.localhost/", "public internet"),
        ("https://printer.local/", "public internet"),
        ("https://metadata.google.internal/", "public internet"),
        ("https://metadata.google.internal./", "public internet"),
        ("https://METADATA.Google.Internal./", "public internet"),
        ("https://metadata/", "public internet"),
        ("https://metadata./", "public internet"),
        ("https://instance-data.ec2.internal./", "public internet"),
        ("https://printer.local./", "public internet"),
        ("https://1.0.0.127.in-addr.arpa/", "public internet"),
        ("https://intranet/", "public internet"),
        ("https://xn--a.example.do/", "IDNA"),
        ("https://xn--.example.do/", "no name"),
        ("https://xn--mnchen-3ya-.example.do/", "no name"),
        ("https://a\u200db.example.do/", "IDNA"),
        ("https://fe.example.do/", "own"),
        ("https://FE.Example.DO/api", "own"),
        ("https://fe.example.do./", "own"),
    ],
)
def test_a_url_that_is_not_called_is_refused_with_words(url: str, why: str) -> None:
    with pytest.raises(BadTarget, match=why):
        read_target(url, Policy(own_hosts=frozenset({"fe.example.do"})))


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://hooks.example.do", Target("https", "hooks.example.do", 443, "/")),
        ("https://hooks.example.do.", Target("https", "hooks.example.do", 443, "/")),
        ("HTTPS://Hooks.Example.DO:8443/a?b=c", Target("https", "hooks.example.do", 8443, "/a?b=c")),
        ("https://hooks.example.do?b=c", Target("https", "hooks.example.do", 443, "/?b=c")),
        ("https://contraseña.example.do/", Target("https", "xn--contrasea-s6a.example.do", 443, "/")),
        ("https://xn--contrasea-s6a.example.do/", Target("https", "xn--contrasea-s6a.example.do", 443, "/")),
        ("https://1a.2b.example/", Target("https", "1a.2b.example", 443, "/")),
    ],
)
def test_a_url_has_one_form(url: str, read: Target) -> None:
    assert read_target(url, PUBLIC) == read
    assert read_target(read.url, PUBLIC) == read


@given(st.text(max_size=60))
def test_whatever_stands_in_a_url_it_is_read_once_or_refused(text: str) -> None:
    for url in (text, f"https://{text}", f"https://example.do/{text}"):
        try:
            read = read_target(url, PUBLIC)
        except BadTarget:
            continue
        assert read.scheme == "https"
        assert "." in read.host
        assert read.port in (443, 8443)
        assert read_target(read.url, PUBLIC) == read


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://10.0.0.7/realms/fe?p=1", Target("https", "10.0.0.7", 443, "/realms/fe?p=1")),
        ("https://keycloak:8444/", Target("https", "keycloak", 8444, "/")),
        ("https://Sso.Empresa.INTERNAL/", Target("https", "sso.empresa.internal", 443, "/")),
        ("https://[fd12::7]:444/", Target("https", "fd12::7", 444, "/")),
        ("http://127.0.0.1:9000/", Target("http", "127.0.0.1", 9000, "/")),
    ],
)
def test_a_configured_target_may_be_anywhere(url: str, read: Target) -> None:
    assert read_target(url, CONFIGURED) == read
    with pytest.raises(BadTarget):
        read_target(url, PUBLIC)


@pytest.mark.parametrize(
    "url", ["https://user@sso.example.do/", "https://a b/", "https://x:0/", "ftp://sso/", "https://[/"]
)
def test_a_configured_target_that_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(BadTarget):
        read_target(url, CONFIGURED)


def test_in_development_this_machine_may_be_called_but_not_this_service() -> None:
    here = Policy(development=True, own_ports=frozenset({8080}))

    assert read_target("http://localhost:9000/x", here).port == 9000
    assert read_target("http://[::1]:9000/x", here).origin.authority == "[::1]:9000"
    with pytest.raises(BadTarget, match="own"):
        read_target("http://127.0.0.1:8080/x", here)
    with pytest.raises(BadTarget, match="https"):
        read_target("http://hooks.example.do/x", here)


@pytest.mark.parametrize("door", ["http", "metrics", "reception", "portal"])
def test_whatever_this_service_listens_at_is_its_own(door: str) -> None:
    binds = dict.fromkeys(("http_bind", "metrics_bind", "reception_bind", "portal_bind"), "127.0.0.1:1")
    settings = Settings.model_construct().model_copy(update=binds)
    inside = settings.model_copy(update={"development": True, f"{door}_bind": "127.0.0.1:8443"})
    here = policy_from_settings(inside)
    there = policy_from_settings(settings.model_copy(update={f"{door}_bind": "8.8.8.8:443"}))

    with pytest.raises(BadTarget, match="own"):
        read_target("https://localhost:8443/", here)
    assert there.own_addresses == {"8.8.8.8"}


def test_the_address_that_people_know_is_this_services_own_too() -> None:
    policy = policy_from_settings(
        Settings.model_construct(public_hosts="fe.example.do", portal_url="https://Portal.example.do:8443")
    )

    for own in ("https://fe.example.do/", "https://portal.example.do:8443/sign-in"):
        with pytest.raises(BadTarget, match="own"):
            read_target(own, policy)


def test_an_address_under_which_the_service_is_reached_is_its_own() -> None:
    policy = policy_from_settings(Settings.model_construct(public_hosts="fe.example.do, 8.8.8.8"))

    assert policy.own_addresses == {"8.8.8.8"}


def test_of_a_socket_that_was_inherited_nothing_is_known() -> None:
    policy = policy_from_settings(Settings.model_construct(http_bind="fd://3", metrics_bind="127.0.0.1:9464"))

    assert (policy.own_addresses, policy.own_ports) == (frozenset(), {9464})


def resolving(*answers: Sequence[str]) -> tuple[list[str], Resolve]:
    """A name server that gives these answers in turn, for ever; and the names it was asked for."""
    asked: list[str] = []
    turn = itertools.cycle(answers)

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return next(turn)

    return asked, resolve


async def test_a_name_that_changes_its_mind_for_1000_calls_never_gets_a_connection(receiver: Receiver) -> None:
    """Each answer is judged as a whole, and what was judged is what is connected to."""
    policy = Policy(ports=frozenset({receiver.port}))
    asked, resolve = resolving(
        ["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["2001:db8::1"], [], ["169.254.169.254"]
    )
    egress = Egress(policy, resolve=resolve)

    for _ in range(1000):
        with pytest.raises(CallRefused):
            await egress.exchange(Request("POST", f"https://rebind.example.do:{receiver.port}/", body=b"x"))

    assert len(asked) == 1000
    assert receiver.connections == 0


@pytest.mark.parametrize("address", [address for address in HOSTILE if address])
async def test_no_hostile_address_is_connected_to(receiver: Receiver, address: str) -> None:
    egress = Egress(Policy(ports=frozenset({receiver.port})), resolve=resolving([address])[1])

    with pytest.raises(CallRefused) as refused:
        await egress.exchange(Request("POST", f"https://hooks.example.do:{receiver.port}/", body=b"x"))

    assert refused.value.kind == "address"
    assert receiver.connections == 0


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("metadata.example.do", "169.254.169.254"),
        ("metadata.tencentyun.com", "169.254.0.23"),
        ("wire.example.do", "168.63.129.16"),
        ("ecs.example.do.", "100.100.100.200"),
        ("imds.example.do.", "fd00:ec2::254"),
    ],
)
async def test_a_public_name_of_a_metadata_service_is_not_called(receiver: Receiver, name: str, address: str) -> None:
    """A client owns the name in its URL, so the resolved address decides, alone or beside a permitted one."""
    policy = Policy(ports=frozenset({receiver.port}))
    for answer in ([address], ["8.8.8.8", address]):
        egress = Egress(policy, resolve=resolving(answer)[1])
        with pytest.raises(CallRefused) as refused:
            await egress.exchange(Request("POST", f"https://{name}:{receiver.port}/latest/meta-data/", body=b"x"))
        assert refused.value.kind == "address"

    assert receiver.connections == 0


async def test_a_name_is_asked_for_whole_so_that_no_search_list_makes_another_of_it(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def system(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr("fe.egress.client.socket.getaddrinfo", system)
    policy = Policy(ports=frozenset({receiver.port}))

    for host in ("hooks.example.do", "hooks.example.do.", "HOOKS.example.do"):
        with pytest.raises(CallRefused):
            await Egress(policy).exchange(Request("POST", f"https://{host}:{receiver.port}/", body=b"x"))

    assert asked == ["hooks.example.do."] * 3
    assert receiver.connections == 0


async def test_what_the_wall_lets_pass_is_asked_once_and_called_at_that_very_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[tuple[str, int]] = []

    async def connect(address: str, port: int) -> trio.SocketStream:
        called.append((address, port))
        raise OSError(111, "Connection refused")

    monkeypatch.setattr("fe.egress.client._open", connect)
    asked, resolve = resolving(["8.8.8.8", "1.1.1.1"], ["127.0.0.1"])

    with pytest.raises(CallNotSent) as failed:
        await Egress(PUBLIC, resolve=resolve).exchange(Request("POST", "https://hooks.example.do/", body=b"x"))

    assert failed.value.kind == "connect"
    assert called == [("8.8.8.8", 443), ("1.1.1.1", 443)]
    assert asked == ["hooks.example.do"]


async def test_an_address_of_our_own_is_not_called() -> None:
    egress = Egress(Policy(own_addresses=frozenset({"8.8.8.8"})), resolve=resolving(["8.8.8.8"])[1])

    with pytest.raises(CallRefused, match="itself"):
        await egress.exchange(Request("POST", "https://hooks.example.do/"))


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


async def call(receiver: Receiver, *, seconds: float = 30.0, **more: Any) -> HttpReply:
    egress = Egress(HERE, **more)
    return await egress.exchange(Request("POST", receiver.url, [("X-A", "b")], b"body"), seconds=seconds)


async def test_what_is_sent_is_what_was_said(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    reply = await call(receiver)

    (heard,) = receiver.heard
    assert (reply.status, reply.body, reply.is_cut) == (200, b'{"ok": true}', False)
    assert (heard.method, heard.path, heard.body) == ("POST", "hook", b"body")
    assert heard.headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "x-a": "b",
        "connection": "close",
        "accept-encoding": "identity",
        "content-length": "4",
    }


async def test_a_redirect_is_an_answer_like_another(receiver: Receiver) -> None:
    receiver.steps.append(say(b"", 307, Location=receiver.url))

    assert (await call(receiver)).status == 307
    assert receiver.connections == 1


def dripping(answer: bytes, seconds: float = 0.05) -> Step:
    async def step(stream: Any, _: Any) -> bool:
        for byte in itertools.chain(answer, itertools.repeat(0x61)):
            await stream.send_all(bytes([byte]))
            await trio.sleep(seconds)
        return False

    return step


def endless(begin: bytes, piece: bytes) -> Step:
    async def step(stream: Any, _: Any) -> bool:
        await stream.send_all(begin)
        while True:
            await stream.send_all(piece)

    return step


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (hang, "timeout"),
        (dripping(OK + b"X: "), "timeout"),
        (dripping(OK + b"Content-Length: 1000\r\n\r\n"), "timeout"),
        (endless(OK, b"X-A: b\r\n" * 100), "answer"),
        (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100), "answer"),
        (endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), "answer"),
        (endless(OK + b"X: ", b"a" * 4096), "answer"),
        (endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"), "answer"),
        (raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), "answer"),
        (raw(b"HTTP/1.1 999999 No\r\n\r\n", then_close=True), "answer"),
        (raw(b"garbage\r\n\r\n", then_close=True), "answer"),
        (raw(b"garbage", then_close=True), "answer"),
        (raw(b"", then_close=True), "closed"),
        (raw(OK + b"Content-Length: 10\r\n\r\nhalf", then_close=True), "answer"),
        (raw(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nha", then_close=True), "answer"),
        (raw(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\na", then_close=True), "answer"),
        (raw(OK + b"Transfer-Encoding: gzip\r\n\r\na", then_close=True), "answer"),
    ],
)
async def test_an_answer_that_is_none_or_never_ends_is_bounded(receiver: Receiver, step: Step, kind: str) -> None:
    """A whole minute is what a call that is not bounded would still not be over in."""
    receiver.steps.append(step)

    with trio.fail_after(60), pytest.raises(CallBroken) as broken:
        await call(receiver, seconds=2.0 if kind == "timeout" else 50.0)

    assert broken.value.kind == kind


@pytest.mark.parametrize(
    "step",
    [
        endless(OK + b"\r\n", b"a" * 65536),
        endless(OK + b"Content-Length: 10000000000\r\n\r\n", b"a" * 65536),
        endless(OK + b"Content-Encoding: gzip\r\nContent-Length: 10000000000\r\n\r\n", b"\x1f\x8b\x08\x00" * 4096),
    ],
)
async def test_of_an_endless_body_64_kib_are_read_and_none_is_unpacked(receiver: Receiver, step: Step) -> None:
    receiver.steps.append(step)

    reply = await call(receiver)

    assert (reply.status, len(reply.body), reply.is_cut) == (200, KEEP, True)


async def test_who_answers_before_he_has_read_is_heard(receiver: Receiver) -> None:
    receiver.steps.append(say("too large", 413))

    reply = await Egress(HERE).exchange(Request("POST", receiver.url, body=b"x" * 1_000_000))

    assert reply.status == 413


async def test_nobody_there_is_told_from_no_answer(receiver: Receiver) -> None:
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    port = listener.socket.getsockname()[1]
    await listener.aclose()

    with pytest.raises(CallNotSent) as failed:
        await Egress(HERE).exchange(Request("POST", f"http://127.0.0.1:{port}/"))

    assert failed.value.kind == "connect"
    assert failed.value.kind in KINDS


async def test_a_name_that_nobody_knows_is_not_sent() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise OSError(-2, "Name or service not known")

    with pytest.raises(CallNotSent) as failed:
        await Egress(PUBLIC, resolve=resolve).exchange(Request("POST", "https://hooks.example.do/"))

    assert failed.value.kind == "dns"


async def test_a_name_server_that_never_answers_is_bounded_too() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        await trio.sleep_forever()
        raise AssertionError

    with trio.fail_after(60), pytest.raises(CallNotSent) as failed:
        await Egress(PUBLIC, resolve=resolve).exchange(Request("POST", "https://hooks.example.do/"), seconds=0.2)

    assert failed.value.kind == "timeout"


@asynccontextmanager
async def tls_server(context: ssl.SSLContext) -> AsyncIterator[tuple[int, list[str | None]]]:
    """Run a server that answers after the TLS handshake. Yield its port and the requested server names."""
    names: list[str | None] = []
    context.sni_callback = lambda _, name, __: names.append(name)

    async def serve(tcp: trio.SocketStream) -> None:
        stream = trio.SSLStream(tcp, context, server_side=True, https_compatible=True)
        try:
            await stream.do_handshake()
            await stream.receive_some(65536)
            await stream.send_all(OK + b"Content-Length: 2\r\n\r\nok")
        except trio.BrokenResourceError:
            pass  # it would not have us
        finally:
            await trio.aclose_forcefully(tcp)

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(partial(trio.serve_listeners, serve, listeners, handler_nursery=nursery))
        yield listeners[0].socket.getsockname()[1], names
        nursery.cancel_scope.cancel()


@pytest.fixture
def here_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine pass for a public one: what comes behind the wall is looked at here."""
    monkeypatch.setattr("fe.egress.client.is_public", is_loopback)


@pytest.mark.usefixtures("here_is_public")
async def test_tls_is_made_and_verified_for_the_name_at_the_address_that_was_checked(tmp_path: Path) -> None:
    resolve = resolving(["127.0.0.1"])[1]
    async with tls_server(server_tls(tmp_path, "hooks.example.do")) as (port, names):
        egress = Egress(Policy(ports=frozenset({port})), tls=trusting(), resolve=resolve)
        reply = await egress.exchange(Request("POST", f"https://hooks.example.do:{port}/", body=b"x"))
        with pytest.raises(CallNotSent) as other_name:
            await egress.exchange(Request("POST", f"https://other.example.do:{port}/", body=b"x"))
        with pytest.raises(CallNotSent) as unknown_root:
            await Egress(egress.policy, resolve=resolve).exchange(Request("POST", f"https://hooks.example.do:{port}/"))

    assert (reply.status, reply.body) == (200, b"ok")
    assert names == ["hooks.example.do", "other.example.do", "hooks.example.do"]
    assert (other_name.value.kind, unknown_root.value.kind) == ("tls", "tls")


async def tunnel(asked: list[bytes], to: int, tcp: trio.SocketStream) -> None:
    """A proxy that connects every client to the local port `to`."""
    asked.append(bytes(await tcp.receive_some(65536)))
    there = await trio.open_tcp_stream("127.0.0.1", to)
    await tcp.send_all(b"HTTP/1.1 200 Connection established\r\n\r\n")

    async def carry(source: trio.SocketStream, sink: trio.SocketStream, scope: trio.CancelScope) -> None:
        try:
            while data := await source.receive_some(65536):
                await sink.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # one of the two has closed
        scope.cancel()

    async with tcp, there, trio.open_nursery() as nursery:
        nursery.start_soon(carry, tcp, there, nursery.cancel_scope)
        nursery.start_soon(carry, there, tcp, nursery.cancel_scope)


async def test_a_proxy_is_asked_for_the_address_that_was_checked(tmp_path: Path, nursery: trio.Nursery) -> None:
    asked: list[bytes] = []
    async with tls_server(server_tls(tmp_path, "hooks.example.do")) as (port, names):
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        serve = partial(tunnel, asked, port)
        nursery.start_soon(partial(trio.serve_listeners, serve, listeners, handler_nursery=nursery))
        proxy = Proxy("127.0.0.1", listeners[0].socket.getsockname()[1])
        egress = Egress(PUBLIC, proxy, trusting(), resolving(["8.8.8.8"], ["127.0.0.1"])[1])

        reply = await egress.exchange(Request("POST", "https://hooks.example.do/", body=b"x"))
        with pytest.raises(CallRefused):
            await egress.exchange(Request("POST", "https://hooks.example.do/", body=b"x"))
    nursery.cancel_scope.cancel()

    assert reply.body == b"ok"
    assert names == ["hooks.example.do"]
    assert asked == [b"CONNECT 8.8.8.8:443 HTTP/1.1\r\nHost: 8.8.8.8:443\r\n\r\n"]


async def test_a_proxy_resolves_the_name_of_a_configured_target(tmp_path: Path, nursery: trio.Nursery) -> None:
    asked: list[bytes] = []
    async with tls_server(server_tls(tmp_path, "sso.internal")) as (port, names):
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        serve = partial(tunnel, asked, port)
        nursery.start_soon(partial(trio.serve_listeners, serve, listeners, handler_nursery=nursery))
        proxy = Proxy("127.0.0.1", listeners[0].socket.getsockname()[1])

        reply = await Egress(CONFIGURED, proxy, trusting()).exchange(Request("GET", "https://sso.internal/x"))
    nursery.cancel_scope.cancel()

    assert (reply.body, names) == (b"ok", ["sso.internal"])
    assert asked == [b"CONNECT sso.internal:443 HTTP/1.1\r\nHost: sso.internal:443\r\n\r\n"]


async def test_a_request_with_a_line_end_in_its_head_is_never_sent(receiver: Receiver) -> None:
    for headers in ([("X-A", "b\r\nX-B: c")], [("X A", "b")], [("X-A", "\u00f1")]):
        with pytest.raises(ValueError, match="HTTP has no room"):
            await Egress(HERE).exchange(Request("POST", receiver.url, headers))

    assert receiver.connections == 0


@pytest.mark.parametrize(
    "step",
    [
        raw(b"HTTP/1.1 403 Forbidden\r\n\r\n", then_close=True),
        raw(b"HTTP/1.1 200 OK\r\n\r\nmore", then_close=True),
        raw(b"garbage\r\n\r\n", then_close=True),
        hang_up,
    ],
)
async def test_a_proxy_that_does_not_let_us_pass_is_told(receiver: Receiver, step: Step) -> None:
    receiver.steps.append(step)
    egress = Egress(PUBLIC, Proxy("127.0.0.1", receiver.port), resolve=resolving(["8.8.8.8"])[1])

    with pytest.raises(CallNotSent) as refused:
        await egress.exchange(Request("POST", "https://hooks.example.do/", body=b"x"))

    assert refused.value.kind == "proxy"
