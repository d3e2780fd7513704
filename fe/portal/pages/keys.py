"""Keys of programs: made, with a secret that is shown once; seen with when they were last used; rolled; revoked."""

from datetime import date, datetime, timedelta
from enum import IntEnum
from typing import Any

from fe.accounts import audited_changes
from fe.accounts.keys import SCOPES
from fe.accounts.provision import NewKey, ProvisioningRefused
from fe.accounts.sequences import BadSequence, end_of
from fe.ecf.catalogue import Environment
from fe.ecf.texts import Text
from fe.identifiers import ApiKeyId, TenantId
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.records import keys
from fe.store.records.keys import ApiKey

#: Description of each scope.
SCOPE_WORDS = {
    "invoices:write": Text(
        "hand in receipts and cancel numbers; with it come the scopes over sequences",
        "enviar comprobantes y anular números; incluye los permisos sobre las secuencias",
    ),
    "invoices:read": Text(
        "see receipts, their states and their XML; with it comes seeing sequences",
        "ver comprobantes, sus estados y su XML; incluye ver las secuencias",
    ),
    "ncf:read": Text("see number sequences", "ver las secuencias de números"),
    "ncf:write": Text("set up and change number sequences", "configurar y cambiar las secuencias de números"),
    "usage:read": Text("see how much was used", "ver el uso"),
    "billing:read": Text("see what it costs", "ver lo que se cobra"),
    "webhooks:read": Text(
        "see where events are sent, and deliveries", "ver adónde se envían los eventos y sus entregas"
    ),
    "webhooks:write": Text("say where events are sent", "decidir adónde se envían los eventos"),
    "mail:read": Text("see the settings of mail to buyers", "ver los ajustes del correo a los compradores"),
    "mail:write": Text("change the settings of mail to buyers", "cambiar los ajustes del correo a los compradores"),
    "catalogue:read": Text("see customers and products", "ver clientes y productos"),
    "catalogue:write": Text("change customers and products", "modificar clientes y productos"),
    "recurring:read": Text("see recurring receipts", "ver comprobantes recurrentes"),
    "recurring:write": Text(
        "change recurring receipts, which issue by themselves",
        "modificar comprobantes recurrentes, que se emiten solos",
    ),
}
_STATES = {
    "active": Text("active", "activa"),
    "expired": Text("expired", "vencida"),
    "revoked": Text("revoked", "revocada"),
    "suspended": Text("suspended", "suspendida"),
}


class Overlap(IntEnum):
    """Hours that a rolled key still works."""

    HOUR = 1
    DAY = 24
    WEEK = 7 * 24


_OVERLAPS = {
    Overlap.HOUR: Text("one hour", "una hora"),
    Overlap.DAY: Text("one day", "un día"),
    Overlap.WEEK: Text("seven days", "siete días"),
}
_BAD_OVERLAP = Text("Choose how long the old key still works.", "Elija cuánto tiempo más funciona la clave anterior.")
_NOT_ACTIVE = Text("The key was not active any more.", "La clave ya no estaba activa.")
_BAD_DAY = Text("The last day is not a date of the calendar.", "La fecha de vencimiento no existe en el calendario.")
_BAD_ENVIRONMENT = Text("Choose an environment.", "Elija un ambiente.")
_REVOKED = Text(
    "The key is revoked: programs that use it are refused from now on.",
    "La clave está revocada: desde ahora se rechazan las llamadas hechas con ella.",
)
_REVOKED_BEFORE = Text("The key was revoked before.", "La clave ya estaba revocada.")


async def listed(visit: Visit) -> Reply:
    """List the keys with their states and last use."""
    found = await visit.read(keys.of_tenant)
    return visit.page(
        "company/keys.html",
        keys=[(one, one.state(visit.now), _STATES[one.state(visit.now)]) for one in reversed(found)],
        last_uses=await visit.read(keys.last_uses),
    )


async def new(visit: Visit) -> Reply:
    """Show the form of a new key."""
    return _form(visit)


async def create(visit: Visit) -> Reply:
    """Make a key and show its secret, this once: sending the form again makes no other."""
    try:
        environment, expires_at = Environment(visit.form.get("environment")), _end(visit.form.get("expires"))
        made = await visit.change(_make, visit, environment, expires_at)
    except BadSequence as refused:
        return _form(visit, refused.text)
    except ProvisioningRefused as refused:
        return _form(visit, refused.text)
    except ValueError:
        return _form(visit, _BAD_ENVIRONMENT)
    return visit.page("company/key_made.html", made=made.record, secret=made.secret, rolled=None)


