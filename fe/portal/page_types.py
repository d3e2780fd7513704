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
    #: The largest body it reads.
    max_body_bytes: int = 256 * 1024

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
