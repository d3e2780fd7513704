"""Check one package: container, manifest, and each receipt, in the order of archive-format.md#checks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import BinaryIO

from . import der
from .certificates import Certificate, faults_of_chain, read_certificate
from .container import Container
from .faults import Broken, FaultCode, PackageFault
from .keys import RsaKey, read_key
from .manifest import KEY_FILE, MANIFEST, SIGNATURE, Manifest, ManifestEntry, is_name, read_manifest
from .time_stamp import TimeStamp, read_time_stamp
from .timeline import fault_of_documents, read_answer, read_timeline
from .xml_signature import SignatureRefused, VerifiedDocument, verify
from .xml_tree import BLANKS, XmlElement

MIN_KEY_BITS = 3072
#: A time stamp may be older than the manifest's own time by the difference of two clocks.
_SKEW = timedelta(hours=1)
_SANTO_DOMINGO = timezone(timedelta(hours=-4))
_TIME_OF = {
    "ECF": ("FechaHoraFirma",),
    "ACECF": ("DetalleAprobacionComercial", "FechaHoraAprobacionComercial"),
    "ARECF": ("DetalleAcusedeRecibo", "FechaHoraAcuseRecibo"),
    "ANECF": ("Encabezado", "FechaHoraAnulacioneNCF"),
}
_NUMBER_OF = {
    "ECF": ("Encabezado", "IdDoc", "eNCF"),
    "RFCE": ("Encabezado", "IdDoc", "eNCF"),
    "ACECF": ("DetalleAprobacionComercial", "eNCF"),
    "ARECF": ("DetalleAcusedeRecibo", "eNCF"),
}
_ISSUER_OF = {
    "ECF": ("Encabezado", "Emisor", "RNCEmisor"),
    "RFCE": ("Encabezado", "Emisor", "RNCEmisor"),
    "ACECF": ("DetalleAprobacionComercial", "RNCEmisor"),
    "ARECF": ("DetalleAcusedeRecibo", "RNCEmisor"),
    "ANECF": ("Encabezado", "RncEmisor"),
}
_TOTAL = ("Encabezado", "Totales", "MontoTotal")
#: The root that each document must have; that of `signed.xml` is the entry's.
_ROOT_OF = {"summary.xml": "RFCE", "acknowledgement.xml": "ARECF", "approval.xml": "ACECF"}
_DOCUMENTS = ("signed.xml", "summary.xml", "acknowledgement.xml", "approval.xml")


@dataclass
class Report:
    """Result for one package. `manifest` is None where it could not be read."""

    manifest: "Manifest | None" = None
    digest: str = ""
    time_stamp: "TimeStamp | None" = None
    faults: list[PackageFault] = field(default_factory=list)
    #: Certificates of certifiers that nothing in the package vouches for: the last of each chain.
    anchors: set[str] = field(default_factory=set)

    def add(self, code: FaultCode, where: str, what: str) -> None:
        """Note a fault."""
        self.faults.append(PackageFault(code, where, what))


@dataclass(frozen=True)
class Expected:
    """Values that the caller knows from elsewhere; an empty one is not compared."""

    key_ids: frozenset[str] = frozenset()
    tenant: "int | None" = None
    environment: "str | None" = None
    roots: Sequence[Certificate] = ()


def check_package(file: BinaryIO, expected: Expected, token: "bytes | None" = None) -> Report:
    """Check a package, and the time stamp beside it. Bad bytes never raise: they are faults."""
    report = Report()
    try:
        container = Container(file)
    except Broken as wrong:
        report.add(FaultCode.ZIP, "", str(wrong))
        return report
    for name in container.names:
        if not is_name(name):
            report.add(FaultCode.NAME, "", ascii(name))
    raw = _read(container, MANIFEST, report)
    if raw is None:
        return report
    try:
        manifest = report.manifest = read_manifest(raw)
    except Broken as wrong:
        report.add(FaultCode.MANIFEST, "", str(wrong))
        return report
    report.digest = sha256(raw).hexdigest()
    _check_signature(container, raw, manifest, expected, report)
    if token is not None:
        _check_time_stamp(token, manifest, expected, report)
    if expected.tenant not in (None, manifest.tenant) or expected.environment not in (None, manifest.environment):
        report.add(FaultCode.TENANT, "", f"{manifest.environment} {manifest.tenant}")
    _check_names(container, manifest, report)
    if not manifest.counts_hold:
        report.add(FaultCode.COUNTS, "", MANIFEST)
    shared = {
        name: content
        for name, said in manifest.shared.items()
        if (content := _content(container, name, said.size, said.digest, "", report)) is not None
    }
    for entry in manifest.entries:
        _check_entry(container, manifest, entry, shared, expected, report)
    return report


def _read(container: Container, name: str, report: Report) -> "bytes | None":
    if name not in container:
        report.add(FaultCode.MANIFEST if name == MANIFEST else FaultCode.FILES, "", name)
        return None
    try:
        return container.read(name)
    except Broken as wrong:
        report.add(FaultCode.ZIP, "", str(wrong))
        return None


def _check_signature(container: Container, raw: bytes, manifest: Manifest, expected: Expected, report: Report) -> None:
    key = _read(container, KEY_FILE, report)
    signature = _read(container, SIGNATURE, report)
    if key is None or signature is None:
        return
    try:
        public = read_key(der.read(key))
        if not isinstance(public, RsaKey) or public.bits < MIN_KEY_BITS or sha256(key).hexdigest() != manifest.key_id:
            raise Broken("the archive key is too small, of another kind, or not the manifest's")
    except ValueError as wrong:
        report.add(FaultCode.KEY, "", str(wrong))
        return
    if expected.key_ids and manifest.key_id not in expected.key_ids:
        report.add(FaultCode.KEY, "", manifest.key_id)
    if not public.verifies(signature, raw):
        report.add(FaultCode.SIGNATURE_OF_MANIFEST, "", SIGNATURE)


def _check_time_stamp(token: bytes, manifest: Manifest, expected: Expected, report: Report) -> None:
    try:
        stamp = read_time_stamp(token, bytes.fromhex(report.digest))
        if stamp.at < manifest.made_at - _SKEW:
            raise Broken("the time stamp is older than the manifest")
        report.time_stamp = stamp
        if expected.roots and not _leads_to(expected.roots, stamp.signer, stamp.certificates, stamp.at):
            raise Broken("the time stamp's signer does not lead to a root that was given")
    except Broken as wrong:
        report.add(FaultCode.TIME_STAMP, "", str(wrong))


def _check_names(container: Container, manifest: Manifest, report: Report) -> None:
    wanted = [*manifest.names, MANIFEST, SIGNATURE]
    found = [name for name in container.names if is_name(name)]
    missing, extra = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    for name in missing + extra:
        report.add(FaultCode.FILES, "", name)
    if not missing and not extra and found != wanted:
        report.add(FaultCode.FILES, "", "order")


def _content(container: Container, name: str, size: int, digest: str, where: str, report: Report) -> "bytes | None":
    """Read a file that the manifest describes; None with a fault unless it is that file."""
    if name not in container:
        if where:
            report.add(FaultCode.DIGEST, where, name)
        return None
    try:
        content = container.read(name)
    except Broken as wrong:
        report.add(FaultCode.ZIP, "", str(wrong))
        content = b""
    if len(content) != size or sha256(content).hexdigest() != digest:
        report.add(FaultCode.DIGEST, where, name)
        return None
    return content


def _check_entry(
    container: Container,
    manifest: Manifest,
    entry: ManifestEntry,
    shared: Mapping[str, bytes],
    expected: Expected,
    report: Report,
) -> None:
    where = entry.folder
    files = {
        name: content
        for name, said in entry.files.items()
        if (content := _content(container, f"{where}/{name}", said.size, said.digest, where, report)) is not None
    }
    if len(files) < len(entry.files):
        return  # a file that is not the manifest's says nothing about the receipt
    own_time = None
    if "timeline.json" in files:
        digests = {name: said.digest for name, said in entry.files.items()}
        try:
            timeline = read_timeline(files["timeline.json"], manifest.tenant, entry.id)
            own_time = timeline.signed_at
            if wrong := fault_of_documents(timeline, digests, entry.status, is_whole=not entry.is_addition):
                raise Broken(wrong)
        except Broken as broken:
            report.add(FaultCode.TIMELINE, where, str(broken))
    if "answer.json" in files:
        try:
            read_answer(files["answer.json"], manifest.tenant, entry.id, entry.status)
        except Broken as broken:
            report.add(FaultCode.DOCUMENT, where, f"answer.json: {broken}")
    for name in _DOCUMENTS:
        if name not in files:
            continue
        try:
            signed = verify(files[name])
        except Broken as broken:
            report.add(FaultCode.XML, where, f"{name}: {broken}")
            continue
        except SignatureRefused as unsigned:
            report.add(FaultCode.SIGNATURE, where, f"{name}: {unsigned}")
            continue
        for wrong in _faults_of_document(name, signed.root, entry):
            report.add(FaultCode.DOCUMENT, where, f"{name}: {wrong}")
        told = _told_time(signed.root)
        if name == "signed.xml":
            at = told if entry.root != "RFCE" else own_time
            own_time = at
            chain = entry.chain
            if at is None:
                report.add(FaultCode.CERTIFICATE, where, f"{name}: no time of signing")
                continue
        else:
            at = own_time if name == "summary.xml" else told
            chain = entry.chain if name == "summary.xml" else ()
        if at is not None and (why := _fault_of_signer(signed, chain, shared, at, expected, report)):
            report.add(FaultCode.CERTIFICATE, where, f"{name}: {why}")


def _fault_of_signer(
    signed: VerifiedDocument,
    chain: Sequence[str],
    shared: Mapping[str, bytes],
    at: datetime,
    expected: Expected,
    report: Report,
) -> "str | None":
    try:
        above = [read_certificate(shared[name]) for name in chain if name in shared]
    except Broken as wrong:
        return str(wrong)
    if why := faults_of_chain(signed.signer, above, at):
        return why
    if expected.roots:
        if not _leads_to(expected.roots, signed.signer, above, at):
            return "it does not lead to a root that was given"
    else:
        report.anchors.add((above[-1] if above else signed.signer).name if above else "")
    return None


def _leads_to(roots: Sequence[Certificate], signer: Certificate, others: Sequence[Certificate], at: datetime) -> bool:
    """Whether roots vouch for a certificate, through at most eight others."""
    below = signer
    for _ in range(8):
        if any(root.raw == below.raw or (root.issued(below) and root.is_valid_at(at)) for root in roots):
            return True
        above = next(
            (one for one in others if one.raw != below.raw and one.issued(below) and one.is_valid_at(at)), None
        )
        if above is None:
            return False
        below = above
    return False


def _faults_of_document(name: str, root: XmlElement, entry: ManifestEntry) -> Iterator[str]:
    wanted = entry.root if name == "signed.xml" else _ROOT_OF[name]
    if root.local != wanted:
        yield f"the root is {root.local}"
        return
    if entry.number is not None and root.local in _NUMBER_OF and _at(root, _NUMBER_OF[root.local]) != entry.number:
        yield "the number is another"
    if _at(root, _ISSUER_OF[root.local]) != entry.issuer:
        yield "the issuer is another"
    if name in ("signed.xml", "summary.xml") and entry.total is not None and _amount(root) != entry.total:
        yield "the total is another"


def _at(root: XmlElement, path: Sequence[str]) -> "str | None":
    found = root.find(*path)
    return None if found is None else found.text.strip(BLANKS)


def _amount(root: XmlElement) -> "str | None":
    """MontoTotal with two decimals; None where it is no amount."""
    whole, point, decimals = (_at(root, _TOTAL) or "").partition(".")
    if not (whole.isascii() and whole.isdigit() and len(whole) <= 18 and len(decimals) <= 2):
        return None
    if point and not (decimals.isascii() and decimals.isdigit()):
        return None
    return f"{int(whole)}.{decimals:0<2}"


def _told_time(root: XmlElement) -> "datetime | None":
    """Read the time that a document says it was signed at; None where it says none."""
    text = _at(root, _TIME_OF[root.local]) if root.local in _TIME_OF else None
    if text is None or len(text) != 19 or not text.isascii():
        return None
    try:
        return datetime.strptime(text, "%d-%m-%Y %H:%M:%S").replace(tzinfo=_SANTO_DOMINGO)
    except ValueError:
        return None
