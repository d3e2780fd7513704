"""Issue the e-CF that replace paper receipts of series B, each at most once (docs/contingency.md).

A try is stored with its clientRequestId before it is issued, so that whatever is repeated issues it once. The next try
begins only when the submission of this one has certainly ended without acceptance: two are never accepted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

import trio

from fe.ecf.catalogue import Environment
from fe.ecf.document import NotADocument
from fe.ecf.paper import IN_DOUBT, NEVER_ENTERED, NoSuchPaper, is_ncf, replaced_elsewhere
from fe.ecf.parse import Malformed, excerpt, parse_json
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import Text
from fe.identifiers import ApiKeyId, ClientRequestId, SubmissionId, TenantId
from fe.issuing.accept import admit
from fe.issuing.issuers import ForbiddenIssuer
from fe.issuing.paper import MAX_PAYLOAD, with_reference
from fe.issuing.prepare import Draft
from fe.issuing.submitting import Submitting
from fe.issuing.validate import DraftInThreads, unsigned
from fe.lifecycle import FINAL, Status
from fe.limits import DocumentQuota
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import NoNumber, TenantDisabled
from fe.store.records import paper
from fe.store.records.paper import PaperRecord, TriedSubmission

#: Receipts that one call issues.
AT_ONCE = 100

_SEQUENCES = {
    "none": Text("there is no active sequence {prefix}", "no hay una secuencia {prefix} activa"),
    "expired": Text("the sequence {prefix} has expired", "la secuencia {prefix} está vencida"),
    "paused": Text("the sequence {prefix} is paused", "la secuencia {prefix} está en pausa"),
}
_USED_UP = Text("there are no {prefix} numbers left", "no quedan números {prefix}")
_TENANT = Text("the company is disabled", "la empresa está desactivada")
_CHANGED = Text("it was corrected meanwhile: issue it again", "se corrigió entretanto: emítalo de nuevo")


class PaperState(StrEnum):
    """How far the replacement of a paper receipt is."""

    OPEN = "open"
    #: Its e-CF has no result yet, or ended without one.
    ISSUED = "issued"
    #: The last e-CF was rejected, or failed and was certainly not accepted: another can be issued.
    REJECTED = "rejected"
    REPLACED = "replaced"


def paper_state(record: PaperRecord, tried: TriedSubmission | None) -> PaperState:
    """Return the state of a receipt from its live try's submission."""
    if record.replaced_at is not None:
        return PaperState.REPLACED
    if tried is None:
        return PaperState.OPEN
    is_over = tried.status in (Status.REJECTED, Status.ERROR) and not tried.is_in_doubt
    return PaperState.REJECTED if is_over else PaperState.ISSUED


@dataclass(frozen=True, slots=True)
class Replaced:
    """Result of one receipt: its state, its submission, and why it was not issued."""

    ncf: str
    state: PaperState
    is_new: bool = False
    submission_id: SubmissionId | None = None
    e_ncf: str | None = None
    problems: Sequence[Problem] = ()


