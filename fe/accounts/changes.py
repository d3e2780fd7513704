"""Changing and taking back what was set up: a tenant's data, tenants that are shut out, users and certificates.

Each function is one transaction's work, with the operator's act on record in it (docs/decisions/disabled-tenants.md,
docs/operations.md). What the database refuses (sql/0027_removal.sql) is said here in words.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any, NoReturn

from cryptography.hazmat.primitives.serialization import Encoding

from fe.accounts.keys import REVOKED_CHANNEL
from fe.accounts.provision import NameTaken, ProvisioningRefused, Unknown, check_issuer
from fe.ecf.certificate import CertificateError, open_p12
from fe.ecf.ids import new_id
from fe.identifiers import CertificateId
from fe.store import certificates, tenants
from fe.store.certificates import CertificateRecord, EncryptedCertificate
from fe.store.postgres.db import Conn
from fe.store.queue import audit
from fe.store.queue.audit import OperatorAction
from fe.store.tenants import Tenant, User
from fe.store.webhooks import deliveries, recoveries
from fe.vault import P12_PURPOSE, PASSPHRASE_PURPOSE, Belongs, Vault, VaultError

_RNC = "RNCEmisor"


async def update_tenant(
    conn: Conn,
    tenant: Tenant,
    *,
    name: str | None = None,
    issuer: Mapping[str, Any] | None = None,
    consumer_summary: str | None = None,
    today: date,
) -> Tenant:
    """Change what is given. Of `issuer` each field is taken, and None takes one away.

    What is not signed yet is made with the new data; what is signed stays as it is. The RNC says who the taxpayer is:
    it is corrected until the first document was handed in, and not while suppliers reach the tenant under it. Raises
    BadIssuer (also where a user's receipts could not carry it any more), NameTaken or ProvisioningRefused.
    """
    changed = None
    if issuer is not None:
        laid_over = {**tenant.issuer, **issuer}
        changed = {field: value for field, value in laid_over.items() if value is not None}
        check_issuer(changed, today)
        for user in await tenants.users_of(conn, tenant.tenant_id):
            if user.issuer_override is not None:
                check_issuer({**changed, **user.issuer_override}, today)
    outcome = await tenants.change(conn, tenant.tenant_id, name=name, issuer=changed, consumer_summary=consumer_summary)
    match outcome:
        case "none":
            raise Unknown(f"there is no tenant {tenant.name!r}")
        case "taken":
            raise NameTaken(f"there is a tenant {name!r} already")
        case "issued":
            raise ProvisioningRefused(
                f"tenant {tenant.name!r} has handed documents in under the RNC {tenant.issuer.get(_RNC)}: "
                "another RNC is another taxpayer, and so another tenant (fe tenant create)"
            )
        case "receives":
            raise ProvisioningRefused(
                f"suppliers reach tenant {tenant.name!r} under the RNC {tenant.issuer.get(_RNC)}: "
                "close its reception first (fe reception close)"
            )
    found = await tenants.by_name(conn, tenant.name if name is None else name)
    assert found is not None
    return found


async def disable_tenant(conn: Conn, tenant: Tenant, action: OperatorAction) -> None:
    """Shut a tenant out: what it handed in before goes on, nothing new comes. Raises ProvisioningRefused if it is."""
    if not await tenants.disable(conn, tenant.tenant_id, action.at, channel=REVOKED_CHANNEL):
        raise ProvisioningRefused(f"tenant {tenant.name!r} is disabled already")
    await audit.record(conn, action, "tenant disable", tenant.tenant_id, None, {"tenant": tenant.name})


async def enable_tenant(conn: Conn, tenant: Tenant, action: OperatorAction) -> int:
    """Let a tenant in again; gives how many endpoints are called again, which get what was kept for them.

    Wake the stage `webhook_recovery` after it. Raises ProvisioningRefused if it is not disabled.
    """
    called = await tenants.enable(conn, tenant.tenant_id, channel=REVOKED_CHANNEL)
    if called is None:
        raise ProvisioningRefused(f"tenant {tenant.name!r} is not disabled")
    for endpoint_id in called:
        oldest = await deliveries.oldest_held(conn, tenant.tenant_id, endpoint_id)
        # Also where nothing is held yet: what comes up at this very moment may still be.
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


async def remove_user(conn: Conn, tenant: Tenant, user: User, action: OperatorAction) -> None:
    """Remove a user; what it signed still says so. Raises ProvisioningRefused while something needs it."""
    outcome, waiting = await tenants.remove_user(conn, tenant.tenant_id, user.user_id, action.at)
    match outcome:
        case "none":
            raise Unknown(f"tenant {tenant.name!r} has no user {user.email!r}")
        case "certificate":
            raise ProvisioningRefused(
                f"{user.email!r} has a certificate in use: retire it first (fe certificate retire)"
            )
        case "needed":
            raise ProvisioningRefused(f"{_wait(waiting)} to be signed as {user.email!r}: {_LET_THEM}")
    detail = {"userId": str(user.user_id), "email": user.email}
    await audit.record(conn, action, "user remove", tenant.tenant_id, None, detail)


async def retire_certificate(
    conn: Conn, tenant: Tenant, certificate_id: CertificateId, action: OperatorAction
) -> CertificateRecord:
    """Sign nothing new with a certificate, without another in its place (`add_certificate` puts one there).

    Raises ProvisioningRefused while documents wait to be signed with it, or suppliers' are acknowledged with it.
    """
    outcome, waiting = await certificates.retire(conn, tenant.tenant_id, certificate_id, action.at)
    match outcome:
        case "none":
            _no_certificate(tenant, certificate_id)
        case "before":
            raise ProvisioningRefused(f"the certificate {certificate_id} is retired already")
        case "needed":
            raise ProvisioningRefused(
                f"{_wait(waiting)} to be signed with it: {_LET_THEM}, or put another in its place (fe certificate add)"
            )
        case "receives":
            raise ProvisioningRefused(
                "what suppliers send is acknowledged with it: put another in its place (fe certificate add), or close "
                "reception (fe reception close)"
            )
    detail = {"certificateId": str(certificate_id)}
    await audit.record(conn, action, "certificate retire", tenant.tenant_id, None, detail)
    return await _certificate(conn, tenant, certificate_id)


async def remove_certificate(
    conn: Conn, vault: Vault, tenant: Tenant, certificate_id: CertificateId, action: OperatorAction
) -> tuple[CertificateRecord, bool]:
    """Destroy the key of a retired certificate; the certificate itself stays, for what it signed. Tells whether so.

    A process that used it in the last minute has its key in memory for that minute. Where the key does not open any
    more the certificate is not read out of it, and is in the documents it signed alone. Raises ProvisioningRefused
    while it is in use, or documents that it signed are on their way.
    """
    encrypted = await certificates.encrypted(conn, tenant.tenant_id, certificate_id)
    der = None if encrypted is None else _read(vault, encrypted)
    outcome, waiting = await certificates.destroy_key(conn, tenant.tenant_id, certificate_id, action.at, x509=der)
    match outcome:
        case "none":
            _no_certificate(tenant, certificate_id)
        case "before":
            raise ProvisioningRefused(f"the key of the certificate {certificate_id} is destroyed already")
        case "in use":
            raise ProvisioningRefused(
                f"the certificate {certificate_id} is in use: retire it first (fe certificate retire)"
            )
        case "needed":
            raise ProvisioningRefused(
                f"{_wait(waiting)} for the authority's word, or to reach a receiver, and that needs this key: let them "
                "come to their end (fe outbox list, fe counterparty list)"
            )
    detail = {"certificateId": str(certificate_id)}
    await audit.record(conn, action, "certificate remove", tenant.tenant_id, None, detail)
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


_LET_THEM = "let them be signed first, or give them up (fe outbox list, fe outbox discard)"


def _wait(waiting: int) -> str:
    return "1 document waits" if waiting == 1 else f"{waiting} documents wait"


def _no_certificate(tenant: Tenant, certificate_id: CertificateId) -> NoReturn:
    raise Unknown(f"tenant {tenant.name!r} has no certificate {certificate_id}")
