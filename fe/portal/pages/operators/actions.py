"""Log of operators' actions, and whether its chain of hashes is intact."""

from fe.operations.audit_chain import Chain
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.queue import audit
from fe.store.records import audit_trail

_SHOWN = 200
#: Links that are looked at with each visit; all of them are `fe audit verify`'s.
_VERIFIED = 1000


async def index(visit: Visit) -> Reply:
    """List operators' actions, the latest first, and check the last links of the chain."""
    links = await visit.operators.run(audit_trail.last, _VERIFIED)
    chain = Chain(links[0] if links else None)
    faults = [fault for link in links for fault in chain.faults(link)]
    return visit.page(
        "operators/actions.html",
        entries=await visit.operators.run(audit.latest, _SHOWN),
        links=chain.links,
        verified=len(links),
        last=chain.last.hex() if chain.last else "",
        faults=faults[:20],
    )


PAGES = (Page("GET", "/operators/actions", Needs.OPERATE, index),)
