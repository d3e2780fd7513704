"""A receipt's form: from the sent form or a payload to a payload, without loss.

Values stay as typed. Of fields, `1234.5`, `1,234.50` and `RD$ 100` are numbers and `131-88073-8` is an RNC; for
`1.234,50` the validation problem asks the person what they mean.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import Root
from fe.ecf.parse import Malformed, parse_json
from fe.ecf.schema.kinds import kind
from fe.ecf.schema.model import Element, Simple, ValueForm
from fe.ecf.texts import Text
from fe.portal.receipt.layout import PAYMENT, Field, FormSection, Layout, Table
from fe.portal.receipt.paths import NoPlace, flatten, in_row, plain, put, steps_of
from fe.portal.visit import Form

#: The field for everything that has none of its own.
MORE = "more"
_TYPE = "Encabezado.IdDoc.TipoeCF"
_PAY, _FORM = "pay", "pay.FormaPago"
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?", re.ASCII)
_AMOUNT = re.compile(
    r"(?:RD)?\$?\s*([+-]?[0-9]{1,3}(?:,[0-9]{3}){0,12}(?:\.[0-9]{1,40})?|[+-]?[0-9.]+)", re.ASCII | re.IGNORECASE
)
_TAX_ID = re.compile(r"[0-9]{9}|[0-9]{11}", re.ASCII)

_NOT_A_LINE = Text(
    'is not "field=value": one of the fields below, an equals sign, and what it holds',
    "no es «campo=valor»: uno de los campos de abajo, un signo de igual y su contenido",
)
_NO_FIELD = Text(
    "is no field of this type, or its row does not exist", "no es un campo de este tipo, o su fila no existe"
)


@dataclass(frozen=True, slots=True)
class Unread:
    """A free field that cannot be parsed, and why."""

    field: str
    text: Text


@dataclass(slots=True)
class ReceiptEntry:
    """Values of the form. `values` and `rows` have every field of the layout; rows are by their table's key."""

    layout: Layout
    values: dict[str, str]
    rows: dict[str, list[dict[str, str]]]
    more: str = ""
    #: For which user of the company it is issued; '' for the company.
    as_user: str = ""
    #: Money received, to compute the change. It is not in the document.
    paid: str = ""
    #: The name of the sequence that gives the number; '' for that of the user, or the one without a name.
    sequence: str = ""
    unread: list[Unread] = field(default_factory=list)

    # -- from ----------------------------------------------------------------------------------------------------

    @classmethod
    def empty(cls, layout: Layout) -> "ReceiptEntry":
        """A new form."""
        return cls(
            layout,
            {one.name: one.initial for one in layout.fields},
            {table.key: [table.blank_row() for _ in range(table.least)] for table in layout.tables},
        )

    @classmethod
    def sent(cls, layout: Layout, form: Form) -> "ReceiptEntry":
        """Return the typed values, without empty rows."""
        entry = cls(
            layout,
            {one.name: form.get(one.name) for one in layout.fields},
            {table.key: _rows(table, form) for table in layout.tables},
            form.get(MORE),
            form.get("as_user"),
            form.get("paid"),
            form.get("sequence"),
        )
        entry.keep_least()
        return entry

    @classmethod
    def of(cls, layout: Layout, payload: Mapping[str, Any], as_user: str = "") -> "ReceiptEntry":
        """The form that says this payload: its content from `Encabezado` on."""
        entry = cls(
            layout,
            {one.name: "" for one in layout.fields},
            {table.key: [] for table in layout.tables},
            as_user=as_user,
        )
        by_path = {one.path: one.name for one in layout.fields}
        more = []
        for path, value in flatten(payload):
            name = by_path.get(path)
            if name is not None and "\n" not in value:
                entry.values[name] = value
            elif path != _TYPE and not entry._into_row(path, value):
                more.append(_line(path, value))
        entry.more = "\n".join(more)
        entry._join_payment()
        entry.keep_least()
        return entry

    def _join_payment(self) -> None:
        """Say terms and a single form of payment without an amount as one value, as `1-3`."""
        rows = self.rows.get(_PAY, [])
        payment = self.layout.payment
        if payment is None or len(rows) != 1 or any(value for name, value in rows[0].items() if name != _FORM):
            return
        said = f"{self.values[payment.name]}-{rows[0][_FORM]}"
        if said in {code.value for code in payment.codes}:
            self.values[payment.name], self.rows[_PAY] = said, []

    @classmethod
    def of_draft(cls, layout: Layout, said: Mapping[str, Any]) -> "ReceiptEntry":
        """The form as `draft` wrote it; a field that the layout has since is empty."""
        entry = cls(
            layout,
            {one.name: str(said["values"].get(one.name, "")) for one in layout.fields},
            {
                table.key: [
                    {name: str(row.get(name, "")) for name in table.blank_row()}
                    for row in said["rows"].get(table.key, [])[: table.most]
                ]
                for table in layout.tables
            },
            str(said["more"]),
            str(said["as_user"]),
            str(said.get("paid", "")),
            str(said.get("sequence", "")),
        )
        entry.keep_least()
        return entry

    def draft(self) -> dict[str, Any]:
        """All that was typed, as values of JSON."""
        return {
            "values": self.values,
            "rows": self.rows,
            "more": self.more,
            "as_user": self.as_user,
            "paid": self.paid,
            "sequence": self.sequence,
        }

    def _into_row(self, path: str, value: str) -> bool:
        for table in self.layout.tables:
            found = in_row(path, table.path)
            if found is None:
                continue
            number, below = found
            rows = self.rows[table.key]
            while len(rows) < number:
                rows.append({**dict.fromkeys(table.blank_row(), "")})
            row, name = rows[number - 1], f"{table.key}.{below}"
            if name in row and name != table.more and "\n" not in value:
                row[name] = value
            else:
                row[table.more] = f"{row[table.more]}\n{_line(below, value)}".strip("\n")
            return True
        return False

    def says(self, section: FormSection) -> bool:
        """Whether something was filled in in a section."""
        return any(self.values[one.name] not in ("", one.initial) for one in section.fields) or bool(
            section.table is not None and self.rows[section.table.key]
        )

    # -- changing ------------------------------------------------------------------------------------------------

    def keep_least(self) -> None:
        """See that every table has its first rows."""
        for table in self.layout.tables:
            rows = self.rows[table.key]
            while len(rows) < table.least:
                rows.append(table.blank_row())

    def add_row(self, key: str) -> None:
        """Add a row to a table, unless it is full or is none."""
        for table in self.layout.tables:
            if table.key == key and len(self.rows[key]) < table.most:
                self.rows[key].append(table.row_after(self.rows[key]))

    def remove_row(self, key: str, number: int) -> None:
        """Take a row away; nothing where it is none."""
        rows = self.rows.get(key, [])
        if 1 <= number <= len(rows):
            del rows[number - 1]
        self.keep_least()

    # -- to ------------------------------------------------------------------------------------------------------

    def payload(self) -> dict[str, Any]:
        """Return the document. Free fields that cannot be parsed are in `unread` afterwards."""
        tree = kind(Root.ECF, self.layout.type).root
        made: dict[str, Any] = {}
        put(made, _TYPE, self.layout.type.value)
        self.unread = []
        for one in self.layout.fields:
            value = self.values[one.name]
            if one.kind == "payment":
                value, _, form = value.partition("-")
                if form and not self.rows[_PAY]:
                    put(made, f"{PAYMENT}[1].FormaPago", form)
            _put_typed(made, one, one.path, value)
        for table in self.layout.tables:
            for number, row in enumerate(self.rows[table.key], 1):
                there = f"{table.path}[{number}]"
                if any(row[one.name] for one in table.fields) or row[table.more]:
                    put(made, there, {})
                for one in table.fields:
                    if not _says_nothing_alone(one, row):
                        _put_typed(made, one, there + one.path.removeprefix(table.path), row[one.name])
                self._put_lines(made, tree, row[table.more], f"{there}.", f"{table.more}-{number}")
        self._put_lines(made, tree, self.more, "", MORE)
        return made

    def _put_lines(self, made: dict[str, Any], tree: Element, text: str, before: str, where: str) -> None:
        for line in filter(str.strip, text.splitlines()):
            path, equals, value = line.partition("=")
            path, value = path.strip(), _unquoted(value.strip())
            if not equals or not path or not value:
                self.unread.append(Unread(where, _NOT_A_LINE.after(line.strip()[:80])))
                continue
            try:
                simple = _simple_at(tree, before + path)
                put(made, before + _numbered(tree, before, path), _typed(simple, value))
            except NoPlace:
                self.unread.append(Unread(where, _NO_FIELD.after(path[:80])))


