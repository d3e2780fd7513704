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
from fe.store.postgres.engine import Calling, looks_around
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
from fe.store.queue.outbox import OutboxLane, Work

#: Of any claimed row, and what its next step needs, as `read_claims` takes them.
_OF_ANY: LiteralString = "tenant_id, subject, attempt, epoch, deaths, waited, last_error"
_GIVEN: dict[Stage, LiteralString] = {
    Stage.SIGN: """, format, root, ecf_type, e_ncf, as_user, as_user_id, content, sequence_expires, holders,
                  holders_issuers""",
    Stage.SEND: ", root, e_ncf, issuer_rnc, buyer_rnc, certificate_id, is_summary, content",
    Stage.TRACK: ", track_id, e_ncf, certificate_id, maybe_adopted",
    Stage.RECONCILE: "",
}
COLUMNS: Mapping[Stage, LiteralString] = {stage: f"{_OF_ANY}{given}" for stage, given in _GIVEN.items()}

#: An extra column when traces are recorded: one more look at the row.
_TRACE = ", trace_of(tenant_id, subject)"

#: Parameters of the claiming functions, as named by `parameters_of`.
PARAMETERS: LiteralString = """
        %(stage)s, %(environments)s::text[], %(hosts)s::text[], %(afters)s::bigint[], %(floors)s::timestamptz[],
        %(free)s::int[], %(left_to_others)s::int[], %(slots)s, %(max_rows)s, %(scope)s, %(max_per_tenant)s,
        %(busy)s::bigint[], %(busy_in)s::text[], %(holder)s, %(lease)s"""


def _statement(stage: Stage, traced: bool) -> Calling:
    signatory: LiteralString = ", signatory" if stage is Stage.SIGN else ""
    trace: LiteralString = _TRACE if traced else ""
    columns: LiteralString = f"{COLUMNS[stage]}{signatory}{trace}"
    statement: LiteralString = f"SELECT lane, due, tenants, shares, {columns} FROM claim_with_input({PARAMETERS})"
    return Calling.of("claim_with_input", statement)


#: By the stage, and whether traces are recorded: of the lane four columns, then those of its row, and then the trace.
_CLAIM: Mapping[tuple[Stage, bool], Calling] = {
    (stage, traced): _statement(stage, traced) for stage in COLUMNS for traced in (False, True)
}


async def claim_together(
    conn: Conn, stage: str, lanes: Sequence[LaneCapacity], terms: Terms, *, traced: bool = False
) -> Sequence[LaneClaim[Work]]:
    """Lease due rows of all lanes, in their order, the tenants of each in turn by their weights; nothing where none is.

    As by `due_tenants` and `claim` of the outbox and the division between them (fe/queue/fair_claims.py); on Citus by
    what a look found within the last tenth of a second, while claims are full (known_due.sql). Where it is `traced`
    each row brings the context of its trace.
    """
    of = Stage(stage)
    asked = parameters_of(of, lanes, terms)
    cursor, claim = conn.cursor(), _CLAIM[of, traced]
    try:
        await claim.run(cursor, asked, binary=True)
    except psycopg.OperationalError as error:
        if not await looks_around(conn, error):
            raise
        await claim.run(cursor, asked, binary=True)
    rows = await cursor.fetchall()
    traces: dict[UUID, str] = {}
    if traced:
        traces = {row[5]: row[-1] for row in rows if row[-1] is not None}
        rows = [row[:-1] for row in rows]
    signatories = {row[4]: read_signatory(row[-1]) for row in rows if row[0] == 0}
    return read_claims(of, lanes, [row for row in rows if row[0] != 0], signatories, traces)


def parameters_of(stage: Stage, lanes: Sequence[LaneCapacity], terms: Terms) -> dict[str, Any]:
    """Return the values of `PARAMETERS`: each lane by its place in several arrays."""
    busy = [key for key, rows in terms.busy.items() for _ in range(rows)]
    return {
        "stage": stage.value,
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
        "busy_in": texts([f"{lane.environment} {lane.host}" for _, lane in busy]),
        "holder": terms.holder,
        "lease": terms.lease,
    }


def read_claims(
    stage: Stage,
    lanes: Sequence[LaneCapacity],
    rows: Sequence[tuple[Any, ...]],
    signatories: Mapping[TenantId, Signatory],
    traces: Mapping[UUID, str],
) -> Sequence[LaneClaim[Work]]:
    """Read what was claimed: one row says something of a lane, the others are rows of it; in no order.

    Each has the place of its lane, three columns that are the lane's, and those that `COLUMNS` names for the stage;
    what follows them is not looked at.
    """
    said: dict[int, tuple[int | None, dict[TenantId, int], list[Work]]] = {
        row[0]: (row[1], dict(zip(row[2], row[3], strict=True)), []) for row in rows if row[4] is None
    }
    for row in rows:
        lane, tenant_id, subject = row[0], row[4], row[5]
        if tenant_id is not None:
            work = _read_work(stage, lanes[lane - 1].lane, row[4:], signatories.get(tenant_id), traces.get(subject))
            said[lane][2].append(work)
    return [LaneClaim(lanes[lane - 1].lane, *said[lane]) for lane in sorted(said)]


def _read_work(
    stage: Stage, lane: OutboxLane, row: Sequence[Any], signatory: Signatory | None, trace: str | None
) -> Work:
    tenant_id, subject, attempt, epoch, crash_count, waited, last_error = row[:7]
    read = _READERS.get(stage)
    try:
        given = read(row[7:], signatory) if read is not None else None
    except ValueError:
        given = None  # an unknown code: its handler reads the same, and fails alone
    return Work(stage, lane, tenant_id, subject, attempt, epoch, crash_count, waited, last_error, given, trace)


def _signing(row: Sequence[Any], signatory: Signatory | None) -> StepInput | None:
    form, root, ecf_type, e_ncf, as_user, as_user_id, original, expires, holders, issuers = row[:10]
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


def _outgoing(row: Sequence[Any], _: Signatory | None) -> StepInput | None:
    return OutgoingDocument(Root(row[0]), *row[1:7]) if row[6] is not None else None


def _tracking(row: Sequence[Any], _: Signatory | None) -> StepInput | None:
    return TrackFacts(*row[:4]) if row[0] is not None and row[2] is not None else None


_READERS: Mapping[Stage, Callable[[Sequence[Any], Signatory | None], StepInput | None]] = {
    Stage.SIGN: _signing,
    Stage.SEND: _outgoing,
    Stage.TRACK: _tracking,
}
