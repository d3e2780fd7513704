"""A month over HTTP: its workbook, its ZIP, and its 606."""

import io
import json
import zipfile
from datetime import UTC, date, datetime

import httpx
import pytest
from python_calamine import CalamineWorkbook

from fe.accounts.sequences import put
from fe.ecf.catalogue import Environment
from fe.http import archives
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.month.period import YearMonth
from fe.month.report_606 import Expense
from fe.store.postgres.db import Database
from fe.store.records import expenses, month_sums, sequences
from tests.factories.tenants import rows
from tests.portal.receipts import make_receipt, make_received
from tests.portal.test_purchases import DOCUMENT
from tests.printing.documents import GOLDEN, signed

AT = datetime(2026, 11, 5, 15, tzinfo=UTC)
HERE = "/months/2026-11"


@pytest.fixture
async def month(db: Database, tenant: TenantId) -> None:
    """Two receipts issued and one received, in the environment of the token."""
    for number, status in ((1, Status.ACCEPTED), (3, Status.REJECTED)):
        made = await make_receipt(
            db, tenant, status=status, at=AT, e_ncf=f"E31{number:010d}", environment=Environment.TESTECF
        )
        await rows(
            db,
            "UPDATE submission_documents SET content = %(xml)b WHERE submission_id = %(id)s AND kind = 'signed'",
            xml=signed(GOLDEN[0]),
            id=made,
        )
    received = DOCUMENT.format(number="E310000000009").encode()
    await make_received(
        db, tenant, e_ncf="E310000000009", environment=Environment.TESTECF, at=AT, document=received, name="=2+5 SRL"
    )


async def test_month_is_summed_by_sequence_where_a_type_has_several(
    db: Database, api: httpx.AsyncClient, tenant: TenantId
) -> None:
    for key, first, last in (("E31", 1, 10), ("E31/Caja 2", 11, 20), ("E32", 1, 10)):
        await db.transact(put, tenant, Environment.TESTECF, key, minimum=first, maximum=last, now=AT)
    for number in (3, 11, 12):
        await make_receipt(db, tenant, at=AT, e_ncf=f"E31{number:010d}", environment=Environment.TESTECF)

    found = (await api.get(HERE)).json()["sequences"]

    total = found[0]["montoTotal"]
    assert found == [
        {
            "prefix": "E31",
            "name": "",
            "receipts": 1,
            "montoTotal": total,
            "first": f"E31{3:010}",
            "last": f"E31{3:010}",
        },
        {
            **{"prefix": "E31", "name": "Caja 2", "receipts": 2, "montoTotal": 2 * total},
            **{"first": f"E31{11:010}", "last": f"E31{12:010}"},
        },
    ]


async def test_sums_by_sequence_of_more_receipts_than_are_read_are_left_out(db: Database, tenant: TenantId) -> None:
    for key, first, last in (("E31", 1, 10), ("E31/Caja 2", 11, 20)):
        await db.transact(put, tenant, Environment.TESTECF, key, minimum=first, maximum=last, now=AT)
    for number in (3, 11, 99):  # the last one is of a range that was replaced
        await make_receipt(db, tenant, at=AT, e_ncf=f"E31{number:010d}", environment=Environment.TESTECF)
    ranges = await db.run(sequences.listed, tenant, Environment.TESTECF)

    async def receipts(most: int) -> list[int]:
        month = YearMonth(2026, 11)
        found = await db.run(month_sums.by_sequence, tenant, Environment.TESTECF, month, ranges, most=most)
        return [one.receipts for one in found]

    assert await receipts(3) == [1, 1]
    assert await receipts(2) == []


@pytest.mark.usefixtures("in_process")
async def test_workbook_has_amounts_as_numbers_and_text_as_text(api: httpx.AsyncClient, month: None) -> None:
    answer = await api.get(f"{HERE}/xlsx", headers={"Accept-Language": "es"})

    assert answer.headers["Content-Disposition"] == 'attachment; filename="testecf-2026-11.xlsx"'
    book = CalamineWorkbook.from_filelike(io.BytesIO(answer.content))
    assert book.sheet_names == ["Totales", "Emitidos", "Recibidos", "Numeración"]
    sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
    assert sheets["Totales"][0][0] == "noviembre 2026"
    assert sheets["Totales"][1][-1] == 1063.18
    first, second = sheets["Emitidos"][1:]
    assert first[:4] == [date(2026, 11, 5), "E31", "E310000000001", "Aceptado"]
    assert (first[6], first[-1], second[3]) == (901.0, 1063.18, "Rechazado")
    (got,) = sheets["Recibidos"][1:]
    assert (got[3:5], got[9], got[-2], got[-1]) == (["131880738", "=2+5 SRL"], 18.0, 118.0, "")
    assert sheets["Numeración"][1:] == [
        ["E31", "E310000000001", "E310000000003", 2.0, 1.0, 1.0, 0.0, 0.0, 1.0],
        ["E31 sin comprobante", "E310000000002", "E310000000002", "", "", "", "", "", 1.0],
    ]


