"""The addresses of a receiver are tried as the authority does: our own passes, and each fault of others is named."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
import trio

from fe.certification.address_checks import CHECKS, AddressCheck, CannotCheck, CheckState, EnteredAddresses
from fe.certification.reception_samples import ApprovedReceipt, SupplierSample, approved_receipt, make_receipt
from fe.counterparty.address_check import AuthorityPart, check_addresses, passed
from fe.ecf.signature import Signer, verify
from fe.egress.answer import HttpReply
from fe.egress.client import Egress, Request, Resolve
from fe.egress.errors import CallBroken
from fe.egress.public_addresses import is_loopback
from fe.egress.target import Policy
from fe.receiving.assess import AckReason, Heading, acknowledgement
from fe.store.postgres.db import Database
from tests.authority.test_transport import server_tls, trusting
from tests.factories.certificates import WITHIN, default_credential
from tests.factories.tenants import rows
from tests.receiving.supplier import ISSUER, OURS, THEIRS, start_reception
from tests.receiving.test_approvals import NUMBER, issue

SIGNER = Signer(default_credential())
NAME = "recepcion.example.do"
PART = AuthorityPart(SIGNER, ISSUER, OURS)
#: This machine, which passes for a public one in `here_is_public`.
HERE = ["127.0.0.1"]


@pytest.fixture
def here_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("fe.egress.client", "fe.counterparty.address_check"):
        monkeypatch.setattr(f"{module}.is_public", is_loopback)


def resolving(addresses: Sequence[str]) -> Resolve:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


async def behind_tls(nursery: trio.Nursery, port: int, folder: Path, name: str = NAME) -> int:
    """Serve what a local port serves, through TLS; return the port."""

    async def relay(tls: trio.SSLStream[trio.SocketStream]) -> None:
        try:
            await tls.do_handshake()
            async with tls, await trio.open_tcp_stream("127.0.0.1", port) as plain, trio.open_nursery() as both:
                both.start_soon(carry, tls, plain, both.cancel_scope)
                both.start_soon(carry, plain, tls, both.cancel_scope)
        except (OSError, trio.BrokenResourceError, BaseExceptionGroup):
            pass  # it would not have us, or left

    async def carry(source: trio.abc.Stream, sink: trio.abc.Stream, scope: trio.CancelScope) -> None:
        while data := await source.receive_some(65536):
            await sink.send_all(data)
        scope.cancel()

    context = server_tls(folder, name)
    listeners = await trio.open_ssl_over_tcp_listeners(0, context, host="127.0.0.1", https_compatible=True)
    nursery.start_soon(partial(trio.serve_listeners, relay, listeners, handler_nursery=nursery))
    listening = listeners[0].transport_listener
    assert isinstance(listening, trio.SocketListener)
    found: int = listening.socket.getsockname()[1]
    return found


def by_name(checks: Sequence[AddressCheck]) -> dict[str, CheckState]:
    return {check.name: check.state for check in checks}


@pytest.mark.usefixtures("here_is_public")
async def test_own_reception_behind_tls_passes_and_keeps_one_receipt_and_one_approval(
    nursery: trio.Nursery, db: Database, reception_db: Database, tmp_path: Path
) -> None:
    reception = await start_reception(nursery, db, reception_db, demands_token=True)
    subject = await issue(db, reception)
    port = await behind_tls(nursery, reception.port, tmp_path)
    egress = Egress(Policy(ports=frozenset({port})), tls=trusting(), resolve=resolving(HERE))
    address = f"{NAME}:{port}/TesteCF/{OURS}"
    known = ApprovedReceipt(NUMBER, THEIRS, WITHIN.date(), "118.00")
    part = AuthorityPart(SIGNER, ISSUER, OURS, known)

    checks = await check_addresses(EnteredAddresses(address, address, address), part, egress, now=WITHIN)

    assert {check.name: str(check.says) for check in checks if check.state is not CheckState.OK} == {
        "address": f"port {port} is not the usual one, 443"
    }
    assert [check.name for check in checks] == sorted(CHECKS, key=[check.name for check in checks].index)
    assert passed(checks)
    (kept,) = await rows(db, "SELECT e_ncf FROM received")
    assert str(kept["e_ncf"]).startswith("E319")  # of a number that no issuer has reached
    (approval,) = await rows(db, "SELECT submission_id FROM received_approvals")
    assert approval["submission_id"] == subject
    assert {check.says.es for check in checks if check.name == "receipt-duplicate"} == {"acusó 1/3"}


class Careless(Egress):
    """A receiver that looks at nothing, and acknowledges all as `reason` says; without one it answers `status`."""

    reason: AckReason | None = AckReason.RECEIVED
    status = 200

    async def exchange(self, request: Request, *, seconds: float = 0, keep: int = 0) -> HttpReply:
        body = b"<html>OK</html>"
        if self.reason is not None and "/recepcion/" in request.url.lower() and b"<eNCF>" in request.body:
            number = request.body.partition(b"<eNCF>")[2].partition(b"<")[0].decode()
            heading = Heading(OURS, OURS, number)
            body = SIGNER.sign(acknowledgement(heading, self.reason, rnc=OURS, at=WITHIN)).xml
        return HttpReply(self.status, "text/html", None, body)


LOOPBACK = EnteredAddresses(f"http://localhost:9/certecf/{OURS}/", f"http://localhost:9/certecf/{OURS}/")
DEVELOPMENT = Policy(development=True)


@pytest.mark.parametrize(
    ("reason", "status", "authentication", "well"),
    [
        # All but what it answers by chance is wrong.
        (AckReason.RECEIVED, 200, None, {"receipt-good", "approval-good"}),
        (AckReason.SIGNATURE, 400, None, {"receipt-absent", *(n for n in CHECKS if n.startswith("approval-"))}),
        (None, 200, None, {"approval-good"}),
        (None, 401, LOOPBACK.reception, set()),
    ],
)
async def test_faults_of_a_careless_receiver_are_named(
    reason: AckReason | None, status: int, authentication: str | None, well: set[str]
) -> None:
    egress = Careless(DEVELOPMENT, resolve=resolving(HERE))
    object.__setattr__(egress, "reason", reason)
    object.__setattr__(egress, "status", status)
    entered = EnteredAddresses(LOOPBACK.reception, LOOPBACK.approval, authentication)

    checks = await check_addresses(entered, PART, egress, now=WITHIN)

    states = by_name(checks)
    assert set(states) == {name for name in CHECKS if authentication is not None or CHECKS[name].step != 8}
    assert {name for name, state in states.items() if state is CheckState.OK} == well - {
        "approval-without-token",
        "approval-good" if status == 400 else "",
    }
    assert not passed(checks)
    for check in checks:
        assert (check.to_do is None) == (check.state in (CheckState.OK, CheckState.SKIPPED)), check
    if authentication is not None:
        assert states["seed"] is CheckState.FAILED
        assert states["receipt-good"] is CheckState.SKIPPED


async def test_receiver_that_hangs_is_tried_once_for_each_service() -> None:
    class Silent(Careless):
        async def exchange(self, request: Request, *, seconds: float = 0, keep: int = 0) -> HttpReply:
            raise CallBroken("timeout", "no complete answer within 12 s")

    checks = await check_addresses(LOOPBACK, PART, Silent(DEVELOPMENT, resolve=resolving(HERE)), now=WITHIN)

    told = {check.name: str(check.says) for check in checks if check.state is CheckState.FAILED}
    assert told["receipt-good"] == told["approval-bad-format"] == "no answer in time (no complete answer within 12 s)"
    assert by_name(checks)["receipt-duplicate"] is by_name(checks)["approval-good"] is CheckState.SKIPPED


@pytest.mark.usefixtures("here_is_public")
@pytest.mark.parametrize(
    ("name", "served", "addresses", "trusts", "says"),
    [
        (NAME, "otro.example.do", HERE, True, "tls: its certificate is for another name"),
        (NAME, NAME, HERE, False, "tls: its certificate is of no public certifier, or those between are not served"),
        (NAME, NAME, ["10.0.0.7"], True, "host: it leads to 10.0.0.7, which is not public"),
        (NAME, NAME, [], True, f"host: {NAME} (no answer): the name has no address"),
        ("10.0.0.7", NAME, HERE, True, "address: the URL should name a host, not an address"),
        ("servidor.local", NAME, HERE, True, "address: the host of the URL is not one of the public internet"),
    ],
)
async def test_address_that_the_authority_could_not_call_says_why(
    nursery: trio.Nursery,
    tmp_path: Path,
    name: str,
    served: str,
    addresses: Sequence[str],
    trusts: bool,
    says: str,
) -> None:
    port = await behind_tls(nursery, 1, tmp_path, served)
    policy = Policy(ports=frozenset({port}))
    egress = Egress(policy, resolve=resolving(addresses))
    if trusts:
        egress = Egress(policy, tls=trusting(), resolve=resolving(addresses))
    address = f"{name}:{port}/certecf/{OURS}"

    checks = await check_addresses(EnteredAddresses(address, address), PART, egress, now=WITHIN)

    assert [f"{check.name}: {check.says}" for check in checks if check.state is CheckState.FAILED] == [says]
    assert by_name(checks)["receipt-good"] is CheckState.SKIPPED


async def test_address_of_production_is_not_tried_and_suffixes_are_left_out() -> None:
    entered = EnteredAddresses(f"https://{NAME}/ecf/{OURS}/fe/recepcion/api/ecf", NAME)
    with pytest.raises(CannotCheck, match="is an address of production"):
        await check_addresses(entered, PART, Egress(), now=WITHIN)
    whole = f"{NAME}/certecf/{OURS}/fe/recepcion/api/ecf"
    first = (await check_addresses(EnteredAddresses(whole, whole), PART, Egress(resolve=resolving([])), now=WITHIN))[0]
    assert (first.state, str(first.says)) == (CheckState.WARNING, f"enter it as {NAME}/certecf/{OURS}")


def test_receipt_for_the_good_approval_is_one_that_a_buyer_approves() -> None:
    def made(number: str) -> bytes:
        return make_receipt(SupplierSample.GOOD, SIGNER, issuer=ISSUER, buyer=THEIRS, number=number, now=WITHIN)

    assert approved_receipt(made(NUMBER), OURS) == ApprovedReceipt(NUMBER, THEIRS, WITHIN.date(), "118.00")
    assert approved_receipt(made("E320000000001"), OURS) is None
    assert approved_receipt(made(NUMBER), THEIRS) is None
    assert verify(made(NUMBER)).root.findtext("DetallesItems/Item/NombreItem") == "Prueba de recepcion, sin valor"