def _rows(table: Table, form: Form) -> list[dict[str, str]]:
    columns = {name: form.every(name) for name in table.blank_row()}
    many = min(max(map(len, columns.values())), table.most)
    rows = [
        {name: column[at].strip() if at < len(column) else "" for name, column in columns.items()} for at in range(many)
    ]
    return [row for row in rows if not table.is_blank(row)]


def _says_nothing_alone(one: Field, row: Mapping[str, str]) -> bool:
    """Whether a choice of a group in a row is only the form's own, and nothing else of the group is said."""
    group = one.name.rpartition(".")[0]
    return (
        one.kind == "choice"
        and "." in group
        and not one.required
        and not any(value for name, value in row.items() if name != one.name and name.startswith(f"{group}."))
    )


def _put_typed(made: dict[str, Any], one: Field, path: str, text: str) -> None:
    if text:
        put(
            made,
            path,
            amount_typed(text) if one.kind == "number" else tax_id_typed(text) if "RNC" in one.path else text,
        )


def _typed(simple: Simple, text: str) -> Any:
    return _as_number(text) if simple.form is ValueForm.NUMBER else text


def _as_number(text: str) -> Any:
    return Decimal(text) if _PLAIN_NUMBER.fullmatch(text) else text


def amount_typed(text: str) -> Any:
    """Read an amount as people write it: 1,234.50 or RD$ 100. Anything else stays text."""
    found = _AMOUNT.fullmatch(text)
    plain = _as_number(found[1].replace(",", "")) if found else text
    return text if isinstance(plain, str) else plain


