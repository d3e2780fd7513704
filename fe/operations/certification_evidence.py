"""The file of a certification: its steps, the files signed, the bytes sent and the answers, as a ZIP."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from fe.certification.steps import steps_of
from fe.ecf.json_text import write_canonical_json
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.records import certification, certification_tasks
from fe.store.records.certification import CertificationPath, RunKind
from fe.store.records.certification_tasks import TaskKind

#: Names of documents, by their kind in the store.
_KINDS = {"signed": "", "sent": "-rfce", "original": "-original"}


@dataclass(frozen=True, slots=True)
class CertificationEvidence:
    """Files, each with its name in the ZIP, and how many documents that were sent are among them."""

    files: Sequence[tuple[str, bytes]]
    documents: int

    def packed(self) -> bytes:
        """Write the ZIP. CPU work: call it where no connection is held."""
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.files:
                archive.writestr(name, content)
        return sink.getvalue()


async def evidence(conn: Conn, tenant_id: TenantId, kind: RunKind = RunKind.SET) -> CertificationEvidence:
    """Read the evidence of a run."""
    files = [("status.json", _json(await _steps(conn, tenant_id)))]
    for task in await certification_tasks.newest(conn, tenant_id, with_results=True):
        if task.kind is TaskKind.SIGN and task.result is not None:
            files.append((f"signed/{task.task_id}-{Path(task.name).name}", task.result))
    return CertificationEvidence(files, await _run(conn, tenant_id, kind, files))


async def whole_evidence(conn: Conn, tenant_id: TenantId, pdfs: Sequence[tuple[str, bytes]]) -> CertificationEvidence:
    """Read the evidence of all steps, with a folder for each."""
    files, number = [("status.json", _json(await _steps(conn, tenant_id)))], 0
    for task in await certification_tasks.newest(conn, tenant_id, with_results=True):
        if task.kind is TaskKind.SIGN and task.result is not None:
            files.append((f"step-{task.step}/{task.task_id}-{Path(task.name).name}", task.result))
        elif task.kind is TaskKind.ADDRESSES and task.result is not None:
            files.append((f"step-{task.step}/{task.task_id}.json", task.result))
    for kind in RunKind:
        number += await _run(conn, tenant_id, kind, files, f"step-{kind.step}/")
    files += [(f"step-5/{name}", content) for name, content in pdfs]
    return CertificationEvidence(files, number)


async def _steps(conn: Conn, tenant_id: TenantId) -> dict[str, Any]:
    begun = await certification.find(conn, tenant_id)
    path = CertificationPath.OWN if begun is None else begun.path
    done = {one.step: one for one in await certification.steps(conn, tenant_id)}
    return {
        "path": path,
        "steps": [
            {
                "step": step.number,
                "name": step.name.es,
                "doneAt": done[step.number].done_at if step.number in done else None,
                "doneBy": done[step.number].done_by if step.number in done else None,
                "note": done[step.number].note if step.number in done else None,
            }
            for step in steps_of(path)
        ],
    }


async def _run(conn: Conn, tenant_id: TenantId, kind: RunKind, files: list[tuple[str, bytes]], at: str = "") -> int:
    run = await certification.open_run(conn, tenant_id, kind)
    if run is None:
        return 0
    files.append((f"{at}set/{Path(run.name).name}", await certification.content(conn, tenant_id, run.run_id)))
    sent = [case for case in await certification.cases(conn, tenant_id, run.run_id) if case.submission_id is not None]
    stored = await certification.documents(conn, tenant_id, [case.submission_id for case in sent if case.submission_id])
    for case in sent:
        assert case.submission_id is not None
        name = f"{at}documents/{case.place:02}-{case.e_ncf}"
        for form, content in stored.get(case.submission_id, {}).items():
            files.append((f"{name}{_KINDS.get(form, form)}.xml", content))
            if case.is_summary and form == "signed":
                files.append((f"{at}upload/{case.name}.xml", content))
        answer = {"status": case.outcome.status, "response": case.outcome.response, "taxLogId": case.submission_id}
        files.append((f"{name}-answer.json", _json(answer)))
    return len(sent)


def _json(found: Mapping[str, Any]) -> bytes:
    return write_canonical_json(msgspec.to_builtins(found))
