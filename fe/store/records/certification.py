"""The certification of a tenant: its path, the steps that are done, and the sets of tests with their documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from psycopg.errors import UniqueViolation
from psycopg.rows import scalar_row

from fe.certification.to_do import Stop, ToDo
from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import NumberFate, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import StoreError
from fe.store.postgres.rows import record_row
from fe.store.queue import wakeups

#: Sets are sent in the environment of certification alone.
ENVIRONMENT = Environment.CERTECF


class CertificationPath(StrEnum):
    """How a tenant is certified: with its own software, or served by a certified provider."""

    OWN = "own"
    PROVIDER = "provider"


class RunKind(StrEnum):
    """Kind of the documents of a run: set of tests (step 2), set of approvals (step 3), or simulation (step 4)."""

    SET = "set"
    APPROVALS = "approvals"
    SIMULATION = "simulation"

    @property
    def step(self) -> int:
        """The step of the certification that it is sent in."""
        return {RunKind.SET: 2, RunKind.APPROVALS: 3, RunKind.SIMULATION: 4}[self]


class RunState(StrEnum):
    """States of a run."""

    LOADED = "loaded"
    SENDING = "sending"
    STOPPED = "stopped"
    SENT = "sent"
    #: Another one was loaded or planned in its place.
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Certification:
    """The path of a tenant, since when, and who said so."""

    path: CertificationPath
    begun_at: datetime
    begun_by: str


@dataclass(frozen=True, slots=True)
class DoneStep:
    """A step that is done."""

    step: int
    done_at: datetime
    done_by: str
    note: str


@dataclass(frozen=True, slots=True)
class CertificationRun:
    """A set of documents to be sent; `stopped_en` and `stopped_es` say why it stopped, `to_do` what mends it."""

    run_id: UUID
    kind: RunKind
    state: RunState
    loaded_at: datetime
    loaded_by: str
    name: str
    digest: bytes
    stopped_en: str | None
    stopped_es: str | None
    to_do: ToDo | None


@dataclass(frozen=True, slots=True)
class NewCase:
    """A document of a set, as it is stored first."""

    name: str
    e_ncf: str
    is_summary: bool


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Status of the submission of a document; empty before it was handed in."""

    submission_id: SubmissionId | None = None
    status: Status | None = None
    fate: NumberFate | None = None
    response: Mapping[str, Any] | None = None
    #: Whether the engine gave up asking, so that a person has to look it up in the authority's portal.
    is_dead: bool = False


@dataclass(frozen=True, slots=True)
class RunCase:
    """A document of a set, with the outcome of its submission."""

    place: int
    name: str
    e_ncf: str
    is_summary: bool
    attempt: int
    submission_id: SubmissionId | None
    #: Whether a person saw in the portal that the authority counts it.
    is_confirmed: bool
    outcome: CaseOutcome = CaseOutcome()

    @property
    def is_through(self) -> bool:
        """Whether the next document may follow."""
        return self.outcome.status is Status.ACCEPTED or self.is_confirmed


class RunUnderWay(StoreError):
    """The present run of the kind is being sent, or was loaded at the same moment."""


@dataclass(frozen=True, slots=True)
class UsedNumbers:
    """Numbers of a range: how many have a submission, the highest of those, and the highest of a set or plan."""

    held: int
    highest_held: str | None
    highest_planned: str | None


def values_of(kind: RunKind, case: RunCase | None) -> dict[str, object]:
    """Return the values for the braces of an act that mends a run, which stopped at a document."""
    number, submission = ("", "") if case is None else (case.e_ncf, str(case.submission_id))
    return {"step": kind.step, "number": number, "submission": submission}


