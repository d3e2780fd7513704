"""The company's certification: its steps, files of the authority's portal to sign, the set of tests, and going live."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import structlog
import trio

from fe.accounts.certification import RUN_OF, checklist, choose_path, progress, tick
from fe.certification.case_set import BadSet
from fe.certification.going_live import is_live
from fe.certification.steps import BY_NUMBER, ENTERED, SIGNED
from fe.certification.to_do import on_page
from fe.ecf.ids import new_id
from fe.ecf.texts import LocalizedError, Text
from fe.issuing.certification_plan import plan_simulation
from fe.issuing.certification_prints import print_simulation, printed_so_far
from fe.issuing.certification_runs import kind_of, load
from fe.operations.certification_evidence import whole_evidence
from fe.portal import receipt_words as words
from fe.portal.form_reader import BODY_BYTES_OF_ONE
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.portal.changes import ChangeAction
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import certification_tasks, tenants
from fe.store.records.certification import CertificationPath, RunKind, RunState
from fe.store.records.certification_tasks import TaskKind
from fe.workbooks.tables import UnreadableWorkbook

#: Faults of a set that a page names.
_FAULTS = 50
#: A file of the authority's portal has a few kilobytes.
_FILE_BYTES = 256 * 1024
_NOTE, _ADDRESS = 500, 300

_PATHS = {
    CertificationPath.OWN: Text("With own software (14 steps)", "Con software propio (14 pasos)"),
    CertificationPath.PROVIDER: Text("Under a certified provider (short)", "Bajo un proveedor certificado (corto)"),
}
_STATES = {
    RunState.LOADED: ("soft", Text("Loaded, nothing sent", "Cargado, nada enviado")),
    RunState.SENDING: ("warn", Text("Being sent", "Enviándose")),
    RunState.STOPPED: ("bad", Text("Stopped", "Detenido")),
    RunState.SENT: ("ok", Text("Sent and accepted", "Enviado y aceptado")),
}
_KINDS = {
    TaskKind.SIGN: Text("Signature", "Firma"),
    TaskKind.CHECK: Text("Check", "Revisión"),
    TaskKind.SEND: Text("Sending", "Envío"),
    TaskKind.ADDRESSES: Text("Check of the addresses", "Revisión de las direcciones"),
}
#: Colours and names of a check of addresses.
_COLOURS = {
    "ok": ("ok", Text("right", "bien")),
    "warning": ("warn", Text("warning", "aviso")),
    "failed": ("bad", Text("fails", "falla")),
    "skipped": ("soft", Text("not tried", "sin probar")),
}
_CHOSEN = Text("The path is chosen.", "El camino quedó elegido.")
_DONE = Text("The step is ticked off.", "El paso quedó marcado.")
_UNDONE = Text("The step is open again.", "El paso está abierto de nuevo.")
_PLANNED = Text("The receipts are planned; nothing was sent.", "Los comprobantes están planificados; no se envió nada.")
_ASKED = Text("It is under way; this page tells how it went.", "Está en curso; esta página dirá cómo terminó.")
_NO_ADDRESS = Text("Enter the address of reception.", "Escriba la dirección de recepción.")
_NO_FILE = Text("Choose a file.", "Elija un archivo.")
_TOO_LARGE = Text(
    "This is no file of the portal: it is too large.", "No es un archivo del portal: es demasiado grande."
)
_log = structlog.get_logger(__name__)


async def overview(visit: Visit) -> Reply:
    """Show the path, the steps, and what to do next."""
    asked = visit.query.get("step", "")
    return await _show(visit, at=int(asked) if asked in {str(number) for number in BY_NUMBER} else 0)


async def _show(visit: Visit, problems: Sequence[Text] = (), status: int = 200, *, at: int = 0, **more: Any) -> Reply:
    """Show the page; `problems` belong to the step `at`."""
    found = await visit.read(progress)
    tasks = await visit.read(certification_tasks.newest)
    following = found.following
    checked = {one.step: one for one in reversed(tasks) if one.kind is not TaskKind.SIGN}
    for step, one in checked.items():
        if one.kind is TaskKind.ADDRESSES and one.has_result:
            whole = await visit.read(certification_tasks.find, one.task_id)
            checked[step] = one if whole is None else whole
    is_sending = any(one.run.state is RunState.SENDING for one in found.runs.values())
    return visit.page(
        "company/certification.html",
        status,
        found=found,
        paths=_PATHS,
        problems=problems[:_FAULTS],
        at=at or (following.number if following is not None else 0),
        signings={step: [one for one in tasks if one.kind is TaskKind.SIGN and one.step == step] for step in SIGNED},
        checked=checked,
        task_kinds=_KINDS,
        colours=_COLOURS,
        states=_STATES,
        status_names=words.STATUSES,
        is_at_work=is_sending or any(one.done_at is None for one in tasks),
        users=await visit.read(tenants.users_of),
        note_length=_NOTE,
        **{"needs_replace": False, **more},
    )


async def choose(visit: Visit) -> Reply:
    """Choose the path."""
    path = visit.form.get("path")
    if path not in list(CertificationPath):
        raise not_found()

    async def work(conn: Conn) -> None:
        await choose_path(conn, visit.author, await visit.locked_tenant(conn), CertificationPath(path))

    await visit.change(work)
    return await visit.go(visit.at("certification"), _CHOSEN)


async def step(visit: Visit) -> Reply:
    """Tick a step off, or take that back."""
    number = int(visit.params["step"])
    if number not in BY_NUMBER:
        raise not_found()
    undo = visit.form.get("do") == "undo"

    async def work(conn: Conn) -> None:
        note = visit.form.get("note").strip()[:_NOTE]
        await tick(conn, visit.author, await visit.locked_tenant(conn), number, note, undo=undo)

    await visit.change(work)
    to = "certification/live" if visit.form.get("to") == "live" else "certification"
    return await visit.go(visit.at(to), _UNDONE if undo else _DONE)


async def sign(visit: Visit) -> Reply:
    """Have a file of the authority's portal signed by a worker, which opens the certificate."""
    number = int(visit.params["step"])
    if number not in SIGNED:
        raise not_found()
    file = visit.form.files.get("file")
    if file is None or not file.content:
        return await _show(visit, [_NO_FILE], 400, at=number)
    if len(file.content) > _FILE_BYTES:
        return await _show(visit, [_TOO_LARGE], 413, at=number)
    choices = {"step": number, "user": visit.form.get("user")}
    await _ask(visit, TaskKind.SIGN, choices, file.name, file.content)
    return await _back(visit, number, _ASKED)


