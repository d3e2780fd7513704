"""Where a counterparty is reached: asked once in a while, and read in whatever form the authority gives it."""

from typing import Any, cast

import pytest
import trio
import trio.testing

from fe.authority.bodies import read_body
from fe.authority.client import Authority, DirectoryEntry, Signing
from fe.authority.replies import Unreadable, read_directory
from fe.counterparty.directory import ABSENT_FOR, FOUND_FOR, Directory
from fe.ecf.catalogue import Environment
from fe.ecf.json_text import write_json
from fe.store.records.counterparty import HandingKind

RNC = "131880681"
ENTRY = {"nombre": "X", "rnc": RNC, "urlRecepcion": "https://x.do/r/", "urlAceptacion": "", "urlOpcional": None}
READ = DirectoryEntry(RNC, "https://x.do/r/", None)
NOBODY = cast(Signing, None)


def read(answer: Any, **more: Any) -> DirectoryEntry | None:
    return read_directory(read_body(write_json(answer)), rnc=RNC, **more)


@pytest.mark.parametrize("answer", [[ENTRY], ENTRY, [{**ENTRY, "rnc": "1"}, ENTRY]])
def test_an_entry_is_read_from_an_array_or_an_object(answer: Any) -> None:
    assert read(answer) == READ


def test_directory_without_an_entry_returns_none() -> None:
    other = {**ENTRY, "rnc": "101000001"}

    assert read([]) is None
    assert read([other]) is None
    assert read([other], stands_in=True) == DirectoryEntry("101000001", "https://x.do/r/", None)
    assert read([other, other], stands_in=True) is None


@pytest.mark.parametrize("answer", ["x", 7, [{"nombre": "X"}], {"estado": 1}])
def test_malformed_entry_is_unreadable(answer: Any) -> None:
    with pytest.raises(Unreadable):
        read(answer)


class Scripted:
    """An authority that has one entry, or none."""

    def __init__(self) -> None:
        self.entry: DirectoryEntry | None = READ
        self.asked = 0

    async def directory_entry(self, environment: Environment, rnc: str, credential: Signing) -> DirectoryEntry | None:
        self.asked += 1
        return self.entry


async def test_the_directory_is_asked_again_only_after_a_while(autojump_clock: trio.testing.MockClock) -> None:
    authority = Scripted()
    directory = Directory(cast(Authority, authority))

    async def address(kind: HandingKind = HandingKind.RECEIPT) -> str | None:
        return await directory.address(Environment.ECF, RNC, kind, NOBODY)

    assert [await address(), await address(HandingKind.APPROVAL)] == ["https://x.do/r", None]
    assert authority.asked == 1
    authority.entry = None
    await trio.sleep(FOUND_FOR.total_seconds() - 1)
    assert (await address(), authority.asked) == ("https://x.do/r", 1)
    await trio.sleep(2)
    assert (await address(), authority.asked) == (None, 2)
    authority.entry = READ
    await trio.sleep(ABSENT_FOR.total_seconds() + 1)
    assert (await address(), authority.asked) == ("https://x.do/r", 3)
    directory.forget(Environment.ECF, RNC)
    assert (await address(), authority.asked) == ("https://x.do/r", 4)


async def test_entry_includes_the_token_address(autojump_clock: trio.testing.MockClock) -> None:
    authority = Scripted()
    authority.entry = read([{**ENTRY, "urlOpcional": " https://sesiones.x.do/ "}])
    directory = Directory(cast(Authority, authority))

    told = await directory.authentication(Environment.ECF, RNC, NOBODY)

    assert (told, await directory.address(Environment.ECF, RNC, HandingKind.RECEIPT, NOBODY), authority.asked) == (
        "https://sesiones.x.do",
        "https://x.do/r",
        1,
    )
    authority.entry = READ
    directory.forget(Environment.ECF, RNC)
    assert await directory.authentication(Environment.ECF, RNC, NOBODY) is None


@pytest.mark.parametrize(
    ("written", "base"),
    [
        ("fe.x.do", "https://fe.x.do"),
        ("fe.x.do:8443/dgii/", "https://fe.x.do:8443/dgii"),
        ("https://fe.x.do/dgii", "https://fe.x.do/dgii"),
        ("http://fe.x.do", "http://fe.x.do"),
        (" / ", None),
    ],
)
async def test_a_base_may_be_written_without_its_scheme(written: str, base: str | None) -> None:
    authority = Scripted()
    authority.entry = DirectoryEntry(RNC, written, written, written)
    directory = Directory(cast(Authority, authority))

    found = [await directory.address(Environment.ECF, RNC, kind, NOBODY) for kind in HandingKind]

    assert found == [base, base]
    assert await directory.authentication(Environment.ECF, RNC, NOBODY) == base


async def test_the_certification_environment_has_none() -> None:
    authority = Scripted()

    found = await Directory(cast(Authority, authority)).address(Environment.CERTECF, RNC, HandingKind.RECEIPT, NOBODY)

    assert (found, authority.asked) == (None, 0)
