"""Words of a printed receipt, from labels.toml."""

import tomllib
from collections.abc import Mapping

from fe.ecf.data_files import data_text
from fe.ecf.texts import Language, Text

_TABLES = tomllib.loads(data_text("printing/labels.toml"))

#: By type of e-CF, by CodigoModificacion, and by mode of issue: the authority's own words.
TITLES: Mapping[str, str] = _TABLES["titles"]
PAPER_TITLES: Mapping[str, str] = _TABLES["paper_titles"]
MODIFICATIONS: Mapping[str, str] = _TABLES["modifications"]
LEGENDS: Mapping[str, str] = _TABLES["legends"]
_EN, _ES = ({**_TABLES["fixed"], **_TABLES[language]} for language in ("en", "es"))
_WORDS = {name: Text(_EN[name], _ES[name]) for name in _EN}


def label(name: str, language: Language, **values: object) -> str:
    """Return a label with values in place of its braces; the authority's labels are Spanish in both languages."""
    words = _WORDS[name]
    return (words.fill(**values) if values else words).said(language)
