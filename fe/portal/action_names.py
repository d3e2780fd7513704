"""Names of audited changes, of their fields and of values, in both languages (action_names.toml).

A new kind of change is added to `ChangeAction` (fe/store/portal/changes.py), too; a test compares the two.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from fe.accounts.modes import NAMES as MODES
from fe.ecf.data_files import toml_file
from fe.ecf.dates import ZONE, show_day
from fe.ecf.field_help import FIELD_HELP
from fe.ecf.texts import Text
from fe.ecf.voiding import REASONS
from fe.month.report_606 import ISR_TYPES, KINDS, PAYMENTS
from fe.portal.receipt.labels import label
from fe.portal.receipt_words import TYPES
from fe.portal.role_names import ROLES
from fe.store.portal.changes import TenantChange


class _Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    #: The Spanish, by the English name.
    actions: dict[str, str]
    fields: dict[str, Text]
    #: By field and value.
    values: dict[str, dict[str, Text]]


_NAMES = toml_file("portal/action_names.toml", _Names)
_VALUES: Final[Mapping[str, Mapping[Any, Text]]] = {
    **_NAMES.values,
    "role": ROLES,
    "mode": MODES,
    "type": TYPES,
    "reason": REASONS,
    "kind": KINDS,
    "isrType": ISR_TYPES,
    "payment": PAYMENTS,
}
#: As records write moments and days.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").fullmatch
_DAY = re.compile(r"\d{4}-\d\d-\d\d").fullmatch
_YES, _NO = Text("yes", "sí"), Text("no", "no")
_CHANGED = Text("changed", "cambió")

Shown = Mapping[str, Any]


def action_name(action: str) -> Text:
    """Name a kind of change."""
    return Text(action, _NAMES.actions.get(action, action))


def field_name(name: str) -> Text:
    """Say which field it is; one of the format is called as in the forms."""
    return _NAMES.fields.get(name) or label(name)


def subject_name(change: TenantChange) -> str:
    """Name the subject of a change: of a receipt or a recurring one, known by an id, its e-NCF or name."""
    try:
        UUID(change.subject)
    except ValueError:
        return change.subject
    shown = change.after or change.before or {}
    return str(shown.get("eNCF") or shown.get("name") or change.subject)


def readable(value: Any, name: str = "") -> Text | str:
    """Write a value of a field so that a person can read it."""
    match value:
        case None:
            return ""
        case bool():
            return _YES if value else _NO
        case list():
            return _joined(", ", [readable(each, name) for each in value])
        case dict() if len(value) == 1 and next(iter(value)) in FIELD_HELP:
            return readable(next(iter(value.values())))
        case dict():
            return _joined("; ", [_joined(": ", [field_name(each), readable(value[each], each)]) for each in value])
        case str() | int() if known := _VALUES.get(name, {}).get(value):
            return known
    text = str(value)
    if _DAY(text):
        return show_day(date.fromisoformat(text))
    return datetime.fromisoformat(text).astimezone(ZONE).strftime("%d-%m-%Y %H:%M") if _MOMENT(text) else text


def _joined(sign: str, parts: list[Text | str]) -> Text:
    return Text(
        sign.join(str(each) for each in parts),
        sign.join(each.es if isinstance(each, Text) else each for each in parts),
    )


def difference(before: Shown | None, after: Shown | None) -> list[tuple[Text, Text | str, Text | str]]:
    """List each changed field with its name, old and new value; of a template only that it changed."""
    old, new = before or {}, after or {}
    names = [*old, *(name for name in new if name not in old)]
    changed = [name for name in names if old.get(name) != new.get(name)]
    return [
        (field_name(name), "", _CHANGED)
        if name == "payload"
        else (field_name(name), readable(old.get(name), name), readable(new.get(name), name))
        for name in changed
        if name != "payload" or (before and after)
    ]
