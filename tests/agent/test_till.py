"""`fe agent` in this process: clocks, copied folders, ranges, bad input, the folder and the page."""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import trio

from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer
from fe.integrator.agent import refusals
from fe.integrator.agent.agent import Agent, certificate_of
from fe.integrator.agent.folder import Folder
from fe.integrator.agent.refusals import SaleRefused
from fe.integrator.agent.store import FILE
from fe.printing.labels import LEGENDS
from fe.store.records import agents
from tests.agent.shop import Shop, open_shop, sale
from tests.factories.certificates import make_credential
from tests.printing import reading
from tests.printing.receipt_printer import decode
from tests.system.stack import running_stack
from tests.waiting import PATIENCE
from tests.workbooks.books import csv, row

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Clock:
    """A clock that a test sets, and one that is never set."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return system_clock() + self.ahead


def body(name: str, payload: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"format": "structured", "payload": payload or sale("E31"), "clientRequestId": name}


@asynccontextmanager
async def opened(shop: Shop, monkeypatch: pytest.MonkeyPatch, clock: Clock | None = None) -> AsyncIterator[Agent]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(shop.home))
    agent = await trio.to_thread.run_sync(lambda: Agent(shop.folder, clock=clock or system_clock))
    try:
        yield agent
    finally:
        agent.close()


async def test_agent_refuses_what_is_wrong_and_delivers_what_is_right(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One stack for all of it: a start of one costs two seconds."""
    async with running_stack(dsn, tmp_path / "service", time_scale=0.1) as stack, open_shop(stack, tmp_path) as shop:
        made = await shop.init()
        assert "E31=5001-20000" in made
        await the_service_draws_none_of_its_numbers(shop)
        clock = Clock()
        async with opened(shop, monkeypatch, clock) as agent:
            one = await the_clock_is_compared(shop, agent, clock)
            await bad_input_uses_no_number(agent)
            await the_folder_issues_each_file_once(agent)
            await deliver(agent)
            assert agent.store.counts() == {"done": 5}
            await an_exhausted_or_expired_range_is_refused_without_a_line(shop, agent, clock)
            record = agent.store.find(one)
            assert record is not None
            taken = (await stack.client.get(f"/invoices/{record.tax_log_id}")).json()
            assert (taken["securityCode"], taken["qrCodeUrl"]) == (record.security_code, record.qr_url)
            assert datetime.fromisoformat(taken["fechaHoraFirma"]) == datetime.fromisoformat(record.signed_at)
            xml = (await stack.client.get(f"/invoices/{record.tax_log_id}/xml")).json()["xml"]
            assert xml.encode() == record.body
            await the_service_keeps_only_signatures_of_an_agent(shop, xml)
            await paper_says_what_the_customer_may_take(shop, agent)
            await a_revoked_certificate_is_named(shop, agent)
            await a_signature_of_the_future_waits(agent, clock)
            await a_lower_range_is_used_from_its_start(shop, agent)
            await what_cannot_be_printed_holds_nothing_up(agent)
            await a_copy_is_refused(shop, agent)
        await a_damaged_store_is_refused(shop)


async def the_service_draws_none_of_its_numbers(shop: Shop) -> None:
    client = shop.stack.client
    drawn = await client.post("/invoices", json={"format": "structured", "payload": sale("E31"), "sequence": "Caja 1"})
    assert drawn.status_code == 400, drawn.text
    for change in (
        await client.post("/ncf", json={"prefix": "E31", "name": "Caja 1", "minSequence": 5001, "maxSequence": 6000}),
        await client.patch("/ncf/E31?name=Caja 1", json={"isActive": True}),
    ):
        assert change.status_code == 400
        assert "agent" in change.json()["message"]
    assert (await client.delete("/ncf/E31?name=Caja 1")).status_code == 409


async def the_service_keeps_only_signatures_of_an_agent(shop: Shop, xml: str) -> None:
    stranger = Signer(make_credential()).sign(parse_xml(xml.encode())).xml.decode()
    for changed, status, message in (
        (stranger, 403, "no agent of this company signs with the certificate"),
        (xml.replace("Martillo", "Martilla"), 400, "the signature cannot be kept"),
    ):
        body = {"format": "xml", "xml": changed, "keepSignature": True}
        answer = await shop.stack.client.post("/invoices", json=body)
        assert (answer.status_code, message in answer.json()["message"]) == (status, True), answer.text
    body = {"format": "structured", "payload": sale("E31"), "keepSignature": True}
    assert (await shop.stack.client.post("/invoices", json=body)).status_code == 400


