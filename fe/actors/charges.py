"""The actor that sends charges to the payment processor, if one is configured."""

from dataclasses import replace

import trio
from pydantic import SecretStr

from fe.metering.charging import charge_stage
from fe.metering.stripe import stripe
from fe.queue.executor import run_stage
from fe.queue.stage import StageContext

#: Charges come once a month: they are polled, not notified.
_POLL_SECONDS = 30.0


async def run_charges(url: str, key: SecretStr, tools: StageContext, stopping: trio.Event) -> None:
    """Send due charges until `stopping`, then finish those in flight."""
    own = replace(tools, poll_seconds=max(_POLL_SECONDS, tools.poll_seconds), gate=lambda _, slots: slots)
    async with stripe(url, key) as processor:
        await run_stage(charge_stage(tools.db, processor), own, stopping)
