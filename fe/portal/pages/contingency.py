"""The mode of a company in an environment: what holds now, setting another, and the periods on record."""

from datetime import date, datetime
from uuid import UUID

from fe.accounts import modes as flow
from fe.accounts.audited_changes import retire_agent
from fe.accounts.modes import LONGEST_NUMBER, LONGEST_REASON, NAMES, ModeRefused
from fe.contingency import TERMS, Clock, Mode, may_follow, replace_by
from fe.ecf.dates import ZONE
from fe.ecf.texts import Text
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.records import agents, modes, paper, sequences
from fe.store.records.agents import AgentId

_ABOUT: dict[Mode, Text] = {
    Mode.NORMAL: Text(
        "Receipts are signed and sent at once. Hand them over once the DGII has accepted them.",
        "Los comprobantes se firman y se envían en el momento. Entréguelos cuando la DGII los acepte.",
    ),
    Mode.OFFLINE: Text(
        "Receipts are signed at the moment of the sale and carry the legend of contingency. Hand them over; they are "
        "sent within 72 hours.",
        "Los comprobantes se firman al momento de la venta y llevan la leyenda de contingencia. Entréguelos; se envían "
        "dentro de 72 horas.",
    ),
    Mode.AUTHORITY_DOWN: Text(
        "The DGII does not answer. Receipts are signed and carry the legend of contingency. Hand them over; they are "
        "sent by themselves when it answers again.",
        "La DGII no responde. Los comprobantes se firman y llevan la leyenda de contingencia. Entréguelos; se envían "
        "solos cuando vuelva a responder.",
    ),
    Mode.CONTINGENCY: Text(
        "You declared that you cannot issue electronically. Use receipts of series B; replace each by an e-CF within "
        "30 days after the contingency ends. It lasts 15 days at most.",
        "Usted declaró que no puede emitir electrónicamente. Use comprobantes de la serie B; reemplace cada uno por un "
        "e-CF dentro de los 30 días siguientes al fin de la contingencia. Dura a lo sumo 15 días.",
    ),
    Mode.DEFERRED: Text(
        "You are authorised to send later than you issue: within 24 hours. Receipts with IndicadorEnvioDiferido 1 "
        "carry the legend of deferred sending: hand them over. Others wait for their acceptance.",
        "Usted está autorizado a enviar después de emitir: dentro de 24 horas. Los comprobantes con "
        "IndicadorEnvioDiferido 1 llevan la leyenda de envío diferido: entréguelos. Los demás esperan su aceptación.",
    ),
}
_CHANGED = Text("The mode was changed.", "Se cambió el modo.")
_RETIRED = Text(
    "The agent was retired: it issues nothing more, and delivers what it has.",
    "El agente fue retirado: no emite más y entrega lo que tiene.",
)
_NO_AGENT = Text("This agent is retired already.", "Este agente ya fue retirado.")
_BAD_DATE = Text("A date has the form 2026-12-31.", "Escriba la fecha así: 2026-12-31.")


async def show(visit: Visit) -> Reply:
    """Show the mode, the form and the periods."""
    return await _show(visit)


async def _show(visit: Visit, problem: Text | None = None, status: int = 200) -> Reply:
    found = await visit.read(flow.current, visit.environment)
    stored = Mode.NORMAL if found.period is None else found.period.mode
    return visit.page(
        "company/contingency.html",
        status,
        found=found,
        names=NAMES,
        about=_ABOUT,
        choices=[one for one in Mode if one in may_follow(stored)],
        periods=await visit.read(modes.listed, visit.environment),
        papers=(await visit.read(paper.still_open)).get(visit.environment),
        replace_by=replace_by,
        longest=TERMS[Clock.PERIOD],
        problem=problem,
        longest_reason=LONGEST_REASON,
        longest_number=LONGEST_NUMBER,
        agents=await visit.read(agents.listed, visit.environment),
        ranges=[one for one in await visit.read(sequences.listed, visit.environment) if one.agent_id is not None],
    )


async def change(visit: Visit) -> Reply:
    """Change the mode."""
    form = visit.form
    try:
        mode = Mode(form.get("mode"))
        valid_until = date.fromisoformat(form.get("valid_until")) if form.get("valid_until") else None
        since = datetime.fromisoformat(form.get("since")).replace(tzinfo=ZONE) if form.get("since") else None
    except ValueError:
        return await _show(visit, _BAD_DATE, 400)

    async def make(conn: Conn) -> None:
        tenant = await visit.locked_tenant(conn)
        await flow.change(
            conn,
            visit.author,
            tenant,
            visit.environment,
            mode,
            form.get("reason"),
            number=form.get("number") or None,
            valid_until=valid_until,
            since=since,
            leaves_open=form.has("leave_open"),
        )

    try:
        await visit.change(make)
    except ModeRefused as refused:
        return await _show(visit, refused.text, 400)
    return await visit.go(visit.within("contingency"), _CHANGED)


async def retire(visit: Visit) -> Reply:
    """Retire an agent: it gets no more leases."""
    try:
        agent_id = AgentId(UUID(visit.form.get("agent")))
    except ValueError:
        raise not_found() from None

    async def make(conn: Conn) -> bool:
        tenant = await visit.locked_tenant(conn)
        return await retire_agent(conn, visit.author, tenant, visit.environment, agent_id)

    if not await visit.change(make):
        return await _show(visit, _NO_AGENT, 409)
    return await visit.go(visit.within("contingency"), _RETIRED)


_PATH = "/companies/<int:company>/<environment>/contingency"
PAGES = (
    Page("GET", _PATH, Needs.READ, show),
    Page("POST", _PATH, Needs.WRITE, change),
    Page("POST", f"{_PATH}/retire-agent", Needs.WRITE, retire),
)
