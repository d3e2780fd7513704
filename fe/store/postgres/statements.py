"""SQL files as single statements: not every server accepts several in one string."""

import re
from pathlib import Path

from sqlparse.engine import FilterStack
from sqlparse.sql import Token
from sqlparse.tokens import Comment

#: In the repository this is a link to `sql/`, in a wheel a folder of its own.
SQL = Path(__file__).resolve().parents[2] / "sql"

#: psql's `\ir`: the file that a migration includes, relative to its own folder.
_INCLUDE = re.compile(r"^\\ir (\S+)\n", re.MULTILINE)


def statements(text: str) -> list[str]:
    """Split a file into its statements."""
    # Split, but not grouped as sqlparse.format would: grouping is most of what it costs.
    parts = FilterStack().run(text)  # type: ignore[no-untyped-call]  # sqlparse leaves its filters untyped
    return [str(part).strip() for part in parts if any(_is_code(token) for token in part.flatten())]


def with_includes(text: str, folder: Path) -> str:
    r"""Put each file that a line `\ir PATH` names in the place of the line."""
    return _INCLUDE.sub(lambda found: (folder / found[1]).read_text(encoding="utf-8"), text)


def _is_code(token: Token) -> bool:
    return not (token.is_whitespace or token.ttype in Comment or token.value == ";")
