"""Printed receipts of the certification (step 5): a PDF of each kind that was accepted in the simulation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import trio

from fe.certification.to_do import CannotRun
from fe.ecf.texts import Text
from fe.issuing.certification_simulation import COUNTS, SMALL
from fe.printing import PrintOptions, pdf
from fe.store.postgres.db import Database
from fe.store.records import certification, print_settings
from fe.store.records.certification import ENVIRONMENT, RunCase, RunKind
from fe.store.records.tenants import Tenant

#: Bytes that the authority takes of all PDFs together.
MOST_BYTES = 10_000_000
_ACCEPTED_FIRST = Text(
    "{missing}: none was accepted in the simulation yet; print when all are accepted",
    "{missing}: ninguno fue aceptado aún en la simulación; imprima cuando todos estén aceptados",
)
_TOO_LARGE = Text(
    "the PDFs have {size} bytes together, and the authority takes {most}: use a smaller logo, then print again",
    "los PDF suman {size} bytes y la DGII admite {most}: use un logo más pequeño e imprima otra vez",
)


@dataclass(frozen=True, slots=True)
class PrintedCase:
    """The PDF of a receipt, with its name as a file."""

    name: str
    content: bytes


def kind_of(case: RunCase) -> str:
    """Return the kind of a receipt, as COUNTS has it."""
    return SMALL if case.is_summary else case.e_ncf[1:3]


async def print_simulation(db: Database, tenant: Tenant) -> list[PrintedCase]:
    """Print the first accepted receipt of each kind. Raises CannotRun."""
    run = await db.run_for(tenant.tenant_id, certification.open_run, RunKind.SIMULATION)
    cases = [] if run is None else await db.run_for(tenant.tenant_id, certification.cases, run.run_id)
    first = {kind_of(case): case for case in reversed(cases) if case.is_through}
    kinds = list(COUNTS["own"])
    if missing := [kind for kind in kinds if kind not in first]:
        raise CannotRun(_ACCEPTED_FIRST.fill(missing=", ".join(missing)))
    settings = await db.run_for(tenant.tenant_id, print_settings.of)
    options = replace(settings.options(None, None), environment=ENVIRONMENT)
    chosen = [first[kind] for kind in kinds]
    ids = [case.submission_id for case in chosen if case.submission_id is not None]
    stored = await db.run_for(tenant.tenant_id, certification.documents, ids)
    found = [(f"{case.name}.pdf", stored[case.submission_id]["signed"]) for case in chosen if case.submission_id]
    printed = await trio.to_thread.run_sync(_print, found, options)
    if (size := sum(len(one.content) for one in printed)) > MOST_BYTES:
        raise CannotRun(_TOO_LARGE.fill(size=f"{size:,}", most=f"{MOST_BYTES:,}"))
    return printed


async def printed_so_far(db: Database, tenant: Tenant) -> list[PrintedCase]:
    """Print the simulation; nothing while it is not through."""
    try:
        return await print_simulation(db, tenant)
    except CannotRun:
        return []


def _print(found: Sequence[tuple[str, bytes]], options: PrintOptions) -> list[PrintedCase]:
    return [PrintedCase(name, pdf(signed, options)) for name, signed in found]
