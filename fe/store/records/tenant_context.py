"""Tenant data for validating a document before acceptance."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row

from fe.ecf.catalogue import Environment
from fe.ecf.dates import end_of_day, last_day
from fe.identifiers import ClientRequestId, TenantId, UserId
from fe.store.postgres.db import Conn
from fe.store.queue.inputs import Candidate
from fe.store.records import numbers
from fe.store.records.numbers import Holder, NumberUse
from fe.store.records.sequences import sequence_key


@dataclass(frozen=True, slots=True)
class TenantContext:
    """The tenant's fiscal data as the chosen user's receipts show them, and its active sequences by key."""

    issuer: dict[str, Any]
    #: Whether the user that was asked for is the tenant's; True when none was.
    user_is_known: bool
    #: The tax ids that it issues under without a remark: its own and those its users issue for.
    own_rncs: frozenset[str]
    #: When each sequence expires; without an expiry it has no entry. Under the prefix of the document's number: when
    #: the range expires that the number belongs to.
    expiries: dict[str, datetime]
    #: The number each sequence would give next; one that is used up has no entry.
    next_numbers: dict[str, int]
    #: The submissions that have the document's number.
    holders: tuple[Holder, ...]
    #: The voiding that its number is in.
    voiding: UUID | None = None
    #: The state here of the receipt that the document modifies.
    modified: tuple[NumberUse, ...] = ()
    #: Whether its consumer invoices under the threshold go out as their summary: `automatic`, or `off`.
    consumer_summary: str = "automatic"
    #: The sequence that the chosen user is assigned to, by prefix.
    sequences_of_user: Mapping[str, str] = field(default_factory=dict)
    #: The keys of all sequences, also of those that are not active.
    sequences: frozenset[str] = frozenset()
    #: Whether deferred sending is authorised at the moment of its signature. Looked up where a document asks for it.
    may_defer: bool = False

    def sequence_of(self, prefix: str, name: str | None) -> str:
        """Return the key of the sequence that a document draws from, as sequence_to_draw_from.sql chooses it."""
        return sequence_key(prefix, name) if name is not None else self.sequences_of_user.get(prefix, prefix)

    def names_of(self, prefix: str) -> list[str]:
        """The names of the sequences of a prefix."""
        return sorted(key[4:] for key in self.sequences if key.startswith(f"{prefix}/"))


_TENANT = """
    SELECT t.issuer, t.consumer_summary, u.issuer_override, u.user_id IS NOT NULL AS found,
           CASE WHEN %(e_ncf)s::text ~ '^E[0-9]{12}$'
                THEN voiding_of(%(tenant)s, %(environment)s, %(e_ncf)s) END AS voiding,
           ARRAY(SELECT o.issuer_override ->> 'RNCEmisor'
                   FROM users AS o
                  WHERE o.tenant_id = %(tenant)s AND o.removed_at IS NULL
                    AND o.issuer_override ? 'RNCEmisor') AS rncs_of_users
      FROM tenants AS t
      LEFT JOIN users AS u
        ON u.tenant_id = t.tenant_id AND u.tenant_id = %(tenant)s AND u.removed_at IS NULL
       AND CASE WHEN %(user)s::uuid IS NOT NULL THEN u.user_id = %(user)s::uuid
                ELSE lower(u.email) = lower(%(email)s::text) END
     WHERE t.tenant_id = %(tenant)s
"""

_SEQUENCES = """
    SELECT q.prefix, q.max_number, q.is_active,
           CASE WHEN %(user)s::uuid IS NOT NULL THEN %(user)s::uuid = ANY (q.user_ids)
                ELSE coalesce(lower(%(email)s::text) = ANY (q.user_emails), false) END AS is_of_user,
           coalesce((SELECT min(r.number)
                       FROM returned_numbers AS r
                      WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
                        AND r.prefix = left(q.prefix, 3) AND r.number >= q.min_number AND r.number < q.current_number),
                    q.current_number) AS next_number,
           q.expire_at, q.next_min, q.next_max, q.next_expire_at,
           CASE WHEN left(q.prefix, 3) = left(%(e_ncf)s::text, 3)
                THEN number_lies(%(e_ncf)s::text, q.prefix, q.min_number, q.max_number, q.former_ranges) END AS lies,
           CASE WHEN left(q.prefix, 3) = left(%(e_ncf)s::text, 3)
                THEN expiry_of_number(%(e_ncf)s::text, q.min_number, q.max_number, q.expire_at, q.former_ranges)
                END AS expires_for_number
      FROM sequences AS q
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s
     ORDER BY q.prefix
