"""Messages of the pages of new receipts (messages.toml)."""

from datetime import date
from decimal import Decimal

from fe.ecf.data_files import toml_file
from fe.ecf.texts import Text

MESSAGES = toml_file("portal/receipt/messages.toml", dict[str, Text])


def say(key: str, **values: object) -> Text:
    """Return a message with values in place of its braces."""
    return MESSAGES[key].fill(**values)


def no_number(reason: str, prefix: str) -> Text:
    """Say why no number can be drawn, and what to do first; `reason` is that of NoNumber."""
    key = f"no-number-{reason.replace(' ', '-')}"
    return say(key if key in MESSAGES else "no-number-none", prefix=prefix)


def next_number(e_ncf: str, last_day: date | None) -> Text:
    """Say which number comes next, and until when it is valid."""
    if last_day is None:
        return say("next-number", number=e_ncf)
    return say("next-number-until", number=e_ncf, day=f"{last_day:%d-%m-%Y}")


def issued(e_ncf: str | None, change: Decimal | None, remark: Text | None) -> Text:
    """Say that it is on its way, the change to give, and what its number did to the sequence."""
    said = say("issued") if e_ncf is None else say("issued-number", e_ncf=e_ncf)
    if change:
        back = say("change", amount=f"{change:,.2f}")
        said = Text(f"{back.en} {said.en}", f"{back.es} {said.es}")
    return said if remark is None else Text(f"{said.en} {remark.en}.", f"{said.es} {remark.es}.")