async def _make(conn: Conn, visit: Visit, environment: Environment, expires_at: datetime | None) -> NewKey:
    pepper_id, pepper = next(iter(visit.portal.peppers.items()))
    return await audited_changes.create_key(
        conn,
        visit.author,
        visit.company.tenant,
        environment,
        pepper=pepper,
        pepper_id=pepper_id,
        scopes=visit.form.every("scope"),
        name=visit.form.get("name"),
        expires_at=expires_at,
    )


def _end(last_day: str) -> datetime | None:
    """The end of a day in Santo Domingo. Raises BadSequence."""
    if not last_day:
        return None
    try:
        return end_of(date.fromisoformat(last_day))
    except (ValueError, BadSequence):
        raise BadSequence(_BAD_DAY) from None


async def key(visit: Visit) -> Reply:
    """Show a key, to be rolled or revoked."""
    return visit.page("company/key.html", **await _facts(visit))


async def _facts(visit: Visit, problem: Text | None = None) -> dict[str, Any]:
    found = await visit.read(_find, visit.params["key"])
    last_uses = await visit.read(keys.last_uses)
    state = found.state(visit.now)
    return {
        "key": found,
        "state": state,
        "state_words": _STATES[state],
        "scope_words": SCOPE_WORDS,
        "last_used": last_uses.get(found.api_key_id),
        "overlaps": _OVERLAPS,
        "problem": problem,
    }


async def revoke(visit: Visit) -> Reply:
    """Revoke a key; every process is notified at once."""
    found = await visit.read(_find, visit.params["key"])

    async def work(conn: Conn) -> bool:
        return await audited_changes.revoke_key(conn, visit.author, visit.company.tenant, found.api_key_id)

    revoked = await visit.change(work)
    return await visit.go(visit.at("keys"), _REVOKED if revoked else _REVOKED_BEFORE)


async def roll(visit: Visit) -> Reply:
    """Make a key like this one, show its secret this once, and let this one end after the overlap that was chosen."""
    try:
        overlap = timedelta(hours=Overlap(int(visit.form.get("overlap"))))
    except ValueError:
        return visit.page("company/key.html", 400, **await _facts(visit, _BAD_OVERLAP))
    found = await visit.read(_find, visit.params["key"])
    pepper_id, pepper = next(iter(visit.portal.peppers.items()))

    async def work(conn: Conn) -> tuple[NewKey, ApiKey] | None:
        return await audited_changes.roll_key(
            conn,
            visit.author,
            visit.company.tenant,
            found.api_key_id,
            overlap=overlap,
            pepper=pepper,
            pepper_id=pepper_id,
        )

    try:
        rolled = await visit.change(work)
    except ProvisioningRefused as refused:
        return visit.page("company/key.html", 400, **await _facts(visit, refused.text))
    if rolled is None:
        return await visit.go(visit.at("keys"), _NOT_ACTIVE)
    made, old = rolled
    return visit.page("company/key_made.html", made=made.record, secret=made.secret, rolled=old)


async def _find(conn: Conn, tenant_id: TenantId, api_key_id: ApiKeyId) -> ApiKey:
    for found in await keys.of_tenant(conn, tenant_id):
        if found.api_key_id == api_key_id:
            return found
    raise not_found()


def _form(visit: Visit, problem: Text | None = None) -> Reply:
    form = visit.form
    return visit.page(
        "company/key_new.html",
        200 if problem is None else 400,
        scopes=[(scope, SCOPE_WORDS[scope]) for scope in SCOPES],
        environments=list(Environment),
        chosen=form.every("scope"),
        environment=form.get("environment", Environment.TESTECF),
        name=form.get("name"),
        expires=form.get("expires"),
        problem=problem,
    )


PAGES = (
    Page("GET", "/companies/<int:company>/keys", Needs.READ, listed),
    Page("GET", "/companies/<int:company>/keys/new", Needs.OWN, new, fresh=True),
    Page("POST", "/companies/<int:company>/keys/new", Needs.OWN, create, fresh=True),
    Page("GET", "/companies/<int:company>/keys/<key>", Needs.READ, key),
    Page("POST", "/companies/<int:company>/keys/<key>/roll", Needs.OWN, roll, fresh=True),
    # Also for signed-in people without a recent confirmation: a leaked key must be revoked at once.
    Page("POST", "/companies/<int:company>/keys/<key>/revoke", Needs.OWN, revoke),
)
