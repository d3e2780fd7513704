"""Runs of the certification: loaded or planned, rehearsed, and sent one document at a time.

A run is the set of tests, the set of approvals, or the simulation.

A document is handed in under the clientRequestId `certification:{run}:{case}`, when the one before it is accepted. So
the accepting transaction decides that it is handed in once, and the engine that it is sent once
(docs/decisions/certification.md).
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import structlog
import trio

from fe.certification.case_set import BadSet, CaseSet, SetFault
from fe.certification.to_do import CannotRun, Stop, ToDo
from fe.clock import Clock
from fe.ecf.catalogue import Root
from fe.ecf.dates import local
from fe.ecf.document import NotADocument
from fe.ecf.ids import new_id
from fe.ecf.signature import Signer
from fe.ecf.taxes import Rates
from fe.ecf.texts import Text
from fe.identifiers import CERTIFICATION_KEY, ClientRequestId, SubmissionId, TenantId
from fe.issuing import certification_simulation as simulation
from fe.issuing.accept import admit
from fe.issuing.certificate_choice import NoCertificate, OutOfTime, choose_certificate
from fe.issuing.certification import Rehearsed, read_workbook, rehearse, require_sound
from fe.issuing.prepare import Draft
from fe.issuing.rates import rates_of
from fe.issuing.submitting import Submitting
from fe.lifecycle import NumberFate, Status
from fe.offload.pool import Apart, ApartFailed
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, TenantDisabled
from fe.store.queue.inputs import Candidate
from fe.store.queue.wakeups import RUNS, Wakeups, any_of
from fe.store.records import certification, excise_rates, tenant_context
from fe.store.records.certification import (
    ENVIRONMENT,
    CertificationRun,
    NewCase,
    RunCase,
    RunKind,
    RunState,
    RunUnderWay,
)
from fe.store.records.tenants import Tenant
from fe.store.records.verdict_notices import VerdictNotices
from fe.workbooks.tables import UnreadableWorkbook

_log = structlog.get_logger(__name__)

#: How often a front looks whether a run is to be sent, and whether its document has ended, where no notice arrives.
_POLL_SECONDS, _SENDING_SECONDS = 5.0, 1.0
_TURN_SECONDS = 20.0
#: A certificate has to be valid for longer than a run takes.
_CERTIFICATE_LEFT = timedelta(days=2)

_TOO_MUCH = Text(
    "the workbook took too much time or memory to read: load it again; if it stays so, download it again",
    "leer el archivo tomó demasiado tiempo o memoria: cárguelo otra vez; si se repite, descárguelo otra vez",
)
_NO_SET = Text("no set is loaded", "no hay un set cargado")
_NO_PLAN = Text("no simulation is planned", "no hay una simulación planificada")
#: Names of runs in sentences.
_NAMES = {
    RunKind.SET: Text("the set", "el set"),
    RunKind.APPROVALS: Text("the set of approvals", "el set de aprobaciones"),
    RunKind.SIMULATION: Text("the simulation", "la simulación"),
}
UNDER_WAY = Text("it is being sent: wait until it ends", "se está enviando: espere a que termine")
_SENT = Text(
    "all of it was sent and accepted: fetch the evidence, then tick the step off",
    "todo fue enviado y aceptado: descargue el expediente y marque el paso como hecho",
)
_WHOLE = Text("the company sends consumer invoices whole", "la empresa envía completas las facturas de consumo")
_REHEARSE = Stop(
    Text("the documents were not checked, and none was sent", "los documentos no fueron revisados y ninguno se envió"),
    ToDo.CHECK,
)
_ANOTHER_DAY = Stop(
    Text(
        "another day began: the receipts that are left get its date",
        "empezó otro día: los comprobantes que faltan llevarán su fecha",
    ),
    ToDo.GO_ON,
)
_DISABLED = Stop(Text("the company is disabled", "la empresa está desactivada"), ToDo.ENABLE)


#: Work of a person after a rejection, by kind of run.
_USED = Text("; its number is used", "; su número quedó usado")
_NOT_USED = Text("; its number was not used", "; su número no se usó")
_AFTER_REJECTION = {
    RunKind.SET: ToDo.NEW_SET,
    RunKind.APPROVALS: ToDo.NEW_SET,
    RunKind.SIMULATION: ToDo.NEW_PLAN,
}

#: A document as the authority gets it: its root, its number and its bytes.
Dispatch = tuple[Root, str, bytes]
#: Sends a whole run to a simulated authority; returns an objection to each document, None where it was accepted.
RehearseAtAuthority = Callable[[Sequence[Dispatch], datetime], Awaitable[Sequence[str | None]]]


def request_id(run_id: UUID, case: RunCase) -> ClientRequestId:
    """Return the clientRequestId of a case; an attempt that ended before anything was sent gets another."""
    attempt = f":{case.attempt}" if case.attempt > 1 else ""
    return ClientRequestId(f"certification:{run_id}:{case.name}{attempt}")


# -- load --------------------------------------------------------------------------------------------------------------


async def load(
    db: Database,
    apart: Apart,
    tenant: Tenant,
    content: bytes,
    name: str,
    *,
    by: str,
    now: datetime,
    replace: bool = False,
) -> CaseSet:
    """Read and store the set of a workbook, of tests or of approvals, in place of the present one.

    The same file again changes nothing.

    Raises UnreadableWorkbook, BadSet, and CannotRun where a set was sent in part and `replace` does not say that it is
    given up.
    """
    digest = hashlib.sha256(content).digest()
    cases = await _read(apart, tenant, content, now)
    kind = kind_of(cases)
    present = await db.run_for(tenant.tenant_id, certification.open_run, kind)
    if present is not None and present.digest == digest:
        return cases
    if await db.run_for(tenant.tenant_id, certification.is_known_file, digest):
        raise CannotRun(
            Text(
                "this set was replaced by another one before: download a new one",
                "este set ya fue reemplazado por otro: descargue uno nuevo",
            )
        )
    if present is not None:
        await require_replaceable(db, tenant, present, replace=replace)
    if kind is RunKind.SET:
        await _require_unused(db, tenant, cases)
    new = [NewCase(case.name, case.e_ncf, case.summary is not None) for case in cases.cases]
    try:
        await db.transact_for(
            tenant.tenant_id,
            certification.load,
            tenant.tenant_id,
            new_id(now),
            new,
            kind=kind,
            at=now,
            by=by,
            name=name,
            digest=digest,
            content=content,
        )
    except RunUnderWay:  # another person was faster
        raise CannotRun(UNDER_WAY) from None
    return cases


def kind_of(cases: CaseSet) -> RunKind:
    """Return the kind of a set that was read."""
    return RunKind.APPROVALS if cases.cases[0].root is Root.ACECF else RunKind.SET


async def _read(apart: Apart, tenant: Tenant, content: bytes, now: datetime) -> CaseSet:
    issuer, today = str(tenant.issuer["RNCEmisor"]), local(now).date()
    try:
        return await apart.run(tenant.tenant_id, read_workbook, content, issuer, today, within=_TURN_SECONDS)
    except ApartFailed:
        raise UnreadableWorkbook(413, _TOO_MUCH) from None


async def require_replaceable(db: Database, tenant: Tenant, present: CertificationRun, *, replace: bool) -> None:
    """Raise CannotRun where a run was sent in part, and `replace` does not say that it is given up."""
    if present.state is RunState.SENDING:
        raise CannotRun(UNDER_WAY)
    found = await db.run_for(tenant.tenant_id, certification.cases, present.run_id)
    begun = sum(case.submission_id is not None for case in found)
    if begun and not replace:
        day, name = f"{local(present.loaded_at):%d-%m-%Y}", _NAMES[present.kind]
        raise CannotRun(
            Text(
                f"{name.en} of {day} was sent in part, {begun} of {len(found)}",
                f"{name.es} del {day} fue enviado en parte, {begun} de {len(found)}",
            ),
            ToDo.GIVE_UP,
        )


async def _require_unused(db: Database, tenant: Tenant, cases: CaseSet, own: Sequence[RunCase] = ()) -> None:
    """Refuse numbers that another submission has sent: the authority would reject them as used."""
    rows = {case.e_ncf: (case.sheet, case.row) for case in cases.cases}
    is_planned = any(case.sheet == simulation.SHEET for case in cases.cases)
    then = (
        Text("Plan the simulation again.", "Planifique otra vez la simulación.")
        if is_planned
        else Text("Generate a new set.", "Genere un set nuevo.")
    )
    held = await db.run_for(tenant.tenant_id, certification.held, cases.issuer, list(rows))
    mine = {case.submission_id for case in own}
    faults = [
        SetFault(
            *rows[number],
            "ENCF",
            Text(
                f"{number} was sent before, as submission {holder}: a number is used once. {then.en}",
                f"{number} ya fue enviado, como envío {holder}: un número se usa una vez. {then.es}",
            ),
        )
        for number, holder in sorted(held.items())
        if holder not in mine
    ]
    if faults:
        raise BadSet(faults)


async def _require_first_word(db: Database, tenant: Tenant, cases: CaseSet, own: Sequence[RunCase]) -> list[SetFault]:
    """Doubt approvals that a set sent before: whether the authority takes a second word is not known."""
    handed_in = await db.run_for(tenant.tenant_id, certification.approved, [case.name for case in cases.cases])
    mine = {case.submission_id for case in own}
    return [
        SetFault(
            case.sheet,
            case.row,
            "eNCF",
            Text(
                f"{case.e_ncf} was answered before, as submission {handed_in[case.name]}: look whether the portal "
                "counts it",
                f"{case.e_ncf} ya fue respondido, como envío {handed_in[case.name]}: vea si el portal lo cuenta",
            ),
            is_certain=False,
        )
        for case in cases.cases
        if handed_in.get(case.name) not in mine | {None}
    ]


# -- check and send ----------------------------------------------------------------------------------------------------


async def signing_certificate(db: Database, tenant: Tenant, now: datetime, kind: RunKind = RunKind.SET) -> Candidate:
    """Choose the certificate that will sign a run. Raises CannotRun where there is none, or it expires soon."""
    candidates = await db.run_for(tenant.tenant_id, tenant_context.candidates)
    try:
        chosen = choose_certificate(candidates, as_user=None, as_user_id=None, now=now)
    except NoCertificate as none:
        raise CannotRun(_of_certificate(none), ToDo.CERTIFICATE, step=kind.step) from None
    if chosen.not_after - now < _CERTIFICATE_LEFT:
        ends = local(chosen.not_after)
        raise CannotRun(
            Text(
                f"the certificate expires on {ends:%Y-%m-%d}, during the run",
                f"el certificado vence el {ends:%d-%m-%Y}, durante el envío",
            ),
            ToDo.CERTIFICATE,
            step=kind.step,
        )
    return chosen


def _of_certificate(none: NoCertificate) -> Text:
    """Say why no certificate signs."""
    if not isinstance(none, OutOfTime):
        return none.text
    first, last = local(none.not_before), local(none.not_after)
    return Text(
        f"the certificate has expired, or is not valid yet (valid {first:%Y-%m-%d} to {last:%Y-%m-%d})",
        f"el certificado venció o aún no es válido (válido del {first:%d-%m-%Y} al {last:%d-%m-%Y})",
    )


async def check_set(
    db: Database,
    apart: Apart,
    tenant: Tenant,
    chosen: Candidate,
    signer: Signer,
    now: datetime,
    *,
    kind: RunKind = RunKind.SET,
    despite_doubts: bool = False,
    authority: RehearseAtAuthority | None = None,
) -> tuple[CertificationRun, CaseSet]:
    """Rehearse a whole run with the certificate that will sign it, and keep its documents; nothing is sent.

    `authority` is a simulated one that gets the signed documents in their order. Raises CannotRun, UnreadableWorkbook,
    and BadSet with everything that is wrong.
    """
    run = await db.run_for(tenant.tenant_id, certification.open_run, kind)
    if run is None:
        raise CannotRun(_NO_PLAN, ToDo.PLAN) if kind is RunKind.SIMULATION else CannotRun(_NO_SET, ToDo.LOAD)
    if tenant.consumer_summary != "automatic":
        raise CannotRun(_WHOLE, ToDo.SUMMARY)
    content = await db.run_for(tenant.tenant_id, certification.content, run.run_id)
    stored = await db.run_for(tenant.tenant_id, certification.cases, run.run_id)
    rates = rates_of(await db.run(excise_rates.listed))
    issuer: Mapping[str, Any] = {**tenant.issuer, **(chosen.issuer_override or {})}
    if kind is RunKind.SIMULATION:
        cases = await _planned(db, tenant, run, content, stored, issuer=issuer, now=now, rates=rates)
    else:
        cases = await _read(apart, tenant, content, now)
    doubts = list[SetFault]()
    if kind is RunKind.APPROVALS:
        doubts = await _require_first_word(db, tenant, cases, stored)
    else:
        await _require_unused(db, tenant, cases, stored)
    done = await trio.to_thread.run_sync(partial(rehearse, cases.cases, signer, issuer=issuer, now=now, rates=rates))
    require_sound(done, doubts, despite_doubts=despite_doubts)
    if authority is not None:
        require_sound(done, await _at_authority(authority, done, now))
    by_name = {one.case.name: one.original for one in done}
    originals = {case.place: by_name[case.name] for case in stored}
    await db.run_for(tenant.tenant_id, certification.rehearsed, run.run_id, originals)
    return run, cases


async def _planned(
    db: Database,
    tenant: Tenant,
    run: CertificationRun,
    content: bytes,
    stored: Sequence[RunCase],
    *,
    issuer: Mapping[str, Any],
    now: datetime,
    rates: Rates,
) -> CaseSet:
    """Make the documents of a plan; those that were handed in stay as they are."""
    sent = dict[str, bytes]()
    for case in stored:
        if case.submission_id is not None:
            original = await db.run_for(tenant.tenant_id, certification.original, run.run_id, case.place)
            assert original is not None
            sent[case.e_ncf] = original
    planned = simulation.read_plan(content)
    try:
        made = simulation.cases_of(planned, issuer=issuer, now=now, rates=rates, sent=sent)
    except NotADocument as error:
        faults = [
            SetFault(simulation.SHEET, None, one.path, Text(one.message, one.message_es)) for one in error.problems
        ]
        raise BadSet(faults) from None
    return CaseSet(str(tenant.issuer["RNCEmisor"]), made)


async def _at_authority(authority: RehearseAtAuthority, done: Sequence[Rehearsed], now: datetime) -> list[SetFault]:
    """Report the first document that the simulated authority would not accept: behind it the counters are at 0."""
    sent = [
        (Root.RFCE, one.case.name, one.summary)
        if one.summary is not None
        else (one.case.root, one.case.name, one.signed)
        for one in done
    ]
    for one, objection in zip(done, await authority(sent, now), strict=True):
        if objection is not None:
            text = Text(
                f"{one.case.e_ncf}: the rehearsal rejects it and the counters would be at 0: {objection}",
                f"{one.case.e_ncf}: el ensayo lo rechaza y los contadores quedarían en 0: {objection}",
            )
            return [SetFault(one.case.sheet, one.case.row, None, text)]
    return []


async def start(db: Database, tenant: Tenant, run: CertificationRun, *, counted: Sequence[str] = ()) -> None:
    """Start to send a run that was checked, or go on with it.

    `counted` are numbers that a person saw counted in the portal. Raises CannotRun where the set cannot go on.
    """
    cases = await db.run_for(tenant.tenant_id, certification.cases, run.run_id)
    if run.state is RunState.SENT:
        raise CannotRun(_SENT)
    if unknown := set(counted) - {case.e_ncf for case in cases if case.submission_id is not None}:
        number = min(unknown)
        raise CannotRun(Text(f"{number} was not handed in", f"{number} no fue enviado"))
    for case in cases:
        if case.e_ncf in counted:
            await db.run_for(tenant.tenant_id, certification.confirm, run.run_id, case.place)
            continue
        if case.submission_id is None or case.is_through:
            continue
        if case.outcome.status is Status.ERROR and case.outcome.fate is NumberFate.REUSABLE:
            await db.run_for(tenant.tenant_id, certification.send_again, run.run_id, case.place, case.submission_id)
        elif (stop := stop_of(case, run.kind)) is not None:
            raise CannotRun(stop.said, stop.to_do, **certification.values_of(run.kind, case))
    await db.run_for(tenant.tenant_id, certification.start, run.run_id)


def stop_of(case: RunCase, kind: RunKind) -> Stop | None:
    """Say why a run stops at a case that was handed in; None where it goes on or waits."""
    if case.is_through:
        return None
    said, number = _said(case.outcome.response), case.e_ncf
    if case.outcome.status is Status.REJECTED:
        fate = Text("", "")
        if kind is not RunKind.APPROVALS:
            is_free = case.outcome.fate is NumberFate.REUSABLE
            fate = _NOT_USED if is_free else _USED
        text = Text(
            f"{number} was rejected: {said}{fate.en}. The portal's counters fall back.",
            f"{number} fue rechazado: {said}{fate.es}. Los contadores del portal retroceden.",
        )
        return Stop(text, _AFTER_REJECTION[kind])
    if case.outcome.status is Status.CONDITIONAL:
        text = Text(f"{number} was accepted with remarks: {said}.", f"{number} quedó aceptado condicional: {said}.")
        return Stop(text, ToDo.SEE_COUNTER)
    if case.outcome.status is Status.ERROR:
        return Stop(
            Text(f"{number} was not accepted for sending: {said}.", f"{number} no se envió: {said}."), ToDo.MEND
        )
    if case.outcome.is_dead:
        text = Text(f"it is not known whether {number} arrived.", f"no se sabe si {number} llegó.")
        return Stop(text, ToDo.SETTLE_DOUBT)
    return None


def _said(response: Mapping[str, Any] | None) -> str:
    """The authority's words about a document, or ours."""
    response = response or {}
    messages = [
        f"{one.get('valor')} ({one['codigo']})" if one.get("codigo") else str(one.get("valor"))
        for one in response.get("mensajes") or ()
        if isinstance(one, Mapping)
    ]
    return ("; ".join(messages) or str(response.get("error") or response.get("estado") or "-")).rstrip(".")


