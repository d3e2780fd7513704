"""Imports: receipts of a workbook, validated one and all before a number is drawn, then issued by the accepting path.

A receipt's clientRequestId is made from its key, so that whatever is repeated (an upload, a chunk after a crash) issues
it once. A front works on imports chunk by chunk; each chunk is booked after it was accepted
(docs/decisions/imports.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import structlog
import trio

from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.ecf.document import NotADocument
from fe.ecf.ids import new_id
from fe.ecf.money import cents, number
from fe.ecf.parse import parse_json
from fe.ecf.problems import Problem
from fe.ecf.taxes import Rates
from fe.ecf.texts import Language, LocalizedError, Text
from fe.identifiers import ApiKeyId, ClientRequestId, PersonId, TenantId
from fe.issuing.accept import admit
from fe.issuing.issuers import ForbiddenIssuer
from fe.issuing.prepare import Draft
from fe.issuing.submitting import Submitting
from fe.issuing.validate import Survey, examine, is_fatal, unsigned
from fe.limits import DocumentQuota, LimitReached
from fe.offload.pool import Apart, ApartFailed
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, DatabaseUnavailable, NoNumber, TenantDisabled
from fe.store.records import imports, sequences
from fe.store.records.imports import (
    ImportOutcome,
    ImportRecord,
    ImportState,
    ImportWork,
    NewImport,
    NewReceipt,
    OpenReceipt,
    ReceiptOutcome,
    StoredFault,
)
from fe.store.records.sequences import sequence_key
from fe.store.records.submissions import Accepted, NewSubmission
from fe.store.records.tenant_context import TenantContext
from fe.workbooks.columns import SEQUENCE
from fe.workbooks.receipts import ReadImport, RowFault, place_problems, read_receipts
from fe.workbooks.report import RowNote, report
from fe.workbooks.tables import UnreadableWorkbook

_log = structlog.get_logger(__name__)

#: Receipts of a chunk.
VALIDATED_TOGETHER, ISSUED_TOGETHER = 100, 50
#: How long a front holds an import for a chunk: after a crash another goes on when it has passed.
HELD_SECONDS = 20.0
_POLL_SECONDS = 2.0
#: How long an upload waits for its turn in the pool.
_TURN_SECONDS = 20.0
_LONGEST_NAME = 120
#: Faults stored of one receipt.
_MOST_FAULTS = 30
#: Totals from here on are not stored: the format takes none of them.
_TOO_LARGE = Decimal(10) ** 16

_TOO_MUCH = Text(
    "The workbook takes too much time or memory to read. Keep one sheet with the rows, and divide it.",
    "El archivo es demasiado pesado para leerlo. Deje una sola hoja con las filas y divídala.",
)
_OTHER_CONTENT = Text(
    "this key was used before for a receipt with other content, {number}: give this one another key",
    "esta clave ya se usó en un comprobante con otro contenido, {number}: ponga otra clave",
)
_DISABLED = Text("the company is disabled", "la empresa está desactivada")
_NO_NUMBER = Text("the sequence {prefix} has no number left", "a la secuencia {prefix} no le quedan números")
_NOT_DONE = Text("could not be issued: issue the rest again", "no se pudo emitir: emita el resto otra vez")


class ImportNotReady(LocalizedError):
    """An import cannot be issued now, and what to do."""


class NoSuchImport(Exception):
    """The tenant has no import with this id."""


def request_id(key: str) -> ClientRequestId:
    """Return the clientRequestId of a receipt, by its key."""
    return ClientRequestId(f"import:{key}")


class Imports:
    """Takes uploads in and starts what is to be done with them. One per process; of the API or the portal."""

    def __init__(self, db: Database, apart: Apart, clock: Clock) -> None:
        self._db = db
        self._apart = apart
        self._clock = clock
        #: Set when there is something to do.
        self.wake = trio.Event()

    async def upload(
        self,
        tenant_id: TenantId,
        environment: Environment,
        content: bytes,
        name: str,
        *,
        api_key_id: ApiKeyId,
        person_id: PersonId | None = None,
    ) -> UUID:
        """Read and store a file, to be validated; return its id.

        The same file again is the same import: what was not issued is validated again. Raises UnreadableWorkbook, and
        Limited.
        """
        try:
            read = await self._apart.run(tenant_id, read_receipts, content, within=_TURN_SECONDS)
        except ApartFailed:
            raise UnreadableWorkbook(413, _TOO_MUCH) from None
        now = self._clock()
        shown = "".join(one for one in name if one.isprintable()).strip()[-_LONGEST_NAME:] or "receipts"
        new = NewImport(
            new_id(now),
            environment,
            api_key_id,
            person_id,
            shown,
            read.digest,
            content,
            [(note.en, note.es) for note in read.notes],
        )
        import_id, is_new = await self._db.transact_for(
            tenant_id, imports.create, tenant_id, new, _new_receipts(read), now
        )
        if not is_new:
            found = await self.find(tenant_id, import_id)
            if found.state is ImportState.VALIDATED:
                await self._db.transact_for(tenant_id, imports.start, tenant_id, import_id, ImportState.VALIDATING)
        self.wake.set()
        return import_id

    async def find(self, tenant_id: TenantId, import_id: UUID) -> ImportRecord:
        """Find an import. Raises NoSuchImport."""
        found = await self._db.run_for(tenant_id, imports.find, import_id)
        if found is None:
            raise NoSuchImport
        return found

    async def issue(self, tenant_id: TenantId, import_id: UUID) -> None:
        """Start to issue what is valid, unless that is under way. Raises NoSuchImport, ImportNotReady."""
        found = await self.find(tenant_id, import_id)
        if found.state is ImportState.ISSUING:
            return
        await self._require_issuable(tenant_id, found)
        await self._db.transact_for(tenant_id, imports.start, tenant_id, import_id, ImportState.ISSUING)
        self.wake.set()

    async def _require_issuable(self, tenant_id: TenantId, found: ImportRecord) -> None:
        if found.state is ImportState.VALIDATING:
            raise ImportNotReady(
                Text("the receipts are still being validated", "los comprobantes todavía se están validando")
            )
        if not found.count(ImportOutcome.VALID) + found.count(ImportOutcome.FAILED):
            raise ImportNotReady(Text("no receipt is left to issue", "no queda ningún comprobante por emitir"))
        if found.count(ImportOutcome.FAULTY) and found.keyless:
            raise ImportNotReady(
                Text(
                    "some receipts have errors and some have no key: mend all, or download the copy, which has keys",
                    "hay comprobantes con errores y otros sin clave: corrija todos, o descargue la copia, que las trae",
                )
            )
        missing = await unsigned(self._db, tenant_id, Draft("structured", payload={}), self._clock())
        if missing is not None:
            raise ImportNotReady(Text(missing.message, missing.message_es))
        wanted = await self._db.run_for(tenant_id, imports.needed, found.import_id)
        listed = await self._db.run_for(tenant_id, sequences.listed, found.environment)
        now = self._clock()
        left = {one.key: one.at(now).numbers_left for one in listed if one.is_active}
        for key, count in sorted(wanted.items()):
            if count > left.get(key, 0):
                label = key.replace("/", " ", 1)
                raise ImportNotReady(
                    Text(
                        f"the sequence {label} has {left.get(key, 0):,} numbers left, and {count:,} are needed",
                        f"a la secuencia {label} le quedan {left.get(key, 0):,} números y se necesitan {count:,}",
                    )
                )

    async def report(self, tenant_id: TenantId, import_id: UUID, language: Language) -> tuple[bytes, str, str]:
        """Make the copy with the outcomes: bytes, media type, and ending. Raises NoSuchImport, UnreadableWorkbook."""
        await self.find(tenant_id, import_id)
        content = await self._db.run_for(tenant_id, imports.content, import_id)
        receipts = await self._db.run_for(tenant_id, imports.receipts_of, import_id)
        notes: dict[int, RowNote] = {}
        for one in receipts:
            faults = [RowFault(row, column, Text(en, es)) for row, column, en, es in one.faults]
            for row in one.file_rows:
                own = tuple(fault for fault in faults if fault.row == row)
                state = STATES[one.outcome].said(language) if one.outcome else ""
                notes[row] = RowNote(one.key, own, state, one.e_ncf or "")
        try:
            return await self._apart.run(tenant_id, report, content, notes, language, within=_TURN_SECONDS)
        except ApartFailed:
            raise UnreadableWorkbook(413, _TOO_MUCH) from None


STATES: Mapping[ImportOutcome, Text] = {
    ImportOutcome.VALID: Text("valid", "válido"),
    ImportOutcome.FAULTY: Text("has errors", "con errores"),
    ImportOutcome.ISSUED: Text("issued", "emitido"),
    ImportOutcome.BEFORE: Text("issued before", "emitido antes"),
    ImportOutcome.FAILED: Text("not issued", "no emitido"),
}


def _new_receipts(read: ReadImport) -> list[NewReceipt]:
    return [
        NewReceipt(
            one.key,
            one.is_own_key,
            one.rows,
            one.prefix and sequence_key(one.prefix, one.sequence),
            one.payload,
            [_stored(fault) for fault in one.faults],
        )
        for one in read.receipts
    ]


def _stored(fault: RowFault) -> StoredFault:
    return fault.row, fault.column, fault.text.en, fault.text.es


class ImportRunner:
    """Validates and issues what was uploaded, chunk by chunk, of all tenants in turn. One per front."""

    def __init__(
        self, db: Database, apart: Apart, submitting: Submitting, quotas: DocumentQuota, clock: Clock, own: Imports
    ) -> None:
        """`own` is told by uploads of this process that there is work; others are seen by polling."""
        self._db = db
        self._apart = apart
        self._submitting = submitting
        self._quotas = quotas
        self._clock = clock
        self._own = own

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            self._own.wake = trio.Event()
            try:
                is_idle = not await self.step()
            except ANY_OF_THE_DATABASE as error:
                _log.warning("imports wait for the database", error=error)
                is_idle = True
            if is_idle:
                with trio.move_on_after(_POLL_SECONDS):
                    await self._own.wake.wait()

    async def step(self) -> bool:
        """Do a chunk of each import that no front works on; False when there was none."""
        done = False
        for work in await self._db.run(imports.at_work):
            if not await self._db.run_for(work.tenant_id, imports.hold, work.import_id, HELD_SECONDS):
                continue
            done = True
            pause = 0.0
            try:
                if work.state is ImportState.VALIDATING:
                    await self._validate(work)
                else:
                    pause = await self._issue(work)
            except ApartFailed as error:  # it is held until then
                _log.warning("a chunk of an import was not dealt with", import_id=str(work.import_id), error=error)
                continue
            await self._db.run_for(work.tenant_id, imports.hold, work.import_id, pause, again=True)
        return done

    async def _validate(self, work: ImportWork) -> None:
        receipts = await self._db.run_for(
            work.tenant_id, imports.open_receipts, work.import_id, None, VALIDATED_TOGETHER
        )
        if not receipts:
            await self._db.run_for(work.tenant_id, imports.close, work.import_id, work.state)
            return
        now = self._clock()
        looked = await self._apart.run(work.tenant_id, _look, receipts, work, now)
        requests = [request_id(one.key) for one in receipts]
        known = await self._db.run_for(work.tenant_id, imports.known_requests, work.environment, requests)
        contexts: dict[object, tuple[TenantContext, Rates]] = {}
        found: list[tuple[TenantContext, Rates] | None] = []
        for one in looked:
            if one.survey is None:
                found.append(None)
                continue
            survey = one.survey
            same = survey.signed_for, survey.issued_number, survey.modified_number, survey.is_deferred
            if same not in contexts:
                contexts[same] = await self._submitting.context_of(survey, work.tenant_id, work.environment, now)
            found.append(contexts[same])
        examined = await self._apart.run(work.tenant_id, _examine, receipts, found, now)
        booked = []
        for receipt, look, (problems, total) in zip(receipts, looked, examined, strict=True):
            earlier = known.get(request_id(receipt.key))
            if earlier is not None and earlier.body_digest == look.digest:
                booked.append(
                    ReceiptOutcome(receipt.place, ImportOutcome.BEFORE, (), earlier.submission_id, earlier.e_ncf)
                )
                continue
            faults = _faults(receipt, [*look.problems, *problems])
            is_bad = bool(receipt.misread) or is_fatal([*look.problems, *problems])
            if earlier is not None:
                said = _OTHER_CONTENT.fill(number=earlier.e_ncf or earlier.submission_id)
                faults, is_bad = [_stored(RowFault(receipt.file_rows[0], "Comprobante", said))], True
            booked.append(
                ReceiptOutcome(
                    receipt.place, ImportOutcome.FAULTY if is_bad else ImportOutcome.VALID, faults, total=total
                )
            )
        await self._db.run_for(work.tenant_id, imports.book, work.import_id, booked, was=None)

    async def _issue(self, work: ImportWork) -> float:
        """Issue a chunk; return for how many seconds the import is to wait."""
        receipts = await self._db.run_for(
            work.tenant_id, imports.open_receipts, work.import_id, ImportOutcome.VALID, ISSUED_TOGETHER
        )
        if not receipts:
            await self._db.run_for(work.tenant_id, imports.close, work.import_id, work.state)
            return 0.0
        size = sum(len(one.payload) for one in receipts)
        try:
            self._quotas.take(work.tenant_id, size, trio.current_time())
        except LimitReached as reached:
            return float(reached.retry_after)
        self._quotas.add(work.tenant_id, len(receipts) - 1, trio.current_time())
        api_key_id = await self._db.run_for(work.tenant_id, imports.sender, work.import_id)
        now = self._clock()
        news: list[NewSubmission] = await self._apart.run(work.tenant_id, _admit, receipts, work, api_key_id, now)
        refused: dict[int, Exception] = {}
        for place, new in enumerate(news):
            try:
                await self._submitting.require_permission(new)
            except (ForbiddenIssuer, NotADocument) as wrong:
                refused[place] = wrong
        allowed = [new for place, new in enumerate(news) if place not in refused]
        taken = iter(await self._submitting.acceptance.accept_together(allowed, now))
        outcomes = [refused[place] if place in refused else next(taken) for place in range(len(news))]
        booked, away = [], None
        for receipt, new, outcome in zip(receipts, news, outcomes, strict=True):
            if isinstance(outcome, DatabaseUnavailable):  # not known: tried again, under the same clientRequestId
                away = outcome
                continue
            if isinstance(outcome, Accepted):
                self._submitting.note(outcome, new, f"import:{work.import_id}")
            booked.append(_booked(receipt, outcome))
        await self._db.run_for(work.tenant_id, imports.book, work.import_id, booked, was=ImportOutcome.VALID)
        if away is not None:
            raise away
        return 0.0


def _booked(receipt: OpenReceipt, outcome: Accepted | Exception) -> ReceiptOutcome:
    if isinstance(outcome, Accepted) and outcome.body_matched:
        return ReceiptOutcome(receipt.place, ImportOutcome.ISSUED, (), outcome.submission_id, outcome.e_ncf)
    match outcome:
        case Accepted():
            said = _OTHER_CONTENT.fill(number=outcome.e_ncf or outcome.submission_id)
        case NoNumber():
            said = _NO_NUMBER.fill(prefix=outcome.label)
        case TenantDisabled():
            said = _DISABLED
        case ForbiddenIssuer():
            said = outcome.text
        case NotADocument(problems=(first, *_)):
            said = first.text
        case _:
            _log.error("a receipt of an import could not be accepted", error=outcome, exc_info=outcome)
            said = _NOT_DONE
    return ReceiptOutcome(receipt.place, ImportOutcome.FAILED, [_stored(RowFault(receipt.file_rows[0], None, said))])


def _faults(receipt: OpenReceipt, problems: Sequence[Problem]) -> list[StoredFault]:
    """The faults of a receipt, without those that follow from others: of what is computed, and of unreadable cells."""
    sent = [one for one in problems if not one.path.startswith("Encabezado.Totales") and not _is_line_amount(one.path)]
    problems = sent or problems
    if any(one.path == SEQUENCE for one in problems):  # so there is no number either
        problems = [one for one in problems if one.path != "Encabezado.IdDoc.eNCF"]
    placed = [_stored(one) for one in place_problems(problems, receipt.file_rows)]
    if receipt.misread:
        bad = {(row, column) for row, column, _, _ in receipt.misread}
        placed = [one for one in placed if one[1] is not None and (one[0], one[1]) not in bad]
    misread: list[StoredFault] = [(row, column, en, es) for row, column, en, es in receipt.misread]
    return list(dict.fromkeys([*misread, *placed]))[:_MOST_FAULTS]


def _is_line_amount(path: str) -> bool:
    return path.endswith((".MontoItem", ".NumeroLinea"))


# -- in a process of the pool ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Look:
    """A document that was read: what validating looks up for it, what is wrong with it already, its digest."""

    survey: Survey | None
    problems: tuple[Problem, ...] = ()
    digest: bytes | None = None


def _draft(receipt: OpenReceipt) -> Draft:
    return Draft(
        "structured",
        payload=parse_json(receipt.payload),
        client_request_id=request_id(receipt.key),
        sequence=receipt.sequence,
    )


def _look(receipts: Sequence[OpenReceipt], work: ImportWork, now: datetime) -> list[_Look]:
    looked = []
    for receipt in receipts:
        draft = _draft(receipt)
        try:
            new = admit(draft, work.tenant_id, work.environment, ApiKeyId(""), now)
            looked.append(_Look(Survey.of(draft, draft.read()), (), new.body_digest))
        except NotADocument as error:
            looked.append(_Look(None, error.problems))
    return looked


def _examine(
    receipts: Sequence[OpenReceipt], found: Sequence[tuple[TenantContext, Rates] | None], now: datetime
) -> list[tuple[list[Problem], Decimal | None]]:
    """Find the problems of documents, and their totals as they would be issued."""
    examined: list[tuple[list[Problem], Decimal | None]] = []
    for receipt, known in zip(receipts, found, strict=True):
        if known is None:
            examined.append(([], None))
            continue
        draft = _draft(receipt)
        made, problems = examine(draft, draft.read(), known[0], now, known[1])
        total = number(made.get("Encabezado.Totales.MontoTotal"))
        examined.append((problems, None if total is None or abs(total) >= _TOO_LARGE else cents(total)))
    return examined


def _admit(
    receipts: Sequence[OpenReceipt], work: ImportWork, api_key_id: ApiKeyId, now: datetime
) -> list[NewSubmission]:
    return [admit(_draft(receipt), work.tenant_id, work.environment, api_key_id, now) for receipt in receipts]
