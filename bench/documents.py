"""Cost of one document on one core: read, fill, build, check, sign and verify, beside the RSA operation alone.

    python -m bench.documents [--seconds 30] [--documents 20000]

Prints documents per second and microseconds each, and every figure as a ratio of `openssl speed rsa2048` measured in
the same run, because only ratios mean anything on another machine. Then what a document costs from the stored original
to signed bytes, and an exchange with the authority, in RSA-2048 signatures as `cryptography` makes them with the same
key, in turn. Then runs many documents through the whole chain and tells of the memory at start, middle and end.
"""

import gc
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from bench.exchange import exchange_us
from bench.report import Report
from bench.runner import read_options
from fe.ecf.autofill import autofill
from fe.ecf.build import build, to_bytes
from fe.ecf.catalogue import Environment, Root
from fe.ecf.document import Document, read_payload
from fe.ecf.json_text import write_json
from fe.ecf.parse import parse_xml
from fe.ecf.rules import check
from fe.ecf.selfmade import self_made
from fe.ecf.signature import Signer, verify
from fe.identifiers import CertificateId
from fe.issuing.prepare import prepare, read
from fe.issuing.sign import QrHosts, make_signed
from fe.store.queue.inputs import Candidate, SigningInput

NOW = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)
EXPIRY = date(2028, 12, 31)
ISSUER = {
    "RNCEmisor": "131880738",
    "RazonSocialEmisor": "DOCUMENTOS ELECTRONICOS DE PRUEBA SRL",
    "NombreComercial": "PRUEBA",
    "DireccionEmisor": "AVE. ISABEL AGUIAR NO. 269, ZONA INDUSTRIAL DE HERRERA",
    "CorreoEmisor": "facturas@example.com",
}

SIGN_TARGET = 0.8
ROUNDS = 5
#: Growth that is noise: a few pages of the allocator's, for thousands of documents.
FLAT_MIB = 4.0


def payload(lines: int) -> dict[str, Any]:
    """A credit invoice as a client sends it: everything that can be filled is left out."""
    return {
        "Encabezado": {
            "IdDoc": {"TipoeCF": "31", "eNCF": "E310005000201", "TipoIngresos": "01", "TipoPago": "1"},
            "Comprador": {
                "RNCComprador": "131880681",
                "RazonSocialComprador": "COMERCIAL PEÑA & HIJOS SRL",
                "CorreoComprador": "compras@example.com",
                "DireccionComprador": "CALLE JACINTO DE LA CONCHA FELIZ ESQUINA 27 DE FEBRERO",
            },
        },
        "DetallesItems": {
            "Item": [
                {
                    "IndicadorFacturacion": "1" if number % 3 else "4",
                    "NombreItem": f"ARTICULO DE PRUEBA NUMERO {number}",
                    "IndicadorBienoServicio": "1",
                    "DescripcionItem": "Descripción del artículo, como la escribe el sistema del cliente",
                    "CantidadItem": "2.00",
                    "UnidadMedida": "43",
                    "PrecioUnitarioItem": "1250.5000",
                }
                for number in range(1, lines + 1)
            ]
        },
    }


def rate(work: Callable[[], object], seconds: float) -> float:
    """How often `work` runs in a second of processor time, which is what `openssl speed` counts too."""
    work()
    count, batch = 0, 1
    start = time.process_time()
    while True:
        for _ in range(batch):
            work()
        count += batch
        spent = time.process_time() - start
        if spent >= seconds:
            return count / spent
        batch = max(1, min(500, int(count / spent * seconds / 10)))


