"""Metadata, a client's own labels of a submission: what they may be."""

import re
from collections.abc import Mapping
from typing import Final

from fe.ecf.json_text import write_json
from fe.ecf.parse import excerpt
from fe.ecf.texts import Text
from fe.http.messages import say

MAX_LABELS: Final = 20
LONGEST_VALUE: Final = 500
LABEL_FORM: Final = "[A-Za-z0-9_.-]{1,40}"
#: Bytes of all of them, as JSON.
_MAX_BYTES: Final = 4096

_LABEL = re.compile(LABEL_FORM)


def is_label(name: str) -> bool:
    """Whether a label may have this name."""
    return _LABEL.fullmatch(name) is not None


def wrong_labels(labels: Mapping[str, str]) -> Text | None:
    """Say what is wrong with them, to follow the field's name; None: nothing. Values are of a bounded length."""
    if len(labels) > MAX_LABELS:
        return say("labels-many", most=MAX_LABELS)
    for name, value in labels.items():
        if not is_label(name):
            return say("label-name", name=excerpt(name) or "''")
        if "\0" in value:
            return say("label-value", name=name)
    if len(write_json(dict(labels))) > _MAX_BYTES:
        return say("labels-size", most=_MAX_BYTES)
    return None
