"""Changes and removals: a tenant's data, disabled tenants, users and certificates.

Each function runs in the caller's transaction (docs/decisions/disabled-tenants.md, docs/operations.md).
`audited_changes` records the author. Errors that the database raises for removals become messages here.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, NoReturn

from cryptography.hazmat.primitives.serialization import Encoding

from fe.accounts.keys import REVOKED_CHANNEL
from fe.accounts.provision import LONGEST_NAME, NameTaken, ProvisioningRefused, Unknown, check_issuer, require_texts
from fe.ecf.certificate import CertificateError, open_p12
from fe.ecf.identity import tax_id
from fe.ecf.ids import new_id
from fe.ecf.texts import Text
from fe.identifiers import CertificateId
from fe.secrets.vault import P12_PURPOSE, PASSPHRASE_PURPOSE, Belongs, Vault, VaultError
from fe.store.postgres.db import Conn
from fe.store.queue import audit
from fe.store.queue.audit import OperatorAction
from fe.store.records import certificates, issuers, keys, sequences, tenants, throttle
from fe.store.records.certificates import CertificateRecord, EncryptedCertificate
from fe.store.records.issuers import Standing
from fe.store.records.tenants import Tenant, User
from fe.store.webhooks import deliveries, endpoints, recoveries

_RNC = "RNCEmisor"


class BadName(ProvisioningRefused):
    """A name that is empty or not printable."""


class RncFixed(ProvisioningRefused):
    """The RNC cannot be changed any longer."""


class RncOfAnother(ProvisioningRefused):
    """The RNC belongs to another tenant without a delegation to this one."""


def check_name(name: str) -> None:
    """Check the name of a tenant. Raises BadName."""
    if not (0 < len(name.strip()) <= LONGEST_NAME and name.isprintable()):
        raise BadName(
            Text(
                f"the name should be of 1 to {LONGEST_NAME} characters, on one line",
                f"el nombre debe tener de 1 a {LONGEST_NAME} caracteres, en una línea",
            )
        )


async def require_own_rnc(conn: Conn, tenant: Tenant, before: object, after: object) -> None:
    """Reject an RNC of another tenant's, unless an operator sets it.

    A tenant may issue under each RNC that it has (docs/decisions/issuers.md); a free choice would make delegations
    pointless. Raises RncOfAnother.
    """
    rnc = str(after)
    if after == before or tax_id(rnc) is None:  # an invalid RNC gets its own message elsewhere
        return
    if await issuers.standing(conn, tenant.tenant_id, rnc) is Standing.ANOTHER:
        raise RncOfAnother(
            Text(
                f"the RNC {rnc} is that of another taxpayer of this service, and no delegation is recorded: whoever "
                "runs the service can record it",
                f"el RNC {rnc} es de otro contribuyente de este servicio y no consta una delegación: puede registrarla "
                "quien opera el servicio",
            )
        )


async def update_tenant(
    conn: Conn,
    tenant: Tenant,
    *,
    name: str | None = None,
    issuer: Mapping[str, Any] | None = None,
    consumer_summary: str | None = None,
    today: date,
) -> Tenant:
    """Change the given data. Each given field of `issuer` is replaced; None removes it.

    Unsigned receipts use the new data, signed ones stay. The RNC identifies the taxpayer: it can be corrected until the
    first document was submitted, and not while suppliers can reach the tenant under it. Raises BadIssuer (also when a
    user's receipts become invalid), NameTaken or ProvisioningRefused.
    """
    if name is not None:
        check_name(name)
    changed = None
    if issuer is not None:
        require_texts({field: value for field, value in issuer.items() if value is not None})
        laid_over = {**tenant.issuer, **issuer}
        changed = {field: value for field, value in laid_over.items() if value is not None}
        check_issuer(changed, today)
        for user in await tenants.users_of(conn, tenant.tenant_id):
            if user.issuer_override is not None:
                check_issuer({**changed, **user.issuer_override}, today)
    outcome = await tenants.change(conn, tenant.tenant_id, name=name, issuer=changed, consumer_summary=consumer_summary)
    match outcome:
        case "none":
            raise Unknown.tenant(tenant.name)
        case "taken":
            raise NameTaken.of_tenant(name or tenant.name)
        case "issued":
            raise RncFixed(
                Text(
                    f"tenant {tenant.name!r} has handed documents in under the RNC {tenant.issuer.get(_RNC)}: "
                    "another RNC is another taxpayer, and so another tenant",
                    f"«{tenant.name}» ya envió documentos con el RNC {tenant.issuer.get(_RNC)}: otro RNC es otro "
                    "contribuyente, y por tanto otra empresa",
                ),
                "fe tenant create",
            )
        case "receives":
            raise RncFixed(
                Text(
                    f"suppliers reach tenant {tenant.name!r} under the RNC {tenant.issuer.get(_RNC)}: "
                    "close its reception first",
                    f"los suplidores llegan a «{tenant.name}» por el RNC {tenant.issuer.get(_RNC)}: cierre primero "
                    "su recepción",
                ),
                "fe reception close",
            )
    found = await tenants.by_name(conn, tenant.name if name is None else name)
    assert found is not None
    return found


async def disable_tenant(conn: Conn, tenant: Tenant, action: OperatorAction) -> None:
    """Disable a tenant: submitted receipts continue, new ones are rejected. Raises ProvisioningRefused if disabled.

    Locks the tenant, so that no webhook is enabled at the same moment.
    """
    await endpoints.lock_changes(conn, tenant.tenant_id)
    if not await tenants.disable(conn, tenant.tenant_id, action.at, channel=REVOKED_CHANNEL):
        raise ProvisioningRefused(f"tenant {tenant.name!r} is disabled already")
    await audit.record(conn, action, "tenant disable", tenant.tenant_id, None, {"tenant": tenant.name})


async def enable_tenant(conn: Conn, tenant: Tenant, action: OperatorAction) -> int:
    """Enable a disabled tenant; return the number of endpoints that are called again, which get their held events.

    Lockouts of its keys end: its programs kept logging in while every login was refused. Wake the stage
    `webhook_recovery` after it. Raises ProvisioningRefused if the tenant is not disabled.
    """
    await endpoints.lock_changes(conn, tenant.tenant_id)
    called = await tenants.enable(conn, tenant.tenant_id, channel=REVOKED_CHANNEL)
    if called is None:
        raise ProvisioningRefused(f"tenant {tenant.name!r} is not disabled")
    for key in await keys.of_tenant(conn, tenant.tenant_id):
        await throttle.lift(conn, throttle.bucket_of_key(key.api_key_id))
    for endpoint_id in called:
        oldest = await deliveries.oldest_held(conn, tenant.tenant_id, endpoint_id)
        # Also when nothing is held yet: an event may arrive at this moment.
        since = min(at for at in (oldest, tenant.disabled_since, action.at) if at is not None)
        await recoveries.ask(
            conn,
            tenant.tenant_id,
            endpoint_id,
            recovery_id=new_id(action.at),
            since=since,
            until=action.at,
            only_held=True,
            at=action.at,
        )
    detail = {"tenant": tenant.name, "endpoints": len(called)}
    await audit.record(conn, action, "tenant enable", tenant.tenant_id, None, detail)
    return len(called)


async def change_user(
    conn: Conn, tenant: Tenant, user: User, issuer_override: Mapping[str, Any] | None, *, today: date
) -> User:
    """Replace a user's overrides of Emisor; None removes them. Raises BadIssuer or Unknown."""
    if issuer_override is not None:
        require_texts(issuer_override)
        check_issuer({**tenant.issuer, **issuer_override}, today)
    changed = await tenants.change_user(conn, tenant.tenant_id, user.user_id, issuer_override)
    if changed is None:
        raise Unknown.user(tenant, user.email)
    return changed


async def remove_user(conn: Conn, tenant: Tenant, user: User, at: datetime) -> None:
    """Remove a user; signed receipts keep the name. Raises ProvisioningRefused while something needs it."""
    outcome, waiting = await tenants.remove_user(conn, tenant.tenant_id, user.user_id, at)
    match outcome:
        case "removed":
            await sequences.unassign(conn, tenant.tenant_id, user.user_id)
        case "none":
            raise Unknown.user(tenant, user.email)
        case "certificate":
            raise ProvisioningRefused(
                Text(
                    f"{user.email!r} has a certificate in use: retire it first",
                    f"«{user.email}» tiene un certificado en uso: retírelo primero",
                ),
                "fe certificate retire",
            )
        case "needed":
            raise ProvisioningRefused(
                Text(
                    f"{_wait(waiting).en} to be signed as {user.email!r}: {_LET_THEM.en}",
                    f"{_wait(waiting).es} por firmarse como «{user.email}»: {_LET_THEM.es}",
                ),
                _OUTBOX,
            )


async def retire_certificate(
    conn: Conn, tenant: Tenant, certificate_id: CertificateId, at: datetime
) -> CertificateRecord:
    """Sign nothing new with a certificate, without another in its place (`add_certificate` puts one there).

    Raises ProvisioningRefused while documents wait to be signed with it, or suppliers' are acknowledged with it.
    """
    outcome, waiting = await certificates.retire(conn, tenant.tenant_id, certificate_id, at)
    match outcome:
        case "none":
            _no_certificate(tenant, certificate_id)
        case "before":
            raise ProvisioningRefused(
                Text(
                    f"the certificate {certificate_id} is retired already",
                    f"el certificado {certificate_id} ya fue retirado",
                )
            )
        case "needed":
            raise ProvisioningRefused(
                Text(
                    f"{_wait(waiting).en} to be signed with it: {_LET_THEM.en}, or put another in its place",
                    f"{_wait(waiting).es} por firmarse con él: {_LET_THEM.es}, o ponga otro en su lugar",
                ),
                f"{_OUTBOX}, fe certificate add",
            )
        case "receives":
            raise ProvisioningRefused(
                Text(
                    "it signs acknowledgements to suppliers: add another one first, or close reception",
                    "con él se acusa recibo de lo que envían los suplidores: ponga otro en su lugar o cierre la "
                    "recepción",
                ),
                "fe certificate add, fe reception close",
            )
    return await _certificate(conn, tenant, certificate_id)


async def remove_certificate(
    conn: Conn, vault: Vault, tenant: Tenant, certificate_id: CertificateId, at: datetime
) -> tuple[CertificateRecord, bool]:
    """Destroy the key of a retired certificate; keep the certificate. Returns whether the certificate could be kept.

    A process that used the key within the last minute has it in memory for that minute. If the key cannot be opened any
    longer, the certificate remains only in its signed documents. Raises ProvisioningRefused while it is in use, or
    documents that it signed are in progress.
    """
    encrypted = await certificates.encrypted(conn, tenant.tenant_id, certificate_id)
    der = None if encrypted is None else _read(vault, encrypted)
    outcome, waiting = await certificates.destroy_key(conn, tenant.tenant_id, certificate_id, at, x509=der)
    match outcome:
        case "none":
            _no_certificate(tenant, certificate_id)
        case "before":
            raise ProvisioningRefused(
                Text(
                    f"the key of the certificate {certificate_id} is destroyed already",
                    f"la clave del certificado {certificate_id} ya fue destruida",
                )
            )
        case "in use":
            raise ProvisioningRefused(
                Text(
                    f"the certificate {certificate_id} is in use: retire it first",
                    f"el certificado {certificate_id} está en uso: retírelo primero",
                ),
                "fe certificate retire",
            )
        case "needed":
            raise ProvisioningRefused(
                Text(
                    f"{_wait(waiting).en} for the authority's word, or to reach a receiver, and that needs this key: "
                    "let them come to their end",
                    f"{_wait(waiting).es} de la respuesta de la DGII o de llegar a su receptor, y eso necesita esta "
                    "clave: deje que terminen",
                ),
                "fe outbox list, fe counterparty list",
            )
    is_kept = await certificates.x509(conn, tenant.tenant_id, certificate_id) is not None
    return await _certificate(conn, tenant, certificate_id), is_kept


async def _certificate(conn: Conn, tenant: Tenant, certificate_id: CertificateId) -> CertificateRecord:
    every = await certificates.every(conn, tenant.tenant_id)
    return next(one for one in every if one.certificate_id == certificate_id)


def _read(vault: Vault, encrypted: EncryptedCertificate) -> bytes | None:
    """Read the certificate out of an encrypted .p12 (DER); None where it does not open."""
    if encrypted.passphrase is None:
        return None
    which = str(encrypted.certificate_id)
    try:
        p12 = vault.decrypt(encrypted.p12, Belongs(encrypted.tenant_id, which, P12_PURPOSE))
        passphrase = vault.decrypt(encrypted.passphrase, Belongs(encrypted.tenant_id, which, PASSPHRASE_PURPOSE))
        return open_p12(p12, passphrase.decode()).certificate.public_bytes(Encoding.DER)
    except (VaultError, CertificateError):
        return None


_LET_THEM = Text("let them be signed first, or give them up", "espere a que se firmen o descártelos")
_OUTBOX = "fe outbox list, fe outbox discard"


def _wait(waiting: int) -> Text:
    if waiting == 1:
        return Text("1 document waits", "1 documento está pendiente")
    return Text(f"{waiting} documents wait", f"{waiting} documentos están pendientes")


def _no_certificate(tenant: Tenant, certificate_id: CertificateId) -> NoReturn:
    raise Unknown(
        Text(
            f"tenant {tenant.name!r} has no certificate {certificate_id}",
            f"la empresa «{tenant.name}» no tiene el certificado {certificate_id}",
        )
    )
