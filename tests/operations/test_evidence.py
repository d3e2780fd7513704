"""A history can be proved from its export alone, and every way to change it shows."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from fe.ecf.ids import new_id
from fe.ecf.parse import parse_json
from fe.identifiers import ActionId, SubmissionId, TenantId, TrackId
from fe.lifecycle import Stage, Status
from fe.operations.evidence import NotAnExport, export, faults, link_hash, read_export
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.records import evidence as stored
from fe.store.records.evidence import ChainLink, Evidence
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, SIGNED, make_submission, make_tenant, rows, take

NOW = ACCEPTED_AT + timedelta(minutes=1)


async def read(db: Database, subject: SubmissionId) -> Evidence:
    evidence = await db.transact(stored.read, subject)
    assert evidence is not None
    return evidence


async def accepted(db: Database, *, summary: bool = False) -> Evidence:
    """One from its acceptance to the authority's last word."""
    tenant = await make_tenant(db)
    more: dict[str, Any] = {"ecf_type": "32", "e_ncf": "E320000000001"} if summary else {}
    subject = await make_submission(
        db, tenant, stage=Stage.TRACK, signed=b"<RFCE>signed</RFCE>" if summary else SIGNED, summary=summary, **more
    )
    await db.run(
        bookings.verdict,
        await take(db, subject),
        at=NOW,
        response={"mensajes": [{"valor": "Número Ñ €", "codigo": 0}], "z": 1, "a": {"aa": 2, "b": None}},
    )
    return await read(db, subject)


def through_a_file(evidence: Evidence) -> Evidence:
    """Exported, written as JSON text, and read again."""
    value = parse_json(json.dumps(export(evidence), ensure_ascii=False).encode())
    return read_export(value)


async def test_an_untouched_one_has_no_fault_here_and_in_its_export(db: Database) -> None:
    evidence = await accepted(db)

    assert [link.kind for link in evidence.links] == ["accepted", "signed", "sending", "received", "verdict"]
    assert list(faults(evidence)) == []
    assert through_a_file(evidence) == evidence


async def test_the_database_and_python_compute_the_same_hash_for_any_text(db: Database) -> None:
    moments = [ACCEPTED_AT, datetime(1999, 12, 31, 23, 59, 59, 999999, UTC), datetime(2030, 1, 1, tzinfo=UTC)]
    details = [
        {},
        {"a": 'quote " and \\ and \n and é and 🐘'},
        {"n": 12345678901234567890, "x": 1.5, "l": [None, True]},
    ]
    for at, detail in zip(moments, details, strict=True):
        (found,) = await rows(
            db,
            """SELECT event_hash(%(previous)s, 7, %(id)s, 3, %(at)s, 'verdict', %(detail)s::jsonb) AS hash,
                      %(detail)s::jsonb::text AS detail""",
            previous=b"\x01\x02",
            id=UUID(int=5),
            at=at,
            detail=json.dumps(detail),
        )

        assert found["hash"] == link_hash(
            b"\x01\x02", TenantId(7), SubmissionId(UUID(int=5)), 3, at, "verdict", found["detail"]
        )


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (
            "UPDATE submission_events SET detail = jsonb_set(detail, '{status}', '\"Rechazado\"') WHERE seq = 5",
            "event 5 (verdict) was changed",
        ),
        ("UPDATE submission_events SET at = timestamptz 'epoch' WHERE seq = 2", "event 2 (signed) was changed"),
        ("UPDATE submission_events SET kind = 'retry' WHERE seq = 3", "event 3 (retry) was changed"),
        ("DELETE FROM submission_events WHERE seq = 3", "event 3 is missing"),
        ("DELETE FROM submission_events WHERE seq = 1", "event 1 is missing"),
        ("UPDATE submission_events SET hash = sha256('x') WHERE seq = 4", "event 4 (received) was changed"),
        ("UPDATE submissions SET status = 'Rechazado'", "said to be Rechazado, and its events make it Aceptado"),
        ("DELETE FROM submission_events WHERE seq = 5", "said to be Aceptado, and its events make it queued"),
        (
            "UPDATE submission_documents SET content = '<ECF>other</ECF>' WHERE kind = 'signed'",
            "no event tells of the document signed",
        ),
        ("DELETE FROM submission_documents WHERE kind = 'signed'", "is not kept"),
        (
            "UPDATE submission_documents SET content = 'x' WHERE kind = 'original'",
            "no event tells of the document orig",
        ),
        ("DELETE FROM submission_documents WHERE kind = 'original'", "what the client sent, with the digest"),
        ("DELETE FROM submission_events", "there is no event at all"),
    ],
)
async def test_every_change_in_the_database_shows(db: Database, statement: str, fault: str) -> None:
    evidence = await accepted(db)
    await rows(db, statement)

    found = list(faults(await read(db, evidence.submission_id)))

    assert any(fault in sentence for sentence in found), found