"""


async def tenant_context(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    user_id: UserId | None,
    email: str | None,
    e_ncf: str | None,
    now: datetime,
    modified: str | None = None,
) -> TenantContext:
    """Read it; `user_id` wins over `email`.

    `e_ncf` is the number the document issues, if it has one yet, `modified` that of the receipt it refers to.
    """
    values = {"tenant": tenant_id, "environment": environment, "user": user_id, "email": email, "e_ncf": e_ncf}
    tenant = conn.cursor(row_factory=dict_row)
    await tenant.execute(_TENANT, values)
    sequences = conn.cursor(row_factory=dict_row)
    await sequences.execute(_SEQUENCES, values)
    row = await tenant.fetchone()
    assert row is not None
    every = await sequences.fetchall()
    found = [_gone_on(each, now) for each in every if each["is_active"]]
    expiries = {each["prefix"]: each["expire_at"] for each in found}
    own_sequence = min(
        (each for each in found if each["lies"] is not None), key=lambda each: each["lies"], default=None
    )
    if own_sequence is not None and e_ncf is not None:
        expiries[e_ncf[:3]] = own_sequence["expires_for_number"]
    own = {row["issuer"].get("RNCEmisor"), *row["rncs_of_users"]}
    return TenantContext(
        issuer={**row["issuer"], **(row["issuer_override"] or {})},
        user_is_known=row["found"] or (user_id is None and email is None),
        own_rncs=frozenset(str(rnc) for rnc in own if rnc),
        expiries={key: ends for key, ends in expiries.items() if ends is not None},
        next_numbers={
            each["prefix"]: each["next_number"] for each in found if each["next_number"] <= each["max_number"]
        },
        holders=await numbers.holders(conn, tenant_id, environment, e_ncf, now) if e_ncf is not None else (),
        voiding=row["voiding"],
        modified=await numbers.issued(conn, tenant_id, environment, modified) if modified is not None else (),
        consumer_summary=row["consumer_summary"],
        sequences_of_user={each["prefix"][:3]: each["prefix"] for each in reversed(every) if each["is_of_user"]},
        sequences=frozenset(each["prefix"] for each in every),
    )


_KNOWN_REQUEST = """
    SELECT EXISTS (
        SELECT 1
          FROM client_requests AS c
         WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s AND c.client_request_id = %(request)s)
"""


async def is_known_request(
    conn: Conn, tenant_id: TenantId, environment: Environment, client_request_id: ClientRequestId
) -> bool:
    """Tell whether a clientRequestId was used before. Only the accepting transaction decides who is first."""
    values = {"tenant": tenant_id, "environment": environment, "request": client_request_id}
    cursor = await conn.execute(_KNOWN_REQUEST, values)
    return await cursor.fetchone() == (True,)


_CANDIDATES = """
    SELECT c.certificate_id, c.user_id, u.email, u.issuer_override, c.not_before, c.not_after
      FROM certificates AS c
      LEFT JOIN users AS u ON u.tenant_id = c.tenant_id AND u.tenant_id = %(tenant)s AND u.user_id = c.user_id
     WHERE c.tenant_id = %(tenant)s AND c.retired_at IS NULL
"""


async def candidates(conn: Conn, tenant_id: TenantId) -> list[Candidate]:
    """List the certificates that sign for the tenant, as the signer is told them."""
    cursor = conn.cursor(row_factory=class_row(Candidate))
    await cursor.execute(_CANDIDATES, {"tenant": tenant_id})
    return await cursor.fetchall()


def _gone_on(each: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Return a sequence as a draw finds it: see GoesOn.at."""
    is_over = each["expire_at"] is not None and end_of_day(last_day(each["expire_at"])) <= now
    following = each["next_expire_at"]
    if (
        each["next_min"] is None
        or (not is_over and each["next_number"] <= each["max_number"])
        or (following is not None and end_of_day(last_day(following)) <= now)
    ):
        return each
    begun = {"next_number": each["next_min"], "max_number": each["next_max"], "expire_at": following}
    return each | begun
