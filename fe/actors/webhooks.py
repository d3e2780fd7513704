"""The actors of webhooks: deliveries, recoveries and periodic upkeep."""

import random

import trio

from fe.actors.deliverer import Deliverer, Recoverer, delivery_kind, recovery_kind
from fe.actors.webhook_watch import watch_webhooks
from fe.egress.client import SECONDS
from fe.egress.configured import egress_from_settings
from fe.queue.backoff import retry_gap, scaled
from fe.queue.executor import run_stage
from fe.queue.result_writer import ResultWriter
from fe.queue.service_context import ServiceContext
from fe.queue.stage import StageConfig, StageContext
from fe.store.queue import webhooks
from fe.store.queue.host_lanes import ALL_HOSTS
from fe.store.queue.webhooks import WebhookWork
from fe.webhooks.schedule import ATTEMPTS, PATIENCE, webhook_gap
from fe.webhooks.secrets import WebhookVault

#: Share of a try's budget for the call; the rest is for reading its input.
_ASKING = 0.85


async def run_webhooks(context: ServiceContext, tools: StageContext, budget: float, vault: WebhookVault) -> None:
    """Run the actors of webhooks, each supervised, until they have finished the calls under way."""
    settings, supervisor, clock = context.settings, context.supervisor, context.clock
    scale, spread = settings.time_scale, random.Random()  # noqa: S311  (jitter)
    table = webhooks.deliveries_table(settings.webhook_slots)
    deliveries = ResultWriter(delivery_kind(table, tools.metrics, patience=PATIENCE * scale), tools.db, clock)
    recoveries = ResultWriter(recovery_kind(), tools.db, clock)
    deliverer = Deliverer(
        tools.db,
        egress_from_settings(settings),
        vault,
        clock,
        scaled(webhook_gap, scale),
        spread,
        seconds=min(SECONDS, budget * _ASKING),
        tracing=context.tracing,
    )
    deliver: StageConfig[WebhookWork] = StageConfig(
        webhooks.DELIVER,
        deliveries.kind,
        deliverer.deliver,
        settings.webhook_slots,
        [ALL_HOSTS],
        budget,
        gap=deliverer.gap,
        max_attempts=ATTEMPTS,
    )
    recover: StageConfig[WebhookWork] = StageConfig(
        webhooks.RECOVER,
        recoveries.kind,
        Recoverer(tools.db, clock, tools.wakeups).recover,
        1,
        [ALL_HOSTS],
        budget,
        gap=scaled(retry_gap, scale),
    )
    async with trio.open_nursery() as watch:
        supervisor.start(watch, "webhook watch", watch_webhooks, tools.db, clock)
        async with deliveries.running(), recoveries.running(), trio.open_nursery() as actors:
            supervisor.start(actors, deliver.name, run_stage, deliver, tools, supervisor.stopping, deliveries)
            supervisor.start(actors, recover.name, run_stage, recover, tools, supervisor.stopping, recoveries)
        watch.cancel_scope.cancel()
