"""The first problem is the cause: amounts computed from it come after it."""

from typing import Any

import pytest

from fe.ecf.catalogue import EcfType
from tests.mistakes.corpus import ID, ITEM, Payload, changed, good, without
from tests.mistakes.test_mistakes import problems_of


def plain() -> Payload:
    """A credit fiscal receipt whose amounts are all left to the service."""
    of = good(EcfType.CREDIT_FISCAL)
    for number in (1, 2):
        of = without(of, f"DetallesItems.Item[{number}].MontoItem")
    return of


_DISCOUNT = {"TipoAjuste": "D", "TipoValor": "$", "MontoDescuentooRecargo": "900.00"}


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        (f"{ITEM}.CantidadItem", "-1", "pattern"),
        (f"{ITEM}.PrecioUnitarioItem", "-5.00", "pattern"),
        (f"{ITEM}.DescuentoMonto", "900.00", "discount-too-high"),
        ("DescuentosORecargos.DescuentoORecargo[1].MontoDescuentooRecargo", "900.00", "discount-too-high"),
    ],
)
def test_negative_amount_is_reported_at_its_cause_first(path: str, value: str, code: str) -> None:
    of = plain()
    if path.startswith("DescuentosORecargos"):
        of["DescuentosORecargos"] = {"DescuentoORecargo": [dict(_DISCOUNT)]}

    problems = problems_of(changed(of, path, value))

    assert (problems[0].code, problems[0].path) == (code, path)
    paths = [one.path for one in problems]
    computed = [one.startswith("Encabezado.Totales") or one.endswith(".MontoItem") for one in paths]
    assert computed == sorted(computed), paths


def test_total_alone_is_compared_and_the_rest_is_completed() -> None:
    right, wrong = (changed(plain(), "Encabezado.Totales", {"MontoTotal": total}) for total in ("236.00", "300.00"))

    assert problems_of(right) == []
    assert [(one.code, one.path) for one in problems_of(wrong)] == [("total-mismatch", "Encabezado.Totales.MontoTotal")]


@pytest.mark.parametrize(
    ("payload", "message", "message_es"),
    [
        ({}, "the payload is empty", "el payload está vacío"),
        (
            {"header": {}, "buyer": {}, "items": []},
            "a payload begins with Encabezado, and this one has header, buyer, items",
            "un payload comienza con Encabezado, y este tiene header, buyer, items",
        ),
    ],
)
def test_payload_without_header_is_named(payload: dict[str, Any], message: str, message_es: str) -> None:
    (problem,) = problems_of(payload)

    assert (problem.code, problem.message, problem.message_es) == ("unknown-root", message, message_es)
    assert problem.fix is not None
    assert "Encabezado and DetallesItems" in problem.fix


def test_word_in_a_field_of_codes_is_no_code() -> None:
    first = problems_of(changed(good(EcfType.CREDIT_FISCAL), f"{ID}.TipoPago", "contado"))[0]

    assert first.message == "TipoPago is not a code of its list"
    assert (first.fix, first.fix_es) == ("did you mean 1 (cash)?", "¿quiso decir 1 (contado)?")
