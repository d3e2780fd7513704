"""Runs what operators started in the portal: replays and approved requests.

Every process with an operator's rights has a runner; one of them holds the duty. The duty only saves work: two runners
at once stay correct, and when a process dies the next one takes over.
"""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import structlog
import trio

from fe.accounts.execute_approval import execute_approval
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
    """Runs plans and requests until cancelled. `wake` makes it look at once."""

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
        """Look for work and do it, until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                self._bell = trio.Event()
                try:
                    await self._round(nursery)
                    self._turned()
                except ANY_OF_THE_DATABASE as error:
                    _log.warning("replay paused: database unavailable", error=error)
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
        """Execute an approved request. Its failure does not stop the others."""
        try:
            await execute_approval(self._db, action_id, self._clock)
        except ANY_OF_THE_DATABASE as error:
            _log.warning("approved request failed, retrying", request=str(action_id), error=error)

    async def _carry_on(self, plan: ReplayPlan) -> None:
        """Run a plan until all its rows are released, or it stops; then that is on record."""
        try:
            run = await run_plan(
                self._db, plan, plan.created_by, clock=self._clock, wait=False, patience=self._patience
            )
            if run.stopped is not None:
                _log.warning("a replay stopped", plan=plan.plan_id, reason=run.stopped)
        except ANY_OF_THE_DATABASE as error:
            _log.warning("a replay waits for the database", plan=plan.plan_id, error=error)
        finally:
            self._running.discard(plan.plan_id)
