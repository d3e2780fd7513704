"""Voiding of number ranges: what can be voided, ticked and confirmed, what became of it, and the 608."""

import re
from collections.abc import Sequence
from uuid import UUID

from fe.accounts import voidings as flow
from fe.accounts.voidings import Proposal, WhyFree
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.texts import LocalizedError, Text
from fe.ecf.voiding import REASONS, NumberRange
from fe.month.period import YearMonth
from fe.month.report_608 import file_608, name_608
from fe.portal import receipt_words as words
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Refused, Reply, not_found
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.records import voidings
from fe.store.records.voidings import Voiding, VoidingState

_KINDS = {of.prefix: name for of, name in words.TYPE_NAMES.items()}
_RANGE = re.compile(r"(E[0-9]{12})-(E[0-9]{12})")
_E_NCF = re.compile(r"E[0-9]{12}")
_NUMBER = re.compile(r"[0-9]{1,10}")
_STATES = {
    VoidingState.WAITING: ("soft", Text("Waiting for the DGII", "En espera de la DGII")),
    VoidingState.VOIDED: ("ok", Text("Voided", "Anulados")),
    VoidingState.PARTLY: ("warn", Text("Voided in part", "Anulados en parte")),
    VoidingState.REJECTED: ("bad", Text("Rejected by the DGII", "Rechazada por la DGII")),
    VoidingState.REFUSED: ("bad", Text("Not sent", "No enviada")),
    VoidingState.IN_DOUBT: ("warn", Text("In doubt", "En duda")),
}
_WHY = {
    WhyFree.NEVER_DRAWN: Text("not used yet", "sin usar todavía"),
    WhyFree.WITHOUT_RECEIPT: Text("skipped, or given back", "saltados o devueltos"),
}
_NOTHING = Text("Tick the numbers to void.", "Marque los números que va a anular.")
_BAD_NUMBER = Text(
    "{range}: the numbers to void are within this range, from the lower to the higher.",
    "{range}: los números que va a anular están dentro de este rango, del menor al mayor.",
)
_UNCONFIRMED = Text(
    "Confirm that none of these numbers was printed, handed out or used elsewhere.",
    "Confirme que ninguno de estos números se imprimió, se entregó ni se usó en otro lugar.",
)
_NO_RNC = Text("Enter the company's RNC under Company data first.", "Escriba primero el RNC en Datos de la empresa.")
_ASKED = Text(
    "The numbers are out of use, and the voiding is on its way to the DGII.",
    "Los números quedaron fuera de uso y la anulación va camino a la DGII.",
)


async def show(visit: Visit) -> Reply:
    """Show what can be voided, and the voidings so far."""
    return await _show(visit)


async def _show(visit: Visit, problem: Text | None = None, status: int = 200, wrong: str | None = None) -> Reply:
    """Show the page; after an error with the form as it was sent. `wrong`: the range whose numbers are."""
    before = _before(visit)
    newest = await visit.read_list(flow.propose_newest, visit.environment, before)
    found = await visit.read_list(voidings.newest, visit.environment)
    return visit.page(
        "company/voidings.html",
        status,
        proposals=newest.found,
        earlier=newest.earlier,
        before=None if before is None else f"{before[0]}{before[1]:010d}",
        voidings=found,
        kinds=_KINDS,
        why=_WHY,
        states=_STATES,
        show_ranges=flow.show_ranges,
        problem=problem,
        ticked=visit.form.every("range"),
        typed={name: visit.form.get(name) for n in range(len(newest.found)) for name in (f"first-{n}", f"last-{n}")},
        wrong=wrong,
        can_void=visit.environment is not Environment.CERTECF,
    )


async def ask(visit: Visit) -> Reply:
    """Show the ticked numbers, and ask for the reason and the confirmation."""
    try:
        ticked = await _ticked(visit)
    except _BadTicks as error:
        return await _show(visit, error.text, 400, error.range)
    return _confirm(visit, ticked)


def _confirm(visit: Visit, ticked: Sequence[NumberRange], problem: Text | None = None, status: int = 200) -> Reply:
    return visit.page(
        "company/voiding_confirm.html",
        status,
        ticked=ticked,
        numbers=sum(one.count for one in ticked),
        shown=flow.show_ranges(ticked),
        reasons=REASONS,
        chosen=visit.form.get("reason") or "8",
        problem=problem,
    )


async def void(visit: Visit) -> Reply:
    """Request the voiding that was confirmed."""
    ticked = [one for one in map(_read_range, visit.form.every("range")) if one is not None]
    if not ticked:
        return await _show(visit, _NOTHING, 400)
    reason = visit.form.get("reason")
    if visit.form.get("confirmed") != "yes":
        return _confirm(visit, ticked, _UNCONFIRMED, 400)

    async def make(conn: Conn) -> Voiding:
        tenant = await visit.locked_tenant(conn)
        made, _ = await flow.request(
            conn,
            visit.author,
            tenant,
            visit.environment,
            ticked,
            int(reason) if reason.isascii() and reason.isdigit() else 0,
        )
        return made

    try:
        made = await visit.change(make)
    except LocalizedError as refused:
        return _confirm(visit, ticked, refused.text, 409)
    return await visit.go(visit.within(f"voidings/{made.voiding_id}"), _ASKED)


