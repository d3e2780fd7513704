"""Changes of a tenant's mode, each with its author and reason, shared by API, portal and command line."""

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from fe.accounts.audited_changes import Author, Shown, note
from fe.clock import iso
from fe.contingency import NUMBERED, TERMS, Clock, Mode, may_follow, mode_of
from fe.ecf.catalogue import Environment, Host
from fe.ecf.dates import local
from fe.ecf.ids import new_id
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.records import authority_state, modes, paper, sandbox_outages
from fe.store.records.authority_state import CircuitOutage
from fe.store.records.modes import ModePeriod
from fe.store.records.tenants import Tenant

LONGEST_NUMBER, LONGEST_REASON = 40, 500

NAMES: dict[Mode, Text] = {
    Mode.NORMAL: Text("normal", "normal"),
    Mode.OFFLINE: Text("without connection", "sin conexión"),
    Mode.AUTHORITY_DOWN: Text("the DGII does not answer", "la DGII no responde"),
    Mode.CONTINGENCY: Text("declared contingency", "contingencia declarada"),
    Mode.DEFERRED: Text("deferred sending", "envío diferido"),
}
_FROM_TO = Text(
    "the mode is {now}: from there it cannot become {wanted}; end it first",
    "el modo es {now}: de ahí no puede pasar a {wanted}; termínelo primero",
)
_SAME = Text("the mode is {now} already", "el modo ya es {now}")
_REASON = Text(f"say why, in 1 to {LONGEST_REASON} characters", f"diga por qué, en 1 a {LONGEST_REASON} caracteres")
_NUMBER = Text(
    f"give the number of the declaration or authorisation, of 1 to {LONGEST_NUMBER} characters",
    f"indique el número de la declaración o autorización, de 1 a {LONGEST_NUMBER} caracteres",
)
_DAY = Text(
    "give the last day of the authorisation; it must not be past",
    "indique el último día de la autorización; no debe haber pasado",
)
_SINCE = Text(
    "the contingency begins now or earlier, at most 15 days ago",
    "la contingencia comienza ahora o antes, a lo sumo hace 15 días",
)
_OVERLAPS = Text(
    "the last contingency ended on {en}: this one begins after that",
    "la última contingencia terminó el {es}: esta comienza después",
)


#: The authority lets a contingency end before its paper receipts are replaced, and gives 30 days from then on.
_OPEN_PAPERS = Text(
    "paper receipts without an accepted e-CF: {count}. Enter those that are missing, and issue the replacements; the "
    "contingency may end before that: confirm it, and replace them within 30 days",
    "comprobantes en papel sin e-CF aceptado: {count}. Registre los que falten y emita los reemplazos; la contingencia "
    "puede terminar antes: confírmelo y reemplácelos dentro de 30 días",
)


class ModeRefused(LocalizedError):
    """The mode cannot be changed so."""


class PapersOpen(ModeRefused):
    """The contingency ends before its paper receipts are replaced, and that was not confirmed."""


@dataclass(frozen=True, slots=True)
class CurrentMode:
    """The mode in force, what is stored, and the outages of the authority in this environment."""

    mode: Mode
    period: ModePeriod | None
    outages: tuple[CircuitOutage, ...]

    @property
    def since(self) -> datetime | None:
        """Since when; None in normal mode."""
        if self.mode is Mode.AUTHORITY_DOWN:
            return self.outages[0].began_at
        return None if self.period is None else self.period.began_at


async def current(conn: Conn, tenant_id: TenantId, environment: Environment) -> CurrentMode:
    """Return the mode in force."""
    period = await modes.current(conn, tenant_id, environment)
    outages = tuple(one for one in await authority_state.outages_now(conn) if one.environment is environment)
    played = await sandbox_outages.lasting(conn, tenant_id, environment)
    if played is not None:
        outages += (CircuitOutage(environment, Host.ECF, played.began_at, None, "an outage in the sandbox"),)
    stored = Mode.NORMAL if period is None else period.mode
    return CurrentMode(mode_of(stored, authority_is_down=bool(outages)), period, outages)


