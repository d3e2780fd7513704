"""Codes in the authority's verdicts: meaning and remedy, in our own words (verdicts.toml, authority.md#messages).

There is no published list: this one holds the interface's table and codes seen live. `codigo` is compared as it came
first (`004` is not `4`), then as a number.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from fe.ecf.data_files import toml_rows


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One code: what it means, and what to do, in both languages."""

    code: str
    meaning: str
    meaning_es: str
    action: str
    action_es: str
    #: One peer reports it; nothing else is known of it.
    seen_once: bool = False


_BY_CODE = toml_rows("ecf/verdicts.toml", Explanation)
#: A refusal or remark under any other code, or under 0 with a text.
OTHER = msgspec.structs.replace(_BY_CODE.pop("other"), code="")
EXPLANATIONS = tuple(_BY_CODE.values())


def explain(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Explanation]]:
    """Explain the messages of a verdict: each code as it came, once. An empty text under 0 says nothing."""
    seen = set()
    for message in messages:
        code, text = str(message.get("codigo", "")), str(message.get("valor", "")).strip()
        bare = code.lstrip("0")
        if code in seen or (not bare and text in ("", "Aceptado")):
            continue
        seen.add(code)
        yield code, _BY_CODE.get(code) or _BY_CODE.get(bare) or OTHER


_PAGES = {
    "en": ("What the authority's codes mean", "Code", "Meaning", "What to do", "others, and 0 with a text"),
    "es": ("Qué significan los códigos de la DGII", "Código", "Significado", "Qué hacer", "otros, y 0 con texto"),
}
_WORDS = {
    "en": "Made from `fe/ecf/verdicts.toml`. The status answer of a submission has the same in `explained`, beside the "
    "authority's own `response.mensajes`. The authority publishes no list: these were seen, or the interface has them. "
    "*Seen once*: one provider reports it.",
    "es": "Hecho a partir de `fe/ecf/verdicts.toml`. La consulta de estado de un envío trae lo mismo en `explained`, "
    "junto a `response.mensajes` de la DGII. La DGII no publica una lista: estos se han visto, o los trae la interfaz. "
    "*Visto una vez*: lo informa una sola empresa de facturación.",
}


def page(language: Literal["en", "es"]) -> str:
    """Write the page of documentation in a language."""
    title, code, meaning, action, others = _PAGES[language]
    once = {"en": " (seen once)", "es": " (visto una vez)"}[language]
    rows = [
        (
            f"{each.code or others}{once if each.seen_once else ''}",
            *((each.meaning, each.action) if language == "en" else (each.meaning_es, each.action_es)),
        )
        for each in (*EXPLANATIONS, OTHER)
    ]
    lines = [f"| {code} | {meaning} | {action} |", "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in rows)]
    return f"# {title}\n\n{_WORDS[language]}\n\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page("es" if sys.argv[1:] == ["es"] else "en"))
