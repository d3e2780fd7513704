"""The other side of a receipt: its buyer receives it, is called, and approves; and both sides know the same."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import httpx
import trio

from fe.cli.failures import Failure
from fe.clock import system_clock
from fe.ecf.signature import BadSignature, verify
from fe.integrator.demo.client import Client, DemoOutcome
from fe.integrator.demo.documents import BUYER, BUYER_RNC, ISSUER, ISSUER_RNC
from fe.integrator.demo.show import Show
from fe.integrator.demo.tenant import ENVIRONMENT
from fe.integrator.stack import Stack
from fe.integrator.webhook.listener import ReceivedCall, listen
from fe.integrator.webhook.verify import check

#: How long each leg may take. They take well under a second.
_PATIENCE = 120.0


@dataclass
class BuyersSystem:
    """The buyer's own system; records webhook calls."""

    port: int = 0
    heard: list[ReceivedCall] = field(default_factory=list)
    something: trio.Event = field(default_factory=trio.Event)

    async def hear(self, received: ReceivedCall) -> int:
        """Note a call, and confirm it."""
        self.heard.append(received)
        self.something.set()
        return 200

    async def first(self) -> ReceivedCall:
        """Wait for the first call. Raises Failure when none comes."""
        with trio.move_on_after(_PATIENCE):
            await self.something.wait()
            return self.heard[0]
        raise Failure(f"the buyer's own system was not called within {_PATIENCE:g} s")


@asynccontextmanager
async def listening() -> AsyncIterator[BuyersSystem]:
    """Be the buyer's own system until the block ends."""
    system = BuyersSystem()
    async with trio.open_nursery() as nursery:
        system.port = await nursery.start(listen, system.hear, "127.0.0.1", 0)
        yield system
        nursery.cancel_scope.cancel()


async def enter_in_directory(stack: Stack) -> None:
    """Register both companies' reception addresses with the authority."""
    async with httpx.AsyncClient(trust_env=False, timeout=_PATIENCE) as http:
        for company, rnc in ((ISSUER, ISSUER_RNC), (BUYER, BUYER_RNC)):
            address = f"{stack.reception_url}/{ENVIRONMENT.value}/{rnc}"
            entry = {
                "rnc": rnc,
                "name": company["RazonSocialEmisor"],
                "receptionUrl": address,
                "approvalUrl": address,
            }
            answer = await http.post(f"{stack.authority['management']}/taxpayers", json=entry)
            answer.raise_for_status()


@dataclass(slots=True)
class RoundTrip:
    """A receipt that was accepted, followed to its buyer and back."""

    show: Show
    seller: Client
    buyer: Client
    system: BuyersSystem
    secret: str

    async def follow(self, outcome: DemoOutcome) -> list[str]:
        """Follow a receipt to the other side; return what is wrong."""
        tax_log_id, e_ncf = outcome.accepted["taxLogId"], outcome.record.get("eNCF")
        with self.show.step("It is sent on to its buyer, whose acknowledgement is kept"):
            sent = await self.seller.until(f"/invoices/{tax_log_id}", _is_delivered, patience=_PATIENCE)
        with self.show.step("The buyer's own system is called, and checks who is calling"):
            call = await self.system.first()
            wrong = self._check(call, e_ncf)
        event = json.loads(call.body)["receivedEcf"]
        with self.show.step("The buyer approves"):
            await self.buyer.send("POST", f"/received/{event['id']}/approve", {})
        with self.show.step("Its approval reaches the authority, and the seller"):
            received = await self.buyer.until(f"/received/{event['id']}", _is_settled, patience=_PATIENCE)
            issued = await self.seller.until(f"/invoices/{tax_log_id}", _is_approved, patience=_PATIENCE)
        theirs = await self.buyer.get(f"/received/{event['id']}/xml")
        ours = await self.seller.xml(tax_log_id)
        if theirs["xml"] != ours:
            wrong.append("the buyer has other bytes than the seller signed")
        self.show.line()
        self.show.both_sides(
            ("Comercial Río Ozama issued", "Hotel Brisas del Yaque received"),
            [
                ("number", str(issued.get("eNCF")), received["encf"]),
                ("sha256 of the document", _digest(ours), _digest(theirs["xml"])),
                ("acknowledgement", sent["receiver"]["state"], f"Estado {_state(theirs['acknowledgement'])}"),
                ("webhook", "-", f"{call.headers['x-service-event']}, signature valid" if not wrong else wrong[0]),
                ("approvalStatus", issued["approvalStatus"], received["approvalStatus"]),
                ("authority, of the approval", "-", received["approval"]["authority"]["status"]),
            ],
        )
        return wrong

    def _check(self, call: ReceivedCall, e_ncf: str | None) -> list[str]:
        """As a consumer should: the signature over the raw body, then the document's own."""
        checked = check(self.secret, call.headers, call.body, system_clock())
        wrong = [] if checked.plain is None and checked.standard is None else [f"webhook: {checked.words}"]
        body: dict[str, Any] = json.loads(call.body)
        try:
            found = verify(body["xml"].encode()).root.findtext("Encabezado/IdDoc/eNCF")
        except BadSignature as bad:
            return [*wrong, f"the document in the webhook does not verify: {bad}"]
        if found != e_ncf or body["receivedEcf"]["encf"] != e_ncf:
            wrong.append(f"the webhook tells of {found}, not {e_ncf}")
        return wrong


def _is_delivered(submission: dict[str, Any]) -> bool:
    return bool(submission.get("receiver", {}).get("state") == "delivered")


def _is_settled(received: dict[str, Any]) -> bool:
    return bool(received.get("approval", {}).get("issuer", {}).get("state") == "delivered")


def _is_approved(submission: dict[str, Any]) -> bool:
    return submission.get("approvalStatus") is not None


def _digest(xml: str) -> str:
    return sha256(xml.encode()).hexdigest()[:16]


def _state(acknowledgement: str) -> str:
    return verify(acknowledgement.encode()).root.findtext("DetalleAcusedeRecibo/Estado") or "-"
