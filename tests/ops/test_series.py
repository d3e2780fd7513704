"""How much a process exports, when a thousand tenants have used it."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.ops.material import exported
from tests.ops.worked import ENVIRONMENT, worked

TENANTS = 1000
#: What Prometheus is asked to keep of one process, at most.
MAX_SERIES = 3000


@pytest.mark.timeout(300)
async def test_a_thousand_tenants_leave_few_series_and_no_trace_of_themselves() -> None:
    async with worked(count=TENANTS, with_certificates=20) as service:
        await service.submit(service.tokens)
        await service.until_all_ended()
        text = await service.scrape()

    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    assert len(samples) < MAX_SERIES
    names = exported()
    assert {sample.name for sample in samples} <= names.keys()
    wrong = [one for one in samples if names[one.name] != one.labels.keys() and one.labels]
    assert wrong == []
    accepted = [one.value for one in samples if one.name == "fe_submissions_accepted_total"]
    assert sum(accepted) == TENANTS
    ended = [one for one in samples if one.name == "fe_verdicts_total"]
    assert sum(one.value for one in ended) == TENANTS
    assert {one.labels["environment"] for one in ended} == {ENVIRONMENT}
    assert max(len(value) for one in samples for value in one.labels.values()) < 64
