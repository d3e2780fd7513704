"""Client of the simulator's management port: plays another taxpayer for a sandbox (docs/api/testing.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fe.config import Settings
from fe.ecf.catalogue import Environment
from fe.ecf.json_text import write_json
from fe.ecf.parse import MalformedJson, parse_json
from fe.egress.client import Egress, Request
from fe.egress.errors import EgressError
from fe.egress.target import CONFIGURED

#: The simulator answers with the document that it sent, in base64.
_KEEP = 256 * 1024


class SimulatorAway(Exception):
    """The simulator, or this reception as it sees it, does not answer; the message is for our log."""


class SimulatorRefused(Exception):
    """The simulator does not know the e-CF that a buyer is to approve."""


@dataclass(frozen=True, slots=True)
class ReceptionAnswer:
    """The answer of this reception to the simulator: an HTTP status, and an acknowledgement where it is 200."""

    status: int
    body: str


@dataclass(frozen=True, slots=True)
class Simulator:
    """The simulator at `url`, which reaches this reception at `reception`. One call sends one document."""

    url: str
    reception: str
    egress: Egress

    @classmethod
    def from_settings(cls, settings: Settings) -> "Simulator | None":
        """Return the simulator of the settings; None where they name none."""
        if not settings.simulator_url:
            return None
        return cls(settings.simulator_url.rstrip("/"), settings.reception_of_simulator(), Egress(CONFIGURED))

    async def send_receipt(self, environment: Environment, rnc: str, e_ncf: str) -> tuple[str, ReceptionAnswer]:
        """Have the supplier send a receipt of this number to `rnc`; return the supplier's RNC and the answer.

        Raises SimulatorAway.
        """
        supplier = await self._ask("GET", "supplier")
        order = {"url": self._address(environment, rnc), "rnc": rnc, "eNCF": e_ncf}
        return str(supplier["rnc"]), _answer(await self._ask("POST", "supplier", order))

    async def send_approval(
        self, environment: Environment, issuer: str, e_ncf: str, reason: str | None
    ) -> ReceptionAnswer:
        """Have the buyer of an accepted e-CF approve it, or reject it for a reason.

        Raises SimulatorAway and SimulatorRefused.
        """
        order = {
            "url": self._address(environment, issuer),
            "environment": environment.value,
            "issuer": issuer,
            "eNCF": e_ncf,
            **({} if reason is None else {"reason": reason}),
        }
        return _answer(await self._ask("POST", "approval", order))

    def _address(self, environment: Environment, rnc: str) -> str:
        return f"{self.reception}/{environment.value}/{rnc}"

    async def _ask(self, method: str, path: str, order: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        body = b"" if order is None else write_json(order)
        try:
            reply = await self.egress.exchange(Request(method, f"{self.url}/{path}", (), body), keep=_KEEP)
            said = parse_json(reply.body)
        except (EgressError, MalformedJson) as failed:
            raise SimulatorAway(str(failed)) from failed
        if reply.status == 404 and path == "approval":
            raise SimulatorRefused(str(said))
        if reply.status != 200 or not isinstance(said, dict):
            raise SimulatorAway(f"POST /{path} was answered with {reply.status}")
        return said


def _answer(said: Mapping[str, Any]) -> ReceptionAnswer:
    """Return the last answer of the reception. Raises SimulatorAway where there was none."""
    try:
        last = said["answers"][-1]
        answer = ReceptionAnswer(int(last["status"]), str(last["body"]))
    except (LookupError, TypeError, ValueError):
        raise SimulatorAway("the simulator gave no answer of the reception") from None
    if answer.status == 0:
        raise SimulatorAway(f"the simulator does not reach the reception: {answer.body}")
    return answer
