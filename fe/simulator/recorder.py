"""Record of deliveries to the simulated counterparty."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fe.ecf.catalogue import Environment


@dataclass(frozen=True, slots=True)
class RecordedDelivery:
    """A document that the counterparty received, and its answer."""

    at: datetime
    environment: Environment
    root: str
    issuer: str
    e_ncf: str
    digest: str
    estado: str
    answer: bytes

    def to_record(self) -> dict[str, Any]:
        """Show it as the management port does."""
        return {
            "at": self.at.isoformat(),
            "environment": self.environment,
            "root": self.root,
            "issuer": self.issuer,
            "eNCF": self.e_ncf,
            "sha256": self.digest,
            "estado": self.estado,
        }
