"""For whose RNC a tenant may sign, as this process knows it (docs/decisions/issuers.md)."""

import re

import trio

from fe.cache import ExpiringCache
from fe.ecf.catalogue import Root
from fe.ecf.identity import TAX_ID_FORM
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from fe.store.records import issuers
from fe.store.records.issuers import Standing

#: How long a process may go on with what it has read, in seconds.
FRESH = 30.0
_MAX_KNOWN = 10_000
_TAX_ID = re.compile(TAX_ID_FORM)

#: Where the roots name in whose name they are signed: the issuer; of an approval the buyer (authority.md#approval).
SIGNER_PATH = {
    Root.ECF: "Encabezado.Emisor.RNCEmisor",
    Root.RFCE: "Encabezado.Emisor.RNCEmisor",
    Root.ANECF: "Encabezado.RncEmisor",
    Root.ACECF: "DetalleAprobacionComercial.RNCComprador",
}


def signed_for(root: Root, issuer_rnc: str | None, buyer_rnc: str | None) -> str | None:
    """Tell in whose name a document of these parties is signed."""
    return buyer_rnc if root is Root.ACECF else issuer_rnc


class ForbiddenIssuer(LocalizedError):
    """It would be signed for another tenant, and no delegation is recorded. The message is for clients."""

    def __init__(self, root: Root, rnc: str) -> None:
        name = SIGNER_PATH[root].rpartition(".")[2]
        super().__init__(
            Text(
                f"{name} {rnc} is that of another taxpayer of this service, and no delegation is recorded",
                f"{name} {rnc} es de otro contribuyente de este servicio, y no consta una delegación",
            )
        )


class ForbiddenSigner(ForbiddenIssuer):
    """It is signed already, with a certificate that no agent of the tenant has registered."""

    def __init__(self, certificate: str) -> None:
        LocalizedError.__init__(
            self,
            Text(
                f"no agent of this company signs with the certificate {certificate} (SHA-256) in this environment",
                f"ningún agente de esta empresa firma con el certificado {certificate} (SHA-256) en este ambiente",
            ),
        )


class EnteredOnPaper(ForbiddenIssuer):
    """It replaces a paper receipt that is entered here, whose e-CF the service issues once."""

    def __init__(self, ncf: str) -> None:
        LocalizedError.__init__(
            self,
            Text(
                f"{ncf} is entered here as a paper receipt: its e-CF is issued by "
                "POST /paper-receipts/replacements, or in the portal under Contingency",
                f"{ncf} está registrado aquí como comprobante en papel: su e-CF se emite con "
                "POST /paper-receipts/replacements, o en el portal, en Contingencia",
            ),
        )


class KnownIssuers:
    """Cache of which tenant may issue for which RNC; one per process, or one per part of it.

    Permissions are kept for FRESH seconds, so nearly every document costs no look-up. Refusals are not kept, so a
    delegation counts from the moment it is recorded.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: ExpiringCache[tuple[TenantId, str], tuple[Standing, float]] = ExpiringCache(_MAX_KNOWN)
        #: How often the database was asked.
        self.asked = 0

    async def __call__(self, tenant_id: TenantId, rnc: str) -> Standing:
        """Tell what an RNC is to a tenant, as it was at most FRESH seconds ago. Raises DatabaseUnavailable.

        Cancelled while it asks, it has changed nothing.
        """
        asked_at = trio.current_time()
        found = self._known.get((tenant_id, rnc))
        if found is not None and asked_at - found[1] < FRESH:
            return found[0]
        self.asked += 1
        standing = await self._db.run_for(tenant_id, issuers.standing, rnc)
        if standing is Standing.ANOTHER:
            self._known.forget((tenant_id, rnc))
        else:
            self._known.put((tenant_id, rnc), (standing, asked_at))
        return standing

    async def require(self, tenant_id: TenantId, root: Root, rnc: str | None) -> Standing:
        """Check that a tenant may sign a document of this root for this RNC, and return why; without an RNC it is its
        own.

        An impossible RNC belongs to no taxpayer: such a document is never sent.

        Raises ForbiddenIssuer, and DatabaseUnavailable.
        """
        if rnc is None or root not in SIGNER_PATH:
            return Standing.OWN
        if not _TAX_ID.fullmatch(rnc):
            return Standing.FOREIGN
        standing = await self(tenant_id, rnc)
        if standing is Standing.ANOTHER:
            raise ForbiddenIssuer(root, rnc)
        return standing
