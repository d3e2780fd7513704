"""Wherever an operator's command asks for a submission, each of its names will do."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from fe.identifiers import SubmissionId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from tests.cli.running import Fe
from tests.factories.tenants import make_submission, make_tenant, rows

NOW = datetime.now(UTC)
TRACK = "d2b6e27c-3908-46f3-afaa-2207b9501b4b"


@pytest.fixture
async def subject(db: Database) -> SubmissionId:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.TRACK, at=NOW, e_ncf="E310000000007")
    await make_submission(db, tenant, stage=Stage.SIGN, at=NOW, e_ncf="E310000000008")
    await rows(db, "UPDATE submissions SET track_id = %(track)s WHERE submission_id = %(id)s", track=TRACK, id=subject)
    await rows(
        db,
        "INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)"
        " SELECT tenant_id, environment, 'order 7 / ñ', submission_id FROM submissions WHERE submission_id = %(id)s",
        id=subject,
    )
    return subject


async def test_it_is_found_by_each_of_its_names(fe: Fe, subject: SubmissionId) -> None:
    for name in (str(subject), TRACK, "E310000000007", "order 7 / ñ"):
        assert fe("outbox", "why", name, "--json").json["taxLogId"] == str(subject)
        assert len(fe("outbox", "show", name, "--json").json) == 4
        assert fe("evidence", "export", name).json["taxLogId"] == str(subject)
        assert fe("evidence", "verify", name, "--json").json["taxLogId"] == str(subject)
        assert "nothing is handed on" in fe.refused("counterparty", "replay", name, "--reason", "x")
        assert fe("outbox", "list", "--id", name, "--json").json == []


async def test_what_goes_by_no_such_name_is_told(fe: Fe, subject: SubmissionId) -> None:
    for name in (str(UUID(int=1)), "E310000000009", "none", "", "%"):
        assert fe.refused("outbox", "why", name) == f"there is no submission {name}".strip()
        assert fe.refused("outbox", "list", "--id", name) == f"there is no submission {name}".strip()


async def test_of_several_with_a_number_the_one_that_has_it_is_meant_or_a_person_is_asked(
    fe: Fe, db: Database, subject: SubmissionId
) -> None:
    other = await make_submission(db, await make_tenant(db), stage=Stage.TRACK, at=NOW, e_ncf="E310000000007")

    told = fe.refused("outbox", "why", "E310000000007")
    await rows(
        db, "UPDATE submissions SET status = 'Rechazado', verdict_at = now() WHERE submission_id = %(id)s", id=other
    )

    assert "matches 2 submissions, choose one by its taxLogId: " in told
    assert str(subject) in told
    assert str(other) in told
    assert fe("outbox", "why", "E310000000007", "--json").json["taxLogId"] == str(subject)


async def test_nobody_takes_the_place_of_a_submission_by_a_track_id_like_its_id(
    fe: Fe, db: Database, subject: SubmissionId
) -> None:
    other = await make_submission(db, await make_tenant(db), stage=Stage.TRACK, at=NOW, e_ncf="E310000000001")
    await rows(
        db, "UPDATE submissions SET track_id = %(track)s WHERE submission_id = %(id)s", track=str(subject), id=other
    )

    assert fe("outbox", "why", str(subject), "--json").json["taxLogId"] == str(subject)
