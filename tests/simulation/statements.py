"""Interpreter of the statements of fe.store, found by their text: an unknown statement is an error."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import md5
from typing import Any
from uuid import UUID

from fe.identifiers import TenantId, TrackId
from fe.lifecycle import Stage
from fe.queue.claims import divide
from fe.store.postgres import db
from fe.store.postgres.arrays import Array
from fe.store.queue import audit, circuits, claim, clock_set_back, outbox, pauses, signed_by, steps, workers
from fe.store.queue.outbox import OUTBOX
from fe.store.queue.tables import DueTenant
from fe.store.records import submissions
from tests.simulation.rows import Circuit, Due, Key, Tables
from tests.simulation.steps import OPEN, Steps, Values

#: The columns of what a step needs, by its stage; reconciling asks for itself.
_INPUTS = claim._GIVEN | {Stage.SIGN: claim._GIVEN[Stage.SIGN] + ", signatory"}

#: A statement that does nothing but call one of the functions of sql/.
_BATCH = re.compile(r"\s*SELECT ([a-z_]+)_batch\(\s*%\(tenants\)s")

#: Names of the values of a batch in one row, if they differ.
_SINGULAR = {
    "tenants": "tenant",
    "subjects": "subject",
    "epochs": "epoch",
    "environments": "environment",
    "afters": "after",
    "errors": "error",
    "reasons": "reason",
    "responses": "response",
    "fates": "fate",
    "statuses": "status",
    "track_ids": "track_id",
    "replies": "reply",
    "leases": "lease",
    "digests": "digest",
    "certificates": "certificate",
    "hosts": "host",
    "types": "type",
    "issuers": "issuer",
    "buyers": "buyer",
    "security_codes": "security_code",
    "signed_ats": "signed_at",
    "submissions": "submission",
    "ats": "at",
    "roots": "root",
    "e_ncfs": "e_ncf",
    "originals": "original",
    "client_requests": "client_request",
    "draws": "draw",
}
_ACCEPTED = ("outcome", "submission_id", "status", "e_ncf", "body_matched", "numbers_skipped", "numbers_left")
_CALL = re.compile(r"\s*SELECT (?:[a-z_*, ]+\s+FROM )?([a-z_]+)\(\s*%\(tenant\)s")


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a statement and the names of their columns; without columns, how many rows it touched."""

    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[Any, ...]] = ()
    touched: int = 0


