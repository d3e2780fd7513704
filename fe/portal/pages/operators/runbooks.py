"""Runbooks: what to do about an alert or a problem, as pages that link to each other."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from markupsafe import Markup

from fe.http.pages.guide import to_html
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit

_AT = "/operators/runbooks"
#: A runbook that another names: `database.md`, but not docs/retention.md.
_NAMED = re.compile(r"(?<![\w/-])(`?)([a-z][a-z-]*)\.md\1")


async def show(visit: Visit) -> Reply:
    """Show a runbook."""
    name = visit.params["runbook"]
    text = _runbooks().get(name)
    if text is None:
        raise not_found()
    html = to_html(_linked(text))
    html = html.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    return visit.page("operators/runbook.html", name=name, text=Markup(html))  # noqa: S704  (files of this package)


@cache
def _runbooks() -> Mapping[str, str]:
    """Read the runbooks by name; `fe/runbooks` is a link to `ops/runbooks`."""
    found = (one for one in files("fe").joinpath("runbooks").iterdir() if one.name.endswith(".md"))
    return {one.name.removesuffix(".md"): one.read_text(encoding="utf-8") for one in found}


def _linked(text: str) -> str:
    def link(found: re.Match[str]) -> str:
        return f"[{found[0]}]({_AT}/{found[2]})" if found[2] in _runbooks() else found[0]

    return _NAMED.sub(link, text)


PAGES = (Page("GET", f"{_AT}/<runbook>", Needs.OPERATE, show),)
