"""Examples of the guide in each client's language: tests run all of them as programs.

Commands of curl are written in each language as calls of its client, and stand behind them. Where a client has more to
show, its page (README.md or examples.md) has the block, under the comment `<!-- example: NAME -->`, and the guide says
`<!-- in each language: NAME -->` behind its command.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from fe.http.pages.commands import blocks
from fe.http.pages.writers import WRITERS

#: Folders of the clients, and the word after their fences, in the order of the tabs.
LANGUAGES = {language: writer.fence for language, writer in WRITERS.items()}
_SOURCE = re.compile(r"^<!-- example: ([\w-]+) -->\n(```\w+\n.*?^```\n)", re.M | re.S)
_PLACE = re.compile(r"^<!-- in each language: ([\w-]+) -->\n", re.M)


@cache
def examples() -> Mapping[str, Mapping[str, str]]:
    """Return the blocks of each language by the names of their examples."""
    folder = files("fe").joinpath("clients")
    found: dict[str, dict[str, str]] = {language: {} for language in LANGUAGES}
    for language, named in found.items():
        for page in ("README.md", "examples.md"):
            text = folder.joinpath(language, page).read_text("utf-8")
            named.update((block[1], block[2]) for block in _SOURCE.finditer(text))
    return found


def with_examples(page: str) -> str:
    """Return a page of the guide with its examples. Raises LookupError for a name that no language has."""
    return _PLACE.sub(lambda place: _in_each_language(place[1]), _with_calls(page))


def _with_calls(page: str) -> str:
    writers = [writer() for writer in WRITERS.values()]
    shown, at = "", 0
    for block in blocks(page):
        shown, at = shown + page[at : block.end], block.end
        if block.steps and not _PLACE.match(page, at + 1):
            calls = [(writer.fence, writer.block(block.steps, block.answers)) for writer in writers]
            shown += "".join(f"\n```{fence}\n{code}```\n" for fence, code in calls)
    return shown + page[at:]


def _in_each_language(name: str) -> str:
    found = [named[name] for named in examples().values() if name in named]
    if not found:
        raise LookupError(f"no client has an example {name}")
    return "\n".join(found)
