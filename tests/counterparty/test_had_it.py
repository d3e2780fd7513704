"""A receiver that calls the same bytes a duplicate has our document, although its arrival was unknown."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import cast

import pytest
import trio

from fe.actors.counterparty import WRITERS, CounterpartyHandlers, HandedOn
from fe.actors.credentials import Opened, SigningCredentials
from fe.clock import system_clock
from fe.counterparty.directory import Directory
from fe.counterparty.wire import Counterparties
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.ecf.signature import Signer
from fe.egress.client import Egress
from fe.egress.target import Policy
from fe.identifiers import ActionId, CertificateId, SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.queue.outcome import TryLater
from fe.receiving.assess import AckReason, Heading, acknowledgement
from fe.store.postgres.db import Database
from fe.store.queue.audit import OperatorAction
from fe.store.queue.host_lanes import ALL_HOSTS
from fe.store.records import counterparty
from fe.store.records.counterparty import HandingKind, HandingStage, HandingState, HandingWork
from tests.authority.scripted import Step, hang_up, say
from tests.factories.certificates import WITHIN, default_credential, default_root
from tests.factories.tenants import make_submission, make_tenant, row, rows
from tests.receiving.supplier import OURS, THEIRS
from tests.webhooks.receiver import Receiver, receiving

NUMBER = "E310000000001"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


class OneCertificate:
    """Certificates, where there is one."""

    async def for_session(self, tenant_id: TenantId, certificate_id: CertificateId, **_: bool) -> Opened:
        return Opened("c1", Signer(default_credential()), default_credential())


class AtTheReceiver:
    """A directory in which every taxpayer has one address."""

    def __init__(self, base: str) -> None:
        self.base = base

    async def address(self, *_: object) -> str:
        return self.base

    async def authentication(self, *_: object) -> None:
        return None

    def forget(self, *_: object) -> None:
        pass


def says(reason: AckReason) -> Step:
    heading = Heading(THEIRS, OURS, NUMBER)
    signed = Signer(default_credential()).sign(acknowledgement(heading, reason, rnc=OURS, at=WITHIN))
    return say(signed.xml, content_type="application/xml")


class Row:
    """A receipt that waits at its receiver, and each try of it."""

    def __init__(self, db: Database, receiver: Receiver) -> None:
        self._db = db
        self._host = f"127.0.0.1:{receiver.port}"
        self._handlers = CounterpartyHandlers(
            db=db,
            credentials=cast(SigningCredentials, OneCertificate()),
            directory=cast(Directory, AtTheReceiver(f"http://{self._host}")),
            counterparties=Counterparties(Egress(Policy(development=True)), system_clock, trio.CapacityLimiter(1)),
            roots=[default_root().certificate],
            clock=system_clock,
            threads=trio.CapacityLimiter(1),
            kinds={},
        )
        self.subject: SubmissionId

    async def begin(self) -> None:
        tenant = await make_tenant(self._db)
        self.subject = await make_submission(
            self._db, tenant, stage=Stage.TRACK, e_ncf=NUMBER, issuer_rnc=THEIRS, buyer_rnc=OURS
        )
        await rows(
            self._db,
            """WITH begun AS (
                   INSERT INTO counterparty_deliveries
                          (tenant_id, submission_id, kind, environment, counterparty_rnc, since, changed_at)
                   VALUES (%(tenant)s, %(subject)s, %(kind)s, 'ecf', %(buyer)s, now(), now()))
               INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at)
               VALUES (%(tenant)s, %(subject)s, 'pass_on', 'ecf', %(host)s, now())""",
            tenant=tenant,
            subject=self.subject,
            kind=HandingKind.RECEIPT.value,
            buyer=OURS,
            host=self._host,
        )

    async def is_tried(self) -> HandedOn | None:
        """The stored result of a try; None: it is to be repeated."""
        taken = await row(
            self._db,
            "UPDATE counterparty_outbox SET epoch = epoch + 1, attempt = attempt + 1, holder = 'test', host = %(host)s,"
            " stage = 'pass_on' WHERE subject = %(subject)s RETURNING tenant_id, epoch, attempt",
            subject=self.subject,
            host=self._host,
        )
        claim = taken["tenant_id"], self.subject, taken["attempt"], taken["epoch"], 0, timedelta(0), None
        work = HandingWork(HandingStage.PASS_ON, ALL_HOSTS, *claim, Environment.ECF, self._host)
        try:
            outcome = await self._handlers.pass_on(work)
        except TryLater:
            return None
        assert isinstance(outcome, HandedOn)
        assert await self._db.run(WRITERS[HandedOn], [(work, outcome)], system_clock()) == [outcome]
        return outcome

    async def begin_anew(self) -> None:
        """As an operator does of what was refused."""
        now = system_clock()
        action = OperatorAction(ActionId(new_id(now)), now, "ana", "they say that they have it not")
        (waits,) = await self._db.run(counterparty.listed, [HandingState.REFUSED], limit=2)
        assert await self._db.transact(counterparty.replay, action, waits.tenant_id, waits.submission_id)


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param(hang_up, id="no answer"),
        pytest.param(say(b"<html>Bad Gateway</html>", 502), id="a gateway's page"),
        pytest.param(say(b"recibido"), id="an answer that is no acknowledgement"),
    ],
)
async def test_duplicate_of_our_bytes_counts_as_received(db: Database, receiver: Receiver, lost: Step) -> None:
    receipt = Row(db, receiver)
    await receipt.begin()
    receiver.steps.extend([lost, says(AckReason.DUPLICATE)])

    first, second = await receipt.is_tried(), await receipt.is_tried()

    assert first is None
    assert second is not None
    assert second.state is HandingState.DELIVERED
    assert second.reason is not None
    assert "3: duplicate" in second.reason
    kept = await row(db, "SELECT state, answer FROM counterparty_deliveries")
    assert kept["state"] == "delivered"
    assert b"<CodigoMotivoNoRecibido>3</CodigoMotivoNoRecibido>" in bytes(kept["answer"])


@pytest.mark.parametrize(
    "turned_away",
    [
        pytest.param(None, id="the first try"),
        pytest.param(say(b"", 404), id="there was nobody"),
        pytest.param(say(b"", 429), id="it was too much"),
    ],
)
async def test_duplicate_of_other_bytes_is_refused(db: Database, receiver: Receiver, turned_away: Step | None) -> None:
    receipt = Row(db, receiver)
    await receipt.begin()
    if turned_away is not None:
        receiver.steps.append(turned_away)
        assert await receipt.is_tried() is None
    receiver.steps.append(says(AckReason.DUPLICATE))

    said = await receipt.is_tried()

    assert said is not None
    assert (said.state, said.reason) == (HandingState.REFUSED, "3: duplicate")


async def test_refused_acknowledgement_does_not_count_as_received(db: Database, receiver: Receiver) -> None:
    receipt = Row(db, receiver)
    await receipt.begin()
    receiver.steps.extend([says(AckReason.SIGNATURE), says(AckReason.DUPLICATE)])
    assert await receipt.is_tried() is not None
    await receipt.begin_anew()

    said = await receipt.is_tried()

    assert said is not None
    assert (said.state, said.reason) == (HandingState.REFUSED, "3: duplicate")


@pytest.mark.parametrize("reason", [AckReason.SPECIFICATION, AckReason.SIGNATURE, AckReason.NOT_OURS])
async def test_other_refusals_stay_refused(db: Database, receiver: Receiver, reason: AckReason) -> None:
    receipt = Row(db, receiver)
    await receipt.begin()
    receiver.steps.extend([hang_up, says(reason)])
    assert await receipt.is_tried() is None

    said = await receipt.is_tried()

    assert said is not None
    assert said.state is HandingState.REFUSED