class CertificationRunner:
    """Hands in the next document of each run when the one before it is accepted. One per front."""

    def __init__(
        self, db: Database, submitting: Submitting, clock: Clock, wakeups: Wakeups, verdicts: VerdictNotices
    ) -> None:
        """Store the parts it works with."""
        self._db = db
        self._submitting = submitting
        self._clock = clock
        self._wakeups = wakeups
        self._verdicts = verdicts

    async def run(self) -> None:
        """Work until cancelled: at the start of a run, and at the verdict of its document."""
        waiting = frozenset[SubmissionId]()
        while True:
            due = self._wakeups.event(RUNS)
            with ExitStack() as taken:
                verdicts = [taken.enter_context(self._verdicts.event(one)) for one in waiting]
                before = waiting
                try:
                    waiting = await self.step()
                except ANY_OF_THE_DATABASE as error:
                    _log.warning("certifications wait for the database", error=error)
                if waiting == before:
                    with trio.move_on_after(_SENDING_SECONDS if waiting else _POLL_SECONDS):
                        await any_of(due, *verdicts)

    async def step(self) -> frozenset[SubmissionId]:
        """Take each run that is being sent one document further; return the submissions that it waits for."""
        waiting = set[SubmissionId]()
        for tenant_id, run_id, kind in await self._db.run(certification.at_work):
            if (submission_id := await self._advance(tenant_id, run_id, kind)) is not None:
                waiting.add(submission_id)
        return frozenset(waiting)

    async def _advance(self, tenant_id: TenantId, run_id: UUID, kind: RunKind) -> SubmissionId | None:
        """Hand in the next document of a run, or end it; return the submission that it waits for."""
        for case in await self._db.run_for(tenant_id, certification.cases, run_id):
            if case.is_through:
                continue
            if case.submission_id is None:
                found = await self._hand_in(tenant_id, run_id, kind, case)
            else:
                found = stop_of(case, kind) or case.submission_id
            if isinstance(found, Stop):
                _log.warning("a certification stopped", tenant_id=tenant_id, run=str(run_id), e_ncf=case.e_ncf)
                await self._db.run_for(tenant_id, certification.end, run_id, RunState.STOPPED, found)
                return None
            return found
        await self._db.run_for(tenant_id, certification.end, run_id, RunState.SENT)
        return None

    async def _hand_in(self, tenant_id: TenantId, run_id: UUID, kind: RunKind, case: RunCase) -> SubmissionId | Stop:
        original = await self._db.run_for(tenant_id, certification.original, run_id, case.place)
        if original is None:
            return _REHEARSE
        now = self._clock()
        if kind is RunKind.SIMULATION and not simulation.is_of_today(original, now):
            return _ANOTHER_DAY
        if (stop := await self._without_certificate(tenant_id, now)) is not None:
            return stop
        draft = Draft("xml", xml=original.decode(), client_request_id=request_id(run_id, case))
        new = await trio.to_thread.run_sync(
            admit, draft, tenant_id, ENVIRONMENT, CERTIFICATION_KEY, now, limiter=self._submitting.threads
        )
        try:
            accepted = await self._submitting.acceptance.accept(new, now)
        except TenantDisabled:
            return _DISABLED
        if not accepted.body_matched:
            text = Text(
                f"another document was handed in for {case.e_ncf}", f"se envió otro documento para {case.e_ncf}"
            )
            return Stop(text, _AFTER_REJECTION[kind])
        await self._db.run_for(tenant_id, certification.handed_in, run_id, case.place, accepted.submission_id)
        self._submitting.note(accepted, new, f"certification:{run_id}")
        return accepted.submission_id

    async def _without_certificate(self, tenant_id: TenantId, now: datetime) -> Stop | None:
        """Stop before a document is handed in that no certificate can sign: it expired between two documents."""
        try:
            candidates = await self._db.run_for(tenant_id, tenant_context.candidates)
            choose_certificate(candidates, as_user=None, as_user_id=None, now=now)
        except NoCertificate as none:
            return Stop(_of_certificate(none), ToDo.CERTIFICATE)
        return None