def openssl_rate(openssl: str) -> float:
    """RSA-2048 signatures a second by `openssl speed`, which runs for one second."""
    done = subprocess.run([openssl, "speed", "-seconds", "1", "rsa2048"], capture_output=True, text=True, check=True)
    found = re.search(r"^rsa\s+2048 bits\s+\S+s\s+\S+s\s+([\d.]+)", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return float(found[1])


@dataclass(frozen=True)
class Chain:
    """One document of some size, at every stage, and the work that leads from each stage to the next."""

    lines: int
    size: int
    work: dict[str, Callable[[], object]]


def make_chain(lines: int, signer: Signer) -> Chain:
    sent = payload(lines)
    document = autofill(read_payload(sent), issuer=ISSUER, expiry=EXPIRY, now=NOW)
    tree = build(document)
    problems = check(document, now=NOW, element=tree)
    assert not problems, problems
    signed = signer.sign(tree).xml
    verify(signed)
    return Chain(
        lines,
        len(to_bytes(tree)),
        {
            "read and fill": lambda: autofill(read_payload(sent), issuer=ISSUER, expiry=EXPIRY, now=NOW),
            "build": lambda: build(document),
            "check": lambda: check(document, now=NOW, element=tree),
            "build and check": lambda: check(document, now=NOW, element=build(document)),
            "sign": lambda: signer.sign(tree),
            "parse": lambda: parse_xml(signed),
            "verify": lambda: verify(signed),
        },
    )


def measure(
    report: Report, chains: list[Chain], key: rsa.RSAPrivateKey, seconds: float
) -> dict[tuple[int, str], float]:
    """Medians of rounds in which all kinds take turns, so that a busy moment of the machine spoils none alone."""
    openssl = shutil.which("openssl")
    kinds: dict[tuple[int, str], Callable[[], object]] = {
        (chain.lines, name): work for chain in chains for name, work in chain.work.items()
    }
    kinds[0, "rsa, cryptography"] = lambda: key.sign(b"x" * 900, PKCS1v15(), SHA256())
    slice_ = max(0.05, (seconds - ROUNDS * bool(openssl)) / ROUNDS / len(kinds))
    rates: dict[tuple[int, str], list[float]] = {}
    for _ in range(ROUNDS):
        if openssl:
            rates.setdefault((0, "rsa, openssl speed"), []).append(openssl_rate(openssl))
        for kind, work in kinds.items():
            rates.setdefault(kind, []).append(rate(work, slice_))
    if not openssl:
        report.skip("openssl speed", "openssl is not installed; ratios are to cryptography's RSA instead")
    return {kind: statistics.median(measured) for kind, measured in rates.items()}


def show(report: Report, chains: list[Chain], rates: dict[tuple[int, str], float]) -> None:
    """Note what each kind of work does in a second, and how it does beside RSA."""
    limit = rates.get((0, "rsa, openssl speed"), rates[0, "rsa, cryptography"])
    report.table(
        "one core",
        [
            {
                "work": f"{lines:>5} lines  {name}" if lines else name,
                "per second": measured,
                "us each": 1e6 / measured,
                "of RSA": measured / limit,
            }
            for (lines, name), measured in sorted(rates.items(), key=lambda item: item[0][0])
        ],
    )
    small = chains[0].lines
    signing, checking = rates[small, "sign"], rates[small, "build and check"]
    report.ratio(f"rate of signing {small} lines : of raw RSA", signing, limit, at_least=SIGN_TARGET)
    report.ratio(f"time to build and check {small} lines : to sign them", signing, checking, at_most=1)


#: Originals to sign: lines, type. A small consumer invoice is signed twice, as itself and its summary.
ORIGINALS = ((2, "31"), (20, "31"), (3, "32"))
HOSTS = QrHosts(ecf="https://ecf.dgii.gov.do", fc="https://fc.dgii.gov.do")


def original(lines: int, ecf_type: str) -> dict[str, Any]:
    """Return a structured receipt as the store keeps it."""
    sent = payload(lines)
    sent["Encabezado"]["IdDoc"] |= {"TipoeCF": ecf_type, "eNCF": f"E{ecf_type}0005000201"}
    return sent


def from_original(form: str, raw: bytes, signer: Signer) -> bytes:
    """All that the signer does of a document but talk to the database; gives the signed bytes."""
    chosen = Candidate(CertificateId(UUID(int=1)), None, None, None, NOW, NOW)
    signing_input = SigningInput(
        format=form,
        root=Root.ECF,
        ecf_type=None,
        e_ncf=None,
        as_user=None,
        as_user_id=None,
        original=raw,
        issuer=ISSUER,
        consumer_summary="automatic",
        sequence_expires=datetime(2028, 12, 31, tzinfo=UTC),
        candidates=(chosen,),
    )
    return make_signed(signing_input, Environment.TESTECF, chosen, signer, now=NOW, hosts=HOSTS).signed


def from_document(document: Document, signer: Signer) -> bytes:
    """The same from a document that was read already, and without the address of its QR code."""
    prepared = prepare(document, number=None, issuer=ISSUER, last_day=EXPIRY, holders=(), now=NOW)
    assert prepared.element is not None
    return signer.sign(prepared.element).xml


def in_signatures(report: Report, key: rsa.RSAPrivateKey, signer: Signer, seconds: float) -> None:
    """Report the cost of a document from its original, and of an exchange, in RSA signatures."""
    kinds: dict[str, Callable[[], object]] = {}
    for lines, ecf_type in ORIGINALS:
        raw = write_json(original(lines, ecf_type))
        document = read("structured", raw)
        signed = from_original("structured", raw, signer)
        label = f"type {ecf_type}, {lines} lines"
        kinds[f"{label}: JSON to signed bytes"] = partial(from_original, "structured", raw, signer)
        kinds[f"{label}: read JSON to signed bytes"] = partial(from_document, document, signer)
        kinds[f"{label}: XML to signed bytes"] = partial(from_original, "xml", signed, signer)
    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        unit = 1e6 / rate(lambda: key.sign(b"x" * 900, PKCS1v15(), SHA256()), seconds)
        found.setdefault("one RSA-2048 signature", []).append(unit)
        for name, work in kinds.items():
            found.setdefault(name, []).append(1e6 / rate(work, seconds) / unit)
        sending, asking = exchange_us(signed)
        found.setdefault("sending a document", []).append(sending / unit)
        found.setdefault("asking for a verdict", []).append(asking / unit)
    report.figure("one RSA-2048 signature", "us", found.pop("one RSA-2048 signature"))
    for name, measured in found.items():
        report.figure(name, "signatures", measured)


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(report: Report, signer: Signer, documents: int) -> None:
    """Run `documents` through the whole chain and note what memory they leave behind."""
    sent = payload(5)

    def whole_chain(number: int) -> None:
        sent["Encabezado"]["IdDoc"]["eNCF"] = f"E31{number:010}"
        document = autofill(read_payload(sent), issuer=ISSUER, expiry=EXPIRY, now=NOW)
        tree = build(document)
        assert not check(document, now=NOW, element=tree)
        verify(signer.sign(tree).xml)

    for number in range(1, 501):  # what is made once, is made
        whole_chain(number)
    gc.collect()
    seen = [resident_mib()]
    start = time.process_time()
    for number in range(1, documents + 1):
        whole_chain(number)
        if number in (documents // 2, documents):
            gc.collect()
            seen.append(resident_mib())
    spent = time.process_time() - start
    report.figure("5 lines, the whole chain and verified", "documents/s", documents / spent)
    report.note(f"resident memory at start, middle, end: {', '.join(f'{mib:.1f}' for mib in seen)} MiB")
    more = max(0.0, seen[-1] - seen[0])
    report.ratio(f"MiB more after {documents} documents : {FLAT_MIB:.0f}", more, FLAT_MIB, at_most=1)


def main() -> int:
    wanted = {"seconds": (30.0, "time for the rates, about (default 30)")}
    arguments = read_options(__doc__, wanted | {"documents": (20_000, "documents of the memory run (default 20000)")})

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # openssl, started from here, runs there too
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    valid = {"not_before": datetime(2026, 1, 1, tzinfo=UTC), "not_after": datetime(2028, 1, 1, tzinfo=UTC)}
    signer = Signer(self_made(key, holder="BANCO DE PRUEBAS", holder_id="00112233445", **valid))

    chains = [make_chain(5, signer), make_chain(1_000, signer)]
    with Report("documents") as report:
        report.note("unsigned: " + ", ".join(f"{chain.lines} lines {chain.size / 1000:.1f} kB" for chain in chains))
        show(report, chains, measure(report, chains, key, arguments.seconds))
        in_signatures(report, key, signer, 0.2)
        memory(report, signer, arguments.documents)
    return 0


if __name__ == "__main__":
    sys.exit(main())