async def signed(visit: Visit) -> Reply:
    """Send a signed file."""
    task_id: UUID = visit.params["task"]
    found = await visit.read(certification_tasks.find, task_id)
    if found is None or found.result is None:
        raise not_found()
    return visit.file(f"{found.task_id}-signed.xml", "application/xml", found.result)


async def load_set(visit: Visit) -> Reply:
    """Read and keep a workbook of step 2 or 3, whichever it is. Nothing is sent."""
    at = _step_of_a_run(visit)
    file = visit.form.files.get("file")
    if file is None or not file.content:
        return await _show(visit, [_NO_FILE], 400, at=at)
    tenant, replace = visit.company.tenant, visit.form.has("replace")
    try:
        cases = await load(
            visit.portal.db,
            visit.portal.printers,
            tenant,
            file.content,
            file.name,
            by=visit.by_whom,
            now=visit.now,
            replace=replace,
        )
    except BadSet as bad:
        return await _show(visit, [fault.said for fault in bad.faults], 400, at=at)
    except UnreadableWorkbook as refused:
        return await _show(visit, [refused.text], refused.status, at=at)
    except LocalizedError as refused:
        return await _show(visit, [on_page(refused)], 409, at=at, needs_replace=True)
    await _note_done(visit, "certification set loaded", file.name, {"file": file.name, "cases": len(cases.cases)})
    said = Text(f"{len(cases.cases)} documents; nothing was sent.", f"{len(cases.cases)} documentos; no se envió nada.")
    return await _back(visit, kind_of(cases).step, _together(said, cases.remarks))


def _together(said: Text, remarks: Sequence[Text]) -> Text:
    every = (said, *remarks)
    return Text(" ".join(one.en for one in every), " ".join(one.es for one in every))


async def plan(visit: Visit) -> Reply:
    """Plan the simulation with new numbers. Nothing is sent."""
    at = RunKind.SIMULATION.step
    tenant, replace = visit.company.tenant, visit.form.has("replace")
    try:
        planned = await plan_simulation(visit.portal.db, tenant, by=visit.by_whom, now=visit.now, replace=replace)
    except LocalizedError as refused:
        return await _show(visit, [on_page(refused)], 409, at=at, needs_replace=True)
    await _note_done(visit, "certification simulation planned", tenant.name, {"receipts": len(planned.receipts)})
    return await _back(visit, at, _together(_PLANNED, planned.warnings))


