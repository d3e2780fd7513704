"""Paper receipts that may have an accepted e-CF that the service does not know of as theirs."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fe.contingency import Mode
from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.store.postgres.db import Conn
from fe.store.records import paper
from tests.contingency.test_paper import authorise, change, content, entered, replaced
from tests.factories.tenants import rows
from tests.system.stack import Stack, running_stack

# As in tests/system/test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
NCF = "B0100000007"
AN_HOUR_AGO = "UPDATE paper_replacements SET begun_at = now() - interval '61 minutes' RETURNING 1"


async def with_range(stack: Stack) -> str:
    """Record a range and declare a contingency; return today."""
    today = local(datetime.now(UTC)).date()
    ends = (today + timedelta(days=200)).isoformat()
    made = await stack.client.post(
        "/paper-ranges", json={"first": "B0100000001", "last": "B0100000050", "expiresOn": ends}
    )
    assert made.status_code == 200, made.text
    await change(stack, Mode.CONTINGENCY, number="C-1", since=datetime.now(UTC) - timedelta(minutes=5))
    return today.isoformat()


async def test_ecf_of_an_entered_paper_receipt_is_refused_however_it_is_spelled(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        day = await with_range(stack)
        await entered(stack, {"ncf": NCF, "issuedOn": day, "payload": content("31")})
        refusals = []
        for number, code in (
            (NCF, "4"),
            (NCF, "04"),
            (f"&#66;{NCF[1:]}", "4"),
            (f"<![CDATA[{NCF}]]>", "4"),
            (NCF, "&#52;"),
        ):
            xml = (
                "<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF></IdDoc></Encabezado>"
                f"<InformacionReferencia><NCFModificado >{number}</NCFModificado>"
                f"<CodigoModificacion>{code}</CodigoModificacion></InformacionReferencia></ECF>"
            )
            answer = await stack.client.post("/invoices", json={"format": "xml", "xml": xml})
            refusals.append((answer.status_code, NCF in answer.text))
        assert refusals == [(409, True)] * 5


async def test_paper_receipt_whose_ecf_ended_in_doubt_gets_no_other_one(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        day = await with_range(stack)
        await entered(stack, {"ncf": NCF, "issuedOn": day, "payload": content("31")})
        await authorise(stack, "31", first=1000)
        (first,) = (await replaced(stack))["items"]
        assert (await stack.until_final(first["taxLogId"]))["status"] == "Rechazado"
        # As an operator's discard leaves one that went out and was never answered.
        await rows(
            stack.db, "UPDATE submissions SET status = 'error', number_fate = 'unknown', verdict_at = NULL RETURNING 1"
        )

        for body in ({}, {"ncfs": [NCF]}):
            (item,) = (await replaced(stack, body))["items"]
            assert (item["issued"], item["state"], item["taxLogId"]) == (False, "issued", first["taxLogId"])
            assert first["eNCF"] in item["problems"][0]["message"]
        corrected = await stack.client.put(f"/paper-receipts/{NCF}", json={"payload": content("31", 451)})
        assert corrected.status_code == 409

        await rows(stack.db, "UPDATE submissions SET number_fate = 'reusable' RETURNING 1")
        (item,) = (await replaced(stack))["items"]
        assert item["issued"]


async def test_number_on_paper_with_an_ecf_of_the_clients_own_is_not_entered(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        day = await with_range(stack)
        receipt = {"ncf": NCF, "issuedOn": day, "payload": content("31")}
        reference = {
            "NCFModificado": NCF,
            "FechaNCFModificado": f"{datetime.fromisoformat(day):%d-%m-%Y}",
            "CodigoModificacion": "4",
        }
        own = {"format": "structured", "payload": {**content("31"), "InformacionReferencia": reference}}
        await authorise(stack, "31", first=1000)
        rejected = await stack.client.post("/invoices", json=own)
        assert (await stack.until_final(rejected.json()["taxLogId"]))["status"] == "Rechazado"
        await authorise(stack, "31", first=1)
        accepted = await stack.client.post("/invoices", json=own)

        (open_one,) = await entered(stack, receipt)
        assert (await stack.until_final(accepted.json()["taxLogId"]))["status"] == "Aceptado"
        (ended,) = await entered(stack, receipt)
        assert [one["statusCode"] for one in (open_one, ended)] == [409, 409]
        assert accepted.json()["taxLogId"] in ended["message"]

        # Entered at the same moment as the client's own came.
        await rows(stack.db, "UPDATE paper_references SET ncf = 'B0100000008' RETURNING 1")
        (made,) = await entered(stack, receipt)
        assert made["statusCode"] == 201
        await rows(stack.db, "UPDATE paper_references SET ncf = %(ncf)s RETURNING 1", ncf=NCF)
        (item,) = (await replaced(stack))["items"]
        assert (item["issued"], item["state"]) == (False, "open")
        assert accepted.json()["taxLogId"] in item["problems"][0]["message"]


async def test_receipt_whose_ecf_was_begun_and_never_stored_is_corrected_after_an_hour(
    dsn: str, tmp_path: Path
) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        day = await with_range(stack)
        await entered(stack, {"ncf": NCF, "issuedOn": day, "payload": content("31")})

        async def begin_and_die(conn: Conn) -> None:
            record = await paper.locked(conn, stack.tenant.tenant_id, Environment.TESTECF, NCF)
            assert record is not None
            await paper.begin_try(conn, stack.tenant.tenant_id, record, at=datetime.now(UTC), by="eva")

        await stack.db.transact(begin_and_die)
        correction = {"payload": content("31", 451)}
        at_once = await stack.client.put(f"/paper-receipts/{NCF}", json=correction)
        await rows(stack.db, AN_HOUR_AGO)
        later = await stack.client.put(f"/paper-receipts/{NCF}", json=correction)
        assert [one.status_code for one in (at_once, later)] == [409, 200]

        (item,) = (await replaced(stack))["items"]
        assert item["issued"]
        await rows(stack.db, AN_HOUR_AGO)
        stored = await stack.client.put(f"/paper-receipts/{NCF}", json=correction)
        assert stored.status_code == 409
        tries = await rows(stack.db, "SELECT attempt, freed_at IS NULL AS live FROM paper_replacements ORDER BY 1")
        assert [(one["attempt"], one["live"]) for one in tries] == [(1, False), (2, True)]
