"""GET /usage: what a tenant did, by UTC day and environment."""

from datetime import UTC, datetime, time, timedelta

from fe.clock import Clock
from fe.http.calls import ApiReply, Call
from fe.http.models.responses import USAGE_REPORT, UsageItem, UsageReport
from fe.http.parameters import read_number
from fe.store.postgres.db import Database
from fe.store.records import usage
from fe.store.records.usage import UsageDay

DAYS_DEFAULT, DAYS_MAX = 30, 180


class UsageHandlers:
    """The handler of /usage."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def days(self, call: Call) -> ApiReply:
        """List the tenant's days: `days` whole UTC days that end yesterday."""
        count = read_number(call.query(), "days", default=DAYS_DEFAULT, minimum=1, maximum=DAYS_MAX)
        today = datetime.combine(self._clock().astimezone(UTC).date(), time.min, UTC)
        since = today - timedelta(days=count)
        found = await self._db.run_for(call.identity.tenant_id, usage.days, since, today)
        answer: UsageReport = {
            "from": since.date().isoformat(),
            "to": (today - timedelta(days=1)).date().isoformat(),
            "items": [_serialize_day(day) for day in found],
        }
        return ApiReply(200, USAGE_REPORT.write(answer))


def _serialize_day(day: UsageDay) -> UsageItem:
    return {
        "date": day.day.isoformat(),
        "environment": day.environment,
        "requestsTotal": day.succeeded + day.failed,
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
