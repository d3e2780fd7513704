"""Read a manifest: canonical JSON of exactly the members of archive-format.md#manifest."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

from .faults import Broken

T = TypeVar("T")

FORMAT = "fe-archive-1"
KEY_FILE, MANIFEST, SIGNATURE = "archive-key.der", "manifest.json", "manifest.sig"
MAX_RECEIPTS = 10_000
KINDS = ("issued", "received", "voided")
_MOST = 2**53 - 1

_HASH = re.compile(r"[0-9a-f]{64}\Z")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_NUMBER = re.compile(r"E[0-9]{12}\Z")
_RNC = re.compile(r"[0-9]{1,11}\Z")
_AMOUNT = re.compile(r"(?:0|[1-9][0-9]{0,15})\.[0-9]{2}\Z")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z\Z")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_CERTIFICATE = re.compile(r"certificates/[0-9a-f]{64}\.der\Z")
_REVOCATION = re.compile(r"revocations/[0-9a-f]{64}\.der\Z")
_ENDS_OF_VOIDING = ("voided", "partly voided", "rejected")
_STATUSES = ("Aceptado", "Aceptado Condicional", "Rechazado", "error", "queued", "En Proceso")

#: Files of an entry in their order: those it must have, then those it may have.
_FILES = (
    "original.bin",
    "signed.xml",
    "summary.xml",
    "acknowledgement.xml",
    "approval.xml",
    "timeline.json",
    "answer.json",
)
_MUST = {
    ("issued", False): {"signed.xml", "timeline.json"},
    ("received", False): {"signed.xml", "acknowledgement.xml"},
    ("voided", False): {"signed.xml", "answer.json"},
}
_MAY = {
    ("issued", False): set(_FILES) - {"answer.json"},
    ("received", False): {"signed.xml", "acknowledgement.xml"},
    ("issued", True): {"acknowledgement.xml", "approval.xml", "timeline.json"},
    ("received", True): {"acknowledgement.xml"},
    ("voided", False): {"signed.xml", "answer.json"},
    ("voided", True): set(),
}
_RECEIPT_NAME = r"(?:issued|received|voided)/(?:E[0-9]{12}-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/"
_NAME = re.compile(
    rf"(?:{_RECEIPT_NAME}(?:{'|'.join(map(re.escape, _FILES))})"
    r"|(?:certificates|revocations)/[0-9a-f]{64}\.der|archive-key\.der|manifest\.(?:json|sig))\Z"
)


def is_name(name: str) -> bool:
    """Whether a file of a package may have this name."""
    return _NAME.match(name) is not None


@dataclass(frozen=True)
class FileSaid:
    """Length and digest of a file, as the manifest says."""

    size: int
    digest: str


@dataclass(frozen=True)
class ManifestEntry:
    """An entry of a manifest. Members that an addition lacks are None or empty."""

    kind: str
    id: str
    is_addition: bool
    number: "str | None"
    issuer: str
    files: Mapping[str, FileSaid]
    root: "str | None"
    status: "str | None"
    total: "str | None"
    chain: tuple[str, ...]
    revocation: "str | None"
    absent: tuple[str, ...]

    @property
    def folder(self) -> str:
        """The folder of its files."""
        return f"{self.kind}/{self.number}-{self.id}" if self.number else f"{self.kind}/{self.id}"


@dataclass(frozen=True)
class Manifest:
    """A manifest. `counts_hold`: its counts and totals are those of its entries."""

    tenant: int
    environment: str
    sequence: int
    previous: "str | None"
    day: str
    made_at: datetime
    key_id: str
    entries: tuple[ManifestEntry, ...]
    shared: Mapping[str, FileSaid]
    counts_hold: bool

    @property
    def names(self) -> list[str]:
        """The files of a package in their order, without those of the manifest itself."""
        found = [f"{entry.folder}/{name}" for entry in self.entries for name in _FILES if name in entry.files]
        return [*found, *sorted(set(self.shared) - {KEY_FILE}), KEY_FILE]


def read_manifest(raw: bytes) -> Manifest:
    """Read a manifest. Raises Broken."""
    try:
        value = json.loads(raw.decode("ascii"), parse_int=_small, parse_float=_refuse, parse_constant=_refuse)
        again = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        if again != raw or b"\\" in raw:
            raise Broken("it is not canonical")
        return _manifest(value)
    except (ValueError, RecursionError) as wrong:
        raise Broken(f"the manifest cannot be read: {wrong}") from None


def _small(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > _MOST:
        raise Broken("a number is too large")
    return int(digits)


def _refuse(_: str) -> NoReturn:
    raise Broken("a number is no integer")


def _manifest(value: Any) -> Manifest:
    value = _members(
        value,
        "format tenantId environment sequence previous day madeAt key counts totals receipts shared",
    )
    key = _members(value["key"], "id algorithm")
    _one_of(value["format"], FORMAT)
    _one_of(key["algorithm"], "rsa-pkcs1v15-sha256")
    entries = tuple(_entry(one) for one in _list(value["receipts"], MAX_RECEIPTS))
    places = [(KINDS.index(one.kind), one.id) for one in entries]
    if any(before >= after for before, after in pairwise(places)):
        raise Broken("the entries are not in order")
    shared = _files(value["shared"])
    named = {name for one in entries for name in (*one.chain, one.revocation) if name} | {KEY_FILE}
    if set(shared) != named or any(said.digest not in name for name, said in shared.items() if name != KEY_FILE):
        raise Broken("the shared files are not those of the entries")
    sequence, previous = _integer(value["sequence"], 1), _nullable(value["previous"], _HASH)
    if (previous is None) != (sequence == 1):
        raise Broken("the first manifest alone has none before it")
    manifest = Manifest(
        tenant=_integer(value["tenantId"], 1),
        environment=_one_of(value["environment"], "ecf", "certecf", "testecf"),
        sequence=sequence,
        previous=previous,
        day=_day(value["day"]),
        made_at=_moment(value["madeAt"]),
        key_id=_text(key["id"], _HASH),
        entries=entries,
        shared=shared,
        counts_hold=True,
    )
    # As text: for Python 1 and True are equal.
    if json.dumps([value["counts"], value["totals"]], sort_keys=True) != json.dumps(
        [_counts(manifest), _totals(entries)], sort_keys=True
    ):
        return Manifest(**{**manifest.__dict__, "counts_hold": False})
    return manifest


def _entry(value: Any) -> ManifestEntry:
    common = "kind id addition eNCF issuerRNC files"
    is_addition = isinstance(value, dict) and value.get("addition") is True
    value = _members(value, common if is_addition else f"{common} root type status total chain revocation absent")
    kind, number = _one_of(value["kind"], *KINDS), _nullable(value["eNCF"], _NUMBER)
    files = _files(value["files"])
    if value["addition"] is not is_addition or not files:
        raise Broken("an entry has no files")
    if not _MUST.get((kind, is_addition), set()) <= set(files) <= _MAY[kind, is_addition]:
        raise Broken("an entry does not have the files of its kind")
    entry = ManifestEntry(
        kind=kind,
        id=_text(value["id"], _UUID),
        is_addition=is_addition,
        number=number,
        issuer=_text(value["issuerRNC"], _RNC),
        files=files,
        root=None,
        status=None,
        total=None,
        chain=(),
        revocation=None,
        absent=(),
    )
    return entry if is_addition else _whole(entry, value)


def _whole(entry: ManifestEntry, value: Mapping[str, Any]) -> ManifestEntry:
    is_issued = entry.kind == "issued"
    roots = {"issued": ("ECF", "RFCE", "ACECF", "ANECF"), "received": ("ECF",), "voided": ("ANECF",)}[entry.kind]
    statuses = {"issued": _STATUSES, "received": (None,), "voided": _ENDS_OF_VOIDING}[entry.kind]
    revocation = value["revocation"]
    if revocation is not None:
        revocation = _members(revocation, "source file askedAt")
        _one_of(revocation["source"], "ocsp", "crl")
        _moment(revocation["askedAt"])
        revocation = _text(revocation["file"], _REVOCATION)
    chain = tuple(_text(one, _CERTIFICATE) for one in _list(value["chain"], 8))
    absent = ["original"] if is_issued and "original.bin" not in entry.files else []
    absent += [] if chain else ["certificate-chain"]
    absent += [] if revocation else ["revocation-answer"]
    root = _one_of(value["root"], *roots)
    total, status = _nullable(value["total"], _AMOUNT), value["status"]
    if value["absent"] != absent or value["type"] != (entry.number and entry.number[1:3]):
        raise Broken("an entry contradicts itself")
    if not (status is None or isinstance(status, str)) or status not in statuses:
        raise Broken("an entry's status is not known")
    if (root in ("ECF", "RFCE")) != (total is not None) or (total is not None and entry.number is None):
        raise Broken("an e-CF has a number and a total, other documents have no total")
    changes = {"root": root, "status": status, "total": total, "chain": chain, "revocation": revocation}
    return ManifestEntry(**{**entry.__dict__, **changes, "absent": tuple(absent)})


def _counts(manifest: Manifest) -> dict[str, int]:
    files = [said for entry in manifest.entries for said in entry.files.values()] + list(manifest.shared.values())
    return {
        "receipts": len(manifest.entries),
        "additions": sum(entry.is_addition for entry in manifest.entries),
        "files": len(files),
        "bytes": sum(said.size for said in files),
    }


def _totals(entries: tuple[ManifestEntry, ...]) -> list[dict[str, Any]]:
    sums: dict[tuple[str, str, str], tuple[int, int]] = {}
    for entry in entries:
        if entry.total is not None and entry.number is not None:
            group = entry.kind, entry.number[1:3], entry.status or ""
            count, cents = sums.get(group, (0, 0))
            sums[group] = count + 1, cents + int(entry.total.replace(".", ""))
    return [
        {
            "kind": kind,
            "type": ecf_type,
            "status": status or None,
            "receipts": count,
            "total": f"{cents // 100}.{cents % 100:02d}",
        }
        for (kind, ecf_type, status), (count, cents) in sorted(sums.items())
    ]


def _members(value: Any, names: str) -> Mapping[str, Any]:
    if not isinstance(value, dict) or set(value) != set(names.split()):
        raise Broken(f"an object does not have the members {names}")
    return value


def _list(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise Broken("a list is none, or too long")
    return value


def _files(value: Any) -> dict[str, FileSaid]:
    if not isinstance(value, dict):
        raise Broken("files are not an object")
    found = {}
    for name, said in value.items():
        said = _members(said, "bytes sha256")
        found[name] = FileSaid(_integer(said["bytes"], 1), _text(said["sha256"], _HASH))
    return found


def _integer(value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
        raise Broken("a number is none, or out of range")
    return value


def _text(value: Any, form: "re.Pattern[str]") -> str:
    if not isinstance(value, str) or form.match(value) is None:
        raise Broken("a text does not have its form")
    return value


def _nullable(value: Any, form: "re.Pattern[str]") -> "str | None":
    return None if value is None else _text(value, form)


def _one_of(value: Any, *known: str) -> str:
    if not isinstance(value, str) or value not in known:
        raise Broken(f"a text is none of {', '.join(known)}")
    return value


def _moment(value: Any) -> datetime:
    text = _text(value, _MOMENT)
    return _real(lambda: datetime.fromisoformat(text.replace("Z", "+00:00")))


def _day(value: Any) -> str:
    text = _text(value, _DAY)
    _real(lambda: date.fromisoformat(text))
    return text


def _real(read: "Callable[[], T]") -> T:
    try:
        return read()
    except ValueError:
        raise Broken("there is no such time") from None
