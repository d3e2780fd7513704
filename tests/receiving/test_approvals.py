"""Buyers' approvals of our receipts: verified, stored once, and refused where invalid or contradictory."""

from datetime import UTC, datetime, timedelta

import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId
from fe.store.postgres.db import Database
from tests.factories.tenants import ACCEPTED_AT, make_submission, make_tenant, rows
from tests.receiving.supplier import OURS, THEIRS, Running, approval, sign

NUMBER = "E310000000001"


async def issue(
    db: Database, reception: Running, status: str = "Aceptado", number: str = NUMBER, at: datetime = ACCEPTED_AT
) -> SubmissionId:
    """A receipt that we issued to THEIRS, at some point of its life."""
    subject = await make_submission(
        db,
        reception.tenant,
        at=at,
        environment=Environment.TESTECF,
        issuer_rnc=OURS,
        buyer_rnc=THEIRS,
        e_ncf=number,
    )
    await rows(
        db,
        "UPDATE submissions SET status = %(status)s, verdict_at = %(verdict)s WHERE submission_id = %(id)s",
        status=status,
        verdict=datetime.now(UTC) if status in ("Aceptado", "Aceptado Condicional", "Rechazado") else None,
        id=subject,
    )
    return subject


async def said(db: Database, reception: Running, subject: SubmissionId) -> tuple[bool, str | None] | None:
    found = await rows(
        db,
        "SELECT approved, reason FROM received_approvals WHERE tenant_id = %(tenant)s AND submission_id = %(id)s",
        tenant=reception.tenant,
        id=subject,
    )
    return (found[0]["approved"], found[0]["reason"]) if found else None


@pytest.mark.parametrize("status", ["Aceptado", "Aceptado Condicional"])
async def test_an_approval_of_an_accepted_receipt_is_kept(reception: Running, db: Database, status: str) -> None:
    subject = await issue(db, reception, status)
    raw = approval(NUMBER, THEIRS)

    answer = await reception.approve(raw)

    assert answer.status_code == 200
    assert await said(db, reception, subject) == (True, None)
    (row,) = await rows(db, "SELECT document FROM received_approvals")
    assert bytes(row["document"]) == raw


async def test_a_rejection_is_kept_with_its_reason(reception: Running, db: Database) -> None:
    subject = await issue(db, reception)

    assert (await reception.approve(approval(NUMBER, THEIRS, state="2"))).status_code == 200

    assert await said(db, reception, subject) == (False, "no es lo pedido")


async def test_saying_the_same_twice_changes_nothing_and_the_contrary_is_refused(
    reception: Running, db: Database
) -> None:
    subject = await issue(db, reception)
    await reception.approve(approval(NUMBER, THEIRS))

    assert (await reception.approve(approval(NUMBER, THEIRS))).status_code == 200
    answer = await reception.approve(approval(NUMBER, THEIRS, state="2"))

    assert (answer.status_code, "contradicts" in answer.json()["message"]) == (400, True)
    assert await said(db, reception, subject) == (True, None)


async def test_an_amount_without_decimals_passes_as_the_authoritys_own_counterparty_sends_it(
    reception: Running, db: Database
) -> None:
    await issue(db, reception)
    raw = approval(NUMBER, THEIRS)
    whole = sign(raw.replace(b"<MontoTotal>118.00", b"<MontoTotal>118"))

    assert (await reception.approve(whole)).status_code == 200


@pytest.mark.parametrize("state", ["1", "2"])
async def test_a_reason_that_is_left_empty_is_none(reception: Running, db: Database, state: str) -> None:
    """The authority's schema takes it so."""
    subject = await issue(db, reception)
    raw = approval(NUMBER, THEIRS, Estado=state)
    empty = raw.replace(b"</Estado>", b"</Estado><DetalleMotivoRechazo></DetalleMotivoRechazo>")

    assert (await reception.approve(sign(empty))).status_code == 200
    assert await said(db, reception, subject) == (state == "1", None)


async def test_a_state_is_its_number_however_it_is_spelt(reception: Running, db: Database) -> None:
    """As the schema has it; taken for a text, `01` was a rejection."""
    subject = await issue(db, reception)

    assert (await reception.approve(approval(NUMBER, THEIRS, Estado="01"))).status_code == 200
    assert await said(db, reception, subject) == (True, None)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (approval("E310000000009", THEIRS), "no accepted e-CF"),
        (approval(NUMBER, "131880657"), "no accepted e-CF"),
        (approval(NUMBER, THEIRS, issuer=THEIRS), "somebody else"),
        (approval(NUMBER, THEIRS).replace(b"<Estado>1", b"<Estado>2"), "signature"),
        (approval(NUMBER, THEIRS, Estado="3"), "format"),
        (approval(NUMBER, THEIRS).replace(b"ACECF>", b"ECF>"), "root"),
        (b"<a", "xml"),
    ],
)
async def test_invalid_approval_gets_400_with_a_reason(reception: Running, db: Database, raw: bytes, says: str) -> None:
    subject = await issue(db, reception)

    answer = await reception.approve(raw)

    assert (answer.status_code, says in answer.json()["message"]) == (400, True), answer.text
    assert await said(db, reception, subject) is None


@pytest.mark.parametrize("status", ["queued", "Rechazado", "error"])
async def test_only_accepted_receipts_can_be_approved(reception: Running, db: Database, status: str) -> None:
    await issue(db, reception, status)

    assert (await reception.approve(approval(NUMBER, THEIRS))).status_code == 400


@pytest.mark.parametrize("kind", ["32", "41", "43", "46", "47"])
async def test_a_type_that_takes_no_approval_is_not_approved(reception: Running, db: Database, kind: str) -> None:
    number = f"E{kind}0000000001"
    subject = await issue(db, reception, number=number)

    answer = await reception.approve(approval(number, THEIRS))

    assert (answer.status_code, "takes no commercial approval" in answer.json()["message"]) == (400, True), answer.text
    assert await said(db, reception, subject) is None


@pytest.mark.parametrize("kind", ["33", "34", "44", "45"])
async def test_every_type_that_takes_an_approval_is_approved(reception: Running, db: Database, kind: str) -> None:
    number = f"E{kind}0000000001"
    subject = await issue(db, reception, number=number)

    assert (await reception.approve(approval(number, THEIRS))).status_code == 200
    assert await said(db, reception, subject) == (True, None)


async def test_the_accepted_one_is_found_however_often_its_number_was_handed_in_again(
    reception: Running, db: Database
) -> None:
    subject = await issue(db, reception)
    for minutes in range(1, 12):
        await issue(db, reception, "error", at=ACCEPTED_AT + timedelta(minutes=minutes))

    assert (await reception.approve(approval(NUMBER, THEIRS))).status_code == 200
    assert await said(db, reception, subject) == (True, None)


async def test_a_receipt_of_another_tenant_is_not_found(reception: Running, db: Database) -> None:
    other = await make_tenant(db)
    subject = await make_submission(
        db, other, environment=Environment.TESTECF, issuer_rnc=OURS, buyer_rnc=THEIRS, e_ncf=NUMBER
    )
    await rows(
        db, "UPDATE submissions SET status = 'Aceptado', verdict_at = now() WHERE submission_id = %(id)s", id=subject
    )

    assert (await reception.approve(approval(NUMBER, THEIRS))).status_code == 400
