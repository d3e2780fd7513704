"""A company's users, who sign, and the differences on their receipts."""

from collections.abc import Mapping, Sequence

from fe.accounts import audited_changes
from fe.accounts.audited_changes import show_user
from fe.accounts.provision import BadIssuer, ProvisioningRefused
from fe.ecf.texts import Text
from fe.identifiers import TenantId, UserId
from fe.portal.issuer_form import by_field, issuer_fields, issuer_of, typed, values_of, wrong_boxes
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.records import certificates, tenants
from fe.store.records.certificates import CertificateRecord, one_per_holder
from fe.store.records.tenants import User

_CREATED = Text("The user was created.", "El usuario fue creado.")
_CHANGED = Text("The user's fiscal data were changed.", "Los datos fiscales del usuario se cambiaron.")
_REMOVED = Text("The user was removed; what it signed stays.", "El usuario fue eliminado; lo que firmó se conserva.")


async def users(visit: Visit) -> Reply:
    """List users with their certificates."""
    found = await visit.read(tenants.users_of)
    in_use = {one.user_id: one for one in one_per_holder(await visit.read(certificates.in_use), visit.now)}
    return visit.page("company/users.html", users=found, in_use=in_use)


async def new(visit: Visit) -> Reply:
    """Show the form of a new user."""
    return _form(visit, None, "", values_of({}))


async def create(visit: Visit) -> Reply:
    """Create a user."""
    email, values = visit.form.get("email"), typed(visit.form)

    async def work(conn: Conn) -> None:
        await audited_changes.create_user(conn, visit.author, await visit.locked_tenant(conn), email, _override(values))

    try:
        await visit.change(work)
    except ProvisioningRefused as refused:
        return _form(visit, None, email, values, refused)
    return await visit.go(visit.at("users"), _CREATED)


async def user(visit: Visit) -> Reply:
    """Show a user with its certificate and the differences on its receipts."""
    found = await visit.read(_find, visit.params["user"])
    in_use = [one for one in await visit.read(certificates.in_use) if one.user_id == found.user_id]
    return _form(visit, found, found.email, values_of(found.issuer_override or {}), in_use=in_use)


async def change(visit: Visit) -> Reply:
    """Change the differences on a user's receipts."""
    values = typed(visit.form)

    async def work(conn: Conn) -> None:
        tenant = await visit.locked_tenant(conn)
        found = await _find(conn, visit.tenant_id, visit.params["user"])
        visit.require_unchanged(show_user(found))
        await audited_changes.change_user(conn, visit.author, tenant, found, _override(values, found.issuer_override))

    try:
        await visit.change(work)
    except ProvisioningRefused as refused:
        found = await visit.read(_find, visit.params["user"])
        return _form(visit, found, found.email, values, refused)
    return await visit.go(visit.at("users"), _CHANGED)


async def remove(visit: Visit) -> Reply:
    """Remove a user, where nothing needs it."""

    async def work(conn: Conn) -> None:
        tenant = await visit.locked_tenant(conn)
        await audited_changes.remove_user(
            conn, visit.author, tenant, await _find(conn, visit.tenant_id, visit.params["user"])
        )

    try:
        await visit.change(work)
    except ProvisioningRefused as refused:
        found = await visit.read(_find, visit.params["user"])
        return _form(visit, found, found.email, values_of(found.issuer_override or {}), refused)
    return await visit.go(visit.at("users"), _REMOVED)


async def _find(conn: Conn, tenant_id: TenantId, user_id: UserId) -> User:
    """Find a user of the company. Raises Refused."""
    for found in await tenants.users_of(conn, tenant_id):
        if found.user_id == user_id:
            return found
    raise not_found()


def _override(values: dict[str, list[str]], before: Mapping[str, object] | None = None) -> dict[str, object] | None:
    """Return the changed data, with the fields of `before` that the form does not have; None if there are none."""
    asked = issuer_of(values)
    kept = {name: value for name, value in (before or {}).items() if name not in asked}
    return kept | {name: value for name, value in asked.items() if value is not None} or None


def _form(
    visit: Visit,
    found: User | None,
    email: str,
    values: dict[str, list[str]],
    refused: ProvisioningRefused | None = None,
    in_use: Sequence[CertificateRecord] = (),
) -> Reply:
    company = values_of(visit.company.tenant.issuer)
    return visit.page(
        "company/user.html",
        200 if refused is None else 400 if isinstance(refused, BadIssuer) else 409,
        user=found,
        email=email,
        fields=issuer_fields(),
        values=values,
        company={name: ", ".join(every) for name, every in company.items() if every},
        shown=None if found is None else show_user(found),
        problem=None if refused is None or isinstance(refused, BadIssuer) else refused.text,
        problems=by_field(refused) if isinstance(refused, BadIssuer) else {},
        places=wrong_boxes(refused) if isinstance(refused, BadIssuer) else {},
        in_use=in_use,
    )


PAGES = (
    Page("GET", "/companies/<int:company>/users", Needs.READ, users),
    Page("GET", "/companies/<int:company>/users/new", Needs.OWN, new, fresh=True),
    Page("POST", "/companies/<int:company>/users/new", Needs.OWN, create, fresh=True),
    Page("GET", "/companies/<int:company>/users/<uuid:user>", Needs.READ, user),
    Page("POST", "/companies/<int:company>/users/<uuid:user>", Needs.OWN, change),
    Page("POST", "/companies/<int:company>/users/<uuid:user>/remove", Needs.OWN, remove),
)
