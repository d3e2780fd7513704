"""Pages as values: address, access and handler."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto

from fe.portal.replies import Reply
from fe.portal.visit import Visit


class Needs(Enum):
    """Access level of a page. Addresses of a company's pages contain `<company>`."""

    #: Public.
    NOTHING = auto()
    #: Any signed-in person.
    PERSON = auto()
    #: Any member of the company.
    READ = auto()
    #: An owner or member of the company, not an accountant.
    WRITE = auto()
    #: The same, and an accountant who answers suppliers.
    ANSWER = auto()
    #: An owner of it.
    OWN = auto()
    #: An operator of the installation. There are none where FE_PORTAL_OPERATORS is not set.
    OPERATE = auto()


#: Size limits before sign-in: an address, a password, a name, and the hidden fields.
STRANGERS_BYTES = 16 * 1024
STRANGERS_FIELDS = 30

Handler = Callable[[Visit], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Page:
    """A method and a path (Quart's form: `/companies/<int:company>/keys`), its access and its handler."""

    method: str
    path: str
    needs: Needs
    handler: Handler
    #: Whether the person must have confirmed their identity recently (`FRESH`, fe/portal/app.py).
    fresh: bool = False
    #: Limits of the body's bytes, and of fields and files. Public pages take only a few.
    max_body_bytes: int = 256 * 1024
    max_fields: int = 200
    #: Handler for a form of an earlier session: shows the typed text again and changes nothing. Without it the form is
    #: rejected, and the typed text is lost.
    resume: Handler | None = None

    def __post_init__(self) -> None:
        """Apply the limits of public pages to a page."""
        if self.needs is Needs.NOTHING:
            object.__setattr__(self, "max_body_bytes", min(self.max_body_bytes, STRANGERS_BYTES))
            object.__setattr__(self, "max_fields", min(self.max_fields, STRANGERS_FIELDS))

    @property
    def name(self) -> str:
        """A name for the router."""
        return f"{self.method} {self.path}"

    @property
    def label(self) -> str:
        """Return the metrics label: the page's part of the portal; probes share the API's."""
        if self.path in ("/healthz", "/readyz"):
            return self.name
        return f"portal {self.handler.__module__.rpartition('.')[2]}"
