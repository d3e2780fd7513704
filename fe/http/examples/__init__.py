"""A working receipt of every type and of every common case: bodies of POST /invoices, as files beside this one.

Nothing in them is filled in that the service fills in, not even the number. A test hands each of them in and waits for
`Aceptado`. Those that name an earlier receipt name the first of them (`E310000000001`).
"""

import json
from functools import cache
from typing import Any

import msgspec

from fe.ecf.data_files import data_text, toml_rows
from fe.ecf.texts import Text


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An example: the name of its file, its title, and what it shows."""

    code: str
    title: Text
    about: Text

    @property
    def type(self) -> str:
        """The type that begins its name."""
        return self.code[:2]

    @property
    def text(self) -> str:
        """The body, as it is sent."""
        return _read(self.code)

    @property
    def payload(self) -> Any:
        """The `payload` of the body."""
        return json.loads(self.text)["payload"]


@cache
def _read(code: str) -> str:
    return data_text(f"http/examples/{code}.json")


#: By their names, in the order in which they can be handed in.
BY_NAME = toml_rows("http/examples/examples.toml", Example)
EXAMPLES = tuple(BY_NAME.values())
