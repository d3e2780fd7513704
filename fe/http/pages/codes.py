"""The page of the long lists of codes: units, currencies, additional taxes with their rates, places."""

from html import escape

from fe.ecf.dates import show_day
from fe.ecf.schema.model import Code
from fe.ecf.taxes import ADDITIONAL_TAXES, RATES, SPECIFIC
from fe.ecf.texts import Text
from fe.http.languages import Language
from fe.http.pages.fields import LIST_TITLES, LONG_LISTS, meaning

TITLE = Text("Code lists", "Listas de códigos")
_CODE, _MEANING = Text("Code", "Código"), Text("Meaning", "Significado")
_RATE, _SINCE = Text("Rate", "Tasa"), Text("Since", "Desde")
_ABOUT = {
    "taxes": Text(
        "Rates are the last that this release knows. Those by quantity are pesos per litre of absolute alcohol, or per "
        "packet; they change every quarter, and your service may know later ones.",
        "Las tasas son las últimas que conoce esta versión. Las específicas son pesos por litro de alcohol absoluto, o "
        "por cajetilla; cambian cada trimestre y su servicio puede conocer otras más recientes.",
    ),
    "places": Text(
        "Two digits for the province, two for the municipality, two for the municipal district.",
        "Dos dígitos de la provincia, dos del municipio y dos del distrito municipal.",
    ),
}


def _rate(code: Code) -> tuple[str, str]:
    """The rate of an additional tax, and since when."""
    last = max(RATES.periods[code.value], key=lambda period: period.since)
    rate = f"RD$ {last.rate}" if ADDITIONAL_TAXES[code.value].kind in SPECIFIC else f"{last.rate} %"
    return rate, show_day(last.since) if last.until is not None else ""


def _rows(name: str, language: Language) -> list[tuple[str, ...]]:
    """The heads of a list's columns, and its rows."""
    heads: tuple[str, ...] = (_CODE.said(language), _MEANING.said(language))
    if name != "taxes":
        return [heads, *((code.value, meaning(code, language)) for code in LONG_LISTS[name])]
    heads += (_RATE.said(language), _SINCE.said(language))
    return [heads, *((code.value, meaning(code, language), *_rate(code)) for code in LONG_LISTS[name])]


def codes_html(language: Language) -> str:
    """The page, without its shell."""
    parts = [f"<h1>{TITLE.said(language)}</h1><ul>"]
    parts += [f'<li><a href="#{name}">{title.said(language)}</a>' for name, title in LIST_TITLES.items()]
    parts.append("</ul>")
    for name, title in LIST_TITLES.items():
        parts.append(f'<h2 id="{name}">{title.said(language)}</h2>')
        if name in _ABOUT:
            parts.append(f"<p>{_ABOUT[name].said(language)}</p>")
        heads, *rows = _rows(name, language)
        head = "".join(f"<th>{one}" for one in heads)
        cells = "".join(
            f"<tr><td><code>{row[0]}</code>{''.join(f'<td>{escape(cell)}' for cell in row[1:])}</tr>" for row in rows
        )
        parts.append(f"<table><tr>{head}</tr>{cells}</table>")
    return "".join(parts)


def codes_markdown(language: Language) -> str:
    """Render the page as Markdown."""
    parts = [f"# {TITLE.said(language)}\n"]
    for name, title in LIST_TITLES.items():
        parts.append(f"## {title.said(language)}\n")
        if name in _ABOUT:
            parts.append(f"{_ABOUT[name].said(language)}\n")
        heads, *rows = _rows(name, language)
        lines = [heads, tuple("---" for _ in heads), *((f"`{row[0]}`", *row[1:]) for row in rows)]
        parts.append("".join(f"| {' | '.join(line)} |\n" for line in lines))
    return "\n".join(parts)