async def the_clock_is_compared(shop: Shop, agent: Agent, clock: Clock) -> str:
    await trio.to_thread.run_sync(agent.deliverer.round)
    first, is_new = agent.issue(body("a"))
    assert is_new
    clock.ahead = timedelta(minutes=2)
    assert any("set it right before it is refused" in str(flag) for flag in agent.flags())
    clock.ahead = timedelta(hours=5)
    with pytest.raises(SaleRefused, match="away from the service's"):
        agent.issue(body("b"))
    clock.ahead = timedelta()
    agent.watch._heard = None  # as after a start without a line
    clock.ahead = -timedelta(hours=1)
    with pytest.raises(SaleRefused, match="earlier than the last signature"):
        agent.issue(body("b"))
    clock.ahead = -timedelta(seconds=20)
    second, _ = agent.issue(body("b"))
    clock.ahead = timedelta()
    assert second.signed_at >= first.signed_at
    assert int(second.e_ncf[3:]) == int(first.e_ncf[3:]) + 1
    shop.line.cut()
    await trio.to_thread.run_sync(agent.deliverer.round)
    assert not agent.deliverer.is_online
    clock.ahead = timedelta(hours=80)
    assert any("72 h are over" in str(flag) for flag in agent.flags())
    clock.ahead = timedelta()
    assert agent.print(first, "ticket")
    shop.line.mend()
    return first.e_ncf


def said_on(agent: Agent, e_ncf: str) -> set[str]:
    """Name the legends, and the security code, that are on both papers of a receipt."""
    receipt = agent.store.find(e_ncf)
    assert receipt is not None
    papers = reading.text(agent.print(receipt, "pdf")), decode(agent.print(receipt, "ticket")).text
    words = {**LEGENDS, "preview": "Vista previa", "code": receipt.security_code or "?"}
    return {
        name
        for name, text in words.items()
        if all("".join(text.split()).lower() in "".join(paper.split()).lower() for paper in papers)
    }


async def paper_says_what_the_customer_may_take(shop: Shop, agent: Agent) -> None:
    """The legend while the line is cut or the authority does not answer, no value while it will answer soon."""
    management = f"{shop.stack.simulator.management}/faults"
    shop.line.cut()
    cut, _ = agent.issue(body("cut"))
    await trio.to_thread.run_sync(agent.deliverer.round)
    while_cut, flags_cut = said_on(agent, cut.e_ncf), agent.flags()
    shop.line.mend()
    await trio.to_thread.run_sync(agent.deliverer.lease)
    agent.deliverer.is_online = True
    soon = said_on(agent, cut.e_ncf)
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        (await client.post(management, json={"kind": "unavailable", "times": 0})).raise_for_status()
        with trio.fail_after(PATIENCE):
            while not agent.deliverer.hosts_down:
                await trio.to_thread.run_sync(agent.deliverer.round)
                await trio.sleep(0.1)
        down, _ = agent.issue(body("down"))
        while_down, flags = said_on(agent, down.e_ncf), agent.flags()
        (await client.delete(management)).raise_for_status()
    with trio.fail_after(PATIENCE):
        while {"waiting", "handed over"} & set(agent.store.counts()):
            await trio.to_thread.run_sync(agent.deliverer.round)
            await trio.sleep(0.1)
    assert (while_cut, soon, while_down) == ({"contingency", "code"}, {"preview", "code"}, {"contingency", "code"})
    assert refusals.AUTHORITY_AWAY in flags
    assert refusals.AWAY in flags_cut
    assert [said_on(agent, one) for one in (cut.e_ncf, down.e_ncf)] == [{"code"}, {"code"}]


async def an_exhausted_or_expired_range_is_refused_without_a_line(shop: Shop, agent: Agent, clock: Clock) -> None:
    """A till out of numbers or days refuses the sale, and a second till gets none of its numbers."""
    other = shop.folder.with_name("other")
    for more in ("--range=E31=20000-20001", "--range=E32=5001-5001"):
        overlaps = await shop.fe("init", str(other), "--name=Caja 2", more, code=1)
        assert "two sequences never share a number. Choose other numbers" in overlaps
    lease = agent.store.fact("lease")
    ranges = lease["sequences"]
    for change, ahead, message in (
        ({"maxSequence": 5001}, timedelta(), "used up at 5001: reserve another"),
        ({"expireOn": local(system_clock()).date().isoformat()}, timedelta(days=1), "expired on"),
    ):
        ended = [{**one, **change} if one["prefix"] == "E31" else one for one in ranges]
        with agent.store.transaction():
            agent.store.put(lease={**lease, "sequences": ended})
        shop.line.cut()
        agent.watch._heard = None  # as after a start without a line
        clock.ahead = ahead
        with pytest.raises(SaleRefused, match=message) as refused:
            agent.issue(body("no number"))
        assert "con `fe agent init --range`" in refused.value.text.es
        clock.ahead = timedelta()
        shop.line.mend()
    with agent.store.transaction():
        agent.store.put(lease=lease)


