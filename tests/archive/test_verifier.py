"""The verifier and a second reader, in Node, judge packages alike; and the verifier needs nothing but Python."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random

import pytest
from asn1crypto import tsp
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from fe.archive.evidence import Addition, ArchiveKind, Evidence
from fe.archive.package import Sealed, package_name
from fe.archive.program import build_verifier
from fe.archive.time_stamp import NoTimeStamp, read_response, time_stamp_request
from fe.archive.verifier.chain import ChainCheck
from fe.archive.verifier.faults import FaultCode
from fe.archive.verifier.package import Expected, Report, check_package
from fe.archive.verifier.xml_tree import canonical, parse
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Status
from tests.archive import stamping
from tests.archive.mutations import ALWAYS_SEEN, files_of, mutated, mutated_stamp, signed_again, zipped
from tests.archive.receipts import (
    DAY,
    ISSUER,
    MADE_AT,
    TENANT,
    acecf,
    anecf_of_client,
    approval_of_ours,
    arecf,
    ecf,
    issued,
    pack,
    received,
    sign,
    voiding,
)
from tests.factories import certificates as made

READER = Path(__file__).with_name("reader.mjs")
#: 1,000 by hand after a change of either reader: FE_TEST_ARCHIVE_MUTANTS=1000.
MUTANTS = int(os.environ.get("FE_TEST_ARCHIVE_MUTANTS", "60"))
#: Daily packages of one receipt; 3,653 are those of ten years.
DAYS = int(os.environ.get("FE_TEST_ARCHIVE_DAYS", "365"))


@cache
def first() -> tuple[bytes, Sealed]:
    """Every kind of evidence."""
    complete = replace(issued(1), acknowledgement=sign(arecf("E310000000001")), approval=sign(acecf("E310000000001")))
    several: list[Evidence] = [
        complete, issued(2, ecf_type="32"), approval_of_ours(3), anecf_of_client(4), issued(5, original=None),
        received(1), voiding(1),
    ]  # fmt: skip
    return pack(several)


@cache
def stamp() -> bytes:
    return stamping.token(first()[1].digest)


def later(sequence: int = 2, before: Sealed | None = None) -> bytes:
    addition = Addition(
        ArchiveKind.ISSUED, issued(5).id, ISSUER, "E310000000005", acknowledgement=sign(arecf("E310000000005"))
    )
    return pack([addition, issued(6)], before=before or first()[1], sequence=sequence)[0]


def judge(package: bytes, expected: Expected | None = None, token: bytes | None = None) -> Report:
    report = check_package(io.BytesIO(package), expected or Expected(), token)
    ChainCheck().add(report)
    return report


def codes(report: Report) -> set[FaultCode]:
    return {fault.code for fault in report.faults}


def by_node(
    folder: Path, packages: list[bytes], *, chain: bool = False, tokens: list[bytes | None] | None = None
) -> list[list[str]]:
    for number, package in enumerate(packages):
        (folder / f"{number:05d}.zip").write_bytes(package)
        if tokens and (token := tokens[number]) is not None:
            (folder / f"{number:05d}.tst").write_bytes(token)
    return read_by_node([folder / f"{number:05d}.zip" for number in range(len(packages))], chain=chain)


def read_by_node(paths: list[Path], *, chain: bool = False) -> list[list[str]]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node here: the second reader was not run")
    command = [node, str(READER), *(["--chain"] if chain else []), *map(str, paths)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def as_node(report: Report) -> list[str]:
    return sorted({f"{fault.code} {fault.where}".strip() for fault in report.faults})


def test_both_readers_agree_on_mutated_packages_and_miss_none(tmp_path: Path) -> None:
    usual = "1" if os.environ.get("CI") else str(time.time_ns() % 1_000_000)
    seed = int(os.environ.get("FE_TEST_ARCHIVE_SEED", usual))
    sys.stdout.write(f"FE_TEST_ARCHIVE_SEED={seed} FE_TEST_ARCHIVE_MUTANTS={MUTANTS}\n")
    random = Random(seed)
    package, _ = first()
    made_so = [mutated(package, random) for _ in range(MUTANTS)]
    tokens: list[bytes | None] = [None] * MUTANTS
    for number in range(0, MUTANTS, 10):
        made_so[number], tokens[number] = ("stamp", package), mutated_stamp(stamp(), random)

    ours = [as_node(judge(broken, token=token)) for (_, broken), token in zip(made_so, tokens, strict=True)]
    theirs = by_node(tmp_path, [broken for _, broken in made_so], tokens=tokens)

    differing = [
        (seed, number, way, one, other)
        for number, ((way, _), one, other) in enumerate(zip(made_so, ours, theirs, strict=True))
        if one != other
    ]
    assert differing == []
    always = {way.__name__ for way in ALWAYS_SEEN}
    missed = [
        (seed, number, way)
        for number, ((way, broken), found) in enumerate(zip(made_so, ours, strict=True))
        if way in always and not found and broken != package
    ]
    assert missed == []


def test_both_readers_find_nothing_in_a_good_chain_and_name_a_broken_one(tmp_path: Path) -> None:
    good = [first()[0], later()]
    foreign = pack([issued(8)], before=first()[1], sequence=2, tenant_id=TenantId(8))[0]
    test_environment = pack([issued(8)], before=first()[1], sequence=2, environment=Environment.TESTECF)[0]
    other_first = pack([issued(9)])[1]
    cases = {
        "good": good,
        "gap": [good[0], later(sequence=3)],
        "again": [good[0], good[0]],
        "unchained": [good[0], later(before=other_first)],
        "foreign": [good[0], foreign],
        "environment": [good[0], test_environment],
        "addition": [pack([issued(9)])[0], later(before=other_first)],
    }
    expected = {
        "good": [set(), set()],
        "gap": [set(), {FaultCode.SEQUENCE}],
        "again": [set(), {FaultCode.SEQUENCE, FaultCode.TWICE}],
        "unchained": [set(), {FaultCode.PREVIOUS}],
        # The hashes of a timeline cover the tenant's id.
        "foreign": [set(), {FaultCode.TENANT, FaultCode.TIMELINE}],
        "environment": [set(), {FaultCode.TENANT}],
        "addition": [set(), {FaultCode.ADDITION}],
    }
    for name, packages in cases.items():
        chain, reports = ChainCheck(), []
        for package in packages:
            reports.append(check_package(io.BytesIO(package), Expected()))
            chain.add(reports[-1])
        assert [codes(report) for report in reports] == expected[name], name
        assert [as_node(report) for report in reports] == by_node(tmp_path, packages, chain=True), name


def test_each_way_to_deceive_is_named() -> None:
    files = files_of(first()[0])
    answer = next(name for name in files if name.endswith("/answer.json"))
    other_end = files[answer].replace(b'"voided"', b'"rejected"')
    assert codes(judge(zipped(signed_again({**files, answer: other_end})))) == {FaultCode.DOCUMENT}
    signed = "issued/E310000000001-00000000-0000-7000-8000-000000000001/signed.xml"
    expired = made.make_credential("VENCIDA", not_after=made.VALID_FROM.replace(year=2025))
    other = sign(ecf("E310000000099", "1000000.00"))
    assert codes(judge(zipped(signed_again({**files, signed: other})))) == {FaultCode.DOCUMENT, FaultCode.TIMELINE}
    by_expired = sign(ecf("E310000000001"), expired)
    report = judge(zipped(signed_again({**files, signed: by_expired})))
    assert codes(report) == {FaultCode.CERTIFICATE, FaultCode.TIMELINE}
    (told,) = (fault.what for fault in report.faults if fault.code is FaultCode.CERTIFICATE)
    assert re.search(r"to 2025-01-01 00:00:00\+00:00, signed [0-9-]+ [0-9:]+-04:00\Z", told), told
    late = stamping.token(first()[1].digest, at=stamping.AT.replace(year=2025))
    assert codes(judge(first()[0], token=late)) == {FaultCode.TIME_STAMP}
    assert codes(judge(first()[0], token=stamping.token(bytes(32)))) == {FaultCode.TIME_STAMP}
    claimed = pack([issued(1, status=Status.REJECTED)])[0]
    assert codes(judge(claimed)) == {FaultCode.TIMELINE}
    package = first()[0]
    key = json.loads(files["manifest.json"])["key"]["id"]
    assert codes(judge(package, Expected(frozenset({key}), int(TENANT), "ecf"))) == set()
    assert codes(judge(package, Expected(frozenset({"0" * 64}), 8, "certecf"))) == {FaultCode.KEY, FaultCode.TENANT}


@pytest.mark.parametrize("curve", [None, "P-256", "P-384"])
def test_time_stamps_of_each_kind_of_key_hold_and_are_read_out_of_a_response(curve: str | None) -> None:
    package, sealed = pack([issued(1)])

    report = judge(package, token=stamping.token(sealed.digest, curve))

    assert codes(report) == set()
    assert report.time_stamp is not None
    assert (report.time_stamp.at, report.time_stamp.signer.name) == (stamping.AT, "SELLO DE PRUEBA")
    answer = stamping.response(stamping.token(sealed.digest, curve))
    assert read_response(answer, sealed.digest)[1].at == stamping.AT
    assert tsp.TimeStampReq.load(time_stamp_request(sealed.digest)).native["cert_req"] is True
    with pytest.raises(NoTimeStamp):
        read_response(answer, bytes(32))


def test_program_runs_on_a_bare_python_in_both_languages(tmp_path: Path) -> None:
    program = tmp_path / "fe-verify-archive.pyz"
    program.write_bytes(build_verifier())
    assert build_verifier() == program.read_bytes()
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / package_name(TENANT, Environment.ECF, 1)).write_bytes(first()[0])
    (packages / package_name(TENANT, Environment.ECF, 1)).with_suffix(".tst").write_bytes(stamp())
    (packages / "another name.zip").write_bytes(later())
    roots = tmp_path / "roots.pem"
    roots.write_bytes(made.default_root().certificate.public_bytes(Encoding.PEM))

    def run(*arguments: object) -> tuple[int, str]:
        ended = subprocess.run(
            [sys.executable, "-I", "-S", str(program), *map(str, arguments)],
            cwd=tmp_path, env={}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return ended.returncode, ended.stdout + ended.stderr

    code, said = run("--lang", "es", "--roots", roots, packages)
    assert (code, said.splitlines()[-1]) == (0, "Todo está conforme."), said
    assert "manifiesto: conforme; cadena: conforme; sello de tiempo: conforme (sellado 2026-11-27" in said
    (packages / "another name.zip").write_bytes(later()[:-1])
    code, said = run("--lang", "en", packages)
    assert (code, said.splitlines()[-1]) == (1, "NOT everything holds.")
    code, said = run("--json", packages)
    assert (code, [bool(json.loads(line)["faults"]) for line in said.splitlines()].count(True)) == (1, 1)
    assert run("nowhere.zip")[0] == 2
    (packages / "another name.zip").write_bytes(later())
    (tmp_path / "8" / "ecf").mkdir(parents=True)
    shutil.copytree(packages, tmp_path / "7" / "ecf")
    (tmp_path / "8" / "ecf" / "gap.zip").write_bytes(first()[0])
    (tmp_path / "8" / "ecf" / "later.zip").write_bytes(later(sequence=3))
    shutil.rmtree(packages)
    code, said = run("--lang", "en", "--quiet", ".")
    assert code == 1
    assert "Chain 7/ecf: Everything holds.\n  Packages: 2; receipts: 8; additions: 1; faults: 0." in said
    assert "Chain 8/ecf: NOT everything holds." in said
    assert said.splitlines()[-2:] == ["Packages: 4; receipts: 16; additions: 2; faults: 1.", "NOT everything holds."]


def test_daily_packages_of_years_hold_within_minutes(tmp_path: Path) -> None:
    """A year; ten of them: FE_TEST_ARCHIVE_DAYS=3653 and -s, which shows the seconds."""
    program = tmp_path / "fe-verify-archive.pyz"
    program.write_bytes(build_verifier())
    folder = tmp_path / "packages"
    folder.mkdir()
    sealed: Sealed | None = None
    names = []
    for number in range(1, DAYS + 1):
        after = timedelta(days=number)
        package, sealed = pack(
            [issued(number)], before=sealed, sequence=number, day=DAY + after, made_at=MADE_AT + after
        )
        names.append(folder / package_name(TENANT, Environment.ECF, number))
        names[-1].write_bytes(package)

    began = time.monotonic()
    ours = subprocess.run(
        [sys.executable, "-I", "-S", str(program), "--lang", "en", "--quiet", str(folder)],
        env={}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = [time.monotonic() - began]
    said = [f"Packages: {DAYS}; receipts: {DAYS}; additions: 0; faults: 0.", "Everything holds."]
    assert (ours.returncode, ours.stdout.splitlines()[-2:]) == (0, said), ours.stdout + ours.stderr
    began = time.monotonic()
    theirs = read_by_node(names, chain=True)
    seconds.append(time.monotonic() - began)
    assert theirs == [[]] * DAYS
    sys.stdout.write(f"{DAYS} packages: {seconds[0]:.1f} s in Python, {seconds[1]:.1f} s in Node\n")
    assert max(seconds) < 600


_TEXTS = st.text(st.sampled_from("aé <>&\"'\t\n\r€\U0001f418"), max_size=6)
_SPACES = st.sampled_from(["", "urn:a", "urn:b?x=1"])
_PREFIXES = st.sampled_from(["", "p", "q", "xml"])


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> str:
    """Elements with declarations, attributes and texts in every order; some do not hang together."""

    def quoted(text: str) -> str:
        return "".join(f"&#{ord(sign)};" if sign in "<>&\"'\r\n\t" else sign for sign in text)

    prefix, local = draw(_PREFIXES), draw(st.sampled_from("ab"))
    name = f"{prefix}:{local}" if prefix in ("p", "q") else local
    parts = [f' xmlns="{quoted(draw(_SPACES))}"'] if draw(st.booleans()) else []
    parts += [f' xmlns:{one}="{quoted(draw(_SPACES)) or "urn:c"}"' for one in "pq" if draw(st.booleans())]
    for one in draw(st.lists(st.sampled_from(["x", "p:x", "q:y", "xml:lang", "z"]), unique=True, max_size=3)):
        parts.append(f' {one}="{quoted(draw(_TEXTS))}"')
    inner = [quoted(draw(_TEXTS)) for _ in range(2)]
    if depth:
        inner[1:1] = draw(st.lists(trees(depth - 1), max_size=2))
    return f"<{name}{''.join(parts)}>{''.join(inner)}</{name}>"


@given(trees(), st.booleans())
def test_canonical_form_is_that_of_libxml2(text: str, exclusive: bool) -> None:
    whole = f'<r xmlns:p="urn:p" xmlns:q="urn:a">{text}</r>'
    try:
        theirs = etree.fromstring(whole.encode())
    except etree.XMLSyntaxError:  # an attribute that two prefixes make one
        with pytest.raises(ValueError, match="XML"):
            parse(whole.encode())
        return
    for element in theirs.iter():
        if len(element):
            element.text = element.text if (element.text or "").strip(" \t\r\n") else None
            for child in element:
                child.tail = child.tail if (child.tail or "").strip(" \t\r\n") else None

    expected = etree.tostring(theirs, method="c14n", exclusive=exclusive, with_comments=False)

    assert canonical(parse(whole.encode()), exclusive=exclusive) == expected