async def one(visit: Visit) -> Reply:
    """Show a voiding."""
    found = await _find(visit)
    colour, state = _STATES[found.state]
    return visit.page(
        "company/voiding.html",
        found=found,
        colour=colour,
        state=state,
        ranges=flow.show_ranges(found.ranges),
        reasons=REASONS,
        is_waiting=found.state is VoidingState.WAITING,
        is_in_doubt=found.state is VoidingState.IN_DOUBT,
    )


async def xml(visit: Visit) -> Reply:
    """Send the signed ANECF."""
    found = await _find(visit)
    content = await visit.read(voidings.document, found.voiding_id)
    if content is None:
        raise not_found()
    return visit.file(f"anecf-{found.voiding_id}.xml", "application/xml", content)


async def download_608(visit: Visit) -> Reply:
    """Send the 608 of a month."""
    month = YearMonth.read(visit.params["month"])
    if month is None:
        raise not_found()
    rnc = visit.company.tenant.issuer.get("RNCEmisor")
    if not rnc:
        raise Refused(409, _NO_RNC)
    try:
        numbers = await visit.read_list(flow.of_month, visit.environment, month)
    except LocalizedError as refused:
        raise Refused(409, refused.text) from None
    reply = visit.file("608.txt", "text/plain; charset=us-ascii", file_608(str(rnc), month, numbers))
    named = f'attachment; filename="{name_608(str(rnc), month)}"'
    headers = tuple((name, named if name == "Content-Disposition" else value) for name, value in reply.headers)
    return Reply(reply.status, reply.body, headers)


class _BadTicks(LocalizedError):
    """Nothing is ticked, or a number is outside its range: then `range` is the key of that."""

    def __init__(self, text: Text, range_: str | None = None) -> None:
        super().__init__(text)
        self.range = range_


async def _ticked(visit: Visit) -> Sequence[NumberRange]:
    """Read the ticked ranges, each perhaps narrowed by its two fields. Raises _BadTicks."""
    newest = await visit.read_list(flow.propose_newest, visit.environment, _before(visit))
    proposals: Sequence[Proposal] = newest.found
    wanted = set(visit.form.every("range"))
    found = []
    for n, proposal in enumerate(proposals):
        of = proposal.range
        if _key(of) in wanted:
            first = _number(visit.form.get(f"first-{n}"), of.first)
            last = _number(visit.form.get(f"last-{n}"), of.last)
            if not of.first <= first <= last <= of.last:
                raise _BadTicks(_BAD_NUMBER.fill(range=_key(of)), _key(of))
            found.append(NumberRange(of.type, first, last))
    if not found:
        raise _BadTicks(_NOTHING)
    return found


def _before(visit: Visit) -> tuple[str, int] | None:
    """Read the number below which the page looks; None: from the newest on."""
    text = visit.form.get("before") or visit.query.get("before", "")
    return (text[:3], int(text[3:])) if _E_NCF.fullmatch(text) else None


def _number(text: str, default: int) -> int:
    if not text:
        return default
    return int(text) if text.isascii() and _NUMBER.fullmatch(text) else 0


def _key(of: NumberRange) -> str:
    return f"{of.first_e_ncf}-{of.last_e_ncf}"


def _read_range(text: str) -> NumberRange | None:
    found = _RANGE.fullmatch(text)
    if found is None or found[1][:3] != found[2][:3] or found[1][1:3] not in tuple(EcfType):
        return None
    return NumberRange(EcfType(found[1][1:3]), int(found[1][3:]), int(found[2][3:]))


async def _find(visit: Visit) -> Voiding:
    voiding_id: UUID = visit.params["voiding"]
    found = await visit.read(voidings.find, voiding_id)
    if found is None or found.environment is not visit.environment:
        raise not_found()
    return found


_THERE = "/companies/<int:company>/<environment>/voidings"
PAGES = (
    Page("GET", _THERE, Needs.READ, show),
    Page("POST", _THERE, Needs.WRITE, ask),
    Page("POST", f"{_THERE}/confirmed", Needs.WRITE, void),
    Page("GET", f"{_THERE}/<uuid:voiding>", Needs.READ, one),
    Page("GET", f"{_THERE}/<uuid:voiding>/xml", Needs.READ, xml),
    Page("GET", "/companies/<int:company>/<environment>/months/<month>/608.txt", Needs.READ, download_608),
)
