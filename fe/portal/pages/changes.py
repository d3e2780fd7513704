"""Page of a company's changes: author, time, before and after; also as a CSV file."""

import json
from collections.abc import Sequence
from urllib.parse import urlencode
from uuid import UUID

from fe.ecf.texts import Text
from fe.portal.action_names import action_name, difference, subject_name
from fe.portal.csv_cells import CSV_TYPE, Cell, csv_file
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.portal import changes
from fe.store.portal.changes import TenantChange

_ON_A_PAGE = 50
#: Most rows of one file, the latest; the file says when there are more.
MAX_EXPORTED = 10_000
_OLDER_ROWS = Text(
    "There are older ones: choose a kind of change, or see them in the portal.",
    "Hay más antiguos: elija un tipo de cambio, o véalos en el portal.",
)
_HEADS = ("at", "by", "through", "action", "subject", "before", "after", "id")


async def listed(visit: Visit) -> Reply:
    """List the changes, the latest first."""
    kinds = await visit.read(changes.actions)
    kind = _kind(visit, kinds)
    found = await visit.read(changes.latest, limit=_ON_A_PAGE + 1, before=_before(visit), action=kind)
    shown = found[:_ON_A_PAGE]
    older = (
        {**({"kind": kind} if kind else {}), "before": str(shown[-1].change_id)} if len(found) > len(shown) else None
    )
    return visit.page(
        "company/changes.html",
        changes=[
            (each, action_name(each.action), subject_name(each), difference(each.before, each.after)) for each in shown
        ],
        kinds=[(each, action_name(each)) for each in kinds],
        kind=kind,
        older=urlencode(older) if older else None,
        is_first=_before(visit) is None,
        export=urlencode({"kind": kind}) if kind else "",
    )


async def export(visit: Visit) -> Reply:
    """Export the changes as CSV."""
    kind = _kind(visit, await visit.read(changes.actions))
    found = await visit.read(changes.latest, limit=MAX_EXPORTED + 1, action=kind)
    rows: list[Sequence[Cell]] = [_row(each) for each in found[:MAX_EXPORTED]]
    if len(found) > MAX_EXPORTED:
        rows.append((_OLDER_ROWS.said(visit.language),))
    body = csv_file(_HEADS, rows)
    return visit.file(f"changes-{visit.tenant_id}-{visit.now:%Y-%m-%d}.csv", CSV_TYPE, body)


def _row(change: TenantChange) -> Sequence[Cell]:
    return (
        change.at,
        change.by_whom,
        change.through,
        change.action,
        change.subject,
        _json(change.before),
        _json(change.after),
        str(change.change_id),
    )


def _json(shown: dict[str, object] | None) -> str:
    return "" if shown is None else json.dumps(shown, ensure_ascii=False, sort_keys=True)


def _kind(visit: Visit, kinds: list[str]) -> str | None:
    """Which kind is asked for; None: all, also where there is none of that name."""
    asked = visit.query.get("kind")
    return asked if asked in kinds else None


def _before(visit: Visit) -> UUID | None:
    try:
        return UUID(visit.query["before"])
    except (KeyError, ValueError):
        return None


PAGES = (
    Page("GET", "/companies/<int:company>/changes", Needs.READ, listed),
    Page("GET", "/companies/<int:company>/changes/export", Needs.READ, export),
)