_PATH = "SELECT c.path, c.begun_at, c.begun_by FROM certifications AS c WHERE c.tenant_id = %(tenant)s"
_SET_PATH = """
    INSERT INTO certifications (tenant_id, path, begun_at, begun_by) VALUES (%(tenant)s, %(path)s, %(at)s, %(by)s)
    ON CONFLICT (tenant_id) DO UPDATE
       SET path = excluded.path, begun_at = excluded.begun_at, begun_by = excluded.begun_by
"""
_STEPS = """
    SELECT s.step, s.done_at, s.done_by, s.note FROM certification_steps AS s WHERE s.tenant_id = %(tenant)s
     ORDER BY s.step
"""
_DONE = """
    INSERT INTO certification_steps (tenant_id, step, done_at, done_by, note)
    VALUES (%(tenant)s, %(step)s, %(at)s, %(by)s, %(note)s)
    ON CONFLICT (tenant_id, step) DO NOTHING
"""
_UNDONE = "DELETE FROM certification_steps AS s WHERE s.tenant_id = %(tenant)s AND s.step = %(step)s"
_OPEN = """
    SELECT r.run_id, r.kind, r.state, r.loaded_at, r.loaded_by, r.name, r.digest, r.stopped_en, r.stopped_es,
           r.to_do
      FROM certification_runs AS r
     WHERE r.tenant_id = %(tenant)s AND r.kind = %(kind)s AND r.state <> 'replaced'
"""
_SAME = "SELECT r.run_id FROM certification_runs AS r WHERE r.tenant_id = %(tenant)s AND r.digest = %(digest)s"
_CONTENT = "SELECT r.content FROM certification_runs AS r WHERE r.tenant_id = %(tenant)s AND r.run_id = %(run)s"
_REPLACE = """
    UPDATE certification_runs AS r SET state = 'replaced'
     WHERE r.tenant_id = %(tenant)s AND r.kind = %(kind)s AND r.state NOT IN ('replaced', 'sending')
"""
_LOAD = """
    INSERT INTO certification_runs (tenant_id, run_id, kind, state, loaded_at, loaded_by, name, digest, content)
    VALUES (%(tenant)s, %(run)s, %(kind)s, 'loaded', %(at)s, %(by)s, %(name)s, %(digest)s, %(content)s)
"""
_LOAD_CASES = """
    INSERT INTO certification_cases (tenant_id, run_id, place, name, e_ncf, is_summary)
    SELECT %(tenant)s, %(run)s, x.place, x.name, x.e_ncf, x.is_summary
      FROM unnest(%(places)s::int[], %(names)s::text[], %(numbers)s::text[], %(summaries)s::bool[])
           AS x (place, name, e_ncf, is_summary)
"""
_CASES = """
    SELECT c.place, c.name, c.e_ncf, c.is_summary, c.attempt, c.submission_id, c.is_confirmed
      FROM certification_cases AS c
     WHERE c.tenant_id = %(tenant)s AND c.run_id = %(run)s
     ORDER BY c.place
"""
# Apart from the cases: on a cluster submissions are spread over its nodes, and cases are not.
_OUTCOMES = """
    SELECT s.submission_id, s.status, s.number_fate AS fate, s.response, d.subject IS NOT NULL AS is_dead
      FROM submissions AS s
      LEFT JOIN dead_letters AS d ON d.tenant_id = %(tenant)s AND d.subject = s.submission_id
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = ANY(%(submissions)s)
"""
_ORIGINAL = """
    SELECT c.original FROM certification_cases AS c
     WHERE c.tenant_id = %(tenant)s AND c.run_id = %(run)s AND c.place = %(place)s
"""
_REHEARSED = """
    UPDATE certification_cases AS c
       SET original = x.original
      FROM unnest(%(places)s::int[], %(originals)s::bytea[]) AS x (place, original)
     WHERE c.tenant_id = %(tenant)s AND c.run_id = %(run)s AND c.place = x.place AND c.submission_id IS NULL
"""
_AGAIN = """
    UPDATE certification_cases AS c
       SET attempt = c.attempt + 1, submission_id = NULL
     WHERE c.tenant_id = %(tenant)s AND c.run_id = %(run)s AND c.place = %(place)s
       AND c.submission_id = %(submission)s
"""
_CONFIRM = """
    UPDATE certification_cases AS c
       SET is_confirmed = true
     WHERE c.tenant_id = %(tenant)s AND c.run_id = %(run)s AND c.place = %(place)s AND c.submission_id IS NOT NULL
"""
_HANDED_IN = """
    UPDATE certification_cases AS c
       SET submission_id = %(submission)s
     WHERE c.tenant_id = %(tenant)s AND c.run_id = %(run)s AND c.place = %(place)s AND c.submission_id IS NULL
"""
_SEND = """
    UPDATE certification_runs AS r
       SET state = 'sending', stopped_en = NULL, stopped_es = NULL, to_do = NULL
     WHERE r.tenant_id = %(tenant)s AND r.run_id = %(run)s AND r.state IN ('loaded', 'stopped')
"""
_END = """
    UPDATE certification_runs AS r
       SET state = %(state)s, stopped_en = %(en)s, stopped_es = %(es)s, to_do = %(to_do)s
     WHERE r.tenant_id = %(tenant)s AND r.run_id = %(run)s AND r.state = 'sending'
"""
_AT_WORK = "SELECT r.tenant_id, r.run_id, r.kind FROM certification_runs AS r WHERE r.state = 'sending' LIMIT 100"
# Held by a submission whose number is not free again.
_HELD = """
    SELECT h.e_ncf, h.submission_id
      FROM held_numbers AS h
      JOIN submissions AS s
        ON s.tenant_id = h.tenant_id AND s.submission_id = h.submission_id AND s.number_fate <> 'reusable'
     WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s AND h.issuer_rnc = %(issuer)s
       AND h.e_ncf = ANY(%(numbers)s)
"""
_DOCUMENTS = """
    SELECT d.submission_id, d.kind, d.content
      FROM submission_documents AS d
     WHERE d.tenant_id = %(tenant)s AND d.submission_id = ANY(%(submissions)s)
     ORDER BY d.submission_id, d.kind
"""
_WAS_ACCEPTED = """
    SELECT EXISTS (SELECT 1
                     FROM submissions AS s
                    WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.verdict_at IS NOT NULL
                      AND s.status IN ('Aceptado', 'Aceptado Condicional'))
"""
# How many numbers of a range have a submission, of whatever verdict, and the highest of them.
_HELD_OF_RANGE = """
    SELECT count(*), max(h.e_ncf COLLATE "C")
      FROM held_numbers AS h
     WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s AND h.issuer_rnc = %(issuer)s
       AND h.e_ncf BETWEEN %(first)s AND %(last)s
"""
# The highest number of a range that stands in a set or plan, also in one that was replaced.
_HIGHEST_PLANNED = """
    SELECT max(c.e_ncf COLLATE "C")
      FROM certification_cases AS c
      JOIN certification_runs AS r ON r.tenant_id = c.tenant_id AND r.run_id = c.run_id
     WHERE c.tenant_id = %(tenant)s AND r.kind <> 'approvals' AND c.e_ncf BETWEEN %(first)s AND %(last)s
"""
_HELD_AMONG = """
    SELECT h.e_ncf
      FROM held_numbers AS h
     WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s AND h.issuer_rnc = %(issuer)s
       AND h.e_ncf = ANY(%(numbers)s)
"""
# Approvals that a run handed in.
_APPROVED = """
    SELECT c.name, c.submission_id
      FROM certification_cases AS c
      JOIN certification_runs AS r ON r.tenant_id = c.tenant_id AND r.run_id = c.run_id
     WHERE c.tenant_id = %(tenant)s AND r.kind = 'approvals' AND c.name = ANY(%(names)s)
       AND c.submission_id IS NOT NULL
"""


