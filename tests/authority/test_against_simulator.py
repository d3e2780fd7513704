"""The client against the simulated authority: the whole road, both families of shapes, and the one promise that counts.

The promise: what the client calls Unavailable or AuthorityRefused was not processed, and what it calls received was.
"""

from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
import trio

from fe.authority.client import Authority, Outgoing, Receipt, Verdict
from fe.authority.errors import AuthorityError, AuthorityRefused, NotDelegated, OutcomeUnknown, Unavailable
from fe.authority.estado import Estado
from fe.authority.hosts import Hosts
from fe.ecf.catalogue import Environment, Service
from fe.ecf.signature import verify
from fe.identifiers import TrackId
from fe.simulator import AnswerForm, Catalogue, FaultKind
from tests.authority.scripted import PATIENT, Owner, in_a_hurry
from tests.simulator.conftest import http, start
from tests.simulator.support import BUYER, ISSUER, Running, Start, acecf, anecf, ecf, number, rfce, sign, signer
from tests.waiting import PATIENCE

__all__ = ["http", "start"]

TEST = Environment.TESTECF
ME = Owner("certificate-1", signer())


@pytest.fixture(params=AnswerForm)
async def simulator(request: pytest.FixtureRequest, start: Start) -> Running:
    return await start(answers=request.param, summary_port=0, status_port=0, status_key="key-1")


@pytest.fixture
async def authority(simulator: Running) -> AsyncIterator[Authority]:
    client = client_of(simulator)
    yield client
    client.close()


def client_of(simulator: Running, **more: Any) -> Authority:
    hosts = Hosts(simulator.at.ecf, simulator.at.fc, simulator.at.status)
    return Authority(hosts, clock=lambda: datetime.now(UTC), **{"timeouts": PATIENT, **more})


def invoice(sequence: int = 1, **how: Any) -> Outgoing:
    name = f"{ISSUER}{number(31, sequence)}.xml"
    return Outgoing(TEST, Service.RECEPTION, name, sign(ecf(sequence, **how)))


def summary(sequence: int = 1) -> Outgoing:
    name = f"{ISSUER}{number(32, sequence)}.xml"
    return Outgoing(TEST, Service.SUMMARY_RECEPTION, name, sign(rfce(sequence)))


async def known(simulator: Running, e_ncf: str) -> bool:
    """Whether the simulator holds a document under a number."""
    return bool((await simulator.manage("GET", f"/documents/testecf/{ISSUER}/{e_ncf}"))["documents"])


async def test_an_invoice_goes_all_the_way_and_is_found_again(authority: Authority) -> None:
    outgoing = invoice()
    e_ncf = number(31, 1)

    receipt = await authority.submit(outgoing, ME)
    assert isinstance(receipt, Receipt)
    verdict = await authority.result(TEST, receipt.track_id, ME, e_ncf=e_ncf)
    (tracking,) = await authority.track_ids(TEST, ISSUER, e_ncf, ME)
    state = await authority.state(
        TEST, ISSUER, e_ncf, ME, buyer_rnc=BUYER, security_code=verify(outgoing.xml).security_code
    )

    assert (verdict.estado, verdict.track_id, verdict.e_ncf) == (Estado.ACCEPTED, receipt.track_id, e_ncf)
    assert verdict.number_used is True
    assert (tracking.track_id, tracking.estado) == (receipt.track_id, Estado.ACCEPTED)
    assert isinstance(state, Verdict)
    assert (state.estado, state.e_ncf) == (Estado.ACCEPTED, e_ncf)


async def test_a_summary_is_judged_at_once_and_found_again(authority: Authority) -> None:
    verdict = await authority.submit(summary(), ME)
    found = await authority.summary_state(TEST, ISSUER, number(32, 1), "AbC1+/", ME)

    assert isinstance(verdict, Verdict)
    assert (verdict.estado, verdict.e_ncf, verdict.number_used) == (Estado.ACCEPTED, number(32, 1), True)
    assert isinstance(found, Verdict)
    assert found.estado is Estado.ACCEPTED


async def test_document_never_sent_is_not_found(authority: Authority) -> None:
    track_id = TrackId("d2b6e27c-3908-46f3-afaa-2207b9501b4b")

    assert (await authority.result(TEST, track_id, ME)).estado is Estado.NOT_FOUND
    assert await authority.track_ids(TEST, ISSUER, number(31, 9), ME) == []
    assert await authority.state(TEST, ISSUER, number(31, 9), ME, buyer_rnc=BUYER, security_code="AbC1+/") is None
    assert await authority.summary_state(TEST, ISSUER, number(32, 9), "AbC1+/", ME) is None


