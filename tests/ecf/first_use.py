"""`python -m tests.ecf.first_use N`: N new processes in which threads do everything for the first time, all at once.

Each is forked from one that has imported the code and used nothing of it yet, which is as fresh as one that has just
been started, and a hundred times sooner there. Prints what went wrong in each, as JSON.
"""

import json
import os
import sys
import threading
from datetime import timedelta

from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType
from fe.ecf.parse import parse_xml
from fe.ecf.schema import validate, xsd
from fe.ecf.schema.kinds import kind_of, kinds
from fe.ecf.selfmade import self_made
from fe.ecf.signature import Signer, verify
from tests.ecf.receipts import NOW, receipt
from tests.factories.certificates import HOLDER, HOLDER_ID, rsa_key

_THREADS = 4


def _go(raw: bytes, signer: Signer, barrier: threading.Barrier, wrong: list[str]) -> None:
    try:
        barrier.wait()
        root = parse_xml(raw)
        kind = kind_of(root)
        assert kind is not None
        barrier.wait()
        xsd.compiled(kind)  # at once: libxml2 takes some 20 microseconds for what no two threads may do
        if found := validate(root):
            wrong.append(f"a good document has {found[0].code}")
        barrier.wait()
        broken = parse_xml(raw.replace(b"<FechaEmision>15-10", b"<FechaEmision>15/10"))
        if (codes := [problem.code for problem in validate(broken)]) != ["pattern"]:
            wrong.append(f"a broken document has {codes}")
        barrier.wait()
        verify(signer.sign(root).xml)
    except Exception as error:
        wrong.append(f"{type(error).__name__}: {error}")
        barrier.abort()


def _all_at_once(documents: list[bytes], signer: Signer) -> list[str]:
    """Do it in several threads; what went wrong."""
    barrier, wrong = threading.Barrier(_THREADS), list[str]()
    threads = [
        threading.Thread(target=_go, args=(documents[number], signer, barrier, wrong)) for number in range(_THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def _in_a_new_process(documents: list[bytes], signer: Signer) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, "; ".join(_all_at_once(documents, signer)).encode()[:4096])
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8", errors="replace") as told:
        said = told.read()
    _, status = os.waitpid(child, 0)
    return said or (f"it ended with {status}" if status else "")


def main() -> None:
    """Try it as often as the command line says."""
    documents = [etree.tostring(build(receipt(kind))) for kind in list(EcfType)[:_THREADS]]
    whole_life = {"not_before": NOW - timedelta(days=1), "not_after": NOW + timedelta(days=365)}
    signer = Signer(self_made(rsa_key("company"), holder=HOLDER, holder_id=HOLDER_ID, **whole_life))
    # Written before, so that nothing comes between the barrier and what the threads compile.
    written = {kind: xsd.quick_xsd(kind) for kind in kinds()}
    xsd.quick_xsd = written.__getitem__  # type: ignore[assignment]  # it is called the same way
    assert xsd.compiled.cache_info().currsize == 0, "something was compiled already: nothing here is a first time"
    failures = [_in_a_new_process(documents, signer) for _ in range(int(sys.argv[1]))]
    json.dump([failure for failure in failures if failure], sys.stdout)


if __name__ == "__main__":
    main()
