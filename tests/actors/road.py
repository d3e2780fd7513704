"""Sender, tracker and reconciler beside a scripted authority, over the real database and a real certificate."""

import random
from dataclasses import dataclass
from typing import Any

import trio

from fe.actors.credentials import SigningCredentials
from fe.actors.outcomes import Intent
from fe.actors.reconciler import Reconciler
from fe.actors.sender import Sender
from fe.actors.tracker import Tracker
from fe.actors.writers import WRITERS
from fe.clock import system_clock
from fe.ecf.catalogue import Service
from fe.identifiers import CertificateId, SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.queue.backoff import poll_gap
from fe.queue.deadlines import DOUBT_FOR, FOLLOW_FOR
from fe.queue.lease_guard import LeaseGuard
from fe.queue.outcome import Outcome
from fe.queue.stage import StageConfig
from fe.store.postgres.db import Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue.outbox import Work
from tests.actors.authority import ScriptedAuthority, as_authority
from tests.factories.companies import VAULT, make_certificate
from tests.factories.tenants import LEASE, make_submission, make_tenant, rows, submission, waiting
from tests.queue.stage import make_stage, step


@dataclass
class Road:
    """A tenant with a certificate, and the actors that carry its documents."""

    db: Database
    authority: ScriptedAuthority
    tenant: TenantId
    certificate: CertificateId
    plans: dict[Stage, StageConfig[Work]]
    sender: Sender
    pulse: LeaseGuard

    async def make(self, stage: Stage, **more: Any) -> SubmissionId:
        return await make_submission(self.db, self.tenant, stage=stage, certificate_id=self.certificate, **more)

    async def step(self, subject: SubmissionId) -> str:
        """One step of whatever the submission waits for; the outcome that was booked."""
        stage = Stage((await waiting(self.db, subject))["stage"])
        return await step(self.db, self.plans[stage], subject)

    async def steps(self, subject: SubmissionId, limit: int = 60) -> list[str]:
        """Run steps to the end, at most `limit`; return their outcomes."""
        outcomes: list[str] = []
        while len(outcomes) < limit and await rows(self.db, "SELECT 1 FROM outbox WHERE subject = %(s)s", s=subject):
            outcomes.append(await self.step(subject))
        return outcomes

    async def status(self, subject: SubmissionId) -> tuple[str, str]:
        kept = await submission(self.db, subject)
        return kept["status"], kept["number_fate"]


async def make_road(db: Database, *, anecf: Service = Service.COMMERCIAL_APPROVAL, **script: Any) -> Road:
    authority = ScriptedAuthority(**script)
    client = as_authority(authority)
    credentials = SigningCredentials(db, VAULT, trio.CapacityLimiter(2))
    reconciler = Reconciler(db, client, credentials, random.Random(1))
    pulse = LeaseGuard(lease=LEASE, clock=lambda: authority.now)

    async def intend(work: Work, intent: Intent) -> Outcome:
        """A batch of one."""
        (written,) = await db.run(WRITERS[Intent], [(work, intent)], system_clock())
        if written is None:
            raise LeaseLost
        return written

    sender = Sender(
        db=db,
        authority=client,
        credentials=credentials,
        reconciler=reconciler,
        anecf_service=anecf,
        lease=LEASE,
        lease_guard=pulse,
        intend=intend,
    )
    tracker = Tracker(db, client, credentials, reconciler, random.Random(1))
    tenant = await make_tenant(db)
    return Road(
        db,
        authority,
        tenant,
        await make_certificate(db, tenant),
        {
            Stage.SEND: make_stage(sender.send, Stage.SEND, doubts_go_to=Stage.RECONCILE),
            Stage.TRACK: make_stage(tracker.track, Stage.TRACK, gap=poll_gap, max_attempts=None, patience=FOLLOW_FOR),
            Stage.RECONCILE: make_stage(
                reconciler.reconcile, Stage.RECONCILE, gap=poll_gap, max_attempts=None, patience=DOUBT_FOR
            ),
        },
        sender,
        pulse,
    )