async def find(conn: Conn, tenant_id: TenantId) -> Certification | None:
    """Find the path of a tenant."""
    cursor = conn.cursor(row_factory=record_row(Certification))
    return await (await cursor.execute(_PATH, {"tenant": tenant_id})).fetchone()


async def set_path(conn: Conn, tenant_id: TenantId, path: CertificationPath, at: datetime, by: str) -> None:
    """Choose the path of a tenant."""
    await conn.execute(_SET_PATH, {"tenant": tenant_id, "path": path, "at": at, "by": by})


async def steps(conn: Conn, tenant_id: TenantId) -> list[DoneStep]:
    """List the steps that are done."""
    cursor = conn.cursor(row_factory=record_row(DoneStep))
    return await (await cursor.execute(_STEPS, {"tenant": tenant_id})).fetchall()


async def tick(conn: Conn, tenant_id: TenantId, step: int, at: datetime, by: str, note: str) -> bool:
    """Note that a step is done; False if it was."""
    values = {"tenant": tenant_id, "step": step, "at": at, "by": by, "note": note}
    return (await conn.execute(_DONE, values)).rowcount > 0


async def untick(conn: Conn, tenant_id: TenantId, step: int) -> bool:
    """Take back that a step is done; False if it was not."""
    return (await conn.execute(_UNDONE, {"tenant": tenant_id, "step": step})).rowcount > 0


