"""Choice of the language of an answer, from Accept-Language."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import cast

from fe.ecf.problems import Problem, serialize_problem
from fe.ecf.texts import Language as Language
from fe.http.models.responses import DocumentProblem

#: A longer header is not read.
_LONGEST = 200
_RANGE = re.compile(r"\s*([A-Za-z*]{1,8})(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*)?")

#: Headers of every answer that has messages.
HEADERS: dict[Language, tuple[tuple[str, str], ...]] = {
    language: (("Content-Language", language), ("Vary", "Accept-Language")) for language in ("en", "es")
}


@lru_cache(maxsize=256)
def choose(accepted: str | None) -> Language:
    """Choose by `Accept-Language`: Spanish where it is wanted more than English, whatever the region; else English."""
    if not accepted or len(accepted) > _LONGEST:
        return "en"
    wanted: dict[str, float] = {}
    for place, text in enumerate(accepted.split(",")):
        found = _RANGE.fullmatch(text)
        if found is not None:
            # Of what is wanted alike, the first.
            wanted.setdefault(found[1].lower(), float(found[2] or 1) - place / 1e6 if found[2] != "0" else 0.0)
    spanish = wanted.get("es", 0.0)
    english = wanted.get("en", wanted.get("*", 0.0) if "es" in wanted else 1.0)
    return "es" if spanish > max(english, 0.0) else "en"


def say_problems(problems: Iterable[DocumentProblem], language: Language) -> list[DocumentProblem]:
    """Give problems with `message` and `fix` in the language; both languages stay beside them."""
    if language == "en":
        return list(problems)
    said = []
    for problem in problems:
        # Of what another release stored, something may be missing.
        there = problem.copy()
        if "messageEs" in there:
            there["message"] = there["messageEs"]
        if "fixEs" in there:
            there["fix"] = there["fixEs"]
        said.append(there)
    return said


def serialize_problems(problems: Iterable[Problem], language: Language = "en") -> list[DocumentProblem]:
    """Show problems of a document in the language; in English they are also kept with a submission."""
    return say_problems((cast(DocumentProblem, serialize_problem(problem)) for problem in problems), language)
