"""What can be asked of the authority, at which address, in which environment (authority.md#hosts and #operations)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from fe.ecf.catalogue import Environment


class Operation(StrEnum):
    """What authority.md#operations lists, under the names the management port uses."""

    SEED = "seed"
    VALIDATE_SEED = "validate_seed"
    RECEPTION = "reception"
    SUMMARY_RECEPTION = "summary_reception"
    RESULT = "result"
    STATE = "state"
    TRACK_IDS = "track_ids"
    SUMMARY_STATE = "summary_state"
    COMMERCIAL_APPROVAL = "commercial_approval"
    RANGE_VOIDING = "range_voiding"
    DIRECTORY = "directory"
    DIRECTORY_ENTRY = "directory_entry"
    SERVICES = "services"
    WINDOWS = "windows"
    IS_UP = "is_up"
    QR = "qr"
    SUMMARY_QR = "summary_qr"


class Host(StrEnum):
    """The authority's three hosts."""

    ECF = "ecf"
    FC = "fc"
    STATUS = "status"


class Access(StrEnum):
    """What a caller must show."""

    OPEN = "open"
    BEARER = "bearer"
    API_KEY = "apikey"


class Availability(StrEnum):
    """Which edition of the technical description decides where a service exists (authority.md#hosts)."""

    V1_6 = "1.6"
    V1_7 = "1.7"
    EVERYWHERE = "everywhere"


@dataclass(frozen=True, slots=True)
class Route:
    """One operation's address: `path` comes after `/{environment}/`, in lower case."""

    operation: Operation
    method: str
    host: Host
    path: str
    access: Access


_ROUTES = (
    Route(Operation.SEED, "GET", Host.ECF, "autenticacion/api/autenticacion/semilla", Access.OPEN),
    Route(Operation.VALIDATE_SEED, "POST", Host.ECF, "autenticacion/api/autenticacion/validarsemilla", Access.OPEN),
    Route(Operation.RECEPTION, "POST", Host.ECF, "recepcion/api/facturaselectronicas", Access.BEARER),
    Route(Operation.SUMMARY_RECEPTION, "POST", Host.FC, "recepcionfc/api/recepcion/ecf", Access.BEARER),
    Route(Operation.RESULT, "GET", Host.ECF, "consultaresultado/api/consultas/estado", Access.BEARER),
    Route(Operation.STATE, "GET", Host.ECF, "consultaestado/api/consultas/estado", Access.BEARER),
    Route(Operation.TRACK_IDS, "GET", Host.ECF, "consultatrackids/api/trackids/consulta", Access.BEARER),
    Route(Operation.SUMMARY_STATE, "GET", Host.FC, "consultarfce/api/consultas/consulta", Access.BEARER),
    Route(
        Operation.COMMERCIAL_APPROVAL, "POST", Host.ECF, "aprobacioncomercial/api/aprobacioncomercial", Access.BEARER
    ),
    Route(Operation.RANGE_VOIDING, "POST", Host.ECF, "anulacionrangos/api/operaciones/anularrango", Access.BEARER),
    Route(Operation.DIRECTORY, "GET", Host.ECF, "consultadirectorio/api/consultas/listado", Access.BEARER),
    Route(
        Operation.DIRECTORY_ENTRY,
        "GET",
        Host.ECF,
        "consultadirectorio/api/consultas/obtenerdirectorioporrnc",
        Access.BEARER,
    ),
    Route(Operation.QR, "GET", Host.ECF, "consultatimbre", Access.OPEN),
    Route(Operation.SUMMARY_QR, "GET", Host.FC, "consultatimbrefc", Access.OPEN),
)
_BY_PATH = {route.path: route for route in _ROUTES}

#: The status services have no environment in their path.
_STATUS_BY_PATH = {
    route.path: route
    for route in (
        Route(Operation.SERVICES, "GET", Host.STATUS, "api/estatusservicios/obtenerestatus", Access.API_KEY),
        Route(
            Operation.WINDOWS,
            "GET",
            Host.STATUS,
            "api/estatusservicios/obtenerventanasmantenimiento",
            Access.API_KEY,
        ),
        Route(Operation.IS_UP, "GET", Host.STATUS, "api/estatusservicios/verificarestado", Access.API_KEY),
    )
}
_ENVIRONMENTS = {environment.value: environment for environment in Environment}

#: Operations whose request carries a fiscal document: these are what the journal records.
CARRIES_DOCUMENT = frozenset(
    {Operation.RECEPTION, Operation.SUMMARY_RECEPTION, Operation.COMMERCIAL_APPROVAL, Operation.RANGE_VOIDING}
)

_T, _C, _P = Environment.TESTECF, Environment.CERTECF, Environment.ECF
_NOT_IN_CERTIFICATION = dict.fromkeys(
    (
        Operation.STATE,
        Operation.TRACK_IDS,
        Operation.RANGE_VOIDING,
        Operation.DIRECTORY,
        Operation.DIRECTORY_ENTRY,
    ),
    frozenset({_T, _P}),
)
#: Only what is not everywhere.
_WHERE: dict[Availability, dict[Operation, frozenset[Environment]]] = {
    Availability.V1_6: {
        **_NOT_IN_CERTIFICATION,
        Operation.SUMMARY_RECEPTION: frozenset({_T, _P}),
        Operation.SUMMARY_STATE: frozenset({_P}),
        Operation.SUMMARY_QR: frozenset({_T, _P}),
    },
    Availability.V1_7: _NOT_IN_CERTIFICATION,
    Availability.EVERYWHERE: {},
}


def find_route(path: str, hosts: Iterable[Host], availability: Availability) -> tuple[Route, Environment | None] | None:
    """The operation at `path`, and the environment it names, or None where the authority has nothing.

    Upper and lower case are the same, empty segments (doubled and trailing slashes) do not count.
    """
    segments = [segment for segment in path.lower().split("/") if segment]
    environment = _ENVIRONMENTS.get(segments[0]) if segments else None
    rest = segments[1:] if environment else segments
    route = (_BY_PATH if environment else _STATUS_BY_PATH).get("/".join(rest))
    if route is None or route.host not in hosts:
        return None
    if environment is not None and environment not in _WHERE[availability].get(route.operation, _ENVIRONMENTS.values()):
        return None
    return route, environment
