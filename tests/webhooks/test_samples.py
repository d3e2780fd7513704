"""Samples of events have the shape that the description gives them, and every kind has one."""

import json
from datetime import UTC, datetime

import pytest

from fe.http.models.events import EVENT_MODELS
from fe.lifecycle import WebhookEvent
from fe.webhooks.events import sample_body

AT = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize("kind", WebhookEvent)
def test_every_kind_has_a_sample_of_the_shape_that_is_described(kind: WebhookEvent) -> None:
    raw = sample_body(kind, AT)
    body = json.loads(raw)

    read = EVENT_MODELS[kind].adapter.validate_json(raw)

    assert (body["event"], body["sentAt"]) == (kind, "2026-11-06T14:15:30.000Z")
    assert json.loads(json.dumps(read, default=str)) == body, "it has a field that is not described"
