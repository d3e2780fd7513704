"""Pages that show the clients side by side: their code is that of the clients' READMEs, which tests run as programs.

A page names an example by its section and its place there: `<!-- example: lists 1 -->`.
"""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGES = tuple(HERE.parent / "docs" / "api" / name for name in ("languages.md", "es/languages.md"))
#: Folders of the clients, and the word after their fences, in the order of the tabs.
LANGUAGES = {"python": "python", "typescript": "js", "php": "php", "java": "java", "csharp": "csharp"}
#: The sections of the READMEs.
_SECTIONS = {
    "start": "Ten lines, from nothing to a verdict",
    "repeat": "Never twice",
    "errors": "What goes wrong",
    "lists": "Lists, batches, numbers",
    "webhooks": "Webhooks",
}
_EXAMPLE = re.compile(r"(<!-- example: (\w+) ([0-9]) -->\n\n).*?(<!-- end -->)", re.S)


def with_examples(page: str) -> str:
    """Return a page with its examples as the READMEs have them."""
    return _EXAMPLE.sub(
        lambda found: f"{found[1]}{_in_each_language(_SECTIONS[found[2]], int(found[3]))}{found[4]}", page
    )


def _in_each_language(heading: str, place: int) -> str:
    blocks = [
        f"```{fence}\n{_code(HERE / folder / 'README.md', heading, fence)[place - 1]}```\n\n"
        for folder, fence in LANGUAGES.items()
        if (HERE / folder).is_dir()
    ]
    return "".join(blocks)


def _code(readme: Path, heading: str, fence: str) -> list[str]:
    _, _, section = readme.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    section = section.partition("\n## ")[0]
    return re.findall(rf"^```{fence}\n(.*?)^```$", section, re.M | re.S)
