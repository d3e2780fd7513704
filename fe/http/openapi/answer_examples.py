"""Examples of answers for the description, by operation, status and name (answer_examples.json).

`like` names the example whose members another one has too. Tests compare each with its schema and with the answer of a
real call.
"""

import json
from collections.abc import Mapping
from typing import Any

from fe.ecf.data_files import data_text

_READ = json.loads(data_text("http/openapi/answer_examples.json"))


def _whole(value: Any) -> Any:
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if not isinstance(value, dict):
        return value
    own = {name: _whole(one) for name, one in value.items() if name != "like"}
    return _whole(_at(value["like"])) | own if "like" in value else own


def _at(path: str) -> Any:
    found = _READ
    for key in path.split("/"):
        found = found[int(key) if isinstance(found, list) else key]
    return found


#: By operation and status: examples by name.
ANSWERS: Mapping[str, Mapping[str, Mapping[str, Any]]] = _whole(_READ)
