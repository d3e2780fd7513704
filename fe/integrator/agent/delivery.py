"""Hands receipts to the service, in order of signing and each exactly once, and fetches their verdicts.

The clientRequestId names agent and number, so a repeat after a lost answer takes no effect. The service sends many
receipts at once, so each is handed over when the one before has reached the authority: it gets them in order, too.
"""

import threading
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from fe.cli.failures import Failure
from fe.clock import Clock
from fe.ecf.parse import parse_json
from fe.integrator.agent import refusals
from fe.integrator.agent.refusals import SaleRefused
from fe.integrator.agent.store import Sale, Store
from fe.integrator.agent.till import Watch
from fe.integrator.api import ApiRefusal, ApiSession
from fe.lifecycle import FINAL, Status

#: Receipts of one call while none reaches the authority: below the service's largest body, also where each is long.
_TOGETHER, _BYTES = 50, 600_000
#: Seconds for which the next receipt waits until the one before is sent, and of the pauses between two questions.
_SENT_WITHIN, _FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 0.05, 1.0
#: Verdicts that are asked for between two batches.
_LOOKS = 50
_LEASE_SECONDS = 60
_AGAIN = timedelta(hours=1)
#: Of a call whose fault may pass: the receipt stays at the head of the queue.
_PASSING = frozenset({401, 408, 429})


class Courier:
    """Works through what waits. `wake` after a sale."""

    def __init__(self, store: Store, api: ApiSession, watch: Watch, certificate: str | None, clock: Clock) -> None:
        self._store = store
        self._api = api
        self._watch = watch
        self._certificate = certificate
        self._clock = clock
        self._leased_at: datetime | None = None
        self._tried_again: datetime | None = None
        #: Receipts of the next call: fewer after one that failed, so that a slow line or service takes some.
        self._together = _TOGETHER
        #: Whether the receipt handed over last reached the authority in time. If not, the next ones do not wait for it:
        #: they are safe at the service, which sends them in order after an outage.
        self._is_sent_on = True
        self.is_online = False
        #: Hosts of the authority that do not answer the service: `ecf`, and `fc` for summaries.
        self.hosts_down: frozenset[str] = frozenset()
        #: Why the last round failed.
        self.trouble = ""
        self.woken = threading.Event()

    def run(self, ended: threading.Event, pause: float, notify: Callable[[], None]) -> None:
        """Deliver until `ended` is set, with `pause` seconds between rounds that found nothing to do."""
        while not ended.is_set():
            self.woken.clear()
            try:
                did = self.round()
            except SaleRefused as full:  # the store cannot write: nothing is lost, and each call can be repeated
                did, self.trouble = False, str(full)
            if not did:
                notify()
                self.woken.wait(pause)

    def round(self) -> bool:
        """Renew the lease, hand a batch over, and ask for verdicts; return whether there may be more."""
        try:
            now = self._clock()
            if self._leased_at is None or (now - self._leased_at) > timedelta(seconds=_LEASE_SECONDS):
                self.lease()
                self._leased_at = now
            if self._tried_again is None or now - self._tried_again > _AGAIN:
                with self._store.transaction():
                    self._store.try_refused_again()
                self._tried_again = now
            did = self._hand_over()
            did = self._look() or did
        except Failure as away:
            self.is_online, self.trouble = False, str(away)
            self._together = max(1, self._together // 4)
            return False
        self.is_online, self.trouble = True, ""
        return did

    def lease(self) -> None:
        """Take the next lease. The nonce is on the disk before it is sent: a lost answer does not fence this agent."""
        store = self._store
        nonce = store.fact("nonce")
        if nonce is None:
            nonce = str(uuid.uuid4())
            with store.transaction():
                store.put(nonce=nonce)
        wanted = {"epoch": store.fact("epoch") or 0, "nonce": nonce}
        if self._certificate is not None:
            wanted["certificate"] = self._certificate
        try:
            leased = self._call(lambda: self._api.put(f"/agents/{store.fact('agent')}", wanted))
        except ApiRefusal as refused:
            if refused.status != 409:
                raise
            with store.transaction():
                store.put(fenced=self._clock().isoformat())
            return
        with store.transaction():
            store.put(lease=leased, epoch=leased["epoch"], nonce=None)

    def _call(self, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        said = call()
        if self._api.date is not None:
            self._watch.hear(self._api.date)
        named = self._api.outage.split(",") if self._api.outage else ()
        self.hosts_down = frozenset(one.partition(";")[0].strip() for one in named)
        return said

    def _hand_over(self) -> bool:
        # The authority rejects a signature of the future, and the customer has it on paper: it waits until then.
        waiting = self._store.in_state("waiting", self._together, until=self._watch.service_now().isoformat())
        if not waiting:
            return False
        self._is_sent_on = self._last_is_sent()
        batch: list[Sale] = []
        size = 0
        for one in waiting[:1] if self._is_sent_on else waiting:
            size += len(one.body)
            if batch and size > _BYTES:
                break
            batch.append(one)
        items = [self._item(one) for one in batch]
        said = self._call(lambda: self._api.post("/invoices/batch", {"items": items}))["items"]
        self._together = min(_TOGETHER, 2 * self._together)
        taken = True
        for one, answer in zip(batch, said, strict=True):
            status = int(answer["statusCode"])
            if status >= 500 or status in _PASSING:
                taken = False
                break  # the next ones come after it, too
            with self._store.transaction():
                if status >= 400:
                    self._store.move(one, "refused", answer=answer)
                elif answer.get("bodyMatched") is False:
                    text = refusals.CONFLICT.fill(e_ncf=one.e_ncf)
                    self._store.move(one, "refused", answer={"message": text.en, "messageEs": text.es})
                else:
                    self._store.move(one, "handed over", tax_log_id=answer["taxLogId"])
        return taken

    def _item(self, one: Sale) -> dict[str, Any]:
        request_id = f"agent-{self._store.fact('agent')}-{one.e_ncf}"
        if one.is_signed:
            return {"format": "xml", "xml": one.body.decode(), "keepSignature": True, "clientRequestId": request_id}
        return {"format": "structured", "payload": parse_json(one.body), "clientRequestId": request_id}

    def _last_is_sent(self) -> bool:
        """Wait until the receipt handed over last has reached the authority; return whether it has."""
        last = self._store.last_handed_over()
        if last is None:
            return True
        ends, pause = time.monotonic() + _SENT_WITHIN, _FIRST_PAUSE
        while True:
            record = self._ask(last)
            if record.get("status") in FINAL or record.get("facts", {}).get("sentAt") is not None:
                return True
            if self.hosts_down or not self._is_sent_on or time.monotonic() > ends:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _look(self) -> bool:
        found = self._store.in_state("handed over", _LOOKS, oldest_look=True)
        ended = [self._ask(one).get("status") in FINAL for one in found]
        return any(ended)

    def _ask(self, one: Sale) -> dict[str, Any]:
        """Ask the service for a receipt, and keep its signature and verdict."""
        record = self._call(partial(self._api.get, f"/invoices/{one.tax_log_id}"))
        xml = None
        if not one.is_signed and record.get("securityCode"):
            xml = self._call(partial(self._api.get, f"/invoices/{one.tax_log_id}/xml"))["xml"]
        with self._store.transaction():
            if xml is not None:
                self._store.keep_signature(one, xml.encode(), record["securityCode"], record.get("qrCodeUrl"))
            if (status := record.get("status")) in FINAL:
                accepted = status in (Status.ACCEPTED, Status.CONDITIONAL)
                self._store.move(one, "done" if accepted else "rejected", answer=record)
            else:
                self._store.looked(one, self._clock().isoformat())
        return record
