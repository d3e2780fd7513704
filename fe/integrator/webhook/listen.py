"""`fe webhook listen`: receive webhook calls on a developer's machine."""

import signal
from dataclasses import dataclass, field
from pathlib import Path

import click
import trio

from fe.cli.failures import FAILED, OK
from fe.cli.printing import json_option, print_result
from fe.clock import Clock, system_clock
from fe.ecf.json_text import write_json
from fe.integrator.webhook.listener import ReceivedCall, listen
from fe.integrator.webhook.secret import read_secret, secret_option
from fe.integrator.webhook.show import lines, record
from fe.integrator.webhook.verify import check


@click.command("listen")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8095, show_default=True, help="0 picks a free one.")
@secret_option
@click.option(
    "--status", type=click.IntRange(200, 599), default=200, show_default=True, help="Status code of the answers."
)
@click.option("--count", type=click.IntRange(min=1), help="Exit after this many calls; exit code 1 if one was wrong.")
@json_option
def listen_(host: str, port: int, secret_file: Path | None, status: int, count: int | None, as_json: bool) -> int:
    """Receive webhooks, check their signatures as a consumer should, and print them, until Ctrl-C.

    A call that is not valid is answered 401, every other one with --status: 500, say, shows how it is tried again. An
    installation in development (FE_DEVELOPMENT=1) may call a port of the same machine by http:

    \b
        fe webhook listen --secret-file secret.txt
        fe webhook set --tenant NAME --environment testecf --url http://127.0.0.1:8095/
        fe webhook test --tenant NAME --environment testecf
    """
    ears = Ears(read_secret(secret_file), status, as_json, count)
    trio.run(ears.run, host, port)
    return FAILED if ears.invalid else OK


@dataclass
class Ears:
    """Receives calls, prints them, and remembers earlier deliveries."""

    secret: str | None
    status: int
    as_json: bool
    count: int | None = None
    clock: Clock = system_clock
    heard: int = 0
    invalid: int = 0
    enough: trio.Event = field(default_factory=trio.Event)
    _known: set[str] = field(default_factory=set)

    async def run(self, host: str, port: int) -> None:
        """Listen until a signal, or until enough was heard. Raises OSError when the port is taken."""
        with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async with trio.open_nursery() as nursery:

                async def until_signal() -> None:
                    await anext(aiter(signals))
                    nursery.cancel_scope.cancel()

                bound = await nursery.start(listen, self.hear, host, port, self.answered)
                self._announce(f"http://{f'[{host}]' if ':' in host else host}:{bound}/")
                nursery.start_soon(until_signal)
                await self.enough.wait()
                nursery.cancel_scope.cancel()

    async def hear(self, received: ReceivedCall) -> int:
        """Print a call, and return the status to answer."""
        now = self.clock()
        checked = None if self.secret is None else check(self.secret, received.headers, received.body, now)
        is_valid = checked is None or checked.is_valid
        status = self.status if is_valid else 401
        delivery = received.headers.get("x-service-delivery", "")
        event = record(received, checked, status, now, again=is_valid and delivery in self._known)
        if is_valid and delivery:
            self._known.add(delivery)
        if self.as_json:
            click.echo(write_json(event).decode())  # not in our forms: the body is as the service wrote it
        else:
            click.echo("\n".join([*lines(event), ""]))
        self.heard += 1
        self.invalid += not is_valid
        return status

    def answered(self) -> None:
        """End, when that was the last call to wait for."""
        if self.count is not None and self.heard >= self.count:
            self.enough.set()

    def _announce(self, url: str) -> None:
        words = [f"Listening for webhooks at {url} until Ctrl-C."]
        if self.secret is None:
            words.append("No secret was given, so signatures are not checked (--secret-file, FE_WEBHOOK_SECRET).")
        print_result([*words, ""], {"listening": url}, as_json=self.as_json)
