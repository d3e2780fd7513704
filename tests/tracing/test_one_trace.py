"""One trace from the request to the webhook, across processes, and across the death of one of them."""

import json
from pathlib import Path

import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.lifecycle import WebhookEvent
from fe.main import serve
from fe.process.workers import Listeners
from tests.factories.tenants import row, rows, take
from tests.system.stack import Stack, running_stack
from tests.system.test_road import invoice
from tests.tracing.collector import Collector, children, traceparent
from tests.waiting import until
from tests.webhooks.receiver import Receiver, make_endpoint, receiving

# As in tests/system/test_road.py: each test ends by cancelling a whole service.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

#: The key that tests/webhooks/receiver.py seals with.
WEBHOOK_KEYS = f"w1:{bytes(range(32)).hex()}"
TRACE = "0af7651916cd43dd8448eb211c80319c"

#: Attributes that spans may have: ids, numbers, and words of ours.
TOLD = {
    "http.request.method",
    "http.route",
    "error.type",
    "fe.answer",
    "fe.attempt",
    "fe.delivery",
    "fe.environment",
    "fe.event",
    "fe.host",
    "fe.outcome",
    "fe.submission",
    "fe.tenant",
    "fe.verdict",
}


async def submit(stack: Stack, number: int, **headers: str) -> str:
    answer = await stack.client.post(
        "/invoices", json={"format": "structured", "payload": invoice(number)}, headers=headers
    )
    assert answer.status_code == 202, answer.text
    tax_log_id: str = answer.json()["taxLogId"]
    return tax_log_id


async def be_told(stack: Stack, receiver: Receiver) -> None:
    await make_endpoint(
        stack.db,
        stack.tenant.tenant_id,
        receiver.url,
        events=[WebhookEvent.ACCEPTED],
        environment=Environment.TESTECF,
    )


async def test_one_trace_shows_the_whole_way_though_a_worker_dies(
    dsn: str, tmp_path: Path, collector: Collector
) -> None:
    """Front and actors share only the database; a first holder of the row is never heard of again."""
    async with (
        running_stack(
            dsn,
            tmp_path,
            role="http",
            webhook_keys=WEBHOOK_KEYS,
            tracing_url=collector.url,
            tracing_ratio=0.0,
        ) as stack,
        receiving() as receiver,
        trio.open_nursery() as nursery,
    ):
        await be_told(stack, receiver)
        subject = await submit(stack, 1, traceparent=traceparent(TRACE), tracestate="theirs=a1")
        waiting = await row(stack.db, "SELECT subject, trace FROM outbox")
        await take(stack.db, waiting["subject"])
        await rows(stack.db, "UPDATE outbox SET run_at = now()")

        actors = Listeners.open(stack.settings, "actors")
        nursery.start_soon(serve, stack.settings, dsn, "actors", stack.vault, actors)
        (heard,) = await receiver.wait()
        await until(lambda: {"POST /api/v1/fe/invoices", "sign", "send", "track", "webhook"} <= collector.names())
        nursery.cancel_scope.cancel()

    spans = list(collector.spans)
    (request,) = collector.named("POST /api/v1/fe/invoices")
    assert {span.trace_id for span in spans} == {TRACE}
    assert (request.parent_id, request.role, request.state) == ("00f067aa0ba902b7", "http", "theirs=a1")
    assert {span.role for span in spans if span is not request} == {"actors"}

    # Each try of each step hangs on the request, and each exchange on its try.
    steps = children(spans, request)
    assert {name: steps[name] for name in ("sign", "send", "webhook")} == {"sign": 1, "send": 1, "webhook": 1}
    assert steps.keys() == {"sign", "send", "track", "webhook"}
    (sign,), (send,), (webhook,) = collector.named("sign"), collector.named("send"), collector.named("webhook")
    assert sign.about["fe.attempt"] == 2  # the first died with who had made it
    assert children(spans, sign) == {}
    asked = children(spans, send)
    assert asked.keys() == {"authority seed", "authority validate_seed", "authority reception"}
    for track in collector.named("track"):
        assert children(spans, track) == {"authority result": 1}
    assert [one.about["fe.verdict"] for one in collector.named("track") if "fe.verdict" in one.about] == ["Aceptado"]

    # Hosts that we call for the tenant may continue the trace; the row keeps its own context.
    assert heard.headers["traceparent"] == f"00-{TRACE}-{webhook.span_id}-01"
    assert heard.headers["tracestate"] == "theirs=a1"
    assert waiting["trace"] == f"00-{TRACE}-{request.span_id}-01 theirs=a1"
    assert (webhook.about["fe.answer"], webhook.about["fe.event"]) == (200, "submission.accepted")

    # Its attributes: tenant and submission, nothing of their content.
    assert {span.about["fe.submission"] for span in (request, sign, send)} == {subject}
    assert {span.about["fe.tenant"] for span in (request, sign, send, webhook)} == {stack.tenant.tenant_id}
    assert {name for span in spans for name in span.about} <= TOLD
    assert not any(span.is_error for span in spans)


