"""A run against the simulated authority: sent once and to the cent, stopped by a doubt, resumed."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import httpx
import pytest
import trio
import trio.lowlevel

from fe.accounts.changes import disable_tenant, enable_tenant
from fe.accounts.provision import add_certificate, put_sequence
from fe.certification.case_set import BadSet
from fe.certification.columns import ECF, RFCE, columns
from fe.certification.to_do import CannotRun, ToDo
from fe.clock import Clock
from fe.ecf.catalogue import PREFIXES, Environment
from fe.ecf.certificate import Credential
from fe.ecf.dates import show_moment
from fe.ecf.document import read_xml
from fe.ecf.money import number
from fe.ecf.selfmade import self_made, to_p12
from fe.ecf.signature import Signer, verify
from fe.issuing.certification import BOUNDS
from fe.issuing.certification_plan import plan_simulation
from fe.issuing.certification_prints import print_simulation
from fe.issuing.certification_runs import (
    CertificationRunner,
    Dispatch,
    check_set,
    load,
    signing_certificate,
    start,
)
from fe.issuing.submitting import Submitting
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.simulator import Addresses, SimulatorSettings
from fe.simulator.certification import rehearse_run
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.records import certification
from fe.store.records.certification import CertificationPath, CertificationRun, RunCase, RunKind, RunState
from fe.store.records.tenants import Tenant
from fe.workbooks.tables import read_table
from tests.certification.sets import (
    CASES_OF_THE_ORDER,
    COUNTS,
    DEMO_ISSUER,
    DISCLOSED,
    DISCLOSED_ISSUER,
    RNC,
    SMALL,
    Sheets,
    approvals,
    change,
    row_of,
    sheets,
    xlsx,
)
from tests.factories.certificates import HOLDER, HOLDER_ID, rsa_key
from tests.factories.companies import PASSPHRASE, credential_of_today
from tests.factories.tenants import rows
from tests.shared import SHARED, shared
from tests.system.stack import ISSUER, Stack, provision, running_stack
from tests.waiting import PATIENCE

pytestmark = [
    pytest.mark.usefixtures("pool_here"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

QUICK = SimulatorSettings(verdict_delay=timedelta(milliseconds=20), certification_lag=timedelta(0))
ALL_COUNTED = {f"E{written}": number for written, number in COUNTS.items()} | {"RFCE": SMALL}
LAST_DAY = date(2028, 12, 31)
SMALL_SET = ["E310000000001", "E410000000001", "E340000000001", "E320000000011"]


def certecf_stack(dsn: str, data_dir: Path, **more: Any) -> AbstractAsyncContextManager[Stack]:
    """The service with a simulated authority, in certecf; both are quick."""
    return running_stack(dsn, data_dir, simulator=QUICK, environment=Environment.CERTECF, time_scale=0.1, **more)


class Ground(Protocol):
    """The database, company and simulated authority of a run."""

    @property
    def db(self) -> Database: ...
    @property
    def tenant(self) -> Tenant: ...
    @property
    def credential(self) -> Credential: ...
    @property
    def simulator(self) -> Addresses: ...


class Operator:
    """The commands of an operator, in this process."""

    def __init__(self, stack: Ground, tenant: Tenant | None = None, kind: RunKind = RunKind.SET) -> None:
        self.stack, self.db, self.kind = stack, stack.db, kind
        self.tenant = tenant or stack.tenant
        self.apart = Apart(1, Metrics())
        self.signer = Signer(stack.credential)

    async def load(self, content: bytes, **more: Any) -> None:
        now = datetime.now(UTC)
        await load(self.db, self.apart, self.tenant, content, "set.xlsx", by="ana", now=now, **more)

    async def check(self, **more: Any) -> CertificationRun:
        now = datetime.now(UTC)
        chosen = await signing_certificate(self.db, self.tenant, now)
        more.setdefault("authority", self.at_authority if self.kind is RunKind.SIMULATION else None)
        return (await check_set(self.db, self.apart, self.tenant, chosen, self.signer, now, kind=self.kind, **more))[0]

    async def at_authority(self, documents: Sequence[Dispatch], now: datetime) -> Sequence[str | None]:
        return (await rehearse_run(documents, now, taxpayer=str(self.tenant.issuer["RNCEmisor"]))).objections

    async def plan(self, **more: Any) -> list[str]:
        made = await plan_simulation(self.db, self.tenant, by="ana", now=datetime.now(UTC), **more)
        self.warnings = [one.en for one in made.warnings]
        return [one.e_ncf for one in made.receipts]

    async def send(self, *counted: str, **more: Any) -> CertificationRun:
        await start(self.db, self.tenant, await self.check(**more), counted=counted)
        return await self.run()

    async def run_or_none(self) -> CertificationRun | None:
        return await self.db.run(certification.open_run, self.tenant.tenant_id, self.kind)

    async def run(self) -> CertificationRun:
        found = await self.run_or_none()
        assert found is not None
        return found

    async def cases(self) -> list[RunCase]:
        return await self.db.run(certification.cases, self.tenant.tenant_id, (await self.run()).run_id)

    async def ended(self) -> CertificationRun:
        with trio.fail_after(PATIENCE):
            while (run := await self.run()).state is RunState.SENDING:  # noqa: ASYNC110  (only the database knows)
                await trio.sleep(0.05)
        return run

    async def bytes_of(self, case: RunCase) -> dict[str, bytes]:
        found = await rows(
            self.db,
            "SELECT kind, content FROM submission_documents WHERE tenant_id = %(tenant)s AND submission_id = %(id)s",
            tenant=self.tenant.tenant_id,
            id=case.submission_id,
        )
        return {one["kind"]: bytes(one["content"]) for one in found}

    async def require_equal(self, made: Sheets) -> None:
        """Compare the bytes that were signed and sent with the cells of the workbook."""
        heads = {sheet: [str(name).strip() for name in made[sheet][0]] for sheet in (ECF, RFCE)}
        for case in await self.cases():
            stored = await self.bytes_of(case)
            sent = [(ECF, stored["signed"])] + ([(RFCE, stored["sent"])] if case.is_summary else [])
            for sheet, raw in sent:
                (row,) = [cells for cells in made[sheet][1:] if cells[0] == case.name]
                document = read_xml(verify(raw).root)
                for column, cell in zip(heads[sheet], row, strict=True):
                    path = columns(sheet)[column]
                    if path is not None and cell != "#e":
                        said = document.get(path)
                        assert said == cell or number(said) == number(cell) is not None, (case.name, column, said)
                assert sum(cell != "#e" for cell in row[1:]) + 1 == _count(document.content), case.name


def _count(node: Any) -> int:
    """The values of a document: one more than its row has, FechaHoraFirma or the security code."""
    if isinstance(node, dict):
        return sum(map(_count, node.values()))
    return sum(map(_count, node)) if isinstance(node, list) else 1


async def journal(simulator: Addresses, **wanted: str) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(trust_env=False) as client:
        found = await client.get(f"{simulator.management}/journal", params={"kind": "document", **wanted})
    records: list[dict[str, Any]] = found.json()["records"]
    return records


async def counters(simulator: Addresses) -> tuple[dict[str, int], int]:
    """Counters of the portal, without types at 0, and how often they were reset."""
    async with httpx.AsyncClient(trust_env=False) as client:
        found = await client.get(f"{simulator.management}/certification", params={"issuer": ISSUER["RNCEmisor"]})
    shown = found.json()
    return {name: number for name, number in shown["counters"].items() if number}, shown["resets"]


async def fault(simulator: Addresses, **order: Any) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.post(f"{simulator.management}/faults", json=order)).status_code == 200


async def test_set_and_disclosed_set_are_sent_in_order_and_to_the_cent(dsn: str, tmp_path: Path) -> None:
    async with certecf_stack(dsn, tmp_path) as stack:
        own = Operator(stack)
        made = sheets()
        content = xlsx(made)
        await own.load(content)
        assert (await own.check()).state is RunState.LOADED
        assert await journal(stack.simulator) == []  # nothing was sent
        await own.send()
        disclosed = None
        if SHARED is not None:
            assert stack.settings.api_key_pepper is not None
            pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
            issuer = ISSUER | {"RNCEmisor": DISCLOSED_ISSUER}
            tenant, credential, _ = await provision(
                stack.db, stack.vault, pepper, environment=Environment.CERTECF, issuer=issuer
            )
            disclosed = Operator(stack, tenant)
            disclosed.signer = Signer(credential)
            await disclosed.load(shared(DISCLOSED).read_bytes())
            await disclosed.send()
        ended = await own.ended()
        assert (ended.state, ended.stopped_en) == (RunState.SENT, None)
        sent = await journal(stack.simulator, issuer=own.tenant.issuer["RNCEmisor"])
        assert [one["eNCF"] for one in sent] == CASES_OF_THE_ORDER
        assert {one["verdict"]["estado"] for one in sent} == {"Aceptado"}
        assert await counters(stack.simulator) == (ALL_COUNTED, 0)
        assert [one["operation"] for one in sent[-4:]] == ["summary_reception"] * 4, sent[-1]
        await own.require_equal(made)
        with pytest.raises(CannotRun, match="was sent and accepted"):
            await own.send()
        await own.load(content)  # the same file is the same set
        assert (await own.run()).state is RunState.SENT
        with pytest.raises(BadSet, match="E310000000001 was sent before"):
            await own.load(xlsx(sheets(only=SMALL_SET)), replace=True)
        if disclosed is None:
            pytest.skip(f"NOT PROVED HERE: the authority's {DISCLOSED} is absent")
        assert (await disclosed.ended()).state is RunState.SENT
        table = read_table(shared(DISCLOSED).read_bytes(), BOUNDS)
        await disclosed.require_equal({one.name: one.rows for one in table.sheets})


async def test_rejection_and_doubt_stop_the_set_and_say_what_to_do(dsn: str, tmp_path: Path) -> None:
    async with certecf_stack(dsn, tmp_path) as stack:
        operator = Operator(stack)
        with pytest.raises(CannotRun, match="no set is loaded"):
            await operator.check()
        with pytest.raises(CannotRun, match="the certificate expires on"):
            await signing_certificate(stack.db, stack.tenant, datetime.now(UTC) + timedelta(days=364))
        await operator.load(xlsx(sheets(only=SMALL_SET)))
        # The answer is lost: in certecf nothing tells whether it arrived.
        await fault(stack.simulator, kind="reset-after", operation="reception", eNCF="E410000000001")
        await operator.send()
        stopped = await operator.ended()
        assert stopped.state is RunState.STOPPED
        assert "it is not known whether E410000000001 arrived" in str(stopped.stopped_en)
        with pytest.raises(CannotRun, match="it is not known whether"):
            await operator.send()
        with pytest.raises(CannotRun, match="was sent in part, 2 of 4"):
            await operator.load(xlsx(sheets(only=SMALL_SET[:2])))
        with pytest.raises(CannotRun, match="was not handed in"):
            await operator.send("E340000000001")
        # The portal counts it. The next one is rejected.
        await fault(stack.simulator, kind="try-again", operation="summary_reception", eNCF="E320000000011", times=0)
        await operator.send("E410000000001")
        await trio.lowlevel.checkpoint()
        with trio.fail_after(PATIENCE):
            while len(await journal(stack.simulator, eNCF="E320000000011")) < 1:  # noqa: ASYNC110  (only it knows)
                await trio.sleep(0.05)
        assert [one["eNCF"] for one in await journal(stack.simulator)][:3] == SMALL_SET[:3]
        assert (await operator.run()).state is RunState.SENDING  # the authority asks to try again: the engine does


async def test_rejected_set_is_replaced_by_a_new_one(dsn: str, tmp_path: Path) -> None:
    async with certecf_stack(dsn, tmp_path) as stack:
        operator = Operator(stack)
        async with httpx.AsyncClient(trust_env=False) as client:
            world = f"{stack.simulator.management}/ranges"
            range_ = {"issuer": ISSUER["RNCEmisor"], "type": "E41", "from": 5, "to": 9, "expires": "2028-12-31"}
            assert (await client.post(world, json=range_ | {"environment": "certecf"})).status_code == 200
        rejected = xlsx(sheets(only=SMALL_SET))
        await operator.load(rejected)
        await operator.send()
        stopped = await operator.ended()
        assert (stopped.state, "E310000000001 was rejected" in str(stopped.stopped_en)) == (RunState.STOPPED, True)
        assert stopped.to_do is ToDo.NEW_SET
        assert len(await journal(stack.simulator)) == 1
        assert await counters(stack.simulator) == ({}, 1)
        with pytest.raises(CannotRun, match="was rejected"):
            await operator.send()
        await operator.load(xlsx(sheets(only=SMALL_SET[1:])), replace=True)
        assert (await operator.run()).state is RunState.LOADED
        with pytest.raises(CannotRun, match="was replaced by another"):
            await operator.load(rejected)


async def test_simulation_is_rejected_planned_again_with_new_numbers_and_printed(dsn: str, tmp_path: Path) -> None:
    async with certecf_stack(dsn, tmp_path) as stack:
        operator = Operator(stack, kind=RunKind.SIMULATION)
        with pytest.raises(CannotRun, match="no simulation is planned"):
            await operator.check()
        await stack.db.transact(
            certification.set_path, stack.tenant.tenant_id, CertificationPath.PROVIDER, datetime.now(UTC), "ana"
        )
        await sequence(stack, "E47", last_day=None)
        with pytest.raises(CannotRun, match="not enough numbers of E47 in certecf"):
            await operator.plan()
        await sequence(stack, "E47", last_day=LAST_DAY)
        first = await operator.plan()
        again = await operator.plan()  # nothing was sent; its numbers are new all the same
        assert (len(first), len({*first, *again})) == (11, 22)
        assert (await operator.check()).state is RunState.LOADED
        assert await journal(stack.simulator) == []  # the rehearsal stays in this process
        for prefix in PREFIXES:
            await authorise(stack, prefix, 1 if prefix == "E44" else 10**7)
        await operator.send()
        await operator.send()  # a second start changes nothing
        stopped = await operator.ended()
        assert (stopped.state, "E440000000002 was rejected" in str(stopped.stopped_en)) == (RunState.STOPPED, True)
        assert stopped.to_do is ToDo.NEW_PLAN
        assert await counters(stack.simulator) == ({}, 1)
        with pytest.raises(CannotRun, match="none was accepted in the simulation yet"):
            await print_simulation(stack.db, stack.tenant)
        with pytest.raises(CannotRun, match="was sent in part, 5 of 11"):
            await operator.plan()
        await authorise(stack, "E44", 10**7)
        third = await operator.plan(replace=True)
        await fault(stack.simulator, kind="unavailable", operation="summary_reception", times=1)  # an outage
        await operator.send()
        assert (await operator.ended()).state is RunState.SENT
        assert await counters(stack.simulator) == (dict.fromkeys([*PREFIXES, "RFCE"], 1), 1)
        sent = [one["eNCF"] for one in await journal(stack.simulator, effect="true")]
        assert sent == [*again[:5], *third]
        assert not {*first, *again} & set(third)
        (small,) = [case for case in await operator.cases() if case.is_summary]
        async with httpx.AsyncClient(trust_env=False) as client:
            invoice = (await operator.bytes_of(small))["signed"]
            uploaded = await client.post(f"{stack.simulator.management}/certification", content=invoice)
        assert uploaded.json() == {"issuer": ISSUER["RNCEmisor"], "eNCF": small.e_ncf}
        printed = await print_simulation(stack.db, stack.tenant)
        assert [one.content[:5] for one in printed] == [b"%PDF-"] * 11
        assert {one.name for one in printed} == {f"{ISSUER['RNCEmisor']}{number}.pdf" for number in third}


async def test_approvals_are_sent_once_and_stop_at_a_doubt_and_a_rejection(dsn: str, tmp_path: Path) -> None:
    async with certecf_stack(dsn, tmp_path) as stack:
        operator = Operator(stack, kind=RunKind.APPROVALS)
        moment = show_moment(datetime.now(UTC) - timedelta(minutes=5))
        content = xlsx(approvals(moment=moment))
        await operator.load(content)
        assert (await Operator(stack).run_or_none()) is None  # step 2 has its own
        order = [case.e_ncf for case in await operator.cases()]
        assert (await operator.check()).state is RunState.LOADED
        assert await journal(stack.simulator) == []
        await fault(stack.simulator, kind="reset-after", operation="commercial_approval", eNCF=order[2])
        await operator.send()
        stopped = await operator.ended()
        assert (stopped.state, stopped.stopped_en) == (RunState.SENT, None)
        sent = await journal(stack.simulator)
        # The answer to the third was lost: the same bytes say the same, and count once.
        assert [one["eNCF"] for one in sent] == [*order[:3], *order[2:]]
        assert len({one["sha256"] for one in sent}) == len(order) == await approved(stack.simulator)
        with pytest.raises(CannotRun, match="all of it was sent and accepted"):
            await operator.send()

        await operator.load(xlsx(approvals(2, moment=moment)), replace=True)
        with pytest.raises(BadSet, match="was answered before, as submission"):
            await operator.check()
        await fault(stack.simulator, kind="bare-string", operation="commercial_approval", times=1)
        await start(operator.db, operator.tenant, await operator.check(despite_doubts=True))
        stopped = await operator.ended()
        refused = "E330000000001 was not accepted for sending: Ha ocurrido un error con la solicitud."
        assert (stopped.state, str(stopped.stopped_en).startswith(refused)) == (RunState.STOPPED, True)
        async with httpx.AsyncClient(trust_env=False) as client:
            record = {"holder": "00112233445", "issuer": DEMO_ISSUER}
            assert (await client.post(f"{stack.simulator.management}/delegations", json=record)).status_code == 200
        await start(operator.db, operator.tenant, await operator.check(despite_doubts=True))
        stopped = await operator.ended()
        assert (stopped.state, "was rejected: El certificado no" in str(stopped.stopped_en)) == (RunState.STOPPED, True)
        assert stopped.to_do is ToDo.NEW_SET
        assert await approved(stack.simulator) == 0


async def approved(simulator: Addresses) -> int:
    async with httpx.AsyncClient(trust_env=False) as client:
        found = await client.get(f"{simulator.management}/certification", params={"issuer": ISSUER["RNCEmisor"]})
    return int(found.json()["approvals"])


async def sequence(stack: Stack, prefix: str, *, last_day: date | None) -> None:
    now = datetime.now(UTC)
    await stack.db.transact(put_sequence, stack.tenant, Environment.CERTECF, prefix, expires=last_day, now=now)


async def authorise(stack: Stack, prefix: str, last: int) -> None:
    record = {"issuer": ISSUER["RNCEmisor"], "type": prefix, "to": last, "expires": "2028-12-31"}
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(f"{stack.simulator.management}/ranges", json=record | {"environment": "certecf"})
    assert answer.status_code == 200


async def test_set_stops_at_what_a_person_mends_and_goes_on_by_resume(dsn: str, tmp_path: Path) -> None:
    first, second = SMALL_SET[:2]
    async with certecf_stack(dsn, tmp_path) as stack:
        operator = Operator(stack)
        made = sheets(only=SMALL_SET)
        await operator.load(xlsx(change(made, ECF, row_of(made, ECF, first), "MontoTotal", "390.62")))
        doubts = {"despite_doubts": True}
        with pytest.raises(BadSet, match="MontoTotal"):
            await operator.send()
        # The company is disabled: nothing is handed in.
        await operator.db.transact(disable_tenant, operator.tenant, _action())
        await operator.send(**doubts)
        assert (await operator.ended()).to_do is ToDo.ENABLE
        await operator.db.transact(enable_tenant, operator.tenant, _action())
        # Its certificate cannot be opened by the signer: the first document ends before it is sent.
        run = await operator.check(**doubts)
        (kept,) = await rows(operator.db, "SELECT passphrase FROM certificates")
        await rows(operator.db, "UPDATE certificates SET passphrase = NULL")
        await start(operator.db, operator.tenant, run)
        stopped = await operator.ended()
        assert (f"{first} was not accepted for sending" in str(stopped.stopped_en), stopped.to_do) == (True, ToDo.MEND)
        assert await journal(stack.simulator) == []
        await rows(operator.db, "UPDATE certificates SET passphrase = %(kept)s", kept=kept["passphrase"])
        # It is sent under another id, and accepted with remarks.
        await operator.send(**doubts)
        stopped = await operator.ended()
        assert f"{first} was accepted with remarks" in str(stopped.stopped_en), stopped
        with pytest.raises(CannotRun, match="was accepted with remarks"):
            await operator.send(**doubts)
        # A person saw it counted. Then the authority is away: a person sees that the next one is not counted.
        await fault(stack.simulator, kind="unavailable", operation="reception", eNCF=second)
        await operator.send(first, **doubts)
        assert f"it is not known whether {second} arrived" in str((await operator.ended()).stopped_en)
        await as_a_person(operator, **doubts)
        ended = await operator.ended()
        assert (ended.state, ended.stopped_en) == (RunState.SENT, None)
        sent = await journal(stack.simulator)
        judged = [(one["eNCF"], one["verdict"]["estado"]) for one in sent if one["verdict"]]
        assert judged == [(first, "Aceptado Condicional"), *[(one, "Aceptado") for one in SMALL_SET[1:]]]
        handed_in = await rows(operator.db, "SELECT client_request_id AS id FROM submissions ORDER BY submission_id")
        assert [str(one["id"]).rpartition(":")[2] for one in handed_in][:2] == [f"{RNC}{first}", "2"]
        assert len(handed_in) == len(SMALL_SET) + 1


async def test_certificate_expires_between_two_documents_and_a_new_one_goes_on(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    after_a_year = now + timedelta(days=366)
    clock = Clocks(now)
    monkeypatch.setattr("fe.http.app.CertificationRunner", partial(_runner, clock))
    async with certecf_stack(dsn, tmp_path, credential=credential_of_today()) as stack:
        operator = Operator(stack)
        await operator.load(xlsx(sheets(only=SMALL_SET)))
        clock.next = after_a_year  # once the first document is handed in
        await operator.send()
        stopped = await operator.ended()
        assert (stopped.state, stopped.to_do) == (RunState.STOPPED, ToDo.CERTIFICATE)
        assert "the certificate has expired" in str(stopped.stopped_en)
        assert "el certificado venció" in str(stopped.stopped_es)
        with pytest.raises(CannotRun, match=r"has expired.*fe certificate add") as refused:
            await signing_certificate(stack.db, stack.tenant, after_a_year)
        assert "página «Certificados»" in refused.value.on_page.es
        assert [one["eNCF"] for one in await journal(stack.simulator)] == SMALL_SET[:1]

        renewed = self_made(
            rsa_key("renewed"),
            holder=HOLDER,
            holder_id=HOLDER_ID,
            not_before=now - timedelta(days=1),
            not_after=now + timedelta(days=900),
        )
        p12 = to_p12(renewed, PASSPHRASE)
        added = partial(add_certificate, p12=p12, passphrase=PASSPHRASE, opened=renewed, now=now)
        await stack.db.transact(added, stack.vault, stack.tenant, None)
        operator.signer = Signer(renewed)
        await operator.send()
        assert (await operator.ended()).state is RunState.SENT
        assert [one["eNCF"] for one in await journal(stack.simulator)] == SMALL_SET
        signers = [verify((await operator.bytes_of(case))["signed"]).certificate for case in await operator.cases()]
        assert [one == renewed.certificate for one in signers] == [False, True, True, True]


class Clocks:
    """A clock that is moved to `next` when it was read once more."""

    def __init__(self, now: datetime) -> None:
        self.now, self.next = now, now

    def __call__(self) -> datetime:
        """Return the time."""
        now, self.now = self.now, self.next
        return now


def _runner(clock: Clocks, db: Database, submitting: Submitting, _: Clock, *more: Any) -> CertificationRunner:
    return CertificationRunner(db, submitting, clock, *more)


async def as_a_person(operator: Operator, **more: Any) -> None:
    """Look at the portal for the document in doubt: go on where it is counted, else replay it first."""
    (doubtful,) = [case for case in await operator.cases() if case.outcome.is_dead and not case.is_through]
    assert doubtful.submission_id is not None
    if any(one["verdict"] for one in await journal(operator.stack.simulator, eNCF=doubtful.e_ncf)):
        await operator.send(doubtful.e_ncf, **more)
        return
    await operator.db.transact(dead_letters.replay, _action(), operator.tenant.tenant_id, doubtful.submission_id)
    await operator.send(**more)


def _action() -> OperatorAction:
    return OperatorAction.of("ana", "a trial", datetime.now(UTC))
