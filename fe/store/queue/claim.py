"""The claim of submissions: one round trip for all lanes of a stage, and what the next step needs comes with it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, LiteralString
from uuid import UUID

import psycopg

from fe.ecf.catalogue import EcfType, Root
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.store.postgres.arrays import int4s, int8s, moments, texts
from fe.store.postgres.db import Conn
from fe.store.postgres.engine import looks_around
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.inputs import (
    Holder,
    OutgoingDocument,
    Signatory,
    SigningInput,
    StepInput,
    TrackFacts,
    read_signatory,
)
from fe.store.queue.outbox import Work

_ROWS = "SELECT lane, due, tenants, shares, tenant_id, subject, attempt, epoch, deaths, waited, last_error"

_TO_SIGN = """, format, root, ecf_type, e_ncf, as_user, as_user_id, content, sequence_expires, holders, holders_issuers,
                  signatory"""
_TO_SEND = ", root, e_ncf, issuer_rnc, buyer_rnc, certificate_id, is_summary, content"
_TO_TRACK = ", track_id, e_ncf, certificate_id, maybe_adopted"

#: What a claim asks for beside it where traces are recorded: one look at the row more.
_TRACE = ", trace_of(tenant_id, subject)"

_FROM = """
      FROM claim_with_input(
        %(stage)s, %(environments)s::text[], %(hosts)s::text[], %(afters)s::bigint[], %(floors)s::timestamptz[],
        %(free)s::int[], %(left_to_others)s::int[], %(slots)s, %(max_rows)s, %(scope)s, %(max_per_tenant)s,
        %(busy)s::bigint[], %(busy_in)s::text[], %(holder)s, %(lease)s)
"""

#: By the stage, and whether traces are recorded: after the eleven columns of any claim those of its step's input, and
#: then the trace.
_CLAIM: Mapping[tuple[Stage, bool], LiteralString] = {
    (Stage.SIGN, False): f"{_ROWS}{_TO_SIGN}{_FROM}",
    (Stage.SEND, False): f"{_ROWS}{_TO_SEND}{_FROM}",
    (Stage.TRACK, False): f"{_ROWS}{_TO_TRACK}{_FROM}",
    (Stage.RECONCILE, False): f"{_ROWS}{_FROM}",
    (Stage.SIGN, True): f"{_ROWS}{_TO_SIGN}{_TRACE}{_FROM}",
    (Stage.SEND, True): f"{_ROWS}{_TO_SEND}{_TRACE}{_FROM}",
    (Stage.TRACK, True): f"{_ROWS}{_TO_TRACK}{_TRACE}{_FROM}",
    (Stage.RECONCILE, True): f"{_ROWS}{_TRACE}{_FROM}",
}


async def claim_together(
    conn: Conn, stage: str, lanes: Sequence[LaneCapacity], terms: Terms, *, traced: bool = False
) -> Sequence[LaneClaim[Work]]:
    """Lease due rows of all lanes, in their order, the tenants of each in turn by their weights; nothing where none is.

    As by `due_tenants` and `claim` of the outbox and the division between them (fe/queue/claims.py). Where it is
    `traced` each row brings the context of its trace.
    """
    of = Stage(stage)
    busy = [key for key, rows in terms.busy.items() for _ in range(rows)]
    asked = {
        "stage": of.value,
        "environments": texts([each.lane.environment for each in lanes]),
        "hosts": texts([each.lane.host for each in lanes]),
        "afters": int8s([each.after for each in lanes]),
        "floors": moments([each.floor for each in lanes]),
        "free": int4s([each.free for each in lanes]),
        "left_to_others": int4s([each.left_to_others for each in lanes]),
        "slots": terms.slots,
        "max_rows": terms.max_rows,
        "scope": terms.scope,
        "max_per_tenant": terms.max_per_tenant,
        "busy": int8s([tenant_id for tenant_id, _ in busy]),
        "busy_in": texts([group for _, group in busy]),
        "holder": terms.holder,
        "lease": terms.lease,
    }
    try:
        cursor = await conn.execute(_CLAIM[of, traced], asked, binary=True)
    except psycopg.OperationalError as error:
        if not await looks_around(conn, error):
            raise
        cursor = await conn.execute(_CLAIM[of, traced], asked, binary=True)
    rows = await cursor.fetchall()
    if not traced:
        return _read(of, lanes, rows, {})
    traces = {row[5]: row[-1] for row in rows if row[-1] is not None}
    return _read(of, lanes, [row[:-1] for row in rows], traces)


def _read(
    stage: Stage, lanes: Sequence[LaneCapacity], rows: Sequence[tuple[Any, ...]], traces: Mapping[UUID, str]
) -> Sequence[LaneClaim[Work]]:
    said: dict[int, tuple[int, dict[TenantId, int], list[Work]]] = {}
    signatories: dict[TenantId, Signatory] = {}
    claimed: list[tuple[Any, ...]] = []
    for row in rows:
        if row[0] == 0:
            signatories[row[4]] = read_signatory(row[-1])
        elif row[4] is None:
            said[row[0]] = (row[1], dict(zip(row[2], row[3], strict=True)), [])
        else:
            claimed.append(row)
    read = _READERS.get(stage)
    for row in claimed:
        lane, (tenant_id, subject, attempt, epoch, crash_count, waited, last_error) = row[0], row[4:11]
        try:
            given = read(row[11:], signatories.get(tenant_id)) if read is not None else None
        except ValueError:
            given = None  # a code that nobody knows: its handler reads the same, and fails alone
        said[lane][2].append(
            Work(
                stage,
                lanes[lane - 1].lane,
                tenant_id,
                subject,
                attempt,
                epoch,
                crash_count,
                waited,
                last_error,
                given,
                traces.get(subject),
            )
        )
    return [LaneClaim(lanes[lane - 1].lane, *said[lane]) for lane in sorted(said)]


def _signing(row: tuple[Any, ...], signatory: Signatory | None) -> StepInput | None:
    form, root, ecf_type, e_ncf, as_user, as_user_id, original, expires, holders, issuers, _ = row
    if original is None or signatory is None:
        return None
    return SigningInput(
        form,
        Root(root),
        EcfType(ecf_type) if ecf_type is not None else None,
        e_ncf,
        as_user,
        as_user_id,
        original,
        signatory.issuer,
        signatory.consumer_summary,
        expires,
        signatory.candidates,
        tuple(map(Holder, holders, issuers)) if holders else (),
    )


def _outgoing(row: tuple[Any, ...], _: Signatory | None) -> StepInput | None:
    return OutgoingDocument(Root(row[0]), *row[1:]) if row[-1] is not None else None


def _tracking(row: tuple[Any, ...], _: Signatory | None) -> StepInput | None:
    return TrackFacts(*row) if row[0] is not None and row[2] is not None else None


_READERS: Mapping[Stage, Callable[[tuple[Any, ...], Signatory | None], StepInput | None]] = {
    Stage.SIGN: _signing,
    Stage.SEND: _outgoing,
    Stage.TRACK: _tracking,
}
