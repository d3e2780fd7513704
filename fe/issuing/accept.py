"""Accept a submission: refuse it at once, or store it in one transaction.

Only a submission that can never become a document is refused (interface.md#submitting and #requests). All others get a
202, and the worker checks them, because the authority decides.

Accepting is idempotent: a clientRequestId that was used before stores nothing, and the answer is about the first
submission (sql/functions/submissions/accept_submission.sql).
"""

import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar, cast

import structlog
import trio
from cryptography.hazmat.primitives.hashes import SHA256

from fe.ecf.catalogue import SUBMITTABLE, Environment, Root
from fe.ecf.document import Document, NotADocument
from fe.ecf.finished_xml import read_finished
from fe.ecf.identity import E_NCF_FORM, TAX_ID_FORM
from fe.ecf.ids import new_id
from fe.ecf.json_text import write_canonical_json
from fe.ecf.modified import paper_number_replaced
from fe.ecf.parse import MalformedXml
from fe.ecf.problems import Problem, Room
from fe.ecf.receipt_facts import facts_before_signing
from fe.ecf.rules import assumptions, of_the_issue_date
from fe.ecf.signature import BadSignature, verify
from fe.ecf.texts import Text
from fe.identifiers import ApiKeyId, SubmissionId, TenantId
from fe.issuing.deferral import is_deferred, signed_before
from fe.issuing.document_size import is_short
from fe.issuing.messages import number_far_ahead, of_the_number, of_the_sequence
from fe.issuing.prepare import Draft, prefix_to_draw
from fe.lifecycle import Stage
from fe.process import failpoints
from fe.queue.batcher import WRITE_SECONDS, Batcher
from fe.queue.direct_intake import DirectIntake, Reservation
from fe.store.postgres.db import Database
from fe.store.postgres.errors import Contended, DatabaseUnavailable, LockNotHad, NodeUnavailable, NoNumber
from fe.store.queue.inputs import AcceptedInput
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.wakeups import Wakeups
from fe.store.records import sequences, submissions
from fe.store.records.sequences import sequence_key
from fe.store.records.submissions import Accepted, Leases, NewSubmission

_E_NCF = re.compile(E_NCF_FORM)
_TAX_ID = re.compile(TAX_ID_FORM)

#: Most rows of a batch, and the longest document in one: a batch is held in memory, and its rows wait for each other.
_MAX_ROWS = 100
_LARGE = 64 * 1024
#: How often one row is tried that the server gave up for the sake of another.
_TRIES = 3

A = TypeVar("A")
_Row = tuple[NewSubmission, datetime]
#: With its place at the signers, if it has one.
_Placed = tuple[_Row, Reservation[Work] | None]
#: None: this one is to be written alone.
_Answer = Accepted | Exception | None

_log = structlog.get_logger(__name__)

_ONLY_ECF = Text(
    "keepSignature is for an ECF with its number (eNCF)", "keepSignature es para un ECF con su número (eNCF)"
)

#: More numbers than clients that number side by side pass over when they come out of turn.
_FAR = 100


class CannotBeSigned(MalformedXml):
    """XML that is well-formed and cannot be signed as it stands; `problems` are all that is wrong with it."""

    def __init__(
        self,
        message: Text,
        line: int | None = None,
        column: int | None = None,
        problems: tuple[Problem, ...] = (),
    ) -> None:
        super().__init__(message, line, column)
        self.problems = problems

    def __reduce__(self) -> tuple[type["CannotBeSigned"], tuple[object, ...]]:
        """Go from process to process whole."""
        return CannotBeSigned, (self.message, self.line, self.column, self.problems)


