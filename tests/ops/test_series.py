"""How much a process exports, when hundreds of tenants have used it."""

import json
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.ops.material import exported
from tests.ops.worked import ENVIRONMENT, worked

TENANTS = 300
WITH_CERTIFICATES = 20
#: Most series that one process may export to Prometheus.
MAX_SERIES = 5100
PAGE = Path(__file__).resolve().parents[2] / "docs" / "operations" / "watching.md"


@pytest.mark.timeout(900)
async def test_hundreds_of_tenants_leave_few_series_and_no_trace_of_themselves() -> None:
    async with worked(count=TENANTS, with_certificates=WITH_CERTIFICATES) as service:
        await service.submit(service.tokens)
        await service.until_all_ended()
        text = await service.scrape()
        log = (service.stack.folder / "service.log").read_text(encoding="utf-8")
        accepted = service.accepted

    lines = [json.loads(line) for line in log.splitlines()]
    ways: dict[str, list[str]] = {subject: [] for _, subject in accepted}
    for line in lines:
        if line["event"].startswith("a submission "):
            ways[line["submission"]].append(line["event"])
    good = ["a submission was accepted", "a submission was sent", "a submission has its verdict"]
    assert sum(way == good for way in ways.values()) == WITH_CERTIFICATES
    assert sum(way[-1:] == ["a submission ended as an error"] for way in ways.values()) == TENANTS - WITH_CERTIFICATES
    asked = {line["submission"]: line["request_id"] for line in lines if line["event"] == good[0]}
    assert asked == {subject: request for request, subject in accepted}
    serving = next(line for line in lines if line["event"] == "serving")
    assert serving["metrics"] in service.stack.metrics_url
    assert serving["http"][0] in service.stack.base_url

    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    assert len(samples) < MAX_SERIES
    names = exported()
    assert {sample.name for sample in samples} <= names.keys()
    wrong = [one for one in samples if names[one.name] != one.labels.keys() and one.labels]
    assert wrong == []
    counted = [one.value for one in samples if one.name == "fe_submissions_accepted_total"]
    assert sum(counted) == TENANTS
    ended = [one for one in samples if one.name == "fe_verdicts_total"]
    assert sum(one.value for one in ended) == TENANTS
    assert {one.labels["environment"] for one in ended if one.value} == {ENVIRONMENT}
    assert max(len(value) for one in samples for value in one.labels.values()) < 64


def test_page_for_operators_names_the_limit() -> None:
    assert f"fewer than {MAX_SERIES:,} series" in PAGE.read_text(encoding="utf-8")
