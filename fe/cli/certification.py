"""`fe certification`: take a tenant through the authority's certification."""

import io
import zipfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import click
import trio

from fe.accounts import audited_changes, provision
from fe.actors.credentials import CannotOpen, Opened, SigningCredentials
from fe.certification.case_set import BadSet, CaseSet
from fe.certification.portal_file import sign_portal_file
from fe.certification.steps import BY_NUMBER, TEST_SET, CertificationStep, next_step, steps_of
from fe.cli.failures import NO_VERDICT, Failure
from fe.cli.operator_options import author, by_option
from fe.cli.printing import form, json_option, moment, print_json, print_result
from fe.cli.session import run_transaction, settings_with_database, tenant_option, with_database
from fe.clock import system_clock
from fe.config import Settings
from fe.ecf.json_text import write_canonical_json
from fe.issuing.certificate_choice import choose_certificate
from fe.issuing.certification_runs import check_set, load, signing_certificate, start
from fe.lifecycle import FINAL
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.secrets.hsm import open_vault
from fe.store.postgres.db import Conn, Database
from fe.store.queue.inputs import Candidate
from fe.store.records import certification as records
from fe.store.records import evidence, tenant_context
from fe.store.records.certification import CertificationPath, CertificationRun, RunCase, RunState
from fe.store.records.tenants import Tenant

_FAULTS = 20
_LOOK_SECONDS = 0.25
#: Names of documents in the evidence, by their kind in the store.
_KINDS = {"signed": "", "sent": "-rfce", "original": "-original"}


@click.group()
def certification() -> None:
    """Take a tenant through the authority's certification: its steps, and the set of tests, sent without fear."""


@certification.command()
@tenant_option
@json_option
def status(tenant_name: str, as_json: bool) -> None:
    """Show the path, the steps, the set of tests, and what to do next."""

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
    if (run := found["set"]) is not None:
        click.echo(f"set {run['file']}: {run['state']}, {run['accepted']} of {run['cases']} accepted")
    click.echo(f"next: {found['next']}")


async def _status(db: Database, owner: Tenant) -> dict[str, Any]:
    begun = await db.run(records.find, owner.tenant_id)
    done = {one.step: one for one in await db.run(records.steps, owner.tenant_id)}
    run = await db.run(records.open_run, owner.tenant_id)
    cases = [] if run is None else await db.run(records.cases, owner.tenant_id, run.run_id)
    path = CertificationPath.OWN if begun is None else begun.path
    following = next_step(path, done)
    return {
        "tenant": owner.name,
        "path": path,
        "since": None if begun is None else begun.begun_at,
        "steps": [
            {
                "step": step.number,
                "name": step.name.en,
                "toDo": step.to_do.en,
                "doneAt": done[step.number].done_at if step.number in done else None,
                "doneBy": done[step.number].done_by if step.number in done else None,
                "note": done[step.number].note if step.number in done else None,
            }
            for step in steps_of(path)
        ],
        "set": None
        if run is None
        else {
            "file": run.name,
            "state": run.state,
            "loadedAt": run.loaded_at,
            "loadedBy": run.loaded_by,
            "cases": len(cases),
            "accepted": sum(case.is_through for case in cases),
            "stopped": run.stopped_en,
        },
        "next": _next(following, run),
    }


def _next(following: CertificationStep | None, run: CertificationRun | None) -> str:
    if following is None:
        return "all steps are done: the authority opens production, and gives sequences there"
    words = f"step {following.number}, {following.name.en}: {following.to_do.en}"
    if following.number != TEST_SET or run is None:
        return words
    match run.state:
        case RunState.LOADED:
            return "check the set (`fe certification check`), then send it (`fe certification send`)"
        case RunState.SENDING:
            return "wait: the set is being sent"
        case RunState.STOPPED:
            return str(run.stopped_en)
        case _:
            return (
                "the set is accepted: fetch the evidence (`fe certification evidence`), upload the files of its folder "
                f"upload in the portal, then tick the step off (`fe certification done {TEST_SET}`)"
            )


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
        await records.set_path(conn, owner.tenant_id, CertificationPath(path), by.at, by.by_whom)
        await audited_changes.note(conn, owner, by, "certification path chosen", owner.name, None, {"path": path})
        return owner

    owner = run_transaction(task)
    print_result(f"{owner.name} is certified on the path {path}", {"tenant": owner.name, "path": path}, as_json=as_json)


