"""A real Prometheus, and an Alertmanager, beside a service at work; and what their APIs answer."""

import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from math import isnan
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import yaml  # type: ignore[import-untyped]  # ships no types

from tests.ops.material import PROMETHEUS, RULES, RUNBOOKS, load
from tests.ports import free_port
from tests.waiting import PATIENCE

PROMETHEUS_SERVER = shutil.which("prometheus")
ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")

needs_prometheus = pytest.mark.skipif(
    PROMETHEUS_SERVER is None,
    reason="NOT PROVED HERE: that dashboards and rules can be evaluated (no prometheus: apt-get install prometheus)",
)
needs_alertmanager = pytest.mark.skipif(
    ALERTMANAGER is None,
    reason="NOT PROVED HERE: which alert keeps which quiet (no Alertmanager: apt-get install prometheus-alertmanager)",
)


@asynccontextmanager
async def _running(command: Sequence[str], url: str, log: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A server as a process; a client of it, once it is ready."""
    with open(log, "wb") as said:  # noqa: ASYNC230  (a local file)
        process = await trio.lowlevel.open_process(command, stdout=said, stderr=subprocess.STDOUT)
    try:
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE) as client:
            await until(lambda: _is_ready(client))
            yield client
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


async def _is_ready(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/-/ready")).status_code == 200
    except httpx.TransportError:
        return False


async def until(holds: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Wait for an async predicate to give something true, and return that."""
    with trio.fail_after(patience):
        while not (found := await holds()):  # noqa: ASYNC110  (other processes do the work)
            await trio.sleep(0.2)
        return found


def scaled(rules: Any, by: float) -> Any:
    """The rules with every stretch of time shortened alike: those of `for` and of ranges."""

    def shorter(match: re.Match[str]) -> str:
        unit = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}[match[2]]
        return f"{max(2000, round(int(match[1]) * unit * 1000 / by))}ms"

    for group in rules["groups"]:
        for rule in group["rules"]:
            rule["expr"] = re.sub(r"(?<=\[)(\d+)([smhdw])(?=\])", shorter, rule["expr"])
            if "for" in rule:
                rule["for"] = (
                    f"{round(int(rule['for'][:-1]) * {'s': 1, 'm': 60, 'h': 3600}[rule['for'][-1]] * 1000 / by)}ms"
                )
    return rules


@asynccontextmanager
async def prometheus(
    folder: Path,
    metrics_urls: Sequence[str],
    *,
    faster: float = 1,
    every: int = 1,
    evaluated_every: int = 1,
    missing: int = 0,
    alertmanager: str | None = None,
) -> AsyncIterator[httpx.AsyncClient]:
    """A Prometheus with our rules, the runbooks and exemplars; a client of it.

    It scrapes `every` seconds. `missing` of the targets do not answer.
    """
    rules = folder / "rules"
    rules.mkdir()
    for path in RULES:
        (rules / path.name).write_text(yaml.safe_dump(scaled(load(path), faster)), encoding="utf-8")
    targets = [httpx.URL(url).netloc.decode() for url in metrics_urls]
    config: dict[str, Any] = {
        "global": {"scrape_interval": f"{every}s", "evaluation_interval": f"{evaluated_every}s"},
        "rule_files": [f"{rules}/*.yml"],
        "scrape_configs": [{"job_name": "fe", "static_configs": [{"targets": targets}]}],
    }
    if alertmanager is not None:
        config["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]}
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    at = f"127.0.0.1:{free_port()}"
    assert PROMETHEUS_SERVER is not None
    command = (
        PROMETHEUS_SERVER,
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={at}",
        f"--web.user-assets={RUNBOOKS}",
        "--enable-feature=exemplar-storage",
    )
    async with _running(command, f"http://{at}", folder / "prometheus.log") as client:
        await until(lambda: ask(client, f'count(up{{job="fe"}} == 1) == {len(targets) - missing}'))
        yield client


@asynccontextmanager
async def alertmanager(folder: Path, deliver_to: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """An Alertmanager with our example; a client of its API. Its receivers post to `deliver_to`/NAME."""
    config = load(PROMETHEUS / "alertmanager.yml")
    for receiver in config["receivers"]:
        if deliver_to is not None and receiver["name"] != "nobody":
            receiver["webhook_configs"] = [{"url": f"{deliver_to}/{receiver['name']}"}]
    file = folder / "alertmanager.yml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    at = f"127.0.0.1:{free_port()}"
    assert ALERTMANAGER is not None
    command = (
        ALERTMANAGER,
        f"--config.file={file}",
        f"--storage.path={folder / 'alertmanager'}",
        f"--web.listen-address={at}",
        "--cluster.listen-address=",
    )
    async with _running(command, f"http://{at}", folder / "alertmanager.log") as client:
        yield client


@asynccontextmanager
async def pager() -> AsyncIterator[tuple[str, list[tuple[str, str, float]]]]:
    """A receiver of alerts: its URL, and what it was sent (receiver, alert, time), firing ones only."""
    sent: list[tuple[str, str, float]] = []

    async def serve(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            request = b""
            async for some in stream:
                request += some
                head, _, body = request.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                if length is None or len(body) < int(length[1]):
                    continue
                receiver = head.split()[1].decode().strip("/")
                for alert in json.loads(body)["alerts"]:
                    if alert["status"] == "firing":
                        sent.append((receiver, alert["labels"]["alertname"], trio.current_time()))
                await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                request = b""

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        yield f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}", sent
        nursery.cancel_scope.cancel()


async def ask(client: httpx.AsyncClient, query: str) -> list[dict[str, Any]]:
    """The vector that a query gives now."""
    answer = await client.get("/api/v1/query", params={"query": query})
    body = json.loads(answer.text)
    assert body["status"] == "success", f"{query}: {body.get('error', answer.text)}"
    if body["data"]["resultType"] == "scalar":
        return [{"value": body["data"]["result"]}]
    found: list[dict[str, Any]] = body["data"]["result"]
    return found


def numbers(found: Sequence[dict[str, Any]]) -> list[float]:
    """The values of a vector that are numbers."""
    return [value for one in found if not isnan(value := float(one["value"][1]))]


async def firing(client: httpx.AsyncClient) -> set[str]:
    """The names of the alerts that fire now, the one that always does left out."""
    found = await ask(client, 'ALERTS{alertstate="firing", severity!="heartbeat"}')
    return {one["metric"]["alertname"] for one in found}