class Statements:
    """Answers statements from tables in memory. `now` is the database's clock."""

    def __init__(self, tables: Tables, now: Callable[[], datetime], model: type[Steps] = Steps) -> None:
        self.tables = tables
        self.now = now
        self.steps = model(tables, now)
        self._known: dict[str, Callable[[Values], Answer]] = {
            OUTBOX._floors: self._floors,
            OUTBOX._due_tenants: self._due_tenants,
            OUTBOX._claim: self._claim,
            **{calling.statement: self._claim_together for calling in claim._CLAIM.values()},
            submissions._ACCEPT_MANY.statement: self._accept_many,
            outbox._OPEN_SENDS: self._open_sends,
            steps._OUTGOING_DOCUMENT: self._outgoing_document,
            steps._TRACK_FACTS: self._track_facts,
            steps._RECONCILE_FACTS: self._reconcile_facts,
            signed_by._SIGNER: self._signer,
            workers._SEEN: self._seen,
            workers._freeing(workers._SILENT, [OUTBOX]): self._rescue,
            workers._freeing(workers._LEAVING, [OUTBOX]): self._gone,
            circuits._ALL: self._circuits,
            circuits._OPEN: self._open_circuit,
            circuits._CLAIM_PROBE: self._claim_probe,
            circuits._CLOSE: self._close_circuit,
            circuits._PROBE_FAILED: self._probe_failed,
            audit._RECORD: self._record,
            pauses._PAUSE: self._pause,
            pauses._RESUME: self._resume,
            # One server without a standby, whose clock is never set back.
            db._CONFIRM: lambda _: Answer(("pg_logical_emit_message",), [("0/0",)]),
            clock_set_back._WORKERS: lambda _: Answer(),
            clock_set_back._SET_BACK_BY: lambda _: Answer(("set_back_by",), [(None,)]),
        }

    def answer(self, statement: str, values: Values) -> Answer:
        """Execute a statement. Raises KeyError for an unknown one."""
        values = {name: value.values if isinstance(value, Array) else value for name, value in values.items()}
        if statement in self._known:
            return self._known[statement](values)
        if batch := _BATCH.match(statement):
            return Answer((batch[1],), [(self._batch(batch[1], values),)])
        call = _CALL.match(statement)
        if call is None or not hasattr(self.steps, call[1]):
            raise KeyError(f"the simulation does not know the statement {statement}")
        result = getattr(self.steps, call[1])(values)
        if call[1] == "accept_submission":
            return Answer(_ACCEPTED, [result])
        return Answer((call[1],), [(result,)])

    def _batch(self, function: str, values: Values) -> list[Any]:
        """Row by row, as the set of them comes to the same: a batch has no two rows of one submission."""
        columns = {_SINGULAR.get(name, name): value for name, value in values.items()}
        said: list[Any] = []
        for n, subject in enumerate(values["subjects"]):
            row = {name: value[n] if isinstance(value, list | tuple) else value for name, value in columns.items()}
            answer = self.row(function, row)
            said.append((subject if answer else None) if isinstance(answer, bool) else answer)
        return said

    def row(self, function: str, values: Values) -> Any:
        """Do what a function does for one row of its batch."""
        return getattr(self.steps, function)(values)

    def told(self, by: str, statement: str, values: Values) -> Answer:
        """Answer a statement of the process `by`; subclasses record who sent it."""
        return self.answer(statement, values)

    # --- fe/store/records/submissions.py

    def _accept_many(self, values: Values) -> Answer:
        columns = {_SINGULAR.get(name, name): value for name, value in values.items()}
        told = list[tuple[Any, ...]]()
        for n in range(len(values["submissions"])):
            row = {name: value[n] if isinstance(value, list | tuple) else value for name, value in columns.items()}
            accepted = self.steps.accept_submission(row)
            held = self.tables.outbox[row["tenant"], row["submission"]].holder is not None
            told.append((*accepted, held, None))
        return Answer((*_ACCEPTED, "leased", "refusal"), told)

    # --- fe/store/queue/tables.py -------------------------------------------------------------------------------------

    def _of_lane(self, stage: str, environment: str, host: str, floor: datetime) -> list[Due]:
        lane = (stage, environment, host)
        return [
            row
            for row in self.tables.outbox.values()
            if (row.stage, row.environment, row.host) == lane and row.run_at >= floor
        ]

    def _floors(self, values: Values) -> Answer:
        slack, now = timedelta(seconds=15), self.now()
        lanes = list(zip(values["environments"], values["hosts"], strict=True))
        earliest = dict.fromkeys(lanes, now)
        for row in self.tables.outbox.values():
            if row.stage == values["stage"] and (row.environment, row.host) in earliest:
                lane = (row.environment, row.host)
                earliest[lane] = min(row.run_at, earliest[lane])
        return Answer(("environment", "host", "floor"), [(*lane, first - slack) for lane, first in earliest.items()])

    def _due_tenants(self, values: Values) -> Answer:
        found = list[tuple[str, str, int, int]]()
        lanes = (values[name] for name in ("environments", "hosts", "afters", "floors"))
        for environment, host, after, floor in zip(*lanes, strict=True):
            due = self._due_of_lane(values["stage"], environment, host, after, floor)
            found += [(environment, host, tenant, self.tables.weights[tenant]) for tenant in due[: values["limit"]]]
        return Answer(("environment", "host", "tenant_id", "weight"), found)

    def _due_of_lane(self, stage: str, environment: str, host: str, after: int, floor: datetime) -> list[TenantId]:
        """The tenants with work due, in their turn."""
        earliest: dict[TenantId, datetime] = {}
        for row in self._of_lane(stage, environment, host, floor):
            earliest[row.tenant_id] = min(row.run_at, earliest.get(row.tenant_id, row.run_at))
        due = [
            tenant
            for tenant, run_at in earliest.items()
            if run_at <= self.now() and not self._paused(tenant, environment)
        ]
        return sorted(due, key=lambda tenant: (tenant <= after, tenant))

    def _paused(self, tenant: TenantId, environment: str) -> bool:
        return any(
            (of_tenant, of_environment) in self.tables.pauses
            for of_tenant in (0, tenant)
            for of_environment in ("", environment)
        )

    def _claim(self, values: Values) -> Answer:
        now, claimed = self.now(), list[Due]()
        lane = self._of_lane(values["stage"], values["environment"], values["host"], values["floor"])
        due = sorted((row for row in lane if row.run_at <= now), key=lambda row: row.run_at)
        for tenant, share in zip(values["scope"], values["shares"], strict=True):
            claimed += [row for row in due if row.tenant_id == tenant][:share]
        for row in claimed:
            row.attempt += 1
            row.epoch += 1
            row.crash_count += row.holder is not None
            row.holder, row.run_at = values["holder"], now + values["lease"]
        columns = ("tenant_id", "subject", "attempt", "epoch", "deaths", "waited", "last_error")
        rows = [
            (row.tenant_id, row.subject, row.attempt, row.epoch, row.crash_count, now - row.entered_at, row.last_error)
            for row in claimed
        ]
        return Answer(columns, rows)

    def _claim_together(self, values: Values) -> Answer:
        lanes = (values[name] for name in ("environments", "hosts", "afters", "floors", "free", "left_to_others"))
        busy = Counter(zip(values["busy"], values["busy_in"], strict=True))
        many, found = 0, list[tuple[Any, ...]]()
        for number, (environment, host, after, since, room, left) in enumerate(zip(*lanes, strict=True), start=1):
            capacity = min(values["slots"] - many - left, room, values["max_rows"] - many)
            enough = min(values["scope"], max(capacity, 0) + busy.total() // values["max_per_tenant"] + 1)
            lane = {"stage": values["stage"], "environment": environment, "host": host}
            busy_in = f"{environment} {host}"
            due = self._due_of_lane(values["stage"], environment, host, after, since)[:enough]
            if not due:
                continue
            most = {tenant: values["max_per_tenant"] - busy[tenant, busy_in] for tenant in due}
            served = [tenant for tenant in due if most[tenant] > 0][: max(capacity, 0)]
            weights = [DueTenant(tenant, self.tables.weights[tenant]) for tenant in served]
            shares = [
                min(share, most[tenant])
                for tenant, share in zip(served, divide(weights, capacity) if served else (), strict=True)
            ]
            found.append((number, len(due), served, shares, *[None] * 7))
            terms = {name: values[name] for name in ("holder", "lease")}
            for row in self._claim({**lane, "floor": since, "scope": served, "shares": shares, **terms}).rows:
                found.append((number, None, None, None, *row))
                busy[row[0], busy_in] += 1
                many += 1
        rows = [(*row, *self._input(values["stage"], row[4], row[5])) for row in found]
        columns = f"lane, due, tenants, shares, {claim._OF_ANY}{_INPUTS[Stage(values['stage'])]}"
        return Answer(tuple(columns.replace("\n", "").replace(" ", "").split(",")), rows)

    def _input(self, stage: str, tenant: int | None, subject: UUID | None) -> tuple[Any, ...]:
        """Input of a claimed row; the stand-in for the signer needs none."""
        of = Stage(stage)
        ask = {Stage.SEND: self._outgoing_document, Stage.TRACK: self._track_facts}.get(of)
        found = ask({"tenant": tenant, "submission": subject}).rows if ask is not None and subject is not None else ()
        return found[0] if found else (None,) * _INPUTS[of].count(",")

    def _open_sends(self, values: Values) -> Answer:
        keys = zip(values["tenants"], values["subjects"], strict=True)
        open_ones = [n for n, key in enumerate(keys, 1) if any(x.outcome in OPEN for x in self.steps.sends_of(key))]
        return Answer(("n",), [(n,) for n in open_ones])

    # --- fe/store/queue/steps.py --------------------------------------------------------------------------------------

    def _outgoing_document(self, values: Values) -> Answer:
        key = (values["tenant"], values["submission"])
        row = self.tables.submissions[key]
        sent = self.tables.documents.get((*key, "sent"))
        content = self.tables.documents.get((*key, "signed")) if sent is None else sent
        columns = ("root", "e_ncf", "issuer_rnc", "buyer_rnc", "certificate_id", "is_summary", "content")
        if content is None:
            return Answer(columns)
        found = (row.root, row.e_ncf, row.issuer_rnc, row.buyer_rnc, row.certificate_id, sent is not None, content)
        return Answer(columns, [found])

    def _track_facts(self, values: Values) -> Answer:
        row = self.tables.submissions[values["tenant"], values["submission"]]
        columns = ("track_id", "e_ncf", "certificate_id", "maybe_adopted")
        return Answer(columns, [(row.track_id, row.e_ncf, row.certificate_id, row.number_fate == "unknown")])

    def _reconcile_facts(self, values: Values) -> Answer:
        key = (values["tenant"], values["submission"])
        row = self.tables.submissions[key]
        foreign = sorted(
            other.track_id
            for other in self.tables.submissions.values()
            if other.tenant_id == row.tenant_id
            and other.e_ncf == row.e_ncf
            and other is not row
            and row.e_ncf is not None
            and other.track_id is not None
        )
        columns = (
            "root",
            "ecf_type",
            "e_ncf",
            "issuer_rnc",
            "buyer_rnc",
            "certificate_id",
            "security_code",
            "track_id",
            "is_adopted",
            "is_summary",
            "sends",
            "all_sends",
            "foreign_track_ids",
        )
        found = (
            row.root,
            row.ecf_type,
            row.e_ncf,
            row.issuer_rnc,
            row.buyer_rnc,
            row.certificate_id,
            row.security_code,
            row.track_id,
            row.number_fate == "unknown" and self._was_adopted(key, row.track_id),
            row.root == "RFCE" or (*key, "sent") in self.tables.documents,
            self.steps.sends_since_replay(key, certain=False),
            sum(send.outcome != "not_sent" for send in self.steps.sends_of(key)),
            foreign,
        )
        return Answer(columns, [found])

    def _was_adopted(self, key: Key, track_id: TrackId | None) -> bool:
        return any(
            event.kind == "received"
            and event.detail["trackId"] == track_id
            and event.detail["reply"].get("adopted") is True
            for event in self.tables.events[key]
        )

    # --- fe/store/queue/signed_by.py ----------------------------------------------------------------------------------

    def _signer(self, values: Values) -> Answer:
        events = self.tables.events.get((values["tenant"], values["submission"]), [])
        found = [(event.detail.get("process"),) for event in events if event.kind == "signed"]
        return Answer(("?column?",), found)

    # --- fe/store/queue/workers.py, circuits.py -----------------------------------------------------------------------

    def _seen(self, values: Values) -> Answer:
        self.tables.workers[values["holder"]] = self.now()
        return Answer(touched=1)

    def _free(self, holders: Sequence[str], apart: timedelta) -> list[tuple[str]]:
        now, freed = self.now(), list[tuple[str]]()
        for row in self.tables.outbox.values():
            if row.holder in holders and row.run_at > now:
                own = int(md5(f"{row.subject}{row.epoch}".encode()).hexdigest()[:6], 16) % 60
                row.run_at = now + (apart * own / 60 if row.crash_count else timedelta(0))
                freed.append((row.stage,))
        return freed

    def _rescue(self, values: Values) -> Answer:
        before = self.now() - values["silence"]
        silent = [holder for holder, seen_at in self.tables.workers.items() if seen_at < before]
        for holder in silent:
            del self.tables.workers[holder]
        return Answer(("stage",), self._free(silent, values["apart"]))

    def _gone(self, values: Values) -> Answer:
        if self.tables.workers.pop(values["holder"], None) is None:
            return Answer(("stage",))
        return Answer(("stage",), self._free([values["holder"]], timedelta(0)))

    def _circuits(self, _: Values) -> Answer:
        now = self.now()
        return Answer(
            ("environment", "host", "is_open", "age", "reason", "probe_due", "failed_probes"),
            [
                (
                    c.environment,
                    c.host,
                    c.is_open,
                    now - c.since,
                    c.reason,
                    c.is_open and c.probe_at <= now,
                    c.failed_probes,
                )
                for c in self.tables.circuits.values()
            ],
        )

    def _open_circuit(self, values: Values) -> Answer:
        lane, now = (str(values["environment"]), str(values["host"])), self.now()
        known = self.tables.circuits.get(lane)
        if known is not None and known.is_open:
            return Answer()
        self.tables.circuits[lane] = Circuit(*lane, True, now, values["reason"], now + values["probe_in"], 0)
        return Answer(touched=1)

    def _an_open_one(self, values: Values) -> Circuit | None:
        circuit = self.tables.circuits.get((values["environment"], values["host"]))
        return circuit if circuit is not None and circuit.is_open else None

    def _claim_probe(self, values: Values) -> Answer:
        circuit = self._an_open_one(values)
        if circuit is None or circuit.probe_at > self.now():
            return Answer()
        circuit.probe_at = self.now() + values["hold"]
        return Answer(touched=1)

    def _close_circuit(self, values: Values) -> Answer:
        circuit = self._an_open_one(values)
        if circuit is None:
            return Answer()
        circuit.is_open, circuit.since, circuit.reason, circuit.failed_probes = False, self.now(), "", 0
        return Answer(touched=1)

    def _probe_failed(self, values: Values) -> Answer:
        circuit = self._an_open_one(values)
        if circuit is None:
            return Answer()
        circuit.failed_probes += 1
        circuit.probe_at, circuit.reason = self.now() + values["after"], values["reason"]
        return Answer(touched=1)

    # --- fe/store/queue/audit.py, pauses.py ---------------------------------------------------------------------------

    def _record(self, values: Values) -> Answer:
        self.tables.deeds.append((values["action"], values["reason"], values["tenant"], values["subject"]))
        return Answer(touched=1)

    def _pause(self, values: Values) -> Answer:
        which = (values["tenant"], values["environment"])
        if which in self.tables.pauses:
            return Answer()
        self.tables.pauses[which] = values["reason"]
        return Answer(touched=1)

    def _resume(self, values: Values) -> Answer:
        found = self.tables.pauses.pop((values["tenant"], values["environment"]), None)
        return Answer(touched=int(found is not None))
