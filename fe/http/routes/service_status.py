"""The status of this service, for anyone: as JSON and as a page (docs/operations/watching.md). It names no tenant."""

import math
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from html import escape

import trio

from fe.clock import Clock
from fe.ecf.dates import local
from fe.http.calls import ApiReply, Call
from fe.http.errors import RETRY_WHEN_DOWN
from fe.http.languages import Language
from fe.http.models.service_status import SERVICE_STATUS, IncidentAnswer, PartStatus, StatusAnswer, serialize_status
from fe.http.pages.layout import Shell, html_page, html_reply, language_of, shown_moment
from fe.http.pages.served import ServedPage
from fe.http.pages.texts import said
from fe.http.routes.types import About, Route
from fe.monitoring.metrics import Metrics
from fe.monitoring.service_history import DAYS, first_moment, history_of
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import service_states
from fe.store.records.service_states import MEASURED_EVERY, PartSeverity, ServicePart, StatePeriod

#: How long what was read is shown, and how long an outage of the database is: no token is needed to ask.
_KEPT_SECONDS, _AWAY_SECONDS = 15.0, 2.0
#: How long the database may take.
_WITHIN_SECONDS = 3.0
_DAY = timedelta(days=1)
#: Incidents on the page at most.
_MOST_SHOWN = 30


@dataclass(frozen=True, slots=True)
class _Read:
    """The status as it is served."""

    status: StatusAnswer
    json: ServedPage
    today: date
    #: By language, and whether the language was negotiated; made when first asked for.
    pages: dict[tuple[Language, bool], ServedPage] = field(default_factory=dict)


class StatusHandlers:
    """The handlers of /status and of its page."""

    def __init__(self, prefix: str, db: Database, clock: Clock, metrics: Metrics) -> None:
        self._base = f"{prefix}/docs"
        self._db = db
        self._clock = clock
        self._metrics = metrics
        #: Since when the database takes no writes: then nothing is recorded either.
        self._unwritable_since: datetime | None = None
        self._reading = trio.Lock()
        self._until = -math.inf
        #: None: the database did not answer.
        self._read: _Read | None = None

    async def show(self, call: Call) -> ApiReply:
        """Answer with what was measured. Raises DatabaseUnavailable."""
        read = await self._current()
        if read is None:
            raise DatabaseUnavailable("the status cannot be read")
        return read.json.answer(call)

    async def page(self, call: Call) -> ApiReply:
        """Answer with the page; with 503 and a page that says so while the database is away."""
        language, negotiated = language_of(call)
        read, key = await self._current(), (language, negotiated)
        if read is None:
            body = f'<p class="lead">{said("status-unknown", language)}</p>'
            reply = html_reply(self._around(body, language), language, negotiated=negotiated)
            return ApiReply(503, reply.body, (*reply.headers, ("Retry-After", str(RETRY_WHEN_DOWN))))
        if key not in read.pages:
            body = _page(read, self._base, language)
            read.pages[key] = html_page(
                self._around(body, language), language, negotiated=negotiated, fresh=int(_KEPT_SECONDS)
            )
        return read.pages[key].answer(call)

    def _around(self, body: str, language: Language) -> bytes:
        title = said("status", language)
        return Shell(self._base, language, "status", "status").around(title, f"<h1>{title}</h1>{body}")

    async def _current(self) -> _Read | None:
        async with self._reading:
            if trio.current_time() >= self._until:
                kept = _KEPT_SECONDS
                try:
                    with trio.fail_after(_WITHIN_SECONDS):
                        self._read = await self._look()
                except (DatabaseUnavailable, trio.TooSlowError):
                    self._read, kept = None, _AWAY_SECONDS
                self._until = trio.current_time() + kept
            return self._read

    async def _look(self) -> _Read:
        now = self._clock()
        periods = await self._db.run(service_states.periods, first_moment(now))
        if self._metrics.takes_writes:
            self._unwritable_since = None
        else:
            since = self._unwritable_since = self._unwritable_since or now - MEASURED_EVERY
            periods.append(StatePeriod(ServicePart.ACCEPTING, since, now, PartSeverity.DOWN))
        return await trio.to_thread.run_sync(_served, periods, now)


def _served(periods: list[StatePeriod], now: datetime) -> _Read:
    measured_at = max((one.seen_at for one in periods), default=None)
    status = serialize_status(history_of(periods, now), measured_at)
    body = SERVICE_STATUS.write(status)
    return _Read(
        status,
        ServedPage.of(body, ("Content-Type", "application/json"), fresh=int(_KEPT_SECONDS)),
        local(now).date(),
    )


