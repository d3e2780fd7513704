"""Starting a simulator: binding its ports and serving them until it is cancelled."""

from functools import partial

import trio

from fe.simulator.connection import Answering, serving
from fe.simulator.front import PublicPort
from fe.simulator.management import Management
from fe.simulator.operations import SimulatedHost
from fe.simulator.settings import Addresses, SimulatorSettings
from fe.simulator.state import AuthorityState

_BACKLOG = 1024


async def simulate(
    settings: SimulatorSettings, *, task_status: trio.TaskStatus[Addresses] = trio.TASK_STATUS_IGNORED
) -> None:
    """Run a simulated authority; reports its Addresses once every port listens, and returns only by cancellation.

    `await nursery.start(simulate, settings)` gives the addresses. Cancelling drops the connections at once; what was
    answered is in the journal by then. Raises OSError for a port that cannot be had, BadRecord and MalformedJson for a
    world that cannot be read, JournalInUse and JournalDamaged.
    """
    state = AuthorityState(settings)
    try:
        async with trio.open_nursery() as nursery:
            listen = partial(_listen, nursery)
            shared = {SimulatedHost.ECF}
            if settings.summary_port is None:
                shared.add(SimulatedHost.FC)
            if settings.status_port is None:
                shared.add(SimulatedHost.STATUS)
            ecf = await listen(settings.host, settings.port, PublicPort(state, frozenset(shared)))
            fc = status = ecf
            if settings.summary_port is not None:
                fc = await listen(
                    settings.host, settings.summary_port, PublicPort(state, frozenset({SimulatedHost.FC}))
                )
            if settings.status_port is not None:
                status = await listen(
                    settings.host, settings.status_port, PublicPort(state, frozenset({SimulatedHost.STATUS}))
                )
            management = await listen("127.0.0.1", settings.management_port, Management(state))
            task_status.started(Addresses(ecf, fc, status, management))
    finally:
        state.close()


async def _listen(nursery: trio.Nursery, host: str, port: int, answer: Answering) -> str:
    """Serve a port in `nursery` and return the URL it is reached under."""
    listeners = await trio.open_tcp_listeners(port, host=host, backlog=_BACKLOG)
    nursery.start_soon(trio.serve_listeners, serving(answer), listeners)
    bound = listeners[0].socket.getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{bound}"