@certification.command()
@click.argument("step", type=click.IntRange(1, 14))
@tenant_option
@click.option("--note", default="", metavar="TEXT", help="What was seen in the portal; kept with the step.")
@click.option("--undo", is_flag=True, help="Take it back: the authority returned the step.")
@by_option
@json_option
def done(step: int, tenant_name: str, note: str, undo: bool, by_whom: str, as_json: bool) -> None:
    """Tick STEP off, which a person did in the authority's portal."""
    by = author(by_whom)

    async def task(conn: Conn) -> bool:
        owner = await provision.find_tenant(conn, tenant_name)
        if undo:
            changed = await records.untick(conn, owner.tenant_id, step)
        else:
            changed = await records.tick(conn, owner.tenant_id, step, by.at, by.by_whom, note)
        if changed:
            action = "certification step taken back" if undo else "certification step done"
            await audited_changes.note(conn, owner, by, action, str(step), None, {"step": step, "note": note})
        return changed

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
    """Load the workbook FILE of step 2 as downloaded. Nothing is sent."""
    content, by = file.read_bytes(), author(by_whom)

    async def work(db: Database) -> CaseSet:
        owner = await db.run(provision.find_tenant, tenant_name)
        async with _pool() as apart:
            with _telling_faults():
                cases = await load(db, apart, owner, content, file.name, by=by.by_whom, now=by.at, replace=replace)
        shown = {"file": file.name, "cases": len(cases.cases)}
        await db.transact(audited_changes.note, owner, by, "certification set loaded", file.name, None, shown)
        return cases

    cases = with_database(settings_with_database(), work)
    words = [f"{file.name}: {len(cases.cases)} documents; nothing was sent", *(remark.en for remark in cases.remarks)]
    order = [case.e_ncf for case in cases.cases]
    remarks = [remark.en for remark in cases.remarks]
    print_result(words, {"file": file.name, "order": order, "remarks": remarks}, as_json=as_json)


@certification.command()
@tenant_option
@click.option("--despite-doubts", is_flag=True, help="Pass over what the authority may accept with remarks.")
@json_option
def check(tenant_name: str, despite_doubts: bool, as_json: bool) -> None:
    """Make, check, sign and verify all documents of the set. Nothing is sent."""
    settings = settings_with_database()

    async def work(db: Database) -> CaseSet:
        owner = await db.run(provision.find_tenant, tenant_name)
        return (await _checked(db, settings, owner, despite_doubts=despite_doubts))[1]

    cases = with_database(settings, work)
    words = f"{len(cases.cases)} documents are in order, signed and verified; nothing was sent"
    print_result(words, {"inOrder": len(cases.cases)}, as_json=as_json)


async def _checked(
    db: Database, settings: Settings, owner: Tenant, *, despite_doubts: bool
) -> tuple[CertificationRun, CaseSet]:
    now = system_clock()
    chosen = await signing_certificate(db, owner, now)
    opened = await _opened(db, settings, owner, chosen)
    async with _pool() as apart:
        with _telling_faults():
            return await check_set(db, apart, owner, chosen, opened.signer, now, despite_doubts=despite_doubts)


async def _opened(db: Database, settings: Settings, owner: Tenant, chosen: Candidate) -> Opened:
    credentials = SigningCredentials(db, open_vault(settings), trio.CapacityLimiter(1))
    try:
        return await credentials.get(owner.tenant_id, chosen.certificate_id)
    except CannotOpen as closed:
        raise Failure(str(closed)) from closed


@certification.command()
@tenant_option
@click.option("--despite-doubts", is_flag=True, help="Pass over what the authority may accept with remarks.")
@click.option("--no-wait", is_flag=True, help="Return at once; `fe certification status` tells how far it is.")
@by_option
@json_option
def send(tenant_name: str, despite_doubts: bool, no_wait: bool, by_whom: str, as_json: bool) -> None:
    """Check the set again, then send it, one document at a time; it stops at the first rejection or doubt."""
    _send(tenant_name, by_whom, (), despite_doubts=despite_doubts, no_wait=no_wait, as_json=as_json)


@certification.command()
@tenant_option
@click.option("--counted", multiple=True, metavar="NUMBER", help="The portal counts it; may be repeated.")
@click.option("--despite-doubts", is_flag=True, help="Pass over what the authority may accept with remarks.")
@click.option("--no-wait", is_flag=True, help="Return at once; `fe certification status` tells how far it is.")
@by_option
@json_option
def resume(
    tenant_name: str, counted: tuple[str, ...], despite_doubts: bool, no_wait: bool, by_whom: str, as_json: bool
) -> None:
    """Go on with a set that stopped. Documents that were handed in are not sent again."""
    _send(tenant_name, by_whom, counted, despite_doubts=despite_doubts, no_wait=no_wait, as_json=as_json)


