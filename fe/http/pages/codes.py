"""The page of the long lists of codes: units, currencies, additional taxes with their rates, places."""

from html import escape

from fe.ecf.dates import show_day
from fe.ecf.schema.model import Code
from fe.ecf.taxes import ADDITIONAL_TAXES, RATES, SPECIFIC
from fe.http.languages import Language
from fe.http.pages.fields import LONG_LISTS, meaning
from fe.http.pages.texts import said

#: Lists with a text of their own above them.
_EXPLAINED = ("taxes", "places")


def _rate(code: Code) -> tuple[str, str]:
    """The rate of an additional tax, and since when."""
    last = max(RATES.periods[code.value], key=lambda period: period.since)
    rate = f"RD$ {last.rate}" if ADDITIONAL_TAXES[code.value].kind in SPECIFIC else f"{last.rate} %"
    return rate, show_day(last.since) if last.until is not None else ""


def _rows(name: str, language: Language) -> list[tuple[str, ...]]:
    """The heads of a list's columns, and its rows."""
    heads: tuple[str, ...] = (said("column-code", language), said("column-meaning", language))
    if name != "taxes":
        return [heads, *((code.value, meaning(code, language)) for code in LONG_LISTS[name])]
    heads += (said("column-rate", language), said("column-since", language))
    return [heads, *((code.value, meaning(code, language), *_rate(code)) for code in LONG_LISTS[name])]


def codes_html(language: Language) -> str:
    """The page, without its shell."""
    parts = [f"<h1>{said('code-lists', language)}</h1><ul>"]
    parts += [f'<li><a href="#{name}">{said("list-" + name, language)}</a>' for name in LONG_LISTS]
    parts.append("</ul>")
    for name in LONG_LISTS:
        parts.append(f'<h2 id="{name}">{said("list-" + name, language)}</h2>')
        if name in _EXPLAINED:
            parts.append(f"<p>{said('about-' + name, language)}</p>")
        heads, *rows = _rows(name, language)
        head = "".join(f"<th>{one}" for one in heads)
        cells = "".join(
            f"<tr><td><code>{row[0]}</code>{''.join(f'<td>{escape(cell)}' for cell in row[1:])}</tr>" for row in rows
        )
        parts.append(f"<table><tr>{head}</tr>{cells}</table>")
    return "".join(parts)


def codes_markdown(language: Language) -> str:
    """Render the page as Markdown."""
    parts = [f"# {said('code-lists', language)}\n"]
    for name in LONG_LISTS:
        parts.append(f"## {said('list-' + name, language)}\n")
        if name in _EXPLAINED:
            parts.append(f"{said('about-' + name, language)}\n")
        heads, *rows = _rows(name, language)
        lines = [heads, tuple("---" for _ in heads), *((f"`{row[0]}`", *row[1:]) for row in rows)]
        parts.append("".join(f"| {' | '.join(line)} |\n" for line in lines))
    return "\n".join(parts)
