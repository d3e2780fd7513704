"""The clients: programs of several tenants that do what the interface tells them to, and write down what they saw.

They repeat what they do not know the outcome of, with the same clientRequestId; they sometimes say the same thing twice
at once, and sometimes leave in the middle of a call.
"""

import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import trio

from fe.ecf.dates import local
from fe.identifiers import ApiKeyId, TenantId
from fe.lifecycle import FINAL, Status
from tests.faults.documents import Paper, Papers
from tests.faults.history import Call, ClientJournal, Outcome
from tests.faults.modes import PAPERS

_FINAL = frozenset(status.value for status in FINAL)
#: How long a client waits for an answer; and once the faults are over. Clients that give up and repeat would keep a
#: slow machine busy with calls whose answers nothing reads.
CALL_SECONDS, CALM_SECONDS = 6.0, 60.0
#: The login throttle takes 5 attempts a minute for each key: this is how long a key rests after one.
_KEY_RESTS = 15.0

#: One in four comes with an address for the mail.
_MAILED = 4
#: Shares of the submissions.
_TWINS, _LEAVES, _UNNAMED = 0.08, 0.05, 0.06


@dataclass(frozen=True)
class Key:
    api_key_id: ApiKeyId
    secret: str


@dataclass
class Account:
    """A tenant as its programs know it: several keys, because one may not log in as often as a broken day asks for."""

    tenant_id: TenantId
    environment: str
    keys: list[Key]
    #: The clients' address, as the proxy in front of the service tells it.
    address: str
    _rested_at: dict[str, float] = field(default_factory=dict)

    def free_key(self) -> Key | None:
        """A key that may log in now; it rests from now on."""
        now = trio.current_time()
        for key in self.keys:
            if self._rested_at.get(key.api_key_id, 0.0) <= now:
                self._rested_at[key.api_key_id] = now + _KEY_RESTS
                return key
        return None


@dataclass
class Door:
    """One HTTP process of the service, as a client reaches it."""

    base_url: str
    client: httpx.AsyncClient
    #: Token by tenant: each process has its own idea of the time, so each gets a token of its own.
    tokens: dict[int, str] = field(default_factory=dict)
    logging_in: trio.Lock = field(default_factory=trio.Lock)


class Clients:
    """All clients of a run."""

    def __init__(
        self, accounts: list[Account], doors: list[Door], journal: ClientJournal, issuers: Mapping[int, Any], seed: int
    ) -> None:
        self._accounts = accounts
        self.doors = doors
        self.journal = journal
        self._random = random.Random(f"{seed}/clients")
        self._papers = {
            account.tenant_id: Papers(issuers[account.tenant_id], random.Random(f"{seed}/papers/{number}"))
            for number, account in enumerate(accounts)
        }
        self._started = trio.current_time()
        self._stop = trio.Event()
        self._numbers = 0
        self.in_flight = 0
        self.patience = CALL_SECONDS

    async def run(self, per_second: float, limit: int) -> None:
        """Hand papers in at about this rate, at most `limit` in flight, until `stop`; then end what was begun."""
        async with trio.open_nursery() as nursery:
            while not self._stop.is_set():
                if self.in_flight < limit:
                    self._numbers += 1
                    account = self._random.choice(self._accounts)
                    paper = self._papers[account.tenant_id].next()
                    one = _Errand(self, account, paper, self._numbers, random.Random(self._random.getrandbits(64)))
                    nursery.start_soon(self._carry, one)
                with trio.move_on_after(self._random.expovariate(per_second)):
                    await self._stop.wait()

    async def _carry(self, errand: "_Errand") -> None:
        self.in_flight += 1
        try:
            await errand.run()
        finally:
            self.in_flight -= 1

    def stop(self) -> None:
        """Begin nothing new."""
        self._stop.set()

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return trio.current_time() - self._started

    async def use(self, account: Account, key: Key, every: float) -> None:
        """Go on using one key, whatever is answered, until cancelled: it will be revoked."""
        alone = Account(account.tenant_id, account.environment, [key], account.address)
        doors = [Door(door.base_url, door.client) for door in self.doors]
        for door in doors:
            await self.log_in(alone, door, key)
        while True:
            door = self._random.choice(doors)
            if account.tenant_id in door.tokens:
                call = await self.call(alone, door, "use", "GET", "/invoices/none", {}, key=key.api_key_id)
                self.journal.add(call)
            elif any(account.tenant_id in other.tokens for other in doors):
                door.tokens = next(other.tokens for other in doors if other.tokens)
            await trio.sleep(every)

    async def replace_papers(self, account: Account) -> None:
        """Enter paper receipts and have them replaced, again and again and twice at once, until `stop`."""
        day = local(datetime.now(UTC) - timedelta(hours=1)).date().isoformat()
        papers = self._papers[account.tenant_id]
        open_ = {f"B01{number:08d}": papers.on_paper() for number in range(1, PAPERS + 1)}
        while not self._stop.is_set():
            receipts = [{"ncf": ncf, "issuedOn": day, "payload": payload} for ncf, payload in open_.items()]
            if receipts and await self._of_paper(account, "enter", "/paper-receipts", {"receipts": receipts}):
                open_.clear()
            again: dict[str, Any] = {"ncfs": [f"B01{self._random.randint(1, PAPERS):08d}"]}
            async with trio.open_nursery() as twins:
                for _ in range(self._random.choice([1, 2])):
                    twins.start_soon(self._of_paper, account, "replace", "/paper-receipts/replacements", again)
            with trio.move_on_after(self._random.uniform(0.1, 1.0)):
                await self._stop.wait()

    async def _of_paper(self, account: Account, op: str, path: str, body: Mapping[str, Any]) -> bool:
        call = await self.call(account, self._random.choice(self.doors), op, "POST", path, {"json": body})
        self.journal.add(call)
        return call.outcome is Outcome.OK

    async def log_in(self, account: Account, door: Door, key: Key) -> None:
        """Get a token from this process; without success, there is none, and the next call tries again."""
        with suppress(httpx.HTTPError):
            answer = await door.client.post(
                f"{door.base_url}/login",
                json={"apiKeyId": key.api_key_id, "apiSecret": key.secret},
                headers={"X-Forwarded-For": account.address},
                timeout=self.patience,
            )
            if answer.status_code == 200:
                door.tokens[account.tenant_id] = answer.json()["accessToken"]

    async def call(
        self, account: Account, door: Door, op: str, method: str, path: str, more: Mapping[str, Any], **known: Any
    ) -> Call:
        """Make one call and say what is known after it."""
        if op != "use":
            async with door.logging_in:
                if account.tenant_id not in door.tokens and (free := account.free_key()) is not None:
                    await self.log_in(account, door, free)
        token = door.tokens.get(account.tenant_id, "none")
        started = self.now
        http: int | None = None
        told: dict[str, Any] = {}
        outcome = Outcome.UNKNOWN
        try:
            answer = await door.client.request(
                method,
                f"{door.base_url}{path}",
                headers={"Authorization": f"Bearer {token}", "X-Forwarded-For": account.address},
                timeout=self.patience,
                **more,
            )
            http = answer.status_code
            if http < 300:
                told, outcome = answer.json(), Outcome.OK
            elif http < 500:
                outcome = Outcome.FAIL
            if http == 401 and op != "use" and door.tokens.get(account.tenant_id) == token:
                del door.tokens[account.tenant_id]
        except httpx.ConnectError:
            outcome = Outcome.FAIL
        except httpx.HTTPError:
            pass  # a reset, a timeout or half an answer: the outcome is unknown
        asked_for = known.pop("tax_log_id", None)
        inner = told.get("response") or {}
        return Call(
            started=round(started, 4),
            ended=round(self.now, 4),
            op=op,
            tenant_id=account.tenant_id,
            environment=account.environment,
            outcome=outcome,
            http=http,
            tax_log_id=told.get("taxLogId") or asked_for,
            status=told.get("status"),
            inner=inner.get("status"),
            e_ncf=told.get("eNCF"),
            **known,
        )


