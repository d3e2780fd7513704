"""The authority's registries: taxpayers, authorised ranges, delegations, trusted certification bodies and revocations.

All of them may be empty, and an empty one is not enforced. Taxpayers, delegations and trust roots are enforced for all
as soon as there is one; ranges for an issuer in an environment as soon as it has one there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from cryptography import x509

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.parse import parse_json
from fe.simulator.fields import BadRecord, Fields


@dataclass(frozen=True, slots=True)
class Taxpayer:
    """An entry of the register of taxpayers, which is also their entry in the directory."""

    rnc: str
    name: str
    active: bool = True
    #: Whether it is an electronic issuer.
    electronic: bool = True
    reception_url: str = ""
    approval_url: str = ""
    optional_url: str = ""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers that an issuer may use: `first` to `last`, both included, until the end of the day `expires`."""

    issuer: str
    type: EcfType
    first: int
    last: int
    expires: date | None = None
    #: None authorises in every environment.
    environment: Environment | None = None


class Registry:
    """The register, filled from a file, from the management port and from the journal, all by `apply`."""

    def __init__(self) -> None:
        self.taxpayers: dict[str, Taxpayer] = {}
        self.ranges: dict[tuple[str, EcfType], list[Range]] = {}
        self.delegations: dict[str, set[str]] = {}
        self.roots: list[x509.Certificate] = []
        #: By the SHA-256 of a certificate: the moment from which its signatures are worth nothing.
        self.revocations: dict[str, datetime] = {}
        self._issuers_with_ranges: set[tuple[Environment | None, str]] = set()

    def apply(self, kind: str, record: Mapping[str, Any]) -> None:
        """Take in one record of a `kind` of KINDS; raises BadRecord."""
        fields = Fields(record)
        _READERS[kind](self, fields)

    def has_ranges(self, environment: Environment, issuer: str) -> bool:
        """Whether the numbers of `issuer` are enforced in `environment`."""
        return not self._issuers_with_ranges.isdisjoint({(environment, issuer), (None, issuer)})

    def range_of(self, environment: Environment, issuer: str, kind: EcfType, number: int) -> Range | None:
        """The authorised range that holds `number`."""
        for candidate in self.ranges.get((issuer, kind), ()):
            if candidate.environment in (None, environment) and candidate.first <= number <= candidate.last:
                return candidate
        return None

    def delegates(self, holder: str) -> set[str]:
        """The issuers that `holder` was delegated for. Means something only while there are `delegations`."""
        return self.delegations.get(holder, set())

    @property
    def trusted(self) -> list[x509.Certificate] | None:
        """The certificates a signer's must have been issued by; None when any issuer will do."""
        return self.roots or None

    def _add_taxpayer(self, fields: Fields) -> None:
        rnc = fields.rnc("rnc")
        self.taxpayers[rnc] = Taxpayer(
            rnc,
            fields.text("name", default=""),
            fields.flag("active"),
            fields.flag("electronic"),
            fields.text("receptionUrl", default=""),
            fields.text("approvalUrl", default=""),
            fields.text("optionalUrl", default=""),
        )
        fields.done()

    def _add_range(self, fields: Fields) -> None:
        added = Range(
            fields.rnc("issuer"),
            fields.ecf_type("type"),
            fields.integer("from", default=1),
            fields.integer("to", default=9_999_999_999),
            fields.day("expires"),
            fields.environment("environment"),
        )
        fields.done()
        if added.first > added.last:
            raise BadRecord("from is greater than to")
        # The newest comes first: a range given again, with another expiry say, replaces what it overlaps.
        self.ranges.setdefault((added.issuer, added.type), []).insert(0, added)
        self._issuers_with_ranges.add((added.environment, added.issuer))

    def _add_delegation(self, fields: Fields) -> None:
        holder, issuer = fields.text("holder"), fields.rnc("issuer")
        fields.done()
        self.delegations.setdefault(holder, set()).add(issuer)

    def _add_root(self, fields: Fields) -> None:
        pem = fields.text("pem")
        fields.done()
        try:
            self.roots.extend(x509.load_pem_x509_certificates(pem.encode()))
        except ValueError:
            raise BadRecord("pem holds no certificate that can be read") from None

    def _add_revocation(self, fields: Fields) -> None:
        certificate, since = fields.text("certificate"), fields.text("since")
        fields.done()
        try:
            moment = datetime.fromisoformat(since)
        except ValueError:
            raise BadRecord("since is no moment such as 2026-11-28T10:00:00-04:00") from None
        if moment.tzinfo is None:
            raise BadRecord("since has no zone, such as -04:00")
        self.revocations[certificate] = moment


_READERS: dict[str, Callable[[Registry, Fields], None]] = {
    "taxpayer": Registry._add_taxpayer,
    "range": Registry._add_range,
    "delegation": Registry._add_delegation,
    "root": Registry._add_root,
    "revocation": Registry._add_revocation,
}
#: The kinds of record, and under which key a world file lists them.
KINDS = {
    "taxpayer": "taxpayers",
    "range": "ranges",
    "delegation": "delegations",
    "root": "roots",
    "revocation": "revocations",
}


def load_world(path: Path, registry: Registry) -> None:
    """Fill `registry` from a JSON file of lists, `{"taxpayers": [...], "ranges": [...]}`, each under its key of KINDS.

    Every key may be missing; raises BadRecord, MalformedJson and OSError.
    """
    world = parse_json(path.read_bytes())
    if not isinstance(world, dict) or not world.keys() <= set(KINDS.values()):
        raise BadRecord(f"a world is an object with no other keys than {', '.join(KINDS.values())}")
    for kind, key in KINDS.items():
        for number, record in enumerate(world.get(key, ()), 1):
            if not isinstance(record, dict):
                raise BadRecord(f"{key}, entry {number}: not an object")
            try:
                registry.apply(kind, record)
            except BadRecord as wrong:
                raise BadRecord(f"{key}, entry {number}: {wrong}") from None
