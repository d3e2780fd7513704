"""The mailer over a real database and a real relay: who gets a mail, once for each verdict, and how it ends."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from pydantic import SecretStr
from structlog.testing import capture_logs

from fe.accounts.audited_changes import Author
from fe.accounts.mail import change_settings
from fe.actors import mailer
from fe.actors.mailer import Mailer, Printer, mail_gap, mail_kind, mail_stage
from fe.clock import Clock
from fe.ecf.catalogue import Environment, Root
from fe.ecf.dates import ZONE
from fe.ecf.mail_address import MailAddress
from fe.identifiers import SubmissionId, TenantId
from fe.issuing.sharing import Sharing, token_hash
from fe.lifecycle import Stage, Status
from fe.mail.message import MAX_ATTACHED
from fe.mail.relay import Relay
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.printing import PaperSize, PrintOptions, PrintSettings
from fe.queue.executor import run_stage
from fe.queue.outcome import Retry
from fe.queue.result_writer import ResultWriter
from fe.queue.stage import no_gate
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import FRONT, PORTAL
from fe.store.records import mail, print_settings, shared_receipts, submissions
from fe.store.records.mail import LANES, MAILS, Documents, MailRecord, MailSettings, MailState, MailWork
from tests.factories import bookings
from tests.factories.tenants import LEASE, make_submission, make_tenant, new_submission, rows, take
from tests.http.front import SHARING
from tests.mail.relay import RunningRelay, running_relay
from tests.mail.test_message import body, signed
from tests.queue.stage import make_tools
from tests.waiting import PATIENCE

NOW = datetime(2026, 11, 27, 3, 30, tzinfo=UTC)  # 23:30 of the day before in the country
SETTINGS = MailSettings("es", MailAddress("ventas@ozama.do"), 1000)


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RunningRelay]:
    with running_relay(tmp_path / "relay") as one:
        yield one


async def mailing_tenant(db: Database, settings: MailSettings | None = SETTINGS) -> TenantId:
    tenant = await make_tenant(db)
    await db.run(mail.set_settings, tenant, settings)
    return tenant


async def accepted(
    db: Database, tenant: TenantId, *, status: Status = Status.ACCEPTED, notify: str | None = None, **changes: Any
) -> SubmissionId:
    """A receipt with its verdict, booked as the actors do."""
    given = {"signed": signed()} | changes
    made = await make_submission(db, tenant, stage=Stage.TRACK, notify=notify, **given)
    await db.run(bookings.verdict, await take(db, made), at=datetime.now(UTC), status=status)
    return made


def configured(running: RunningRelay) -> Relay:
    return Relay("localhost", running.port, False, False, MailAddress("facturas@emisor.do"), roots=running.roots)


async def not_printable(_: TenantId, __: bytes, ___: PrintOptions) -> bytes:
    raise ValueError("these tests' short documents have no signature")


@asynccontextmanager
async def mailing(
    db: Database,
    relay: Relay,
    clock: Clock = lambda: NOW,
    printer: Printer = not_printable,
    sharing: Sharing | None = None,
) -> AsyncIterator[None]:
    """Run the stage, with shorter pauses."""
    tools = replace(make_tools(db, poll_seconds=0.02), gate=no_gate)
    results = ResultWriter(mail_kind(tools.metrics), db, clock)
    stage = mail_stage(Mailer(db, relay, clock, seconds=10, printer=printer, sharing=sharing), results.kind, budget=15)
    stage = replace(stage, gap=lambda _, __: timedelta(milliseconds=20))
    stopping = trio.Event()
    async with results.running(), trio.open_nursery() as nursery:
        nursery.start_soon(run_stage, stage, tools, stopping, results)
        yield
        stopping.set()


async def mail_of(db: Database, tenant: TenantId, subject: SubmissionId) -> MailRecord | None:
    found = await db.run(partial(mail.listed, tenant_id=tenant), list(MailState))
    return next((one for one in found if one.subject == subject), None)


async def ended(db: Database, tenant: TenantId, subject: SubmissionId, *, gone: bool = False) -> MailRecord | None:
    """Wait until a mail rests, or its row is gone."""
    with trio.fail_after(PATIENCE):
        while True:
            found = await mail_of(db, tenant, subject)
            if found is None and gone:
                return None
            if found is not None and found.state is not MailState.WAITING:
                return found
            await trio.sleep(0.02)


async def until(look: Callable[[], Awaitable[bool]]) -> None:
    with trio.fail_after(PATIENCE):
        while not await look():  # noqa: ASYNC110  (only the database knows)
            await trio.sleep(0.02)


async def taken(relay: RunningRelay, count: int) -> None:
    """Wait until the relay has taken `count` mails."""

    async def look() -> bool:
        return len(relay.taken) >= count

    await until(look)


async def found_rows(db: Database, condition: str, count: int) -> None:
    """Wait until `count` mails meet a condition."""

    async def look() -> bool:
        return len(await rows(db, f"SELECT 1 FROM mails WHERE {condition}")) >= count

    await until(look)


@pytest.mark.parametrize("status", [Status.ACCEPTED, Status.CONDITIONAL])
async def test_an_accepted_receipt_is_mailed_to_its_buyer(
    db: Database, worker_db: Database, relay: RunningRelay, status: Status
) -> None:
    tenant = await mailing_tenant(db)
    subject = await accepted(db, tenant, status=status)

    async with mailing(worker_db, configured(relay)):
        found = await ended(db, tenant, subject)

    assert found is not None
    assert (found.state, found.address, found.code, found.attempt) == (MailState.SENT, "compras@cliente.do", 250, 1)
    ((about, message),) = relay.taken
    assert (about["to"], about["tls"]) == ("compras@cliente.do", True)
    assert message["Message-ID"] == found.message_id == f"<{subject}@emisor.do>"
    assert message["Reply-To"].addresses[0].addr_spec == "ventas@ozama.do"
    (attached,) = message.iter_attachments()
    assert attached.get_payload(decode=True) == signed()


@pytest.mark.parametrize(("documents", "parts"), [("attached", MAX_ATTACHED // 100), ("linked", 0)])
async def test_a_receipt_is_shared_and_linked_where_it_is_too_large_or_the_tenant_wants_it(
    db: Database, worker_db: Database, relay: RunningRelay, documents: Documents, parts: int
) -> None:
    tenant = await mailing_tenant(db, replace(SETTINGS, documents=documents))
    large = signed().replace(b"</Encabezado>", b"</Encabezado>" + b"<X>%b</X>" % (b"a" * 100) * parts)
    subject = await accepted(db, tenant, signed=large)

    async with mailing(worker_db, configured(relay), sharing=SHARING):
        found = await ended(db, tenant, subject)

    assert found is not None
    assert found.state is MailState.SENT
    ((_, message),) = relay.taken
    assert list(message.iter_attachments()) == []
    text = body(message, "plain")
    (token,) = re.findall(rf"{SHARING.url}/([A-Za-z0-9_-]+)", text)
    (row,) = await rows(db, "SELECT token_hash, document FROM shared_receipts")
    assert (bytes(row["token_hash"]), bytes(row["document"])) == (token_hash(token), large)


async def test_a_receipt_gets_no_row_without_verdict_after_a_rejection_or_with_mail_off(db: Database) -> None:
    tenant, without = await mailing_tenant(db), await make_tenant(db)

    await make_submission(db, tenant, stage=Stage.TRACK)
    await accepted(db, tenant, status=Status.REJECTED)
    await accepted(db, tenant, root=Root.RFCE)
    await accepted(db, without, notify="a@b.do")

    assert await rows(db, "SELECT * FROM mails") == []


async def test_the_row_is_written_in_the_transaction_of_the_verdict(db: Database) -> None:
    tenant = await mailing_tenant(db)
    made = await make_submission(db, tenant, stage=Stage.TRACK)
    work = await take(db, made)

    async def booked(conn: Any) -> None:
        await bookings.verdict(conn, work, at=NOW)
        found = await submissions.find(conn, tenant, made)
        assert found is not None
        assert found.mail_state is MailState.WAITING
        raise RuntimeError("rolled back")

    with pytest.raises(RuntimeError, match="rolled back"):
        await db.transact(booked)

    assert await rows(db, "SELECT * FROM mails") == []


async def test_the_address_of_the_submission_wins_over_the_document(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant = await mailing_tenant(db)
    subject = await accepted(db, tenant, notify="contabilidad@cliente.do")

    async with mailing(worker_db, configured(relay)):
        await ended(db, tenant, subject)

    assert [about["to"] for about, _ in relay.taken] == ["contabilidad@cliente.do"]


async def test_a_test_receipt_goes_only_to_the_address_of_the_submission(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant = await mailing_tenant(db)
    silent = await accepted(db, tenant, environment=Environment.TESTECF)
    told = await accepted(db, tenant, environment=Environment.TESTECF, notify="yo@ozama.do")

    async with mailing(worker_db, configured(relay)):
        assert await ended(db, tenant, silent, gone=True) is None
        await ended(db, tenant, told)

    assert [(about["to"], message["Subject"][:8]) for about, message in relay.taken] == [("yo@ozama.do", "[PRUEBA,")]


@pytest.mark.parametrize("address", ["", "no address", "a@b.do&#10;Bcc: c@d.do"])
async def test_a_receipt_without_an_address_leaves_nothing(
    db: Database, worker_db: Database, relay: RunningRelay, address: str
) -> None:
    tenant = await mailing_tenant(db)
    subject = await accepted(db, tenant, signed=signed(mail=address))

    async with mailing(worker_db, configured(relay)):
        assert await ended(db, tenant, subject, gone=True) is None

    assert relay.taken == []


async def test_a_refused_address_is_shown_and_suppressed_from_then_on(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant, other = await mailing_tenant(db), await mailing_tenant(db)
    first = await accepted(db, tenant, notify="Absent@x.do".lower())
    async with mailing(worker_db, configured(relay)):
        refused = await ended(db, tenant, first)
        second = await accepted(db, tenant, notify="absent@X.do")
        policy = await accepted(db, tenant, notify="policy@x.do")
        suppressed, not_listed = await ended(db, tenant, second), await ended(db, tenant, policy)
        of_another = await accepted(db, other, notify="absent@x.do")
        also_refused = await ended(db, other, of_another)

    assert refused is not None
    assert suppressed is not None
    assert not_listed is not None
    assert also_refused is not None
    assert (refused.state, refused.code) == (MailState.REFUSED, 550)
    assert refused.reason == "recipient not accepted: 550 5.1.1 no such mailbox here"
    assert (suppressed.state, suppressed.address) == (MailState.SUPPRESSED, "absent@X.do")
    assert [each[:2] for each in await db.run(mail.suppressed, tenant)] == [("absent@x.do", "refused")]
    assert (not_listed.state, also_refused.state) == (MailState.REFUSED, MailState.REFUSED)
    assert relay.taken == []


async def test_a_temporary_answer_is_retried_under_the_same_message_id(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant = await mailing_tenant(db)
    subject = await accepted(db, tenant, notify="cut@x.do")

    async with mailing(worker_db, configured(relay)):
        await taken(relay, 3)
        await db.run(mail.set_settings, tenant, None)
        assert await ended(db, tenant, subject, gone=True) is None

    assert {message["Message-ID"] for _, message in relay.taken} == {f"<{subject}@emisor.do>"}
    assert await rows(db, "SELECT mails FROM mail_days") == [{"mails": 1}]


async def test_link_that_was_revoked_between_two_tries_stays_revoked(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant = await mailing_tenant(db, replace(SETTINGS, documents="linked"))
    subject = await accepted(db, tenant, notify="later@x.do")
    async with mailing(worker_db, configured(relay), sharing=SHARING):
        await found_rows(db, "last_error IS NOT NULL", 1)
    assert await db.run(shared_receipts.revoke, tenant, subject)
    await rows(db, "UPDATE mail_recipients SET address = 'ok@x.do'")

    async with mailing(worker_db, configured(relay), sharing=SHARING):
        await ended(db, tenant, subject)

    ((_, message),) = relay.taken
    assert SHARING.url not in body(message, "plain")
    assert [one.get_payload(decode=True) for one in message.iter_attachments()] == [signed()]
    assert await rows(db, "SELECT 1 FROM shared_receipts") == []


async def test_a_sender_that_changes_keeps_the_first_message_id(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant = await mailing_tenant(db)
    subject = await accepted(db, tenant, notify="later@x.do")
    async with mailing(worker_db, configured(relay)):
        await found_rows(db, "message_id IS NOT NULL", 1)
    moved = replace(configured(relay), sender=MailAddress("facturas@otra.do"))
    await rows(db, "UPDATE mail_recipients SET address = 'ok@x.do'")

    async with mailing(worker_db, moved):
        found = await ended(db, tenant, subject)

    assert found is not None
    assert found.message_id == relay.taken[0][1]["Message-ID"] == f"<{subject}@emisor.do>"


async def test_the_cap_of_a_day_puts_mails_off_to_the_next(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant, other = await mailing_tenant(db), await mailing_tenant(db)
    await db.run(mail.set_limit, tenant, 2)
    subjects = [await accepted(db, tenant) for _ in range(5)]
    unrelated = await accepted(db, other)
    async with mailing(worker_db, configured(relay)):
        await ended(db, other, unrelated)
        await found_rows(db, "last_error LIKE '%%used up'", 3)
    waiting = await rows(
        db,
        "SELECT attempt, counted_on, extract(EPOCH FROM run_at - now())::int AS due_in FROM mails WHERE stage = 'mail'",
    )
    assert len(relay.taken) == 3
    assert all(1700 < each["due_in"] < 3700 and each["attempt"] == 0 for each in waiting)
    assert {each["counted_on"] for each in waiting} == {None}

    await rows(db, "UPDATE mails SET run_at = now() WHERE stage = 'mail'")
    async with mailing(worker_db, configured(relay), clock=lambda: NOW + timedelta(days=1)):
        await taken(relay, 5)
    days = await rows(db, "SELECT day, mails FROM mail_days WHERE tenant_id = %(t)s ORDER BY day", t=tenant)
    day = NOW.astimezone(ZONE).date()
    assert [(each["day"], each["mails"]) for each in days] == [(day, 2), (day + timedelta(days=1), 2)]
    assert len({about["to"] for about, _ in relay.taken}) == 1
    assert len(subjects) == 5


@pytest.mark.parametrize("role", [FRONT, PORTAL])
async def test_a_larger_cap_releases_the_mails_that_it_put_off(db: Database, dsn: str, role: str) -> None:
    tenant = await mailing_tenant(db, replace(SETTINGS, a_day=1))
    subject = await accepted(db, tenant, notify="yo@ozama.do")
    await rows(db, "UPDATE mails SET run_at = now() + interval '9 h'")
    by = Author("Ana", NOW, "portal")
    async with open_database(dsn, role=role) as theirs:
        for a_day, is_due in ((1, False), (2, True)):
            wanted = replace(SETTINGS, a_day=a_day, language="en")
            await theirs.transact_for(tenant, change_settings, by, tenant, wanted)
            assert bool(await rows(db, "SELECT 1 FROM mails WHERE run_at <= now()")) is is_due
        found = await theirs.run_for(tenant, submissions.find, subject)

    assert found is not None
    assert (found.mail_state, found.mail_address) == (MailState.WAITING, "yo@ozama.do")


async def test_tries_that_the_relay_did_not_let_begin_use_up_no_cap_and_are_logged_once(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant = await mailing_tenant(db, replace(SETTINGS, a_day=3))
    for _ in range(3):
        await accepted(db, tenant)
    with capture_logs() as logged:
        async with mailing(worker_db, replace(configured(relay), user="fe", password=SecretStr("wrong"))):
            await found_rows(db, "attempt > 1", 3)
    days = await rows(db, "SELECT mails FROM mail_days")
    await accepted(db, tenant)
    async with mailing(worker_db, configured(relay)):
        await taken(relay, 3)
        await found_rows(db, "last_error LIKE '%%used up'", 1)

    assert days == [{"mails": 0}]
    assert await rows(db, "SELECT mails FROM mail_days") == [{"mails": 3}]
    unusable = [one for one in logged if "relay" in one["event"]]
    assert [one["event"] for one in unusable] == ["the mail relay cannot be used, mails wait: read its answer"]
    assert "login not accepted: 535" in unusable[0]["reason"]


async def test_a_mail_is_given_up_after_its_patience_and_can_be_replayed(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    from fe.store.queue.audit import OperatorAction

    tenant = await mailing_tenant(db)
    subject = await accepted(db, tenant, notify="later@x.do")
    await rows(db, "UPDATE mails SET entered_at = now() - interval '4 days', attempt = 20, counted_on = '2026-11-22'")
    async with mailing(worker_db, configured(relay)):
        failed = await ended(db, tenant, subject)
        await rows(db, "UPDATE mail_recipients SET address = 'ok@x.do'")
        action = OperatorAction.of("ana@fe.do", "the relay is back", NOW)
        assert await db.transact(mail.replay, action, tenant, subject)
        assert not await db.transact(mail.replay, action, tenant, subject)
        await taken(relay, 1)

    assert failed is not None
    assert (failed.state, failed.reason) == (
        MailState.FAILED,
        "recipient not accepted: 451 4.3.0 try again later",
    )


async def test_a_lost_claim_sends_nothing(db: Database, worker_db: Database, relay: RunningRelay) -> None:
    from fe.store.postgres.errors import LeaseLost

    tenant = await mailing_tenant(db)
    await accepted(db, tenant)
    (work,) = await worker_db.run(MAILS.claim, "mail", LANES[0], [tenant], [9], lease=LEASE, holder="first")
    await rows(db, "UPDATE mails SET run_at = now() - interval '1 s'")
    await worker_db.run(MAILS.claim, "mail", LANES[0], [tenant], [9], lease=LEASE, holder="second")

    with pytest.raises(LeaseLost):
        await Mailer(worker_db, configured(relay), lambda: NOW, seconds=10, printer=not_printable).mail(work)

    assert relay.taken == []


async def test_a_lost_claim_books_nothing(db: Database, worker_db: Database) -> None:
    tenant = await mailing_tenant(db)
    await accepted(db, tenant)
    (work,) = await worker_db.run(MAILS.claim, "mail", LANES[0], [tenant], [9], lease=LEASE, holder="first")
    stale: MailWork = replace(work, epoch=work.epoch - 1)

    assert not await worker_db.run(lambda conn: mail.rest(conn, stale, at=NOW, state=MailState.SENT))
    assert not await worker_db.run(mail.drop, stale)
    assert not await worker_db.run(lambda conn: mail.retry(conn, stale, after=timedelta(0), reason="x", counts=True))


async def test_the_pdf_is_printed_as_the_tenant_set_it_and_attached(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant = await mailing_tenant(db, replace(SETTINGS, language="en"))
    mine = PrintSettings(footer="Gracias", marks=("Original",), layout=PaperSize.ROLL_80)
    await db.run(print_settings.put, tenant, mine, NOW)
    subject = await accepted(db, tenant, qr_code_url="https://ecf.example/qr")
    asked: list[PrintOptions] = []

    async def printer(of: TenantId, document: bytes, options: PrintOptions) -> bytes:
        assert (of, document) == (tenant, signed())
        asked.append(options)
        return b"%PDF-1.7 printed"

    async with mailing(worker_db, configured(relay), printer=printer):
        await ended(db, tenant, subject)

    ((_, message),) = relay.taken
    attached = [part.get_payload(decode=True) for part in message.iter_attachments()]
    assert attached == [signed(), b"%PDF-1.7 printed"]
    options = replace(mine.options(language="en"), environment=Environment.ECF, url="https://ecf.example/qr")
    assert asked == [options]


async def test_the_front_keeps_the_address_of_each_of_a_batch_and_of_no_repeat(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    news = [
        new_submission(tenant, client_request_id="a", e_ncf="E310000000001", notify="a@x.do"),
        new_submission(tenant, client_request_id="b", e_ncf="E310000000002"),
        new_submission(tenant, client_request_id="a", e_ncf="E310000000003", notify="c@x.do"),
        new_submission(tenant, client_request_id="d", e_ncf="E310000000004", notify="d@x.do"),
    ]
    async with open_database(dsn, role=FRONT) as front:
        await front.run(submissions.accept_many, [(new, NOW) for new in news])
        alone = new_submission(tenant, client_request_id="e", e_ncf="E310000000005", notify="e@x.do")
        await front.run(submissions.accept, alone, NOW)

    kept = await rows(db, "SELECT submission_id, address FROM mail_recipients ORDER BY address")
    expected = [(news[0], "a@x.do"), (news[3], "d@x.do"), (alone, "e@x.do")]
    assert [(each["submission_id"], each["address"]) for each in kept] == [
        (new.submission_id, address) for new, address in expected
    ]


def test_gaps_grow_from_a_minute_to_an_hour() -> None:
    import random

    spread = random.Random(7)
    gaps = [mail_gap(attempt, spread).total_seconds() for attempt in range(1, 30)]

    assert 54 <= gaps[0] <= 66
    assert all(3240 <= gap <= 3960 for gap in gaps[3:])
    assert Retry("x", timedelta(seconds=gaps[0])).counts


async def test_a_print_that_does_not_end_leaves_the_xml_to_go_alone(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    async def printer(_: TenantId, __: bytes, ___: PrintOptions) -> bytes:
        await trio.sleep_forever()
        raise AssertionError

    tenant = await mailing_tenant(db)
    subject = await accepted(db, tenant, notify="compras@cliente.do")
    async with mailing(worker_db, configured(relay), printer=printer):
        found = await ended(db, tenant, subject)

    assert found is not None
    assert (found.state, found.attempt) == (MailState.SENT, 1)
    assert len(list(relay.taken[-1][1].iter_attachments())) == 1


async def test_mail_that_the_operator_forbids_is_dropped(
    db: Database, worker_db: Database, relay: RunningRelay
) -> None:
    tenant = await mailing_tenant(db)
    await db.run(mail.set_limit, tenant, 0)
    subject = await accepted(db, tenant)

    async with mailing(worker_db, configured(relay)):
        assert await ended(db, tenant, subject, gone=True) is None

    assert relay.taken == []


async def test_patience_begins_with_the_first_try(db: Database, worker_db: Database, relay: RunningRelay) -> None:
    tenant = await mailing_tenant(db)
    await accepted(db, tenant, notify="later@x.do")
    await rows(db, "UPDATE mails SET entered_at = now() - interval '4 days'")

    async with mailing(worker_db, configured(relay)):
        await found_rows(db, "message_id IS NOT NULL AND attempt >= 1", 1)

    assert await rows(db, "SELECT 1 FROM mails WHERE entered_at < now() - interval '1 hour'") == []


async def test_next_try_reuses_the_print(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []

    def print_once(document: bytes, options: PrintOptions) -> bytes:
        made.append(document)
        return b"%PDF of " + document

    monkeypatch.setattr(mailer, "pdf", print_once)
    printer = mailer.printer_of(Apart(1, Metrics(), seconds=PATIENCE))
    prints = [await printer(TenantId(1), b"one", PrintOptions()) for _ in range(2)]
    prints.append(await printer(TenantId(1), b"one", PrintOptions(language="en")))

    assert prints == [b"%PDF of one"] * 3
    assert made == [b"one"] * 2
