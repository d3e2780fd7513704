"""A process that makes calls by a client of another language, one after the other, as driver.mjs does."""

import json
import subprocess
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

from tests.clients.snippets import environment
from tests.clients.troubles import Outcome, Trouble
from tests.webhooks.vectors import FILE, VECTORS


class Speaker(AbstractContextManager["Speaker"]):
    """Speaks in lines of JSON: an order; each pause of the client, which waits for a line; and the outcome."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment("", ("", ""))
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._process.kill()
        self._process.communicate(timeout=120)

    def ask(self, order: object, paused: Callable[[], None] = lambda: None) -> Outcome:
        slept: list[float] = []
        while True:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            assert line, "the process ended"
            told: dict[str, Any] = json.loads(line)
            if "slept" not in told:
                return Outcome(told.get("result"), told.get("error"), slept, told.get("refused"))
            slept.append(told["slept"])
            paused()
            order = "go on"

    def drive(self, trouble: Trouble, url: str, paused: Callable[[], None]) -> Outcome:
        name, args, options = trouble.call
        order = {"url": url, "call": name, "args": args, "options": options}
        return self.ask({**order, "tries": trouble.tries, "patience": trouble.patience}, paused)

    def read_as_types(self, values: Sequence[tuple[str, str]]) -> list[Any]:
        """Have the JSON of each value read by the type of this name, and its members listed."""
        read: list[Any] = self.ask({"types": values}).result
        return read

    def judge_webhooks(self) -> list[Any]:
        """Have the calls of the vectors judged."""
        judged: list[Any] = self.ask(json.loads(FILE.read_text(encoding="utf-8"))).result
        return judged


def assert_judged_as_the_vectors_say(judged: list[bool]) -> None:
    assert dict(zip((each.name for each in VECTORS), judged, strict=True)) == {
        each.name: each.valid for each in VECTORS
    }
