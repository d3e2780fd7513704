"""Packages as other tools and their manifests see them."""

import io
import json
import zipfile
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from fe.archive.evidence import Addition, ArchiveKind, Evidence
from fe.archive.package import NotArchivable
from tests.archive.receipts import acecf, archive_key, issued, pack, received, sign


def test_package_of_the_same_evidence_has_the_same_bytes_and_opens_as_zip() -> None:
    evidence: list[Evidence] = [received(1), issued(2, ecf_type="32"), issued(1), issued(3, original=None)]

    package, sealed = pack(evidence)

    assert pack(evidence[::-1])[0] == package
    with zipfile.ZipFile(io.BytesIO(package)) as opened:
        assert opened.testzip() is None
        manifest = opened.read("manifest.json")
        archive_key().private.public_key().verify(opened.read("manifest.sig"), manifest, PKCS1v15(), SHA256())
        value = json.loads(manifest)
        digests: dict[str, dict[str, Any]] = {
            name: {"bytes": len(opened.read(name)), "sha256": sha256(opened.read(name)).hexdigest()}
            for name in opened.namelist()
            if not name.startswith("manifest.")
        }
    described: dict[str, Any] = dict(value["shared"])
    for entry in value["receipts"]:
        for name, said in entry["files"].items():
            described[f"{entry['kind']}/{entry['eNCF']}-{entry['id']}/{name}"] = said
    assert described == digests
    assert sealed.digest == sha256(manifest).digest()
    assert value["counts"] == {
        "receipts": 4,
        "additions": 0,
        "files": len(digests),
        "bytes": sum(said["bytes"] for said in digests.values()),
    }
    assert value["totals"] == [
        {"kind": "issued", "type": "31", "status": "Aceptado", "receipts": 2, "total": "236.00"},
        {"kind": "issued", "type": "32", "status": "Aceptado", "receipts": 1, "total": "118.00"},
        {"kind": "received", "type": "31", "status": None, "receipts": 1, "total": "59.00"},
    ]
    assert [entry["absent"] for entry in value["receipts"]] == [
        ["revocation-answer"],
        ["revocation-answer"],
        ["original", "revocation-answer"],
        ["certificate-chain", "revocation-answer"],
    ]
    assert manifest.isascii()


def test_evidence_that_the_format_has_no_place_for_is_refused_by_name() -> None:
    good = issued(1)
    nothing = Addition(ArchiveKind.ISSUED, good.id, good.issuer_rnc, good.e_ncf)
    wrongs: tuple[Evidence, ...] = (
        replace(good, e_ncf="../../etc"),
        replace(good, total=None),
        replace(good, total=Decimal("1.005")),
        replace(good, issuer_rnc="../1"),
        replace(good, signed=b""),
        replace(good, events=()),
        nothing,
    )
    for wrong in wrongs:
        with pytest.raises(NotArchivable, match=str(good.id)):
            pack([wrong])
    with pytest.raises(ValueError, match="out of order"):
        pack([good, replace(nothing, approval=sign(acecf("E310000000001")))])


def test_writer_refuses_a_first_package_with_a_predecessor() -> None:
    with pytest.raises(ValueError, match="sequence number 1"):
        pack([issued(1)], sequence=2)
