"""The checker of webhooks accepts a correct history, and finds each single error in it."""

import hashlib
import hmac
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from fe.identifiers import SubmissionId, TenantId
from tests.faults.history import Event, History, Snapshot
from tests.faults.hooks import Handed, HookCall, ReceivedRow, Told
from tests.faults.hooks_checker import told_at_least_once

TENANT, SECRET, BODY = TenantId(1), "whsec_x", b'{"event":"received_ecf"}'
RECEIVED, ENDED = UUID(int=1), SubmissionId(UUID(int=2))
FIRST, SECOND = UUID(int=11), UUID(int=12)


def call(delivery: UUID, event: str, answered: int | None = 200) -> HookCall:
    signature = "sha256=" + hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()
    return HookCall(TENANT, str(delivery), event, signature, BODY, answered)


def told(delivery: UUID | None, kind: str, about: UUID) -> Told:
    return Told(TENANT, about, kind, str(about), BODY, delivery, "delivered" if delivery else None)


CALLS = (
    call(FIRST, "received_ecf", None),
    call(FIRST, "received_ecf", 500),
    call(FIRST, "received_ecf"),
    call(SECOND, "submission.accepted"),
)
TOLD = (told(FIRST, "received_ecf", RECEIVED), told(SECOND, "submission.accepted", ENDED))
END = Event(TENANT, ENDED, 5, datetime(2026, 11, 6, tzinfo=UTC), "verdict", "{}", b"")
ORDERLY = History(
    calls=(),
    arrivals=(),
    database=Snapshot(events=[END], told=TOLD, received=[ReceivedRow(TENANT, RECEIVED, "E310000000001")]),
    hook_calls=CALLS,
    hook_secrets={TENANT: SECRET},
    handed=[Handed("E310000000001", True), Handed("E310000000002", False)],
)


def with_database(**changes: object) -> History:
    return replace(ORDERLY, database=replace(ORDERLY.database, **changes))  # type: ignore[arg-type]  # its own fields


WRONG = [
    (replace(ORDERLY, hook_calls=CALLS[:2] + CALLS[3:]), "its receiver never confirmed it"),
    (replace(ORDERLY, hook_calls=[*CALLS, replace(CALLS[3], body=b"{}")]), "signature is not over its bytes"),
    (replace(ORDERLY, hook_calls=[*CALLS, replace(CALLS[3], event="received_ecf")]), "other bytes"),
    (replace(ORDERLY, hook_calls=[*CALLS, replace(CALLS[3], delivery_id="another")]), "an id that nobody knows"),
    (with_database(told=[replace(TOLD[0], state="failed"), TOLD[1]]), "its delivery is failed"),
    (with_database(told=[told(None, "received_ecf", RECEIVED), TOLD[1]]), "on its way to nobody"),
    (with_database(told=[*TOLD, replace(TOLD[1], delivery_id=FIRST)]), "several deliveries"),
    (with_database(told=TOLD[1:]), "it was received, and has 0 events"),
    (with_database(told=TOLD[:1]), "it ended, and has 0 events"),
    (with_database(received=[]), "it was acknowledged, and is there 0 times"),
]


def test_checker_reports_nothing_for_orderly_webhooks() -> None:
    assert list(told_at_least_once(ORDERLY)) == []


@pytest.mark.parametrize(("history", "says"), WRONG)
def test_checker_reports_each_wrong_webhook(history: History, says: str) -> None:
    assert any(says in said for _, said in told_at_least_once(history))
