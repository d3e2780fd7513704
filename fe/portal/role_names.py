"""Names and descriptions of the roles."""

from fe.ecf.texts import Text
from fe.store.portal.people import PortalRole

ROLES = {
    PortalRole.OWNER: Text("Owner", "Administrador"),
    PortalRole.MEMBER: Text("Member", "Facturador"),
    PortalRole.ACCOUNTANT: Text("Accountant", "Contador"),
}

#: The name of an accountant who approves and rejects received receipts.
_ANSWERING = Text("Accountant, answers suppliers", "Contador, responde recibidos")

MEANINGS = {
    PortalRole.OWNER: Text(
        "does everything: people, keys and certificates too",
        "hace todo: también personas, claves y certificados",
    ),
    PortalRole.MEMBER: Text("issues and changes receipts and sequences", "emite comprobantes y cambia secuencias"),
    PortalRole.ACCOUNTANT: Text(
        "sees everything and classifies purchases for the 606",
        "ve todo y clasifica las compras para el 606",
    ),
}


def role_name(role: PortalRole, answers: bool) -> Text:
    """Name a person's role; `answers` counts for an accountant alone, since the other roles include it."""
    return _ANSWERING if answers and role is PortalRole.ACCOUNTANT else ROLES[role]
