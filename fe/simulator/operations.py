"""Operations of the authority: address and environments (authority.md#hosts and #operations)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from fe.ecf.catalogue import Environment


class SimulatedOperation(StrEnum):
    """The operations of authority.md#operations, under the names the management port uses."""

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
    #: The simulated counterparty of testecf, as a receiver and as an issuer.
    COUNTERPARTY_SEED = "counterparty_seed"
    COUNTERPARTY_TOKEN = "counterparty_token"  # noqa: S105  (no password)
    COUNTERPARTY_RECEPTION = "counterparty_reception"
    COUNTERPARTY_APPROVAL = "counterparty_approval"


class SimulatedHost(StrEnum):
    """The authority's three hosts."""

    ECF = "ecf"
    FC = "fc"
    STATUS = "status"


class Access(StrEnum):
    """Credential that a caller must show."""

    OPEN = "open"
    BEARER = "bearer"
    API_KEY = "apikey"


class Availability(StrEnum):
    """Which edition of the technical description decides where a service exists (authority.md#hosts)."""

    V1_6 = "1.6"
    V1_7 = "1.7"
    EVERYWHERE = "everywhere"


@dataclass(frozen=True, slots=True)
class ServiceRoute:
    """One operation's address: `path` comes after `/{environment}/`, in lower case."""

    operation: SimulatedOperation
    method: str
    host: SimulatedHost
    path: str
    access: Access


_ROUTES = (
    ServiceRoute(
        SimulatedOperation.SEED, "GET", SimulatedHost.ECF, "autenticacion/api/autenticacion/semilla", Access.OPEN
    ),
    ServiceRoute(
        SimulatedOperation.VALIDATE_SEED,
        "POST",
        SimulatedHost.ECF,
        "autenticacion/api/autenticacion/validarsemilla",
        Access.OPEN,
    ),
    ServiceRoute(
        SimulatedOperation.RECEPTION, "POST", SimulatedHost.ECF, "recepcion/api/facturaselectronicas", Access.BEARER
    ),
    ServiceRoute(
        SimulatedOperation.SUMMARY_RECEPTION, "POST", SimulatedHost.FC, "recepcionfc/api/recepcion/ecf", Access.BEARER
    ),
    ServiceRoute(
        SimulatedOperation.RESULT, "GET", SimulatedHost.ECF, "consultaresultado/api/consultas/estado", Access.BEARER
    ),
    ServiceRoute(
        SimulatedOperation.STATE, "GET", SimulatedHost.ECF, "consultaestado/api/consultas/estado", Access.BEARER
    ),
    ServiceRoute(
        SimulatedOperation.TRACK_IDS, "GET", SimulatedHost.ECF, "consultatrackids/api/trackids/consulta", Access.BEARER
    ),
    ServiceRoute(
        SimulatedOperation.SUMMARY_STATE, "GET", SimulatedHost.FC, "consultarfce/api/consultas/consulta", Access.BEARER
    ),
    ServiceRoute(
        SimulatedOperation.COMMERCIAL_APPROVAL,
        "POST",
        SimulatedHost.ECF,
        "aprobacioncomercial/api/aprobacioncomercial",
        Access.BEARER,
    ),
    ServiceRoute(
        SimulatedOperation.RANGE_VOIDING,
        "POST",
        SimulatedHost.ECF,
        "anulacionrangos/api/operaciones/anularrango",
        Access.BEARER,
    ),
    ServiceRoute(
        SimulatedOperation.DIRECTORY,
        "GET",
        SimulatedHost.ECF,
        "consultadirectorio/api/consultas/listado",
        Access.BEARER,
    ),
    ServiceRoute(
        SimulatedOperation.DIRECTORY_ENTRY,
        "GET",
        SimulatedHost.ECF,
        "consultadirectorio/api/consultas/obtenerdirectorioporrnc",
        Access.BEARER,
    ),
    ServiceRoute(SimulatedOperation.QR, "GET", SimulatedHost.ECF, "consultatimbre", Access.OPEN),
    ServiceRoute(SimulatedOperation.SUMMARY_QR, "GET", SimulatedHost.FC, "consultatimbrefc", Access.OPEN),
    *(
        ServiceRoute(operation, method, SimulatedHost.ECF, f"emisorreceptor/fe/{path}", Access.OPEN)
        for operation, method, path in (
            (SimulatedOperation.COUNTERPARTY_SEED, "GET", "autenticacion/api/semilla"),
            (SimulatedOperation.COUNTERPARTY_TOKEN, "POST", "autenticacion/api/validacioncertificado"),
            (SimulatedOperation.COUNTERPARTY_RECEPTION, "POST", "recepcion/api/ecf"),
            (SimulatedOperation.COUNTERPARTY_APPROVAL, "POST", "aprobacioncomercial/api/ecf"),
        )
    ),
)
_BY_PATH = {route.path: route for route in _ROUTES}
_BY_OPERATION = {route.operation: route for route in _ROUTES}

