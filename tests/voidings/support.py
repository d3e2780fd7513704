"""A tenant with a sequence and a certificate, and the voider beside a simulated authority that may lose answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import trio

from fe.actors.credentials import SigningCredentials
from fe.actors.voider import Voider, voiding_kind, voiding_stage
from fe.authority.client import Authority, BeforeSend, Outgoing, Receipt, Verdict
from fe.authority.errors import OutcomeUnknown, Unavailable
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.ids import new_id
from fe.ecf.selfmade import to_p12
from fe.ecf.voiding import NumberRange, in_order
from fe.identifiers import ClientRequestId, SequenceId, SubmissionId, TenantId
from fe.lifecycle import NumberFate
from fe.queue.executor import run_stage
from fe.queue.result_writer import ResultWriter
from fe.queue.stage import no_gate
from fe.store.postgres.db import Database
from fe.store.postgres.errors import NoNumber
from fe.store.records import sequences, submissions, voidings
from fe.store.records.voidings import NewVoiding, Voiding, VoidingState
from tests.factories import bookings
from tests.factories.companies import PASSPHRASE, VAULT, credential_of_today, make_certificate
from tests.factories.tenants import make_tenant, new_submission, take
from tests.queue.stage import make_tools
from tests.simulator.support import ISSUER
from tests.waiting import PATIENCE

TEST = Environment.TESTECF
NOW = datetime.now(UTC)


def e31(first: int, last: int | None = None) -> NumberRange:
    return NumberRange(EcfType.CREDIT_FISCAL, first, last or first)


async def voiding_tenant(db: Database, *, maximum: int = 100, signs: bool = True) -> TenantId:
    tenant = await make_tenant(db)
    if signs:
        credential = credential_of_today()
        await make_certificate(
            db,
            tenant,
            p12=to_p12(credential, PASSPHRASE),
            not_before=credential.not_before,
            not_after=credential.not_after,
        )
    await db.run_for(
        tenant,
        sequences.put,
        TEST,
        "E31",
        new_id=SequenceId(new_id(NOW)),
        minimum=1,
        maximum=maximum,
        expire_at=datetime(2028, 12, 31, tzinfo=UTC),
        is_active=True,
        at=NOW,
    )
    return tenant


async def draw(db: Database, tenant: TenantId, *, e_ncf: str | None = None) -> tuple[SubmissionId, int] | None:
    """Accept a submission with the next number, or with its own; None where there is no number."""
    draws = {"draw_prefix": "E31"} if e_ncf is None else {}
    new = new_submission(tenant, NOW, environment=TEST, e_ncf=e_ncf, **draws)
    try:
        taken = await db.run(submissions.accept, new, NOW)
    except NoNumber:
        return None
    assert taken.e_ncf is not None
    return taken.submission_id, int(taken.e_ncf[3:])


async def fail(db: Database, subject: SubmissionId) -> None:
    """End it before it is signed."""
    response = {"status": "error", "error": "bad"}
    await db.run(bookings.failure, await take(db, subject), at=NOW, response=response, fate=NumberFate.REUSABLE)


async def request(
    db: Database,
    tenant: TenantId,
    *ranges: NumberRange,
    reason: int = 8,
    request_id: str | None = None,
) -> UUID:
    named = None if request_id is None else ClientRequestId(request_id)
    new = NewVoiding(new_id(NOW), TEST, ISSUER, reason, in_order(ranges), named, "eva")
    return await db.transact_for(tenant, voidings.request, tenant, new, NOW)


async def find(db: Database, tenant: TenantId, voiding_id: UUID) -> Voiding:
    found = await db.run(voidings.find, tenant, voiding_id)
    assert found is not None
    return found


@dataclass
class Unreliable:
    """The simulated authority behind a line that fails as the script says; an empty script answers.

    `lost` delivers and loses the answer, `silent` loses the document and does not say so, `away` sends nothing.
    """

    authority: Authority
    script: list[str] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)

    async def submit(
        self, outgoing: Outgoing, credential: Any, *, before_send: BeforeSend | None = None
    ) -> Receipt | Verdict:
        fault = self.script.pop(0) if self.script else "answer"
        assert before_send is not None
        if fault == "away":
            await before_send()
            raise Unavailable("connection refused")
        if fault == "silent":
            await before_send()
            raise OutcomeUnknown("connection reset")
        answer = await self.authority.submit(outgoing, credential, before_send=before_send)
        self.sent.append(outgoing.xml)
        if fault == "lost":
            raise OutcomeUnknown("timeout")
        return answer


@asynccontextmanager
async def running_voider(db: Database, authority: Unreliable) -> AsyncIterator[None]:
    """Run the stage, with shorter pauses."""
    tools = replace(make_tools(db, poll_seconds=0.02), gate=no_gate)
    results = ResultWriter(voiding_kind(tools.metrics), db, tools.clock)
    credentials = SigningCredentials(db, VAULT, trio.CapacityLimiter(1))
    voider = Voider(db, authority, credentials, tools.clock)  # type: ignore[arg-type]  # it has the one method
    stage = voiding_stage(voider, results.kind, budget=15)
    stage = replace(stage, gap=lambda _, __: timedelta(milliseconds=5))
    stopping = trio.Event()
    async with results.running(), trio.open_nursery() as nursery:
        nursery.start_soon(run_stage, stage, tools, stopping, results)
        yield
        stopping.set()


async def ended(db: Database, tenant: TenantId, voiding_id: UUID) -> Voiding:
    """Wait until a voiding rests."""
    with trio.fail_after(PATIENCE):
        while (found := await find(db, tenant, voiding_id)).state is VoidingState.WAITING:  # noqa: ASYNC110  (only the database knows)
            await trio.sleep(0.02)
    return found
