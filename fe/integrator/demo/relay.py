"""A mail relay for the demonstration: takes every mail from this machine and keeps it in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import partial

import trio

from fe.cli.failures import Failure

#: How long a mail may take. It takes about a second.
_PATIENCE = 120.0


@dataclass
class DemoRelay:
    """The relay; `first` waits for a mail."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    _taken: trio.Event = field(default_factory=trio.Event)

    async def first(self) -> EmailMessage:
        """Wait for the first mail. Raises Failure when none comes."""
        with trio.move_on_after(_PATIENCE):
            await self._taken.wait()
            return self.mails[0]
        raise Failure(f"the relay got no mail within {_PATIENCE:g} s")

    async def serve(self, stream: trio.SocketStream) -> None:
        """Speak SMTP, as far as the service does: every command is welcome."""
        buffered, is_data = b"", False
        await stream.send_all(b"220 demo\r\n")
        async for some in stream:
            buffered += some
            while (end := b"\r\n.\r\n" if is_data else b"\r\n") in buffered:
                line, _, buffered = buffered.partition(end)
                if is_data:
                    self.mails.append(message_from_bytes(line.replace(b"\r\n..", b"\r\n."), policy=policy.default))
                    self._taken.set()
                verb = b"" if is_data else line[:4].upper()
                is_data = verb == b"DATA"
                await stream.send_all({b"DATA": b"354 go on\r\n", b"QUIT": b"221 bye\r\n"}.get(verb, b"250 ok\r\n"))


@asynccontextmanager
async def relaying() -> AsyncIterator[DemoRelay]:
    """Run the relay until the block ends."""
    relay = DemoRelay()
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, relay.serve, 0, host="127.0.0.1")
        (listener,) = await nursery.start(serve)
        relay.port = listener.socket.getsockname()[1]
        yield relay
        nursery.cancel_scope.cancel()
