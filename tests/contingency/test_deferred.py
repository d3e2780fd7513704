"""Deferred sending needs an authorisation, and its legend and term are its own."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import etree

from fe.contingency import Clock, Mode, TermState
from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.ecf.parse import parse_xml
from fe.identifiers import TenantId
from fe.issuing.deferral import KnownDeferrals
from fe.lifecycle import Stage
from fe.printing.labels import LEGENDS
from fe.store.postgres.db import Database
from fe.store.queue import circuits
from fe.store.records import modes, statistics, submissions
from tests.contingency.test_modes import TEST, change
from tests.factories.tenants import make_submission, make_tenant, rows
from tests.http import worker
from tests.http.conftest import api, front, key, tenant
from tests.http.contract.conftest import in_process
from tests.http.front import invoice_payload, structured
from tests.ops.live import until
from tests.printing import reading
from tests.printing.documents import GOLDEN, sign, signed
from tests.printing.receipt_printer import decode
from tests.system.stack import running_stack
from tests.system.test_road import invoice
from tests.waiting import PATIENCE

__all__ = ["api", "front", "in_process", "key", "tenant"]

PATH = "Encabezado.IdDoc.IndicadorEnvioDiferido"
HOUR = timedelta(hours=1)


def later(number: int = 1, **more: Any) -> dict[str, Any]:
    return structured(invoice_payload(f"E31{number:010}", IndicadorEnvioDiferido="1"), **more)


async def authorise(db: Database, tenant: TenantId, at: datetime) -> None:
    await change(db, tenant, Mode.DEFERRED, at=at, number="A-1", valid_until=local(at).date() + timedelta(days=9))


async def test_indicator_is_refused_without_an_authorisation(
    api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    now = datetime.now(UTC)
    refused = await api.post("/invoices", json=later())
    in_spanish = await api.post("/invoices", json=later(), headers={"Accept-Language": "es"})
    batch = await api.post("/invoices/batch", json={"items": [later(), structured(invoice_payload("E310000000009"))]})
    judged = (await api.post("/invoices/validate", json=later())).json()
    await authorise(db, tenant, now - HOUR)
    allowed = await api.post("/invoices", json=later())
    judged_then = (await api.post("/invoices/validate", json=later(2))).json()
    await change(db, tenant, Mode.NORMAL, at=now)
    judged_after = (await api.post("/invoices/validate", json=later(3))).json()

    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (400, PATH)
    assert "no authorisation of deferred sending is on record" in refused.json()["message"]
    assert "no consta una autorización de envío diferido" in in_spanish.json()["message"]
    assert [one["statusCode"] for one in batch.json()["items"]] == [400, 202]
    assert PATH in [one["path"] for one in judged["problems"]]
    assert allowed.status_code == 202
    assert PATH not in [one["path"] for one in judged_then["problems"]]
    assert PATH in [one["path"] for one in judged_after["problems"]]


async def test_authorisation_is_read_once_and_holds_at_the_signature_alone(db: Database) -> None:
    tenant = await make_tenant(db)
    now = datetime.now(UTC)
    known = KnownDeferrals(db)
    assert await known.problem(tenant, TEST, now) is not None
    await authorise(db, tenant, now)

    found = [await known.problem(tenant, TEST, now + one * HOUR) for one in (0, 1, 2)]
    asked = known.asked
    outside = [await known.problem(tenant, TEST, at) for at in (now - HOUR, now + timedelta(days=11))]
    elsewhere = await known.problem(tenant, Environment.ECF, now)

    assert (found, asked) == ([None] * 3, 2)
    assert None not in (*outside, elsewhere)


async def test_authorisation_holds_to_the_end_of_its_last_day_in_santo_domingo(db: Database) -> None:
    tenant = await make_tenant(db)
    began = datetime(2026, 11, 20, 15, tzinfo=UTC)
    await change(db, tenant, Mode.DEFERRED, at=began, number="A-1", valid_until=date(2026, 11, 22))
    last = datetime(2026, 11, 23, 3, 59, 59, 999999, tzinfo=UTC)
    moments = [began - HOUR, began, last, last + timedelta(microseconds=1)]

    (period,) = await db.run(modes.listed, tenant, TEST)
    stored = [await db.run(modes.deferral, tenant, TEST, at) for at in moments]

    assert (
        [one is not None for one in stored] == [period.authorises(at) for at in moments] == [False, True, True, False]
    )


@pytest.mark.usefixtures("in_process")
async def test_papers_of_each_mode_have_their_legend(api: httpx.AsyncClient, db: Database, tenant: TenantId) -> None:
    now = datetime.now(UTC)

    async def papers(number: int, xml: bytes, sale: dict[str, Any]) -> list[str]:
        submission = (await api.post("/invoices", json=sale)).json()["taxLogId"]
        await worker.sign(db, submission, at=now + timedelta(seconds=number), signed=xml)
        drawn = [(await api.get(f"/invoices/{submission}/{kind}")).content for kind in ("pdf", "ticket")]
        return ["".join(reading.text(drawn[0]).split()), "".join(decode(drawn[1]).text.split())]

    plain = signed(GOLDEN[0])
    normal = await papers(1, plain, structured(invoice_payload("E310000000001")))
    await change(db, tenant, Mode.OFFLINE, at=now)
    offline = await papers(2, plain, structured(invoice_payload("E310000000002")))
    await change(db, tenant, Mode.NORMAL, at=now + timedelta(seconds=3))
    await authorise(db, tenant, now)
    root = parse_xml(GOLDEN[0].read_bytes())
    mark = etree.Element("IndicadorEnvioDiferido")
    mark.text = "1"
    root.find("Encabezado/IdDoc/eNCF").addnext(mark)  # type: ignore[union-attr]  # every sample has a number
    deferred = await papers(4, sign(root), later(3))
    await db.run(circuits.open_circuit, "testecf", "ecf", "no answer", timedelta(seconds=3))
    down = await papers(5, plain, structured(invoice_payload("E310000000004")))

    squeezed = {name: "".join(words.split()) for name, words in LEGENDS.items()}
    assert "setentaydos(72)horas" in squeezed["contingency"]
    assert "veinticuatro(24)horas" in squeezed["deferred"]
    found = [
        [name for name in ("contingency", "deferred") if squeezed[name] in paper]
        for paper in (*normal, *offline, *deferred, *down)
    ]
    assert found == [[], [], ["contingency"], ["contingency"], ["deferred"], ["deferred"]] + [["contingency"]] * 2


async def test_terms_run_from_the_signature(db: Database, worker_db: Database) -> None:
    till, route, plain, over = [await make_tenant(db) for _ in range(4)]
    now = datetime.now(UTC)
    await authorise(db, route, now - 30 * HOUR)
    await rows(
        db,
        "INSERT INTO agents (tenant_id, environment, agent_id, epoch, nonce, leased_at) "
        "VALUES (%(tenant)s, 'testecf', gen_random_uuid(), 1, gen_random_uuid(), now()) RETURNING 1",
        tenant=till,
    )
    late = await make_submission(db, till, stage=Stage.SEND, environment=TEST, at=now)
    await rows(
        db,
        "UPDATE submissions SET signed_at = now() - interval '61 hours' "
        "WHERE tenant_id = %(tenant)s AND submission_id = %(id)s RETURNING 1",
        tenant=till,
        id=late,
    )
    await make_submission(db, till, stage=Stage.SEND, environment=TEST, at=now)
    await make_submission(db, route, stage=Stage.SEND, environment=TEST, at=now - 20 * HOUR)
    await make_submission(db, route, stage=Stage.SEND, environment=TEST, at=now - 29 * HOUR)
    await make_submission(db, plain, stage=Stage.SEND, environment=TEST, at=now - 25 * HOUR)
    await authorise(db, over, now - timedelta(days=20))
    behind = await make_submission(db, over, stage=Stage.SEND, environment=TEST, at=now - 26 * HOUR)

    found = await worker_db.run(statistics.terms)

    counts: Counter[tuple[Clock, TermState]] = Counter()
    for _, clock, state, many in found:
        counts[clock, state] += many
    assert +counts == {
        (Clock.SENDING, TermState.SOON): 2,
        (Clock.SENDING, TermState.URGENT): 1,
        (Clock.DEFERRED, TermState.URGENT): 1,
        (Clock.DEFERRED, TermState.OVER): 1,
    }
    # The authorisation's last day was over when this one was signed.
    shown = await db.run_for(over, submissions.find, behind)
    assert shown is not None
    assert not shown.is_deferred


async def test_deferred_sale_carries_its_legend_until_the_authority_accepts_it(dsn: str, tmp_path: Path) -> None:
    async with (
        running_stack(dsn, tmp_path) as stack,
        httpx.AsyncClient(base_url=stack.simulator.management, trust_env=False, timeout=PATIENCE) as management,
    ):
        await authorise(stack.db, stack.tenant.tenant_id, datetime.now(UTC) - HOUR)
        stuck = {"kind": "stuck", "operation": "result", "times": 0}
        (await management.post("/faults", json=stuck)).raise_for_status()
        track = (await stack.submit(invoice(1, IndicadorEnvioDiferido="1")))["taxLogId"]

        shown: dict[str, Any] = {}

        async def is_received() -> bool:
            shown.update((await stack.client.get(f"/invoices/{track}")).json())
            return shown["facts"]["receivedAt"] is not None

        await until(is_received)
        mode = (await stack.client.get("/contingency")).json()["mode"]
        sheet = reading.text((await stack.client.get(f"/invoices/{track}/pdf")).content)
        (await management.delete("/faults")).raise_for_status()
        ended = await stack.until_final(track)
        after = reading.text((await stack.client.get(f"/invoices/{track}/pdf")).content)
        sent = (await stack.client.get(f"/invoices/{track}/xml")).json()["xml"]
        journal = (await management.get("/journal")).json()["records"]

    legend = "".join(LEGENDS["deferred"].split())
    assert (mode, ended["status"]) == ("deferred", "Aceptado")
    assert shown["legend"] == LEGENDS["deferred"]
    assert "legend" not in ended
    assert legend in "".join(sheet.split())
    assert legend not in "".join(after.split())
    assert "<IndicadorEnvioDiferido>1</IndicadorEnvioDiferido>" in sent
    (taken,) = [one for one in journal if one["kind"] == "document" and one["effect"]]
    assert taken["sha256"] == sha256(sent.encode()).hexdigest()
