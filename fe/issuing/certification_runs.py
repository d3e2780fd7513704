"""Sets of tests of the certification: loaded, rehearsed, and sent one document at a time.

A document is handed in under the clientRequestId `certification:{run}:{case}`, when the one before it is accepted. So
the accepting transaction decides that it is handed in once, and the engine that it is sent once
(docs/decisions/certification.md).
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
import trio

from fe.certification.case_set import BadSet, CaseSet, SetFault
from fe.certification.columns import ECF
from fe.clock import Clock
from fe.ecf.dates import local
from fe.ecf.ids import new_id
from fe.ecf.signature import Signer
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import CERTIFICATION_KEY, ClientRequestId, TenantId
from fe.issuing.accept import admit
from fe.issuing.certificate_choice import choose_certificate
from fe.issuing.certification import read_workbook, rehearse, require_sound
from fe.issuing.prepare import Draft
from fe.issuing.rates import rates_of
from fe.issuing.submitting import Submitting
from fe.lifecycle import NumberFate, Status
from fe.offload.pool import Apart, ApartFailed
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, TenantDisabled
from fe.store.queue.inputs import Candidate
from fe.store.records import certification, excise_rates, tenant_context
from fe.store.records.certification import ENVIRONMENT, CertificationRun, NewCase, RunCase, RunState
from fe.store.records.tenants import Tenant
from fe.workbooks.tables import UnreadableWorkbook

_log = structlog.get_logger(__name__)

#: How often a front looks whether a set is to be sent, and how often while one is.
_POLL_SECONDS, _SENDING_SECONDS = 5.0, 0.2
_TURN_SECONDS = 20.0
#: A certificate has to be valid for longer than a run takes.
_CERTIFICATE_LEFT = timedelta(days=2)

_TOO_MUCH = Text(
    "the workbook takes too much time or memory to read: download it again",
    "el archivo es demasiado pesado para leerlo: descárguelo otra vez",
)
_NO_SET = Text("no set is loaded: load the workbook of the portal", "no hay un set cargado: cargue el del portal")
_UNDER_WAY = Text("the set is being sent", "el set se está enviando")
_SENT = Text("the whole set was sent and accepted", "el set completo fue enviado y aceptado")
_WHOLE = Text(
    "the company sends consumer invoices whole: set its consumer summary to automatic first",
    "la empresa envía completas las facturas de consumo: ponga antes el resumen en automático",
)
_REHEARSE = Text("check the set first: nothing was sent", "revise primero el set: no se envió nada")
_DISABLED = Text("the company is disabled: enable it, then resume", "la empresa está desactivada: actívela y reanude")


class CannotRun(LocalizedError):
    """A set cannot be loaded or sent now, and what to do."""


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
    """Read and store a set in place of the present one; the same file again changes nothing.

    Raises UnreadableWorkbook, BadSet, and CannotRun where a set was sent in part and `replace` does not say that it is
    given up.
    """
    digest = hashlib.sha256(content).digest()
    cases = await _read(apart, tenant, content, now)
    present = await db.run(certification.open_run, tenant.tenant_id)
    if present is not None and present.digest == digest:
        return cases
    if await db.run(certification.is_known_file, tenant.tenant_id, digest):
        raise CannotRun(
            Text(
                "this set was replaced by another one before: download a new one",
                "este set ya fue reemplazado por otro: descargue uno nuevo",
            )
        )
    if present is not None:
        await _require_replaceable(db, tenant, present, replace=replace)
    await _require_unused(db, tenant, cases)
    new = [NewCase(case.name, case.e_ncf, case.summary is not None) for case in cases.cases]
    await db.transact(
        certification.load,
        tenant.tenant_id,
        new_id(now),
        new,
        at=now,
        by=by,
        name=name,
        digest=digest,
        content=content,
    )
    return cases


async def _read(apart: Apart, tenant: Tenant, content: bytes, now: datetime) -> CaseSet:
    issuer, today = str(tenant.issuer["RNCEmisor"]), local(now).date()
    try:
        return await apart.run(tenant.tenant_id, read_workbook, content, issuer, today, within=_TURN_SECONDS)
    except ApartFailed:
        raise UnreadableWorkbook(413, _TOO_MUCH) from None


async def _require_replaceable(db: Database, tenant: Tenant, present: CertificationRun, *, replace: bool) -> None:
    if present.state is RunState.SENDING:
        raise CannotRun(_UNDER_WAY)
    found = await db.run(certification.cases, tenant.tenant_id, present.run_id)
    begun = sum(case.submission_id is not None for case in found)
    if begun and not replace:
        day = f"{local(present.loaded_at):%d-%m-%Y}"
        raise CannotRun(
            Text(
                f"the set of {day} was sent in part, {begun} of {len(found)}. If the portal has a new set, and its "
                "counters are at 0, give the old one up (--replace).",
                f"el set del {day} fue enviado en parte, {begun} de {len(found)}. Si el portal tiene un set nuevo, con "
                "los contadores en 0, abandone el anterior (--replace).",
            )
        )


async def _require_unused(db: Database, tenant: Tenant, cases: CaseSet, own: Sequence[RunCase] = ()) -> None:
    """Refuse numbers that another submission has sent: the authority would reject them as used."""
    rows = {case.e_ncf: case.row for case in cases.cases}
    held = await db.run(certification.held, tenant.tenant_id, cases.issuer, list(rows))
    mine = {case.submission_id for case in own}
    faults = [
        SetFault(
            ECF,
            rows[number],
            "ENCF",
            Text(
                f"{number} was sent before, as submission {holder}: a number is used once. Generate a new set.",
                f"{number} ya fue enviado, como envío {holder}: un número se usa una vez. Genere un set nuevo.",
            ),
        )
        for number, holder in sorted(held.items())
        if holder not in mine
    ]
    if faults:
        raise BadSet(faults)


# -- check and send ----------------------------------------------------------------------------------------------------


async def signing_certificate(db: Database, tenant: Tenant, now: datetime) -> Candidate:
    """Choose the certificate that will sign the set. Raises NoCertificate, and CannotRun where it expires soon."""
    candidates = await db.run(tenant_context.candidates, tenant.tenant_id)
    chosen = choose_certificate(candidates, as_user=None, as_user_id=None, now=now)
    if chosen.not_after - now < _CERTIFICATE_LEFT:
        raise CannotRun(
            Text(
                f"the certificate expires on {chosen.not_after:%Y-%m-%d}, during the run: upload a new one first",
                f"el certificado vence el {chosen.not_after:%d-%m-%Y}, durante el envío: suba antes uno nuevo",
            )
        )
    return chosen


async def check_set(
    db: Database,
    apart: Apart,
    tenant: Tenant,
    chosen: Candidate,
    signer: Signer,
    now: datetime,
    *,
    despite_doubts: bool = False,
) -> tuple[CertificationRun, CaseSet]:
    """Rehearse the whole set with the certificate that will sign it, and keep its documents; nothing is sent.

    Raises CannotRun, UnreadableWorkbook, and BadSet with everything that is wrong.
    """
    run = await db.run(certification.open_run, tenant.tenant_id)
    if run is None:
        raise CannotRun(_NO_SET)
    if tenant.consumer_summary != "automatic":
        raise CannotRun(_WHOLE)
    content = await db.run(certification.content, tenant.tenant_id, run.run_id)
    cases = await _read(apart, tenant, content, now)
    stored = await db.run(certification.cases, tenant.tenant_id, run.run_id)
    await _require_unused(db, tenant, cases, stored)
    rates = rates_of(await db.run(excise_rates.listed))
    issuer: Mapping[str, Any] = {**tenant.issuer, **(chosen.issuer_override or {})}

    def work() -> dict[int, bytes]:
        done = rehearse(cases.cases, signer, issuer=issuer, now=now, rates=rates)
        require_sound(done, despite_doubts=despite_doubts)
        by_name = {one.case.name: one.original for one in done}
        return {case.place: by_name[case.name] for case in stored}

    originals = await trio.to_thread.run_sync(work)
    await db.run(certification.rehearsed, tenant.tenant_id, run.run_id, originals)
    return run, cases


async def start(db: Database, tenant: Tenant, run: CertificationRun, *, counted: Sequence[str] = ()) -> None:
    """Start to send a set that was checked, or go on with it.

    `counted` are numbers that a person saw counted in the portal. Raises CannotRun where the set cannot go on.
    """
    cases = await db.run(certification.cases, tenant.tenant_id, run.run_id)
    if run.state is RunState.SENT:
        raise CannotRun(_SENT)
    if unknown := set(counted) - {case.e_ncf for case in cases if case.submission_id is not None}:
        number = min(unknown)
        raise CannotRun(Text(f"{number} was not handed in", f"{number} no fue enviado"))
    for case in cases:
        if case.e_ncf in counted:
            await db.run(certification.confirm, tenant.tenant_id, run.run_id, case.place)
            continue
        if case.submission_id is None or case.is_through:
            continue
        if case.outcome.status is Status.ERROR and case.outcome.fate is NumberFate.REUSABLE:
            await db.run(certification.send_again, tenant.tenant_id, run.run_id, case.place, case.submission_id)
        elif (why := stop_of(case)) is not None:
            raise CannotRun(why)
    await db.run(certification.start, tenant.tenant_id, run.run_id)


def stop_of(case: RunCase) -> Text | None:
    """Say why a set stops at a case that was handed in, and what to do; None where it goes on or waits."""
    if case.is_through:
        return None
    said = _said(case.outcome.response)
    if case.outcome.status is Status.REJECTED:
        number = (
            Text("its number was not used", "su número no se usó")
            if case.outcome.fate is NumberFate.REUSABLE
            else Text("its number is used", "su número quedó usado")
        )
        return Text(
            f"{case.e_ncf} was rejected: {said}; {number.en}. The portal's counters fall back: correct the cause, "
            "generate a new set there, and load it.",
            f"{case.e_ncf} fue rechazado: {said}; {number.es}. Los contadores del portal retroceden: corrija la causa, "
            "genere allí un set nuevo y cárguelo.",
        )
    if case.outcome.status is Status.CONDITIONAL:
        return Text(
            f"{case.e_ncf} was accepted with remarks: {said}. Look whether the portal counts it; if so, resume with "
            f"--counted {case.e_ncf}.",
            f"{case.e_ncf} quedó aceptado condicional: {said}. Vea si el portal lo cuenta; si es así, reanude con "
            f"--counted {case.e_ncf}.",
        )
    if case.outcome.status is Status.ERROR:
        return Text(
            f"{case.e_ncf} was not accepted for sending: {said}. Mend the cause, then resume.",
            f"{case.e_ncf} no se envió: {said}. Corrija la causa y luego reanude.",
        )
    if case.outcome.is_dead:
        return Text(
            f"it is not known whether {case.e_ncf} arrived. Look at the portal's counter: if it counts it, resume with "
            f"--counted {case.e_ncf}; if not, replay {case.submission_id} (`fe outbox replay`), then resume.",
            f"no se sabe si {case.e_ncf} llegó. Vea el contador del portal: si lo cuenta, reanude con --counted "
            f"{case.e_ncf}; si no, repita {case.submission_id} (`fe outbox replay`) y luego reanude.",
        )
    return None


def _said(response: Mapping[str, Any] | None) -> str:
    """The authority's words about a document, or ours."""
    response = response or {}
    messages = [
        f"{one.get('valor')} ({one.get('codigo')})"
        for one in response.get("mensajes") or ()
        if isinstance(one, Mapping)
    ]
    return "; ".join(messages) or str(response.get("error") or response.get("estado") or "-")


