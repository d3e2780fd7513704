"""`fe certification`: take a tenant through the authority's certification."""

import math
import zipfile
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
import trio

from fe import __version__
from fe.accounts import audited_changes, provision
from fe.accounts.certification import (
    RUN_OF,
    CertificationProgress,
    RunProgress,
    checklist,
    choose_path,
    progress,
    tick,
)
from fe.certification.case_set import BadSet, CaseSet
from fe.certification.going_live import LiveItem, is_live
from fe.certification.portal_file import sign_portal_file, step_of
from fe.certification.steps import BY_NUMBER, DELEGATION
from fe.cli.certification_addresses import addresses, open_certificate
from fe.cli.failures import NO_VERDICT, Failure
from fe.cli.operator_options import author, by_option
from fe.cli.printing import form, json_option, moment, print_json, print_result
from fe.cli.session import run_query, run_transaction, settings_with_database, tenant_option, with_database
from fe.clock import system_clock
from fe.config import Settings
from fe.ecf.ids import new_id
from fe.issuing.certificate_choice import choose_certificate
from fe.issuing.certification_plan import SimulationPlan, plan_simulation
from fe.issuing.certification_prints import PrintedCase, print_simulation, printed_so_far
from fe.issuing.certification_runs import (
    Dispatch,
    check_set,
    kind_of,
    load,
    signing_certificate,
    start,
)
from fe.lifecycle import FINAL
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.operations.certification_evidence import CertificationEvidence, evidence, whole_evidence
from fe.operations.dossier import DossierDays, dossier, read_proofs
from fe.simulator.certification import RehearsedRun, rehearse_run
from fe.store.postgres.db import Conn, Database
from fe.store.records import certification as records
from fe.store.records import certification_tasks, tenant_context
from fe.store.records.certification import CertificationPath, CertificationRun, RunCase, RunKind, RunState
from fe.store.records.statistics import performance
from fe.store.records.tenants import Tenant

T = TypeVar("T")

_FAULTS = 20
_LOOK_SECONDS = 0.25
#: The next command for a run in each state.
_OF_A_RUN = {RunState.LOADED: "fe certification check", RunState.SENT: "fe certification evidence"}

step_option = click.option(
    "--step",
    type=click.Choice([str(step) for step in RUN_OF]),
    default="2",
    show_default=True,
    callback=lambda _ctx, _param, value: RUN_OF[int(value)],
    help="2: the set of tests; 3: the set of approvals; 4: the simulation.",
)


@click.group()
def certification() -> None:
    """Take a tenant through the authority's certification: its steps, and the documents of steps 2 to 5."""


certification.add_command(addresses)


@certification.command()
@tenant_option
@json_option
def status(tenant_name: str, as_json: bool) -> None:
    """Show the path, the steps, what was sent in them, and what to do next."""

    async def work(db: Database) -> dict[str, Any]:
        owner = await db.run(provision.find_tenant, tenant_name)
        return await _status(db, owner)

    found = with_database(settings_with_database(), work)
    if as_json:
        print_json(form(found))
        return
    click.echo(f"{found['tenant']}: path {found['path']}, since {moment(found['since']) or '-'}")
    for step in found["steps"]:
        done = f"done {moment(step['doneAt'])} by {step['doneBy']}" if step["doneAt"] else "to do"
        click.echo(f"  {step['step']:>2}  {step['name']:<34}  {done}")
    for kind in RunKind:
        if (run := found[kind]) is not None:
            click.echo(f"{kind} {run['file']}: {run['state']}, {run['accepted']} of {run['cases']} accepted")
    click.echo(f"next: {found['next']}")


async def _status(db: Database, owner: Tenant) -> dict[str, Any]:
    found = await db.run_for(owner.tenant_id, progress)
    return {
        "tenant": owner.name,
        "path": found.path,
        "since": None if found.begun is None else found.begun.begun_at,
        "steps": [
            {
                "step": step.number,
                "name": step.name.en,
                "toDo": step.with_command,
                "doneAt": found.done[step.number].done_at if step.number in found.done else None,
                "doneBy": found.done[step.number].done_by if step.number in found.done else None,
                "note": found.done[step.number].note if step.number in found.done else None,
            }
            for step in found.steps
        ],
        **{kind.value: _shown(found.runs.get(kind)) for kind in RunKind},
        "next": _next(found),
    }