async def test_an_approval_and_a_voiding_are_verdicts(authority: Authority) -> None:
    await authority.submit(invoice(), ME)
    approval = Outgoing(TEST, Service.COMMERCIAL_APPROVAL, f"{BUYER}{number(31, 1)}.xml", sign(acecf(number(31, 1))))
    voiding = Outgoing(TEST, Service.RANGE_VOIDING, f"{ISSUER}.xml", sign(anecf(100, 110)))

    for outgoing in (approval, voiding):
        verdict = await authority.submit(outgoing, ME)
        assert isinstance(verdict, Verdict)
        assert verdict.estado is Estado.ACCEPTED


async def test_a_voiding_that_leaves_numbers_out_has_remarks(authority: Authority) -> None:
    await authority.submit(invoice(), ME)

    verdict = await authority.submit(Outgoing(TEST, Service.RANGE_VOIDING, f"{ISSUER}.xml", sign(anecf(1, 3))), ME)

    assert isinstance(verdict, Verdict)
    assert (verdict.estado, [message.valor for message in verdict.messages]) == (Estado.CONDITIONAL, [number(31, 1)])


@pytest.mark.parametrize("catalogue", Catalogue)
async def test_reused_number_is_reported_as_a_duplicate(start: Start, catalogue: Catalogue) -> None:
    simulator = await start(catalogue=catalogue)
    authority = client_of(simulator)
    await authority.submit(invoice(), ME)
    await authority.submit(summary(), ME)

    receipt = await authority.submit(invoice(name="Otra cosa"), ME)
    assert isinstance(receipt, Receipt)
    second = await authority.result(TEST, receipt.track_id, ME)
    again = await authority.submit(summary(), ME)

    assert second.duplicate
    assert isinstance(again, Verdict)
    assert again.duplicate
    authority.close()


async def test_a_document_that_was_altered_is_rejected_and_its_number_is_free(authority: Authority) -> None:
    good = invoice()
    altered = Outgoing(TEST, Service.RECEPTION, good.file_name, good.xml.replace(b">Servicio<", b">Servicia<"))

    receipt = await authority.submit(altered, ME)
    assert isinstance(receipt, Receipt)
    verdict = await authority.result(TEST, receipt.track_id, ME)

    assert (verdict.estado, verdict.number_used) == (Estado.REJECTED, False)
    assert not verdict.duplicate
    assert verdict.messages[0].valor


async def test_a_wrong_file_name_is_refused_at_once(authority: Authority, simulator: Running) -> None:
    outgoing = invoice()

    with pytest.raises(AuthorityRefused) as caught:
        await authority.submit(Outgoing(TEST, Service.RECEPTION, "factura.xml", outgoing.xml), ME)

    assert caught.value.messages
    assert not await known(simulator, number(31, 1))


async def test_undelegated_certificate_is_refused(simulator: Running, authority: Authority) -> None:
    await simulator.manage("POST", "/delegations", {"holder": "99988877766", "issuer": ISSUER})

    with pytest.raises(NotDelegated) as caught:
        await authority.submit(invoice(), ME)

    assert "delegado" in caught.value.messages[0].valor
    assert not await known(simulator, number(31, 1))


async def test_the_services_say_how_they_are(authority: Authority, simulator: Running) -> None:
    services = await authority.service_status("key-1")

    assert {service.environment for service in services} <= set(Environment)
    assert all(service.available for service in services)
    assert await authority.is_up(TEST, "key-1") is True
    assert await authority.maintenance_windows("key-1") == []
    begun = datetime.now(UTC)
    await simulator.manage("POST", "/faults", {"kind": "maintenance", "environment": "testecf", "seconds": 3600})
    assert await authority.is_up(TEST, "key-1") is False
    # An entry for each day, the last minute of which the form cannot say: an hour around midnight there is two of them.
    windows = await authority.maintenance_windows("key-1")
    assert {window.environment for window in windows} == {TEST}
    assert windows[0].starts <= begun
    assert windows[-1].ends >= begun + timedelta(seconds=3600)
    assert all(next_one.starts - one.ends <= timedelta(minutes=1) for one, next_one in pairwise(windows))
    with pytest.raises(Unavailable):
        await authority.result(TEST, TrackId("a-1"), ME)


# --- The promise ------------------------------------------------------------------------------------------------------

