"""The first time in a process, in several threads at once; and that a service has no such time."""

import json
import subprocess
import sys
import threading

import pytest
from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType
from fe.ecf.parse import parse_xml
from fe.ecf.schema import prepare, validate
from tests.ecf.receipts import receipt

#: Without the care that is taken, one in twenty cannot compile a schema for as long as it lives, or ends in a crash.
_PROCESSES = 80


def test_threads_that_do_everything_for_the_first_time_at_once_can_do_it() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "tests.ecf.first_use", str(_PROCESSES)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert json.loads(told.stdout) == []


def test_once_all_is_prepared_no_thread_compiles_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare()
    compiled: list[str] = []

    def compile_now(*args: object) -> None:
        compiled.append(threading.current_thread().name)
        raise AssertionError("compiled again")

    monkeypatch.setattr(etree, "XMLSchema", compile_now)
    codes: list[list[str]] = []

    def judge() -> None:
        for kind in EcfType:
            raw = etree.tostring(build(receipt(kind)))
            codes.append([problem.code for problem in validate(parse_xml(raw))])
            broken = parse_xml(raw.replace(b"<FechaEmision>15-10", b"<FechaEmision>15/10"))
            codes.append([problem.code for problem in validate(broken)])

    thread = threading.Thread(target=judge)
    thread.start()
    thread.join()

    assert compiled == []
    assert codes == [[], ["pattern"]] * len(EcfType)
