"""Overview of the installation. Parts that cannot be read within seconds are shown as unavailable."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import trio

from fe.ecf.texts import Text
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.queue.lease_guard import SILENCE
from fe.store.postgres import applied_migrations
from fe.store.postgres.db import Conn
from fe.store.queue import circuits, dead_letters, diagnosis, in_doubt, outbox, pauses, replay_plans
from fe.store.queue.diagnosis import Worker
from fe.store.records import pending_actions

T = TypeVar("T")

#: Seconds after which a part of the page goes without its numbers: looking must not become a load.
_PATIENCE = 5.0
#: Due work that has waited this many seconds is late.
_LATE = 60.0


@dataclass(frozen=True, slots=True)
class Hint:
    """A problem to look at: its page and its runbook."""

    text: Text
    page: str
    runbook: str


_NOBODY = Hint(
    Text("No process works: is `fe run` running?", "No hay procesos activos: ¿está `fe run` en marcha?"),
    "/operators",
    "actor-trouble",
)
_CIRCUIT = Hint(
    Text(
        "A host of the authority is not called now; it is tried again by itself.",
        "No se llama a un servidor de la DGII que falla; el servicio lo reintenta solo.",
    ),
    "/operators",
    "authority-down",
)
_OVERDUE = Hint(
    Text("Due work is not being processed.", "Hay trabajo atrasado sin procesar."),
    "/operators",
    "outbox-late",
)
_DEAD = Hint(
    Text("Some gave up: see why, then replay them.", "Hay envíos detenidos: vea por qué y reenvíelos."),
    "/operators/dead-letters",
    "replay-dead-letters",
)
_DOUBTS = Hint(
    Text(
        "Some submissions are in doubt: the authority may have them or not.",
        "Hay comprobantes que la DGII todavía no confirma.",
    ),
    "/operators/in-doubt",
    "resolve-unknown-outcome",
)
_PAUSED = Hint(Text("Something is paused.", "Hay algo en pausa."), "/operators/pauses", "pause-forgotten")


async def _within_limits(visit: Visit, look: Callable[[Conn], Awaitable[T]]) -> T | None:
    with trio.move_on_after(_PATIENCE):
        return await visit.operators.run(look)
    return None


async def show(visit: Visit) -> Reply:
    """Show waiting work, dead letters, workers, pauses, and the problems to look at first."""

    async def asked(conn: Conn) -> int:
        return len(await pending_actions.latest(conn, visit.now, limit=100, decided=False))

    waiting = await _within_limits(visit, outbox.depth)
    dead = await _within_limits(visit, dead_letters.counted)
    doubts = await _within_limits(visit, in_doubt.counted)
    workers = await _within_limits(visit, diagnosis.workers)
    stopped = await _within_limits(visit, pauses.everything)
    hosts = await _within_limits(visit, circuits.everything)
    return visit.page(
        "operators/overview.html",
        waiting=waiting,
        dead=dead,
        doubts=doubts,
        workers=workers,
        silence=SILENCE.total_seconds(),
        stopped=stopped,
        circuits=hosts,
        migrations=await _within_limits(visit, applied_migrations.read),
        approvals=await _within_limits(visit, asked),
        plans=await _within_limits(visit, replay_plans.to_carry_on),
        hints=list(_hints(waiting, dead, doubts, workers, bool(stopped), any(one.is_open for one in hosts or ()))),
    )


def _hints(
    waiting: list[tuple[str, str, int, float]] | None,
    dead: list[tuple[str, str, int]] | None,
    doubts: object,
    workers: list[Worker] | None,
    is_paused: bool,
    circuit_open: bool,
) -> list[Hint]:
    """Return the problems to look at first."""
    hints: list[Hint] = []
    alive = [one for one in workers or () if one.silent_for <= SILENCE.total_seconds()]
    late = any(seconds > _LATE for _, _, _, seconds in waiting or ())
    if workers is not None and not alive:
        hints.append(_NOBODY)
    if circuit_open:
        hints.append(_CIRCUIT)
    if late and not circuit_open:
        hints.append(_OVERDUE)
    if dead:
        hints.append(_DEAD)
    if doubts:
        hints.append(_DOUBTS)
    if is_paused:
        hints.append(_PAUSED)
    return hints


PAGES = (Page("GET", "/operators", Needs.OPERATE, show),)
