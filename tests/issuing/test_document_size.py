"""Which documents are read apart: those that would hold the interpreter for others."""

import pytest

from fe.issuing.document_size import LARGE_BYTES, is_large

ROOM = LARGE_BYTES - 100


@pytest.mark.parametrize("number", [b"1", b"1.1", b"-12.345"])
def test_body_of_numbers_alone_within_the_bytes_of_a_small_one_is_large(number: bytes) -> None:
    raw = b'{"format":"structured","payload":{"a":[' + b",".join([number] * (ROOM // (len(number) + 1))) + b"]}}"

    assert len(raw) <= LARGE_BYTES
    assert is_large(raw)


def test_receipt_of_few_lines_with_many_fields_each_is_not_large() -> None:
    line = b'{"NumeroLinea":1,"IndicadorFacturacion":1,"NombreItem":"Martillo","MontoItem":1.00,"CantidadItem":2}'

    assert not is_large(b"[" + b",".join([line] * 450) + b"]")
