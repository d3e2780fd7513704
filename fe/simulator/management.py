"""The management port: what the simulator has seen, what it is to believe, and what is to go wrong. JSON throughout."""

import json
from collections.abc import Awaitable, Callable, Mapping
from itertools import islice
from typing import Any

from fe.certification.reception_samples import ApprovedReceipt
from fe.ecf.catalogue import Environment
from fe.ecf.dates import read_day
from fe.ecf.identity import e_ncf
from fe.ecf.parse import MalformedJson, parse_json
from fe.simulator.certification import counters, upload
from fe.simulator.connection import FaultyConnection
from fe.simulator.exchange import RawAnswer, RawRequest
from fe.simulator.faults import FaultWindow, Script
from fe.simulator.fields import BadRecord, Fields
from fe.simulator.injected_faults import read_order, show_plan, show_script, show_window
from fe.simulator.reception import Refusal
from fe.simulator.registry import KINDS
from fe.simulator.replies import JSON
from fe.simulator.state import AuthorityState

_MAX_RECORDS = 10_000


class Wrong(ValueError):
    """A management request that cannot be done; `status` is the answer's."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Management:
    """The management port."""

    def __init__(self, state: AuthorityState) -> None:
        self._state = state
        self._supplier = state.supplier
        self._routes: dict[tuple[str, str], Callable[[RawRequest], Any]] = {
            ("GET", ""): self._index,
            ("GET", "healthz"): lambda _: {"status": "ok"},
            ("GET", "journal"): self._journal,
            ("GET", "stats"): self._stats,
            ("GET", "faults"): lambda _: self._show_faults(),
            ("POST", "faults"): self._order_fault,
            ("DELETE", "faults"): self._clear_faults,
            ("POST", "reset"): self._reset,
            ("GET", "counterparty"): lambda _: {"heard": [each.to_record() for each in state.deliveries]},
            ("GET", "certification"): self._certification,
            ("POST", "certification"): self._upload,
            ("GET", "supplier"): lambda _: self._supplier.describe(),
            **{("POST", path): self._registering(kind) for kind, path in KINDS.items()},
        }
        #: Operations that wait for another server's answer.
        self._waiting_routes: dict[tuple[str, str], Callable[[RawRequest], Awaitable[Any]]] = {
            ("POST", "supplier"): lambda request: self._supplier.send(_object(request)),
            ("POST", "approval"): self._approve,
        }

    async def __call__(self, request: RawRequest, _: FaultyConnection) -> RawAnswer:
        """Answer one request; errors are `{message, statusCode}`."""
        try:
            waiting = self._waiting_routes.get((request.method, request.path.strip("/")))
            status, content = 200, self._do(request) if waiting is None else await waiting(request)
        except Wrong as wrong:
            status, content = wrong.status, {"message": str(wrong), "statusCode": wrong.status}
        except (BadRecord, MalformedJson) as wrong:
            status, content = 400, {"message": str(wrong), "statusCode": 400}
        return RawAnswer(status, json.dumps(content, ensure_ascii=False).encode(), JSON)

    def _do(self, request: RawRequest) -> Any:
        if request.too_large:
            raise Wrong("the body is too large", 413)
        path = request.path.strip("/")
        route = self._routes.get((request.method, path))
        if route is not None:
            return route(request)
        if request.method == "GET" and path.startswith("documents/"):
            return self._documents(path)
        if any(path == known for _, known in self._every_route()):
            raise Wrong(f"{request.method} is not for /{path}", 405)
        raise Wrong(f"there is nothing at /{path}; see GET /", 404)

    def _every_route(self) -> list[tuple[str, str]]:
        return [*self._routes, *self._waiting_routes]

    def _index(self, _: RawRequest) -> Any:
        return {
            "what": "a simulator of the tax authority; not the tax authority",
            "routes": [f"{method} /{path}" for method, path in sorted(self._every_route(), key=lambda r: r[::-1])]
            + ["GET /documents/{environment}/{issuer}/{eNCF}"],
        }

    # --- What happened ---

    def _journal(self, request: RawRequest) -> Any:
        """Records after `since`, filtered by any of their fields; ask again from `next` for more."""
        wanted = dict(request.query)
        since = _number(wanted.pop("since", "0"), "since")
        limit = min(_number(wanted.pop("limit", str(_MAX_RECORDS)), "limit"), _MAX_RECORDS)
        chosen = (
            record
            for record in self._state.journal.records()
            if record["seq"] > since
            and record["kind"] != "opened"  # it holds the secret behind the tokens
            and all(_says(record, name, value) for name, value in wanted.items())
        )
        records = list(islice(chosen, limit))
        return {"records": records, "next": records[-1]["seq"] if records else since}

    def _documents(self, path: str) -> Any:
        parts = path.split("/")[1:]
        number = e_ncf(parts[-1].upper())
        if len(parts) != 3 or number is None or parts[0].lower() not in list(Environment):
            raise Wrong("give /documents/{environment}/{issuer}/{eNCF}", 404)
        environment, issuer = Environment(parts[0].lower()), parts[1]
        ledger = self._state.ledger
        filed = ledger.of_number(environment, issuer, str(number))
        return {
            "environment": environment,
            "issuer": issuer,
            "eNCF": str(number),
            "used": ledger.is_used(environment, issuer, str(number)),
            "voided": ledger.is_void(environment, issuer, number.type, number.number),
            "distinctBytes": len({document.sha256 for document in filed}),
            "documents": [document.to_record() for document in filed],
        }

    def _stats(self, _: RawRequest) -> Any:
        state = self._state
        requests: dict[str, dict[str, int]] = {}
        for (operation, status), count in sorted(state.requests.items()):
            requests.setdefault(operation, {})[status] = count
        verdicts: dict[str, dict[str, int]] = {}
        for filed in state.ledger:
            counts = verdicts.setdefault(filed.environment, {})
            counts[filed.verdict.estado] = counts.get(filed.verdict.estado, 0) + 1
        return {
            "startedAt": state.started_at.isoformat(),
            "requests": requests,
            "verdicts": verdicts,
            "faults": dict(sorted(state.faults.applied.items())),
        }

    def _certification(self, request: RawRequest) -> Any:
        """The counters of an issuer in the certification environment, `?issuer=`."""
        state = self._state
        if not (issuer := request.query.get("issuer", "").strip()):
            raise Wrong("name the issuer: ?issuer=RNC")
        return counters(state.ledger, issuer, state.now(), state.settings.certification_lag)

    def _upload(self, request: RawRequest) -> Any:
        """A full invoice below the threshold, its XML as the body: what a person uploads in the portal."""
        try:
            issuer, number = upload(self._state, request.body)
        except Refusal as refused:
            raise Wrong(refused.text) from None
        return {"issuer": issuer, "eNCF": number}

    # --- What other taxpayers do ---

    async def _approve(self, request: RawRequest) -> Any:
        """Send the buyer's word on an accepted e-CF to its issuer at `url`: with a `reason` a rejection."""
        order = Fields(_object(request))
        environment = order.environment("environment")
        issuer, number = order.rnc("issuer"), order.text("eNCF").upper()
        url, reason = order.text("url"), order.text("reason", default="")
        order.done()
        if environment is None:
            raise Wrong("name the environment of the e-CF")
        filed = self._state.ledger.accepted(environment, issuer, number)
        day = None if filed is None else read_day(filed.facts.issued_on or "")
        if filed is None or day is None or not (filed.facts.buyer and filed.facts.total):
            raise Wrong("there is no accepted e-CF of this number with a buyer", 404)
        receipt = ApprovedReceipt(number, filed.facts.buyer, day, filed.facts.total)
        return await self._supplier.approve(url, receipt, issuer, reason or None)

    # --- What is to go wrong ---

    def _show_faults(self) -> Any:
        faults = self._state.faults
        return {
            "plan": faults.plan and show_plan(faults.plan),
            "scripts": [show_script(script) for script in faults.scripts],
            "windows": [show_window(window) for window in faults.windows],
        }

    def _order_fault(self, request: RawRequest) -> Any:
        faults = self._state.faults
        match read_order(_object(request), self._state.now()):
            case Script() as script:
                faults.order(script)
                return show_script(script)
            case FaultWindow() as window:
                faults.windows.append(window)
            case plan:
                faults.plan = plan
        return self._show_faults()

    def _clear_faults(self, _: RawRequest) -> Any:
        self._state.faults.clear()
        return self._show_faults()

    # --- What to believe ---

    def _registering(self, kind: str) -> Callable[[RawRequest], Any]:
        def register(request: RawRequest) -> Any:
            record = _object(request)
            self._state.register(kind, record)
            return {kind: record}

        return register

    def _reset(self, _: RawRequest) -> Any:
        self._state.reset()
        return {"status": "forgotten"}


def _object(request: RawRequest) -> dict[str, Any]:
    body = parse_json(request.body)
    if not isinstance(body, dict):
        raise Wrong("the body must be a JSON object")
    return body


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise Wrong(f"{name} must be a whole number")
    return int(text)


def _says(record: Mapping[str, Any], name: str, value: str) -> bool:
    """Whether a record has `value` in the field called `name` in any case; a fault goes by its kind."""
    for field, found in record.items():
        if field.lower() == name:
            shown = found["kind"] if field == "fault" and found else found
            return str(shown).lower() == value.lower()
    return False
