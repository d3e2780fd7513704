"""Verify archive packages: fe-verify-archive [options] PACKAGE.zip|FOLDER ...

Verifica paquetes del archivo. Exit code / código de salida: 0 everything holds / todo es válido, 1 it does not / no,
2 a file cannot be opened / un archivo no se puede abrir.
"""

import argparse
import json
import locale
import re
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .certificates import Certificate, read_certificate
from .chain import ChainCheck
from .container import Container
from .faults import Broken, FaultCode, PackageFault
from .manifest import MANIFEST, ManifestEntry, read_manifest
from .package import Expected, Report, check_package
from .texts import CODES, WORDS

_IN_NAME = re.compile(r"-([0-9]{6,})\.zip\Z")
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----")
_OF_RECEIPT = {
    "signature": {FaultCode.XML, FaultCode.SIGNATURE},
    "certificate": {FaultCode.CERTIFICATE},
    "document": {FaultCode.DOCUMENT},
    "timeline": {FaultCode.TIMELINE},
}
_OF_MANIFEST = {
    FaultCode.ZIP,
    FaultCode.NAME,
    FaultCode.MANIFEST,
    FaultCode.KEY,
    FaultCode.SIGNATURE_OF_MANIFEST,
    FaultCode.FILES,
    FaultCode.COUNTS,
}
_OF_CHAIN = {FaultCode.TENANT, FaultCode.SEQUENCE, FaultCode.PREVIOUS}


class _Unusable(Exception):
    """The command cannot be carried out; the text says why."""


@dataclass
class _Found:
    """Sums of all chains, the keys that signed them, and the certificates that chains of certificates end at."""

    counts: "Counter[str]" = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)


