"""The directory, the state of the services and the announced maintenance (authority.md#directory and #services)."""

from datetime import datetime, timedelta
from typing import Any

from fe.ecf.catalogue import Environment
from fe.ecf.dates import local, show_day
from fe.simulator.faults import FaultWindow
from fe.simulator.registry import Taxpayer
from fe.simulator.replies import AuthorityReply
from fe.simulator.state import AuthorityCall, AuthorityState

_NAMES = {
    Environment.TESTECF: "PreCertificacion",
    Environment.ECF: "Produccion",
    Environment.CERTECF: "Certificacion",
}
_NUMBERS = {"1": Environment.TESTECF, "2": Environment.ECF, "3": Environment.CERTECF}
_SERVICES = (
    "Autenticación",
    "Recepción",
    "Consulta Resultado",
    "Consulta Estado",
    "Consulta Directorio",
    "Consulta TrackIds",
    "Aprobación Comercial",
    "Anulación Rangos",
    "Recepción FC",
)
#: Announced length of an open-ended window.
_UNKNOWN_END = timedelta(hours=4)


async def directory(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 11: every electronic taxpayer; some clients filter it with `?rnc=`."""
    rnc = call.query("rnc")
    if rnc:
        return AuthorityReply(_entries(state, call, rnc))
    return AuthorityReply([_entry(taxpayer) for taxpayer in state.registry.taxpayers.values() if taxpayer.electronic])


async def directory_entry(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 12: an array with one taxpayer, or an empty one."""
    rnc = call.query("rnc")
    if not rnc:
        return AuthorityReply("El campo RNC es requerido.", status=400)
    return AuthorityReply(_entries(state, call, rnc))


def _entries(state: AuthorityState, call: AuthorityCall, rnc: str) -> list[dict[str, Any]]:
    taxpayer = state.registry.taxpayers.get(rnc)
    if taxpayer is not None and taxpayer.electronic:
        return [_entry(taxpayer)]
    if call.environment is Environment.TESTECF:
        # The simulated counterparty, whom testecf gives for any RNC; never at the real authority's address.
        base = f"{call.request.base}/testecf"
        return [_entry(Taxpayer("131880681", "DGII", True, True, f"{base}/emisorreceptor", f"{base}/emisorreceptor"))]
    return []


def _entry(taxpayer: Taxpayer) -> dict[str, Any]:
    return {
        "nombre": taxpayer.name,
        "rnc": taxpayer.rnc,
        "urlRecepcion": taxpayer.reception_url,
        "urlAceptacion": taxpayer.approval_url,
        "urlOpcional": taxpayer.optional_url,
    }


def _up(state: AuthorityState, environment: Environment, now: datetime) -> str:
    return "No Disponible" if state.faults.under_maintenance(environment, now) else "Disponible"


async def services(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 13: each service in each environment."""
    return AuthorityReply(
        [
            {"servicio": service, "estatus": _up(state, environment, call.now), "ambiente": name}
            for environment, name in _NAMES.items()
            for service in _SERVICES
        ]
    )


async def windows(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 14: the windows that are open or to come, in local time, one entry a day."""
    windows = [
        {"ambiente": _NAMES[environment], **day}
        for window in state.faults.windows
        if window.end is None or window.end > call.now
        for environment in ([window.environment] if window.environment else _NAMES)
        for day in _days(window)
    ]
    return AuthorityReply({"ventanaMantenimientos": windows})


def _days(window: FaultWindow) -> list[dict[str, Any]]:
    start, end = local(window.start), local(window.end or window.start + _UNKNOWN_END)
    # Whole minutes, rounded outwards, as that is all the form can say.
    start = start.replace(second=0)
    end = (end + timedelta(seconds=59)).replace(second=0)
    days = []
    while start < end:
        midnight = (start + timedelta(days=1)).replace(hour=0, minute=0)
        last = min(end, midnight - timedelta(minutes=1))
        days.append({"horaInicio": _hour(start), "horaFin": _hour(max(last, start)), "dias": [show_day(start)]})
        start = midnight
    return days


def _hour(moment: datetime) -> str:
    return f"{(moment.hour - 1) % 12 + 1}:{moment.minute:02} {'AM' if moment.hour < 12 else 'PM'}"


async def is_up(state: AuthorityState, call: AuthorityCall) -> AuthorityReply:
    """Row 15: whether an environment is up."""
    environment = _NUMBERS.get(call.query("ambiente"))
    if environment is None:
        return AuthorityReply("El ambiente no es válido.", status=400)
    return AuthorityReply({"estado": _up(state, environment, call.now)})
