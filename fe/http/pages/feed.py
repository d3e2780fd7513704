"""The changes of the API as an Atom feed (RFC 4287), made of the page that lists them."""

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

from fe.http.languages import Language
from fe.http.pages.guide import guide_pages, to_html
from fe.http.pages.texts import said

#: The page, by its place in addresses, and the feed.
PAGE = "guide/changes"
FEED = "changes.atom"

_ENTRY = re.compile(r"^## (\d{4}-\d{2}-\d{2})(: [^\n]+)?$\n(.*?)(?=^## |\Z)", re.M | re.S)


class FeedEntry(NamedTuple):
    """A section of the page that is headed by a day."""

    day: str
    title: str
    html: str


def changes(language: Language) -> Iterator[FeedEntry]:
    """List the changes as the page has them."""
    for day, title, text in _ENTRY.findall(guide_pages()[PAGE][language].text):
        yield FeedEntry(day, title.removeprefix(": ") or day, to_html(text))


def feed(base: str, language: Language) -> bytes:
    """Write the feed. Links are relative to the address it was fetched from."""
    listed = list(changes(language))
    page, own = f"{base}/{language}/{PAGE}", f"{base}/{language}/{FEED}"
    entries = "".join(
        f"<entry><id>{_id(own, one.day)}</id><title>{escape(one.title)}</title><updated>{one.day}T00:00:00Z</updated>"
        f'<link href="{escape(page)}"/><content type="html">{escape(one.html)}</content></entry>'
        for one in listed
    )
    updated = max(one.day for one in listed)
    return (
        f'<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{language}">'
        f"<id>{_id(own, '')}</id><title>fe · {escape(said('changes', language))}</title>"
        f"<updated>{updated}T00:00:00Z</updated><author><name>fe</name></author>"
        f'<link rel="self" href="{escape(own)}"/><link rel="alternate" href="{escape(page)}"/>{entries}</feed>'
    ).encode()


def _id(own: str, day: str) -> str:
    return uuid5(NAMESPACE_URL, f"{own}#{day}").urn
