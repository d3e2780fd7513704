"""The shell of every page: head, style, navigation; and the headers a page is answered with.

Nothing but its own style and its own script may be loaded or run: both are allowed by their hashes, so that the
policy has no exception.
"""

from base64 import b64encode
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from html import escape
from importlib.resources import files

from fe.ecf.dates import local
from fe.http.calls import ApiReply, Call
from fe.http.languages import Language
from fe.http.pages.served import FRESH, ServedPage

#: The suffix of a page's address for Markdown.
MARKDOWN = ".md"

LANGUAGES: tuple[Language, ...] = ("es", "en")

STYLE = files("fe.http.pages").joinpath("style.css").read_text(encoding="utf-8")

_SCRIPT = files("fe.http.pages").joinpath("code.js").read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


#: Forms may be sent to this service only.
_POLICY = (
    f"default-src 'none'; style-src {_hash(STYLE)}; script-src {_hash(_SCRIPT)}; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_SAFE = (("Content-Security-Policy", _POLICY), ("Referrer-Policy", "no-referrer"))

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "home": "Start",
        "guide": "Guide",
        "fields": "Fields",
        "reference": "Reference",
        "status": "Status",
        "markdown": "This page as Markdown",
        "assistants": "For assistants",
        "skip": "Documentation",
    },
    "es": {
        "home": "Inicio",
        "guide": "Guía",
        "fields": "Campos",
        "reference": "Referencia",
        "status": "Estado",
        "markdown": "Esta página en Markdown",
        "assistants": "Para asistentes",
        "skip": "Documentación",
    },
}
_OWN_NAME: dict[Language, str] = {"en": "English", "es": "Español"}


@dataclass(frozen=True, slots=True)
class Shell:
    """The frame of a page: `base` is the address of the documentation, `place` the section of the page.

    `path` is the page's own below a language (`fields/31`), empty for a page in one language only.
    """

    base: str
    language: Language
    place: str
    path: str = ""

    def address(self, path: str, language: Language | None = None) -> str:
        """The address of a page in a language, that of this page unless another is named."""
        return f"{self.base}/{language or self.language}/{path}"

    def around(self, title: str, body: str, *, markdown: str = "") -> bytes:
        """The whole page. `markdown` is the address of the same as Markdown."""
        words = _WORDS[self.language]
        links = "".join(
            f'<a href="{target}"{self._current(place)}>{words[place]}</a>'
            for place, target in (
                ("guide", self.address("guide")),
                ("fields", self.address("fields")),
                ("reference", self.base),
                ("status", self.address("status")),
            )
        )
        others = "".join(
            f'<a href="{self.address(self.path or "guide", language)}" lang="{language}" hreflang="{language}" '
            f'title="{_OWN_NAME[language]}"{" aria-current=true" if language == self.language else ""}>'
            f"{language.upper()}</a>"
            for language in LANGUAGES
        )
        beside = f'<link rel="alternate" type="text/markdown" href="{escape(markdown)}">' if markdown else ""
        foot = [f'<a href="{escape(markdown)}">{words["markdown"]}</a>'] if markdown else []
        foot.append(f'<a href="{self.base}/llms.txt">{words["assistants"]}: llms.txt</a>')
        foot.append(f'<a href="{self.base.rpartition("/")[0]}/openapi.json">openapi.json</a>')
        return (
            f'<!doctype html><html lang="{self.language}"><head><meta charset="utf-8">'
            f"<title>{escape(title)} · fe</title>"
            f'<meta name="viewport" content="width=device-width,initial-scale=1">{beside}<style>{STYLE}</style></head>'
            f'<body><header class="bar"><div><a href="{self.address("guide")}"><b>fe</b></a>{links}'
            f'<span class="lang">{others}</span></div></header><main>{body}</main>'
            f"<footer>{' · '.join(foot)}</footer><script>{_SCRIPT}</script></body></html>"
        ).encode()

    def _current(self, place: str) -> str:
        return " aria-current=page" if place == self.place else ""


def language_of(call: Call) -> tuple[Language, bool]:
    """Return the language of a page, and whether it was negotiated because the address names none."""
    named = call.params.get("language")
    return next(((one, False) for one in LANGUAGES if one == named), (call.language, named is None))


def shown_moment(text: str) -> str:
    """Show a timestamp of the API in Dominican time."""
    return f"{local(datetime.fromisoformat(text)):%d-%m-%Y %H:%M:%S}"


def html_reply(page: bytes, language: Language, *, negotiated: bool = False) -> ApiReply:
    """Answer with a page that was made for this call. `negotiated`: in another language it would be another one."""
    vary = (("Vary", "Accept-Language"),) if negotiated else ()
    return ApiReply(200, page, (*_said("text/html", language), *vary, *_SAFE))


def html_page(page: bytes, language: Language, *, negotiated: bool = False, fresh: int = FRESH) -> ServedPage:
    """Keep a page to be answered many times; caches need not ask for `fresh` seconds."""
    vary = "Accept-Language" if negotiated else ""
    return ServedPage.of(page, *_said("text/html", language), *_SAFE, vary=vary, fresh=fresh)


def text_page(kind: str, text: bytes, language: Language, *, negotiated: bool = False) -> ServedPage:
    """Keep Markdown or another text to be answered many times."""
    return ServedPage.of(text, *_said(kind, language), vary="Accept-Language" if negotiated else "")


def _said(kind: str, language: Language) -> tuple[tuple[str, str], ...]:
    return ("Content-Type", f"{kind}; charset=utf-8"), ("Content-Language", language)


def inline(text: str) -> str:
    """Text with `code` in backticks, as HTML."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
