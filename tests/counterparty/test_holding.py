"""Without trusted roots for acknowledgements, receipts for buyers wait and none is lost; approvals are delivered."""

from pathlib import Path
from typing import cast

import pytest
import trio
from structlog.testing import capture_logs

from fe.actors.counterparty import CounterpartyHandlers, handing_kind, handing_stages
from fe.actors.credentials import Opened, SigningCredentials
from fe.actors.run import _counterparty_handlers
from fe.authority.client import Authority, DirectoryEntry, Signing
from fe.clock import system_clock
from fe.config import Settings
from fe.config.start_checks import holds_receipts
from fe.counterparty.directory import Directory
from fe.counterparty.wire import Counterparties
from fe.ecf.catalogue import Environment
from fe.identifiers import CertificateId, SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Database
from fe.store.records.counterparty import HandingKind
from tests.factories.tenants import make_submission, make_tenant, row, rows
from tests.queue.stage import make_tools, running
from tests.waiting import PATIENCE


class AskedAuthority:
    """An authority with an empty directory that counts its requests."""

    def __init__(self) -> None:
        self.asked = 0

    async def directory_entry(self, environment: Environment, rnc: str, credential: Signing) -> DirectoryEntry | None:
        self.asked += 1
        return None


class NoCertificates:
    """Opens no certificates: the directory above needs none."""

    threads = None

    async def for_session(self, tenant_id: TenantId, certificate_id: CertificateId, **_: bool) -> Opened:
        return cast(Opened, None)


def handlers(db: Database, authority: AskedAuthority, *, holds: bool) -> CounterpartyHandlers:
    return CounterpartyHandlers(
        db=db,
        credentials=cast(SigningCredentials, NoCertificates()),
        directory=Directory(cast(Authority, authority)),
        counterparties=cast(Counterparties, None),  # no receiver has an address, so none is called
        roots=None,
        clock=system_clock,
        threads=trio.CapacityLimiter(1),
        kinds={},
        holds_receipts=holds,
    )


async def waiting_for_its_address(db: Database, tenant: TenantId, kind: HandingKind) -> SubmissionId:
    """A submission that was accepted, and is to be handed on."""
    subject = await make_submission(db, tenant, stage=Stage.TRACK)
    await rows(
        db,
        """WITH begun AS (
               INSERT INTO counterparty_deliveries
                      (tenant_id, submission_id, kind, environment, counterparty_rnc, since, changed_at)
               VALUES (%(tenant)s, %(subject)s, %(kind)s, 'ecf', '131880681', now(), now()))
           INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at)
           VALUES (%(tenant)s, %(subject)s, 'address', 'ecf', 'ecf', now())""",
        tenant=tenant,
        subject=subject,
        kind=kind.value,
    )
    return subject


async def run_until(db: Database, through: CounterpartyHandlers, statement: str) -> None:
    """Run the stage that asks the directory until `statement` finds a row."""
    address, _ = handing_stages(through, handing_kind(Metrics(), {}), budget=PATIENCE, scale=1.0)
    async with running(address, make_tools(db)):
        with trio.fail_after(PATIENCE):
            while not await rows(db, statement):  # noqa: ASYNC110  (the row is another task's)
                await trio.sleep(0.02)


async def test_a_receipt_waits_without_a_try_and_goes_on_when_somebody_is_trusted(db: Database) -> None:
    authority = AskedAuthority()
    subject = await waiting_for_its_address(db, await make_tenant(db), HandingKind.RECEIPT)
    await rows(db, "UPDATE counterparty_outbox SET entered_at = now() - interval '30 days'")  # longer than patience

    await run_until(
        db,
        handlers(db, authority, holds=True),
        "SELECT 1 FROM counterparty_outbox WHERE holder IS NULL AND last_error LIKE 'FE_RECEPTION_ROOTS is not set%%'",
    )
    held = await row(db, "SELECT stage, attempt, run_at > now() AS later FROM counterparty_outbox")
    asked_while_held = authority.asked
    await rows(db, "UPDATE counterparty_outbox SET run_at = now()")
    await run_until(
        db, handlers(db, authority, holds=False), "SELECT 1 FROM counterparty_deliveries WHERE state = 'unlisted'"
    )

    assert held == {"stage": "address", "attempt": 0, "later": True}
    assert asked_while_held == 0
    assert authority.asked == 1
    assert await rows(db, "SELECT 1 FROM counterparty_sends WHERE submission_id = %(id)s", id=subject) == []


async def test_an_approval_goes_all_the_same(db: Database) -> None:
    authority = AskedAuthority()
    await waiting_for_its_address(db, await make_tenant(db), HandingKind.APPROVAL)

    await run_until(
        db, handlers(db, authority, holds=True), "SELECT 1 FROM counterparty_deliveries WHERE state = 'unlisted'"
    )

    assert authority.asked == 1


@pytest.mark.parametrize(
    ("development", "roots", "holds"),
    [(False, None, True), (True, None, False), (False, "roots.pem", False), (True, "roots.pem", False)],
)
def test_receipts_wait_where_nobody_is_named_outside_development(
    development: bool, roots: str | None, holds: bool
) -> None:
    named = Path(roots) if roots else None

    assert holds_receipts(Settings.model_construct(development=development, reception_roots=named)) is holds


async def test_the_start_says_so(db: Database) -> None:
    settings = Settings.model_construct()
    authority = cast(Authority, AskedAuthority())

    with capture_logs() as told:
        built = _counterparty_handlers(
            settings, db, authority, cast(SigningCredentials, NoCertificates()), system_clock
        )

    assert built.holds_receipts
    assert [line["event"] for line in told] == [
        "nothing is sent to receivers, no acknowledgement could be believed: set FE_RECEPTION_ROOTS"
    ]
