"""Count sentences that puzzle a newcomer, in files that changed, and keep the level from rising.

    python -m tests.plain_words             # files changed since origin/main; exits 1 when they have more than before
    python -m tests.plain_words --all       # the share of each folder, against LIMITS
    python -m tests.plain_words fe/queue    # each place of these files and folders

CONTRIBUTING.md ("How we write") has the rule; the markers below catch a part of it. Docstrings and comments of Python,
comments of SQL and paragraphs of Markdown count.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: A sentence that begins with a relative clause; a person where a component or role is meant; a count in riddles.
_MARKERS = re.compile(
    r"(?:^|(?<=[.!?:;] ))(?:(?:Of|With|By|To|For|From|In) )?(?:What|Who|Whoever|Whose|Whom|That)\b"
    r"|(?i:\b(?:nobody|somebody|whoever|everybody|anybody|those who|who (?:asks|waits|comes)|others'))(?!\w)"
    r"|(?i:\b(?:so (?:many|much|long|often)|at one blow|the like|takes? its turn)\b)"
)
_NO_VERB = re.compile(r"(?:As `|As its|The same (?:for|as|of)|Likewise)")
#: Percent of texts with a marker that a folder may have, at most. Lower them when prose improves.
LIMITS = {"docs": 3.0, "ops": 3.0, "sql": 3.0}


def texts(name: str, source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring, comment or paragraph line; nothing for a file that does not parse."""
    if name.endswith(".py"):
        yield from _of_python(source)
    elif name.endswith(".sql"):
        for number, line in enumerate(source.splitlines(), 1):
            if line.lstrip().startswith("--"):
                yield number, line.lstrip(" -")
    else:
        fenced = False
        for number, line in enumerate(source.splitlines(), 1):
            fenced ^= line.lstrip().startswith("```")
            if not fenced and line.strip() and not line.startswith(("|", "#", "    ")):
                yield number, line.strip()


def _of_python(source: str) -> Iterator[tuple[int, str]]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if doc := ast.get_docstring(node):
            yield node.body[0].lineno, " ".join(doc.split())
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")


def riddles(name: str, source: str) -> list[tuple[int, str]]:
    """The texts of a file that have a marker."""
    return [(line, text) for line, text in texts(name, source) if _MARKERS.search(text) or _NO_VERB.match(text)]


def _git(*words: str) -> str | None:
    """The output of git; None if it fails: no repository, no such commit, a shallow clone."""
    try:
        ended = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ended.stdout


def _base() -> str | None:
    """The commit to compare with: where this branch left main, or the commit before on main itself."""
    fork, head = _git("merge-base", "HEAD", "origin/main"), _git("rev-parse", "HEAD")
    if fork is None or fork == head:
        fork = _git("rev-parse", "--verify", "--quiet", "HEAD^")
    return fork.strip() if fork else None


def _files(*places: str) -> list[str]:
    listed = _git("ls-files", "--", *places)
    return [name for name in (listed or "").splitlines() if _counts(name) and (ROOT / name).is_file()]


def _counts(name: str) -> bool:
    return Path(name).suffix in {".py", ".sql", ".md"} and name != "docs/conformance.md"


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8") if (ROOT / name).is_file() else ""


def complaint() -> str:
    """Why the changed files together puzzle more than at the base; empty when they do not, or without history.

    The sum counts, so text may move from file to file.
    """
    base = _base()
    changed = _git("diff", "--name-only", "--no-renames", base) if base else None
    before, now, places = 0, 0, ""
    for name in filter(_counts, (changed or "").splitlines()):
        old = riddles(name, _git("show", f"{base}:{name}") or "")
        new = riddles(name, _read(name))
        before, now = before + len(old), now + len(new)
        known = {text for _, text in old}
        places += "".join(f"  {name}:{line}: {text[:110]}\n" for line, text in new if text not in known)
    return f"{now} puzzling texts in the changed files, {before} before. New:\n{places}" if now > before else ""


def shares(*places: str) -> dict[str, float]:
    """Percent of texts with a marker in each top folder of these places, by default of all."""
    all_, hit = Counter[str](), Counter[str]()
    for name in _files(*places):
        folder = name.partition("/")[0]
        source = _read(name)
        all_[folder] += sum(1 for _ in texts(name, source))
        hit[folder] += len(riddles(name, source))
    return {folder: 100 * hit[folder] / all_[folder] for folder in sorted(all_) if all_[folder]}


def main(words: list[str]) -> int:
    """Write the report that was asked for; the exit code."""
    if words[:1] == ["--all"]:
        sys.stdout.writelines(f"{share:5.1f} %  {folder}\n" for folder, share in shares().items())
    elif words:
        for name in _files(*words):
            sys.stdout.writelines(f"{name}:{line}: {text[:120]}\n" for line, text in riddles(name, _read(name)))
    elif why := complaint():
        sys.stderr.write(f'{why}See "How we write" in CONTRIBUTING.md.\n')
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
