"""The webhook's signing secret: show it again or rotate it, after confirming the identity."""

from fe.ecf.texts import Text
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.portal.webhook_visits import accounts_of, name_of, of_environment, status_of, subject_of, there
from fe.secrets.vault import VaultError
from fe.store.postgres.db import Conn
from fe.store.webhooks.endpoints import OVERLAP
from fe.webhooks.accounts import EndpointView, NotNow, NoWebhook, WebhookRefused

_CANNOT = Text(
    "This installation has lost the key to this secret: put a new one in its place.",
    "Esta instalación perdió la clave de este secreto: cree uno nuevo.",
)


async def show(visit: Visit) -> Reply:
    """Explain the secret, and offer to show or rotate it."""
    return await _page(visit)


async def reveal(visit: Visit) -> Reply:
    """Show the current secret. The company's changes record this."""
    try:
        return await _page(visit, await visit.change(_reveal, visit))
    except WebhookRefused as refused:
        return await _page(visit, problem=refused.text, status=status_of(refused))


async def _reveal(conn: Conn, visit: Visit) -> EndpointView:
    try:
        found = await accounts_of(visit).reveal(
            conn, visit.tenant_id, visit.environment, visit.now, name=name_of(visit)
        )
    except VaultError:
        raise NotNow(_CANNOT) from None
    await visit.note(conn, "webhook secret shown", subject_of(visit), None, None)
    return found


async def rotate(visit: Visit) -> Reply:
    """Rotate the secret and show it; the old one also signs for a day."""
    try:
        return await _page(visit, await visit.change(_rotate, visit), is_new=True)
    except WebhookRefused as refused:
        return await _page(visit, problem=refused.text, status=status_of(refused))


async def _rotate(conn: Conn, visit: Visit) -> EndpointView:
    found = await accounts_of(visit).rotate(conn, visit.tenant_id, visit.environment, visit.now, name=name_of(visit))
    until = None if found.old_secret_until is None else found.old_secret_until.isoformat()
    await visit.note(conn, "webhook secret rotated", subject_of(visit), None, {"oldSecretUntil": until})
    return found


async def _page(
    visit: Visit,
    shown: EndpointView | None = None,
    *,
    is_new: bool = False,
    problem: Text | None = None,
    status: int = 200,
) -> Reply:
    found = shown or await of_environment(visit)
    if found is None and problem is None:
        problem, status = NoWebhook(visit.environment, name_of(visit)).text, 404
    return visit.page(
        "company/webhook_secret.html",
        status,
        found=found,
        secret=None if shown is None else shown.secret,
        is_new=is_new,
        name=name_of(visit),
        back=there(visit),
        problem=problem,
        overlap_hours=OVERLAP.total_seconds() // 3600,
    )


_THERE = "/companies/<int:company>/<environment>/webhooks"
PAGES = (
    Page("GET", f"{_THERE}/secret", Needs.WRITE, show, fresh=True),
    Page("POST", f"{_THERE}/secret", Needs.WRITE, reveal, fresh=True),
    Page("POST", f"{_THERE}/rotate", Needs.WRITE, rotate, fresh=True),
)