def _shown(found: RunProgress | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "file": found.run.name,
        "state": found.run.state,
        "loadedAt": found.run.loaded_at,
        "loadedBy": found.run.loaded_by,
        "cases": len(found.cases),
        "accepted": found.accepted,
        "stopped": _stopped(found),
    }


def _stopped(found: RunProgress) -> str | None:
    """Why a run stopped, with the commands that mend it."""
    stop = found.stop(on_page=False)
    return None if stop is None else stop.en


def _next(found: CertificationProgress) -> str:
    """The next thing to do, with its command."""
    to_do, following = found.to_do(on_page=False), found.following
    if (run := found.of_the_run) is not None and run.next_act(on_page=False) is not None:
        command = _OF_A_RUN.get(run.run.state)
        step = "" if run.run.kind is RunKind.SET else f" --step {run.run.kind.step}"
        return to_do.en if command is None else f"{to_do.en} Command: `{command}{step}`."
    if following is None:
        return f"{to_do.en} Command: `fe certification live`."
    return f"step {following.number}, {following.name.en}: {following.with_command}"


@certification.command("path")
@click.argument("path", type=click.Choice([one.value for one in CertificationPath]))
@tenant_option
@by_option
@json_option
def path_(path: str, tenant_name: str, by_whom: str, as_json: bool) -> None:
    """Choose the PATH: `own` software, or under a certified `provider`."""
    by = author(by_whom)

    async def task(conn: Conn) -> Tenant:
        owner = await provision.find_tenant(conn, tenant_name)
        await choose_path(conn, by, owner, CertificationPath(path))
        return owner

    owner = run_transaction(task)
    print_result(f"{owner.name} is certified on the path {path}", {"tenant": owner.name, "path": path}, as_json=as_json)


@certification.command()
@click.argument("step", type=click.IntRange(1, DELEGATION.number))
@tenant_option
@click.option("--note", default="", metavar="TEXT", help="What was seen in the portal; kept with the step.")
@click.option("--undo", is_flag=True, help="Take it back: the authority returned the step.")
@by_option
@json_option
def done(step: int, tenant_name: str, note: str, undo: bool, by_whom: str, as_json: bool) -> None:
    """Tick STEP off, which a person did in the authority's portal."""
    by = author(by_whom)

    async def task(conn: Conn) -> bool:
        return await tick(conn, by, await provision.find_tenant(conn, tenant_name), step, note, undo=undo)

    changed = run_transaction(task)
    words = "taken back" if undo else "done"
    said = f"step {step}, {BY_NUMBER[step].name.en}: {words}" if changed else f"step {step} was {words} before"
    print_result(said, {"step": step, "done": not undo, "changed": changed}, as_json=as_json)


@certification.command("load")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@tenant_option
@click.option("--replace", is_flag=True, help="Give up a set that was sent in part: the portal has a new one.")
@by_option
@json_option
def load_(file: Path, tenant_name: str, replace: bool, by_whom: str, as_json: bool) -> None:
    """Load the workbook FILE of step 2 or 3 as downloaded. Nothing is sent."""
    content, by = file.read_bytes(), author(by_whom)

    async def work(db: Database) -> CaseSet:
        owner = await db.run(provision.find_tenant, tenant_name)
        with _telling_faults():
            cases = await load(
                db, _Here(1, Metrics()), owner, content, file.name, by=by.by_whom, now=by.at, replace=replace
            )
        shown = {"file": file.name, "cases": len(cases.cases)}
        await db.transact(audited_changes.note, owner, by, "certification set loaded", file.name, None, shown)
        return cases

    cases = with_database(settings_with_database(), work)
    step = kind_of(cases).step
    words = [
        f"{file.name}: {len(cases.cases)} documents of step {step}; nothing was sent",
        *(remark.en for remark in cases.remarks),
    ]
    order = [case.e_ncf for case in cases.cases]
    remarks = [remark.en for remark in cases.remarks]
    print_result(words, {"file": file.name, "step": step, "order": order, "remarks": remarks}, as_json=as_json)


