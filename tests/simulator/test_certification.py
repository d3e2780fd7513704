"""The counters of the certification environment: they lag, and any rejection puts them to 0."""

from datetime import UTC, datetime, timedelta

from fe.authority.estado import Estado
from fe.ecf.catalogue import Environment
from fe.simulator.certification import counters
from fe.simulator.examine import DocumentFacts
from fe.simulator.ledger import Filed, Ledger, LedgerVerdict
from fe.simulator.operations import SimulatedOperation
from tests.simulator.support import Start, number, rfce, sign

NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)
RNC = "131880738"


def file(ledger: Ledger, place: int, e_ncf: str, estado: Estado = Estado.ACCEPTED, *, summary: bool = False) -> None:
    operation = SimulatedOperation.SUMMARY_RECEPTION if summary else SimulatedOperation.RECEPTION
    at = NOW + timedelta(seconds=place)
    verdict = LedgerVerdict(estado, (), number_used=True)
    ledger.file(Filed(operation, Environment.CERTECF, RNC, e_ncf, None, "", at, DocumentFacts("ECF"), verdict, at))


def shown(ledger: Ledger, seconds: float, lag: float = 0) -> tuple[dict[str, int], int]:
    found = counters(ledger, RNC, NOW + timedelta(seconds=seconds), timedelta(seconds=lag))
    assert len(found["counters"]) == 11
    return {name: number for name, number in found["counters"].items() if number}, found["resets"]


def test_counters_lag_and_any_rejection_resets_them() -> None:
    ledger = Ledger()
    file(ledger, 1, "E310000000001")
    file(ledger, 2, "E320000000001", summary=True)
    file(ledger, 3, "E320000000002")
    assert shown(ledger, 3) == ({"E31": 1, "E32": 1, "RFCE": 1}, 0)
    assert shown(ledger, 3, lag=2) == ({"E31": 1}, 0)
    file(ledger, 4, "E310000000002", Estado.REJECTED)
    file(ledger, 5, "E310000000003", Estado.CONDITIONAL)
    assert shown(ledger, 4) == ({}, 1)
    assert shown(ledger, 5) == ({"E31": 1}, 1)


async def test_management_port_shows_the_counters_and_a_refused_summary_burns_its_number(start: Start) -> None:
    simulator = await start()
    found = await simulator.manage("GET", "/certification", status=400)
    assert found["message"] == "name the issuer: ?issuer=RNC"
    found = await simulator.manage("GET", f"/certification?issuer={RNC}")
    assert (found["resets"], found["lagSeconds"]) == (0, 120)
    wrong = sign(rfce(7, total="1180.5"))
    for environment, is_used in (("certecf", True), ("testecf", False)):
        answer = (await simulator.summary(wrong, number(32, 7), environment)).json()
        assert (answer["estado"], answer["secuenciaUtilizada"]) == ("Rechazado", is_used)