async def open_run(conn: Conn, tenant_id: TenantId, kind: RunKind = RunKind.SET) -> CertificationRun | None:
    """Find the tenant's present run of a kind."""
    cursor = conn.cursor(row_factory=record_row(CertificationRun))
    return await (await cursor.execute(_OPEN, {"tenant": tenant_id, "kind": kind}, binary=True)).fetchone()


async def is_known_file(conn: Conn, tenant_id: TenantId, digest: bytes) -> bool:
    """Whether a file was loaded before."""
    return await (await conn.execute(_SAME, {"tenant": tenant_id, "digest": digest})).fetchone() is not None


async def content(conn: Conn, tenant_id: TenantId, run_id: UUID) -> bytes:
    """Return the file of a set."""
    cursor = conn.cursor(row_factory=scalar_row)
    found = await (await cursor.execute(_CONTENT, {"tenant": tenant_id, "run": run_id}, binary=True)).fetchone()
    return b"" if found is None else bytes(found)


async def load(
    conn: Conn,
    tenant_id: TenantId,
    run_id: UUID,
    cases: Sequence[NewCase],
    *,
    kind: RunKind,
    at: datetime,
    by: str,
    name: str,
    digest: bytes,
    content: bytes,
) -> None:
    """Store a run in place of the present one of its kind. Run it in a transaction. Raises RunUnderWay."""
    values = {"tenant": tenant_id, "run": run_id, "kind": kind, "at": at, "by": by, "name": name, "digest": digest}
    await conn.execute(_REPLACE, {"tenant": tenant_id, "kind": kind})
    try:
        await conn.execute(_LOAD, {**values, "content": content})
    except UniqueViolation:
        raise RunUnderWay from None
    rows = {
        "places": list(range(1, len(cases) + 1)),
        "names": [one.name for one in cases],
        "numbers": [one.e_ncf for one in cases],
        "summaries": [one.is_summary for one in cases],
    }
    await conn.execute(_LOAD_CASES, {"tenant": tenant_id, "run": run_id, **rows})


async def cases(conn: Conn, tenant_id: TenantId, run_id: UUID) -> list[RunCase]:
    """List the documents of a set in the order of sending."""
    cursor = conn.cursor(row_factory=record_row(RunCase))
    found = await (await cursor.execute(_CASES, {"tenant": tenant_id, "run": run_id})).fetchall()
    submissions = [case.submission_id for case in found if case.submission_id is not None]
    if not submissions:
        return found
    outcomes = conn.cursor(row_factory=record_row(CaseOutcome))
    await outcomes.execute(_OUTCOMES, {"tenant": tenant_id, "submissions": submissions})
    by_submission = {one.submission_id: one for one in await outcomes.fetchall()}
    return [replace(case, outcome=by_submission.get(case.submission_id, CaseOutcome())) for case in found]


async def original(conn: Conn, tenant_id: TenantId, run_id: UUID, place: int) -> bytes | None:
    """Return a document as it is handed in; None before the rehearsal."""
    cursor = conn.cursor(row_factory=scalar_row)
    values = {"tenant": tenant_id, "run": run_id, "place": place}
    found = await (await cursor.execute(_ORIGINAL, values, binary=True)).fetchone()
    return None if found is None else bytes(found)


async def rehearsed(conn: Conn, tenant_id: TenantId, run_id: UUID, originals: Mapping[int, bytes]) -> None:
    """Store the documents as they are handed in; those that were handed in stay."""
    values = {"tenant": tenant_id, "run": run_id}
    await conn.execute(_REHEARSED, {**values, "places": list(originals), "originals": list(originals.values())})


async def send_again(conn: Conn, tenant_id: TenantId, run_id: UUID, place: int, submission_id: SubmissionId) -> None:
    """Let a document be handed in anew whose submission ended before anything was sent."""
    values = {"tenant": tenant_id, "run": run_id, "place": place, "submission": submission_id}
    await conn.execute(_AGAIN, values)


