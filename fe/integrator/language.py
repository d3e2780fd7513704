"""Language of the terminal. Messages carry both languages in place."""

import os
from typing import Literal


def terminal_language() -> Literal["en", "es"]:
    """Spanish where the locale says so, by the first variable that says anything; else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return "es" if value.lower().startswith("es") else "en"
    return "en"


def say(english: str, spanish: str) -> str:
    """Choose the wording for this terminal."""
    return spanish if terminal_language() == "es" else english
