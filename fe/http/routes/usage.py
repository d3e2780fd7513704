"""GET /usage: what a tenant did, by UTC day and environment, and today so far in Santo Domingo."""

from datetime import UTC, datetime, time, timedelta

from fe.clock import Clock
from fe.ecf.dates import ZONE, local
from fe.http.calls import ApiReply, Call
from fe.http.models.responses import USAGE_REPORT, UsageItem, UsageReport, UsageToday
from fe.http.parameters import read_flag, read_number
from fe.store.postgres.db import Database
from fe.store.records import usage
from fe.store.records.usage import UsageDay, UsageSoFar

DAYS_DEFAULT, DAYS_MAX = 30, 180


class UsageHandlers:
    """The handler of /usage."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def days(self, call: Call) -> ApiReply:
        """List the tenant's days: `days` whole UTC days that end yesterday; with `today` also the running day."""
        count = read_number(call.query(), "days", default=DAYS_DEFAULT, minimum=1, maximum=DAYS_MAX)
        with_today = read_flag(call.query(), "today")
        now, tenant_id = self._clock(), call.identity.tenant_id
        today = datetime.combine(now.astimezone(UTC).date(), time.min, UTC)
        since = today - timedelta(days=count)
        found = await self._db.run_for(tenant_id, usage.days, since, today)
        answer: UsageReport = {
            "from": since.date().isoformat(),
            "to": (today - timedelta(days=1)).date().isoformat(),
            "items": [_serialize_day(day) for day in found],
        }
        if with_today:
            midnight = datetime.combine(local(now).date(), time.min, ZONE)
            so_far = await self._db.run_for(tenant_id, usage.so_far, midnight)
            answer["today"] = _serialize_today(midnight, so_far)
        return ApiReply(200, USAGE_REPORT.write(answer))


def _serialize_today(midnight: datetime, found: list[UsageSoFar]) -> UsageToday:
    return {
        "date": midnight.date().isoformat(),
        "isComplete": all(each.is_complete for each in found),
        "items": [
            {
                "environment": each.environment,
                "emissionsSubmitted": each.submitted,
                "emissionsAccepted": each.accepted,
                "emissionsAcceptedConditional": each.conditional,
                "emissionsRejected": each.rejected,
                "emissionsPending": each.pending,
            }
            for each in found
        ],
    }


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