@certification.command()
@tenant_option
@click.option("--replace", is_flag=True, help="Give up a plan that was sent in part: the counters are at 0.")
@by_option
@json_option
def plan(tenant_name: str, replace: bool, by_whom: str, as_json: bool) -> None:
    """Plan the simulation of step 4: the receipts of the path, with new numbers. Nothing is sent."""
    by = author(by_whom)

    async def work(db: Database) -> SimulationPlan:
        owner = await db.run(provision.find_tenant, tenant_name)
        planned = await plan_simulation(db, owner, by=by.by_whom, now=by.at, replace=replace)
        shown = {"receipts": len(planned.receipts)}
        await db.transact(audited_changes.note, owner, by, "certification simulation planned", owner.name, None, shown)
        return planned

    made = with_database(settings_with_database(), work)
    order, warnings = [one.e_ncf for one in made.receipts], [one.en for one in made.warnings]
    words = [f"{len(order)} receipts are planned; nothing was sent", *order, *warnings]
    print_result(words, {"order": order, "warnings": warnings}, as_json=as_json)


@certification.command()
@tenant_option
@step_option
@click.option("--despite-doubts", is_flag=True, help="Pass over what the authority may accept with remarks.")
@json_option
def check(tenant_name: str, step: RunKind, despite_doubts: bool, as_json: bool) -> None:
    """Make, check, sign and verify all documents of a step. Nothing is sent.

    The simulation is sent whole to a simulated authority in this process, so that a rejection shows here.
    """
    settings = settings_with_database()

    async def work(db: Database) -> tuple[CaseSet, list[RehearsedRun]]:
        owner = await db.run(provision.find_tenant, tenant_name)
        rehearsals: list[RehearsedRun] = []
        _, cases = await _checked(db, settings, owner, step, rehearsals, despite_doubts=despite_doubts)
        return cases, rehearsals

    cases, rehearsals = with_database(settings, work)
    words = [f"{len(cases.cases)} documents are in order, signed and verified; nothing was sent"]
    counted = rehearsals[0].counters["counters"] if rehearsals else {}
    if rehearsals:
        shown = ", ".join(f"{name} {number}" for name, number in counted.items())
        words.append(f"the simulated authority accepted all; its counters: {shown}")
    print_result(words, {"inOrder": len(cases.cases), "counters": counted}, as_json=as_json)


async def _checked(
    db: Database,
    settings: Settings,
    owner: Tenant,
    kind: RunKind,
    rehearsals: list[RehearsedRun],
    *,
    despite_doubts: bool,
) -> tuple[CertificationRun, CaseSet]:
    """Check a run; the simulation also at a simulated authority, whose answers go to `rehearsals`."""
    now = system_clock()
    chosen = await signing_certificate(db, owner, now, kind)
    opened = await open_certificate(db, settings, owner, chosen)

    async def rehearse_here(documents: Sequence[Dispatch], now: datetime) -> Sequence[str | None]:
        rehearsals.append(await rehearse_run(documents, now, taxpayer=str(owner.issuer["RNCEmisor"])))
        return rehearsals[-1].objections

    authority = rehearse_here if kind is RunKind.SIMULATION else None
    with _telling_faults():
        return await check_set(
            db,
            _Here(1, Metrics()),
            owner,
            chosen,
            opened.signer,
            now,
            kind=kind,
            despite_doubts=despite_doubts,
            authority=authority,
        )


@certification.command()
@tenant_option
@step_option
@click.option("--despite-doubts", is_flag=True, help="Pass over what the authority may accept with remarks.")
@click.option("--no-wait", is_flag=True, help="Return at once; `fe certification status` tells how far it is.")
@by_option
@json_option
def send(tenant_name: str, step: RunKind, despite_doubts: bool, no_wait: bool, by_whom: str, as_json: bool) -> None:
    """Check a step again, then send it, one document at a time; it stops at the first rejection or doubt."""
    _send(tenant_name, step, by_whom, (), despite_doubts=despite_doubts, no_wait=no_wait, as_json=as_json)


@certification.command()
@tenant_option
@step_option
@click.option("--counted", multiple=True, metavar="NUMBER", help="The portal counts it; may be repeated.")
@click.option("--despite-doubts", is_flag=True, help="Pass over what the authority may accept with remarks.")
@click.option("--no-wait", is_flag=True, help="Return at once; `fe certification status` tells how far it is.")
@by_option
@json_option
def resume(
    tenant_name: str,
    step: RunKind,
    counted: tuple[str, ...],
    despite_doubts: bool,
    no_wait: bool,
    by_whom: str,
    as_json: bool,
) -> None:
    """Go on with a step that stopped. Documents that were handed in are not sent again."""
    _send(tenant_name, step, by_whom, counted, despite_doubts=despite_doubts, no_wait=no_wait, as_json=as_json)


