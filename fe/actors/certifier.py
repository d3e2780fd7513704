"""The certifier: does what people ask of the certification in the portal and what needs a key."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial

import structlog
import trio
from cryptography import x509

from fe.accounts.certification import RUN_OF
from fe.actors.credentials import CannotOpen, Opened, SigningCredentials
from fe.certification.address_checks import AddressCheck, EnteredAddresses
from fe.certification.case_set import BadSet
from fe.certification.portal_file import sign_portal_file
from fe.certification.reception_samples import ApprovedReceipt, approved_receipt
from fe.certification.to_do import on_page
from fe.clock import Clock
from fe.counterparty.address_check import AuthorityPart, check_addresses
from fe.ecf.json_text import write_canonical_json
from fe.ecf.texts import LocalizedError, Text
from fe.egress.client import Egress
from fe.identifiers import TenantId
from fe.issuing.certificate_choice import choose_certificate
from fe.issuing.certification_runs import Dispatch, check_set, signing_certificate, start
from fe.offload.pool import Apart
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.queue.inputs import Candidate
from fe.store.queue.wakeups import ACTS, Wakeups, any_of
from fe.store.records import certification, certification_tasks, tenant_context, tenants
from fe.store.records.certification import RunKind
from fe.store.records.certification_tasks import CertificationTask, TaskKind
from fe.store.records.tenants import Tenant

_log = structlog.get_logger(__name__)

#: How often it looks where no notification arrives.
_POLL_SECONDS = 5.0
_FAILED = Text("the service failed here: report it", "el servicio falló aquí: repórtelo")


#: Elements of the sender in a check of addresses.
_OF_SENDERS = ("RNCEmisor", "RazonSocialEmisor", "DireccionEmisor")

#: Sends the signed documents of a taxpayer to a simulated authority; returns an objection to each, None: accepted.
Rehearse = Callable[[Sequence[Dispatch], datetime, str], Awaitable[Sequence[str | None]]]


class Certifier:
    """Does one act after the other. Each may be done twice, and takes effect once."""

    def __init__(
        self,
        db: Database,
        credentials: SigningCredentials,
        apart: Apart,
        clock: Clock,
        wakeups: Wakeups,
        *,
        rehearse: Rehearse,
        egress: Egress,
        roots: Sequence[x509.Certificate] | None,
        scale: float,
        stopping: trio.Event,
    ) -> None:
        """Store the parts it works with."""
        self._db = db
        self._credentials = credentials
        self._apart = apart
        self._clock = clock
        self._wakeups = wakeups
        self._rehearse = rehearse
        self._egress = egress
        self._roots = roots
        self._poll_seconds = _POLL_SECONDS * scale
        self._stopping = stopping

    async def run(self) -> None:
        """Work until the service stops."""
        while not self._stopping.is_set():
            due = self._wakeups.event(ACTS)
            try:
                is_idle = not await self.step()
            except ANY_OF_THE_DATABASE as error:
                _log.warning("acts of the certification wait for the database", error=error)
                is_idle = True
            with trio.move_on_after(self._poll_seconds if is_idle else 0):
                await any_of(due, self._stopping)

    async def step(self) -> bool:
        """Do the oldest act; False when there is none."""
        task = await self._db.run(certification_tasks.take)
        if task is None:
            return False
        result, faults = None, list[Text]()
        try:
            result = await self._do(task)
        except BadSet as bad:
            faults = [fault.said for fault in bad.faults]
        except (LocalizedError, CannotOpen) as refused:
            faults = [on_page(refused) if isinstance(refused, LocalizedError) else refused.text]
        except ANY_OF_THE_DATABASE:
            raise
        except Exception as error:  # the next act is not to wait for it
            _log.error("an act of the certification failed", error=error, exc_info=error)
            faults = [_FAILED]
        await self._db.run(certification_tasks.finish, task.tenant_id, task.task_id, self._clock(), result, faults)
        return True

    async def _do(self, task: CertificationTask) -> bytes | None:
        tenant = await self._db.run_for(task.tenant_id, tenants.by_id)
        assert tenant is not None
        if task.kind is TaskKind.SIGN:
            return await self._sign(task, tenant)
        if task.kind is TaskKind.ADDRESSES:
            return await self._try_addresses(task, tenant)
        now, kind = self._clock(), RUN_OF[task.step]
        chosen = await signing_certificate(self._db, tenant, now, kind)
        opened = await self._opened(tenant, chosen)

        async def rehearse(documents: Sequence[Dispatch], now: datetime) -> Sequence[str | None]:
            return await self._rehearse(documents, now, str(tenant.issuer["RNCEmisor"]))

        run, _ = await check_set(
            self._db,
            self._apart,
            tenant,
            chosen,
            opened.signer,
            now,
            kind=kind,
            despite_doubts=bool(task.choices.get("despite_doubts")),
            authority=rehearse if kind is RunKind.SIMULATION else None,
        )
        if task.kind is TaskKind.SEND:
            await start(self._db, tenant, run, counted=task.choices.get("counted") or ())
        return None

    async def _sign(self, task: CertificationTask, tenant: Tenant) -> bytes:
        candidates = await self._db.run_for(tenant.tenant_id, tenant_context.candidates)
        as_user = task.choices.get("user") or None
        chosen = choose_certificate(candidates, as_user=as_user, as_user_id=None, now=self._clock())
        opened = await self._opened(tenant, chosen)
        rnc, holder = str(tenant.issuer.get("RNCEmisor", "")), str(opened.credential.holder_id)
        work = partial(sign_portal_file, task.content or b"", opened.signer, rnc=rnc, holder_id=holder)
        return await trio.to_thread.run_sync(work, limiter=self._credentials.threads)

    async def _try_addresses(self, task: CertificationTask, tenant: Tenant) -> bytes:
        now, rnc = self._clock(), str(tenant.issuer.get("RNCEmisor", ""))
        candidates = await self._db.run_for(tenant.tenant_id, tenant_context.candidates)
        chosen = choose_certificate(candidates, as_user=None, as_user_id=None, now=now)
        opened = await self._opened(tenant, chosen)
        sender = {name: str(tenant.issuer.get(name, "-")) for name in _OF_SENDERS}
        approved = await self._db.run_for(tenant.tenant_id, _accepted_receipt, rnc)
        part = AuthorityPart(opened.signer, sender, rnc, approved, self._roots)
        entered = EnteredAddresses(
            task.choices["reception"],
            task.choices.get("approval") or task.choices["reception"],
            task.choices.get("authentication") or None,
        )
        return write_canonical_json(
            [_shown(one) for one in await check_addresses(entered, part, self._egress, now=now)]
        )

    async def _opened(self, tenant: Tenant, chosen: Candidate) -> Opened:
        return await self._credentials.get(tenant.tenant_id, chosen.certificate_id)


async def _accepted_receipt(conn: Conn, tenant_id: TenantId, rnc: str) -> ApprovedReceipt | None:
    """Find a receipt of the set of tests that was accepted, and that a buyer may approve."""
    run = await certification.open_run(conn, tenant_id)
    cases = [] if run is None else await certification.cases(conn, tenant_id, run.run_id)
    through = [case.submission_id for case in cases if case.is_through and case.submission_id is not None]
    for documents in (await certification.documents(conn, tenant_id, through)).values():
        if "signed" in documents and (found := approved_receipt(documents["signed"], rnc)) is not None:
            return found
    return None


def _shown(check: AddressCheck) -> dict[str, object]:
    to_do = check.to_do or Text("", "")
    return {
        "step": check.step,
        "state": check.state.value,
        "title": [check.title.en, check.title.es],
        "says": [check.says.en, check.says.es],
        "to_do": [to_do.en, to_do.es],
    }
