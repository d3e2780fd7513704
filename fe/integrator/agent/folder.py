"""Receipts by a folder: JSON, XML, CSV and XLSX in; XML, PDF, ticket and verdict out.

A file is issued once: its receipts are named after its name and content, and its outputs are written whole.
"""

import json
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from fe.cli.failures import Failure
from fe.ecf.parse import MAX_BYTES, Malformed, parse_json
from fe.ecf.texts import Text
from fe.integrator.agent.agent import Agent
from fe.integrator.agent.refusals import BAD_FILE, SaleRefused
from fe.integrator.agent.store import Sale
from fe.integrator.submit import body_of
from fe.workbooks.receipts import read_receipts
from fe.workbooks.tables import UnreadableWorkbook

_WORKBOOKS = frozenset({".csv", ".xlsx"})
_KNOWN = _WORKBOOKS | {".json", ".xml"}
#: The longest file of many receipts.
_LARGEST = 8 * 2**20
#: Statuses of a refusal that passes: the file stays where it is, and is tried again.
_PASSING = frozenset({409, 503, 507})
_SECONDS = 1.0
#: Outputs looked at in one round.
_LOOKS = 200
_SIZE = Text("a file has at most {most} bytes", "un archivo tiene máximo {most} bytes")
_KINDS = Text("known are .json, .xml, .csv and .xlsx", "se aceptan .json, .xml, .csv y .xlsx")


class Folder:
    """The folders `in`, `out`, `done` and `bad` of an agent. One thread works on them."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._in, self._out, self._done, self._bad = (agent.folder / name for name in ("in", "out", "done", "bad"))
        for one in (self._in, self._out, self._done, self._bad):
            one.mkdir(mode=0o700, exist_ok=True)
        self._seen: dict[str, tuple[int, int]] = {}

    def run(self, ended: threading.Event) -> None:
        """Take files in and write outputs until `ended` is set. A full disk is waited for."""
        while not ended.wait(_SECONDS):
            try:
                self.round()
            except (OSError, SaleRefused) as error:
                self._agent.deliverer.trouble = str(error)

    def round(self) -> None:
        """Issue what lies in `in` and is written to its end, and write what is new into `out`."""
        for file in sorted(self._in.iterdir()):
            if file.name.startswith(".") or file.suffix in (".tmp", ".part") or not file.is_file():
                continue
            about = file.stat()
            mark = about.st_size, about.st_mtime_ns
            if self._seen.get(file.name) == mark:  # unchanged since the last round: its writer has finished
                self._take(file)
            else:
                self._seen[file.name] = mark
        for receipt, stem, written in self._agent.store.outputs(_LOOKS):
            self._write(receipt, stem, written)

    def _take(self, file: Path) -> None:
        try:
            content = file.read_bytes()
            bodies = list(_bodies(file, content))
            for body in bodies if len(bodies) > 1 else ():
                self._agent.till.check(body)  # one that is bad keeps the whole file from being issued
            for n, body in enumerate(bodies):
                self._issue(file.stem, n, body)
        except SaleRefused as refused:
            if refused.status in _PASSING:
                self._say(file, refused)
                return
            self._put_aside(file, refused)
        else:
            (self._out / f"{file.stem}.error.json").unlink(missing_ok=True)
            self._move(file, self._done)

    def _issue(self, stem: str, n: int, body: dict[str, Any]) -> None:
        receipt, _ = self._agent.issue(body)
        store = self._agent.store
        with store.transaction():
            store.add_output(receipt, stem if n == 0 else f"{stem}-{n + 1}")

    def _put_aside(self, file: Path, refused: SaleRefused) -> None:
        self._say(file, refused)
        self._move(file, self._bad)

    def _say(self, file: Path, refused: SaleRefused) -> None:
        text = BAD_FILE.fill(name=file.name, why=refused.text)
        body = {"message": text.en, "messageEs": text.es, "problems": refused.problems}
        _put(self._out / f"{file.stem}.error.json", _json(body))

    def _move(self, file: Path, to: Path) -> None:
        """Move it; one of that name that was moved before stays beside it."""
        target, n = to / file.name, 2
        while target.exists():
            target, n = to / f"{file.stem}~{n}{file.suffix}", n + 1
        file.rename(target)
        self._seen.pop(file.name, None)

    def _write(self, receipt: Sale, stem: str, written: str) -> None:
        is_final = receipt.state in ("done", "rejected")
        wanted = "verdict" if is_final else "issued" if receipt.is_signed else ""
        if wanted in ("", written):
            return
        if receipt.is_signed:
            _put(self._out / f"{stem}.xml", receipt.body)
            self._print(receipt, stem)
        _put(self._out / f"{stem}.json", _json(self._agent.shown(receipt)))
        if is_final:
            _put(self._out / f"{stem}.verdict.json", _json(receipt.answer))
        store = self._agent.store
        with store.transaction():
            store.wrote_output(receipt, wanted)

    def _print(self, receipt: Sale, stem: str) -> None:
        try:
            for kind in ("pdf", "ticket"):
                _put(self._out / f"{stem}.{kind}", self._agent.print(receipt, kind))
        except SaleRefused as refused:
            why = {"message": refused.text.en, "messageEs": refused.text.es}
            _put(self._out / f"{stem}.error.json", _json(why))
        else:
            (self._out / f"{stem}.error.json").unlink(missing_ok=True)


def _bodies(file: Path, content: bytes) -> Iterator[dict[str, Any]]:
    """Read the receipts of a file as bodies of POST /invoices. Raises SaleRefused if one cannot be read."""
    suffix = file.suffix.lower()
    if suffix not in _KNOWN:
        raise SaleRefused(400, _KINDS)
    most = _LARGEST if suffix in _WORKBOOKS else MAX_BYTES
    if len(content) > most:
        raise SaleRefused(400, _SIZE.fill(most=most))
    digest = sha256(file.name.encode() + b"\0" + content).hexdigest()
    name = f"file-{digest[:40]}"
    if suffix not in _WORKBOOKS:
        try:
            yield {"clientRequestId": name, **body_of(content, file.name)}
        except Failure as wrong:
            raise SaleRefused(400, Text(str(wrong), str(wrong))) from None
        return
    try:
        receipts = read_receipts(content).receipts
    except UnreadableWorkbook as wrong:
        raise SaleRefused(400, wrong.text) from None
    except Malformed as wrong:
        raise SaleRefused(400, wrong.text) from None
    for one in receipts:
        for fault in one.faults:
            raise SaleRefused(400, fault.text.after(f"{fault.row} {fault.column or ''}".rstrip()))
    for n, one in enumerate(receipts, 1):
        key = one.key if one.is_own_key else f"{name}-{n}"
        payload = parse_json(one.payload)
        yield {"format": "structured", "payload": payload, "clientRequestId": key}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str).encode()


def _put(file: Path, content: bytes) -> None:
    """Write a file whole: a reader sees the old one or the new one."""
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(content)
    part.replace(file)
