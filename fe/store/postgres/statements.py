"""SQL files as single statements: not every server accepts several in one string."""

import re
from pathlib import Path

#: In the repository this is a link to `sql/`, in a wheel a folder of its own.
SQL = Path(__file__).resolve().parents[2] / "sql"

#: psql's `\ir`: the file that a migration includes, relative to its own folder.
_INCLUDE = re.compile(r"^\\ir (\S+)\n", re.MULTILINE)


#: A comment; a quoted text or name, in which a semicolon ends nothing; the end of a statement; anything else.
_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?P<quote> \$\w*\$ ) .*? (?P=quote) | '(?:[^']|'')*' | "(?:[^"]|"")*"
    | (?P<end> ; )
    | [^\s;'"$/-]+ | [$/-]
    """,
    re.DOTALL | re.VERBOSE,
)


def statements(text: str) -> list[str]:
    """Split a file into its statements.

    Our files have no nested comments, no escapes by backslash and no BEGIN ATOMIC. A parser takes thirty times as long.
    """
    found, begins, is_code = [], 0, False
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "end":
            if is_code:
                found.append(text[begins : token.end()].strip())
            begins, is_code = token.end(), False
        else:
            is_code = is_code or token.lastgroup != "comment"
    if is_code:
        found.append(text[begins:].strip())
    return found


def with_includes(text: str, folder: Path) -> str:
    r"""Put each file that a line `\ir PATH` names in the place of the line."""
    return _INCLUDE.sub(lambda found: (folder / found[1]).read_text(encoding="utf-8"), text)
