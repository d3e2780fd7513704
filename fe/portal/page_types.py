"""Pages as values: an address, who may see it, and what answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto

from fe.portal.replies import Reply
from fe.portal.visit import Visit


class Needs(Enum):
    """Who may see a page. Those of a company have `<company>` in their address."""

    #: Anybody.
    NOTHING = auto()
    #: Somebody who has logged in.
    PERSON = auto()
    #: Somebody who works for the company, whatever the role.
    READ = auto()
    #: An owner or a member of it: what an accountant may not.
    WRITE = auto()
    #: An owner of it.
    OWN = auto()
    #: An operator of the installation. There are none where FE_PORTAL_OPERATORS is not set.
    OPERATE = auto()


#: The most that is read of whoever has not logged in: an address, a password, a name, and what every form carries.
STRANGERS_BYTES = 16 * 1024
STRANGERS_FIELDS = 30

Handler = Callable[[Visit], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Page:
    """A method and a path (Quart's form: `/companies/<int:company>/keys`), who may see it, and what answers."""

    method: str
    path: str
    needs: Needs
    handler: Handler
    #: Whether whoever is here has to have shown who it is in the last minutes (`FRESH`, fe/portal/app.py).
    fresh: bool = False
    #: The largest body it reads, and of how many fields and files. Before anybody has logged in it is a few fields.
    max_body_bytes: int = 256 * 1024
    max_fields: int = 200
    #: What answers in place of `handler` where the form is of a session before: shows what was typed, and does nothing.
    #: Without one it is refused, and what was typed with it.
    resume: Handler | None = None

    def __post_init__(self) -> None:
        """Hold what anybody may send to what such pages need."""
        if self.needs is Needs.NOTHING:
            object.__setattr__(self, "max_body_bytes", min(self.max_body_bytes, STRANGERS_BYTES))
            object.__setattr__(self, "max_fields", min(self.max_fields, STRANGERS_FIELDS))

    @property
    def name(self) -> str:
        """A name for the router."""
        return f"{self.method} {self.path}"

    @property
    def label(self) -> str:
        """Under what its requests are counted: its part of the portal, of which there are few; probes as the API's."""
        if self.path in ("/healthz", "/readyz"):
            return self.name
        return f"portal {self.handler.__module__.rpartition('.')[2]}"
