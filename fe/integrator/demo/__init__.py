"""`fe demo`: the whole road in one command. Every part of it is real but the authority, which is a simulated one."""

import signal
from collections.abc import Awaitable, Callable
from functools import partial

import click
import trio

from fe.cli.failures import Failure

try:
    from fe.integrator.demo.scenario import Scenario
    from fe.integrator.demo.show import Show
except ModuleNotFoundError as missing:  # a server is installed without the demonstration's files
    if (missing.name or "").partition(".")[0] != "rich":
        raise
    raise Failure("the demonstration is not installed: install the `embedded` extra") from None


@click.command()
@click.option("--exit", "ends", is_flag=True, help="End when everything was shown, instead of leaving it running.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the service; default: a free one.")
def demo(ends: bool, port: int) -> int:
    """Run everything with a simulated authority, and check every step.

    Starts an embedded Postgres, the simulated tax authority and the service, issues receipts of all kinds, verifies the
    results, and leaves everything running until Ctrl-C. Nothing is kept, and none of your data is used. Exit code 1
    when any result was unexpected.
    """
    scenario = Scenario(Show(), port)
    trio.run(_until_signal, partial(scenario.run, ends=ends))
    return scenario.code


async def _until_signal(work: Callable[[], Awaitable[None]]) -> None:
    """Run `work` to its end or to the first SIGINT or SIGTERM, and stop its parts."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def watch() -> None:
                await anext(aiter(signals))
                nursery.cancel_scope.cancel()

            nursery.start_soon(watch)
            await work()
            nursery.cancel_scope.cancel()