EXPECTED: dict[FaultKind, tuple[type, bool | None]] = {
    # The client's expected result at reception, and whether the authority has the document afterwards.
    FaultKind.UNAVAILABLE: (OutcomeUnknown, False),
    FaultKind.RESET_BEFORE: (OutcomeUnknown, False),
    FaultKind.HTML: (OutcomeUnknown, False),
    FaultKind.BARE_STRING: (AuthorityRefused, False),
    FaultKind.UNAUTHORIZED: (Receipt, True),
    FaultKind.REDIRECT: (OutcomeUnknown, False),
    FaultKind.RESET_AFTER: (OutcomeUnknown, True),
    FaultKind.UNAVAILABLE_AFTER: (OutcomeUnknown, True),
    FaultKind.HALF_REPLY: (OutcomeUnknown, True),
    FaultKind.EMPTY: (OutcomeUnknown, True),
    FaultKind.GARBAGE: (OutcomeUnknown, True),
    FaultKind.WRONG_TYPE: (OutcomeUnknown, True),
    FaultKind.SLOW: (Receipt, True),
    FaultKind.DUPLICATE_REPLY: (Receipt, True),
    FaultKind.DUPLICATE_DELIVERY: (Receipt, True),
    FaultKind.OTHER_TRACK: (Receipt, True),
    FaultKind.OTHER_SHAPE: (Receipt, True),
    FaultKind.STUCK: (Receipt, True),
    FaultKind.NOT_FOUND: (Receipt, True),
    FaultKind.BY_CODE: (Receipt, True),
    FaultKind.TRY_AGAIN: (Receipt, True),
}


def test_every_fault_has_its_expectation() -> None:
    # Closing times are elsewhere, and so is the other taxpayer's fault (tests/system/test_counterparties_failing.py).
    assert set(EXPECTED) == set(FaultKind) - {FaultKind.MAINTENANCE, FaultKind.WRONG_ACKNOWLEDGEMENT}


@pytest.mark.parametrize(("kind", "expected"), EXPECTED.items())
async def test_fault_at_reception_is_classified(
    start: Start, kind: FaultKind, expected: tuple[type, bool | None]
) -> None:
    simulator = await start()
    authority = client_of(simulator)
    await authority.submit(invoice(1), ME)
    await simulator.order(kind, operation="reception", **({"seconds": 0.2} if kind is FaultKind.SLOW else {}))

    outcome: object
    try:
        outcome = await authority.submit(invoice(2), ME)
    except AuthorityError as error:
        outcome = error

    assert (type(outcome), await known(simulator, number(31, 2))) == expected
    assert isinstance(await authority.submit(invoice(3), ME), Receipt)
    authority.close()


async def test_a_slow_answer_that_is_given_up_is_an_unknown_outcome(start: Start) -> None:
    simulator = await start()
    authority = client_of(simulator)
    await authority.submit(invoice(1), ME)
    await simulator.order("slow", operation="reception", seconds=3)

    with in_a_hurry(authority), pytest.raises(OutcomeUnknown):
        await authority.submit(invoice(2), ME)

    with trio.fail_after(PATIENCE):  # it may not have come to it yet
        while not await known(simulator, number(31, 2)):  # noqa: ASYNC110  (it is asked by HTTP)
            await trio.sleep(0.05)
    authority.close()


@pytest.mark.parametrize("service", [Service.RECEPTION, Service.SUMMARY_RECEPTION])
@pytest.mark.parametrize("seed", [1, 2])
async def test_received_document_is_never_reported_unsent_under_faults(
    start: Start, seed: int, service: Service
) -> None:
    simulator = await start()
    authority = client_of(simulator, connections=8)
    make, kind = (invoice, 31) if service is Service.RECEPTION else (summary, 32)
    await authority.submit(make(1), ME)
    chances = {kind.value: 0.043 for kind in EXPECTED}
    suffers = ["reception", "summary_reception"]
    outcomes: dict[int, str] = {}

    async def send(sequence: int) -> None:
        document = make(sequence)
        try:
            await authority.submit(document, ME)
            outcomes[sequence] = "answered"
        except (Unavailable, AuthorityRefused):
            outcomes[sequence] = "not processed"
        except OutcomeUnknown:
            outcomes[sequence] = "unknown"

    # Which document meets which fault depends on their order. A day without doubts of both kinds would prove nothing,
    # so the test repeats days until it has both.
    seen: Counter[tuple[str, bool]] = Counter()
    for day in range(10):
        await simulator.manage("POST", "/faults", {"plan": chances, "seed": seed + 10 * day, "operations": suffers})
        of_today = range(2 + 100 * day, 102 + 100 * day)
        async with trio.open_nursery() as nursery:
            for sequence in of_today:
                nursery.start_soon(send, sequence)
        await simulator.manage("POST", "/faults", {"plan": None})
        for sequence in of_today:
            seen[outcomes[sequence], await known(simulator, number(kind, sequence))] += 1
        if {("unknown", True), ("unknown", False), ("answered", True)} <= seen.keys():
            break

    authority.close()
    assert {outcome for outcome, has in seen if outcome != "unknown" and has is not (outcome == "answered")} == set()
    assert {("unknown", True), ("unknown", False), ("answered", True)} <= seen.keys()
