"""Cost of each connection of an attack: CPU of a front that has no other clients.

    python -m bench.refusals [--number 2000] [--rounds 3] [--only long_polls ...]

The attacks are those of bench.hostile, on one front over an embedded Postgres, without their pace: one connection after
the other, a few at once; long polls first take all that they may hold. The front's CPU (user and system) is divided by
the connections that were answered or cut. Other work on the machine disturbs this less than the percentiles of
bench.hostile, so cheaper refusals show here. The database's CPU is reported too.
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path

import trio

from bench.hostile import HERE, PATIENCE, Attack, Front, attacks, hand_in, prepare, serve_command, status_of
from bench.http import cpu_seconds, free_port, postmaster, serving
from bench.report import Report
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import migrate

#: Concurrent connections; and long polls that wait before, which is the share of a tenant.
AT_ONCE = 8
WAITING = 100
#: Attacks that are mostly refused, and those of which each is some work.
PLENTY = ("held_validations", "long_polls", "held_bodies")
FEW = ("validations", "worst_documents", "crowds", "one_byte_chunks")


async def attack(port: int, what: Attack, number: int) -> Counter[int]:
    """Make `number` connections of an attack, a few at once; return their answers."""
    answered: Counter[int] = Counter()

    async def in_turn(source: str) -> None:
        while answered.total() < number:
            answered[await _once(port, what, source)] += 1

    async with trio.open_nursery() as nursery:
        for turn in range(AT_ONCE):
            nursery.start_soon(in_turn, what.sources[turn % len(what.sources)])
    return answered


async def _once(port: int, what: Attack, source: str) -> int:
    with trio.move_on_after(PATIENCE):
        try:
            async with (
                await trio.open_tcp_stream(HERE, port, local_address=source) as stream,
                trio.open_nursery() as both,
            ):
                both.start_soon(_send, stream, what.sent)
                status = await status_of(stream)
                both.cancel_scope.cancel()
                return status
        except OSError:
            return 0
    return 0


async def _send(stream: trio.SocketStream, data: bytes) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # it was refused before
        await stream.send_all(data)


async def measured(front: Front, what: Attack, number: int) -> tuple[dict[str, float], Counter[int]]:
    """Microseconds for each connection."""
    async with trio.open_nursery() as nursery:
        if what.name == "long_polls":
            for turn in range(WAITING):
                nursery.start_soon(_once, front.port, what, what.sources[turn % len(what.sources)])
                await trio.sleep(0.01)
        await trio.sleep(1.0)
        user, system = front.cpu_times()
        database, began = cpu_seconds(front.postgres), time.monotonic()
        answered = await attack(front.port, what, number)
        user_after, system_after = front.cpu_times()
        database, seconds = cpu_seconds(front.postgres) - database, time.monotonic() - began
        nursery.cancel_scope.cancel()
    each = 1e6 / answered.total()
    found = {
        "front, its own code, us each": (user_after - user) * each,
        "front, the kernel, us each": (system_after - system) * each,
        "database, us each": database * each,
        "answered a second": answered.total() / seconds,
    }
    return found, answered


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=2000, help="connections of an attack; a tenth of large ones")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=(), metavar="ATTACK")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        dsn = start_embedded(Path(folder) / "postgres", keep=False)
        migrate(dsn)
        hostile, *_ = trio.run(partial(prepare, dsn))
        port, lags = free_port(), Path(folder) / "lags.json"
        os.environ["LAGS"] = str(lags)
        with (
            serving(serve_command(port, dsn), port) as pid,
            Report("refusals", dsn) as report,
        ):
            front = Front(pid, postmaster(dsn), port, lags)
            tax_log_id = trio.run(hand_in, port, hostile)
            for what in attacks(hostile, tax_log_id):
                if what.name not in (arguments.only or (*PLENTY, *FEW)):
                    continue
                number = arguments.number if what.name in PLENTY else max(arguments.number // 50, AT_ONCE)
                found: dict[str, list[float]] = {}
                statuses: Counter[int] = Counter()
                for _ in range(arguments.rounds):
                    front.settle()
                    values, answered = trio.run(measured, front, what, number)
                    statuses += answered
                    for unit, value in values.items():
                        found.setdefault(unit, []).append(value)
                for unit, each in found.items():
                    report.figure(what.name, unit, each)
                report.note(f"{what.name}: {dict(statuses)}")


if __name__ == "__main__":
    main()
