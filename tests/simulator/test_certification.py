"""The counters of the certification environment: they lag, and any rejection puts them to 0."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from fe.authority.estado import Estado
from fe.ecf.catalogue import Environment
from fe.ecf.signature import verify
from fe.simulator.certification import counters
from fe.simulator.examine import DocumentFacts
from fe.simulator.ledger import Filed, Ledger, LedgerVerdict
from fe.simulator.operations import SimulatedOperation
from tests.simulator.support import APPROVAL, BUYER, Start, acecf, ecf, number, rfce, sign

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


async def test_approvals_and_uploads_are_counted_and_kept(start: Start, tmp_path: Path) -> None:
    simulator = await start(journal=tmp_path / "journal", certification_lag=timedelta(0))
    invoice, other = (sign(ecf(place, kind=32)) for place in (7, 8))
    path = f"{simulator.at.management}/certification"

    async def upload(raw: bytes) -> tuple[int, str]:
        reply = await simulator.http.post(path, content=raw)
        return reply.status_code, reply.json().get("message", "")

    assert await upload(invoice) == (400, f"No hay un resumen aceptado de {number(32, 7)}.")
    for place, code in ((7, verify(invoice).security_code), (8, "AbC1+/")):
        answer = (await simulator.summary(sign(rfce(place, code=code)), number(32, place), "certecf")).json()
        assert answer["estado"] == "Aceptado", answer
    assert (await upload(invoice))[0] == 200
    assert await upload(other) == (400, "El código de seguridad o el monto no es el del resumen.")
    assert (await upload(b"<ECF>"))[0] == 400

    async def approve(place: int, file_name: str) -> int:
        raw = sign(acecf(number(31, place)))
        return (await simulator.post(APPROVAL, raw, file_name, "certecf")).status_code

    shown = []
    for place, named in ((1, 1), (2, 2), (2, 2), (3, 4), (5, 5)):
        await approve(place, f"{BUYER}{number(31, named)}.xml")
        found = await simulator.manage("GET", f"/certification?issuer={BUYER}")
        shown.append(found["approvals"])
    assert shown == [1, 2, 2, 0, 1]
    await simulator.stop()
    again = await start(journal=tmp_path / "journal", certification_lag=timedelta(0))
    assert (await again.manage("GET", f"/certification?issuer={BUYER}"))["approvals"] == 1
    found = await again.manage("GET", f"/certification?issuer={RNC}")
    assert (found["uploads"], found["counters"]["RFCE"]) == (1, 2)
