"""Keys of programs that set up companies in an operator's name: list, create and revoke them."""

from fe.accounts import operator_keys
from fe.accounts.keys import Peppers
from fe.ecf.texts import LocalizedError, Text
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import acting
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.portal import operator_keys as store

_HERE = "/operators/keys"
_SHOWN = 200
_STATES = {
    "active": (Text("active", "activa"), "ok"),
    "expired": (Text("expired", "vencida"), "warn"),
    "revoked": (Text("revoked", "revocada"), "soft"),
    "suspended": (Text("its person is no operator", "su dueño no es operador"), "bad"),
}
_REVOKED = Text("The key is revoked: its next call is refused.", "La clave está revocada: su próxima llamada falla.")
_REVOKED_BEFORE = Text("The key was revoked before.", "La clave ya estaba revocada.")


async def index(visit: Visit) -> Reply:
    """List keys of all operators, and ask for the data of a new one."""
    return await _show(visit)


async def _show(visit: Visit, problem: Text | None = None, token: str = "") -> Reply:
    found = await visit.operators.run(store.listed, _SHOWN)
    return visit.page(
        "operators/operator_keys.html",
        400 if problem else 200,
        found=[(one, *_STATES[one.state(visit.now)]) for one in found],
        most=operator_keys.MOST_DAYS,
        problem=problem,
        token=token,
        # Of a key that was made the form is empty: pressed again, it would make another.
        typed={} if token else visit.form,
    )


async def create(visit: Visit) -> Reply:
    """Create a key of the operator's own, and show it this once."""
    days, peppers = visit.form.get("days"), Peppers(visit.portal.peppers)
    number = int(days) if days.isascii() and days.isdigit() and len(days) < 5 else 0
    try:
        made = await visit.run_operation(
            operator_keys.create,
            acting(visit),
            visit.person.person,
            visit.form.get("name"),
            days=number,
            peppers=peppers,
        )
    except LocalizedError as wrong:
        return await _show(visit, wrong.text)
    return await _show(visit, token=made.token)


async def revoke(visit: Visit) -> Reply:
    """Revoke a key, also one of another operator."""
    try:
        revoked = await visit.run_operation(operator_keys.revoke, acting(visit), visit.form.get("key"))
    except LocalizedError as wrong:
        return await _show(visit, wrong.text)
    return await visit.go(_HERE, _REVOKED if revoked else _REVOKED_BEFORE)


PAGES = (
    Page("GET", _HERE, Needs.OPERATE, index),
    Page("POST", f"{_HERE}/new", Needs.OPERATE, create, fresh=True),
    # Also without a recent confirmation: a leaked key must be revoked at once.
    Page("POST", f"{_HERE}/revoke", Needs.OPERATE, revoke),
)