async def confirm(conn: Conn, tenant_id: TenantId, run_id: UUID, place: int) -> None:
    """Note that the authority counts a document, as a person saw in the portal."""
    await conn.execute(_CONFIRM, {"tenant": tenant_id, "run": run_id, "place": place})


async def handed_in(conn: Conn, tenant_id: TenantId, run_id: UUID, place: int, submission_id: SubmissionId) -> None:
    """Note the submission of a document."""
    values = {"tenant": tenant_id, "run": run_id, "place": place, "submission": submission_id}
    await conn.execute(_HANDED_IN, values)


async def start(conn: Conn, tenant_id: TenantId, run_id: UUID) -> bool:
    """Start to send, or go on, and wake the fronts; False where it is under way or over."""
    changed = (await conn.execute(_SEND, {"tenant": tenant_id, "run": run_id})).rowcount > 0
    if changed:
        await wakeups.notify_after(conn, wakeups.RUNS)
    return changed


async def end(conn: Conn, tenant_id: TenantId, run_id: UUID, state: RunState, stop: Stop | None = None) -> None:
    """End the sending: all is sent, or it stopped and why."""
    said, to_do = (None, None) if stop is None else (stop.said, stop.to_do)
    why = {"en": said and said.en, "es": said and said.es, "to_do": to_do}
    await conn.execute(_END, {"tenant": tenant_id, "run": run_id, "state": state, **why})


async def at_work(conn: Conn) -> list[tuple[TenantId, UUID, RunKind]]:
    """List the runs of all tenants that are being sent."""
    rows = await (await conn.execute(_AT_WORK)).fetchall()
    return [(TenantId(tenant), run, RunKind(kind)) for tenant, run, kind in rows]


async def held(conn: Conn, tenant_id: TenantId, issuer: str, numbers: Sequence[str]) -> dict[str, SubmissionId]:
    """Find which numbers belong to a submission in the environment of certification."""
    values = {"tenant": tenant_id, "environment": ENVIRONMENT, "issuer": issuer, "numbers": list(numbers)}
    rows = await (await conn.execute(_HELD, values)).fetchall()
    return {number: SubmissionId(submission) for number, submission in rows}


async def documents(
    conn: Conn, tenant_id: TenantId, submissions: Sequence[SubmissionId]
) -> dict[SubmissionId, dict[str, bytes]]:
    """Return the bytes of submissions by their kind."""
    values = {"tenant": tenant_id, "submissions": list(submissions)}
    found: dict[SubmissionId, dict[str, bytes]] = {}
    for submission_id, kind, raw in await (await conn.execute(_DOCUMENTS, values, binary=True)).fetchall():
        found.setdefault(submission_id, {})[kind] = bytes(raw)
    return found


async def was_accepted(conn: Conn, tenant_id: TenantId, environment: Environment) -> bool:
    """Whether a receipt was ever accepted in an environment."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_WAS_ACCEPTED, {"tenant": tenant_id, "environment": environment})
    return bool(await cursor.fetchone())


async def used_numbers(conn: Conn, tenant_id: TenantId, issuer: str, first: str, last: str) -> UsedNumbers:
    """Tell which numbers from `first` to `last` were used or planned in the environment."""
    values = {"tenant": tenant_id, "environment": ENVIRONMENT, "issuer": issuer, "first": first, "last": last}
    held = await (await conn.execute(_HELD_OF_RANGE, values)).fetchone()
    planned = await (await conn.execute(_HIGHEST_PLANNED, values)).fetchone()
    assert held is not None
    assert planned is not None
    return UsedNumbers(held[0], held[1], planned[0])


async def held_among(conn: Conn, tenant_id: TenantId, issuer: str, numbers: Sequence[str]) -> set[str]:
    """Find which of these numbers have a submission in the environment, of whatever verdict."""
    values = {"tenant": tenant_id, "environment": ENVIRONMENT, "issuer": issuer, "numbers": list(numbers)}
    return {number for (number,) in await (await conn.execute(_HELD_AMONG, values)).fetchall()}


async def approved(conn: Conn, tenant_id: TenantId, names: Sequence[str]) -> dict[str, SubmissionId]:
    """Find which approvals were handed in by a run, each with its submission."""
    rows = await (await conn.execute(_APPROVED, {"tenant": tenant_id, "names": list(names)})).fetchall()
    return {name: SubmissionId(submission) for name, submission in rows}