def _page(read: _Read, base: str, language: Language) -> str:
    status, state = read.status, read.status["state"]
    parts = [
        f'<p class="lead">{_state(state, language)} {said(f"status-is-{state}", language)}</p>',
        f"<p>{said('status-about', language)} "
        f'<a href="{base}/{language}/authority">{said("authority", language)}</a></p>',
    ]
    parts += [_part(one, read.today, language) for one in status["parts"]]
    if status["parts"]:
        legend = "".join(f'<span><i class="{name}"></i> {said(f"status-{name}", language)}</span>' for name in _BARS)
        parts.append(f'<p class="soft legend">{legend}</p>')
    incidents = sorted(
        ((each["since"], one["part"], each) for one in status["parts"] for each in one["incidents"]),
        key=lambda found: found[:2],
        reverse=True,
    )
    parts.append(f"<h2>{said('status-incidents', language)}</h2>")
    if incidents:
        rows = "".join(_incident(part, one, language) for _, part, one in incidents[:_MOST_SHOWN])
        heads = "".join(f"<th>{said(f'status-{name}', language)}</th>" for name in ("part", "state", "begin", "end"))
        parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")
    else:
        parts.append(f"<p>{said('status-no-incidents', language)}</p>")
    measured = (
        f"{said('status-measured', language)} {shown_moment(status['measuredAt'])} · " if status["measuredAt"] else ""
    )
    parts.append(f'<p class="soft">{measured}America/Santo_Domingo · <a href="{base}/status.json">status.json</a></p>')
    return "".join(parts)


#: Classes of a day's bar, from the best.
_BARS = ("well", "degraded", "down", "unmeasured")


def _part(one: PartStatus, today: date, language: Language) -> str:
    measured = {day["day"]: day for day in one["days"]}
    bars, counts = [], dict.fromkeys(_BARS, 0)
    for back in range(DAYS - 1, -1, -1):
        day = today - _DAY * back
        found = measured.get(day.isoformat())
        name = "unmeasured"
        if found and found["downMinutes"]:
            name = "down"
        elif found and found["degradedMinutes"]:
            name = "degraded"
        elif found and found["measuredMinutes"]:
            name = "well"
        counts[name] += 1
        trouble = found["downMinutes"] + found["degradedMinutes"] if found else 0
        minutes = f" · {trouble} min" if trouble else ""
        bars.append(f'<i class="{name}" title="{day:%d-%m-%Y}: {said(f"status-{name}", language)}{minutes}"></i>')
    label = ", ".join(
        f"{said(f'status-{name}', language)}: {count}" for name, count in counts.items() if count or name == "well"
    )
    title = said(f"part-{one['part']}", language)
    spoken = escape(f"{said('status-days', language)}. {label}")
    return (
        f'<section class="part"><h2>{title} {_state(one["state"], language)}</h2>'
        f'<div class="days" role="img" aria-label="{spoken}">{"".join(bars)}</div>'
        f'<p class="soft ends"><span>{today - _DAY * (DAYS - 1):%d-%m-%Y}</span><span>{today:%d-%m-%Y}</span></p>'
        "</section>"
    )


def _state(state: str, language: Language) -> str:
    return f'<span class="t {_TAGS[state]}">{said(f"status-{state}", language)}</span>'


_TAGS = {"well": "fill", "waiting": "", "degraded": "need", "down": "need", "unmeasured": ""}


def _incident(part: str, one: IncidentAnswer, language: Language) -> str:
    until = shown_moment(one["until"]) if one["until"] else said("status-lasts", language)
    words = said(f"part-{part}", language), said(f"status-{one['state']}", language), shown_moment(one["since"]), until
    return f"<tr>{''.join(f'<td>{word}</td>' for word in words)}</tr>"


def status_routes(prefix: str, status: StatusHandlers) -> tuple[Route, ...]:
    """Make the routes of the service's status."""
    about = About(
        "getStatus",
        "Get the status of this service, its last 90 days and its incidents",
        "Account",
        {200: (SERVICE_STATUS,)},
        note="It needs no token. People read the same at `/docs/status`.",
    )
    return (
        Route("GET", f"{prefix}/status", None, status.show, about),
        Route("GET", f"{prefix}/docs/status.json", None, status.show),
        Route("GET", f"{prefix}/docs/status", None, status.page),
        Route("GET", f"{prefix}/docs/<any(es, en):language>/status", None, status.page),
    )