def admit(
    draft: Draft,
    tenant_id: TenantId,
    environment: Environment,
    api_key_id: ApiKeyId,
    now: datetime,
    room: Room | None = None,
) -> NewSubmission:
    """Read the document and make the submission to store; CPU work only, safe in a thread.

    `room` is shared by all documents of the request.

    Raises MalformedXml or NotADocument when it cannot become a document.
    """
    original, document = _read(draft, room)
    signed_with = _certificate(original, document) if draft.format == "signed" else None
    if document.root not in SUBMITTABLE:
        raise NotADocument((_not_submittable(document.root),))
    e_ncf = _if_like(_E_NCF, document.e_ncf)
    prefix = prefix_to_draw(draft.format, document)
    return NewSubmission(
        tenant_id=tenant_id,
        submission_id=SubmissionId(new_id(now)),
        environment=environment,
        api_key_id=api_key_id,
        client_request_id=draft.client_request_id,
        body_digest=_digest(draft, original),
        format=draft.format,
        root=document.root,
        ecf_type=document.type,
        e_ncf=e_ncf,
        issuer_rnc=_if_like(_TAX_ID, document.issuer_rnc),
        buyer_rnc=_if_like(_TAX_ID, document.buyer_rnc),
        as_user=draft.as_user,
        as_user_id=draft.as_user_id,
        original=original,
        draw_prefix=None if prefix is None else sequence_key(prefix, draft.sequence),
        simulation=draft.simulation,
        notify=draft.notify,
        metadata=draft.metadata,
        # Of XML the signer refuses more than the door does, so it reads it again.
        document=document if draft.format == "structured" and is_short(original) else None,
        facts=facts_before_signing(document),
        remarks=(
            *draft.remarks,
            *of_the_sequence(draft.sequence, prefix),
            *of_the_number(document, prefix),
            *assumptions(document),
            *of_the_issue_date(document, now),
        ),
        signed_with=signed_with,
        deferred_at=(signed_before(draft.format, document) or now) if is_deferred(document) else None,
        replaces_ncf=paper_number_replaced(document),
    )


