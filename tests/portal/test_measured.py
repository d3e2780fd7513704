"""Every page that a browser can ask for is measured by bench.portal, or is named there with a reason."""

from dataclasses import replace

import pytest

from bench.portal_pages import Known, Missing, every_way, require_all
from fe.portal.page_types import Needs, Page
from fe.portal.pages import every_page
from tests.portal.running import Running

WAYS = every_way(1, Known.nothing())


async def test_every_page_is_measured_or_named_with_a_reason(portal: Running) -> None:
    require_all(every_page(portal.portal), WAYS)


async def test_a_page_that_nobody_thought_of_is_missed(portal: Running) -> None:
    pages = every_page(portal.portal)
    new = replace(pages[0], path="/companies/<int:company>/dreams", method="GET", needs=Needs.READ)

    with pytest.raises(Missing, match="nobody measures /companies/<int:company>/dreams"):
        require_all((*pages, new), WAYS)


async def test_a_reason_for_a_page_that_is_gone_is_missed(portal: Running) -> None:
    pages: list[Page] = [page for page in every_page(portal.portal) if page.path != "/healthz"]

    with pytest.raises(Missing, match="/healthz"):
        require_all(pages, WAYS)