def _send(
    tenant_name: str, by_whom: str, counted: Sequence[str], *, despite_doubts: bool, no_wait: bool, as_json: bool
) -> None:
    settings, by = settings_with_database(), author(by_whom)

    async def work(db: Database) -> tuple[CertificationRun, list[RunCase]]:
        owner = await db.run(provision.find_tenant, tenant_name)
        run, _ = await _checked(db, settings, owner, despite_doubts=despite_doubts)
        await start(db, owner, run, counted=counted)
        shown = {"file": run.name, "counted": list(counted)}
        await db.transact(audited_changes.note, owner, by, "certification set sent", run.name, None, shown)
        return await _followed(db, owner, run, quiet=as_json, once=no_wait)

    run, cases = with_database(settings, work)
    record = {
        "state": run.state,
        "stopped": run.stopped_en,
        "documents": [
            {"eNCF": one.e_ncf, "status": one.outcome.status, "taxLogId": one.submission_id} for one in cases
        ],
    }
    if run.state is RunState.STOPPED:
        if as_json:
            print_json(form(record))
        raise Failure(str(run.stopped_en))
    words = {
        RunState.SENT: f"all {len(cases)} documents are accepted; next: `fe certification status`",
        RunState.SENDING: "the set is being sent: `fe certification status` tells how far it is",
    }[run.state]
    print_result(words, record, as_json=as_json)
    if run.state is RunState.SENDING and not no_wait:
        raise Failure("no verdict yet: the service goes on; ask `fe certification status`", NO_VERDICT)


async def _followed(
    db: Database, owner: Tenant, run: CertificationRun, *, quiet: bool, once: bool
) -> tuple[CertificationRun, list[RunCase]]:
    """Report documents as they get their verdict, until the set is sent or stops."""
    told: set[int] = set()
    present, cases = run, list[RunCase]()
    with trio.move_on_after(0 if once else 600):
        while True:
            with trio.CancelScope(shield=True):
                found = await db.run(records.open_run, owner.tenant_id)
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
@json_option
def evidence_(file: Path, tenant_name: str, as_json: bool) -> None:
    """Write the set, the bytes sent, the answers and the invoices to be uploaded into the ZIP FILE."""

    async def work(db: Database) -> tuple[bytes, int]:
        owner = await db.run(provision.find_tenant, tenant_name)
        run = await db.run(records.open_run, owner.tenant_id)
        if run is None:
            raise Failure("no set is loaded")
        return await _archive(db, owner, run)

    if file.exists():
        raise Failure(f"{file} exists already")
    content, number = with_database(settings_with_database(), work)
    file.write_bytes(content)
    words = f"{file}: the set and {number} documents; the portal takes those of the folder upload"
    print_result(words, {"file": str(file), "documents": number}, as_json=as_json)


async def _archive(db: Database, owner: Tenant, run: CertificationRun) -> tuple[bytes, int]:
    sink, number = io.BytesIO(), 0
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"set/{Path(run.name).name}", await db.run(records.content, owner.tenant_id, run.run_id))
        archive.writestr("status.json", _json(await _status(db, owner)))
        for case in await db.run(records.cases, owner.tenant_id, run.run_id):
            if case.submission_id is None:
                continue
            found = await db.transact(evidence.read, case.submission_id)
            assert found is not None
            number += 1
            name = f"documents/{case.place:02}-{case.e_ncf}"
            for document in found.documents:
                archive.writestr(f"{name}{_KINDS.get(document.kind, document.kind)}.xml", document.content)
                if case.is_summary and document.kind == "signed":
                    archive.writestr(f"upload/{case.name}.xml", document.content)
            answer = {"status": case.outcome.status, "response": case.outcome.response, "taxLogId": case.submission_id}
            archive.writestr(f"{name}-answer.json", _json(answer))
    return sink.getvalue(), number


def _json(found: dict[str, Any]) -> bytes:
    return write_canonical_json(form(found))


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
        opened = await _opened(db, settings, owner, chosen)
        rnc, holder = str(owner.issuer["RNCEmisor"]), str(opened.credential.holder_id)
        made = sign_portal_file(raw, opened.signer, rnc=rnc, holder_id=holder)
        shown = {"certificateId": str(chosen.certificate_id)}
        await db.transact(audited_changes.note, owner, by, "portal file signed", file.name, None, shown)
        return made

    signed.write_bytes(with_database(settings, work))
    words = f"{signed}: signed and verified; upload it in the portal"
    print_result(words, {"file": str(signed)}, as_json=as_json)


@asynccontextmanager
async def _pool() -> AsyncIterator[Apart]:
    """A process of the pool, for one workbook."""
    apart = Apart(1, Metrics())
    async with apart.running():
        yield apart


@contextmanager
def _telling_faults() -> Iterator[None]:
    """Print what else is wrong with a set, a line each; the first fault is the command's error."""
    try:
        yield
    except BadSet as bad:
        for fault in bad.faults[1:_FAULTS]:
            click.echo(f"fe: {fault.said.en}", err=True)
        raise
