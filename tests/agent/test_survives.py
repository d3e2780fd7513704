"""A till issues each sale once: killed, cut off, out of disk, with a clock that jumps, and its folder copied.

AGENT_SALES sells that many (5,000 take half an hour: `--timeout 5400`); the default is for each run of the tests.
"""

import os
import random
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from tests.agent.shop import Shop, open_shop, sale
from tests.printing import reading
from tests.system.stack import Stack, running_stack
from tests.waiting import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

SALES = int(os.environ.get("AGENT_SALES", "24"))
KILLS = 2 if SALES < 1000 else 25
#: Bytes of a file that stand for a full disk.
DISK = 120_000
#: Seconds to which the clock jumps. A till does not sign an hour before its last signature.
JUMPS = (-3600.0, 5.0, -40.0)


async def test_agent_in_every_trouble_issues_each_sale_once(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path / "service") as stack, open_shop(stack, tmp_path) as shop:
        await shop.init()
        shop.start(largest_file=DISK)
        await fill_the_disk(shop)
        shop.kill()
        shop.start()
        await sell_in_trouble(shop)
        shop.line.mend()
        status = await shop.until_done(len(shop.papers), seconds=PATIENCE + SALES)
        shown = await shop.fe("status", str(shop.folder))
        whole = next(one for one in shop.papers.values() if one["eNCF"].startswith("E31"))
        xml = (await shop.call("GET", f"/invoices/{whole['eNCF']}/xml")).content
        sheets = {
            e_ncf: reading.text((await shop.call("GET", f"/invoices/{e_ncf}/pdf")).content)
            for e_ncf in random.Random(39).sample(sorted(one["eNCF"] for one in shop.papers.values()), 5)
        }
        filed = await filed_by_the_authority(stack)

    assert "Caja 1" in shown
    assert status["refused"] == status["rejected"] == 0
    assert status["waiting"] == status["handedOver"] == 0
    assert len({one["eNCF"] for one in shop.papers.values()}) == len(shop.papers) >= SALES
    # In the order of signing, the one of the sale: not one overtook another.
    assert list(filed) == [one["eNCF"] for one in shop.papers.values()]
    for paper in shop.papers.values():
        assert filed[paper["eNCF"]]["document"]["security_code"] == paper["securityCode"]
    for e_ncf, sheet in sheets.items():
        assert filed[e_ncf]["document"]["security_code"] in sheet
    assert filed[whole["eNCF"]]["sha256"] == sha256(xml).hexdigest()


async def fill_the_disk(shop: Shop) -> None:
    """Sell offline until the store cannot grow: the sale is refused, with its cause, and uses no number."""
    shop.line.cut()
    for n in range(200):
        answer = await shop.sell(f"full-{n}", sale("E32"))
        if answer.status_code == 507:
            assert "nothing was issued and no number used" in answer.json()["message"]
            return
        assert answer.status_code == 202, answer.text
    raise AssertionError("the disk was never full")


async def sell_in_trouble(shop: Shop) -> None:
    """Sell while a second task kills the agent, cuts the line, sets the clock and copies the folder."""
    chance = random.Random(39)
    sold = 0

    async def trouble() -> None:
        for kill in range(KILLS):
            while sold < (kill + 1) * SALES / (KILLS + 1):
                await trio.sleep(0.01)
                if chance.random() < 0.02:
                    (shop.line.mend if shop.line.is_cut else shop.line.cut)()
            shop.set_clock(JUMPS[kill % 3])
            await trio.sleep(0.5)
            shop.set_clock(0)
            shop.kill()
            await a_copy_does_not_start(shop)
            shop.start()
            (shop.line.mend if kill % 2 else shop.line.cut)()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trouble)
        for n in range(SALES):
            name = f"sale-{n}"
            answer = await shop.sell(name, sale("E31" if n % 3 else "E32"))
            while answer.status_code == 503:
                assert "clock of this machine" in answer.json()["message"], answer.text
                await trio.sleep(0.05)
                answer = await shop.sell(name, sale("E31" if n % 3 else "E32"))
            assert answer.is_success, answer.text
            sold += 1


async def a_copy_does_not_start(shop: Shop) -> None:
    copy = shop.folder.with_name("copy")
    shutil.copytree(shop.folder, copy)
    assert "copied or restored" in await shop.fe("run", str(copy), "--port=0", code=1)
    shutil.rmtree(copy)


async def filed_by_the_authority(stack: Stack) -> dict[str, dict[str, Any]]:
    """The documents that took effect at the authority, each of them once."""
    found: dict[str, dict[str, Any]] = {}
    since = 0
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        while True:
            page = (await client.get(f"{stack.simulator.management}/journal", params={"since": since})).json()
            if not page["records"]:
                return found
            since = page["next"]
            for one in page["records"]:
                if one["kind"] == "document" and one["effect"] and one["status"] == 200:
                    assert one["eNCF"] not in found, f"{one['eNCF']} twice at the authority"
                    found[one["eNCF"]] = one
