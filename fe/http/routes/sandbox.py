"""The other side of a sandbox over HTTP: a supplier's receipt, a buyer's approval, an outage of the authority."""

import secrets
from datetime import timedelta

import structlog
import trio

from fe.archiving.documents import ReceiptDocuments
from fe.clock import iso
from fe.ecf.catalogue import Environment
from fe.ecf.parse import MalformedXml, parse_xml
from fe.http.calls import ApiReply, Call
from fe.http.errors import RETRY_WHEN_DOWN, ApiError
from fe.http.languages import serialize_problems
from fe.http.messages import say
from fe.http.models.sandbox import (
    SANDBOX_APPROVAL,
    SANDBOX_OUTAGE,
    SANDBOX_RECEIPT,
    SandboxApproval,
    SandboxApprovalRequest,
    SandboxOutage,
    SandboxOutageRequest,
    SandboxReceipt,
    SandboxReceiptRequest,
)
from fe.http.models.serializers import takes_approval
from fe.http.openapi.described_errors import errors
from fe.http.outage_header import OutageHeader
from fe.http.paging import read_in_turn
from fe.http.parameters import read_track_or_id
from fe.http.request_bodies import read_body
from fe.http.routes.types import About, Route
from fe.http.simulator import ReceptionAnswer, Simulator, SimulatorAway, SimulatorRefused
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit, DocumentQuota
from fe.receiving.assess import AckReason
from fe.store.postgres.db import Database
from fe.store.records import counterparty, received, sandbox_outages, submissions, tenants
from fe.store.records.received import ReceivedFilter

_BODY = 4 * 1024
_NUMBERS = 10**10

_log = structlog.get_logger(__name__)


class SandboxHandlers:
    """The handlers of /sandbox.

    `simulator` None: no supplier and no buyer here. `outages` None: the authority is real. `webhook_calls` counts
    outages, too: the tenant's webhook is told of each.
    """

    def __init__(
        self,
        db: Database,
        lists: ConcurrencyLimit[TenantId],
        documents: ReceiptDocuments,
        simulator: Simulator | None,
        outages: OutageHeader | None,
        webhook_calls: DocumentQuota,
    ) -> None:
        self._db = db
        self._lists = lists
        self._documents = documents
        self._simulator = simulator
        self._outages = outages
        self._webhook_calls = webhook_calls

    async def play_outage(self, call: Call) -> ApiReply:
        """Have the authority be away for the caller's company for some seconds. Repeating it moves the end."""
        caller = call.identity
        if self._outages is None or caller.environment is Environment.ECF:
            raise ApiError(409, say("nobody-plays"))
        body = read_body(SandboxOutageRequest, await call.body())
        call.limit_by(self._webhook_calls.take(caller.tenant_id, 0, trio.current_time()))
        played = await self._db.transact_for(
            caller.tenant_id,
            sandbox_outages.play,
            caller.tenant_id,
            caller.environment,
            timedelta(seconds=body.seconds),
        )
        await self._outages.look()
        shown: SandboxOutage = {
            "environment": caller.environment,
            "since": iso(played.began_at),
            "until": iso(played.ends_at),
        }
        if body.ignored:
            shown["warnings"] = serialize_problems(body.ignored, call.language)
        return ApiReply(200, SANDBOX_OUTAGE.write(shown))

    async def send_receipt(self, call: Call) -> ApiReply:
        """Have the simulated supplier send a receipt to the caller's company; 409 where it is not received."""
        simulator, caller = self._of(call), call.identity
        body = read_body(SandboxReceiptRequest, await call.body() or b"{}")
        tenant = await self._db.run_for(caller.tenant_id, tenants.by_id)
        assert tenant is not None
        number = body.eNCF or f"E31{secrets.randbelow(_NUMBERS - 1) + 1:010}"
        try:
            issuer, answer = await simulator.send_receipt(caller.environment, tenant.issuer["RNCEmisor"], number)
        except SimulatorAway as away:
            raise _away(away) from None
        _require_taken(answer)
        found = await read_in_turn(
            self._db,
            self._lists,
            caller.tenant_id,
            received.listed,
            ReceivedFilter(environment=caller.environment, e_ncf=number, issuer_rnc=issuer),
            limit=1,
        )
        if not found:  # the simulator reaches another reception than ours, or something before it
            raise _away(SimulatorAway("the acknowledged receipt is not among the received ones"))
        shown: SandboxReceipt = {"receivedId": str(found[0].received_id), "rncEmisor": issuer, "eNCF": number}
        if body.ignored:
            shown["warnings"] = serialize_problems(body.ignored, call.language)
        return ApiReply(200, SANDBOX_RECEIPT.write(shown))

    async def send_approval(self, call: Call) -> ApiReply:
        """Have the buyer of an accepted receipt approve or reject it. Saying the same again changes nothing."""
        simulator, caller = self._of(call), call.identity
        body = read_body(SandboxApprovalRequest, await call.body())
        wanted = read_track_or_id(body.taxLogId)
        record = None if wanted is None else await self._db.run_for(caller.tenant_id, submissions.find, wanted)
        if record is None or record.environment is not caller.environment:
            raise ApiError(404, say("no-receipt"))
        if not takes_approval(record) or record.buyer_rnc is None or record.e_ncf is None:
            raise ApiError(409, say("takes-no-approval"))
        said = await self._db.run_for(caller.tenant_id, counterparty.other_side, record.submission_id)
        if said.approved is not None and said.approved != (body.decision == "approved"):
            raise ApiError(409, say("buyer-decided-otherwise"))
        document = await self._documents.xml(caller.tenant_id, record.submission_id)
        root = await trio.to_thread.run_sync(parse_xml, document.content, limiter=self._documents.threads)
        issuer = (root.findtext("Encabezado/Emisor/RNCEmisor") or "").strip()
        try:
            answer = await simulator.send_approval(caller.environment, issuer, record.e_ncf, body.reason)
        except SimulatorAway as away:
            raise _away(away) from None
        except SimulatorRefused:
            raise ApiError(409, say("takes-no-approval")) from None
        _require_open(answer)
        shown: SandboxApproval = {
            "taxLogId": str(record.submission_id),
            "eNCF": record.e_ncf,
            "decision": body.decision,
        }
        if body.ignored:
            shown["warnings"] = serialize_problems(body.ignored, call.language)
        return ApiReply(200, SANDBOX_APPROVAL.write(shown))

    def _of(self, call: Call) -> Simulator:
        """Return the simulator of a caller in a sandbox. Raises ApiError (409)."""
        if self._simulator is None or call.identity.environment is Environment.ECF:
            raise ApiError(409, say("nobody-plays"))
        return self._simulator


