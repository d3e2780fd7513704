"""Style and script, and whether the process answers."""

from fe.ecf.json_text import write_json
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.portal import people

_FOR_A_YEAR = "public, max-age=31536000, immutable"
#: Token hash that no session has: a readiness check looks it up to test the database.
_NOBODY = "@"


async def asset(visit: Visit) -> Reply:
    """Serve a file of ours under the address that its content gives it."""
    found = visit.portal.renderer.assets.get(visit.params["name"])
    if found is None or visit.path != found.address:
        raise not_found()
    return Reply(200, found.content, (("Content-Type", found.content_type), ("Cache-Control", _FOR_A_YEAR)))


async def alive(visit: Visit) -> Reply:
    """Answer that the process is alive."""
    return Reply(200, b'{"status":"ok"}', (("Content-Type", "application/json"),))


async def ready(visit: Visit) -> Reply:
    """Report that people can be served; a database that is away or a wrong clock becomes 503."""
    await visit.portal.db.run(people.by_email, _NOBODY)
    if (fault := visit.portal.clock_fault()) is not None:
        return Reply(503, write_json({"message": fault, "statusCode": 503}), (("Content-Type", "application/json"),))
    return Reply(200, b'{"status":"ready"}', (("Content-Type", "application/json"),))


PAGES = (
    Page("GET", "/static/<digest>/<name>", Needs.NOTHING, asset),
    Page("GET", "/healthz", Needs.NOTHING, alive),
    Page("GET", "/readyz", Needs.NOTHING, ready),
)
