"""Large bodies of /invoices: read and validated apart. Here they are bytes from their beginning to their end."""

from datetime import datetime

from fe.ecf.document import NotADocument
from fe.ecf.problems import Problem
from fe.ecf.taxes import Rates
from fe.http.calls import Caller
from fe.http.invoice_bodies import read_draft, read_submission
from fe.identifiers import ClientRequestId, TenantId
from fe.issuing.prepare import Draft
from fe.issuing.preview import UNREADABLE, ReceiptPreview, preview_of
from fe.issuing.validate import Survey, examine, find_problems
from fe.offload.pool import Apart
from fe.store.records.submissions import NewSubmission
from fe.store.records.tenant_context import TenantContext


class LargeInvoice:
    """A body that is large. Each step parses it anew: no tree is kept while something else is waited for."""

    def __init__(
        self,
        raw: bytes,
        caller: Caller,
        now: datetime,
        apart: Apart,
        key: ClientRequestId | None = None,
        *,
        sandbox: bool = False,
        previews: bool = False,
    ) -> None:
        """Take the body; with `previews`, `problems` makes the preview, too."""
        self._raw = raw
        self._caller = caller
        self._now = now
        self._apart = apart
        self._key = key
        self._sandbox = sandbox
        self._previews = previews
        self.preview = UNREADABLE
        self._survey: Survey | None = None

    async def take_in(self) -> tuple[NewSubmission, bool]:
        """Give the submission to store, and whether it is to be validated first.

        Raises as `read_submission` does, and ApartFailed.
        """
        taken = await self._apart.run(
            self._caller.tenant_id, _take_in, self._raw, self._caller, self._now, self._key, self._sandbox
        )
        new, is_strict, self._survey = taken
        return new, is_strict

    async def survey(self) -> Survey:
        """Read it, unless it was read already. Raises as `read_draft` does, NotADocument, and ApartFailed."""
        if self._survey is None:
            self._survey = await self._apart.run(self._caller.tenant_id, _survey, self._raw, self._sandbox)
        return self._survey

    async def problems(self, known: TenantContext, now: datetime, rates: Rates) -> list[Problem]:
        """Find what is wrong with it. Raises ApartFailed."""
        if not self._previews:
            return await self._apart.run(self._caller.tenant_id, _problems, self._raw, self._sandbox, known, now, rates)
        self.preview, found = await self._apart.run(
            self._caller.tenant_id, _previewed, self._raw, self._sandbox, known, now, rates
        )
        return found


class DraftApart:
    """A draft of a large batch: read and validated apart."""

    def __init__(self, draft: Draft, tenant_id: TenantId, apart: Apart) -> None:
        self._draft = draft
        self._tenant_id = tenant_id
        self._apart = apart

    async def survey(self) -> Survey:
        """Read it. Raises NotADocument, Malformed, and ApartFailed."""
        return await self._apart.run(self._tenant_id, _survey_of, self._draft)

    async def problems(self, known: TenantContext, now: datetime, rates: Rates) -> list[Problem]:
        """Find what is wrong with it. Raises ApartFailed."""
        return await self._apart.run(self._tenant_id, _problems_of, self._draft, known, now, rates)


def _survey_of(draft: Draft) -> Survey:
    return Survey.of(draft, draft.read())


def _problems_of(draft: Draft, known: TenantContext, now: datetime, rates: Rates) -> list[Problem]:
    return find_problems(draft, draft.read(), known, now, rates)


def _take_in(
    raw: bytes, caller: Caller, now: datetime, key: ClientRequestId | None, sandbox: bool
) -> tuple[NewSubmission, bool, Survey | None]:
    new, draft = read_submission(raw, caller, now, key, sandbox)
    if draft is None:
        return new, False, None
    try:
        return new, True, Survey.of(draft, draft.read())
    except NotADocument:  # what the door lets pass and validating tells, with all its problems
        return new, True, None


def _survey(raw: bytes, sandbox: bool) -> Survey:
    return _survey_of(read_draft(raw, sandbox))


def _problems(raw: bytes, sandbox: bool, known: TenantContext, now: datetime, rates: Rates) -> list[Problem]:
    return _problems_of(read_draft(raw, sandbox), known, now, rates)


def _previewed(
    raw: bytes, sandbox: bool, known: TenantContext, now: datetime, rates: Rates
) -> tuple[ReceiptPreview, list[Problem]]:
    draft = read_draft(raw, sandbox)
    completed, found = examine(draft, draft.read(), known, now, rates)
    return preview_of(completed), found
