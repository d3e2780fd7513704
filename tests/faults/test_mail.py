"""Mailers killed with SIGKILL: each accepted receipt with an address is mailed, under one Message-ID, and no other."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import trio

from fe.clock import system_clock
from fe.ecf.mail_address import MailAddress
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Stage, Status
from fe.store.postgres.db import Database
from fe.store.records import mail
from fe.store.records.mail import MailSettings
from tests.factories import bookings
from tests.factories.tenants import make_submission, make_tenant, rows, take
from tests.mail.relay import RunningRelay, running_relay
from tests.mail.test_message import signed

SETTINGS = MailSettings("es", MailAddress("ventas@ozama.do"), 10_000)

WORKER = """
import sys, trio
from datetime import timedelta
from pathlib import Path
from fe.actors.mailer import run_mail
from fe.ecf.mail_address import MailAddress
from fe.mail.relay import Relay
from fe.process import failpoints
from fe.store.postgres.db import open_database
from tests.queue.stage import make_tools

async def no_pdf(*_):
    raise ValueError("short documents of the tests have no signature")

async def main():
    dsn, port, roots, failpoint = sys.argv[1:]
    relay = Relay("localhost", int(port), False, False, MailAddress("facturas@emisor.do"), roots=Path(roots))
    async with open_database(dsn, role="fe_worker", max_size=4) as db:
        tools = make_tools(db, poll_seconds=0.05, lease=timedelta(seconds=2))
        failpoints.arm(failpoint)
        await run_mail(relay, tools, no_pdf, budget=1.5, scale=0.001, stopping=trio.Event())

trio.run(main)
"""


def start(dsn: str, relay: RunningRelay, failpoint: str = "") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WORKER, dsn, str(relay.port), str(relay.roots), failpoint]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": "."})


async def verdict(db: Database, subject: SubmissionId, status: Status = Status.ACCEPTED) -> None:
    work = await take(db, subject)
    await db.run(lambda conn: bookings.verdict(conn, work, at=system_clock(), status=status))


async def until_all_rest(db: Database, seconds: float) -> None:
    with trio.fail_after(seconds):
        while await rows(db, "SELECT 1 FROM mails WHERE stage = 'mail'"):  # noqa: ASYNC110  (other processes write)
            await trio.sleep(0.1)


def check(relay: RunningRelay, mailed: set[SubmissionId], states: dict[str, str]) -> Counter[str]:
    """Compare what the relay has with the receipts that must be mailed; return how often each was."""
    taken = Counter(str(message["Message-ID"]) for _, message in relay.taken)
    assert set(taken) == {f"<{subject}@emisor.do>" for subject in mailed}
    assert states == {str(subject): "sent" for subject in mailed}
    for _, message in relay.taken:
        assert message.get_payload()[-1].get_payload(decode=True) == signed()  # type: ignore[index, union-attr]
    return taken


async def states_of(db: Database) -> dict[str, str]:
    return {str(one["subject"]): one["stage"] for one in await rows(db, "SELECT subject, stage FROM mails")}


async def mailing_tenant(db: Database) -> TenantId:
    tenant = await make_tenant(db)
    await db.run(mail.set_settings, tenant, SETTINGS)
    return tenant


@pytest.mark.parametrize(
    ("failpoint", "most"),
    [("claimed", 1), ("mailed", 2), ("worked", 2), ("batching", 2), ("writing", 2), ("batched", 1), ("booked", 1)],
)
async def test_a_mailer_killed_there_leaves_the_mail_to_the_next(
    db: Database, dsn: str, tmp_path: Path, failpoint: str, most: int
) -> None:
    tenant = await mailing_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.TRACK, signed=signed())
    await verdict(db, subject)
    with running_relay(tmp_path / "relay") as relay:
        with start(dsn, relay, failpoint) as first:
            with trio.fail_after(60):
                await trio.to_thread.run_sync(first.wait)
        assert first.returncode == -signal.SIGKILL
        with start(dsn, relay) as second:
            await until_all_rest(db, 60)
            second.kill()

        (times,) = check(relay, {subject}, await states_of(db)).values()

    assert 1 <= times <= most


async def test_mailers_killed_at_any_moment_lose_no_mail_and_invent_none(
    db: Database, dsn: str, tmp_path: Path
) -> None:
    chance = random.Random(36)
    tenant = await mailing_tenant(db)
    made = [await make_submission(db, tenant, stage=Stage.TRACK, signed=signed()) for _ in range(60)]
    silent = [await make_submission(db, tenant, stage=Stage.TRACK, signed=signed(mail="")) for _ in range(5)]
    accepted, rejected = set(made[:40]), made[40:50]  # the last ten get no verdict
    kills = 0
    with running_relay(tmp_path / "relay") as relay:

        async def book() -> None:
            for subject in [*accepted, *silent]:
                await verdict(db, subject, chance.choice((Status.ACCEPTED, Status.CONDITIONAL)))
                await trio.sleep(0.1)
            for subject in rejected:
                await verdict(db, subject, Status.REJECTED)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(book)
            for _ in range(10):
                with start(dsn, relay) as worker:
                    await trio.sleep(chance.uniform(1.0, 2.5))
                    worker.send_signal(signal.SIGKILL)
                    kills += 1
        with start(dsn, relay) as last:
            await until_all_rest(db, 90)
            last.kill()

        taken = check(relay, accepted, await states_of(db))

    print(f"{kills} kills, {len(accepted)} receipts, {sum(taken.values())} mails")  # noqa: T201
    assert kills == 10
    assert sum(taken.values()) < 2 * len(accepted)