async def test_other_bytes_than_those_that_were_sent_show(db: Database) -> None:
    evidence = await accepted(db)
    forged = replace(
        evidence,
        documents=tuple(replace(one, content=b"x") if one.kind == "signed" else one for one in evidence.documents),
    )

    found = list(faults(forged))

    assert any(sentence.endswith("were sent, and are not kept") for sentence in found)


async def test_a_summary_is_proved_beside_the_invoice_it_stands_for(db: Database) -> None:
    evidence = await accepted(db, summary=True)

    assert {document.kind for document in evidence.documents} == {"original", "signed", "sent"}
    assert list(faults(evidence)) == []


async def test_an_event_put_in_with_a_hash_of_its_own_shows(db: Database) -> None:
    evidence = await accepted(db)
    first, second = evidence.links[:2]
    detail = '{"by": "nobody"}'
    forged = replace(
        second,
        kind="retry",
        detail_text=detail,
        hash=link_hash(first.hash, evidence.tenant_id, evidence.submission_id, 2, second.at, "retry", detail),
    )
    later = tuple(replace(link, seq=link.seq + 1) for link in evidence.links[1:])

    found = list(faults(replace(evidence, links=(first, forged, *later))))

    assert "event 3 (signed) was changed, or one before it was" in found


async def test_a_chain_whose_end_was_cut_off_shows_by_a_hash_that_was_noted(db: Database) -> None:
    evidence = await accepted(db)
    noted = evidence.links[-1].hash.hex()
    cut = replace(evidence, links=evidence.links[:-1], status=Status.QUEUED)

    assert list(faults(cut)) == []
    assert any("the end was cut off" in sentence for sentence in faults(cut, expected_hash=noted))
    assert list(faults(evidence, expected_hash=noted.upper())) == []
    assert list(faults(evidence, expected_hash=evidence.links[1].hash.hex())) == []


async def test_another_submission_s_chain_is_no_proof(db: Database) -> None:
    one, other = await accepted(db), await accepted(db)

    assert list(faults(replace(one, links=other.links))) != []


async def test_what_operators_did_is_part_of_the_evidence(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.SEND)
    await db.run(bookings.dead_letter, await take(db, subject), at=NOW, error="cannot connect")
    await db.transact(
        dead_letters.discard, OperatorAction(ActionId(new_id(NOW)), NOW, "eva", "issued by hand"), tenant, subject
    )

    evidence = await read(db, subject)

    assert [link.kind for link in evidence.links][-2:] == ["dead_letter", "discarded"]
    assert '"by": "eva"' in evidence.links[-1].detail_text
    assert evidence.status == "error"
    assert list(faults(evidence)) == []


async def test_a_submission_under_way_is_proved_as_far_as_it_got(db: Database) -> None:
    tenant = await make_tenant(db)
    for stage in Stage:
        evidence = await read(db, await make_submission(db, tenant, stage=stage, track_id=TrackId(f"t-{stage}")))
        assert list(faults(evidence)) == []
    following = await make_submission(db, tenant, stage=Stage.TRACK)
    await db.run(bookings.processing, await take(db, following), at=NOW, after=timedelta(0), response={"mensajes": []})

    evidence = await read(db, following)

    assert evidence.status == "En Proceso"
    assert list(faults(evidence)) == []


