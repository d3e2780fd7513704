"""The judge of webhooks (I7): every event at least once, under one id, signed; none lost, none kept twice."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from fe.lifecycle import EventKind
from tests.faults.history import History
from tests.faults.hooks import HookCall, signature_holds

Found = Iterator[tuple[str, str]]
_ENDS = (EventKind.VERDICT, EventKind.ERROR, EventKind.DISCARDED)


def told_at_least_once(history: History) -> Found:
    """I7: every event is told at least once, under one id, signed over the bytes sent; none is lost or kept twice."""
    if not history.hook_secrets:
        return
    yield from _kept_once(history)
    calls: dict[str, list[HookCall]] = defaultdict(list)
    for call in history.hook_calls:
        calls[call.delivery_id].append(call)
        if not signature_holds(call, history.hook_secrets[call.tenant_id]):
            yield call.delivery_id, "a call whose signature is not over its bytes"
    deliveries = Counter((told.tenant_id, told.event_id) for told in history.database.told)
    known: set[str] = set()
    for told in history.database.told:
        about = f"{told.kind} of {told.about}"
        if told.delivery_id is None:
            yield about, "an event that is on its way to nobody"
            continue
        if deliveries[told.tenant_id, told.event_id] > 1:
            yield about, "one event, one endpoint, and several deliveries"
        made = calls[str(told.delivery_id)]
        known.add(str(told.delivery_id))
        if told.state != "delivered":
            yield about, f"its delivery is {told.state}, with everything well again"
        elif not any(call.answered == 200 for call in made):
            yield about, "it is delivered, and its receiver never confirmed it"
        if any((call.body, call.event, call.tenant_id) != (told.body, told.kind, told.tenant_id) for call in made):
            yield about, "a call with other bytes than those that are kept, or to another tenant"
    for delivery_id in calls.keys() - known:
        yield delivery_id, "a call under an id that nobody knows"


def _kept_once(history: History) -> Found:
    """Each verdict and each received document has exactly one event."""
    told = Counter((each.tenant_id, each.about) for each in history.database.told)
    ends = Counter(
        (event.tenant_id, str(event.submission_id)) for event in history.database.events if event.kind in _ENDS
    )
    for (tenant_id, about), count in ends.items():
        if told[tenant_id, about] != count:
            yield about, f"it ended, and has {told[tenant_id, about]} events"
    numbers = Counter(row.e_ncf for row in history.database.received)
    for row in history.database.received:
        if told[row.tenant_id, str(row.received_id)] != 1:
            yield row.e_ncf, f"it was received, and has {told[row.tenant_id, str(row.received_id)]} events"
    for handed in history.handed:
        if handed.acknowledged and numbers[handed.e_ncf] != 1:
            yield handed.e_ncf, f"it was acknowledged, and is there {numbers[handed.e_ncf]} times"