class Acceptance:
    """Accepts submissions durably; group commit under load. One per process.

    A submission that arrives while none is being written is written alone, at once. Those that arrive during a write go
    into the next batch together; no timer delays them. A batch that cannot be written as one (a poisoned row, a
    deadlock, a lock timeout) is split, and each row is written alone: one never fails or delays another.
    """

    def __init__(self, db: Database, wakeups: Wakeups, intake: DirectIntake[Work] | None = None) -> None:
        """`intake` leads to the signers of this process, if it has any."""
        self._db = db
        self._wakeups = wakeups
        self._intake = intake
        self._batcher: Batcher[_Row, _Answer] = Batcher(self._write, limit=_MAX_ROWS)
        self._in_work = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write batches while the block runs; at its end, what was handed in before."""
        async with self._batcher.running():
            yield

    async def accept(self, new: NewSubmission, now: datetime) -> Accepted:
        """Store the submission and its first step, then wake a signer. It is durable when this returns.

        Raises NoNumber when the sequence has no number left, and DatabaseUnavailable; after the latter it is unknown
        whether it was stored. A client that disconnects cancels the caller: before its batch begins, nothing has
        happened; after that the batch is written anyway, and a repeat with the same clientRequestId finds the
        submission.
        """
        self._in_work += 1
        try:
            answer = None
            if len(new.original) <= _LARGE:
                if self._in_work > 1:
                    answer = await self._batcher.put((new, now))
                elif self._intake is not None and self._intake.is_open:
                    (answer,) = await self._write([(new, now)])
            if answer is None:
                answer = await self._alone(new, now)
            if isinstance(answer, Exception):
                raise answer
            return answer
        except NoNumber as none:
            raise await self._with_names(none, new) from None
        finally:
            self._in_work -= 1

    async def accept_together(self, news: Sequence[NewSubmission], now: datetime) -> list[Accepted | Exception]:
        """Store several, a transaction for each hundred; return each result, in their order.

        None fails another: where a transaction fails, each of its rows is written alone. A caller that is cancelled in
        between leaves whole transactions behind, and a repeat with the same ids finds them. When the database becomes
        unavailable, the rest is unknown.
        """
        answers: list[Accepted | Exception] = []
        for start in range(0, len(news), _MAX_ROWS):
            rows = [(new, now) for new in news[start : start + _MAX_ROWS]]
            try:
                written = await self._write(rows)
            except DatabaseUnavailable as error:
                return answers + [error] * (len(news) - len(answers))
            for (new, _), answer in zip(rows, written, strict=True):
                if answer is not None:
                    answers.append(await self._with_names(answer, new) if isinstance(answer, NoNumber) else answer)
                    continue
                try:
                    answers.append(await self._alone(new, now))
                except NoNumber as error:
                    answers.append(await self._with_names(error, new))
                except (Contended, NodeUnavailable) as error:  # others were in its way, or its node is away
                    answers.append(error)
                except DatabaseUnavailable as error:  # as above: each of a hundred would else wait for it
                    return answers + [error] * (len(news) - len(answers))
                except Exception as error:  # its own answer, whatever it is: the others have theirs
                    answers.append(error)
        return answers

    async def _with_names(self, none: NoNumber, new: NewSubmission) -> NoNumber:
        """Say which names there are, where the one that the client wrote is none of them."""
        if not none.name or none.reason != "none":
            return none
        try:
            names = await self._db.run_for(new.tenant_id, sequences.names_of, new.environment, none.prefix)
        except DatabaseUnavailable:
            return none
        return NoNumber(none.key, none.reason if none.name in names else "unknown", tuple(names))

    async def _alone(self, new: NewSubmission, now: datetime) -> Accepted:
        """One statement, one round trip, one commit."""

        async def write(news: Sequence[NewSubmission]) -> Sequence[Accepted]:
            return [await self._tried(new, now) for new in news]

        (accepted,) = await self._db.run_together([new], lambda new: new.tenant_id, write)
        if isinstance(accepted, Exception):
            raise accepted
        return accepted

    async def _tried(self, new: NewSubmission, now: datetime) -> Accepted:
        for tries_left in reversed(range(_TRIES)):
            failpoints.reached("accepting")
            try:
                with trio.move_on_after(WRITE_SECONDS) as patience:
                    answer = await self._db.run(submissions.accept, new, now)
                if patience.cancelled_caught:
                    raise DatabaseUnavailable("the write took too long")
                accepted = _own(new, answer)
                break
            except (submissions.AlreadyStored, NoNumber) as error:
                # A call before, whose answer was lost, may have stored it, with the last number there was.
                found = await self._db.confirmed_for(new.tenant_id, submissions.find, new.submission_id)
                if found is None:
                    raise error from None
                return Accepted("accepted", new.submission_id, found.status, found.e_ncf, body_matched=True)
            except Contended as error:
                if not tries_left or isinstance(error, LockNotHad):  # of that one the client has waited long enough
                    raise
        failpoints.reached("accepted")
        if accepted.outcome == "accepted":
            self._wakeups.notify(Stage.SIGN)
        return accepted

    async def _write(self, rows: Sequence[_Row]) -> Sequence[_Answer]:
        """Write rows together. Returns None for a row that its caller must write alone.

        Rows for which the signers of this process have room are leased to it in the same statement, and handed over
        once the commit is certain. If it is cancelled or cut off, the result is unknown: then the lease decides, if
        there is one.
        """
        places = [self._place_for(new) for new, _ in rows]
        try:
            answers = await self._answers(rows, places)
            for place, answer in zip(places, answers, strict=True):
                if place is not None and isinstance(answer, Accepted) and answer.leased:
                    cast(AcceptedInput, place.work.input).e_ncf = answer.e_ncf
                    place.commit()
        finally:
            for place in places:
                if place is not None:
                    place.cancel()
        if any(isinstance(answer, Accepted) and is_due(answer) for answer in answers):
            self._wakeups.notify(Stage.SIGN)
        return answers

    async def _answers(self, rows: Sequence[_Row], places: Sequence[Reservation[Work] | None]) -> Sequence[_Answer]:
        placed = list(zip(rows, places, strict=True))
        is_repeat = False

        async def write(placed: Sequence[_Placed]) -> Sequence[Accepted | NoNumber | None]:
            nonlocal is_repeat
            is_first, is_repeat = not is_repeat, True
            answers = await self._written(placed)
            # Its number may be the one that it drew before, when the answer was lost: who writes alone looks.
            return [answer if is_first or not isinstance(answer, NoNumber) else None for answer in answers]

        return await self._db.run_together(placed, lambda one: one[0][0].tenant_id, write)

    async def _written(self, placed: Sequence[_Placed]) -> Sequence[Accepted | NoNumber | None]:
        failpoints.reached("accepting")
        rows = [row for row, _ in placed]
        leases = None
        if self._intake is not None and any(place for _, place in placed):
            lease = self._intake.lease
            leases = Leases(self._intake.holder, [lease if place is not None else None for _, place in placed])
        try:
            answers = await self._db.run(submissions.accept_many, rows, leases)
        except DatabaseUnavailable as error:
            if not isinstance(error, Contended):
                raise
        except Exception as error:  # whatever is wrong with one of them: it is that one's answer, and not the others'
            _log.warning("a batch of submissions falls apart", rows=len(rows), error=error)
        else:
            failpoints.reached("accepted")
            return [_own(new, answer) for (new, _), answer in zip(rows, answers, strict=True)]
        return [None] * len(rows)

    def _place_for(self, new: NewSubmission) -> Reservation[Work] | None:
        if self._intake is None or len(new.original) > _LARGE:
            return None
        return self._intake.reservation_for(first_claim(new))


def first_claim(new: NewSubmission) -> Work:
    """The claim to sign it that it is leased by as it is taken in."""
    return Work(
        Stage.SIGN,
        OutboxLane(new.environment),
        new.tenant_id,
        new.submission_id,
        attempt=1,
        epoch=1,
        crash_count=0,
        waited=timedelta(0),
        last_error=None,
        input=AcceptedInput(
            new.format, new.root, new.ecf_type, new.e_ncf, new.as_user, new.as_user_id, new.original, new.document
        ),
        trace=new.trace,
    )


def _own(new: NewSubmission, answer: A) -> A:
    """Not a repeat: a submission that an earlier call stored and whose answer was lost; its client hears of it now."""
    if isinstance(answer, Accepted) and answer.submission_id == new.submission_id and answer.outcome == "deduped":
        return replace(answer, outcome="accepted")
    return answer


def is_due(accepted: Accepted) -> bool:
    """Whether it waits for a worker to claim it."""
    return accepted.outcome == "accepted" and not accepted.leased


def remarks(accepted: Accepted) -> list[Problem]:
    """Say what does not stop the submission and its client should know: a number that is far ahead of the next one."""
    skipped, left = accepted.numbers_skipped, accepted.numbers_left
    if skipped is None or left is None or accepted.e_ncf is None or not skipped:
        return []
    far = skipped > _FAR or skipped > left
    return [number_far_ahead(accepted.e_ncf, skipped, left)] if far else []


def _read(draft: Draft, room: Room | None) -> tuple[bytes, Document]:
    if draft.format != "structured":
        assert draft.xml is not None
        original = draft.xml.encode()
        try:
            return original, read_finished(original, at_the_door=draft.format == "xml", room=room)
        except NotADocument as error:
            first = error.problems[0]
            raise CannotBeSigned(first.text, first.line, first.column, error.problems) from error
    assert draft.payload is not None
    return write_canonical_json(draft.payload), draft.read(room)


def _certificate(signed: bytes, document: Document) -> str:
    """Verify the signature that an e-CF came with; return its certificate's SHA-256. Raises CannotBeSigned."""
    try:
        if document.root is not Root.ECF or document.e_ncf is None:
            raise CannotBeSigned(_ONLY_ECF)
        return verify(signed).certificate.fingerprint(SHA256()).hex()
    except BadSignature as bad:
        text = Text(f"the signature cannot be kept: {bad.message}", f"la firma no puede conservarse: {bad.message}")
        raise CannotBeSigned(text) from bad


def _digest(draft: Draft, original: bytes) -> bytes:
    """Tell one request body from another: format, document, whose certificate, outcome, whom to notify, metadata."""
    digest = hashlib.sha256(draft.format.encode())
    parts = [original, (draft.as_user or "").encode(), str(draft.as_user_id or "").encode()]
    if draft.sequence is not None:
        parts.append(b"sequence\n" + draft.sequence.encode())
    if draft.simulation is not None:
        parts.append(str(draft.simulation).encode())
    if draft.notify is not None:
        parts.append(b"notify\n" + draft.notify.encode())
    if draft.metadata is not None:
        parts.append(b"metadata\n" + write_canonical_json(draft.metadata))
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def _if_like(pattern: re.Pattern[str], value: str | None) -> str | None:
    """The value where it has the form that columns and queries count on; the document itself keeps what was sent."""
    return value if value is not None and pattern.fullmatch(value) else None


def _not_submittable(root: Root) -> Problem:
    return Problem(
        code="unknown-root",
        path="",
        message=f"{root} is not a document that can be submitted",
        message_es=f"{root} no es un documento que se pueda enviar",
        expected=", ".join(sorted(SUBMITTABLE)),
    )