@pytest.mark.usefixtures("in_process")
async def test_archive_has_issued_and_received_receipts_and_is_bounded(
    api: httpx.AsyncClient, month: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await api.get(f"{HERE}/zip?layout=80mm")

    assert answer.headers["Content-Disposition"] == 'attachment; filename="2026-11.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        lines = json.loads(archive.read("manifest.json"))["receipts"]
        assert [line["eNCF"] for line in lines] == ["E310000000001", "E310000000003", "E310000000009"]
        assert archive.read(lines[0]["pdf"])[:5] == b"%PDF-"
        assert lines[0]["xml"].startswith("issued/E310000000001-")
        # It cannot be printed, and its XML is there all the same.
        assert ("error" in lines[2], lines[2]["xml"].partition("-")[0]) == (True, "received/E310000000009")
    monkeypatch.setattr(archives, "MAX_OF_MONTH", 2)
    assert "more than 2 receipts" in (await api.get(f"{HERE}/zip")).json()["message"]


async def test_606_lists_what_is_missing_and_then_is_a_file(
    api: httpx.AsyncClient, month: None, db: Database, tenant: TenantId
) -> None:
    early = (await api.get(f"{HERE}/606")).json()
    await db.run_for(tenant, expenses.put, "131880738", None, Expense("02"), AT)
    made = (await api.get(f"{HERE}/606")).json()

    (lack,) = early["missing"]
    assert (lack["eNCF"], lack["missing"], lack["messageEs"]) == ("E310000000009", ["kind"], "tipo de gasto")
    assert (early["rows"], early["incomplete"], early["content"]) == (1, 1, None)
    assert (made["missing"], made["incomplete"]) == ([], 0)
    assert [one["code"] for one in made["remarks"]] == ["unanswered", "unpaid"]
    assert made["content"].split("\r\n")[1].startswith("131880738|1|02|E310000000009||20261106||100.00||100.00|18.00|")


_ANSWER = """
    INSERT INTO approvals (tenant_id, received_id, round, submission_id, approved, reason, decided_at)
    VALUES (%(tenant)s, %(received)s, %(round)s, %(of)s, %(approved)s, %(reason)s, now())
"""


@pytest.mark.parametrize(
    ("answers", "receipts"),
    [
        ([(False, Status.ACCEPTED)], 0),
        ([(False, Status.REJECTED)], 1),
        ([(False, Status.ACCEPTED), (True, Status.ACCEPTED)], 1),
        ([(False, Status.ACCEPTED), (True, Status.REJECTED)], 0),
    ],
)
async def test_month_leaves_out_what_the_tenant_rejected_as_the_606_does(
    api: httpx.AsyncClient,
    month: None,
    db: Database,
    tenant: TenantId,
    answers: list[tuple[bool, Status]],
    receipts: int,
) -> None:
    document = DOCUMENT.format(number="E310000000077").encode()
    received = await make_received(db, tenant, environment=Environment.TESTECF, at=AT, document=document)
    before = (await api.get(HERE)).json()["totals"]
    for round_, (approved, status) in enumerate(answers, 1):
        made = await make_receipt(db, tenant, status=status, at=AT, e_ncf=None, environment=Environment.TESTECF)
        answer = {"round": round_, "of": made, "approved": approved, "reason": None if approved else "no"}
        await rows(db, _ANSWER, tenant=tenant, received=received, **answer)

    found = (await api.get(HERE)).json()

    amounts = (118 * (1 + receipts), 18 * (1 + receipts))
    assert (before["received"], before["itbisPaid"]) == (236, 36)
    assert (found["totals"]["received"], found["totals"]["itbisPaid"]) == amounts
    assert [(one["receipts"], one["rejected"]) for one in found["received"]] == [(1 + receipts, 1 - receipts)]
    assert (await api.get(f"{HERE}/606")).json()["rows"] == 1 + receipts


async def test_classification_refuses_what_it_would_not_keep_and_is_on_record(
    api: httpx.AsyncClient, db: Database
) -> None:
    here, number = "/expenses/131880738", "E310000000009"
    day = await api.put(here, json={"kind": "02", "paidOn": "2026-11-20"})
    days = await api.put(here, json={"kind": "02", "eNCF": number, "paidAfter": 30})
    said = {"kind": "02", "eNCF": number, "paidOn": "2026-11-20"}
    kept = await api.put(here, json={**said, "paidat": "2026-11-20"})
    again = await api.put(here, json=said)

    assert (day.status_code, day.json()["message"].partition(":")[0]) == (400, "paidOn")
    assert (days.status_code, days.json()["message"].partition(":")[0]) == (400, "paidAfter")
    assert (kept.json()["paidOn"], [one["path"] for one in kept.json()["warnings"]]) == ("2026-11-20", ["paidat"])
    assert "warnings" not in again.json()
    (noted,) = await rows(db, "SELECT through, after FROM tenant_changes WHERE action = 'expense classified'")
    assert (noted["through"], noted["after"]["eNCF"], noted["after"]["paidOn"]) == ("api", number, "2026-11-20")