def tax_id_typed(text: str) -> str:
    """Read an RNC or cédula with hyphens and blanks; anything else stays as it is."""
    digits = re.sub(r"[\s-]", "", text)
    return digits if _TAX_ID.fullmatch(digits) else text


def _simple_at(tree: Element, path: str) -> Simple:
    """Return the type of the value at a path. Raises NoPlace when the document type has no such field."""
    here: Element | None = tree
    for name in plain(path).split("."):
        here = here.by_name.get(name) if here is not None else None
    if here is None or here.simple is None:
        raise NoPlace(path)
    return here.simple


def _numbered(tree: Element, before: str, path: str) -> str:
    """The path with `[1]` where something may stand several times and no number is said."""
    here = tree
    for name in filter(None, plain(before).split(".")):
        here = here.by_name[name]
    parts = []
    for name, number in steps_of(path):
        here = here.by_name[name]
        if number is not None and here.many == 1:
            raise NoPlace(path)
        parts.append(f"{name}[{number or 1}]" if here.many > 1 else name)
    return ".".join(parts)


def _line(path: str, value: str) -> str:
    """A free field: the value in quotation marks where it would else not come back as it is."""
    odd = value != value.strip() or value.startswith('"') or len(value.splitlines()) != 1
    return f"{path}={json.dumps(value, ensure_ascii=True) if odd else value}"


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            value = parse_json(text.encode())
        except Malformed:
            return text
        return value if isinstance(value, str) else text
    return text