#: The status services have no environment in their path.
_STATUS_BY_PATH = {
    route.path: route
    for route in (
        ServiceRoute(
            SimulatedOperation.SERVICES,
            "GET",
            SimulatedHost.STATUS,
            "api/estatusservicios/obtenerestatus",
            Access.API_KEY,
        ),
        ServiceRoute(
            SimulatedOperation.WINDOWS,
            "GET",
            SimulatedHost.STATUS,
            "api/estatusservicios/obtenerventanasmantenimiento",
            Access.API_KEY,
        ),
        ServiceRoute(
            SimulatedOperation.IS_UP,
            "GET",
            SimulatedHost.STATUS,
            "api/estatusservicios/verificarestado",
            Access.API_KEY,
        ),
    )
}
_ENVIRONMENTS = {environment.value: environment for environment in Environment}

#: Operations whose request carries a fiscal document: these are what the journal records.
CARRIES_DOCUMENT = frozenset(
    {
        SimulatedOperation.RECEPTION,
        SimulatedOperation.SUMMARY_RECEPTION,
        SimulatedOperation.COMMERCIAL_APPROVAL,
        SimulatedOperation.RANGE_VOIDING,
    }
)

_T, _C, _P = Environment.TESTECF, Environment.CERTECF, Environment.ECF
_NOT_IN_CERTIFICATION = dict.fromkeys(
    (
        SimulatedOperation.STATE,
        SimulatedOperation.TRACK_IDS,
        SimulatedOperation.RANGE_VOIDING,
        SimulatedOperation.DIRECTORY,
        SimulatedOperation.DIRECTORY_ENTRY,
    ),
    frozenset({_T, _P}),
)
_COUNTERPARTY = dict.fromkeys(
    (
        SimulatedOperation.COUNTERPARTY_SEED,
        SimulatedOperation.COUNTERPARTY_TOKEN,
        SimulatedOperation.COUNTERPARTY_RECEPTION,
        SimulatedOperation.COUNTERPARTY_APPROVAL,
    ),
    frozenset({_T}),
)
#: Only what is not everywhere.
_WHERE: dict[Availability, dict[SimulatedOperation, frozenset[Environment]]] = {
    Availability.V1_6: {
        **_NOT_IN_CERTIFICATION,
        **_COUNTERPARTY,
        SimulatedOperation.SUMMARY_RECEPTION: frozenset({_T, _P}),
        SimulatedOperation.SUMMARY_STATE: frozenset({_P}),
        SimulatedOperation.SUMMARY_QR: frozenset({_T, _P}),
    },
    Availability.V1_7: {**_NOT_IN_CERTIFICATION, **_COUNTERPARTY},
    Availability.EVERYWHERE: {},
}


def route_of(operation: SimulatedOperation) -> ServiceRoute:
    """The address of an operation that has an environment."""
    return _BY_OPERATION[operation]


def find_route(
    path: str, hosts: Iterable[SimulatedHost], availability: Availability
) -> tuple[ServiceRoute, Environment | None] | None:
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
