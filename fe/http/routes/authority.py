"""The authority's health, for anyone: as JSON and as a page (docs/contingency.md). Nothing in it is of a tenant."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import trio

from fe.clock import Clock, iso
from fe.ecf.catalogue import Environment
from fe.http.calls import ApiReply, Call
from fe.http.languages import Language
from fe.http.models.authority import AUTHORITY, AuthorityHealth, ServiceHealth, serialize_past, serialize_services
from fe.http.models.contingency import OutageAnswer, serialize_outage
from fe.http.pages.layout import Shell, html_reply, language_of, shown_moment
from fe.http.pages.texts import said
from fe.http.routes.types import About, Route
from fe.store.postgres.db import Conn, Database
from fe.store.records import authority_state
from fe.store.records.authority_state import CircuitOutage, Exchanges

#: How long what was read is shown: no token is needed to ask.
_KEPT_SECONDS = 10.0
_HOUR, _DAY, _WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)


@dataclass(frozen=True, slots=True)
class _Measured:
    at: datetime
    outages: Sequence[CircuitOutage]
    hour: Sequence[Exchanges]
    day: Sequence[Exchanges]


class AuthorityHandlers:
    """The handlers of /authority and of its page."""

    def __init__(self, prefix: str, db: Database, clock: Clock) -> None:
        self._base = f"{prefix}/docs"
        self._db = db
        self._clock = clock
        self._reading = trio.Lock()
        self._read_at = -math.inf
        self._answer: AuthorityHealth | None = None

    async def show(self, call: Call) -> ApiReply:
        """Answer with what was measured."""
        return ApiReply(200, AUTHORITY.write(await self._health()))

    async def page(self, call: Call) -> ApiReply:
        """Answer with the page."""
        language, negotiated = language_of(call)
        title = said("authority", language)
        body = _page(await self._health(), language)
        page = Shell(self._base, language, "authority", "authority").around(title, f"<h1>{title}</h1>{body}")
        return html_reply(page, language, negotiated=negotiated)

    async def _health(self) -> AuthorityHealth:
        async with self._reading:
            if self._answer is None or trio.current_time() - self._read_at >= _KEPT_SECONDS:
                self._answer = _serialized(await self._db.run(self._read))
                self._read_at = trio.current_time()
            return self._answer

    async def _read(self, conn: Conn) -> _Measured:
        now = self._clock()
        outages = await authority_state.outages(conn, now - _WEEK)
        hour = await authority_state.health(conn, now - _HOUR)
        return _Measured(now, outages, hour, await authority_state.health(conn, now - _DAY))


def _serialized(found: _Measured) -> AuthorityHealth:
    return {
        "measuredAt": iso(found.at),
        "environments": [
            {
                "environment": of,
                "outages": [
                    serialize_outage(one) for one in found.outages if one.environment is of and one.ended_at is None
                ],
                "lastHour": serialize_services([one for one in found.hour if one.environment is of]),
                "lastDay": serialize_services([one for one in found.day if one.environment is of]),
                "pastOutages": [
                    serialize_past(one) for one in found.outages if one.environment is of and one.ended_at is not None
                ],
            }
            for of in Environment
        ],
    }


def _page(health: AuthorityHealth, language: Language) -> str:
    parts = [f'<p class="lead">{said("authority-about", language)}</p>']
    for one in health["environments"]:
        name = said(f"environment-{one['environment']}", language)
        down = "".join(f"<li>{_outage(outage, language)}</li>" for outage in one["outages"])
        state = f"<ul>{down}</ul>" if down else f"<p>{said('no-outage', language)}</p>"
        past = "".join(
            f"<li>{_outage(outage, language)} – {shown_moment(outage['until'])}</li>"
            for outage in one["pastOutages"][:20]
        )
        parts.append(f"<h2>{name}</h2>{state}{_table(one['lastHour'], one['lastDay'], language)}")
        if past:
            parts.append(f"<h3>{said('past-outages', language)}</h3><ul>{past}</ul>")
    parts.append(f'<p class="soft">{shown_moment(health["measuredAt"])} · America/Santo_Domingo</p>')
    return "".join(parts)


def _outage(one: OutageAnswer, language: Language) -> str:
    host = said(f"host-{one['host']}", language)
    return f"{host}: {said('no-answer-since', language)} {shown_moment(one['since'])}"


def _table(hour: list[ServiceHealth], day: list[ServiceHealth], language: Language) -> str:
    if not day:
        return f'<p class="soft">{said("no-exchanges", language)}</p>'
    latest = {one["service"]: one for one in hour}
    heads = "".join(
        f"<th>{said(name, language)}</th>" for name in ("service", "last-hour", "last-day", "average", "slowest")
    )
    rows = "".join(
        f"<tr><td>{_name(one, language)}</td><td>{_counts(latest.get(one['service']), language)}</td>"
        f"<td>{_counts(one, language)}</td><td>{_ms(one['averageMs'])}</td><td>{_ms(one['slowestMs'])}</td></tr>"
        for one in day
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _name(one: ServiceHealth, language: Language) -> str:
    return said(f"service-{one['service']}", language)


def _counts(one: ServiceHealth | None, language: Language) -> str:
    if one is None:
        return "–"
    failed = f" · {one['failed']:,} {said('failed', language)}" if one["failed"] else ""
    return f"{one['answered']:,}{failed}"


def _ms(value: int | None) -> str:
    return "–" if value is None else f"{value:,} ms"


def authority_routes(prefix: str, authority: AuthorityHandlers) -> tuple[Route, ...]:
    """Make the routes of the authority's health."""
    about = About(
        "getAuthority",
        "Get the availability of the authority, as this service measured it",
        "Contingency",
        {200: (AUTHORITY,)},
        note="It needs no token. People read the same at `/docs/authority`.",
    )
    return (
        Route("GET", f"{prefix}/authority", None, authority.show, about),
        Route("GET", f"{prefix}/docs/authority", None, authority.page),
        Route("GET", f"{prefix}/docs/<any(es, en):language>/authority", None, authority.page),
    )
