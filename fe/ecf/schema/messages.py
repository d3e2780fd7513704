"""Problems with the format, in English and in Spanish (messages.toml)."""

import msgspec

from fe.ecf.data_files import toml_rows
from fe.ecf.problems import Problem, Repair, show
from fe.ecf.texts import Text


class ProblemMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Message and fix of one code; the braces take the words given to `problem`."""

    code: str
    message: str
    message_es: str
    fix: str
    fix_es: str


MESSAGES = toml_rows("ecf/schema/messages.toml", ProblemMessage)


def problem(
    code: str,
    path: str,
    line: int | None = None,
    *,
    found: object = None,
    instead: Text | str | None = None,
    allowed: tuple[str, ...] = (),
    repair: Repair | None = None,
    **words: str,
) -> Problem:
    """Say that `code` is so at `path`. `name` is the last part of the path unless it is given.

    `instead` is the name, or value, that was probably meant. `expected` in the words is also the Spanish one unless
    `expected_es` is given.
    """
    text = MESSAGES["unknown-code"] if code == "not-a-number" and allowed else MESSAGES[code]
    said = Text(instead, instead) if isinstance(instead, str) else instead
    if "expected" in words:
        words.setdefault("expected_es", words["expected"])
    shown = None if found is None else show(found)
    words.setdefault("name", path.rpartition(".")[2])
    words.setdefault("found", shown or "")
    return Problem(
        code=code,
        path=path,
        message=text.message.format_map(words),
        message_es=text.message_es.format_map(words),
        line=line,
        found=shown,
        expected=words.get("expected"),
        expected_es=words.get("expected_es"),
        fix=f"did you mean {said.en}?" if said else text.fix.format_map(words),
        fix_es=f"¿quiso decir {said.es}?" if said else text.fix_es.format_map(words),
        allowed=allowed,
        repair=repair,
    )
