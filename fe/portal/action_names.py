"""Names of audited changes and of their fields, in both languages (action_names.toml).

A module that records a new kind of change adds its words here; without them people read the English name.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from fe.ecf.data_files import toml_file
from fe.ecf.dates import ZONE
from fe.ecf.field_help import FIELD_HELP
from fe.ecf.texts import Text


class _Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    #: The Spanish, by the English name.
    actions: dict[str, str]
    fields: dict[str, Text]


_NAMES = toml_file("portal/action_names.toml", _Names)
#: As records write moments.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").fullmatch
_YES, _NO = Text("yes", "sí"), Text("no", "no")

Shown = Mapping[str, Any]


def action_name(action: str) -> Text:
    """Name a kind of change."""
    return Text(action, _NAMES.actions.get(action, action))


def field_name(name: str) -> Text:
    """Say which field it is; those of the format keep their names."""
    return _NAMES.fields.get(name, Text(name, name))


def readable(value: Any) -> Text | str:
    """Write a value so that a person can read it."""
    match value:
        case None:
            return ""
        case bool():
            return _YES if value else _NO
        case list():
            return ", ".join(str(readable(each)) for each in value)
        case dict() if len(value) == 1 and next(iter(value)) in FIELD_HELP:
            return readable(next(iter(value.values())))
        case dict():
            return json.dumps(value, ensure_ascii=False)
    text = str(value)
    return datetime.fromisoformat(text).astimezone(ZONE).strftime("%d-%m-%Y %H:%M") if _MOMENT(text) else text


def difference(before: Shown | None, after: Shown | None) -> list[tuple[Text, Text | str, Text | str]]:
    """List each changed field with its name, old and new value."""
    old, new = before or {}, after or {}
    names = [*old, *(name for name in new if name not in old)]
    return [(field_name(name), readable(old.get(name)), readable(new.get(name))) for name in names]