async def a_revoked_certificate_is_named(shop: Shop, agent: Agent) -> None:
    """Revoked while the line is down: what was signed before holds, and what was signed after is rejected and kept."""
    shop.line.cut()
    before, _ = agent.issue(body("before"))
    since = datetime.fromisoformat(before.signed_at) + timedelta(seconds=1)
    await trio.sleep(max(0.0, (since - system_clock()).total_seconds()))
    after, _ = agent.issue(body("after it was revoked"))
    revoked = {"certificate": certificate_of(agent.till.credential), "since": since.isoformat()}
    async with httpx.AsyncClient(trust_env=False) as client:
        made = await client.post(f"{shop.stack.simulator.management}/revocations", json=revoked)
        assert made.is_success, made.text
    shop.line.mend()
    with trio.fail_after(60):
        while {"waiting", "handed over"} & set(agent.store.counts()):
            await trio.to_thread.run_sync(agent.deliverer.round)
            await trio.sleep(0.1)
    ended = {one.e_ncf: one for one in map(agent.store.find, (before.e_ncf, after.e_ncf)) if one is not None}
    assert ended[before.e_ncf].state == "done"
    assert (ended[after.e_ncf].state, ended[after.e_ncf].body) == ("rejected", after.body)
    (flag,) = [str(one) for one in agent.flags() if after.e_ncf in str(one)]
    assert "estaba revocado" in flag
    assert "install a new one first (`fe agent init --certificate`)" in flag


async def a_signature_of_the_future_waits(agent: Agent, clock: Clock) -> None:
    """Signed without a line by a clock that is ahead; the clock is right when the line is back."""
    clock.ahead = timedelta(seconds=100)
    ahead, _ = agent.issue(body("ahead"))
    clock.ahead = timedelta()
    await trio.to_thread.run_sync(agent.deliverer.round)
    held = agent.store.find(ahead.e_ncf)
    assert held is not None
    assert held.state == "waiting"
    assert any("while the clock was ahead" in str(flag) for flag in agent.flags())
    clock.ahead = timedelta()
    after, _ = agent.issue(body("after"))
    assert after.signed_at < ahead.signed_at
    with trio.fail_after(60):  # the service's time is known to the second: the next one may have to come
        while agent.store.counts()["waiting"] > 1:
            await trio.to_thread.run_sync(agent.deliverer.round)
            await trio.sleep(0.1)
    assert agent.store.counts() == {"done": 8, "rejected": 1, "waiting": 1, "handed over": 1}


async def a_lower_range_is_used_from_its_start(shop: Shop, agent: Agent) -> None:
    """Numbers that another till gave back, after higher ones were used here."""
    issued = []
    for first in (30_001, 21_001):
        moved = {"prefix": "E31", "name": "Caja 1", "minSequence": first, "maxSequence": first + 9}
        moved |= {"agentId": agent.store.fact("agent"), "expireAt": "2099-12-31"}
        begins = {"agentId": agent.store.fact("agent"), "currentSequence": first}
        for answer in (
            await shop.stack.client.post("/ncf", json=moved),
            await shop.stack.client.patch("/ncf/E31?name=Caja 1", json=begins),
        ):
            assert answer.is_success, answer.text
        await trio.to_thread.run_sync(agent.deliverer.lease)
        issued += [agent.issue(body(f"{first} {n}"))[0].e_ncf for n in (1, 2)]
    assert issued == [f"E31{number:010}" for number in (30_001, 30_002, 21_001, 21_002)]


async def bad_input_uses_no_number(agent: Agent) -> None:
    wrong = sale("E31")
    wrong["DetallesItems"]["Item"][0]["IndicadorFacturacion"] = "9"
    numbered = sale("E31")
    numbered["Encabezado"]["IdDoc"]["eNCF"] = "E310000000001"
    for payload, message in (
        (wrong, "IndicadorFacturacion"),
        (numbered, "leave eNCF out"),
        (sale("E44"), "no range of E44"),
    ):
        with pytest.raises(SaleRefused, match=message):
            agent.issue(body("bad", payload))
    with pytest.raises(SaleRefused, match="another receipt"):
        agent.issue(body("a", sale("E32")))
    again, is_new = agent.issue(body("a"))
    assert not is_new
    assert again.e_ncf == "E310000005001"


