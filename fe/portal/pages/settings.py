"""A company's settings: its name, its Emisor data on receipts, and how consumer invoices are sent."""

from collections.abc import Mapping

from fe.accounts import audited_changes
from fe.accounts.audited_changes import show_tenant
from fe.accounts.changes import BadName, RncFixed, RncOfAnother
from fe.accounts.provision import BadIssuer, NameTaken, ProvisioningRefused, remark_on
from fe.ecf.texts import Text
from fe.portal.issuer_form import by_field, issuer_fields, issuer_of, typed, values_of, wrong_boxes
from fe.portal.page_types import Needs, Page
from fe.portal.replies import RESUMED, Reply
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn

_SUMMARIES = ("automatic", "off")
_SAVED = Text(
    "Company data changed. Receipts that are not signed yet use the new data.",
    "Datos de la empresa guardados. Los comprobantes aún sin firmar llevan los datos nuevos.",
)


async def settings(visit: Visit) -> Reply:
    """Show the data; to an owner as a form."""
    tenant = visit.company.tenant
    return visit.page(
        "company/settings.html",
        fields=issuer_fields(),
        values=values_of(tenant.issuer),
        name=tenant.name,
        consumer_summary=tenant.consumer_summary,
        shown=show_tenant(tenant),
        stale=None,
        problems={},
        places={},
    )


async def save(visit: Visit) -> Reply:
    """Save all changed fields, or none."""
    name, summary = visit.form.get("name"), visit.form.get("consumer_summary")
    values = typed(visit.form)

    async def work(conn: Conn) -> None:
        tenant = await visit.locked_tenant(conn)
        visit.require_unchanged(show_tenant(tenant))
        await audited_changes.update_tenant(
            conn,
            visit.author,
            tenant,
            name=name if name != tenant.name else None,
            issuer=issuer_of(values),
            consumer_summary=summary if summary in _SUMMARIES else None,
        )

    try:
        await visit.change(work)
    except ProvisioningRefused as refused:
        places = wrong_boxes(refused) if isinstance(refused, BadIssuer) else {}
        return _again(visit, 400 if isinstance(refused, BadIssuer | BadName) else 409, _problems(refused), places)
    remark = remark_on(values) if values.get("RNCEmisor") != visit.company.tenant.issuer.get("RNCEmisor") else None
    said = _SAVED if remark is None else Text(f"{_SAVED.en} {remark.en}", f"{_SAVED.es} {remark.es}")
    return await visit.go(visit.at("settings"), said)


async def resume(visit: Visit) -> Reply:
    """Show a form of an earlier session with its typed text; change nothing."""
    return _again(visit, 403, {"": [RESUMED]})


def _again(
    visit: Visit, status: int, problems: dict[str, list[Text]], places: Mapping[str, set[int]] | None = None
) -> Reply:
    """Show the sent form with its errors."""
    return visit.page(
        "company/settings.html",
        status,
        fields=issuer_fields(),
        values=typed(visit.form),
        name=visit.form.get("name"),
        consumer_summary=visit.form.get("consumer_summary"),
        shown=None,
        stale=visit.form.get("shown"),
        problems=problems,
        places=places or {},
    )


def _problems(refused: ProvisioningRefused) -> dict[str, list[Text]]:
    match refused:
        case BadIssuer():
            return by_field(refused)
        case RncFixed() | RncOfAnother():
            return {"RNCEmisor": [refused.text]}
        case NameTaken() | BadName():
            return {"name": [refused.text]}
    return {"": [refused.text]}


PAGES = (
    Page("GET", "/companies/<int:company>/settings", Needs.READ, settings),
    Page("POST", "/companies/<int:company>/settings", Needs.OWN, save, resume=resume),
)