@dataclass(frozen=True, slots=True)
class PaperReplacer:
    """Issues replacements. One per process."""

    db: Database
    submitting: Submitting
    quotas: DocumentQuota

    async def issue(
        self,
        tenant_id: TenantId,
        environment: Environment,
        ncfs: Sequence[str] | None,
        *,
        api_key_id: ApiKeyId,
        by: str,
        now: datetime,
        http_request: str,
    ) -> list[Replaced]:
        """Issue the e-CF of the receipts that are open, of those named or of the first hundred.

        Raises NoSuchPaper before anything is issued, LimitReached, and what the database raises; a repeat goes on where
        it ended.
        """
        if ncfs is None:
            records = await self.db.run_for(tenant_id, paper.listed, environment, only_open=True)
        else:
            records = [await self._find(tenant_id, environment, one) for one in ncfs]
        tried = await self.db.run_for(tenant_id, paper.tried, environment, records)
        done: list[Replaced] = []
        for record in records:
            of_it = None if record.request_id is None else tried.get(record.request_id)
            state = paper_state(record, of_it)
            if state in (PaperState.OPEN, PaperState.REJECTED):
                if sum(one.is_new for one in done) >= AT_ONCE:
                    break
                done.append(await self._issue(tenant_id, record, state, api_key_id, by, now, http_request))
            elif ncfs is not None or (of_it is not None and of_it.is_in_doubt):
                done.append(_known(record, of_it))
        return done

    async def _find(self, tenant_id: TenantId, environment: Environment, ncf: str) -> PaperRecord:
        found = await self.db.run_for(tenant_id, paper.find, environment, ncf) if is_ncf(ncf) else None
        if found is None:
            raise NoSuchPaper(NEVER_ENTERED.fill(ncf=excerpt(ncf)))
        return found

    async def _issue(
        self,
        tenant_id: TenantId,
        record: PaperRecord,
        state: PaperState,
        api_key_id: ApiKeyId,
        by: str,
        now: datetime,
        http_request: str,
    ) -> Replaced:
        payload = with_reference(parse_json(record.payload, max_bytes=MAX_PAYLOAD), record.ncf, record.issued_on)
        draft = Draft("structured", payload=payload)
        try:
            problems = await self._problems(tenant_id, record.environment, draft, now)
            if problems:
                return Replaced(record.ncf, state, problems=problems)
            self.quotas.take(tenant_id, len(record.payload), trio.current_time())
            begun = await self.db.transact_for(tenant_id, _begin, tenant_id, record, by, now)
            if isinstance(begun, Replaced):
                return begun
            new = await trio.to_thread.run_sync(
                admit,
                replace(draft, client_request_id=begun),
                tenant_id,
                record.environment,
                api_key_id,
                now,
                limiter=self.submitting.threads,
            )
            await self.submitting.require_permission(new)
            accepted = await self.submitting.acceptance.accept(new, now)
        except NotADocument as bad:
            return Replaced(record.ncf, state, problems=bad.problems)
        except (ForbiddenIssuer, Malformed) as bad:
            return Replaced(record.ncf, state, problems=[_problem("paper-issuer", bad.text)])
        except NoNumber as none:
            said = _SEQUENCES.get(none.reason, _USED_UP).fill(prefix=none.label)
            return Replaced(record.ncf, state, problems=[_problem("paper-sequence", said)])
        except TenantDisabled:
            return Replaced(record.ncf, state, problems=[_problem("paper-disabled", _TENANT)])
        self.submitting.note(accepted, new, http_request)
        is_new = accepted.outcome == "accepted"
        return Replaced(record.ncf, PaperState.ISSUED, is_new, accepted.submission_id, accepted.e_ncf)

    async def _problems(
        self, tenant_id: TenantId, environment: Environment, draft: Draft, now: datetime
    ) -> list[Problem]:
        """List what keeps an e-CF from being sent, a certificate that is missing included."""
        candidate = DraftInThreads(draft, self.submitting.threads)
        found = await self.submitting.validate(candidate, tenant_id, environment, now)
        missing = await unsigned(self.db, tenant_id, draft, now)
        fatal = [one for one in found if one.severity is Severity.REJECTED]
        return fatal if missing is None else [missing, *fatal]


async def _begin(
    conn: Conn, tenant_id: TenantId, validated: PaperRecord, by: str, now: datetime
) -> ClientRequestId | Replaced:
    """Take the live try of a receipt, or begin the next where the last one ended without acceptance."""
    record = await paper.locked(conn, tenant_id, validated.environment, validated.ncf)
    assert record is not None
    tried = None
    if record.request_id is not None:
        tried = (await paper.tried(conn, tenant_id, record.environment, [record])).get(record.request_id)
    state = paper_state(record, tried)
    if state in (PaperState.ISSUED, PaperState.REPLACED):
        return _known(record, tried)
    if (record.payload, record.issued_on) != (validated.payload, validated.issued_on):
        return Replaced(record.ncf, state, problems=[_problem("paper-changed", _CHANGED)])
    elsewhere = await paper.replaced_elsewhere(conn, tenant_id, record.environment, record.ncf, now)
    if elsewhere is not None:
        said = replaced_elsewhere(record.ncf, *elsewhere)
        return Replaced(record.ncf, state, problems=[_problem("paper-elsewhere", said)])
    if record.request_id is not None and tried is None:
        await paper.resume_try(conn, tenant_id, record, at=now)
        return record.request_id
    assert tried is None or tried.status in FINAL
    return await paper.begin_try(conn, tenant_id, record, at=now, by=by)


def _known(record: PaperRecord, tried: TriedSubmission | None) -> Replaced:
    submission_id = record.replaced_by if tried is None else tried.submission_id
    e_ncf = record.e_ncf or (None if tried is None else tried.e_ncf)
    problems = []
    if tried is not None and tried.is_in_doubt and record.replaced_at is None:
        problems.append(_problem("paper-in-doubt", IN_DOUBT.fill(e_ncf=e_ncf)))
    return Replaced(record.ncf, paper_state(record, tried), False, submission_id, e_ncf, problems)


def _problem(code: str, said: Text) -> Problem:
    return Problem(code=code, path="", message=said.en, message_es=said.es)
