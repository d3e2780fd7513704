"""Check several packages as a chain: one tenant, no gap, each manifest over the one before, each receipt once."""

from dataclasses import dataclass, field

from .faults import FaultCode, PackageFault
from .manifest import KINDS, Manifest
from .package import Report


@dataclass
class ChainCheck:
    """Takes the reports of packages in the order of their sequence numbers."""

    first: "Manifest | None" = None
    last: "Manifest | None" = None
    _digest: str = ""
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def add(self, report: Report) -> None:
        """Note in the report how its package does not fit the ones before."""
        manifest = report.manifest
        if manifest is None:
            return
        if self.first is None:
            self.first = manifest
        if (manifest.tenant, manifest.environment) != (self.first.tenant, self.first.environment):
            report.add(FaultCode.TENANT, "", f"{manifest.environment} {manifest.tenant}")
            return
        if self.last is not None:
            if manifest.sequence != self.last.sequence + 1 or manifest.day < self.last.day:
                report.add(FaultCode.SEQUENCE, "", f"{self.last.sequence} {manifest.sequence}")
            elif manifest.previous != self._digest:
                report.add(FaultCode.PREVIOUS, "", f"{self.last.sequence} {manifest.sequence}")
        is_whole = self.first.sequence == 1
        for entry in manifest.entries:
            place = KINDS.index(entry.kind), int(entry.id.replace("-", ""), 16)
            if entry.is_addition and is_whole and place not in self._seen:
                report.faults.append(
                    PackageFault(FaultCode.ADDITION, entry.folder, "its receipt is in no package before")
                )
            elif not entry.is_addition and place in self._seen:
                report.faults.append(PackageFault(FaultCode.TWICE, entry.folder, "it is in an earlier package, too"))
            if not entry.is_addition:
                self._seen.add(place)
        self.last, self._digest = manifest, report.digest
