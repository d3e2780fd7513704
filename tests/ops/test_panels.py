"""Every panel and rule, evaluated by a real Prometheus that scrapes a service at work."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import httpx
import pytest
import trio

from fe.ecf.catalogue import Environment
from ops.grafana.build import ANNOTATIONS, DASHBOARDS
from ops.grafana.pictures import filled_in
from tests.ops.live import ask, needs_prometheus, numbers, prometheus, until
from tests.ops.material import RULES, alerts, exported, load, rules, runbook_of
from tests.ops.promql import Selector, selectors
from tests.ops.scene import draw
from tests.ops.worked import Worked, worked
from tests.waiting import PATIENCE

#: Of what there is to see, the last that comes into being: verdicts, in two scrapes.
_LAST = "rate(fe_submission_verdict_seconds_count[10s]) > 0"

#: Metrics without values on a healthy service that does not receive from suppliers, and why.
EMPTY_BY_NATURE = {
    ("fe_http_connection_faults_total", "its kinds are names of errors, which nobody knows before they occur"),
    ("fe_node_answers", "one server has no nodes: tests/ops/test_citus_runbook.py has some"),
    ("fe_node_bytes", "the same"),
    ("fe_node_shards", "the same"),
    ("fe_received_total", "only processes that receive from suppliers have it"),
    ("fe_rejections_total", "no receipt of production is rejected here"),
    ("fe_rejections_signed_by_total", "the same"),
    ("fe_rejected_tenants", "the same"),
    ("node_filesystem_avail_bytes", "no node_exporter runs beside this database"),
    ("node_filesystem_size_bytes", "the same"),
    ("fe_webhook_attempt_seconds_bucket", "no tenant here has a webhook that could be called"),
    ("fe_webhook_attempt_seconds_count", "the same"),
    ("fe_webhook_attempt_seconds_sum", "the same"),
}
_MAY_BE_EMPTY = {metric for metric, _ in EMPTY_BY_NATURE}


def queries() -> Iterator[tuple[str, str]]:
    for dashboard in DASHBOARDS:
        for shown in dashboard.rows.values():
            for panel in shown:
                for legend, query in panel.queries.items():
                    yield f"{dashboard.title}: {panel.title}: {legend}", query


async def be_busy(service: Worked, enough: trio.Event) -> None:
    """A little of everything, second by second."""
    while not enough.is_set():
        await service.submit(service.tokens[:2])
        await service.client.get("/invoices", headers={"Authorization": f"Bearer {service.tokens[0]}"})
        await service.client.get("/nothing/here")
        await service.client.post("/login", json={"apiKeyId": "fak_0123456789ab", "apiSecret": "wrong"})
        await service.client.post("/login", content=b"{", headers={"Content-Type": "application/json"})
        await trio.sleep(0.3)


async def silent(client: httpx.AsyncClient, asked: Mapping[str, str]) -> dict[str, str]:
    """The queries that return no number in repeated tries. One try is not enough: a scrape may just have failed."""
    left = {
        name: query for name, query in asked.items() if not {one.metric for one in selectors(query)} & _MAY_BE_EMPTY
    }
    with trio.move_on_after(PATIENCE):
        while left:
            for name, query in list(left.items()):
                if numbers(await ask(client, query)):
                    del left[name]
            await trio.sleep(0.2)
    return left


def written(selector: Selector) -> str:
    return selector.metric + "{" + ", ".join(f'{name}{how}"{value}"' for name, how, value in selector.matchers) + "}"


@pytest.mark.drill
@needs_prometheus
@pytest.mark.timeout(900)
async def test_every_query_of_every_panel_and_rule_gives_data(tmp_path: Path) -> None:
    async with (
        worked(
            count=4, with_certificates=3, processes=2, environments=(Environment.ECF, Environment.TESTECF)
        ) as service,
        trio.open_nursery() as nursery,
    ):
        enough = trio.Event()
        nursery.start_soon(be_busy, service, enough)
        async with prometheus(tmp_path, service.metrics_urls, every=4) as client:
            await until(lambda: ask(client, _LAST))
            # A rate is drawn between two scrapes, and what is read off the database changes every 15 s.
            await until(lambda: ask(client, "max(changes(fe_database_transactions[1m])) > 0"))
            panels = await silent(client, {name: filled_in(query) for name, query in queries()})
            behind_rules = await silent(
                client, {written(one): written(one) for rule in rules() for one in selectors(rule["expr"])}
            )
            recorded = await silent(client, {rule["record"]: rule["record"] for rule in rules() if "record" in rule})
            notes = [(note["name"], await ask(client, note["target"]["expr"])) for note in ANNOTATIONS]
            groups = json.loads((await client.get("/api/v1/rules")).text)["data"]["groups"]
            told = [name async for name in _exemplars(client)]
            there = set(json.loads((await client.get("/api/v1/label/__name__/values")).text)["data"])
            first = next(rule for group in groups for rule in group["rules"] if rule["name"] == "FeOutboxLate")
            leads_to = first["annotations"]["runbook_url"]
            pages = {name: (await client.get(f"/user/{name}")).status_code for name in map(runbook_of, alerts())}
            await draw(str(client.base_url), 1.0, tmp_path / "pictures")
        enough.set()

    assert panels == {}
    assert behind_rules == {}
    assert recorded == {}
    assert [name for name, _ in notes] == ["Releases", "Circuits that open", "Circuits that close"]
    evaluated = [rule for group in groups for rule in group["rules"]]
    assert len(evaluated) == sum(len(group["rules"]) for path in RULES for group in load(path)["groups"])
    assert {rule["name"]: rule.get("lastError") for rule in evaluated if rule["health"] != "ok"} == {}
    firing = {rule["name"] for rule in evaluated if rule["type"] == "alerting" and rule["state"] == "firing"}
    assert firing == {"FeDeadMansSwitch"}
    # This Prometheus has every exported metric, except those that may be empty.
    assert {name for name in exported() if name.startswith("fe_")} - there <= _MAY_BE_EMPTY
    assert set(told) >= {"fe_http_request_seconds_bucket", "fe_submission_verdict_seconds_bucket"}
    assert leads_to == "{{ $externalURL }}/user/outbox-late.md"
    assert set(pages.values()) == {200}
    pictures = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "pictures").iterdir()}
    assert pictures.keys() == {dashboard.uid for dashboard in DASHBOARDS}
    without = {name: picture.count(">No data<") for name, picture in pictures.items()}
    assert sum(without.values()) <= len(EMPTY_BY_NATURE), without


async def _exemplars(client: httpx.AsyncClient) -> AsyncIterator[str]:
    """The names of the series that have exemplars."""
    for metric in ("fe_http_request_seconds_bucket", "fe_submission_verdict_seconds_bucket"):
        params = {"query": metric, "start": "0", "end": "9999999999"}
        answer = json.loads((await client.get("/api/v1/query_exemplars", params=params)).text)
        for series in answer["data"]:
            for one in series["exemplars"]:
                assert set(one["labels"]) <= {"request_id", "submission"}
                yield series["seriesLabels"]["__name__"]