class _Words:
    def __init__(self, language: str) -> None:
        self._place = 0 if language == "en" else 1

    def say(self, name: str, *values: object) -> str:
        return WORDS[name][self._place].format(*values)

    def code(self, code: FaultCode) -> str:
        return CODES[code][self._place]


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run the command; return its exit code."""
    options = _options().parse_args(arguments)
    words = _Words(options.lang or _usual_language())
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    try:
        return _run(options, words)
    except _Unusable as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 2


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fe-verify-archive", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PACKAGE",
        help="package, or folder: each folder in it is a chain / paquete o carpeta; cada carpeta es una cadena",
    )
    parser.add_argument("--lang", choices=("en", "es"), help="language of the report / idioma del informe")
    parser.add_argument("--json", action="store_true", help="a JSON object per package / un objeto JSON por paquete")
    parser.add_argument("--quiet", action="store_true", help="faults and sums alone / solo fallas y totales")
    parser.add_argument("--key", action="append", default=[], help="id of the expected key / clave esperada")
    parser.add_argument("--tenant", type=int, help="number of the tenant / número del contribuyente")
    parser.add_argument("--environment", choices=("ecf", "certecf", "testecf"), help="environment / ambiente")
    parser.add_argument(
        "--roots", action="append", default=[], help="trusted roots in PEM / raíces de confianza en PEM"
    )
    return parser


def _usual_language() -> str:
    try:
        told = locale.setlocale(locale.LC_CTYPE, "") or ""
    except locale.Error:
        told = ""
    return "es" if told.lower().startswith("es") else "en"


def _run(options: argparse.Namespace, words: _Words) -> int:
    expected = Expected(
        frozenset(key.lower() for key in options.key), options.tenant, options.environment, _roots(options.roots, words)
    )
    found = _Found()
    chains = _chains(options.paths, words)
    for folder, packages in chains.items():
        counts, chain = _check_chain(packages, expected, found, options, words)
        if not options.json:
            if len(chains) > 1:
                _write(words.say("of-chain", folder, words.say("bad" if counts["faults"] else "good")))
                _write(f"  {_sum(counts, words)}")
            if chain.first is not None and chain.first.sequence != 1:
                _write(words.say("begins", chain.first.sequence))
    if not options.json:
        _conclude(found, words, is_pinned=bool(expected.key_ids))
    return 1 if found.counts["faults"] else 0


def _check_chain(
    packages: Sequence[Path], expected: Expected, found: _Found, options: argparse.Namespace, words: _Words
) -> tuple["Counter[str]", ChainCheck]:
    chain, counts = ChainCheck(), Counter[str]()
    for path in packages:
        try:
            beside = path.with_suffix(".tst")
            token = beside.read_bytes() if beside.is_file() else None
            with path.open("rb") as file:
                report = check_package(file, expected, token)
        except OSError:
            raise _Unusable(words.say("no-file", path)) from None
        chain.add(report)
        entries = report.manifest.entries if report.manifest else ()
        counts["packages"] += 1
        counts["additions"] += sum(entry.is_addition for entry in entries)
        counts["receipts"] += sum(not entry.is_addition for entry in entries)
        counts["revocations"] += len({entry.revocation for entry in entries if entry.revocation})
        counts["faults"] += len(report.faults)
        found.keys |= {report.manifest.key_id} if report.manifest else set()
        found.anchors |= report.anchors
        if options.json:
            _write(json.dumps(_record(path, report), ensure_ascii=False))
        elif not options.quiet or report.faults:
            _tell(path, report, words, quiet=options.quiet)
    found.counts += counts
    return counts, chain


def _chains(paths: Sequence[str], words: _Words) -> dict[Path, list[Path]]:
    """Group packages: those of each folder, or of one below it, are a chain; single files are one together."""
    chains: dict[Path, list[Path]] = {}
    for name in paths:
        path = Path(name)
        if path.is_dir():
            for package in sorted(path.rglob("*.zip")):
                chains.setdefault(package.parent, []).append(package)
        else:
            chains.setdefault(Path(), []).append(path)
    if not chains:
        raise _Unusable(words.say("no-package"))
    try:
        return {
            folder: sorted(packages, key=_sequence) if len(packages) > 1 else packages
            for folder, packages in chains.items()
        }
    except OSError as wrong:
        raise _Unusable(words.say("no-file", wrong.filename)) from None


def _sequence(path: Path) -> int:
    """Number of a package: that of its name, else that of its manifest."""
    if named := _IN_NAME.search(path.name):
        return int(named[1])
    with path.open("rb") as file:
        try:
            return read_manifest(Container(file).read(MANIFEST)).sequence
        except (Broken, KeyError):
            return 0


def _roots(names: Sequence[str], words: _Words) -> list[Certificate]:
    found = []
    for name in names:
        try:
            listed = _PEM.findall(Path(name).read_bytes())
            found += [read_certificate(b64decode(one)) for one in listed]
        except (OSError, ValueError):
            listed = []
        if not listed:
            raise _Unusable(words.say("no-roots", name))
    return found


def _record(path: Path, report: Report) -> dict[str, object]:
    manifest, stamp = report.manifest, report.time_stamp
    return {
        "folder": str(path.parent),
        "file": path.name,
        "tenantId": manifest and manifest.tenant,
        "environment": manifest and manifest.environment,
        "sequence": manifest and manifest.sequence,
        "day": manifest and manifest.day,
        "keyId": manifest and manifest.key_id,
        "manifest": report.digest or None,
        "timeStamp": stamp and {"at": stamp.at.isoformat(), "by": stamp.signer.name},
        "receipts": len(manifest.entries) if manifest else 0,
        "faults": [{"code": str(one.code), "where": one.where, "what": one.what} for one in report.faults],
    }


def _tell(path: Path, report: Report, words: _Words, *, quiet: bool) -> None:
    manifest, stamp = report.manifest, report.time_stamp
    if manifest is None:
        _write(words.say("unreadable", path.name))
    else:
        _write(words.say("package", path.name, manifest.tenant, manifest.environment, manifest.sequence, manifest.day))
    codes = {fault.code for fault in report.faults}
    if manifest is not None:
        held = words.say("wrong" if FaultCode.TIME_STAMP in codes else "ok" if stamp else "none")
        by = f" ({words.say('stamped', f'{stamp.at:%Y-%m-%d %H:%M:%SZ}', stamp.signer.name)})" if stamp else ""
        _write(
            f"  {words.say('manifest')}: {_held(words, codes & _OF_MANIFEST)}; "
            f"{words.say('chain')}: {_held(words, codes & _OF_CHAIN)}; {words.say('time-stamp')}: {held}{by}"
        )
        by_receipt: dict[str, list[PackageFault]] = {}
        for fault in report.faults:
            by_receipt.setdefault(fault.where, []).append(fault)
        for entry in manifest.entries:
            faults = by_receipt.get(entry.folder, [])
            if faults or not quiet:
                _tell_receipt(entry, {fault.code for fault in faults}, words)
    for fault in report.faults:
        at = f"{fault.where}: " if fault.where else ""
        _write(f"  {words.say('fault')} [{fault.code}] {at}{words.code(fault.code)} ({fault.what})")


def _tell_receipt(entry: ManifestEntry, codes: set[FaultCode], words: _Words) -> None:
    is_read = FaultCode.DIGEST not in codes
    parts = [
        f"{words.say(name)}: {_held(words, codes & wrong)}"
        for name, wrong in _OF_RECEIPT.items()
        if is_read and (name != "timeline" or "timeline.json" in entry.files)
    ]
    parts.insert(
        0, f"{words.say('manifest')}: {_held(words, codes & {FaultCode.DIGEST, FaultCode.TWICE, FaultCode.ADDITION})}"
    )
    if entry.is_addition:
        parts.append(words.say("addition"))
    if entry.absent:
        parts.append(f"{words.say('absent')}: {', '.join(words.say(name) for name in entry.absent)}")
    _write(f"  {entry.folder}: {'; '.join(parts)}")


def _held(words: _Words, wrong: set[FaultCode]) -> str:
    return words.say("wrong" if wrong else "ok")


def _conclude(found: _Found, words: _Words, *, is_pinned: bool) -> None:
    counts = found.counts
    for key in sorted(found.keys):
        _write(words.say("key-ok" if is_pinned and not counts["faults"] else "key", key))
    for anchor in sorted(found.anchors - {""}):
        _write(words.say("anchor", anchor))
    if counts["revocations"]:
        _write(words.say("revocation", counts["revocations"]))
    _write(_sum(counts, words))
    _write(words.say("bad" if counts["faults"] else "good"))


def _sum(counts: "Counter[str]", words: _Words) -> str:
    return words.say("sum", counts["packages"], counts["receipts"], counts["additions"], counts["faults"])


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
