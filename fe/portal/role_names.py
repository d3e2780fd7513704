"""Names and descriptions of the roles."""

from fe.ecf.texts import Text
from fe.store.portal.people import PortalRole

ROLES = {
    PortalRole.OWNER: Text("Owner", "Administrador"),
    PortalRole.MEMBER: Text("Member", "Facturador"),
    PortalRole.ACCOUNTANT: Text("Accountant", "Contador"),
}

MEANINGS = {
    PortalRole.OWNER: Text(
        "does everything: people, keys and certificates too",
        "hace todo: también personas, claves y certificados",
    ),
    PortalRole.MEMBER: Text("issues and changes receipts and sequences", "emite comprobantes y cambia secuencias"),
    PortalRole.ACCOUNTANT: Text("sees everything and changes nothing", "ve todo y no cambia nada"),
}
