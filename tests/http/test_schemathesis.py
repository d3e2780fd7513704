"""Schemathesis against a live server: whatever the description allows and whatever it does not, never a 5xx, and every
answer as described. Bounded here; FE_SCHEMATHESIS_EXAMPLES sets how many examples each operation gets."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import trio

from fe.store import throttle
from fe.store.db import Database
from tests.http.front import Key, Running, start_front

EXAMPLES = int(os.environ.get("FE_SCHEMATHESIS_EXAMPLES", "12"))

#: Checks that ask for something we do not promise:
#: positive_data_acceptance  a description cannot say what makes a good e-CF, so good bodies by it may be refused;
#: negative_data_rejection   unknown fields are ignored by design, and ids of any form are 200 {found: false};
#: missing_required_header   there is none but Authorization, which ignored_auth checks;
#: unsupported_method        see test_road: 405 with Allow;
#: allow_header_conformance  /invoices/validate is also an id, of nothing, to GET /invoices/{trackOrId}.
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,use_after_free,ignored_auth"
)


@pytest.mark.timeout(60 + EXAMPLES * 20)
async def test_no_call_that_schemathesis_thinks_of_is_answered_out_of_order(
    db: Database, nursery: trio.Nursery, key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "ADDRESS_LIMIT", 10**6)  # else /login answers nothing but 429 before long
    front: Running = await start_front(nursery, db)
    token = await front.token(key)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{front.base_url}/openapi.json"),
        *("--header", f"Authorization: Bearer {token}"),
        *("--checks", CHECKS, "--max-examples", str(EXAMPLES), "--continue-on-failure"),
        *("--phases", "examples,coverage,fuzzing,stateful", "--warnings", "off", "--no-shrink"),
        *("--seed", "1", "--suppress-health-check", "all", "--request-timeout", "40"),
    ]

    done = await trio.run_process(
        command, capture_stdout=True, stderr=subprocess.STDOUT, check=False, cwd=tmp_path, env=_without_proxy()
    )

    report = done.stdout.decode()
    assert done.returncode == 0, report[-8000:]
    faults = [
        sample.value
        for metric in front.metrics.registry.collect()
        for sample in metric.samples
        if sample.name == "fe_http_requests_total" and sample.labels["status"].startswith("5")
    ]
    assert sum(faults) == 0
    calls = sum(
        sample.value
        for metric in front.metrics.registry.collect()
        for sample in metric.samples
        if sample.name == "fe_http_requests_total"
    )
    assert calls > 12 * EXAMPLES
    async with front.client(token) as client:
        answer: httpx.Response = await client.get("/invoices")
        assert answer.status_code == 200


def _without_proxy() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
