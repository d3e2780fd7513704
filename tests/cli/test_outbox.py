"""`fe outbox` as operators use it: a process of its own against a real database."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from uuid import uuid4

import psycopg
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict

from fe.cli.operator_options import system_user
from fe.ecf.ids import new_id
from fe.identifiers import ActionId, ReplayPlanId, SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from fe.store.queue import circuits, replay_plans
from fe.store.queue.audit import OperatorAction
from tests.cli.running import Fe, environment
from tests.factories import bookings
from tests.factories.tenants import DOCUMENT, make_submission, make_tenant, row, rows, submission, take, waiting

WHY = ("--reason", "the authority is back")
#: Recorded name for `--by eva`.
EVA = f"{system_user()} (eva)"


@pytest.fixture
def now() -> datetime:
    return datetime.now(UTC)


async def make_dead(
    db: Database, tenant: TenantId, now: datetime, number: int = 1, stage: Stage = Stage.SEND
) -> SubmissionId:
    subject = await make_submission(db, tenant, at=now, stage=stage, e_ncf=f"E31{number:010}")
    died_at = now - timedelta(minutes=1) + timedelta(seconds=number)
    await db.run(bookings.dead_letter, await take(db, subject), at=died_at, error="authority answered with status 503")
    return subject


async def accept(db: Database, subject: SubmissionId, now: datetime) -> None:
    await db.run(bookings.verdict, await take(db, subject), at=now)


async def test_dead_letters_are_listed_as_text_and_as_json_and_filtered(db: Database, fe: Fe, now: datetime) -> None:
    tenant = await make_tenant(db)
    subject = await make_dead(db, tenant, now)
    signing = await make_dead(db, tenant, now, number=2, stage=Stage.SIGN)

    listed = fe("outbox", "list", "--stage", "send", "--error", "STATUS 503", "--encf", "E310000000001", "--json").json

    assert [one["taxLogId"] for one in listed] == [str(subject)]
    assert listed[0]["error"] == "authority answered with status 503"
    assert (listed[0]["stage"], listed[0]["sends"], listed[0]["eNCF"]) == ("send", 0, "E310000000001")
    shown = fe("outbox", "list", "--limit", "1")
    assert str(subject) in shown.out
    assert str(signing) not in shown.out
    assert shown.err == "only the 1 longest dead are taken: --limit raises that\n"
    assert fe("outbox", "list", "--older-than", "5").err == "no dead letter matches\n"


async def test_a_summary_counts_by_the_cause_behind_the_ending(db: Database, fe: Fe, now: datetime) -> None:
    """The last error, "sent 8 times", hides the HTTP 500 behind it."""
    first, second = await make_tenant(db), await make_tenant(db)
    for number, tenant in ((1, first), (2, first), (3, second)):
        subject = await make_submission(db, tenant, at=now, stage=Stage.SEND, e_ncf=f"E31{number:010}")
        await db.run(bookings.doubt, await take(db, subject), at=now, after=timedelta(0), error="HTTP 500: <html>")
        ending = f"sent {7 + number} times, and the authority does not know it"
        await db.run(bookings.dead_letter, await take(db, subject), at=now, error=ending)
    await make_dead(db, second, now, number=4)

    groups = fe("outbox", "list", "--summary", "--json").json
    shown = fe("outbox", "list", "--summary").out.splitlines()
    meant = fe("outbox", "list", "--error", "http 500", "--json").json

    assert [(one["cause"], one["stage"], one["rows"]) for one in groups] == [
        ("HTTP 500: <html>", "reconcile", 2),
        ("HTTP 500: <html>", "reconcile", 1),
        ("authority answered with status 503", "send", 1),
    ]
    assert shown[0] == "3 in stage reconcile (ecf): HTTP 500: <html>"
    assert shown[2].endswith("--stage reconcile --environment ecf --error 'HTTP 500: <html>'")
    assert {one["cause"] for one in meant} == {"HTTP 500: <html>"}
    assert {one["error"][:5] for one in meant} == {"sent "}


async def test_an_unknown_tenant_is_named(fe: Fe) -> None:
    assert fe.refused("outbox", "list", "--tenant", "nobody") == "there is no tenant 'nobody'"


async def test_why_says_what_is_waited_for_and_until_when(db: Database, fe: Fe, now: datetime) -> None:
    tenant = await make_tenant(db)
    dead = await make_dead(db, tenant, now)
    retried = await make_submission(db, tenant, at=now, stage=Stage.SEND, e_ncf="E310000000002")
    await db.run(bookings.retry, await take(db, retried), at=now, after=timedelta(minutes=3), error="cannot connect")

    told = fe("outbox", "why", str(dead))
    waits = fe("outbox", "why", str(retried), "--json").json

    assert "is queued." in told.out
    assert f"`fe outbox replay --id {dead} --dry-run`" in told.out
    assert (waits["waitsFor"], waits["stage"], waits["status"]) == ("time", "send", "queued")
    assert timedelta(seconds=150) < datetime.fromisoformat(waits["until"]) - now < timedelta(seconds=240)
    assert "Last time: cannot connect." in waits["sentences"]
    nobody = uuid4()
    assert fe.refused("outbox", "why", str(nobody)) == f"there is no submission {nobody}"


async def test_show_tells_the_whole_story(db: Database, fe: Fe, now: datetime) -> None:
    subject = await make_dead(db, await make_tenant(db), now)

    events = fe("outbox", "show", str(subject), "--json").json

    assert [event["event"] for event in events] == ["accepted", "signed", "dead_letter"]
    assert events[2]["detail"]["error"] == "authority answered with status 503"


async def test_status_shows_everything_at_a_glance(db: Database, fe: Fe, now: datetime) -> None:
    bare = fe("outbox", "status")
    tenant = await make_tenant(db)
    await make_dead(db, tenant, now)
    await make_submission(db, tenant, at=now, e_ncf="E310000000009")
    await rows(db, "INSERT INTO workers VALUES ('host:1:ab', now(), now())")
    await db.run(circuits.open_circuit, "ecf", "ecf", "5 exchanges in a row failed", timedelta(seconds=3))
    assert fe("outbox", "pause", "--environment", "testecf", "--by", "eva", *WHY).code == 0

    found = fe("outbox", "status", "--json").json
    shown = fe("outbox", "status")

    assert bare.out.splitlines() == [
        "nothing waits",
        "no dead letters",
        "nothing is in doubt",
        "no process works",
        "nothing is paused",
        "no circuit is open",
    ]
    assert [(one["stage"], one["rows"]) for one in found["waiting"]] == [("sign", 1)]
    assert found["deadLetters"] == [{"stage": "send", "environment": "ecf", "rows": 1}]
    assert [one["process"] for one in found["workers"]] == ["host:1:ab"]
    assert [(one["environment"], one["by"]) for one in found["paused"]] == [("testecf", EVA)]
    assert [(one["host"], one["reason"]) for one in found["openCircuits"]] == [("ecf", "5 exchanges in a row failed")]
    assert "openCircuits:" in shown.out


async def test_what_is_in_doubt_is_counted_and_listed_before_it_gives_up(db: Database, fe: Fe, now: datetime) -> None:
    tenant = await make_tenant(db)
    nothing = fe("outbox", "list", "--in-doubt")
    asked = await make_submission(db, tenant, at=now, stage=Stage.RECONCILE, e_ncf="E310000000001")
    gave_up = await make_dead(db, tenant, now, 2, Stage.RECONCILE)
    await make_dead(db, tenant, now, 3)  # never sent: not in doubt
    received = await make_submission(db, tenant, at=now, stage=Stage.TRACK, e_ncf="E310000000004")

    listed = fe("outbox", "list", "--in-doubt", "--json").json
    one = fe("outbox", "list", "--in-doubt", "--encf", "E310000000002", "--json").json
    status = fe("outbox", "status", "--json").json

    assert nothing.err == "nothing of that is in doubt\n"
    assert {(each["taxLogId"], each["state"], each["openSends"], each["error"]) for each in listed} == {
        (str(asked), "asked about", 1, "timeout"),
        (str(gave_up), "gave up", 1, "authority answered with status 503"),
    }
    assert str(received) not in str(listed)
    assert [each["taxLogId"] for each in one] == [str(gave_up)]
    (counted,) = status["inDoubt"]
    assert {name: counted[name] for name in ("environment", "host", "askedAbout", "gaveUp")} == {
        "environment": "ecf",
        "host": "ecf",
        "askedAbout": 1,
        "gaveUp": 1,
    }
    assert "--stage does not apply" in fe.refused("outbox", "list", "--in-doubt", "--stage", "send", code=2)


async def test_a_dry_run_says_row_by_row_what_would_happen_and_changes_nothing(
    db: Database, fe: Fe, now: datetime
) -> None:
    tenant = await make_tenant(db)
    never_sent = await make_dead(db, tenant, now)
    doubtful = await make_dead(db, tenant, now, number=2, stage=Stage.RECONCILE)
    await rows(db, "UPDATE dead_letters SET deaths = 8 WHERE subject = %(id)s", id=doubtful)

    found = fe("outbox", "replay", "--dry-run", "--json").json
    shown = fe("outbox", "replay", "--dry-run", "--id", str(doubtful))

    first, second = found
    assert [first["taxLogId"], second["taxLogId"]] == [str(never_sent), str(doubtful)]
    assert (first["sent"], first["would"].startswith("send the signed bytes")) == ("nothing", True)
    assert second["sent"].endswith("what became of it is not known")
    assert second["would"].startswith("ask the authority; if it does not know")
    assert "8 processes died over it: it may end the next one too" in second["obstacles"]
    lines = [line.strip().split(maxsplit=1)[0] for line in shown.out.splitlines()]
    assert lines == [str(doubtful), "gave", "sent", "would", "in", "in"]
    assert shown.err.splitlines()[0] == "1 in all, 0 s at 5 a second"
    counted = " ".join(shown.err.split())
    assert "would 1: ask the authority; if it does not know the document, send the same bytes again" in counted
    assert await rows(db, "SELECT 1 FROM outbox") == []
    assert await rows(db, "SELECT 1 FROM operator_actions") == []


async def test_a_replay_sets_dead_letters_going_again_and_says_how_far_it_came(
    db: Database, fe: Fe, now: datetime
) -> None:
    tenant = await make_tenant(db)
    made = [await make_dead(db, tenant, now, number) for number in range(1, 4)]

    args = ("--stage", "send", "--no-canary", "--per-second", "100", "--no-wait", "--by", "eva", *WHY, "--json")
    ran = fe("outbox", "replay", *args)

    assert {key: ran.json[key] for key in ("total", "released", "skipped", "open", "failedAgain", "stopped")} == {
        "total": 3,
        "released": 3,
        "skipped": 0,
        "open": 3,
        "failedAgain": [],
        "stopped": None,
    }
    assert ran.err == f"plan {ran.json['plan']}\n"
    assert {one["subject"] for one in await rows(db, "SELECT subject FROM outbox")} == set(made)
    log = fe("outbox", "log", "--json").json
    assert [(one["by"], one["did"], one["reason"]) for one in log[:3]] == [(EVA, "replay", "the authority is back")] * 3


async def test_a_canary_that_fails_again_stops_a_replay_and_the_same_plan_goes_on(
    db: Database, fe: Fe, now: datetime
) -> None:
    tenant = await make_tenant(db)
    made = [await make_dead(db, tenant, now, number) for number in range(1, 4)]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_it_fail, db, made[0], now)
        begin = ("outbox", "replay", "--plan", "monday", "--stage", "send")
        stopped = await trio.to_thread.run_sync(lambda: fe(*begin, *WHY))
    still = fe("outbox", "replay", "--plan", "monday")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_them_through, db, made[1:], now)
        nursery.start_soon(_let_it_fail, db, made[0], now)
        went_on = await trio.to_thread.run_sync(lambda: fe("outbox", "replay", "--plan", "monday", "--go-on", "--json"))

    assert (stopped.code, still.code, went_on.code) == (6, 6, 7)
    mended = "when that is mended, go on with `fe outbox replay --plan monday --go-on`"
    said = f"a canary failed again: {made[0]} E310000000001: again; {mended}"
    assert said in stopped.err
    assert said in still.err
    assert "1 of 3 released" in stopped.err
    through = json.loads(went_on.out)
    assert (through["released"], through["ended"], through["failedAgain"]) == (3, 2, [str(made[0])])
    assert went_on.err.splitlines()[-1] == "fe: 1 of the released rows failed again"


async def _let_them_through(db: Database, subjects: list[SubmissionId], now: datetime) -> None:
    for subject in subjects:
        while True:
            if await rows(db, "SELECT 1 FROM outbox WHERE subject = %(id)s", id=subject):
                break
            await trio.sleep(0.05)
        await accept(db, subject, now)


async def test_a_replay_ends_well_only_after_the_last_verdict(db: Database, fe: Fe, now: datetime) -> None:
    tenant = await make_tenant(db)
    made = [await make_dead(db, tenant, now, number) for number in range(1, 4)]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_them_through, db, made, now)
        ran = await trio.to_thread.run_sync(lambda: fe("outbox", "replay", "--stage", "send", *WHY, "--json"))

    assert (ran.json["released"], ran.json["ended"], ran.json["open"]) == (3, 3, 0)


async def test_going_on_is_for_a_plan_that_stopped(db: Database, fe: Fe, now: datetime) -> None:
    await make_dead(db, await make_tenant(db), now)

    assert "--go-on goes with the --plan that stopped" in fe.refused("outbox", "replay", "--go-on", *WHY, code=2)
    nothing = fe("outbox", "replay", "--plan", "monday", "--go-on", *WHY)

    assert (nothing.code, nothing.err) == (1, "fe: there is no plan monday yet: --go-on is for one that stopped\n")
    assert len(await rows(db, "SELECT 1 FROM dead_letters")) == 1


async def test_a_plan_is_stopped_whoever_runs_it_and_goes_on_when_told(db: Database, fe: Fe, now: datetime) -> None:
    tenant = await make_tenant(db)
    subject = await make_dead(db, tenant, now)
    begun = OperatorAction(ActionId(new_id(now)), now, "eva", "x")
    plan = partial(replay_plans.make, canary=False, per_second=Decimal(1), stop_on_failure=True)
    await db.transact(plan, begun, ReplayPlanId("monday"), [(tenant, subject)])

    stopped = fe("outbox", "halt", "monday", *WHY, "--json")
    again = fe("outbox", "halt", "monday", *WHY)
    unknown = fe("outbox", "halt", "tuesday", *WHY)

    assert stopped.json == {"plan": "monday", "halted": True}
    assert (again.code, unknown.code) == (1, 1)
    assert "was stopped before" in again.err
    (kept,) = await rows(db, "SELECT halted_because FROM replay_plans")
    assert kept["halted_because"].endswith(WHY[1])
    noted = await rows(db, "SELECT action FROM operator_actions ORDER BY at")
    assert [one["action"] for one in noted][1:] == ["plan stop"]


async def _let_it_fail(db: Database, subject: SubmissionId, now: datetime) -> None:
    while True:
        if await rows(db, "SELECT 1 FROM outbox WHERE subject = %(id)s", id=subject):
            break
        await trio.sleep(0.05)
    await db.run(bookings.dead_letter, await take(db, subject), at=now, error="again")


async def test_a_replay_killed_in_the_middle_is_taken_up_by_the_name_of_its_plan(
    db: Database, fe: Fe, now: datetime
) -> None:
    tenant = await make_tenant(db)
    made = [await make_dead(db, tenant, now, number) for number in range(1, 25)]
    args = ("outbox", "replay", "--stage", "send", "--plan", "tuesday", "--no-canary", "--per-second", "6", *WHY)
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "fe", *args],
        env=environment(database_url=fe.dsn, data_dir=str(fe.folder)),
        cwd=fe.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with trio.fail_after(60):
            while True:
                if len(await rows(db, "SELECT 1 FROM outbox")) >= 3:
                    break
                await trio.sleep(0.01)
    finally:
        process.kill()
        await process.wait()
    left = len(await rows(db, "SELECT 1 FROM dead_letters"))

    again = fe("outbox", "replay", "--plan", "tuesday", "--no-wait", "--json").json

    assert 0 < left < 24
    assert (again["total"], again["released"], again["skipped"]) == (24, 24, 0)
    replays = await rows(
        db,
        "SELECT submission_id, count(*) AS times FROM submission_events WHERE kind = 'replayed' GROUP BY submission_id",
    )
    assert {one["submission_id"]: one["times"] for one in replays} == dict.fromkeys(made, 1)


async def test_a_replay_without_a_reason_or_without_rows_is_refused(db: Database, fe: Fe, now: datetime) -> None:
    assert fe.refused("outbox", "replay", "--stage", "send", *WHY) == "no dead letter matches"
    await make_dead(db, await make_tenant(db), now)

    assert "--reason" in fe.refused("outbox", "replay", "--stage", "send", code=2)
    assert "at least one filter" in fe.refused("outbox", "replay", *WHY, code=2)
    mistyped = fe.refused("outbox", "replay", "--plan", "mondy", code=2)
    assert mistyped.startswith("there is no plan 'mondy'; a new one needs --reason")
    assert "1 to 1000 characters" in fe.refused("outbox", "replay", "--reason", " ", code=2)
    assert "--dry-run" in fe.refused("outbox", "replay", "--ask", *WHY, code=2)
    assert len(await rows(db, "SELECT 1 FROM dead_letters")) == 1


async def test_discarding_needs_a_filter_and_a_reason_and_can_be_looked_at_first(
    db: Database, fe: Fe, now: datetime
) -> None:
    tenant = await make_tenant(db)
    one, two = await make_dead(db, tenant, now), await make_dead(db, tenant, now, 2, Stage.RECONCILE)

    assert "at least one filter" in fe.refused("outbox", "discard", *WHY, code=2)
    assert "--reason" in fe.refused("outbox", "discard", "--stage", "send", code=2)
    meant = fe("outbox", "discard", "--stage", "send", "--dry-run", "--json").json
    assert [each["taxLogId"] for each in meant] == [str(one)]
    assert len(await rows(db, "SELECT 1 FROM dead_letters")) == 2

    args = ("--reason", "they never pay", "--note-for-client", "issued by hand", "--json")
    both = ("--id", str(one), "--id", str(two))
    for wrong in ((), ("--expect", "1"), ("--expect", "3")):
        assert "nothing is done: 2 dead letters match" in fe.refused("outbox", "discard", *both, *wrong, *args)
    assert len(await rows(db, "SELECT 1 FROM dead_letters")) == 2
    done = fe("outbox", "discard", *both, "--expect", "2", *args).json

    assert {each["taxLogId"]: each["numberFate"] for each in done} == {str(one): "reusable", str(two): "unknown"}
    given_up = await submission(db, one)
    assert given_up["status"] == "error"
    assert given_up["response"]["error"].startswith("given up by an operator: issued by hand (")
    assert "never pay" not in str(given_up["response"])
    assert "1 to 1000 characters" in fe.refused("outbox", "discard", "--note-for-client", " ", *WHY, code=2)
    assert fe("outbox", "discard", "--id", str(one), "--reason", "x").err == "no dead letter matches\n"


async def test_pausing_stops_claims_until_resumed(db: Database, fe: Fe, now: datetime) -> None:
    name = (await row(db, "INSERT INTO tenants (name, issuer) VALUES ('Ozama', '{}') RETURNING name"))["name"]
    tenant = (await row(db, "SELECT tenant_id FROM tenants"))["tenant_id"]
    subject = await make_submission(db, tenant, at=now)

    paused = fe("outbox", "pause", "--tenant", name, "--by", "eva", "--reason", "wrong issuer data")
    twice = fe.refused("outbox", "pause", "--tenant", name, *WHY)
    why = fe("outbox", "why", str(subject)).out
    other = fe.refused("outbox", "resume", *WHY)
    resumed = fe("outbox", "resume", "--tenant", name, *WHY)

    assert paused.out.startswith("paused: ")
    assert twice == "Ozama in every environment is paused already"
    assert f"Paused by {EVA}: wrong issuer data. Nothing happens before `fe outbox resume`." in why
    assert other == "every tenant in every environment is not paused (`fe outbox status` shows what is)"
    assert resumed.out == "resumed\n"
    assert "Paused" not in fe("outbox", "why", str(subject)).out
    assert (await waiting(db, subject))["holder"] is None


async def test_who_acts_is_on_record_without_being_asked(db: Database, fe: Fe, now: datetime) -> None:
    await make_dead(db, await make_tenant(db), now)

    assert fe("outbox", "discard", "--stage", "send", "--reason", "gone").code == 0

    (log,) = fe("outbox", "log", "--json").json
    assert log["by"] == system_user()
    assert log["login"] == conninfo_to_dict(fe.dsn)["user"]


@pytest.fixture
def cut_off(fe: Fe) -> Iterator[psycopg.Connection]:
    with psycopg.connect(fe.dsn, autocommit=True) as conn:
        yield conn


async def test_a_plan_that_is_locked_by_somebody_else_waits_and_then_goes_on(
    db: Database, fe: Fe, now: datetime, cut_off: psycopg.Connection
) -> None:
    tenant = await make_tenant(db)
    await make_dead(db, tenant, now)
    await make_dead(db, tenant, now, 2)

    async def hold_for_a_while() -> None:
        while True:
            with cut_off.transaction():
                found = cut_off.execute("SELECT 1 FROM replay_plans WHERE plan_id = 'w' FOR UPDATE").fetchall()
                if found:
                    await trio.sleep(0.5)
                    return
            await trio.sleep(0.02)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold_for_a_while)
        pace = ("--no-canary", "--per-second", "50", "--no-wait")
        args = ("outbox", "replay", "--stage", "send", "--plan", "w", *pace, *WHY, "--json")
        ran = await trio.to_thread.run_sync(lambda: fe(*args))

    assert json.loads(ran.out)["released"] == 2


async def test_signed_by_lists_what_one_process_signed_within_the_time(db: Database, fe: Fe, now: datetime) -> None:
    """A process with a wrong clock is stopped first, and then looked for by its name."""
    tenant = await make_tenant(db)
    subjects = []
    for number, process in enumerate(("node7:12:aa", "node7:12:aa", "node7:125:bb", "node8:12:cc"), 1):
        subject = await make_submission(db, tenant, at=now, e_ncf=f"E31{number:010}")
        work = await take(db, subject)
        await rows(db, "UPDATE outbox SET holder = %(holder)s WHERE subject = %(id)s", holder=process, id=subject)
        await db.run(bookings.signed, work, DOCUMENT, at=now)
        subjects.append(str(subject))
    await rows(
        db,
        "UPDATE submissions SET status = 'Rechazado', verdict_at = now() WHERE submission_id = %(id)s",
        id=subjects[1],
    )

    def listed(*args: str) -> set[str]:
        return {one["taxLogId"] for one in fe("outbox", "signed-by", *args, "--json").json}

    assert listed("node7:12:aa") == listed("node7:12") == set(subjects[:2])
    assert listed("node7") == set(subjects[:3])
    assert listed("node7:12", "--rejected") == {subjects[1]}
    assert listed("node7", "--until", f"{now - timedelta(hours=1):%Y-%m-%dT%H:%M}") == set()
    assert fe("outbox", "signed-by", "node9").err == "nothing of that time was signed by node9\n"
