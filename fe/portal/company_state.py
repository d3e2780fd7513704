"""Notices and counts of one company: for its own page, and for the inbox over several companies."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.identifiers import PersonId, TenantId
from fe.month.period import YearMonth
from fe.portal import attention
from fe.portal.attention import PortalNotice
from fe.store.portal import standing, todo
from fe.store.portal.standing import Unsettled
from fe.store.portal.todo import Todo
from fe.store.postgres.db import Conn
from fe.store.postgres.tenant_scope import Asked, fetch_together
from fe.store.records import certificates, paper, recurring, sequences, tenants, waiting
from fe.store.records.certificates import CertificateRecord
from fe.store.records.sequences import Sequence as NumberSequence
from fe.store.records.tenants import Tenant
from fe.store.webhooks import endpoints


@dataclass(frozen=True, slots=True)
class CompanyState:
    """The notices of a company, the most urgent first, and the counts behind them."""

    notices: Sequence[PortalNotice]
    troubles: Sequence[Unsettled]
    todo: Todo
    certificates: Sequence[CertificateRecord]
    ranges: Sequence[NumberSequence]

    @property
    def now(self) -> int:
        """How many notices are urgent."""
        return sum(not one.is_soon for one in self.notices)

    @property
    def soon(self) -> int:
        """How many are not."""
        return len(self.notices) - self.now

    @property
    def rejected(self) -> int:
        """Receipts of production that were rejected or failed of late."""
        return sum(one.rejected + one.failed for one in self.troubles if one.environment.billable)

    @property
    def given_up(self) -> int:
        """Receipts of production that wait for the service's operator."""
        return sum(one.given_up for one in self.troubles if one.environment.billable)


async def read(conn: Conn, tenant_id: TenantId, person_id: PersonId, now: datetime, answer_days: int) -> CompanyState:
    """Read the state of a company as a person has left it: what was looked at before is not counted."""
    _, state = await read_with_tenant(conn, tenant_id, person_id, now, answer_days)
    return state


async def read_with_tenant(
    conn: Conn, tenant_id: TenantId, person_id: PersonId, now: datetime, answer_days: int
) -> tuple[Tenant | None, CompanyState]:
    """Read the company's record too: two round trips."""
    tenant, (kept,), ranges, in_use = await fetch_together(
        conn,
        tenants.by_id_asked(tenant_id),
        standing.kept_asked(tenant_id, person_id, Environment.ECF),
        sequences.of_all_environments_asked(tenant_id),
        certificates.in_use_asked(tenant_id),
    )
    since = now - attention.LATELY
    month = YearMonth.of(local(now).date()).before
    asked: dict[str, Asked[Any]] = {
        "troubles": standing.trouble_asked(tenant_id, since if kept.seen_at is None else max(since, kept.seen_at))
    }
    if kept.has_received:
        asked["answers"] = waiting.count_asked(tenant_id, Environment.ECF)
        asked["unclassified"] = todo.unclassified_asked(tenant_id, Environment.ECF, month)
    if kept.has_endpoints:
        asked["endpoints"] = endpoints.listed_asked(tenant_id)
    if kept.has_recurring:
        asked["recurring"] = recurring.notices_asked(tenant_id)
    if kept.has_papers:
        asked["papers"] = paper.still_open_asked(tenant_id)
    found = dict(zip(asked, await fetch_together(conn, *asked.values()), strict=True))
    troubles, things = found["troubles"], Todo(Environment.ECF, 0, None, month, 0)
    if kept.has_received:
        (answers,), (unclassified,) = found["answers"], found["unclassified"]
        things = Todo(Environment.ECF, answers.many, answers.since, month, unclassified)
    notices = attention.notices(
        in_use,
        ranges,
        found.get("endpoints", ()),
        troubles,
        now,
        todo=things,
        answer_days=answer_days,
        recurring=found.get("recurring", ()),
        papers=found.get("papers", ()),
    )
    return next(iter(tenant), None), CompanyState(notices, troubles, things, in_use, ranges)
