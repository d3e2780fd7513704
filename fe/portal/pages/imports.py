"""Import of receipts from a workbook: upload, look over, issue, and the file back."""

from decimal import Decimal
from functools import partial
from uuid import UUID

import structlog
import trio

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.texts import Text
from fe.identifiers import PORTAL_KEY
from fe.issuing.imports import STATES, ImportNotReady, Imports, NoSuchImport
from fe.portal.form_reader import BODY_BYTES_OF_ONE
from fe.portal.page_types import Needs, Page
from fe.portal.receipt_words import kind_of
from fe.portal.replies import Refused, Reply, not_found
from fe.portal.visit import Visit
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import imports
from fe.store.records.imports import ImportOutcome, ImportRecord, ImportState
from fe.workbooks.columns import COLUMNS
from fe.workbooks.report import XLSX
from fe.workbooks.tables import UnreadableWorkbook
from fe.workbooks.template import template

#: Receipts that a page names with their faults, and links to issued ones.
_FAULTY, _ISSUED = 50, 20
_NO_FILE = Text("Choose a file.", "Elija un archivo.")
_STATES = {
    ImportState.VALIDATING: Text("Validating", "Validando"),
    ImportState.VALIDATED: Text("Validated", "Validado"),
    ImportState.ISSUING: Text("Issuing", "Emitiendo"),
    ImportState.ISSUED: Text("Issued", "Emitido"),
}
_log = structlog.get_logger(__name__)


def _own(visit: Visit) -> Imports:
    return Imports(visit.portal.db, visit.portal.printers, visit.portal.clock)


async def listed(visit: Visit) -> Reply:
    """Show the imports of an environment, the templates, and a form for another."""
    return await _list(visit)


async def _list(visit: Visit, problem: Text | None = None, status: int = 200) -> Reply:
    found = await visit.read_list(imports.newest, visit.environment)
    return visit.page(
        "company/imports.html",
        status,
        imports=found,
        types=[(one, kind_of(Root.ECF, one)) for one in EcfType],
        states=_STATES,
        problem=problem,
    )


async def upload(visit: Visit) -> Reply:
    """Store a file, and show how its validation goes."""
    file = visit.form.files.get("file")
    if file is None or not file.name:
        return await _list(visit, _NO_FILE, 400)
    try:
        import_id = await _own(visit).upload(
            visit.tenant_id,
            visit.environment,
            file.content,
            file.name,
            api_key_id=PORTAL_KEY,
            person_id=visit.person.person.person_id,
        )
    except UnreadableWorkbook as refused:
        return await _list(visit, refused.text, refused.status)
    return await visit.go(visit.within(f"imports/{import_id}"))


async def show(visit: Visit) -> Reply:
    """Show how far an import is, its errors, and what can be done."""
    return await _shown(visit, await _find(visit))


async def _shown(visit: Visit, found: ImportRecord, problem: Text | None = None, status: int = 200) -> Reply:
    bad = await visit.read_list(
        imports.receipts_of, found.import_id, (ImportOutcome.FAULTY, ImportOutcome.FAILED), _FAULTY
    )
    done = await visit.read_list(
        imports.receipts_of, found.import_id, (ImportOutcome.ISSUED, ImportOutcome.BEFORE), _ISSUED
    )
    faults = [
        (row, None if column is None else COLUMNS[column].heading, Text(en, es))
        for one in bad
        for row, column, en, es in one.faults
    ]
    left = found.count(ImportOutcome.VALID) + found.count(ImportOutcome.FAILED)
    return visit.page(
        "company/import.html",
        status,
        found=found,
        notes=[Text(*note) for note in found.notes],
        states=_STATES,
        counts=[(STATES[outcome], found.count(outcome)) for outcome in ImportOutcome if found.count(outcome)],
        is_at_work=found.state in (ImportState.VALIDATING, ImportState.ISSUING),
        is_validating=found.state is ImportState.VALIDATING,
        ended=found.receipts
        - (left if found.state in (ImportState.ISSUING, ImportState.ISSUED) else found.count(None)),
        left=left,
        types=[(kind_of(Root.ECF, EcfType(prefix[1:])), receipts, total) for prefix, receipts, total in found.types],
        total=sum((Decimal(total) for _, _, total in found.types), Decimal(0)),
        faults=faults,
        done=done,
        problem=problem,
    )


async def issue(visit: Visit) -> Reply:
    """Issue what is valid, or go on with it."""
    found = await _find(visit)
    try:
        await _own(visit).issue(visit.tenant_id, found.import_id)
    except ImportNotReady as not_ready:
        return await _shown(visit, found, not_ready.text, 409)
    try:
        about = {"environment": visit.environment.value, "name": found.name, "receipts": found.receipts}
        await visit.portal.db.transact_for(
            visit.tenant_id, visit.note, "receipts imported", str(found.import_id), None, about
        )
    except DatabaseUnavailable as away:  # it is under way, whatever is noted
        _log.warning("import not recorded in portal", reason=str(away))
    return await visit.go(visit.within(f"imports/{found.import_id}"))


async def workbook(visit: Visit) -> Reply:
    """Send the file back with errors, state and number beside each row."""
    found = await _find(visit)
    try:
        content, media_type, ending = await _own(visit).report(visit.tenant_id, found.import_id, visit.language)
    except UnreadableWorkbook as refused:
        raise Refused(refused.status, refused.text) from None
    return visit.file(f"{found.import_id}.{ending}", media_type, content)


async def send_template(visit: Visit) -> Reply:
    """Send the template of a type."""
    try:
        of = EcfType(visit.params["type"])
    except ValueError:
        raise not_found() from None
    made = await trio.to_thread.run_sync(partial(template, of, visit.language))
    return visit.file(f"{of.prefix}.xlsx", XLSX, made)


async def _find(visit: Visit) -> ImportRecord:
    import_id: UUID = visit.params["import"]
    try:
        found = await _own(visit).find(visit.tenant_id, import_id)
    except NoSuchImport:
        raise not_found() from None
    if found.environment is not visit.environment:
        raise not_found()
    return found


_BASE = "/companies/<int:company>/<environment>/imports"
PAGES = (
    Page("GET", _BASE, Needs.READ, listed),
    Page("POST", _BASE, Needs.WRITE, upload, max_body_bytes=BODY_BYTES_OF_ONE),
    Page("GET", f"{_BASE}/templates/<type>", Needs.READ, send_template),
    Page("GET", f"{_BASE}/<uuid:import>", Needs.READ, show),
    Page("POST", f"{_BASE}/<uuid:import>/issue", Needs.WRITE, issue),
    Page("GET", f"{_BASE}/<uuid:import>/workbook", Needs.READ, workbook),
)
