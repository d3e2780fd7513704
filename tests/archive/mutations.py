"""Break packages: their bytes, their files, and, signed again by the installation's key, what they say."""

import io
import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

from fe.archive.zip_writer import ZipWriter
from fe.ecf.json_text import write_canonical_json
from tests.archive.receipts import archive_key

Files = dict[str, bytes]


def files_of(package: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(package)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def zipped(files: Files | list[tuple[str, bytes]]) -> bytes:
    sink = io.BytesIO()
    writer = ZipWriter(sink)
    for name, content in files.items() if isinstance(files, dict) else files:
        writer.add(name, content)
    writer.close()
    return sink.getvalue()


def signed_again(files: Files, manifest: dict[str, Any] | None = None) -> Files:
    """Describe the files in the manifest as they are now, and sign it: only the documents themselves can show it."""
    value = manifest or json.loads(files["manifest.json"])
    if manifest is None:
        for entry in value["receipts"]:
            folder = (
                f"{entry['kind']}/{entry['eNCF']}-{entry['id']}" if entry["eNCF"] else f"{entry['kind']}/{entry['id']}"
            )
            for name in entry["files"]:
                entry["files"][name] = _described(files[f"{folder}/{name}"])
        for name in value["shared"]:
            value["shared"][name] = _described(files[name])
        said = [one for entry in value["receipts"] for one in entry["files"].values()] + list(value["shared"].values())
        value["counts"]["bytes"] = sum(one["bytes"] for one in said)
    raw = write_canonical_json(value)
    return {**files, "manifest.json": raw, "manifest.sig": archive_key().sign(raw)}


def _described(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": sha256(content).hexdigest()}


def _edit(content: bytes, random: Random) -> bytes:
    """Change, insert, remove or repeat some bytes."""
    start = random.randrange(len(content))
    end = min(start + random.choice((1, 1, 2, 40)), len(content))
    kind = random.randrange(5)
    if kind == 0:
        changed = bytes([content[start] ^ (1 << random.randrange(8))])
        return content[:start] + changed + content[start + 1 :]
    if kind == 1:
        return content[:start] + random.randbytes(end - start) + content[end:]
    if kind == 2:
        return content[:start] + random.randbytes(end - start) + content[start:]
    if kind == 3:
        return content[:start] + content[end:]
    return content[:end] + content[start:]


_PIECES = (
    b" ", b"\n", b"<!-- c -->", b"<![CDATA[x]]>", b"<![CDATA[]]>", b"&amp;", b"&#13;", b"&#x9;", b"&#0;", b"&e;",
    b"<a/>", b"<a b='1' b='2'/>", b"<p:a/>", b"<a xmlns='urn:x'/>", b"<a xmlns:p='urn:x' p:z='\t&#10;\"' y='&lt;'/>",
    b"]]>",    b"<?pi?>", b"\xc3\xb1", b"\xff", b"\x00", b"<a xml:lang='es'/>", b"<a xmlns=''/>",
    b"</ECF>", "\ufffe".encode(),
    b"<!DOCTYPE ECF>", b"\r\n", b"\r", b"<a>", "<ñ/>".encode(), b" x='1'", b" xmlns='urn:y'",
    b" xmlns:q='urn:q'", b"118.0",
)  # fmt: skip


def _edit_xml(content: bytes, random: Random) -> bytes:
    places = [at + 1 for at, byte in enumerate(content) if byte in b"<>="]
    at = random.choice(places) - random.randrange(2)
    return content[:at] + random.choice(_PIECES) + content[at:]


def _edit_json(value: Any, random: Random) -> Any:
    """Change a value somewhere within."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(sorted(value))
        if random.random() < 0.1:
            return {one: inner for one, inner in value.items() if one != name}
        return {**value, name: _edit_json(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        at = random.randrange(len(value))
        kind = random.randrange(6)
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return value[at:] + value[:at]
        return [*value[:at], _edit_json(value[at], random), *value[at + 1 :]]
    if isinstance(value, str) and value and random.random() < 0.7:
        at = random.randrange(len(value))
        return value[:at] + random.choice('0123456789abcdefEñ.\\"/ ') + value[at + 1 :]
    if isinstance(value, int) and not isinstance(value, bool) and random.random() < 0.7:
        return value + random.choice((-1, 1, 10**9, 2**53))
    return random.choice((None, True, False, 0, 1, -1, "", "x", [], {}, "1.00", "ECF", 1.5))


def _bytes(package: bytes, random: Random) -> bytes:
    return _edit(package, random)


def _cut(package: bytes, random: Random) -> bytes:
    return package[: random.randrange(len(package))]


def _rezip(package: bytes, random: Random) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as again:
        for name, content in files_of(package).items():
            again.writestr(name, content)
    return sink.getvalue()


def _reorder(package: bytes, random: Random) -> bytes:
    listed = list(files_of(package).items())
    at = random.randrange(len(listed) - 1)
    listed[at], listed[at + 1] = listed[at + 1], listed[at]
    return zipped(listed)


def _swap(package: bytes, random: Random) -> bytes:
    files = files_of(package)
    one, other = random.sample(sorted(files), 2)
    return zipped({**files, one: files[other], other: files[one]})


def _swap_signed_again(package: bytes, random: Random) -> bytes:
    files = files_of(package)
    one, other = random.sample(sorted(name for name in files if name.endswith((".xml", "timeline.json"))), 2)
    return zipped(signed_again({**files, one: files[other], other: files[one]}))


def _drop(package: bytes, random: Random) -> bytes:
    listed = list(files_of(package).items())
    del listed[random.randrange(len(listed))]
    return zipped(listed)


def _slip_in(package: bytes, random: Random) -> bytes:
    listed = list(files_of(package).items())
    name = random.choice(("../../etc/passwd", "/abs", "a\\b", "issued/../x", listed[0][0], "manifest.tst", "C:x"))
    listed.insert(random.randrange(len(listed) + 1), (name, b"x" * random.choice((1, 3_000))))
    return zipped(listed)


def _bomb(package: bytes, random: Random) -> bytes:
    """A file whose header promises less than its data inflate to, or more than a file may have."""
    files = files_of(package)
    name = random.choice(sorted(files))
    if random.random() < 0.5:
        return zipped({**files, name: bytes(17 * 1024 * 1024)})
    raw = zipped({**files, name: bytes(100_000)})
    return raw.replace((100_000).to_bytes(4, "little"), (5_000).to_bytes(4, "little"))


def _manifest(package: bytes, random: Random) -> bytes:
    files = files_of(package)
    value = _edit_json(json.loads(files["manifest.json"]), random)
    raw = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return zipped({**files, "manifest.json": raw, "manifest.sig": archive_key().sign(raw)})


def _unsigned_manifest(package: bytes, random: Random) -> bytes:
    files = files_of(package)
    return zipped({**files, "manifest.json": _edit(files["manifest.json"], random)})


def _document(package: bytes, random: Random) -> bytes:
    files = files_of(package)
    name = random.choice(sorted(name for name in files if name.endswith(".xml")))
    edit = random.choice((_edit, _edit_xml, _edit_xml))
    return zipped(signed_again({**files, name: edit(files[name], random)}))


def _timeline(package: bytes, random: Random) -> bytes:
    files = files_of(package)
    name = random.choice(sorted(name for name in files if name.endswith(("timeline.json", "answer.json"))))
    if random.random() < 0.3:
        changed = _edit(files[name], random)
    else:
        changed = json.dumps(_edit_json(json.loads(files[name]), random), ensure_ascii=random.random() < 0.5).encode()
    return zipped(signed_again({**files, name: changed}))


def _der(package: bytes, random: Random) -> bytes:
    """A certificate, the key or the signature; the manifest is of the old ones where names have digests."""
    files = files_of(package)
    name = random.choice(sorted(name for name in files if name.endswith((".der", ".sig"))))
    changed = {**files, name: _edit(files[name], random)}
    if name.startswith("certificates/"):
        digest, new = name[13:77], sha256(changed[name]).hexdigest()
        listed = {one.replace(digest, new): content for one, content in changed.items()}
        value = json.loads(files["manifest.json"].replace(digest.encode(), new.encode()))
        value["shared"][f"certificates/{new}.der"] = _described(changed[name])
        value["counts"]["bytes"] += len(changed[name]) - len(files[name])
        return zipped(signed_again(listed, value))
    return zipped(changed)


#: Each with the number of its share. After those of the first group something must always be found.
ALWAYS_SEEN: tuple[Callable[[bytes, Random], bytes], ...] = (
    _bytes, _bytes, _cut, _rezip, _reorder, _swap, _drop, _slip_in, _bomb, _unsigned_manifest, _swap_signed_again,
)  # fmt: skip
SIGNED_AGAIN: tuple[Callable[[bytes, Random], bytes], ...] = (
    _manifest,
    _document,
    _document,
    _document,
    _timeline,
    _der,
)


def mutated_stamp(token: bytes, random: Random) -> bytes:
    """Break the time stamp beside a package."""
    return _edit(token, random)


def mutated(package: bytes, random: Random) -> tuple[str, bytes]:
    """Break a package in one way; return the way's name, too."""
    way = random.choice(ALWAYS_SEEN + SIGNED_AGAIN)
    return way.__name__, way(package, random)