class CertificationRunner:
    """Hands in the next document of each set when the one before it is accepted. One per front."""

    def __init__(self, db: Database, submitting: Submitting, clock: Clock) -> None:
        """Store the parts it works with."""
        self._db = db
        self._submitting = submitting
        self._clock = clock

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            try:
                is_sending = await self.step()
            except ANY_OF_THE_DATABASE as error:
                _log.warning("certifications wait for the database", error=error)
                is_sending = False
            await trio.sleep(_SENDING_SECONDS if is_sending else _POLL_SECONDS)

    async def step(self) -> bool:
        """Take each set that is being sent one document further; False when there is none."""
        sending = await self._db.run(certification.at_work)
        for tenant_id, run_id in sending:
            await self._advance(tenant_id, run_id)
        return bool(sending)

    async def _advance(self, tenant_id: TenantId, run_id: UUID) -> None:
        for case in await self._db.run_for(tenant_id, certification.cases, run_id):
            if case.submission_id is None:
                why = await self._hand_in(tenant_id, run_id, case)
            elif case.is_through:
                continue
            else:
                why = stop_of(case)
            if why is not None:
                _log.warning("a certification stopped", tenant_id=tenant_id, run=str(run_id), e_ncf=case.e_ncf)
                await self._db.run_for(tenant_id, certification.end, run_id, RunState.STOPPED, why.en, why.es)
            return
        await self._db.run_for(tenant_id, certification.end, run_id, RunState.SENT)

    async def _hand_in(self, tenant_id: TenantId, run_id: UUID, case: RunCase) -> Text | None:
        original = await self._db.run_for(tenant_id, certification.original, run_id, case.place)
        if original is None:
            return _REHEARSE
        now = self._clock()
        draft = Draft("xml", xml=original.decode(), client_request_id=request_id(run_id, case))
        new = await trio.to_thread.run_sync(
            admit, draft, tenant_id, ENVIRONMENT, CERTIFICATION_KEY, now, limiter=self._submitting.threads
        )
        try:
            accepted = await self._submitting.acceptance.accept(new, now)
        except TenantDisabled:
            return _DISABLED
        if not accepted.body_matched:
            return Text(
                f"another document was handed in for {case.e_ncf}: load the set again with --replace",
                f"se envió otro documento para {case.e_ncf}: cargue el set otra vez con --replace",
            )
        await self._db.run_for(tenant_id, certification.handed_in, run_id, case.place, accepted.submission_id)
        self._submitting.note(accepted, new, f"certification:{run_id}")
        return None
