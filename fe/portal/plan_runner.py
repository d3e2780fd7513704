"""Carries on, without anybody's terminal, what operators set going in the portal: replays, and what was agreed to.

Every process that has an operator's rights runs one, and one of them has the duty. It only saves work: plans and
requests are right when two carry them on, and a process that dies leaves both to the next that takes the duty.
"""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import structlog
import trio

from fe.accounts.carry_out import carry_out
from fe.clock import Clock
from fe.identifiers import ReplayPlanId
from fe.operations.replay import PLAN_PATIENCE, PlanPatience, run_plan
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.queue import replay_plans
from fe.store.queue.replay_plans import ReplayPlan
from fe.store.records import metering, pending_actions

_log = structlog.get_logger(__name__)

DUTY = "replay plans"
_HOLD = timedelta(seconds=15)
_LOOK_SECONDS = 2.0


class PlanRunner:
    """Carries on what is to be carried on, until cancelled. `wake` makes it look at once."""

    def __init__(
        self,
        db: Database,
        holder: str,
        clock: Clock,
        *,
        patience: PlanPatience = PLAN_PATIENCE,
        look: float = _LOOK_SECONDS,
        turned: Callable[[], None] = lambda: None,
    ) -> None:
        self._db = db
        self._holder = holder
        self._clock = clock
        self._patience = patience
        self._look = look
        self._turned = turned
        self._bell = trio.Event()
        self._running: set[ReplayPlanId] = set()

    def wake(self) -> None:
        """Look soon: something was set going."""
        self._bell.set()

    async def run(self) -> None:
        """Look for what is to be done and do it, until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                self._bell = trio.Event()
                try:
                    await self._round(nursery)
                    self._turned()
                except ANY_OF_THE_DATABASE as error:
                    _log.warning("what operators set going waits for the database", error=error)
                with trio.move_on_after(self._look):
                    await self._bell.wait()

    async def _round(self, nursery: trio.Nursery) -> None:
        if not await self._db.run(metering.take_duty, DUTY, self._holder, _HOLD):
            return
        for action_id in await self._db.run(pending_actions.to_carry_out):
            await self._carry_out(action_id)
        for plan in await self._db.run(replay_plans.to_carry_on):
            if plan.plan_id not in self._running:
                self._running.add(plan.plan_id)
                nursery.start_soon(self._carry_on, plan)

    async def _carry_out(self, action_id: UUID) -> None:
        """Carry out what was agreed to. What keeps it from being done (somebody holds what it changes) is its own."""
        try:
            await carry_out(self._db, action_id, self._clock)
        except ANY_OF_THE_DATABASE as error:
            _log.warning(
                "what was agreed to was not carried out, and is tried again", request=str(action_id), error=error
            )

    async def _carry_on(self, plan: ReplayPlan) -> None:
        """Run a plan until all its rows are released, or it stops; then that is on record."""
        try:
            run = await run_plan(
                self._db, plan, plan.created_by, clock=self._clock, wait=False, patience=self._patience
            )
            if run.stopped is not None:
                _log.warning("a replay stopped", plan=plan.plan_id, reason=run.stopped)
            if run.stopped is not None and not run.was_halted:
                await self._db.run(replay_plans.halt, plan.plan_id, run.stopped, self._clock())
        except ANY_OF_THE_DATABASE as error:
            _log.warning("a replay waits for the database", plan=plan.plan_id, error=error)
        finally:
            self._running.discard(plan.plan_id)
