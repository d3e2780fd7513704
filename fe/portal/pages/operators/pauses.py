"""Pauses of work: for a company, an environment, or everything; and resuming."""

from fe.ecf.catalogue import Environment
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import TenantId
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import FormProblem, acting, environment_named, tenant_named
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.queue import outbox, pauses
from fe.store.queue.audit import OperatorAction
from fe.store.records import tenants

#: Companies whose names the field offers, the newest: others are typed.
_OFFERED = 500
_PAUSED = Text("That is paused already.", "Eso ya está en pausa.")
_NOT_PAUSED = Text("That is no longer paused.", "Eso ya no está en pausa.")


async def index(visit: Visit) -> Reply:
    """List the pauses."""
    return await _show(visit)


async def _show(visit: Visit, problem: Text | None = None) -> Reply:
    return visit.page(
        "operators/pauses.html",
        409 if problem else 200,
        found=await visit.operators.run(pauses.everything),
        environments=list(Environment),
        companies=[one.name for one in (await visit.operators.run(tenants.everyone))[-_OFFERED:]],
        problem=problem,
        typed=visit.form,
    )


async def pause(visit: Visit) -> Reply:
    """Pause; work in progress finishes."""
    try:
        by = acting(visit)
        tenant = await tenant_named(visit, visit.form.get("tenant"))
        environment = environment_named(visit.form.get("environment"))
        if tenant is None and visit.form.get("everyone") != "yes":
            return await _ask(visit, environment)
        await visit.run_operation(_pause, by, None if tenant is None else tenant.tenant_id, environment)
    except LocalizedError as wrong:
        return await _show(visit, wrong.text)
    return await visit.go("/operators/pauses", Text("It is paused.", "Está en pausa."))


async def _ask(visit: Visit, environment: Environment | None) -> Reply:
    """Ask for confirmation before pausing everything, with the counts of companies and waiting rows."""
    waiting = await visit.operators.run(outbox.depth)
    every = await visit.operators.run(tenants.everyone)
    return visit.page(
        "operators/pause_confirm.html",
        409,
        environment=environment,
        companies=sum(one.disabled_since is None for one in every),
        waiting=sum(count for _, where, count, _ in waiting if environment is None or where == environment),
        typed=visit.form,
    )


async def _pause(conn: Conn, by: OperatorAction, tenant_id: TenantId | None, environment: Environment | None) -> None:
    if not await pauses.pause(conn, by, tenant_id, environment):
        raise FormProblem(_PAUSED)


async def resume(visit: Visit) -> Reply:
    """Undo a pause."""
    try:
        by = acting(visit)
        number = visit.form.get("tenant_id")
        is_number = number.isascii() and number.isdigit() and len(number) < 19
        tenant_id = TenantId(int(number)) if is_number else None
        await visit.run_operation(_resume, by, tenant_id, environment_named(visit.form.get("environment")))
    except LocalizedError as wrong:
        return await _show(visit, wrong.text)
    return await visit.go("/operators/pauses", Text("It goes on.", "Continúa."))


async def _resume(conn: Conn, by: OperatorAction, tenant_id: TenantId | None, environment: Environment | None) -> None:
    if not await pauses.resume(conn, by, tenant_id, environment):
        raise FormProblem(_NOT_PAUSED)


PAGES = (
    Page("GET", "/operators/pauses", Needs.OPERATE, index),
    Page("POST", "/operators/pauses", Needs.OPERATE, pause),
    Page("POST", "/operators/pauses/resume", Needs.OPERATE, resume),
)
