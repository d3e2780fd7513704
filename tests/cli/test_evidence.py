"""`fe evidence`: exported, proved here and elsewhere, and every change shows."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from fe.identifiers import SubmissionId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from tests.cli.running import Fe
from tests.factories.tenants import make_submission, make_tenant, row, rows

NOW = datetime.now(UTC)


@pytest.fixture
async def subject(db: Database) -> SubmissionId:
    return await make_submission(db, await make_tenant(db), stage=Stage.TRACK, at=NOW)


async def test_a_story_is_proved_in_the_database_and_from_its_export_without_one(fe: Fe, subject: SubmissionId) -> None:
    exported = fe("evidence", "export", str(subject)).json
    (fe.folder / "evidence.json").write_text(json.dumps(exported))

    here = fe("evidence", "verify", str(subject))
    there = fe("evidence", "verify", "--file", "evidence.json", database_url="postgresql://127.0.0.1:1/none")

    last = exported["events"][-1]["hash"]
    assert here.out == there.out == f"4 events, last hash {last}: nothing was changed\n"
    assert fe("evidence", "verify", str(subject), "--expect", last).code == 0


async def test_a_change_in_the_database_is_named_and_is_code_1(fe: Fe, db: Database, subject: SubmissionId) -> None:
    noted = fe("evidence", "export", str(subject)).json["events"][-1]["hash"]
    await rows(db, "UPDATE submission_events SET detail = '{}' WHERE seq = 2")

    told = fe("evidence", "verify", str(subject))
    await rows(db, "DELETE FROM submission_events WHERE seq = 4")
    cut = fe("evidence", "verify", str(subject), "--expect", noted)

    assert (told.code, told.out) == (1, "")
    assert f"{subject}: event 2 (signed) was changed, or one before it was" in told.err.splitlines()
    assert f"{subject}: no event has the hash {noted}: the end was cut off" in cut.err


async def test_a_forged_export_is_told_from_one_that_cannot_be_read(fe: Fe, subject: SubmissionId) -> None:
    exported = fe("evidence", "export", str(subject)).json
    forged = json.loads(json.dumps(exported))
    forged["events"][1]["kind"] = "retry"
    files = {"forged": json.dumps(forged), "list": "[1]", "other": '{"format": "x"}', "torn": json.dumps(exported)[:-9]}
    for name, text in files.items():
        (fe.folder / f"{name}.json").write_text(text)

    assert "event 2 (retry) was changed" in fe("evidence", "verify", "--file", "forged.json").err
    assert fe.refused("evidence", "verify", "--file", "list.json") == "list.json: should hold one JSON object"
    assert "not an export of the form" in fe.refused("evidence", "verify", "--file", "other.json")
    assert fe.refused("evidence", "verify", "--file", "torn.json").startswith("torn.json: ")


async def test_all_that_a_tenant_sent_in_a_period_is_checked_at_once(
    fe: Fe, db: Database, subject: SubmissionId
) -> None:
    tenant = await row(db, "SELECT tenant_id, name FROM tenants")
    early = await make_submission(db, tenant["tenant_id"], at=NOW - timedelta(days=3), e_ncf="E310000000002")
    today = f"{NOW:%Y-%m-%d}"
    before = f"{NOW - timedelta(days=2):%Y-%m-%d}"

    all_of_it = fe("evidence", "verify", "--tenant", tenant["name"])
    await rows(db, "UPDATE submission_events SET kind = 'x' WHERE submission_id = %(id)s", id=early)
    since = fe("evidence", "verify", "--tenant", tenant["name"], "--since", today)
    until = fe("evidence", "verify", "--tenant", tenant["name"], "--until", before)

    assert all_of_it.out == "2 submissions checked: nothing was changed\n"
    assert since.out == "1 submissions checked: nothing was changed\n"
    assert (until.code, until.err.startswith(f"{early}: event 1 (x) was changed")) == (1, True)
    assert str(subject) not in until.err


def test_what_is_to_be_proved_has_to_be_said_once(fe: Fe) -> None:
    nobody = uuid4()

    assert "give one of" in fe.refused("evidence", "verify", code=2)
    assert "give one of" in fe.refused("evidence", "verify", str(nobody), "--tenant", "x", code=2)
    assert "one submission" in fe.refused("evidence", "verify", "--tenant", "x", "--expect", "ab", code=2)
    assert fe.refused("evidence", "verify", str(nobody)) == f"there is no submission {nobody}"
    assert fe.refused("evidence", "verify", "--tenant", "nobody") == "there is no tenant 'nobody'"
