"""The authority's status of its own services: up or down, and announced maintenance (authority.md#services)."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from fe.authority.bodies import Body, BodyForm, fold, member, text
from fe.authority.replies import Unreadable
from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """Whether a service is up, by its name in the authority's words. `environment` is None if its name is unknown."""

    service: str
    available: bool
    environment: Environment | None


@dataclass(frozen=True, slots=True)
class MaintenanceWindow:
    """An announced maintenance, from `starts` to `ends` (aware, at -04:00)."""

    environment: Environment | None
    starts: datetime
    ends: datetime


_ENVIRONMENTS = {
    "produccion": Environment.ECF,
    "ecf": Environment.ECF,
    "precertificacion": Environment.TESTECF,
    "testecf": Environment.TESTECF,
    "certificacion": Environment.CERTECF,
    "certecf": Environment.CERTECF,
}


def _environment(value: Any) -> Environment | None:
    return _ENVIRONMENTS.get(re.sub(r"[ _-]", "", fold(text(value) or "")))


def _available(value: Any, body: Body) -> bool:
    word = fold(text(value) or "")
    if word not in ("disponible", "no disponible"):
        raise Unreadable("the answer does not say whether the service is up", body.raw)
    return word == "disponible"


def read_services(body: Body) -> list[ServiceStatus]:
    """Read the status of all services (row 13)."""
    if body.form is not BodyForm.DATA or not isinstance(body.value, list):
        raise Unreadable("the answer is not a list of services", body.raw)
    return [
        ServiceStatus(
            service=text(member(entry, "servicio")) or "",
            available=_available(member(entry, "estatus", "estado"), body),
            environment=_environment(member(entry, "ambiente")),
        )
        for entry in body.value
    ]


def read_up(body: Body) -> bool:
    """Read whether an environment is up (row 15)."""
    if body.form is not BodyForm.DATA:
        raise Unreadable("the answer does not say whether the environment is up", body.raw)
    return _available(member(body.value, "estado", "estatus"), body)


def read_windows(body: Body) -> list[MaintenanceWindow]:
    """Read the announced maintenance (row 14), a Window for each day; one that ends before it starts ends next day."""
    entries = member(body.value, "ventanamantenimientos") if body.form is BodyForm.DATA else None
    if not isinstance(entries, list):
        raise Unreadable("the answer is not a list of maintenance windows", body.raw)
    windows = []
    for entry in entries:
        days = member(entry, "dias")
        for day in days if isinstance(days, list) else [days]:
            starts, ends = (_local(day, member(entry, name), body) for name in ("horainicio", "horafin"))
            windows.append(
                MaintenanceWindow(
                    environment=_environment(member(entry, "ambiente")),
                    starts=starts,
                    ends=ends if ends > starts else ends + timedelta(days=1),
                )
            )
    return windows


def _local(day: Any, hour: Any, body: Body) -> datetime:
    # "9:00 AM" by hand: what strptime's %p reads depends on the process's locale.
    date = re.fullmatch(r"(\d{1,2})-(\d{1,2})-(\d{4})", text(day) or "", re.ASCII)
    time = re.fullmatch(r"(\d{1,2}):(\d{2}) ?([ap])\.? ?m\.?", (text(hour) or "").lower(), re.ASCII)
    if date and time and 1 <= int(time[1]) <= 12:
        hours = int(time[1]) % 12 + (12 if time[3] == "p" else 0)
        try:
            return datetime(int(date[3]), int(date[2]), int(date[1]), hours, int(time[2]), tzinfo=ZONE)
        except ValueError:
            pass
    raise Unreadable("a maintenance window has no date and hours", body.raw)
