"""Replays: how far each plan is, what stopped it, and stopping it or going on."""

from fe.ecf.texts import Text
from fe.identifiers import ReplayPlanId
from fe.operations.replay import halt_plan, resume_plan
from fe.portal.operator_words import halt_words
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import FormProblem, acting
from fe.portal.pages.operators.dead_letters import wake
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.queue import replay_plans
from fe.store.queue.audit import OperatorAction
from fe.store.queue.replay_plans import ReplayPlan

_SHOWN = 100
_OVER = Text("It is over, or was stopped before.", "Ya terminó, o se había detenido antes.")
_RUNS = Text("It is not stopped.", "No está detenido.")


async def index(visit: Visit) -> Reply:
    """List replays, the latest first."""
    return visit.page("operators/replays.html", plans=await visit.operators.run(replay_plans.latest, _SHOWN))


async def _plan(visit: Visit) -> ReplayPlan:
    name = visit.params["plan"]
    found = await visit.operators.run(replay_plans.find, ReplayPlanId(name)) if name.isprintable() else None
    if found is None:
        raise not_found()
    return found


async def one(visit: Visit) -> Reply:
    """Show how far a replay is."""
    return await _show(visit, await _plan(visit))


async def _show(visit: Visit, plan: ReplayPlan, problem: Text | None = None) -> Reply:
    return visit.page(
        "operators/replay.html",
        409 if problem else 200,
        plan=plan,
        progress=await visit.operators.run(replay_plans.progress, plan.plan_id),
        problem=problem,
        halt_words=halt_words,
    )


async def stop(visit: Visit) -> Reply:
    """Stop releasing rows of a plan, in whichever process it runs."""
    plan = await _plan(visit)
    try:
        await visit.run_operation(_stop, plan.plan_id, acting(visit))
    except FormProblem as wrong:
        return await _show(visit, await _plan(visit), wrong.text)
    return await visit.go(f"/operators/replays/{plan.plan_id}", Text("The replay is stopped.", "Reenvío detenido."))


async def _stop(conn: Conn, plan_id: ReplayPlanId, by: OperatorAction) -> None:
    if not await halt_plan(conn, plan_id, by):
        raise FormProblem(_OVER)


async def go_on(visit: Visit) -> Reply:
    """Go on with a plan that stopped: one row goes first again, and failed rows last."""
    plan = await _plan(visit)
    try:
        visit.require_unchanged([plan.plan_id, plan.halted_at])
        await visit.run_operation(_go_on, plan, acting(visit))
    except FormProblem as wrong:
        return await _show(visit, await _plan(visit), wrong.text)
    wake(visit)
    return await visit.go(f"/operators/replays/{plan.plan_id}", Text("The replay goes on.", "El reenvío continúa."))


async def _go_on(conn: Conn, plan: ReplayPlan, by: OperatorAction) -> None:
    if not await resume_plan(conn, plan, by):
        raise FormProblem(_RUNS)


PAGES = (
    Page("GET", "/operators/replays", Needs.OPERATE, index),
    Page("GET", "/operators/replays/<plan>", Needs.OPERATE, one),
    Page("POST", "/operators/replays/<plan>/stop", Needs.OPERATE, stop),
    Page("POST", "/operators/replays/<plan>/go-on", Needs.OPERATE, go_on),
)
