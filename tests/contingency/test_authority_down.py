"""The authority is away for three days: signed and printable meanwhile, alarms, and an ordered, bounded drain."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from fe.ecf.catalogue import Environment
from fe.lifecycle import Stage
from fe.monitoring import collectors
from fe.printing.labels import LEGENDS
from fe.simulator import SimulatorSettings
from tests.factories import bookings
from tests.factories.tenants import make_submission, make_tenant, rows, take
from tests.http.contract.conftest import in_process
from tests.ops.live import ask, needs_prometheus, prometheus, until
from tests.ports import free_port
from tests.printing import reading
from tests.printing.receipt_printer import decode
from tests.system.stack import Stack, running_stack
from tests.system.test_notes import credit_note
from tests.system.test_road import invoice
from tests.waiting import PATIENCE

__all__ = ["in_process"]

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

ECF = Environment.ECF
RECEIPTS = 24
#: Seconds that the authority takes for each document when it is back.
EACH = 0.25
MINUTES_TO_SECONDS = 60

PERIOD = """
    INSERT INTO mode_periods (tenant_id, environment, period_id, mode, number, valid_until, began_at, begun_by, reason)
    VALUES (%(tenant)s, 'ecf', gen_random_uuid(), %(mode)s, '1', '2030-12-31', %(at)s, 'eva', 'why') RETURNING 1
"""
AGENT = """
    INSERT INTO agents (tenant_id, environment, agent_id, epoch, nonce, leased_at)
    VALUES (%(tenant)s, 'ecf', gen_random_uuid(), 1, gen_random_uuid(), now()) RETURNING 1
"""
MOVE = "UPDATE submissions SET signed_at = %(at)s WHERE tenant_id = %(tenant)s"


#: Paper of a contingency that ended 26 days ago, without an e-CF.
PAPER = """
    WITH period AS (
        INSERT INTO mode_periods (tenant_id, environment, period_id, mode, number, began_at, begun_by, reason, ended_at,
                                  ended_by, end_reason)
        VALUES (%(tenant)s, 'ecf', gen_random_uuid(), 'contingency', 'C-1', %(at)s - interval '30 days', 'eva', 'why',
                %(at)s - interval '26 days', 'eva', 'over') RETURNING period_id),
    range AS (
        INSERT INTO paper_ranges (tenant_id, environment, range_id, prefix, first_number, last_number, next_number,
                                  expires_on, recorded_at, recorded_by)
        VALUES (%(tenant)s, 'ecf', gen_random_uuid(), 'B02', 1, 9, 2, '2030-12-31', %(at)s, 'eva') RETURNING range_id)
    INSERT INTO paper_receipts (tenant_id, environment, ncf, range_id, period_id, issued_on, payload, total, itbis,
                                entered_at, entered_by)
    SELECT %(tenant)s, 'ecf', 'B0200000001', range_id, period_id, %(at)s::date - 28, '{}', 1, 0, %(at)s, 'eva'
      FROM period, range RETURNING 1
"""
SIGNED = """
    SELECT s.e_ncf, o.entered_at FROM outbox AS o
      JOIN submissions AS s ON s.tenant_id = o.tenant_id AND s.submission_id = o.subject
     WHERE o.tenant_id = %(tenant)s AND o.stage = 'send'