async def pdfs(visit: Visit) -> Reply:
    """Send the PDFs that step 5 wants."""
    try:
        printed = await print_simulation(visit.portal.db, visit.company.tenant)
    except LocalizedError as refused:
        return await _show(visit, [on_page(refused)], 409, at=5)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for one in printed:
            archive.writestr(one.name, one.content)
    return visit.file("pdfs.zip", "application/zip", sink.getvalue())


async def addresses(visit: Visit) -> Reply:
    """Have the authority played against the company's addresses of reception."""
    entered = {name: visit.form.get(name)[:_ADDRESS] for name in ("reception", "approval", "authentication")}
    if not entered["reception"]:
        return await _show(visit, [_NO_ADDRESS], 400, at=ENTERED)
    await _ask(visit, TaskKind.ADDRESSES, {"step": ENTERED, **entered})
    return await _back(visit, ENTERED, _ASKED)


async def _note_done(visit: Visit, action: ChangeAction, subject: str, shown: dict[str, Any]) -> None:
    try:
        await visit.portal.db.transact_for(visit.tenant_id, visit.note, action, subject, None, shown)
    except DatabaseUnavailable as away:  # it is done, whatever is noted
        _log.warning("certification not recorded in portal", reason=str(away))


async def check(visit: Visit) -> Reply:
    """Have all documents of a step made, checked, signed and verified. Nothing is sent."""
    return await _act(visit, TaskKind.CHECK)


async def send(visit: Visit) -> Reply:
    """Have the documents of a step checked again and sent, or go on with them."""
    return await _act(visit, TaskKind.SEND)


async def _act(visit: Visit, kind: TaskKind) -> Reply:
    step = _step_of_a_run(visit)
    choices = {
        "step": step,
        "despite_doubts": visit.form.has("despite_doubts"),
        "counted": list(visit.form.every("counted")),
    }
    await _ask(visit, kind, choices=choices)
    return await _back(visit, step, _ASKED)


def _step_of_a_run(visit: Visit) -> int:
    step = int(visit.params["step"])
    if step not in RUN_OF:
        raise not_found()
    return step


async def _ask(visit: Visit, kind: TaskKind, choices: Mapping[str, Any], name: str = "", content: bytes = b"") -> None:
    async def work(conn: Conn) -> None:
        await certification_tasks.ask(
            conn,
            visit.tenant_id,
            new_id(visit.now),
            kind,
            at=visit.now,
            by=visit.by_whom,
            name=name,
            content=content or None,
            choices=choices,
        )
        await visit.note(conn, "certification act asked", name or kind.value, None, {"act": kind.value, **choices})

    await visit.change(work)


async def _back(visit: Visit, number: int, notice: Text) -> Reply:
    return await visit.go(f"{visit.at(f'certification?step={number}')}#step-{number}", notice)


async def download(visit: Visit) -> Reply:
    """Send the file of the certification."""
    printed = await printed_so_far(visit.portal.db, visit.company.tenant)
    found = await visit.read_list(whole_evidence, [(one.name, one.content) for one in printed])
    content = await trio.to_thread.run_sync(found.packed)
    return visit.file(f"certification-{visit.tenant_id}.zip", "application/zip", content)


async def live(visit: Visit) -> Reply:
    """Show what going live takes, and what of it is there."""
    items = await visit.read(checklist, visit.now)
    return visit.page("company/going_live.html", items=items, is_live=is_live(items), by_number=BY_NUMBER)


_HERE = "/companies/<int:company>/certification"
PAGES = (
    Page("GET", _HERE, Needs.READ, overview),
    Page("GET", f"{_HERE}/live", Needs.READ, live),
    Page("GET", f"{_HERE}/evidence", Needs.READ, download),
    Page("GET", f"{_HERE}/pdfs", Needs.READ, pdfs),
    Page("GET", f"{_HERE}/signed/<uuid:task>", Needs.READ, signed),
    Page("POST", f"{_HERE}/path", Needs.WRITE, choose),
    Page("POST", f"{_HERE}/steps/<int:step>", Needs.WRITE, step),
    Page("POST", f"{_HERE}/steps/<int:step>/sign", Needs.OWN, sign, max_body_bytes=BODY_BYTES_OF_ONE),
    Page("POST", f"{_HERE}/steps/<int:step>/set", Needs.WRITE, load_set, max_body_bytes=BODY_BYTES_OF_ONE),
    Page("POST", f"{_HERE}/steps/<int:step>/check", Needs.WRITE, check),
    Page("POST", f"{_HERE}/steps/<int:step>/send", Needs.WRITE, send),
    Page("POST", f"{_HERE}/addresses", Needs.OWN, addresses),
    Page("POST", f"{_HERE}/plan", Needs.WRITE, plan),
)
