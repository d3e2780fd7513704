"""What the simulated counterparty was handed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fe.ecf.catalogue import Environment


@dataclass(frozen=True, slots=True)
class Heard:
    """Something that was handed to the counterparty, and what it answered."""

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
