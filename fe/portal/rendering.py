"""Templates: what is escaped, in which words, and how values look.

In a template `t("English", "Español")` says a text in the reader's language; a `Text` says itself by the filter `said`.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from importlib.resources import files
from uuid import uuid4

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from fe.ecf.dates import ZONE
from fe.ecf.money import cents, number
from fe.ecf.texts import Language, Text
from fe.month.period import YearMonth
from fe.portal.forms import digest
from fe.portal.operator_words import action_words, stage_name
from fe.portal.role_names import role_name

_STATIC = ("portal.css", "portal.js", "portal.svg", "receipt.js")
_CONTENT_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of our own that pages load: its address changes with its content, so that browsers may keep it."""

    name: str
    content: bytes

    @property
    def address(self) -> str:
        """Where it is."""
        return f"/static/{sha256(self.content).hexdigest()[:16]}/{self.name}"

    @property
    def content_type(self) -> str:
        """Return the name."""
        return _CONTENT_TYPES[self.name.rpartition(".")[2]]


class Renderer:
    """Renders templates. One for each process."""

    def __init__(self) -> None:
        folder = files("fe.portal").joinpath("static")
        self.assets = {name: Asset(name, folder.joinpath(name).read_bytes()) for name in _STATIC}
        self._environment = Environment(
            loader=PackageLoader("fe.portal"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals |= {
            "asset": lambda name: self.assets[name].address,
            "digest": digest,
            "new_form": lambda: str(uuid4()),
            "t": _translate,
            "stage_name": stage_name,
            "role_name": role_name,
            "action_words": action_words,
        }
        self._environment.filters |= {
            "said": _said,
            "sentence": lambda text: f"{text[:1].upper()}{text[1:]}",
            "money": _money,
            "number": _number,
            "moment": _moment,
            "minute": _minute,
            "day": _day,
            "month": _month,
            "ago": _ago,
        }

    def render(self, template: str, language: Language, **values: object) -> str:
        """Render a template; an undefined name is an error."""
        return self._environment.get_template(template).render(language=language, **values)


@pass_context
def _translate(context: Context, english: str, spanish: str) -> str:
    return spanish if context["language"] == "es" else english


@pass_context
def _said(context: Context, text: Text | str) -> str:
    return text.said(context["language"]) if isinstance(text, Text) else text


def _money(value: Decimal | int | str | None) -> str:
    """Format an amount as Dominican receipts do: two decimals, commas, half a cent rounded up.

    Text that is no amount stays as it is.
    """
    if value is None:
        return ""
    amount = number(value)
    return str(value) if amount is None else f"{cents(amount):,}"


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _moment(value: datetime | None) -> str:
    """A moment in Santo Domingo, to the second."""
    return "" if value is None else value.astimezone(ZONE).strftime("%d-%m-%Y %H:%M:%S")


def _minute(value: datetime) -> str:
    """A moment in Santo Domingo, to the minute: for lists."""
    return value.astimezone(ZONE).strftime("%d-%m-%Y %H:%M")


def _day(value: date | datetime | None) -> str:
    """A day as the authority writes it; of a moment, the day in Santo Domingo."""
    if value is None:
        return ""
    return (value.astimezone(ZONE) if isinstance(value, datetime) else value).strftime("%d-%m-%Y")


@pass_context
def _month(context: Context, value: date | YearMonth) -> str:
    """The name of a month, or of that of a day."""
    month = value if isinstance(value, YearMonth) else YearMonth.of(value)
    return month.name.said(context["language"])


@pass_context
def _ago(context: Context, seconds: float | timedelta | None) -> str:
    """A span of time in one unit: `3 min`, `2 h`, `5 d`."""
    if seconds is None:
        return ""
    total = seconds.total_seconds() if isinstance(seconds, timedelta) else seconds
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if total >= size:
            return f"{int(total // size)} {unit}"
    return f"{max(0, int(total))} s"
