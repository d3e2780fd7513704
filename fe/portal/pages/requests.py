"""Failed requests of a company's API keys, newest first: what a program sent, and what it was answered."""

from collections.abc import Sequence
from urllib.parse import urlencode

from fe.ecf.ids import read_id
from fe.portal.foreign_text import foreign
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.records import request_log
from fe.store.records.request_log import RequestFilter

_PAGE = 50
_RANGES = {"4xx": (400, 499), "5xx": (500, 599)}


async def listed(visit: Visit) -> Reply:
    """List failed requests, a page at a time; an unknown status means all."""
    asked = {name: _printable(visit.query.get(name, "")) for name in ("key", "status", "request")}
    least, most = _RANGES.get(asked["status"], (400, 599))
    chosen = RequestFilter(
        environment=visit.environment,
        api_key_id=asked["key"] or None,
        least_status=least,
        most_status=most,
        request_id=asked["request"] or None,
    )
    below = read_id(visit.query.get("before", ""))
    found = await visit.read_list(request_log.listed, chosen, limit=_PAGE + 1, below=below)
    more = None
    if len(found) > _PAGE:
        given = {name: value for name, value in asked.items() if value}
        more = urlencode({**given, "before": str(found[_PAGE - 1].entry_id)})
    return visit.page(
        "company/requests.html",
        found=found[:_PAGE],
        asked=asked,
        is_first=below is None,
        more=more,
        ranges=list(_RANGES),
        foreign=foreign,
    )


def _printable(text: str) -> str:
    # An id has no other characters, and the database would reject some of them.
    return text[:120] if text.isprintable() else "?"


PAGES: Sequence[Page] = (Page("GET", "/companies/<int:company>/<environment>/requests", Needs.READ, listed),)
