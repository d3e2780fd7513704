"""Sequences in the portal: how long they last, what became of their numbers, and changing them without a slip."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from fe.accounts import sequences as flow
from fe.accounts.number_fates import Fate, NumberRun, runs
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, SubmissionId, TenantId, UserId
from fe.lifecycle import NumberFate, Status
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.records import number_history as fates
from fe.store.records import sequences, submissions, tenants
from fe.store.records.sequences import Sequence
from tests.factories.tenants import new_submission, rows
from tests.http.front import make_tenant
from tests.portal.running import Browser, Running, hidden_fields


def at(tenant: TenantId, path: str = "") -> str:
    return f"/companies/{tenant}/ecf/sequences{path}"


async def make(portal: Running, tenant: TenantId, prefix: str = "E31", **more: Any) -> Sequence:
    given: dict[str, Any] = {
        "minimum": 1,
        "maximum": 5000,
        "last_day": date(2030, 12, 31),
        "now": portal.clock(),
    } | more
    return await portal.db.run(flow.put, tenant, Environment.ECF, prefix, **given)


async def issue(
    portal: Running,
    tenant: TenantId,
    number: int | None = None,
    *,
    status: Status = Status.ACCEPTED,
    fate: NumberFate = NumberFate.USED,
    before: timedelta = timedelta(),
) -> SubmissionId:
    """Create a finished E31 of some time ago, with its own number or a drawn one."""
    moment = portal.clock() - before
    new = replace(
        new_submission(tenant),
        submission_id=SubmissionId(new_id(moment)),
        environment=Environment.ECF,
        root=Root.ECF,
        ecf_type=EcfType.CREDIT_FISCAL,
        e_ncf=None if number is None else f"E31{number:010d}",
        draw_prefix="E31" if number is None else None,
    )
    accepted = await portal.db.run(submissions.accept, new, moment)
    has_verdict = status in (Status.ACCEPTED, Status.CONDITIONAL, Status.REJECTED)
    await rows(
        portal.db,
        """UPDATE submissions SET status = %(status)s, number_fate = %(fate)s, updated_at = %(at)s,
                  verdict_at = CASE WHEN %(has_verdict)s THEN %(at)s::timestamptz END
            WHERE submission_id = %(id)s RETURNING 1""",
        status=status,
        fate=fate,
        at=moment,
        has_verdict=has_verdict,
        id=new.submission_id,
    )
    if fate is not NumberFate.RESERVED:
        await rows(
            portal.db,
            """INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
               VALUES (%(tenant)s, 'ecf', %(e_ncf)s, '131880738', %(id)s)
               ON CONFLICT (tenant_id, environment, e_ncf, issuer_rnc) DO UPDATE SET submission_id = %(id)s
               RETURNING 1""",
            tenant=tenant,
            e_ncf=accepted.e_ncf,
            id=new.submission_id,
        )
    return new.submission_id


async def test_a_sequence_is_made_and_seen(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await owner.get(at(tenant))

    page = await owner.send(
        at(tenant), {"prefix": "E31", "minimum": "101", "maximum": "5000", "expires": "2030-12-31", "active": "yes"}
    )

    assert page.url.path == at(tenant, "/E31")
    assert "101 – 5000" in page.text
    assert "E310000000101" in page.text
    assert "31-12-2030" in page.text
    listed = await owner.get(at(tenant))
    assert "0 of 4,900" in listed.text
    assert "none are used now" in listed.text
    assert '<option value="E32" selected>' in listed.text
    (change,) = await portal.db.run(changes.latest, tenant, limit=9)
    assert (change.action, change.subject, change.before) == ("sequence set", "E31 ecf", None)
    assert change.after is not None
    assert change.after["maxSequence"] == "5000"


async def test_next_range_is_written_ahead_and_removed(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await make(portal, tenant, "E31")
    here = at(tenant, "/E31")
    form = {"minimum": "1", "maximum": "5000", "expires": "2030-12-31", "active": "yes"}
    ahead = {"next_minimum": "E310000006001", "next_maximum": "6100", "next_expires": "2031-12-31"}

    for wrong, words in (
        ({"next_maximum": ""}, "leave all its fields empty"),
        ({"next_minimum": "4999"}, "must lie apart"),
        ({"next_expires": "2020-01-31"}, "has passed"),
    ):
        await owner.get(here)
        page = await owner.send(here, form | ahead | wrong)
        assert (page.status_code, words in page.text) == (400, True), wrong
    await owner.get(here)
    stored = await owner.send(here, form | ahead)
    (kept,) = await portal.db.run(sequences.listed, tenant, Environment.ECF)
    listed = await owner.get(at(tenant))
    await owner.get(here)
    await owner.send(here, form)
    (removed,) = await portal.db.run(sequences.listed, tenant, Environment.ECF)

    assert "6001 – 6100" in stored.text
    assert (kept.next_min, kept.next_max, str(kept.next_last_day)) == (6001, 6100, "2031-12-31")
    assert "with the next range" in listed.text
    assert removed.next_min is None
    change = (await portal.db.run(changes.latest, tenant, limit=9))[1]
    assert change.after == {"nextRange": "6001-6100 2031-12-31"}


async def test_next_range_that_has_expired_is_not_said_to_begin(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await make(portal, tenant, "E31")
    pages = []
    for ahead in ("10 days", "-1 day"):
        await rows(
            portal.db,
            """UPDATE sequences SET next_min = 6001, next_max = 6100, next_expire_at = now() + %(ahead)s::interval
             RETURNING prefix""",
            ahead=ahead,
        )
        pages.append([(await owner.get(address)).text for address in (at(tenant, "/E31"), at(tenant))])

    (ready, counted), (over, alone) = pages
    assert ("<small>begins by itself" in ready, "with the next range" in counted) == (True, True)
    assert ("<small>begins by itself" in over, "expired: it does not begin" in over) == (False, True)
    assert "with the next range" not in alone


async def test_what_cannot_be_is_said_and_what_was_typed_stays(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await make(portal, tenant, "E32")
    right = {"prefix": "E31", "minimum": "1", "maximum": "50", "active": "yes"}
    for fields, status, words in (
        ({"prefix": "E99"}, 400, "prefix must be a valid e-CF type"),
        ({"prefix": "<script>"}, 400, "prefix must be a valid e-CF type"),
        ({"prefix": "E32"}, 409, "there is a sequence for E32 already"),
        ({"minimum": "60"}, 400, "greater or equal"),
        ({"minimum": "0"}, 400, "numbers go from 1"),
        ({"maximum": "99999999999"}, 400, "numbers go from 1"),
        ({"maximum": "=1+1"}, 400, "last number: digits only"),
        ({"maximum": "１２"}, 400, "last number: digits only"),
        ({"minimum": '"><img src=x onerror=alert(1)>'}, 400, "first number: digits only"),
        ({"minimum": "\u202e\x001" + "x" * 10_000}, 400, "first number: digits only"),
        ({"expires": "31/12/2030"}, 400, "YYYY-MM-DD"),
    ):
        await owner.get(at(tenant))
        page = await owner.send(at(tenant), right | fields)
        assert (page.status_code, words in page.text) == (status, True), fields
        assert "<img" not in page.text
        assert "<script>" not in page.text
        assert 'value="50"' in page.text or "maximum" in fields
    assert [one.prefix for one in await portal.db.run(sequences.listed, tenant, Environment.ECF)] == ["E32"]


async def test_only_what_was_changed_is_changed(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await make(portal, tenant)
    page = await owner.get(at(tenant, "/E31"))
    assert 'name="following" type="text" value=""' in page.text
    await issue(portal, tenant)  # a receipt is issued meanwhile: that does not make the form stale

    page = await owner.send(at(tenant, "/E31"), {"minimum": "1", "maximum": "6000", "expires": "2020-01-31"})

    assert page.status_code == 200
    assert "1 – 6000" in page.text
    assert "Its last day has passed" in page.text
    (now,) = await portal.db.run(sequences.listed, tenant, Environment.ECF)
    assert (now.current_number, now.is_active, now.last_day) == (2, False, date(2020, 1, 31))
    (change,) = await portal.db.run(changes.latest, tenant, limit=1)
    assert change.before is not None
    assert change.before["maxSequence"] == "5000"


async def test_a_jump_far_ahead_is_asked_back(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await make(portal, tenant)
    form = {"minimum": "1", "maximum": "5000", "expires": "2030-12-31", "active": "yes"}
    await owner.get(at(tenant, "/E31"))
    near = await owner.send(at(tenant, "/E31"), form | {"following": "101"})
    assert near.status_code == 200

    for fields, lost, following in (
        ({"following": "4900"}, "4,799", "E310000004900"),
        ({"minimum": "4000"}, "3,899", "E310000004000"),
        ({"minimum": "10001", "maximum": "20000"}, "4,900", "E310000010001"),
        ({"minimum": "10001", "maximum": "20000", "following": "10011"}, "4,910", "E310000010011"),
    ):
        await owner.get(at(tenant, "/E31"))
        asked = await owner.send(at(tenant, "/E31"), form | fields)
        assert (asked.status_code, "Is this meant?" in asked.text) == (409, True)
        assert f"{lost} numbers would stay unused" in asked.text
        assert following in asked.text
        assert (await portal.db.run(sequences.listed, tenant, Environment.ECF))[0].current_number == 101
    beyond = await owner.get(at(tenant, "/E31"))
    beyond = await owner.send(at(tenant, "/E31"), form | {"following": "9000"})
    assert (beyond.status_code, "must be in the range" in beyond.text) == (400, True)

    await owner.get(at(tenant, "/E31"))
    await owner.send(at(tenant, "/E31"), form | {"following": "4900"})
    done = await owner.send(at(tenant, "/E31"))

    assert done.status_code == 200
    assert (await portal.db.run(sequences.listed, tenant, Environment.ECF))[0].current_number == 4900
    again = await owner.send(at(tenant, "/E31"), form | {"following": "4950", "agreed": "x" * 99})
    assert again.status_code == 200


async def test_who_agreed_to_fewer_is_asked_again(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await make(portal, tenant)
    await owner.get(at(tenant, "/E31"))
    form = {"minimum": "1", "maximum": "5000", "expires": "2030-12-31", "active": "yes"}

    asked = await owner.send(at(tenant, "/E31"), form | {"following": "4900", "agreed": "150"})

    assert (asked.status_code, "Is this meant?" in asked.text) == (409, True)


async def test_a_next_number_goes_back_while_nothing_was_sent(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await make(portal, tenant)
    sent = await issue(portal, tenant, 40)
    await rows(
        portal.db,
        """INSERT INTO sends (tenant_id, submission_id, epoch, digest, intended_at, outcome)
           VALUES (%(tenant)s, %(id)s, 1, sha256(''), now(), 'received') RETURNING 1""",
        tenant=tenant,
        id=sent,
    )
    form = {"minimum": "1", "maximum": "5000", "expires": "2030-12-31", "active": "yes"}
    await owner.get(at(tenant, "/E31"))

    refused = await owner.send(at(tenant, "/E31"), form | {"following": "40"})

    assert (refused.status_code, "a number from there on was sent" in refused.text) == (409, True)
    assert 'name="following" type="text" value="40"' in refused.text


async def test_a_form_of_another_state_is_stale_and_one_sent_twice_counts_once(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await make(portal, tenant)
    page = await owner.get(at(tenant, "/E31"))
    await make(portal, tenant, maximum=9000)

    late = await owner.send(at(tenant, "/E31"), {"minimum": "1", "maximum": "4000"})
    assert (late.status_code, "This was changed meanwhile" in late.text) == (409, True)

    page = await owner.get(at(tenant, "/E31"))
    fields = hidden_fields(page.text, at(tenant, "/E31")) | {"minimum": "1", "maximum": "4000"}
    answers = [await owner.client.post(at(tenant, "/E31"), data=fields) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 409]


async def test_each_number_has_its_fate_and_each_gap_its_reason(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await make(portal, tenant)
    for _ in range(3):
        await issue(portal, tenant)  # 1 to 3
    rejected = await issue(portal, tenant, status=Status.REJECTED)
    freed = await issue(portal, tenant, status=Status.ERROR, fate=NumberFate.REUSABLE)
    await issue(portal, tenant, status=Status.REJECTED, fate=NumberFate.UNKNOWN)
    brought = await issue(portal, tenant, 20)  # 7 to 19 are passed over
    await rows(portal.db, "UPDATE sequences SET current_number = 31 RETURNING 1")
    drawn = await issue(portal, tenant)  # 21 to 30 are skipped
    await issue(portal, tenant, status=Status.ERROR)
    waits = await issue(portal, tenant, status=Status.QUEUED, fate=NumberFate.RESERVED)
    await rows(portal.db, "UPDATE sequences SET current_number = 41 RETURNING 1")
    (sequence,) = await portal.db.run(sequences.listed, tenant, Environment.ECF)

    found = await portal.db.run(runs, tenant, Environment.ECF, sequence, first=1, last=5000)

    assert [(run.first, run.last, run.fate) for run in found] == [
        (1, 3, Fate.ACCEPTED),
        (4, 4, Fate.REJECTED),
        (5, 5, Fate.FREE),
        (6, 6, Fate.UNKNOWN),
        (7, 19, Fate.PASSED_OVER),
        (20, 20, Fate.ACCEPTED),
        (21, 30, Fate.SKIPPED),
        (31, 31, Fate.ACCEPTED),
        (32, 32, Fate.TAKEN_ELSEWHERE),
        (33, 33, Fate.ON_ITS_WAY),
        (34, 40, Fate.SKIPPED),
    ]
    behind = {run.first: run.submission_id for run in found}
    assert (behind[4], behind[5], behind[7], behind[21], behind[33]) == (rejected, freed, brought, drawn, waits)
    assert behind[1] is None
    assert behind[34] is None
    part = await portal.db.run(runs, tenant, Environment.ECF, sequence, first=10, last=15)
    assert part == [NumberRun(10, 15, Fate.PASSED_OVER, brought)]
    page = await owner.get(at(tenant, "/E31"))
    assert "Gap: a receipt came with a higher number" in page.text
    assert f"/ecf/submissions/{rejected}" in page.text
    below = await owner.get(at(tenant, "/E31?upto=4"))
    assert "Gap" not in below.text
    for upto in ("0", "999999999999", "x", "9999999999", "-1"):
        assert (await owner.get(at(tenant, f"/E31?upto={upto}"))).status_code == 200


async def test_a_number_that_was_given_back_is_whose_it_is_now(portal: Running, tenant: TenantId) -> None:
    await make(portal, tenant)
    await issue(portal, tenant, 1, status=Status.ERROR, fate=NumberFate.REUSABLE, before=timedelta(hours=1))
    second = await issue(portal, tenant, 1)
    late = await issue(portal, tenant, 1, status=Status.ERROR, fate=NumberFate.RESERVED)
    (one,) = await portal.db.run(fates.taken, tenant, Environment.ECF, "E31", first=1, last=1)

    assert late != second
    assert (one.submission_id, one.number_fate) == (second, NumberFate.USED)


async def test_it_is_said_how_long_the_numbers_last(portal: Running, owner: Browser, tenant: TenantId) -> None:
    portal.clock.stop()
    long_ago = portal.clock() - timedelta(days=90)
    await make(portal, tenant, maximum=100, now=long_ago)
    for days in (80, 60, 45, 29, 20, 10, 5, 2, 1, 0):
        await issue(portal, tenant, before=timedelta(days=days))
    (use,) = await portal.db.run(fates.use, tenant, Environment.ECF, portal.clock() - timedelta(days=30))
    assert use.numbers == 7

    page = await owner.get(at(tenant, "/E31"))

    assert "385 days" in page.text  # 90 numbers at 7 in 30 days
    await rows(portal.db, "UPDATE sequences SET created_at = %(at)s RETURNING 1", at=portal.clock() - timedelta(days=2))
    fresh = await owner.get(at(tenant, "/E31"))
    assert "60 days" in fresh.text  # at 3 in the two days that there is one


async def test_the_first_number_since_a_moment_is_found_among_gaps(portal: Running, tenant: TenantId) -> None:
    await make(portal, tenant, maximum=9_999_999_999, now=datetime(2026, 1, 1, tzinfo=UTC))
    for n in range(9):
        await issue(portal, tenant, 7 + n * 3, before=timedelta(days=9 - n))
    for hours, numbers in ((10 * 24, 31), (8.5 * 24, 24), (1.5 * 24, 3), (1, 0)):
        since = portal.clock() - timedelta(hours=hours)
        (use,) = await portal.db.run(fates.use, tenant, Environment.ECF, since)

        assert (use.numbers, use.since) == (numbers, since)


async def test_an_accountant_reads_and_strangers_find_nothing(portal: Running, tenant: TenantId) -> None:
    await make(portal, tenant)
    stranger = await make_tenant(portal.db, "Otra SRL")
    await make(portal, stranger, "E32")
    async with portal.browser(await portal.person(tenant, PortalRole.ACCOUNTANT, language="es")) as browser:
        page = await browser.get(at(tenant, "/E31"))
        assert (page.status_code, "Guardar" in page.text) == (200, False)
        assert "Ninguno de estos números" in page.text
        fields = hidden_fields(page.text, "/sign-out")
        for path in ("", "/E31"):
            assert (await browser.client.post(at(tenant, path), data=fields)).status_code == 403
        for there in (
            at(stranger),
            at(stranger, "/E32"),
            at(tenant, "/E32"),
            at(tenant, "/E99"),
            at(tenant, "/%3Cscript%3E"),
        ):
            assert (await browser.get(there)).status_code == 404, there


async def test_to_change_what_is_not_there_is_no_page(portal: Running, owner: Browser, tenant: TenantId) -> None:
    page = await owner.get(at(tenant))
    fields = hidden_fields(page.text, at(tenant))

    for prefix in ("E31", "E99"):
        assert (await owner.client.post(at(tenant, f"/{prefix}"), data=fields)).status_code == 404


def test_what_a_change_passes_over() -> None:
    plain = Sequence(TenantId(1), Environment.ECF, "E31", SequenceId(new_id(datetime.now(UTC))), 1, 100, 51, True, None)
    for after, lost in (
        (replace(plain, current_number=51), None),
        (replace(plain, current_number=40), None),
        (replace(plain, current_number=101), 50),
        (replace(plain, min_number=60, current_number=60), 9),
        (replace(plain, min_number=1001, max_number=2000, current_number=1001), 50),
        (replace(plain, min_number=1001, max_number=2000, current_number=1501), 550),
    ):
        found = flow.passed_over(plain, after)
        assert (None if found is None else found.count) == lost


async def test_one_that_nobody_used_is_deleted_and_one_in_use_stays(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await make(portal, tenant, "E31")
    await make(portal, tenant, "E32")
    await owner.get(at(tenant, "/E32"))
    page = await owner.send(at(tenant, "/E32/delete"))

    assert (page.url.path, "The sequence is deleted." in page.text) == (at(tenant), True)
    assert [one.prefix for one in await portal.db.run(sequences.listed, tenant, Environment.ECF)] == ["E31"]
    change = (await portal.db.run(changes.latest, tenant, limit=1))[0]
    assert (change.action, change.subject, change.after) == ("sequence deleted", "E32 ecf", None)

    shown = await owner.get(at(tenant, "/E31"))
    await issue(portal, tenant)
    late = await owner.send(at(tenant, "/E31/delete"))
    used = await owner.get(at(tenant, "/E31"))

    assert "Delete the sequence" in shown.text
    assert (late.status_code, "Delete the sequence" in used.text) == (409, False)
    fresh = hidden_fields(used.text, at(tenant, "/E31"))
    forged = await owner.client.post(at(tenant, "/E31/delete"), data=fresh)
    assert (forged.status_code, "Numbers of it were used" in forged.text) == (409, True)
    assert len(await portal.db.run(sequences.listed, tenant, Environment.ECF)) == 1


async def test_a_named_sequence_has_a_page_and_users_who_draw_from_it(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await make(portal, tenant, maximum=100)
    await portal.db.run(tenants.create_user, tenant, UserId(UUID(int=9)), "Ana@example.com", None)
    new = {"prefix": "E31", "name": "Caja 2", "minimum": "50", "maximum": "200", "expires": "2030-12-31", "active": "y"}
    page = at(tenant, "/E31?name=Caja%202")

    await owner.get(at(tenant))
    refused = await owner.send(at(tenant), new)
    shown = await owner.send(at(tenant), new | {"minimum": "101"})
    changed = {"minimum": "101", "maximum": "200", "expires": "2030-12-31", "active": "y", "user": "ana@example.com"}
    await owner.send(page, changed)

    assert (refused.status_code, "are in another sequence" in refused.text) == (400, True)
    assert 'value="Caja 2"' in refused.text
    assert str(shown.url).endswith(page)
    assert "<bdi>Caja 2</bdi>" in shown.text
    found = {one.key: list(one.user_emails) for one in await portal.db.run(sequences.listed, tenant, Environment.ECF)}
    assert found == {"E31": [], "E31/Caja 2": ["ana@example.com"]}
    assert "checked" in (await owner.get(page)).text.partition('value="ana@example.com"')[2][:20]
    assert "E31 <bdi>Caja 2</bdi>" in (await owner.get(at(tenant))).text
