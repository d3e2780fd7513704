"""Notices and counts of one company: for its own page, and for the inbox over several companies."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

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
from fe.store.records import certificates, paper, recurring, sequences
from fe.store.records.certificates import CertificateRecord
from fe.store.records.sequences import Sequence as NumberSequence
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
        return sum(one.colour == "bad" for one in self.notices)

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
    kept = await standing.kept(conn, tenant_id, person_id, Environment.ECF)
    since = now - attention.LATELY
    troubles = await standing.trouble(conn, tenant_id, since if kept.seen_at is None else max(since, kept.seen_at))
    ranges = await sequences.of_all_environments(conn, tenant_id)
    month = YearMonth.of(local(now).date()).before
    things = Todo(Environment.ECF, 0, None, month, 0)
    if kept.has_received:
        things = await todo.of_company(conn, tenant_id, Environment.ECF, month)
    in_use = await certificates.in_use(conn, tenant_id)
    found = attention.notices(
        in_use,
        ranges,
        await endpoints.listed(conn, tenant_id) if kept.has_endpoints else (),
        troubles,
        now,
        todo=things,
        answer_days=answer_days,
        recurring=await recurring.notices(conn, tenant_id) if kept.has_recurring else (),
        papers=(await paper.still_open(conn, tenant_id)).values() if kept.has_papers else (),
    )
    return CompanyState(found, troubles, things, in_use, ranges)