def written_anew(evidence: Evidence, *events: tuple[str, str]) -> Evidence:
    """With other events, in a chain of hashes that holds."""
    links: list[ChainLink] = []
    for seq, (kind, detail) in enumerate(events, 1):
        previous = links[-1].hash if links else b""
        digest = link_hash(previous, evidence.tenant_id, evidence.submission_id, seq, NOW, kind, detail)
        links.append(ChainLink(seq, NOW, kind, detail, digest))
    return replace(evidence, links=tuple(links))


@pytest.mark.parametrize(
    ("order", "fault"),
    [
        ((0, 1, 2, 3, 4, 4), "event 6: verdict after its end"),
        ((0, 1, 1, 2, 3, 4), "event 3: signed cannot follow where it stands (send)"),
        ((0, 4), "event 2: verdict cannot follow where it stands (sign)"),
        ((1, 2, 3, 4), "event 1: signed cannot follow where it stands (new)"),
        ((0, 1, 2, 4, 3), "event 5: received after its end"),
    ],
)
async def test_a_chain_that_holds_and_tells_what_cannot_be_shows(
    db: Database, order: tuple[int, ...], fault: str
) -> None:
    evidence = await accepted(db)
    told = [(link.kind, link.detail_text) for link in evidence.links]
    assert list(faults(written_anew(evidence, *told))) == []

    found = list(faults(written_anew(evidence, *(told[index] for index in order))))

    assert fault in found


async def test_a_verdict_whose_number_s_fate_cannot_be_shows(db: Database) -> None:
    evidence = await accepted(db)
    told = [(link.kind, link.detail_text.replace('"used"', '"reusable"')) for link in evidence.links]

    assert list(faults(written_anew(evidence, *told))) == ["event 5: verdict cannot follow where it stands (track)"]


@pytest.mark.parametrize("detail", ["[]", "7", '"accepted"'])
async def test_a_detail_that_is_no_object_shows(db: Database, detail: str) -> None:
    evidence = await accepted(db)

    assert list(faults(written_anew(evidence, ("accepted", detail)))) == [
        "an event's detail cannot be read: it is no object"
    ]


async def test_documents_that_are_no_text_are_exported_whole(db: Database) -> None:
    evidence = await read(db, await make_submission(db, await make_tenant(db), original=bytes(range(256))))

    assert through_a_file(evidence) == evidence


async def test_a_period_of_a_tenant_is_walked_in_pages_oldest_first(db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    days = [ACCEPTED_AT + timedelta(days=n) for n in range(5)]
    made = [await make_submission(db, tenant, at=day, e_ncf=f"E31{n:010}") for n, day in enumerate(days)]
    await make_submission(db, other)

    first = await db.run(stored.submissions_of, tenant, days[1], days[4], SubmissionId(UUID(int=0)), limit=2)
    second = await db.run(stored.submissions_of, tenant, days[1], days[4], first[-1], limit=2)

    assert first == made[1:3]
    assert second == made[3:4]


def _set(path: list[Any], to: Any) -> Callable[[dict[str, Any]], None]:
    def change(value: Any) -> None:
        for key in path[:-1]:
            value = value[key]
        value[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set(["format"], "fe-evidence-9"), "this is not an export of the form fe-evidence-1"),
        (_set(["events"], {}), "events: missing, or not of its type"),
        (_set(["events", 0], 7), r"events\[0\]: should be an object"),
        (_set(["events", 1, "seq"], "2"), r"events\[1\].seq: missing, or not of its type"),
        (_set(["events", 1, "seq"], True), r"events\[1\].seq: missing, or not of its type"),
        (_set(["events", 1, "at"], "yesterday"), r"events\[1\].at: cannot be read"),
        (_set(["events", 1, "hash"], "zz"), r"events\[1\].hash: cannot be read"),
        (_set(["taxLogId"], "x"), "taxLogId: cannot be read"),
        (_set(["tenantId"], None), "tenantId: missing"),
        (_set(["documents", 0, "content"], "not base64!"), r"documents\[0\].content: should be base64"),
        (_set(["documents", 0, "content"], "AAAA"), r"documents\[0\]: its content does not have the digest"),
    ],
)
async def test_what_is_no_export_is_told_apart_from_a_forged_one(
    db: Database, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    value = copy.deepcopy(export(await accepted(db)))
    change(value)

    with pytest.raises(NotAnExport, match=words):
        read_export(value)