def _send(
    tenant_name: str,
    kind: RunKind,
    by_whom: str,
    counted: Sequence[str],
    *,
    despite_doubts: bool,
    no_wait: bool,
    as_json: bool,
) -> None:
    settings, by = settings_with_database(), author(by_whom)

    async def work(db: Database) -> tuple[CertificationRun, list[RunCase]]:
        owner = await db.run(provision.find_tenant, tenant_name)
        run, _ = await _checked(db, settings, owner, kind, [], despite_doubts=despite_doubts)
        await start(db, owner, run, counted=counted)
        shown = {"step": kind.step, "file": run.name, "counted": list(counted)}
        await db.transact(audited_changes.note, owner, by, "certification set sent", run.name, None, shown)
        return await _followed(db, owner, run, quiet=as_json, once=no_wait)

    run, cases = with_database(settings, work)
    stopped = _stopped(RunProgress(run, cases))
    record = {
        "state": run.state,
        "stopped": stopped,
        "documents": [
            {"eNCF": one.e_ncf, "status": one.outcome.status, "taxLogId": one.submission_id} for one in cases
        ],
    }
    if run.state is RunState.STOPPED:
        if as_json:
            print_json(form(record))
        raise Failure(str(stopped))
    words = {
        RunState.SENT: f"all {len(cases)} documents are accepted; next: `fe certification status`",
        RunState.SENDING: "it is being sent: `fe certification status` tells how far it is",
    }[run.state]
    print_result(words, record, as_json=as_json)
    if run.state is RunState.SENDING and not no_wait:
        raise Failure("no verdict yet: the service goes on; ask `fe certification status`", NO_VERDICT)


async def _followed(
    db: Database, owner: Tenant, run: CertificationRun, *, quiet: bool, once: bool
) -> tuple[CertificationRun, list[RunCase]]:
    """Report documents as they get their verdict, until the run is sent or stops."""
    told: set[int] = set()
    present, cases = run, list[RunCase]()
    with trio.move_on_after(0 if once else 600):
        while True:
            with trio.CancelScope(shield=True):
                found = await db.run(records.open_run, owner.tenant_id, run.kind)
                present = run if found is None else found
                cases = await db.run(records.cases, owner.tenant_id, run.run_id)
            for case in cases:
                if case.outcome.status in FINAL and not quiet:
                    if case.place not in told:
                        click.echo(f"{case.place:>3}  {case.e_ncf}  {case.outcome.status}")
                    told.add(case.place)
            if present.state is not RunState.SENDING:
                break
            await trio.sleep(_LOOK_SECONDS)
    return present, cases


@certification.command("evidence")
@click.argument("file", type=click.Path(path_type=Path))
@tenant_option
@step_option
@click.option("--whole", is_flag=True, help="All steps, with the PDFs of step 5: the file of the certification.")
@json_option
def evidence_(file: Path, tenant_name: str, step: RunKind, whole: bool, as_json: bool) -> None:
    """Write steps, set or plan, bytes sent, answers and the invoices to be uploaded into the ZIP FILE."""

    async def work(db: Database) -> CertificationEvidence:
        owner = await db.run(provision.find_tenant, tenant_name)
        if not whole:
            return await db.run_for(owner.tenant_id, evidence, step)
        printed = await printed_so_far(db, owner)
        return await db.run_for(owner.tenant_id, whole_evidence, [(one.name, one.content) for one in printed])

    if file.exists():
        raise Failure(f"{file} exists already")
    found = with_database(settings_with_database(), work)
    file.write_bytes(found.packed())
    uploads = "" if step is RunKind.APPROVALS and not whole else "; the portal takes those of the folder upload"
    words = f"{file}: the steps and {found.documents} documents sent{uploads}"
    print_result(words, {"file": str(file), "documents": found.documents}, as_json=as_json)


@certification.command()
@click.argument("file", type=click.Path(path_type=Path))
@tenant_option
@json_option
def pdfs(file: Path, tenant_name: str, as_json: bool) -> None:
    """Print the receipts of the simulation that step 5 wants, one of each kind, into the ZIP FILE."""

    async def work(db: Database) -> list[PrintedCase]:
        owner = await db.run(provision.find_tenant, tenant_name)
        return await print_simulation(db, owner)

    if file.exists():
        raise Failure(f"{file} exists already")
    printed = with_database(settings_with_database(), work)
    with zipfile.ZipFile(file, "w") as archive:
        for one in printed:
            archive.writestr(one.name, one.content)
    size = sum(len(one.content) for one in printed)
    words = f"{file}: {len(printed)} PDFs, {size:,} bytes together"
    print_result(words, {"file": str(file), "pdfs": [one.name for one in printed], "bytes": size}, as_json=as_json)


