"""Where each service of the authority is (authority.md#hosts and #operations)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from urllib.parse import quote, urlsplit

from fe.ecf.catalogue import Environment, Host, Service
from fe.egress.target import Origin

__all__ = ["AMBIENTE", "SUBMIT", "Host", "Hosts", "Location", "Operation", "Origin", "host_of"]


class Operation(StrEnum):
    """Operations of the authority; the values label metrics and logs."""

    SEED = "seed"
    VALIDATE_SEED = "validate_seed"
    RECEPTION = "reception"
    SUMMARY_RECEPTION = "summary_reception"
    COMMERCIAL_APPROVAL = "commercial_approval"
    RANGE_VOIDING = "range_voiding"
    RESULT = "result"
    STATE = "state"
    TRACK_IDS = "track_ids"
    SUMMARY_STATE = "summary_state"
    SUMMARY_PAGE = "summary_page"
    DIRECTORY = "directory"
    SERVICES = "services"
    WINDOWS = "windows"
    IS_UP = "is_up"


#: The operation that submits a document to each service.
SUBMIT = {
    Service.RECEPTION: Operation.RECEPTION,
    Service.SUMMARY_RECEPTION: Operation.SUMMARY_RECEPTION,
    Service.COMMERCIAL_APPROVAL: Operation.COMMERCIAL_APPROVAL,
    Service.RANGE_VOIDING: Operation.RANGE_VOIDING,
}

_ROUTES = {
    Operation.SEED: (Host.ECF, "autenticacion/api/autenticacion/semilla"),
    Operation.VALIDATE_SEED: (Host.ECF, "autenticacion/api/autenticacion/validarsemilla"),
    Operation.RECEPTION: (Host.ECF, "recepcion/api/facturaselectronicas"),
    Operation.SUMMARY_RECEPTION: (Host.FC, "recepcionfc/api/recepcion/ecf"),
    Operation.COMMERCIAL_APPROVAL: (Host.ECF, "aprobacioncomercial/api/aprobacioncomercial"),
    Operation.RANGE_VOIDING: (Host.ECF, "anulacionrangos/api/operaciones/anularrango"),
    Operation.RESULT: (Host.ECF, "consultaresultado/api/consultas/estado"),
    Operation.STATE: (Host.ECF, "consultaestado/api/consultas/estado"),
    Operation.TRACK_IDS: (Host.ECF, "consultatrackids/api/trackids/consulta"),
    Operation.SUMMARY_STATE: (Host.FC, "consultarfce/api/Consultas/Consulta"),
    Operation.SUMMARY_PAGE: (Host.FC, "consultatimbrefc"),
    Operation.DIRECTORY: (Host.ECF, "consultadirectorio/api/consultas/obtenerdirectorioporrnc"),
    Operation.SERVICES: (Host.STATUS, "api/estatusservicios/obtenerestatus"),
    Operation.WINDOWS: (Host.STATUS, "api/estatusservicios/obtenerventanasmantenimiento"),
    Operation.IS_UP: (Host.STATUS, "api/estatusservicios/verificarestado"),
}


def host_of(operation: Operation) -> Host:
    """Tell which host answers an operation."""
    return _ROUTES[operation][0]


#: The number by which the status service knows each environment (row 15).
AMBIENTE = {Environment.TESTECF: "1", Environment.ECF: "2", Environment.CERTECF: "3"}

_HOSTNAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)*")


@dataclass(frozen=True, slots=True)
class Location:
    """Where one call goes: the connection's other end, and the request line's target."""

    host: Host
    origin: Origin
    target: str


@dataclass(frozen=True, slots=True)
class Hosts:
    """Base URLs of the authority's hosts: the published ones unless told otherwise (a simulator has one for all three).

    A base is `http` or `https`, a host, perhaps a port and a path; ValueError for anything else.
    """

    ecf: str = "https://ecf.dgii.gov.do"
    fc: str = "https://fc.dgii.gov.do"
    status: str = "https://statusecf.dgii.gov.do"

    def __post_init__(self) -> None:
        for base in (self.ecf, self.fc, self.status):
            _split(base)

    @classmethod
    def all_at(cls, base: str) -> "Hosts":
        """Serve all three from one base, as a simulator does."""
        return cls(ecf=base, fc=base, status=base)

    def locate(
        self, operation: Operation, environment: Environment | None, query: Mapping[str, str | None] | None = None
    ) -> Location:
        """Say where a call goes. Parameters without a value are left out: an empty one is not the same (section 9).

        The environment is the path's first segment, but for the status service, which takes none.
        """
        bare = _locate(self, operation, environment)
        pairs = [f"{name}={quote(value, safe='')}" for name, value in (query or {}).items() if value]
        return Location(bare.host, bare.origin, f"{bare.target}?{'&'.join(pairs)}") if pairs else bare


@lru_cache(maxsize=256)
def _locate(hosts: Hosts, operation: Operation, environment: Environment | None) -> Location:
    host, path = _ROUTES[operation]
    origin, prefix = _split({Host.ECF: hosts.ecf, Host.FC: hosts.fc, Host.STATUS: hosts.status}[host])
    segment = "" if environment is None else f"/{environment.value}"
    return Location(host, origin, f"{prefix}{segment}/{path}")


@lru_cache(maxsize=64)
def _split(base: str) -> tuple[Origin, str]:
    try:
        parts = urlsplit(base)
        port = parts.port
    except ValueError:
        raise _not_a_base(base) from None
    path = parts.path.rstrip("/")
    host = parts.hostname or ""
    plain = not (parts.query or parts.fragment) and parts.username is None and "\\" not in base
    if (
        parts.scheme not in ("http", "https")
        or not plain
        or not base.isprintable()
        or not (_HOSTNAME.fullmatch(host) or ":" in host)
        or not _PREFIX.fullmatch(path)
    ):
        raise _not_a_base(base)
    tls = parts.scheme == "https"
    return Origin(tls, host, port or (443 if tls else 80)), path


def _not_a_base(base: str) -> ValueError:
    return ValueError(f"not the base URL of a host of the authority: {base[:100]!r}")
