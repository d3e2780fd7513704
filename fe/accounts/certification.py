"""The certification of a tenant: its path, its steps and going live, shared by portal and command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fe.accounts import audited_changes
from fe.accounts.audited_changes import Author
from fe.certification.going_live import LiveFacts, LiveItem, going_live
from fe.certification.steps import CertificationStep, next_step, steps_of
from fe.certification.to_do import ACTS, Act, with_act
from fe.ecf.catalogue import Environment
from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.store.portal.changes import ChangeAction
from fe.store.postgres.db import Conn
from fe.store.records import certificates, certification, keys, sequences
from fe.store.records.certification import (
    Certification,
    CertificationPath,
    CertificationRun,
    DoneStep,
    RunCase,
    RunKind,
    RunState,
)
from fe.store.records.tenants import Tenant

_ALL_DONE = Text(
    "All steps are done: the authority opens production, and gives sequences there.",
    "Todos los pasos están hechos: la DGII abre producción y autoriza secuencias allí.",
)
#: The kind of run of a step.
RUN_OF = {kind.step: kind for kind in RunKind}
_OF_A_RUN = {
    RunState.LOADED: Text("Check step {step}, then send it.", "Revise el paso {step} y luego envíelo."),
    RunState.SENDING: Text("Wait: step {step} is being sent.", "Espere: el paso {step} se está enviando."),
    RunState.SENT: Text(
        "All of step {step} is accepted: fetch the evidence, upload the files of its folder upload in the portal, if "
        "there are some, then tick the step off.",
        "Todo el paso {step} está aceptado: descargue la evidencia, suba en el portal los archivos de su carpeta "
        "upload, si los hay, y marque el paso.",
    ),
}


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is: the set of tests, the approvals or the simulation."""

    run: CertificationRun
    cases: Sequence[RunCase]

    @property
    def accepted(self) -> int:
        """Documents that are accepted."""
        return sum(case.is_through for case in self.cases)

    @property
    def doubtful(self) -> RunCase | None:
        """The document that was handed in and is not through."""
        return next((one for one in self.cases if one.submission_id is not None and not one.is_through), None)

    def stop(self, *, on_page: bool) -> Text | None:
        """Why it stopped, and what mends it on a page of the portal or at a terminal; None where it did not."""
        if self.run.state is not RunState.STOPPED:
            return None
        said = Text(self.run.stopped_en or "", self.run.stopped_es or "")
        if self.run.to_do is None:  # the release before wrote it, with the act
            return said
        act: Act = ACTS[self.run.to_do]
        return with_act(
            said, (act.page if on_page else act.command).fill(**certification.values_of(self.run.kind, self.doubtful))
        )

    def next_act(self, *, on_page: bool) -> Text | None:
        """The next act on it."""
        said = _OF_A_RUN.get(self.run.state)
        return self.stop(on_page=on_page) if said is None else said.fill(step=self.run.kind.step)


@dataclass(frozen=True, slots=True)
class CertificationProgress:
    """How far a tenant is."""

    begun: Certification | None
    done: Mapping[int, DoneStep]
    #: Present runs by their kind.
    runs: Mapping[RunKind, RunProgress]

    @property
    def path(self) -> CertificationPath:
        """The path that was chosen; until then own software."""
        return CertificationPath.OWN if self.begun is None else self.begun.path

    @property
    def steps(self) -> tuple[CertificationStep, ...]:
        """The steps of the path."""
        return steps_of(self.path)

    @property
    def following(self) -> CertificationStep | None:
        """The first step that is not done."""
        return next_step(self.path, self.done)

    @property
    def of_the_run(self) -> RunProgress | None:
        """The run of the step that is next; None where that has none."""
        return None if self.following is None else self.of_step(self.following.number)

    def of_step(self, step: int) -> RunProgress | None:
        """The run of a step; None where that has none."""
        return self.runs.get(RUN_OF[step]) if step in RUN_OF else None

    def to_do(self, *, on_page: bool) -> Text:
        """The next thing to do, in the portal or at a terminal."""
        if self.following is None:
            return _ALL_DONE
        run = self.of_the_run
        return (None if run is None else run.next_act(on_page=on_page)) or self.following.to_do


async def progress(conn: Conn, tenant_id: TenantId) -> CertificationProgress:
    """Read how far a tenant is."""
    begun = await certification.find(conn, tenant_id)
    done = {one.step: one for one in await certification.steps(conn, tenant_id)}
    runs = {}
    for kind in RunKind:
        if (run := await certification.open_run(conn, tenant_id, kind)) is not None:
            runs[kind] = RunProgress(run, await certification.cases(conn, tenant_id, run.run_id))
    return CertificationProgress(begun, done, runs)


async def choose_path(conn: Conn, by: Author, tenant: Tenant, path: CertificationPath) -> None:
    """Choose the path of a tenant. Run it in a transaction."""
    await certification.set_path(conn, tenant.tenant_id, path, by.at, by.by_whom)
    await audited_changes.note(conn, tenant, by, "certification path chosen", tenant.name, None, {"path": path.value})


async def tick(conn: Conn, by: Author, tenant: Tenant, step: int, note: str = "", *, undo: bool = False) -> bool:
    """Tick a step off, or take that back; False where it was so before. Run it in a transaction."""
    if undo:
        changed = await certification.untick(conn, tenant.tenant_id, step)
    else:
        changed = await certification.tick(conn, tenant.tenant_id, step, by.at, by.by_whom, note)
    if changed:
        action: ChangeAction = "certification step taken back" if undo else "certification step done"
        await audited_changes.note(conn, tenant, by, action, str(step), None, {"step": step, "note": note})
    return changed


async def checklist(conn: Conn, tenant_id: TenantId, now: datetime) -> list[LiveItem]:
    """List what going live takes, and what of it is there."""
    begun = await certification.find(conn, tenant_id)
    valid = [
        one.not_after for one in await certificates.in_use(conn, tenant_id) if one.not_before <= now < one.not_after
    ]
    given = {
        one.prefix
        for one in (each.at(now) for each in await sequences.listed(conn, tenant_id, Environment.ECF))
        if one.is_active and one.current_number <= one.max_number and (one.ends_at is None or now < one.ends_at)
    }
    return going_live(
        LiveFacts(
            path=CertificationPath.OWN if begun is None else begun.path,
            done={one.step for one in await certification.steps(conn, tenant_id)},
            certificate_until=max(valid, default=None),
            sequences=sorted(given),
            has_key=any(
                one.environment is Environment.ECF and one.active(now) for one in await keys.of_tenant(conn, tenant_id)
            ),
            has_accepted=await certification.was_accepted(conn, tenant_id, Environment.ECF),
        )
    )