@certification.command()
@tenant_option
@json_option
def live(tenant_name: str, as_json: bool) -> None:
    """Show what going live takes, and what of it is there."""
    now = system_clock()

    async def work(db: Database) -> list[LiveItem]:
        owner = await db.run(provision.find_tenant, tenant_name)
        return await db.run_for(owner.tenant_id, checklist, now)

    found = with_database(settings_with_database(), work)
    words = [f"{'done' if one.is_done else 'open':<5} {one.name.en}: {one.said.en}" for one in found]
    words.append("the company is live" if is_live(found) else "the company is not live yet")
    items = [{"item": one.code, "done": one.is_done, "said": one.said.en, "step": one.step} for one in found]
    print_result(words, {"live": is_live(found), "items": items}, as_json=as_json)


@certification.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("signed", type=click.Path(path_type=Path))
@tenant_option
@click.option("--user", "email", metavar="EMAIL", help="The representative; without it, the company's certificate.")
@by_option
@json_option
def sign(file: Path, signed: Path, tenant_name: str, email: str | None, by_whom: str, as_json: bool) -> None:
    """Sign FILE of the authority's portal (application, declaration) with the representative's certificate.

    The signed file is written to SIGNED.
    """
    raw, settings, by = file.read_bytes(), settings_with_database(), author(by_whom)
    if signed.exists():
        raise Failure(f"{signed} exists already")

    async def work(db: Database) -> bytes:
        owner = await db.run(provision.find_tenant, tenant_name)
        candidates = await db.run(tenant_context.candidates, owner.tenant_id)
        chosen = choose_certificate(candidates, as_user=email, as_user_id=None, now=by.at)
        opened = await open_certificate(db, settings, owner, chosen)
        rnc, holder = str(owner.issuer["RNCEmisor"]), str(opened.credential.holder_id)
        made = sign_portal_file(raw, opened.signer, rnc=rnc, holder_id=holder)
        shown = {"certificateId": str(chosen.certificate_id)}

        async def keep(conn: Conn) -> None:
            await audited_changes.note(conn, owner, by, "portal file signed", file.name, None, shown)
            choices = {"step": step_of(made), "user": email or ""}
            await certification_tasks.keep_signed(
                conn,
                owner.tenant_id,
                new_id(by.at),
                raw,
                made,
                at=by.at,
                by=by.by_whom,
                name=file.name,
                choices=choices,
            )

        await db.transact(keep)
        return made

    signed.write_bytes(with_database(settings, work))
    words = f"{signed}: signed and verified; upload it in the portal"
    print_result(words, {"file": str(signed)}, as_json=as_json)


class _Here(Apart):
    """Read the operator's workbook in this process: on a busy machine one of low priority took over a minute."""

    async def run(self, whose: Hashable, work: Callable[..., T], *given: Any, within: float = math.inf) -> T:
        """Run `work(*given)` in a thread; nothing else waits for it here."""
        return await trio.to_thread.run_sync(partial(work, *given))


@contextmanager
def _telling_faults() -> Iterator[None]:
    """Print what else is wrong with a set, a line each; the first fault is the command's error."""
    try:
        yield
    except BadSet as bad:
        for fault in bad.faults[1:_FAULTS]:
            click.echo(f"fe: {fault.said.en}", err=True)
        raise


@certification.command("dossier")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--days", type=click.IntRange(1, 366), default=90, show_default=True, help="Days before today to sum up.")
@json_option
def dossier_(file: Path, days: int, as_json: bool) -> None:
    """Collect what a provider shows into the ZIP FILE: conformance, security, faults, figures of all tenants."""
    if file.exists():
        raise Failure(f"{file} exists already")
    now = system_clock()
    today = now.astimezone(UTC).date()
    period = DossierDays(today - timedelta(days=days), today - timedelta(days=1))
    figures = run_query(performance, period.first, period.last)
    content, absent = dossier(__version__, str(moment(now)), period, figures, read_proofs())
    file.write_bytes(content)
    lacks = [one.en for one in absent]
    words = [f"{file}: from {period.first} to {period.last}", *(f"not measured: {one}" for one in lacks)]
    record = {"file": str(file), "first": period.first, "last": period.last, "absent": lacks}
    print_result(words, record, as_json=as_json)
