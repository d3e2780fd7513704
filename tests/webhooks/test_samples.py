"""Samples of events have the shape of those that happen, and every kind has one."""

import json
from datetime import UTC, datetime

import pytest

from fe.lifecycle import WebhookEvent
from fe.webhooks.events import sample_body

AT = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize("kind", WebhookEvent)
def test_every_kind_has_a_sample_that_says_what_it_is(kind: WebhookEvent) -> None:
    body = json.loads(sample_body(kind, AT))

    assert body["event"] == kind
    assert body["sentAt"] == "2026-11-06T14:15:30.000Z"
    assert len(body) >= 3
