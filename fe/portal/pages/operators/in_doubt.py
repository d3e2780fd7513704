"""Submissions in doubt: the service queries the authority by itself, or an operator gives them up."""

from fe.ecf.catalogue import Environment
from fe.ecf.texts import Text
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import FILTERS, FormProblem, chosen
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.queue import in_doubt
from fe.store.queue.in_doubt import Doubt

_SHOWN = 200


async def index(visit: Visit) -> Reply:
    """List submissions in doubt, the longest first."""
    given = {name: visit.query.get(name, "").strip() for name in FILTERS}
    problem: Text | None = None
    found: list[Doubt] = []
    try:
        found = await visit.operators.run(in_doubt.listed, await chosen(visit, given), _SHOWN + 1)
    except FormProblem as wrong:
        problem = wrong.text
    return visit.page(
        "operators/in_doubt.html",
        400 if problem else 200,
        found=found[:_SHOWN],
        has_more=len(found) > _SHOWN,
        given=given,
        problem=problem,
        environments=list(Environment),
    )


PAGES = (Page("GET", "/operators/in-doubt", Needs.OPERATE, index),)
