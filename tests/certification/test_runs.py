"""A set against the simulated authority: sent once and to the cent, stopped by a doubt, resumed after kills."""

import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import trio.lowlevel

from fe.certification.case_set import BadSet
from fe.certification.columns import ECF, RFCE, columns
from fe.config import load_settings
from fe.ecf.catalogue import Environment
from fe.ecf.document import read_xml
from fe.ecf.money import number
from fe.ecf.signature import Signer, verify
from fe.issuing.certification import BOUNDS
from fe.issuing.certification_runs import CannotRun, check_set, load, signing_certificate, start
from fe.main import serve
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.process.workers import Listeners
from fe.simulator import Addresses, SimulatorSettings
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.records import certification
from fe.store.records.certification import CertificationRun, RunCase, RunState
from fe.store.records.tenants import Tenant
from fe.workbooks.tables import read_table
from tests.certification.sets import (
    CASES_OF_THE_ORDER,
    COUNTS,
    DISCLOSED,
    DISCLOSED_ISSUER,
    SMALL,
    Sheets,
    sheets,
    xlsx,
)
from tests.factories.tenants import rows
from tests.http.test_imports import here
from tests.shared import SHARED, shared
from tests.system.stack import ISSUER, Stack, provision, running_stack
from tests.waiting import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

#: How often a run is killed; CERTIFICATION_KILLS=50 for the whole proof.
KILLS = int(os.environ.get("CERTIFICATION_KILLS", "5"))
QUICK = SimulatorSettings(verdict_delay=timedelta(milliseconds=20), certification_lag=timedelta(0))
ALL_COUNTED = {f"E{written}": number for written, number in COUNTS.items()} | {"RFCE": SMALL}
SMALL_SET = ["E310000000001", "E410000000001", "E340000000001", "E320000000011"]


@pytest.fixture(autouse=True)
def pool_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Apart, "run", here)


class Operator:
    """The commands of an operator, in this process."""

    def __init__(self, stack: Stack, tenant: Tenant | None = None) -> None:
        self.stack, self.db = stack, stack.db
        self.tenant = tenant or stack.tenant
        self.apart = Apart(1, Metrics())
        self.signer = Signer(stack.credential)

    async def load(self, content: bytes, **more: Any) -> None:
        now = datetime.now(UTC)
        await load(self.db, self.apart, self.tenant, content, "set.xlsx", by="ana", now=now, **more)

    async def check(self, **more: Any) -> CertificationRun:
        now = datetime.now(UTC)
        chosen = await signing_certificate(self.db, self.tenant, now)
        return (await check_set(self.db, self.apart, self.tenant, chosen, self.signer, now, **more))[0]

    async def send(self, *counted: str) -> CertificationRun:
        await start(self.db, self.tenant, await self.check(), counted=counted)
        return await self.run()

    async def run(self) -> CertificationRun:
        found = await self.db.run(certification.open_run, self.tenant.tenant_id)
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
    async with running_stack(dsn, tmp_path, simulator=QUICK, environment=Environment.CERTECF) as stack:
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
    async with running_stack(dsn, tmp_path, simulator=QUICK, environment=Environment.CERTECF) as stack:
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
    async with running_stack(dsn, tmp_path, simulator=QUICK, environment=Environment.CERTECF) as stack:
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
        assert "generate a new set there" in str(stopped.stopped_en)
        assert len(await journal(stack.simulator)) == 1
        assert await counters(stack.simulator) == ({}, 1)
        with pytest.raises(CannotRun, match="was rejected"):
            await operator.send()
        await operator.load(xlsx(sheets(only=SMALL_SET[1:])), replace=True)
        assert (await operator.run()).state is RunState.LOADED
        with pytest.raises(CannotRun, match="was replaced by another"):
            await operator.load(rejected)


async def test_run_that_is_killed_sends_no_case_twice_and_comes_to_its_end(dsn: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    async with running_stack(dsn, tmp_path, simulator=QUICK, environment=Environment.CERTECF, role="http") as stack:
        operator = Operator(stack)
        made = sheets()
        await operator.load(xlsx(made))
        await operator.send()
        killed = 0
        with trio.fail_after(PATIENCE + 5 * KILLS):
            while (run := await operator.run()).state is not RunState.SENT:
                if run.state is RunState.STOPPED:
                    await _as_a_person(operator)
                is_last = killed >= KILLS
                async with trio.open_nursery() as nursery:
                    settings = load_settings(**stack.settings.model_dump(exclude_unset=True))
                    listeners = Listeners.open(settings, "all")
                    nursery.start_soon(serve, settings, dsn, "all", stack.vault, listeners)
                    if is_last:
                        await operator.ended()
                    else:
                        await trio.sleep(chance.uniform(0.1, 0.9 if KILLS <= 12 else 0.4))
                    nursery.cancel_scope.cancel()
                killed += 1
        assert killed > KILLS // 2
        sent = await journal(stack.simulator)
        assert sorted(one["eNCF"] for one in sent) == sorted(CASES_OF_THE_ORDER)
        assert {one["verdict"]["estado"] for one in sent} == {"Aceptado"}
        assert await counters(stack.simulator) == (ALL_COUNTED, 0)
        await operator.require_equal(made)


async def _as_a_person(operator: Operator) -> None:
    """Look at the portal for the document in doubt: go on where it is counted, else replay it first."""
    (doubtful,) = [case for case in await operator.cases() if case.outcome.is_dead]
    assert doubtful.submission_id is not None
    if await journal(operator.stack.simulator, eNCF=doubtful.e_ncf):
        await operator.send(doubtful.e_ncf)
        return
    action = OperatorAction.of("ana", "not in the portal", datetime.now(UTC))
    await operator.db.transact(dead_letters.replay, action, operator.tenant.tenant_id, doubtful.submission_id)
    await operator.send()