async def test_what_is_not_traced_leaves_no_trace(dsn: str, tmp_path: Path, collector: Collector) -> None:
    """Of one process in which some documents are traced, and others are not, by lot or because their client says so."""
    async with (
        running_stack(
            dsn, tmp_path, webhook_keys=WEBHOOK_KEYS, tracing_url=collector.url, tracing_ratio=0.0, tracing_asked=1.0
        ) as stack,
        receiving() as receiver,
    ):
        await be_told(stack, receiver)
        declined = await submit(stack, 1, traceparent=traceparent("a" * 32, sampled=False))
        silent = await submit(stack, 2)
        for subject in (declined, silent):
            await stack.until_final(subject)
        untraced = await receiver.wait(2)
        asked = await submit(stack, 3, traceparent=traceparent(TRACE))
        await stack.until_final(asked)
        heard = await receiver.wait(3)
        await until(lambda: "webhook" in collector.names())
        kept = await rows(stack.db, "SELECT trace FROM webhook_deliveries ORDER BY subject")

    assert [one.headers.get("traceparent") for one in untraced[:2]] == [None, None]
    assert heard[2].headers["traceparent"].split("-")[1] == TRACE
    assert sorted(str(one["trace"])[:7] for one in kept) == [f"00-{TRACE[:4]}", "None", "None"]
    assert {span.trace_id for span in collector.spans} == {TRACE}


async def test_while_tracing_is_off_a_traceparent_is_of_no_consequence(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, role="http", tracing_ratio=1.0) as stack:
        await submit(stack, 1, traceparent=traceparent(TRACE), tracestate="theirs=a1")
        (waiting,) = await rows(stack.db, "SELECT trace FROM outbox")

    assert waiting["trace"] is None


async def test_strangers_and_refused_documents(dsn: str, tmp_path: Path, collector: Collector) -> None:
    """A request without a token begins no trace. A refused document shows only in its answer."""
    ask = {"traceparent": traceparent(TRACE), "tracestate": "theirs=a1"}
    async with running_stack(
        dsn, tmp_path, role="http", tracing_url=collector.url, tracing_ratio=1.0, tracing_asked=100.0
    ) as stack:
        body = {"format": "structured", "payload": invoice(1)}
        anonymous = await stack.client.post("/invoices", json=body, headers={**ask, "Authorization": "Bearer no"})
        login = await stack.client.post("/login", json={"apiKeyId": "fak_0123456789ab", "apiSecret": "no"}, headers=ask)
        nothing = await stack.client.get("/nothing", headers=ask)
        read = await stack.client.get("/invoices", headers=ask)
        secret = "a secret of theirs"
        refused = await stack.client.post("/invoices", content=json.dumps({"format": secret}), headers=ask)
        await until(lambda: collector.spans)

    statuses = [answer.status_code for answer in (anonymous, login, nothing, read, refused)]
    assert statuses == [401, 401, 404, 200, 400]
    (only,) = collector.spans
    assert only.about["fe.answer"] == refused.status_code
    assert secret not in repr(only)
    assert only.about.keys() <= TOLD
