"""Load the authority's register of taxpayers from its ZIP, whole or not at all (docs/operations/register.md)."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Final

import httpx

from fe.catalogue.taxpayers import LONGEST_LINE, BadLine, RegisteredTaxpayer, read_line
from fe.store.postgres.db import Conn, Database
from fe.store.records import taxpayers

#: Bytes of the ZIP and of the text in it; the authority's have some 20 and 90 millions.
MAX_ZIP: Final = 256 * 1024 * 1024
MAX_TEXT: Final = 1024 * 1024 * 1024
#: Of a thousand lines, those that may be bad; a file with more is another kind of file.
MAX_BAD: Final = 10
#: A file with fewer rows than this part of those in force was cut off.
LEAST: Final = 0.9
#: Bad lines that are named.
NAMED: Final = 10
#: The server in front of the authority's file cuts long answers, so it is fetched in pieces.
PIECE: Final = 2 * 1024 * 1024
_AT_ONCE = 1024 * 1024
_AGENT = "Mozilla/5.0 (compatible; fe)"


class BadRegister(Exception):
    """The file is not a register that may be loaded; the text says why. The old one stays in force."""


@dataclass(slots=True)
class LoadReport:
    """Rows that a load wrote, and lines that it left out."""

    rows: int = 0
    bad: int = 0
    #: The first bad lines by number, with the reason.
    named: list[tuple[int, str]] = field(default_factory=list)


async def load(db: Database, path: Path, now: datetime, by: str, *, smaller: bool = False) -> LoadReport:
    """Put the register of a ZIP in force. Raises BadRegister.

    `smaller`: also one that has far fewer rows than that in force.
    """
    report = LoadReport()

    async def work(conn: Conn) -> None:
        before = await taxpayers.current(conn)
        try:
            with zipfile.ZipFile(path) as archive, archive.open(_only_text(archive)) as packed:
                text = io.BufferedReader(packed, _AT_ONCE)  # type: ignore[type-var]  # it has what a raw stream has
                report.rows = await taxpayers.replace(conn, _lines(text, report), now, by)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, OSError) as bad:
            raise BadRegister(f"the ZIP cannot be read: {bad}") from None
        if report.rows == 0 or report.bad * 1000 > MAX_BAD * (report.rows + report.bad):
            raise BadRegister(f"{report.bad} of {report.rows + report.bad} lines are no lines of the register")
        if before is not None and report.rows < LEAST * before.rows and not smaller:
            raise BadRegister(
                f"it has {report.rows} rows, that in force {before.rows}: it may be cut off; --smaller takes it"
            )

    await db.transact(work)
    return report


def _only_text(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    texts = [one for one in archive.infolist() if one.filename.lower().endswith(".txt")]
    if len(texts) != 1:
        raise BadRegister(f"the ZIP has {len(texts)} text files, and not one")
    if texts[0].file_size > MAX_TEXT:
        raise BadRegister(f"its text has more than {MAX_TEXT} bytes")
    return texts[0]


def _lines(text: IO[bytes], report: LoadReport) -> Iterator[RegisteredTaxpayer]:
    """Read taxpayers, each number once. Lines that are none are counted, and the first of them named."""
    seen: set[int] = set()
    size = number = 0
    while line := text.readline(LONGEST_LINE + 2):
        size += len(line)
        if size > MAX_TEXT:
            raise BadRegister(f"its text has more than {MAX_TEXT} bytes")
        number += 1
        bare = line.rstrip(b"\r\n")
        if not bare.strip(b"\x1a \t"):
            continue
        try:
            found = read_line(bare)
            # The length tells an RNC from a cédula that begins with zeros.
            key = int(f"{len(found.rnc)}{found.rnc}")
            if key in seen:
                raise BadLine("the number was there before")
        except BadLine as bad:
            report.bad += 1
            if len(report.named) < NAMED:
                report.named.append((number, str(bad)))
            continue
        seen.add(key)
        yield found


def fetch(url: str, made: IO[bytes]) -> None:
    """Fetch a ZIP in pieces into a file. Raises BadRegister."""
    try:
        _fetch_into(made, url)
    except (httpx.HTTPError, httpx.InvalidURL) as broken:
        raise BadRegister(f"{url} cannot be fetched: {type(broken).__name__} {broken}".rstrip()) from None


def _fetch_into(made: IO[bytes], url: str) -> None:
    with httpx.Client(trust_env=False, timeout=60.0, follow_redirects=True, headers={"User-Agent": _AGENT}) as client:
        have, whole, mark = 0, None, None
        while whole is None or have < whole:
            asked = {"Range": f"bytes={have}-{have + PIECE - 1}"}
            with client.stream("GET", url, headers=asked) as answer:
                if answer.status_code not in (200, 206):
                    raise BadRegister(f"{url} answers {answer.status_code}")
                if answer.status_code == 200 and have:
                    raise BadRegister(f"{url} does not go on where it stopped")
                changed = mark not in (None, answer.headers.get("etag"))
                mark = answer.headers.get("etag")
                if changed:
                    raise BadRegister(f"{url} changed while it was fetched: try again")
                before = have
                for piece in answer.iter_raw():
                    have += len(piece)
                    if have > MAX_ZIP:
                        raise BadRegister(f"{url} has more than {MAX_ZIP} bytes")
                    made.write(piece)
                if answer.status_code == 200:
                    break
                whole = _whole(answer.headers.get("content-range", ""))
                if have == before:
                    raise BadRegister(f"{url} stopped after {have} bytes")
        made.flush()


def _whole(said: str) -> int:
    total = said.rpartition("/")[2]
    if not total.isascii() or not total.isdigit():
        raise BadRegister("the server does not say how long the file is")
    return int(total)
