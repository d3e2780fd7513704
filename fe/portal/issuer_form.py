"""The Emisor form: its fields, their values and errors.

Made from the format (fe/ecf/schema, fe/ecf/field_help): a new field of the format appears in the form.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from fe.accounts.provision import BadIssuer, field_of
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.describe import Described, described
from fe.ecf.field_help import help_of
from fe.ecf.problems import Problem
from fe.ecf.schema.codes import GEOGRAPHY
from fe.ecf.schema.model import Code
from fe.ecf.texts import Text
from fe.portal.visit import Form

_PHONE = re.compile(r"^\(?([0-9]{3})\)?[ .-]?([0-9]{3})[ .-]?([0-9]{4})$", re.ASCII)
_BOX = re.compile(r"\[([0-9]+)\]$", re.ASCII)
#: Said by each receipt, not by the company.
_OF_RECEIPTS = frozenset({"FechaEmision", "NumeroFacturaInterna", "NumeroPedidoInterno", "ZonaVenta", "RutaVenta"})


@dataclass(frozen=True, slots=True)
class IssuerField:
    """A field of the form. One that may be there several times has as many boxes under its name."""

    name: str
    label: Text
    expected: Text
    required: bool
    many: int
    longest: int | None
    #: The group that it is the only child of, as phones are.
    group: str | None = None
    #: Groups of codes with a name of their own, where it is one of a list.
    choices: tuple[tuple[str, tuple[Code, ...]], ...] = ()

    @property
    def key(self) -> str:
        """Under which name its value stands in Emisor."""
        return self.group or self.name


@cache
def issuer_fields() -> tuple[IssuerField, ...]:
    """Every field that a company may say of itself, in the order of the format; the province before its places."""
    header = next(each for each in described(Root.ECF, EcfType.CREDIT_FISCAL).children if each.name == "Encabezado")
    issuer = next(each for each in header.children if each.name == "Emisor")
    fields = [_field(each) for each in issuer.children if each.name not in _OF_RECEIPTS]
    place = next(at for at, each in enumerate(fields) if each.name == "Municipio")
    fields[place : place + 2] = fields[place + 1], fields[place]
    return tuple(fields)


def _field(element: Described) -> IssuerField:
    leaf = element if element.simple is not None else element.children[0]
    assert leaf.simple is not None
    said = help_of(Root.ECF, element.path)
    label = Text(said.en.rstrip("."), said.es.rstrip("."))
    if leaf.simple.codes:  # people choose from a list: leave out the part about codes
        label = Text(label.en.partition(",")[0], label.es.partition(",")[0])
    return IssuerField(
        name=leaf.name,
        label=label,
        expected=Text(leaf.simple.expected, leaf.simple.expected_es),
        required=element.required,
        many=leaf.many,
        longest=leaf.simple.longest,
        group=element.name if leaf is not element else None,
        choices=_locations(leaf.name) if leaf.simple.codes else (),
    )


def _locations(name: str) -> tuple[tuple[str, tuple[Code, ...]], ...]:
    """Provinces in one list; everything below them in one for each province."""
    provinces = tuple(code for code in GEOGRAPHY if code.value.endswith("0000"))
    if name == "Provincia":
        return (("", provinces),)
    named = {code.value: code.meaning for code in GEOGRAPHY}
    # A seat, ..01, that is called as its municipality, ..00, would be there twice.
    below = [
        code
        for code in GEOGRAPHY
        if not code.value.endswith("0000")
        and not (code.value.endswith("01") and named.get(f"{code.value[:4]}00") == code.meaning)
    ]
    return tuple(
        (province.meaning, tuple(code for code in below if code.value[:2] == province.value[:2]))
        for province in provinces
    )


def values_of(issuer: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return each field's value."""
    found = {}
    for field in issuer_fields():
        value = issuer.get(field.key)
        if field.group is not None and isinstance(value, Mapping):
            value = value.get(field.name)
        every = value if isinstance(value, list) else [] if value is None else [value]
        found[field.name] = [str(one) for one in every]
    return found


def typed(form: Form) -> dict[str, list[str]]:
    """Read each field's values; ten digits of a phone get dashes."""
    found = {field.name: [one.strip() for one in form.every(field.name)[: field.many]] for field in issuer_fields()}
    found["TelefonoEmisor"] = [_PHONE.sub(r"\1-\2-\3", one) for one in found["TelefonoEmisor"]]
    return found


def issuer_of(values: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Read Emisor from a form; empty fields are None."""
    said: dict[str, Any] = {}
    for field in issuer_fields():
        every = [one for one in values.get(field.name, ()) if one]
        if field.group is not None:
            said[field.key] = {field.name: every} if every else None
        else:
            said[field.key] = every[0] if every else None
    return said


def by_field(refused: BadIssuer) -> dict[str, list[Text]]:
    """Describe each wrong field; errors of no single field stand under `""`."""
    known = {field.name for field in issuer_fields()} | {field.group for field in issuer_fields()}
    leaves = {field.group: field.name for field in issuer_fields() if field.group is not None}
    found: dict[str, list[Text]] = {}
    for problem in refused.problems:
        parts = [part.partition("[")[0] for part in field_of(problem).split(".")]
        name = next((leaves.get(part, part) for part in reversed(parts) if part in known), "")
        found.setdefault(name, []).append(_text(problem))
    return found


def wrong_boxes(refused: BadIssuer) -> dict[str, set[int]]:
    """Number the boxes that are wrong, from 0, of each field that may be there several times."""
    found: dict[str, set[int]] = {}
    for problem in refused.problems:
        number = _BOX.search(problem.path)
        if number is not None:
            found.setdefault(problem.path[: number.start()].rpartition(".")[2], set()).add(int(number[1]) - 1)
    return found


def _text(problem: Problem) -> Text:
    message = Text(problem.message, problem.message_es)
    for field in issuer_fields():  # people know the field by its label
        message = Text(
            message.en.replace(field.name, f'"{field.label.en}"'), message.es.replace(field.name, f"«{field.label.es}»")
        )
    if not problem.expected:
        return message
    expected_es = problem.expected_es or problem.expected
    return Text(f"{message.en} ({problem.expected})", f"{message.es} ({expected_es})")