async def the_folder_issues_each_file_once(agent: Agent) -> None:
    folder = Folder(agent)
    inbox, out = agent.folder / "in", agent.folder / "out"
    (inbox / "venta-1.json").write_text(json.dumps(sale("E31")))
    (inbox / "malo.json").write_text("{")
    (inbox / "dos.csv").write_bytes(csv([row("A"), row("B")]))
    for _ in range(3):
        await trio.to_thread.run_sync(folder.round)
    assert sorted(one.name for one in inbox.iterdir()) == []
    assert json.loads((out / "malo.error.json").read_text())["messageEs"]
    assert {one.name for one in out.iterdir()} >= {"venta-1.xml", "venta-1.pdf", "venta-1.ticket", "dos-2.pdf"}
    (inbox / "venta-1.json").write_text(json.dumps(sale("E31")))
    for _ in range(3):
        await trio.to_thread.run_sync(folder.round)
    assert sum(agent.store.counts().values()) == 5
    await deliver(agent)
    await trio.to_thread.run_sync(folder.round)
    assert json.loads((out / "venta-1.verdict.json").read_text())["status"] == "Aceptado"


async def what_cannot_be_printed_holds_nothing_up(agent: Agent) -> None:
    """A damaged logo: each sale is issued and its XML written, and the reason stands beside it."""
    folder, out = Folder(agent), agent.folder / "out"
    printing = agent.store.fact("printing")
    with agent.store.transaction():
        agent.store.put(printing={**printing, "logo": "bm90IGEgbG9nbw=="})
    for name in ("venta-2", "venta-3"):
        (agent.folder / "in" / f"{name}.json").write_text(json.dumps(sale("E31")))
    for _ in range(3):
        await trio.to_thread.run_sync(folder.round)
    for name in ("venta-2", "venta-3"):
        assert (out / f"{name}.xml").exists()
        assert "no se puede imprimir" in json.loads((out / f"{name}.error.json").read_text())["messageEs"]
    with agent.store.transaction():
        agent.store.put(printing=printing)


async def deliver(agent: Agent) -> None:
    with trio.fail_after(60):
        while set(agent.store.counts()) != {"done"}:
            await trio.to_thread.run_sync(agent.deliverer.round)
            await trio.sleep(0.1)


async def a_copy_is_refused(shop: Shop, agent: Agent) -> None:
    """Here by its file; and where it was confirmed as moved, the one that comes second by the service's epoch."""
    with pytest.raises(SaleRefused, match="another process"):
        Agent(shop.folder)
    copy = shop.folder.with_name("copy")
    shutil.copytree(shop.folder, copy)
    with pytest.raises(SaleRefused, match="copied or restored"):
        Agent(copy)
    assert "copied or restored" in await shop.fe("init", str(copy), code=1)
    await shop.fe("init", str(copy), "--moved")
    await trio.to_thread.run_sync(agent.deliverer.lease)
    with pytest.raises(SaleRefused, match="taken over"):
        agent.issue(body("z"))


async def a_damaged_store_is_refused(shop: Shop) -> None:
    file = shop.folder / FILE
    with file.open("r+b") as raw:
        raw.seek(0)
        raw.write(b"not a database at all" * 40)
    with pytest.raises(SaleRefused, match="damaged"):
        Agent(shop.folder)


async def a_retired_agent_delivers_and_issues_nothing_more(shop: Shop, agent: Agent) -> None:
    shop.line.cut()
    agent_id = agents.AgentId(UUID(agent.store.fact("agent")))
    tenant_id = shop.stack.tenant.tenant_id
    at = system_clock()
    assert await shop.stack.db.run(agents.retire, tenant_id, Environment.TESTECF, agent_id, by="eva", at=at)
    agent.issue(body("without a line"))  # it cannot know
    shop.line.mend()
    await trio.to_thread.run_sync(agent.deliverer.lease)
    with pytest.raises(SaleRefused, match="retired in the portal"):
        agent.issue(body("too late"))
    await deliver(agent)
    assert agent.store.counts() == {"done": 2}


async def test_agent_without_a_certificate_prints_once_the_service_has_signed(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_stack(dsn, tmp_path / "service") as stack, open_shop(stack, tmp_path) as shop:
        await shop.init(certificate=False)
        async with opened(shop, monkeypatch) as agent:
            shop.line.cut()
            waiting, _ = agent.issue(body("a"))
            with pytest.raises(SaleRefused, match="not signed yet"):
                agent.print(waiting, "pdf")
            shop.line.mend()
            await deliver(agent)
            signed = agent.store.find(waiting.e_ncf)
            assert signed is not None
            assert agent.print(signed, "pdf")[:4] == b"%PDF"
            record = (await stack.client.get(f"/invoices/{signed.tax_log_id}")).json()
            await a_retired_agent_delivers_and_issues_nothing_more(shop, agent)

    assert (record["eNCF"], record["securityCode"]) == (waiting.e_ncf, signed.security_code)