@dataclass
class _Errand:
    """One paper, from handing it in to its end."""

    clients: Clients
    account: Account
    paper: Paper
    number: int
    random: random.Random

    async def run(self) -> None:
        named = self.random.random() >= _UNNAMED
        request_id = f"r-{self.number}" if named else None
        if named and self.random.random() < _TWINS:
            async with trio.open_nursery() as twins:
                twins.start_soon(self._submit, request_id)
                twins.start_soon(self._submit, request_id)
            tax_log_id = await self._submit(request_id)
        else:
            tax_log_id = await self._submit(request_id)
        if tax_log_id is not None:
            await self._follow(tax_log_id)

    async def _submit(self, request_id: str | None) -> str | None:
        """Hand it in until there is an answer; without a name for it, once only, for a second try might double it."""
        body = dict(self.paper.body)
        if self.number % _MAILED == 0:
            body["notify"] = f"r-{self.number}@buyers.example"
        if request_id is not None:
            body["clientRequestId"] = request_id
        leaves = request_id is not None and self.random.random() < _LEAVES
        while True:
            seconds = self.random.uniform(0.002, 0.05) if leaves else self.clients.patience
            with trio.move_on_after(seconds) as patience:
                call = await self._post(body, request_id)
            if patience.cancelled_caught:
                call = self._left(request_id)
            leaves = False
            self.clients.journal.add(call)
            if call.outcome is Outcome.OK:
                return call.tax_log_id
            if call.http in (400, 413) or (call.outcome is Outcome.UNKNOWN and request_id is None):
                return None
            await trio.sleep(self.random.uniform(0.2, 0.8))

    async def _post(self, body: dict[str, Any], request_id: str | None) -> Call:
        door = self.random.choice(self.clients.doors)
        return await self.clients.call(
            self.account,
            door,
            "submit",
            "POST",
            "/invoices",
            {"json": body},
            request_id=request_id,
            kind=self.paper.kind,
        )

    def _left(self, request_id: str | None) -> Call:
        now = round(self.clients.now, 4)
        return Call(
            started=now,
            ended=now,
            op="submit",
            tenant_id=self.account.tenant_id,
            environment=self.account.environment,
            outcome=Outcome.UNKNOWN,
            request_id=request_id,
            kind=self.paper.kind,
        )

    async def _follow(self, tax_log_id: str) -> None:
        """Ask until it has come to its end, or is a dead letter."""
        gap = 0.3
        while True:
            await trio.sleep(gap * self.random.uniform(0.7, 1.3))
            door = self.random.choice(self.clients.doors)
            call: Call | None = None
            with trio.move_on_after(self.clients.patience):
                call = await self.clients.call(
                    self.account, door, "ask", "GET", f"/invoices/{tax_log_id}", {}, tax_log_id=tax_log_id
                )
            if call is None:
                continue
            self.clients.journal.add(call)
            if call.outcome is Outcome.OK and (call.status in _FINAL or call.inner == "dead_letter"):
                return
            gap = min(gap * 1.4, 2.0) if call.status != Status.QUEUED else min(gap * 1.2, 1.5)
