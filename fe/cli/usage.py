"""`fe usage`: a tenant's usage by day."""

from datetime import date, datetime
from typing import Any

import click

from fe.accounts import provision
from fe.cli.failures import USAGE, Failure
from fe.cli.printing import json_option, show_all
from fe.cli.session import environment_option, run_query, tenant_option
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.metering import usage as metering
from fe.store.postgres.db import Conn
from fe.store.records.usage import UsageDay

_DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@tenant_option
@environment_option
@click.option("--from", "first", type=_DAY, help="First day (UTC). [30 days before the last]")
@click.option("--to", "last", type=_DAY, help="Last day (UTC). [yesterday]")
@json_option
def usage(
    tenant_name: str, environment: Environment, first: datetime | None, last: datetime | None, as_json: bool
) -> None:
    """List a tenant's usage in an environment by UTC day: the numbers of GET /usage."""
    try:
        chosen = metering.period(_day(first), _day(last), system_clock())
    except metering.BadPeriod as bad:
        raise Failure(str(bad), USAGE) from None

    async def task(conn: Conn) -> list[UsageDay]:
        owner = await provision.find_tenant(conn, tenant_name)
        return await metering.days(conn, owner.tenant_id, environment, chosen)

    found = run_query(task)
    show_all([_record(day) for day in found], as_json=as_json, none="")


def _day(moment: datetime | None) -> date | None:
    return None if moment is None else moment.date()


def _record(day: UsageDay) -> dict[str, Any]:
    return {
        "date": day.day,
        "environment": day.environment,
        "requestsSuccess": day.succeeded,
        "requestsError": day.failed,
        "emissionsSubmitted": day.submitted,
        "emissionsAccepted": day.accepted,
        "emissionsAcceptedConditional": day.conditional,
        "emissionsRejected": day.rejected,
        "emissionsPending": day.pending,
        "bytesIn": str(day.bytes_in),
        "bytesOut": str(day.bytes_out),
        "avgLatencyMs": round(day.average_ms or 0),
        "p95LatencyMs": round(day.p95_ms or 0),
    }