"""


async def deferred_and_declared(stack: Stack, now: datetime) -> None:
    """Three companies: unsent after 24 hours, in contingency for 15 days, with unreplaced paper after 26 days."""
    route, paper, later = [await make_tenant(stack.db) for _ in range(3)]
    await rows(stack.db, PAPER, tenant=later, at=now)
    await rows(stack.db, PERIOD, tenant=route, mode="deferred", at=now - timedelta(days=2))
    await rows(stack.db, PERIOD, tenant=paper, mode="contingency", at=now - timedelta(days=15, hours=1))
    waiting = await make_submission(stack.db, route, stage=Stage.SEND, at=now - timedelta(hours=25), environment=ECF)
    # Given up, so that it is not sent: it has no document that the authority would take.
    await stack.db.run(bookings.dead_letter, await take(stack.db, waiting), at=now, error="away")


@needs_prometheus
@pytest.mark.usefixtures("in_process")
async def test_three_days_without_the_authority_raise_alarms_and_drain_slowly(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collectors, "_LOOK_SECONDS", 1.0)
    monkeypatch.setattr(collectors, "_SLOW_EVERY", 1)
    port = free_port()
    settings = SimulatorSettings(verdict_delay=timedelta(milliseconds=50))
    async with (
        running_stack(
            dsn, tmp_path, simulator=settings, environment=ECF, metrics_bind=f"127.0.0.1:{port}", time_scale=0.1
        ) as stack,
        httpx.AsyncClient(base_url=stack.simulator.management, trust_env=False, timeout=PATIENCE) as management,
    ):
        (await management.post("/faults", json={"kind": "unavailable", "times": 0})).raise_for_status()
        ids = [(await stack.submit(invoice(number)))["taxLogId"] for number in range(1, RECEIPTS + 1)]
        note = (await stack.submit(credit_note(1, "E310000000001")))["taxLogId"]

        async def is_down() -> bool:
            shown = (await stack.client.get(f"/invoices/{ids[-1]}")).json()
            mode = (await stack.client.get("/contingency")).json()["mode"]
            return mode == "authority_down" and shown["facts"]["signedAt"] is not None

        await until(is_down)
        shown = (await stack.client.get(f"/invoices/{ids[-1]}")).json()
        signed = {
            one["e_ncf"]: one["entered_at"] for one in await rows(stack.db, SIGNED, tenant=stack.tenant.tenant_id)
        }
        paper = decode((await stack.client.get(f"/invoices/{ids[-1]}/ticket")).content).text
        sheet = reading.text((await stack.client.get(f"/invoices/{ids[-1]}/pdf")).content)
        await rows(stack.db, AGENT, tenant=stack.tenant.tenant_id)
        await rows(stack.db, MOVE, tenant=stack.tenant.tenant_id, at=datetime.now(UTC) - timedelta(hours=73))
        await deferred_and_declared(stack, datetime.now(UTC))
        over = 'ALERTS{alertstate="firing", alertname="FeTermNearlyOver"}'
        url = f"http://127.0.0.1:{port}/metrics"
        # Scraped every 10 s: a scrape may take as long, and one that takes longer would take the alerts back.
        async with prometheus(tmp_path, [url], faster=MINUTES_TO_SECONDS, every=10) as client:

            async def terms() -> set[str]:
                return {one["metric"]["term"] for one in await ask(client, over)}

            async def all_fire() -> bool:
                return await terms() == {"sending", "deferred", "period", "replacing"}

            await until(all_fire)
            (await management.delete("/faults")).raise_for_status()
            slow = {"kind": "slow", "operation": "reception", "seconds": EACH, "times": 0}
            (await management.post("/faults", json=slow)).raise_for_status()
            ends = [(await stack.until_final(one))["status"] for one in [*ids, note]]

            async def is_over() -> bool:
                return "sending" not in await terms()

            await until(is_over)
        seen = (await management.get("/journal")).json()

    assert shown["legend"] in LEGENDS.values()
    for printed in (paper, sheet):
        assert "".join(LEGENDS["contingency"].split()) in "".join(printed.split())
    assert ends == ["Aceptado"] * (RECEIPTS + 1)
    drain = [one for one in seen["records"] if one["kind"] == "document" and one["effect"]]
    numbers = [one["eNCF"] for one in drain]
    assert sorted(number for number in numbers if number.startswith("E31")) == [
        f"E31{number:010d}" for number in range(1, RECEIPTS + 1)
    ]
    assert numbers.index("E340000000001") > numbers.index("E310000000001")
    moments = [datetime.fromisoformat(one["at"]).timestamp() for one in drain]
    # In the order of signing, those too that were tried before the breaker opened; two that went together may swap.
    assert len(signed) == RECEIPTS + 1
    for place, number in enumerate(numbers):
        earlier = [numbers[n] for n in range(place) if moments[n] + EACH <= moments[place]]
        assert max((signed[one] for one in earlier), default=signed[number]) <= signed[number], (number, numbers)
    for place, at in enumerate(moments):
        # One at a time, and one more for each four answers: to the document and to two questions for its verdict.
        together = [at <= other < at + EACH for other in moments[place:]].count(True)
        assert together <= 2 + 3 * (place + together) // 4, (place, together, moments)
    assert [moments[0] <= other < moments[0] + EACH for other in moments].count(True) <= 2
