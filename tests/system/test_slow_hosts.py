"""One slow host of the authority, or one failing tenant, over real sockets: all others go on."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from fe.queue.circuit_breaker import FAILURES_TO_OPEN
from fe.store.queue import circuits
from tests.factories.tenants import rows
from tests.system.pair import running_pair, until
from tests.system.stack import Stack, running_stack
from tests.system.test_road import consumer_invoice, invoice
from tests.waiting import PATIENCE

# As in test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


_WAITING = "SELECT tenant_id FROM outbox WHERE tenant_id = %(tenant)s"
_SENDS = "SELECT tenant_id FROM sends WHERE tenant_id = %(tenant)s"


async def order_faults(stack: Stack, **fault: Any) -> None:
    async with httpx.AsyncClient(base_url=stack.simulator.management, trust_env=False, timeout=PATIENCE) as management:
        ordered = await management.post("/faults", json={"times": 0, **fault})
        assert ordered.is_success, ordered.text


async def test_consumer_summaries_are_sent_while_the_host_of_receipts_is_slow(dsn: str, tmp_path: Path) -> None:
    """More receipts than there are slots hang: all summaries get through before the first of these is given up."""
    async with running_stack(dsn, tmp_path, send_slots=16, authority_timeout=35) as stack:
        await order_faults(stack, kind="slow", operation="reception", seconds=500)
        for number in range(1, 31):
            await stack.submit(invoice(number))

        async def all_are_signed() -> bool:
            return not await rows(stack.db, "SELECT tenant_id FROM outbox WHERE stage = 'sign'")

        await until(all_are_signed)
        taken = [await stack.submit(consumer_invoice(number)) for number in range(1, 25)]
        ends = [(await stack.until_final(one["taxLogId"]))["status"] for one in taken]
        (waiting,) = await rows(stack.db, "SELECT count(*) AS many FROM outbox WHERE stage = 'send' AND host = 'ecf'")

    assert ends == ["Aceptado"] * 24
    assert waiting["many"] == 30


async def test_tenant_whose_documents_fail_opens_no_circuit_for_another(dsn: str, tmp_path: Path) -> None:
    async with running_pair(dsn, tmp_path) as pair:
        await order_faults(pair.stack, kind="unavailable", operation="reception", issuer=pair.a.rnc)

        async def submit_of_b(number: int) -> None:
            payload = invoice(number)
            payload["Encabezado"]["Comprador"] = {"RNCComprador": pair.a.rnc, "RazonSocialComprador": "A SRL"}
            answer = await pair.b.client.post("/invoices", json={"format": "structured", "payload": payload})
            assert answer.status_code == 202, answer.text

        async def b_is_through() -> bool:
            return not await rows(pair.stack.db, _WAITING, tenant=pair.b.tenant.tenant_id)

        async def many_of_a_were_sent() -> bool:
            return len(await rows(pair.stack.db, _SENDS, tenant=pair.stack.tenant.tenant_id)) > 2 * FAILURES_TO_OPEN

        await pair.stack.submit(invoice(1))
        await submit_of_b(1)
        await until(b_is_through)
        for number in range(2, 25):
            await pair.stack.submit(invoice(number))
            await submit_of_b(number)
        await until(many_of_a_were_sent)
        await submit_of_b(25)
        await until(b_is_through)
        known = await pair.stack.db.run(circuits.everything)

    assert known == []
