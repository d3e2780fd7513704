"""Routes as values: what answers, who may call, and what the description says about it."""

from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from fe.http.calls import KEYED, Handler
from fe.http.models.response_types import ResponseModel
from fe.http.openapi.described_errors import DescribedError
from fe.http.request_bodies import RequestModel


@dataclass(frozen=True, slots=True)
class Deprecated:
    """Since when something is deprecated, and the day of its removal, once that is fixed."""

    since: date
    sunset: date | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path or query parameter as the description shows it."""

    name: str
    description: str
    schema: dict[str, Any]
    where: str = "query"
    deprecated: Deprecated | None = None
    #: It may be written `name[key]=value`, too.
    is_keyed: bool = False


@dataclass(frozen=True, slots=True)
class RouteLink:
    """Where an answer leads: a field of it is a parameter of another route, named by its operation id."""

    status: int
    field: str
    operation: str
    parameter: str


@dataclass(frozen=True, slots=True)
class About:
    """The description of a route. `answers`: response models by status; errors are added by themselves."""

    #: Its name: generators make a method of it.
    operation: str
    summary: str
    group: str
    answers: dict[int, tuple[ResponseModel[Any], ...]]
    body: type[RequestModel] | None = None
    parameters: tuple[Parameter, ...] = field(default=())
    #: The errors beyond those that every route of its kind has.
    errors: tuple[DescribedError, ...] = field(default=())
    links: tuple[RouteLink, ...] = field(default=())
    #: Whether a request without a body is refused.
    needs_body: bool = True
    #: One more sentence for callers.
    note: str = ""
    #: The media type of a 200 that is a file and not JSON.
    file: str = ""


@dataclass(frozen=True)
class Route:
    """A method and path, the scope of its callers (None: no token is needed), and its handler. Paths are whole.

    `about` is None for what the description leaves out.
    """

    method: str
    path: str
    scope: str | None
    handler: Handler
    about: About | None = None
    #: The largest body it reads; None: the limit of the settings.
    max_body_bytes: int | None = None

    @property
    def query_parameters(self) -> tuple[str, ...]:
        """The names that its query string may use, in the order of the description."""
        described = self.about.parameters if self.about is not None else ()
        asked = [one for one in described if one.where == "query"]
        return (*(one.name for one in asked), *(f"{one.name}{KEYED}" for one in asked if one.is_keyed))

    @cached_property
    def deprecated_parameters(self) -> tuple[Parameter, ...]:
        """Its parameters that will go, or have no effect."""
        return tuple(one for one in (self.about.parameters if self.about is not None else ()) if one.deprecated)

    @property
    def name(self) -> str:
        """A name for metrics and the router."""
        return f"{self.method} {self.path}"


def whole(minimum: int, maximum: int, default: int) -> dict[str, Any]:
    """Describe a parameter that is a whole number."""
    return {"type": "integer", "minimum": minimum, "maximum": maximum, "default": default}
