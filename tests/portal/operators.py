"""Helpers for tests of operators' pages: signed-in operators, dead letters, and the runner of plans."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import trio

from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.operations.replay import PlanPatience
from fe.portal.plan_runner import PlanRunner
from fe.store.postgres.db import Database
from tests.factories import bookings
from tests.factories.tenants import make_submission, rows, take
from tests.portal.running import Browser, Running
from tests.waiting import PATIENCE

WHY = {"reason": "the authority is back"}
#: Canaries and troubles are waited for as long as the machine needs.
PATIENT = PlanPatience(canary=PATIENCE, trouble=PATIENCE, look=0.01)


@asynccontextmanager
async def operating(portal: Running, email: str = "olga@fe.do", language: str = "en") -> AsyncIterator[Browser]:
    """A browser in which an operator has logged in."""
    person = await portal.person(email=email, is_operator=True, language=language)
    async with portal.browser(person, language) as browser:
        yield browser


async def make_dead(
    db: Database, tenant: TenantId, now: datetime, many: int = 1, error: str = "authority answered with status 503"
) -> list[SubmissionId]:
    """Dead letters, the first the longest dead."""
    made = []
    for number in range(many):
        subject = await make_submission(db, tenant, at=now, stage=Stage.SEND)
        died_at = now - timedelta(minutes=60) + timedelta(seconds=number)
        await db.run(bookings.dead_letter, await take(db, subject), at=died_at, error=error)
        made.append(subject)
    return made


async def accept(db: Database, subject: SubmissionId, now: datetime) -> None:
    """The authority accepts it."""
    await db.run(bookings.verdict, await take(db, subject), at=now)


async def dead(db: Database) -> set[SubmissionId]:
    """Create dead letters."""
    return {found["subject"] for found in await rows(db, "SELECT subject FROM dead_letters")}


async def times_replayed(db: Database) -> dict[SubmissionId, int]:
    found = await rows(
        db, "SELECT submission_id, count(*) AS n FROM submission_events WHERE kind = 'replayed' GROUP BY 1"
    )
    return {one["submission_id"]: one["n"] for one in found}


def runner(portal: Running, operators: Database, holder: str = "one") -> PlanRunner:
    """Run the plan runner without pauses between its looks."""
    return PlanRunner(operators, holder, portal.clock, patience=PATIENT, look=0.01)


async def until_rows(db: Database, statement: str) -> None:
    """Wait until a statement finds something."""
    with trio.fail_after(PATIENCE):
        while not await rows(db, statement):  # noqa: ASYNC110  (it rings no bell)
            await trio.sleep(0.01)
