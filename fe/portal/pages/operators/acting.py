"""Shared parts of operators' forms: author and reason, tenant, and input errors."""

from datetime import timedelta
from uuid import UUID

from fe.accounts.execute_approval import execute_approval
from fe.ecf.catalogue import Environment
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.portal.replies import Refused, Reply, not_found
from fe.portal.visit import Visit
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.queue.audit import LONGEST_REASON, OperatorAction
from fe.store.queue.dead_letters import DeadLetterFilter
from fe.store.records import pending_actions, tenants
from fe.store.records.pending_actions import Kind
from fe.store.records.tenants import Tenant

_REASON = Text(
    f"Give a reason of at most {LONGEST_REASON} characters: it is kept on record.",
    f"Indique un motivo de {LONGEST_REASON} caracteres como máximo: queda registrado.",
)
_NO_TENANT = Text("There is no company of that name.", "No existe una empresa con ese nombre.")
_WAITS = Text(
    "Nothing is done yet: a second operator has to approve it.",
    "Todavía no se hace nada: un segundo operador debe aprobarlo.",
)
_TO_BE_DONE = Text(
    "It cannot be done now. It is on record and is carried out as soon as it can be: do not send it again, and look "
    "under Approvals for what came of it.",
    "No se puede hacer en este momento. Quedó registrado y se ejecuta en cuanto se pueda: no lo envíe de nuevo y vea "
    "el resultado en Aprobaciones.",
)
_LONGEST_WAIT = 10 * 365 * 24 * 60


class FormProblem(LocalizedError):
    """Invalid input."""


def acting(visit: Visit) -> OperatorAction:
    """Return the operator's action with its reason. Raises FormProblem."""
    reason = visit.form.get("reason")
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise FormProblem(_REASON)
    return OperatorAction.of(visit.by_whom, reason, visit.now)


async def may_alone(visit: Visit, kind: Kind, rows: int = 1) -> bool:
    """Return whether the operator may do this without a second one; the database enforces it."""
    return not await visit.operators.run(pending_actions.needs_second_person, kind, visit.by_whom, rows)


async def go_to_approval(visit: Visit, action_id: UUID) -> Reply:
    """Redirect to the request, which a second operator has to approve."""
    return await visit.go(f"/operators/approvals/{action_id}", _WAITS)


async def executed(visit: Visit, action_id: UUID) -> bool:
    """Execute an approved request; False if its subject has changed meanwhile.

    Raises Refused if it cannot be executed now: it is recorded, and the service executes it later.
    """
    try:
        await execute_approval(visit.operators, action_id, visit.portal.clock)
        found = await visit.operators.run(pending_actions.find, action_id)
    except DatabaseUnavailable:
        visit.session = None  # the page's header would query the database again
        raise Refused(503, _TO_BE_DONE) from None
    return found is not None and "failed" not in found.outcome


def uuid_of(visit: Visit, name: str) -> UUID:
    """Return the id in the address. Raises Refused if invalid."""
    return uuid_in(visit.params[name])


def uuid_in(text: str) -> UUID:
    """Return an id in the form. Raises Refused if invalid."""
    try:
        return UUID(text)
    except ValueError:
        raise not_found() from None


async def tenant_in_address(visit: Visit) -> Tenant:
    """The tenant in the address. Raises Refused where there is none."""
    tenant_id = visit.params["tenant"]
    found = await visit.operators.run(tenants.by_id, TenantId(tenant_id)) if tenant_id < 2**63 else None
    if found is None:
        raise not_found()
    return found


async def tenant_named(visit: Visit, name: str) -> Tenant | None:
    """The tenant of a name, None for no name. Raises FormProblem where there is none of it."""
    if not name:
        return None
    found = await visit.operators.run(tenants.by_name, name) if "\0" not in name else None
    if found is None:
        raise FormProblem(_NO_TENANT)
    return found


def environment_named(name: str) -> Environment | None:
    """Return the environment, or None if empty or invalid."""
    return Environment(name) if name in list(Environment) else None


async def chosen(visit: Visit, given: dict[str, str]) -> DeadLetterFilter:
    """Read a filter form. Raises FormProblem."""
    tenant = await tenant_named(visit, given["tenant"])
    stage, minutes = given["stage"], given["minutes"]
    is_number = minutes.isascii() and minutes.isdigit() and len(minutes) <= 12
    if minutes and not (is_number and int(minutes) <= _LONGEST_WAIT):
        raise FormProblem(Text("Minutes are a whole number.", "Los minutos son un número entero."))
    error, e_ncf = (given[name].replace("\0", "") for name in ("error", "e_ncf"))
    return DeadLetterFilter(
        tenant_id=None if tenant is None else tenant.tenant_id,
        environment=environment_named(given["environment"]),
        stage=Stage(stage) if stage in list(Stage) else None,
        error=error or None,
        older_than=timedelta(minutes=int(minutes)) if minutes else None,
        e_ncf=e_ncf or None,
    )


FILTERS = ("tenant", "environment", "stage", "error", "minutes", "e_ncf")
