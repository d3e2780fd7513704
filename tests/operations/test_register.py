"""The authority's register: loaded whole or not at all, from files and servers that lie."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.catalogue.taxpayers import BadLine, RegisteredTaxpayer, read_line, remarks_on
from fe.operations import register
from fe.operations.register import BadRegister, load
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import FRONT, OPERATOR
from fe.store.records import taxpayers
from tests.factories.registers import LINES, line_of, zip_of

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


@pytest.fixture
async def operator(dsn: str) -> AsyncIterator[Database]:
    async with open_database(dsn, role=OPERATOR) as db:
        yield db


def written(folder: Path, content: bytes) -> Path:
    path = folder / "DGII_RNC.zip"
    path.write_bytes(content)
    return path


async def test_register_is_loaded_shown_to_the_front_and_replaced(operator: Database, dsn: str, tmp_path: Path) -> None:
    bad = ["x", line_of("131880657", "AGAIN")]
    first = await load(operator, written(tmp_path, zip_of([*LINES, *bad])), NOW, "ana")
    async with open_database(dsn, role=FRONT) as front:
        found = await front.run(taxpayers.find, "101000001")
        ana = await front.run(taxpayers.find, "00100000009")
        second = await load(operator, written(tmp_path, zip_of(LINES[1:])), NOW, "eva")
        gone = await front.run(taxpayers.find, "131880657")
        current = await front.run(taxpayers.current)

    assert (first.rows, first.bad, second.rows) == (203, 2, 202)
    assert first.named == [(204, "1 columns, and not 11"), (205, "the number was there before")]
    assert found == RegisteredTaxpayer(
        "101000001", 'FERRETERIA "LA ÑAPA" & HIJOS, S.A.', "", "VENTA AL POR MENOR", "SUSPENDIDO", "NORMAL"
    )
    assert ana is not None
    assert ana.name == "ANA NÚÑEZ \\N"
    assert (gone, current and (current.generation, current.rows, current.loaded_by)) == (None, (2, 202, "eva"))


def _cut(made: bytes) -> bytes:
    return made[: len(made) // 2]


def _corrupted(made: bytes) -> bytes:
    return made[:80] + bytes(20) + made[100:]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: b"", "cannot be read"),
        (lambda: b"<html>", "cannot be read"),
        (lambda: _cut(zip_of(LINES)), "cannot be read"),
        (lambda: _corrupted(zip_of(LINES)), "cannot be read"),
        (lambda: zip_of(LINES, "README.md"), "0 text files"),
        (lambda: zip_of([*LINES], other=True), "2 text files"),
        (lambda: zip_of([]), "0 of 0 lines"),
        (lambda: zip_of(["<html>"] * 50), "50 of 50 lines"),
        (lambda: zip_of([*LINES, *["x"] * 10]), "10 of 213 lines"),
        (lambda: zip_of(["A" * 10_000_000]), "lines are no lines"),
        (lambda: zip_of(LINES[:150]), "may be cut off"),
    ],
    ids=range(11),
)
async def test_file_that_is_no_register_leaves_the_old_one_in_force(
    content: Callable[[], bytes], said: str, operator: Database, tmp_path: Path
) -> None:
    await load(operator, written(tmp_path, zip_of(LINES)), NOW, "ana")

    with pytest.raises(BadRegister, match=said):
        await load(operator, written(tmp_path, content()), NOW, "eva")

    current = await operator.run(taxpayers.current)
    assert current is not None
    assert (current.generation, current.rows) == (1, len(LINES))
    assert (await load(operator, written(tmp_path, zip_of(LINES[:150])), NOW, "eva", smaller=True)).rows == 150


async def test_bomb_is_refused_by_what_comes_out_of_it(
    operator: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(register, "MAX_TEXT", 10_000)

    with pytest.raises(BadRegister, match="more than 10000 bytes"):
        await load(operator, written(tmp_path, zip_of(LINES)), NOW, "ana")


def test_buyer_is_compared_with_the_register_and_forms_of_companies_do_not_count() -> None:
    found = RegisteredTaxpayer("131880657", "FERRETERIA EL SOL, S.R.L.", "EL SOL", "", "ACTIVO", "NORMAL")
    for name in ("Ferretería El Sol", "ferreteria el sol srl", "El Sol", None):
        assert list(remarks_on(found, name)) == []
    (other,) = remarks_on(found, "El Sol y la Luna")
    (closed,) = remarks_on(RegisteredTaxpayer("131880657", "EL SOL", "", "", "DADO DE BAJA", ""), "El Sol")

    assert (other.code, other.path, other.severity) == (
        "buyer-other-name",
        "Encabezado.Comprador.RazonSocialComprador",
        "conditional",
    )
    assert (closed.code, "DADO DE BAJA" in closed.message_es) == ("buyer-not-active", True)


@given(st.binary(max_size=200) | st.text("|0123456789AÑ \t\\", max_size=80).map(str.encode))
def test_line_of_any_bytes_is_refused_or_read(line: bytes) -> None:
    try:
        found = read_line(line)
    except BadLine:
        return
    assert len(found.rnc) in (9, 11)
    assert found.name