def _require_taken(answer: ReceptionAnswer) -> None:
    """Raise ApiError where the acknowledgement of a receipt does not say that it is received."""
    _require_open(answer)
    try:
        root = parse_xml(answer.body.encode())
    except MalformedXml as wrong:
        raise _away(SimulatorAway(f"the acknowledgement is no XML: {wrong}")) from None
    reason = root.findtext("DetalleAcusedeRecibo/CodigoMotivoNoRecibido")
    if reason == str(AckReason.DUPLICATE.value):
        raise ApiError(409, say("supplier-used-number"))
    if reason is not None:  # the simulator's certificate is not among FE_RECEPTION_ROOTS
        raise _away(SimulatorAway(f"the reception refused the simulator's receipt for reason {reason}"))


def _require_open(answer: ReceptionAnswer) -> None:
    """Raise ApiError where the reception did not take the document."""
    if answer.status == 404:
        raise ApiError(409, say("reception-closed"))
    if answer.status != 200:
        raise _away(SimulatorAway(f"the reception answered the simulator with {answer.status}: {answer.body[:200]}"))


def _away(away: SimulatorAway) -> ApiError:
    _log.warning("the simulator did not play another taxpayer", reason=str(away))
    return ApiError(503, say("simulator-away"), (("Retry-After", str(RETRY_WHEN_DOWN)),))


def sandbox_routes(prefix: str, sandbox: SandboxHandlers) -> tuple[Route, ...]:
    """Make the routes of {prefix}/sandbox."""
    group, note = "Sandbox", "Only in a sandbox whose authority is the simulator; not with a key for production."
    return (
        Route(
            "POST",
            f"{prefix}/sandbox/receipts",
            "invoices:write",
            sandbox.send_receipt,
            About(
                "sendSandboxReceipt",
                "Have a simulated supplier send you a receipt",
                group,
                {200: (SANDBOX_RECEIPT,)},
                SandboxReceiptRequest,
                errors=errors("bad-supplier-number", "nobody-plays", "reception-closed", "supplier-used-number"),
                needs_body=False,
                note=f"`GET /received` and the webhook then show it. {note}",
            ),
            _BODY,
        ),
        Route(
            "POST",
            f"{prefix}/sandbox/approvals",
            "invoices:write",
            sandbox.send_approval,
            About(
                "sendSandboxApproval",
                "Have the simulated buyer approve or reject a receipt of yours",
                group,
                {200: (SANDBOX_APPROVAL,)},
                SandboxApprovalRequest,
                errors=errors(
                    "bad-reason",
                    "no-receipt",
                    "nobody-plays",
                    "takes-no-approval",
                    "buyer-decided-otherwise",
                    "reception-closed",
                ),
                note=f"A buyer says it once: the contrary of what was said first is refused. {note}",
            ),
            _BODY,
        ),
        Route(
            "POST",
            f"{prefix}/sandbox/outages",
            "invoices:write",
            sandbox.play_outage,
            About(
                "playSandboxOutage",
                "Have the simulated authority be away for some seconds",
                group,
                {200: (SANDBOX_OUTAGE,)},
                SandboxOutageRequest,
                errors=errors("bad-outage", "nobody-plays"),
                note=f"For your company alone: nothing of it is sent until then, and others are not delayed. {note}",
            ),
            _BODY,
        ),
    )
