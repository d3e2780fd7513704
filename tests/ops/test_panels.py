"""Every panel and rule, evaluated by a real Prometheus that scrapes a service at work."""

import json
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from math import isnan
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import yaml  # type: ignore[import-untyped]  # ships no types

from ops.grafana.build import DASHBOARDS
from ops.grafana.model import Panel
from tests.ops.material import RULES, load
from tests.ops.worked import Worked, worked
from tests.waiting import PATIENCE

PROMETHEUS = shutil.which("prometheus")

needs_prometheus = pytest.mark.skipif(
    PROMETHEUS is None,
    reason="NOT PROVED HERE: that dashboards and rules can be evaluated (no prometheus: apt-get install prometheus)",
)
_PATIENCE = 30.0

#: Of what there is to see, the last that comes into being: verdicts, in two scrapes.
_LAST = "rate(fe_submission_verdict_seconds_count[10s]) > 0"


@asynccontextmanager
async def prometheus(folder: Path, metrics_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """A Prometheus with our rules that scrapes the service each second; a client of its API."""
    target = httpx.URL(metrics_url).netloc.decode()
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(path) for path in RULES],
        "scrape_configs": [{"job_name": "fe", "static_configs": [{"targets": [target]}]}],
    }
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        at = f"127.0.0.1:{probe.getsockname()[1]}"
    assert PROMETHEUS is not None
    options = (f"--config.file={file}", f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={at}")
    process = await trio.lowlevel.open_process(
        [PROMETHEUS, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://{at}", trust_env=False, timeout=PATIENCE) as client:
            with trio.fail_after(_PATIENCE):
                while not await _is_up(client):  # noqa: ASYNC110  (another process starts)
                    await trio.sleep(0.1)
            yield client
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


async def _is_up(client: httpx.AsyncClient) -> bool:
    try:
        ready = (await client.get("/-/ready")).status_code == 200
    except httpx.TransportError:
        return False
    return ready and await ask(client, 'up{job="fe"} == 1') != []


async def ask(client: httpx.AsyncClient, query: str) -> list[dict[str, Any]]:
    """The vector that a query gives now."""
    answer = await client.get("/api/v1/query", params={"query": query})
    body = json.loads(answer.text)
    assert body["status"] == "success", f"{query}: {body.get('error', answer.text)}"
    if body["data"]["resultType"] == "scalar":
        return [{"value": body["data"]["result"]}]
    found: list[dict[str, Any]] = body["data"]["result"]
    return found


def filled_in(query: str) -> str:
    """A query as Grafana sends it, with all of everything chosen."""
    for variable, value in (("$environment", ".*"), ("$instance", ".*"), ("$__rate_interval", "10s")):
        query = query.replace(variable, value)
    return query


def panels() -> Iterator[tuple[str, Panel]]:
    for dashboard in DASHBOARDS:
        for shown in dashboard.rows.values():
            for panel in shown:
                yield f"{dashboard.title}: {panel.title}", panel


async def be_busy(service: Worked) -> None:
    """A little of everything, second by second."""
    while True:
        await service.submit(service.tokens[:2])
        await service.client.get("/invoices", headers={"Authorization": f"Bearer {service.tokens[0]}"})
        await service.client.get("/nothing/here")
        await service.client.post("/login", json={"apiKeyId": "fak_0123456789ab", "apiSecret": "wrong"})
        await service.client.post("/login", content=b"{", headers={"Content-Type": "application/json"})
        await trio.sleep(0.3)


@needs_prometheus
@pytest.mark.timeout(300)
async def test_every_panel_and_rule_can_be_evaluated_and_the_core_ones_show_something(tmp_path: Path) -> None:
    async with worked(count=4, with_certificates=3) as service, trio.open_nursery() as nursery:
        nursery.start_soon(be_busy, service)
        async with prometheus(tmp_path, service.stack.metrics_url) as client:
            with trio.fail_after(_PATIENCE):
                while not await ask(client, _LAST):  # noqa: ASYNC110  (other processes do the work)
                    await trio.sleep(0.2)
            await trio.sleep(3)  # further scrapes: a rate is drawn between two
            empty = []
            for name, panel in panels():
                drawn = [one for query in panel.queries.values() for one in await ask(client, filled_in(query))]
                if panel.core and not any(not isnan(float(one["value"][1])) for one in drawn):
                    empty.append(name)
            groups = json.loads((await client.get("/api/v1/rules")).text)["data"]["groups"]
        nursery.cancel_scope.cancel()

    assert empty == []
    evaluated = [rule for group in groups for rule in group["rules"]]
    assert len(evaluated) == sum(len(group["rules"]) for path in RULES for group in load(path)["groups"])
    assert {rule["name"]: rule.get("lastError") for rule in evaluated if rule["health"] != "ok"} == {}
    firing = {rule["name"] for rule in evaluated if rule["type"] == "alerting" and rule["state"] == "firing"}
    assert firing == {"FeDeadMansSwitch"}