async def change(
    conn: Conn,
    by: Author,
    tenant: Tenant,
    environment: Environment,
    wanted: Mode,
    reason: str,
    *,
    number: str | None = None,
    valid_until: date | None = None,
    since: datetime | None = None,
    leaves_open: bool = False,
) -> ModePeriod | None:
    """Change the stored mode; return the new period, None for the normal mode. Run it in a transaction.

    `tenant` is locked, so that concurrent changes run one after the other. `leaves_open`: a contingency may end with
    paper receipts that are not replaced. Raises ModeRefused.
    """
    before = await modes.current(conn, tenant.tenant_id, environment)
    now_in = Mode.NORMAL if before is None else before.mode
    if wanted is now_in:
        raise ModeRefused(_SAME.fill(now=NAMES[now_in]))
    if wanted not in may_follow(now_in):
        raise ModeRefused(_FROM_TO.fill(now=NAMES[now_in], wanted=NAMES[wanted]))
    if not 1 <= len(reason.strip()) <= LONGEST_REASON:
        raise ModeRefused(_REASON)
    if before is not None and before.mode is Mode.CONTINGENCY and not leaves_open:
        left = (await paper.still_open(conn, tenant.tenant_id)).get(environment)
        if left is not None:
            raise PapersOpen(_OPEN_PAPERS.fill(count=left.receipts))
    period = None
    if wanted is not Mode.NORMAL:
        plain = ModePeriod(new_id(by.at), environment, wanted, None, None, by.at, by.by_whom, reason.strip())
        period = _checked(plain, by, number, valid_until, since)
    if since is not None and period is not None and period.mode is Mode.CONTINGENCY:
        # A day of two contingencies would give its paper receipts the later term.
        ended_at = await modes.last_contingency_end(conn, tenant.tenant_id, environment)
        if ended_at is not None and period.began_at < ended_at:
            end = local(ended_at)
            raise ModeRefused(_OVERLAPS.fill(en=f"{end:%Y-%m-%d %H:%M:%S}", es=f"{end:%d-%m-%Y %H:%M:%S}"))
    if before is not None:
        await modes.end(conn, tenant.tenant_id, environment, by=by.by_whom, reason=reason.strip(), at=by.at)
    if period is not None:
        await modes.begin(conn, tenant.tenant_id, period)
    old, new = _shown(before), _shown(period)
    await note(conn, tenant, by, "mode changed", environment.value, old, {**new, "reason": reason.strip()})
    return period


def _checked(
    plain: ModePeriod, by: Author, number: str | None, valid_until: date | None, since: datetime | None
) -> ModePeriod:
    """Return the period with what its mode needs. Raises ModeRefused."""
    if plain.mode not in NUMBERED:
        return plain
    if number is None or not 1 <= len(number.strip()) <= LONGEST_NUMBER:
        raise ModeRefused(_NUMBER)
    if plain.mode is Mode.DEFERRED:
        if valid_until is None or valid_until < by.today:
            raise ModeRefused(_DAY)
        return replace(plain, number=number.strip(), valid_until=valid_until)
    began_at = by.at if since is None else since
    if not by.at - TERMS[Clock.PERIOD] <= began_at <= by.at + timedelta(minutes=1):
        raise ModeRefused(_SINCE)
    return replace(plain, number=number.strip(), began_at=min(began_at, by.at))


def _shown(period: ModePeriod | None) -> Shown:
    if period is None:
        return {"mode": Mode.NORMAL.value}
    shown: Shown = {"mode": period.mode.value, "since": iso(period.began_at)}
    if period.number is not None:
        shown["number"] = period.number
    if period.valid_until is not None:
        shown["validUntil"] = period.valid_until.isoformat()
    return shown
