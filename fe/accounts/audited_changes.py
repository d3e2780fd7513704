"""Changes to a tenant's data, each with its audit record: author, time, before and after.

The portal and the command line both use these functions, so people read one audit trail. Each function runs in the
caller's transaction. A refused change leaves no record. Records hold no secrets.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal

from fe.accounts import changes, keys, provision, sequences
from fe.accounts.provision import NewKey, ProvisioningRefused, Unknown
from fe.clock import iso
from fe.ecf.catalogue import Environment
from fe.ecf.certificate import Credential
from fe.ecf.dates import local
from fe.ecf.ids import new_id
from fe.ecf.texts import Text
from fe.identifiers import ApiKeyId, CertificateId, PersonId
from fe.secrets.vault import Vault
from fe.store.portal import changes as book
from fe.store.portal.changes import ChangeAction, TenantChange
from fe.store.postgres.db import Conn
from fe.store.queue import audit
from fe.store.queue.audit import OperatorAction
from fe.store.records import agents, certificates, tenants
from fe.store.records import keys as key_store
from fe.store.records import sequences as sequence_store
from fe.store.records.agents import AgentId
from fe.store.records.certificates import CertificateRecord
from fe.store.records.keys import ApiKey
from fe.store.records.sequences import Sequence
from fe.store.records.tenants import Tenant, User

Shown = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Author:
    """Author of a change, with time and channel. An operator's action with a reason goes to the operators' log too."""

    by_whom: str
    at: datetime
    through: Literal["portal", "cli", "api"]
    person_id: PersonId | None = None
    operator: OperatorAction | None = None

    @property
    def today(self) -> date:
        """The day in Santo Domingo."""
        return local(self.at).date()


async def note(
    conn: Conn,
    tenant: Tenant,
    by: Author,
    action: ChangeAction,
    subject: str,
    before: Shown | None,
    after: Shown | None,
) -> None:
    """Record a change of a tenant in the transaction that makes it."""
    made = TenantChange(new_id(by.at), by.at, by.by_whom, by.person_id, by.through, action, subject, before, after)
    await book.note(conn, tenant.tenant_id, made)


# -- the tenant ------------------------------------------------------------------------------------------------------


async def create_tenant(
    conn: Conn, by: Author, name: str, issuer: Mapping[str, Any], consumer_summary: str = "automatic"
) -> Tenant:
    """See `provision.create_tenant`."""
    made = await provision.create_tenant(conn, name, issuer, consumer_summary, today=by.today)
    await note(conn, made, by, "company created", made.name, None, show_tenant(made))
    return made


async def update_tenant(
    conn: Conn,
    by: Author,
    tenant: Tenant,
    *,
    name: str | None = None,
    issuer: Mapping[str, Any] | None = None,
    consumer_summary: str | None = None,
) -> Tenant:
    """See `changes.update_tenant`; records only the differences, and nothing if there are none.

    A tenant's own people cannot take another tenant's RNC. Raises RncOfAnother. Concurrent updates run one after the
    other.
    """
    tenant = await _locked(conn, tenant)
    await _require_own_rnc(conn, by, tenant, tenant.issuer, issuer)
    changed = await changes.update_tenant(
        conn, tenant, name=name, issuer=issuer, consumer_summary=consumer_summary, today=by.today
    )
    before, after = difference(show_tenant(tenant), show_tenant(changed))
    if before != after:
        await note(conn, changed, by, "company changed", changed.name, before, after)
    return changed


async def _locked(conn: Conn, tenant: Tenant) -> Tenant:
    """Lock the tenant's row until the transaction ends. Raises Unknown."""
    found = await tenants.locked(conn, tenant.tenant_id)
    if found is None:
        raise Unknown.tenant(tenant.name)
    return found


async def disable_tenant(conn: Conn, by: Author, tenant: Tenant, action: OperatorAction) -> None:
    """See `changes.disable_tenant`."""
    await changes.disable_tenant(conn, tenant, action)
    await note(conn, tenant, by, "company disabled", tenant.name, None, {"reason": action.reason})


async def enable_tenant(conn: Conn, by: Author, tenant: Tenant, action: OperatorAction) -> int:
    """See `changes.enable_tenant`."""
    called = await changes.enable_tenant(conn, tenant, action)
    await note(conn, tenant, by, "company enabled", tenant.name, None, {"reason": action.reason})
    return called


# -- users -----------------------------------------------------------------------------------------------------------


async def create_user(
    conn: Conn, by: Author, tenant: Tenant, email: str, issuer_override: Mapping[str, Any] | None
) -> User:
    """See `provision.create_user`. A tenant's own people name no other tenant's RNC. Raises RncOfAnother."""
    await _require_own_rnc(conn, by, tenant, None, issuer_override)
    made = await provision.create_user(conn, tenant, email, issuer_override, now=by.at)
    await note(conn, tenant, by, "user created", made.email, None, show_user(made))
    return made


async def change_user(
    conn: Conn, by: Author, tenant: Tenant, user: User, issuer_override: Mapping[str, Any] | None
) -> User:
    """See `changes.change_user`. A tenant's own people name no other tenant's RNC. Raises RncOfAnother."""
    await _require_own_rnc(conn, by, tenant, user.issuer_override, issuer_override)
    changed = await changes.change_user(conn, tenant, user, issuer_override, today=by.today)
    before, after = difference(show_user(user), show_user(changed))
    if before != after:
        await note(conn, tenant, by, "user changed", user.email, before, after)
    return changed


async def _require_own_rnc(
    conn: Conn, by: Author, tenant: Tenant, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> None:
    """Check the RNC against delegations, except for operators, who record the delegations."""
    if by.through == "portal":
        was, named = ((of or {}).get("RNCEmisor") for of in (before, after))
        await changes.require_own_rnc(conn, tenant, was, named)


async def remove_user(conn: Conn, by: Author, tenant: Tenant, user: User) -> None:
    """See `changes.remove_user`. Locks the tenant, so that no certificate is added for the user meanwhile."""
    await _locked(conn, tenant)
    await changes.remove_user(conn, tenant, user, by.at)
    await _of_operator(conn, tenant, by, "user remove", {"userId": str(user.user_id), "email": user.email})
    await note(conn, tenant, by, "user removed", user.email, show_user(user), None)


# -- certificates ----------------------------------------------------------------------------------------------------


async def add_certificate(
    conn: Conn,
    by: Author,
    vault: Vault,
    tenant: Tenant,
    user: User | None,
    *,
    p12: bytes,
    passphrase: str,
    opened: Credential,
) -> CertificateRecord:
    """See `provision.add_certificate`. The record says which one it takes the place of; another change waits.

    Raises Unknown where the user was removed since it was looked up: a certifier may have been asked in between.
    """
    await _locked(conn, tenant)
    if user is not None:
        await provision.require_user(conn, tenant, user)
    user_id = user.user_id if user is not None else None
    in_use = await certificates.in_use(conn, tenant.tenant_id)
    current = certificates.one_per_holder(in_use, by.at)
    before = next((show_certificate(one) for one in current if one.user_id == user_id), None)
    made = await provision.add_certificate(
        conn, vault, tenant, user, p12=p12, passphrase=passphrase, opened=opened, now=by.at
    )
    owner = {"user": user.email} if user is not None else {}
    await note(conn, tenant, by, "certificate added", made.serial_number, before, {**owner, **show_certificate(made)})
    return made


async def retire_certificate(
    conn: Conn, by: Author, tenant: Tenant, certificate_id: CertificateId
) -> CertificateRecord:
    """See `changes.retire_certificate`. Concurrent calls run one after the other."""
    await _locked(conn, tenant)
    found = await changes.retire_certificate(conn, tenant, certificate_id, by.at)
    await _of_operator(conn, tenant, by, "certificate retire", {"certificateId": str(certificate_id)})
    await note(conn, tenant, by, "certificate retired", found.serial_number, show_certificate(found), None)
    return found


async def remove_certificate(
    conn: Conn, by: Author, vault: Vault, tenant: Tenant, certificate_id: CertificateId
) -> tuple[CertificateRecord, bool]:
    """See `changes.remove_certificate`."""
    found, is_kept = await changes.remove_certificate(conn, vault, tenant, certificate_id, by.at)
    await _of_operator(conn, tenant, by, "certificate remove", {"certificateId": str(certificate_id)})
    await note(conn, tenant, by, "certificate key destroyed", found.serial_number, show_certificate(found), None)
    return found, is_kept


# -- keys ------------------------------------------------------------------------------------------------------------


async def create_key(conn: Conn, /, by: Author, tenant: Tenant, environment: Environment, **what: Any) -> NewKey:
    """See `provision.create_key`. Raises ProvisioningRefused also for an end that is over."""
    expires_at: datetime | None = what.get("expires_at")
    if expires_at is not None and expires_at <= by.at:
        raise ProvisioningRefused(Text("the key's end lies in the past", "el vencimiento de la clave ya pasó"))
    made = await provision.create_key(conn, tenant, environment, **what)
    await note(conn, tenant, by, "key created", made.record.api_key_id, None, show_key(made.record))
    return made


async def revoke_key(conn: Conn, by: Author, tenant: Tenant, api_key_id: ApiKeyId) -> bool:
    """Revoke a key and notify every process on commit; False if the tenant has no such active key."""
    every = await key_store.of_tenant(conn, tenant.tenant_id)
    before = next((show_key(one) for one in every if one.api_key_id == api_key_id), None)
    revoked = await keys.revoke_key(conn, tenant.tenant_id, api_key_id, by.at)
    if revoked:
        await note(conn, tenant, by, "key revoked", api_key_id, before, None)
    return revoked


_ENDS_BEFORE = Text(
    "the key ends before that: create a new key",
    "la clave vence antes: cree una clave nueva",
)
_WAS_ROLLED = Text(
    "the key was rolled already: roll the one that replaced it, or create a new key",
    "la clave ya se renovó: renueve la que la sustituyó o cree una clave nueva",
)


async def roll_key(
    conn: Conn, by: Author, tenant: Tenant, api_key_id: ApiKeyId, *, overlap: timedelta, pepper: bytes, pepper_id: str
) -> tuple[NewKey, ApiKey] | None:
    """Make a key like an active one, with the same end, and let that one end after `overlap`.

    Returns the new one and the old; None if the tenant has no such active key. Raises ProvisioningRefused for a key
    that ends within `overlap`, and for one that was rolled before: its successor would end with it.
    """
    before = await key_store.locked(conn, tenant.tenant_id, api_key_id)
    if before is None or not before.active(by.at):
        return None
    if await book.by_subject(conn, tenant.tenant_id, "key rolled", [api_key_id]):
        raise ProvisioningRefused(_WAS_ROLLED)
    ends_at = by.at + overlap
    if before.expires_at is not None and before.expires_at <= ends_at:
        raise ProvisioningRefused(_ENDS_BEFORE)
    await key_store.end(conn, tenant.tenant_id, api_key_id, at=ends_at)
    old = replace(before, expires_at=ends_at)
    like = {"scopes": old.scopes, "name": old.name, "expires_at": before.expires_at}
    made = await create_key(conn, by, tenant, old.environment, pepper=pepper, pepper_id=pepper_id, **like)
    after = show_key(old) | {"replacedBy": made.record.api_key_id}
    await note(conn, tenant, by, "key rolled", api_key_id, show_key(before), after)
    await conn.execute("SELECT pg_notify(%s, %s)", (keys.REVOKED_CHANNEL, api_key_id))
    return made, old


# -- sequences -------------------------------------------------------------------------------------------------------


async def put_sequence(
    conn: Conn, /, by: Author, tenant: Tenant, environment: Environment, key: str, **what: Any
) -> Sequence:
    """See `provision.put_sequence`. Numbers that are drawn meanwhile are no part of the record."""
    before = await sequence_store.locked(conn, tenant.tenant_id, environment, key)
    made = await provision.put_sequence(conn, tenant, environment, key, now=by.at, **what)
    await _sequence_set(conn, by, tenant, environment, before, made)
    return made


async def create_sequence(
    conn: Conn, by: Author, tenant: Tenant, environment: Environment, key: str, **what: Any
) -> Sequence:
    """See `sequences.create`."""
    made = await sequences.create(conn, tenant.tenant_id, environment, key, now=by.at, **what)
    await _sequence_set(conn, by, tenant, environment, None, made)
    return made


async def change_sequence(
    conn: Conn,
    by: Author,
    tenant: Tenant,
    environment: Environment,
    key: str,
    what: sequence_store.Change,
) -> Sequence:
    """See `sequences.change`."""
    before = await sequence_store.locked(conn, tenant.tenant_id, environment, key)
    made = await sequences.change(conn, tenant.tenant_id, environment, key, what, now=by.at)
    await _sequence_set(conn, by, tenant, environment, before, made)
    return made


async def assign_sequence(
    conn: Conn, by: Author, tenant: Tenant, environment: Environment, key: str, emails: Iterable[str]
) -> Sequence:
    """See `sequences.assign`."""
    before = await sequence_store.locked(conn, tenant.tenant_id, environment, key)
    made = await sequences.assign(conn, tenant.tenant_id, environment, key, list(emails), now=by.at)
    await _sequence_set(conn, by, tenant, environment, before, made)
    return made


async def delete_sequence(conn: Conn, by: Author, tenant: Tenant, environment: Environment, key: str) -> bool:
    """See `sequences.delete`."""
    before = await sequence_store.locked(conn, tenant.tenant_id, environment, key)
    is_deleted = await sequences.delete(conn, tenant.tenant_id, environment, key)
    if is_deleted:
        shown = None if before is None else show_sequence(before)
        subject = f"{sequences.label_of(key)} {environment}"
        await note(conn, tenant, by, "sequence deleted", subject, shown, None)
    return is_deleted


async def _sequence_set(
    conn: Conn, by: Author, tenant: Tenant, environment: Environment, before: Sequence | None, made: Sequence
) -> None:
    subject, after = f"{made.label} {environment}", show_sequence(made)
    if before is None:
        await note(conn, tenant, by, "sequence set", subject, None, after)
        return
    old, new = difference(show_sequence(before), after)
    if old != new:
        await note(conn, tenant, by, "sequence set", subject, old, new)


async def _of_operator(conn: Conn, tenant: Tenant, by: Author, name: str, detail: Shown) -> None:
    if by.operator is not None:
        await audit.record(conn, by.operator, name, tenant.tenant_id, None, detail)


# -- views of each subject in records ---------------------------------------------------------------------------------


def show_tenant(tenant: Tenant) -> Shown:
    """Show a tenant in a record: the account's fields and each field of Emisor."""
    return {"name": tenant.name, "consumerSummary": tenant.consumer_summary, **tenant.issuer}


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Shown, Shown]:
    """Return both sides without their equal parts."""
    return (
        {name: value for name, value in before.items() if name not in after or after[name] != value},
        {name: value for name, value in after.items() if name not in before or before[name] != value},
    )


def show_user(user: User) -> Shown:
    """Show a user in a record."""
    return {"email": user.email, **(user.issuer_override or {})}


def show_certificate(record: CertificateRecord) -> Shown:
    """Show a certificate in a record."""
    return {
        "certificateId": str(record.certificate_id),
        "holder": record.holder,
        "holderId": record.holder_id,
        "notBefore": iso(record.not_before),
        "notAfter": iso(record.not_after),
    }


def show_key(record: ApiKey) -> Shown:
    """Show a key in a record."""
    return {
        "name": record.name,
        "environment": record.environment.value,
        "scopes": list(record.scopes),
        "expiresAt": iso(record.expires_at) if record.expires_at else None,
    }


def show_sequence(found: Sequence) -> Shown:
    """Show a sequence in a record."""
    shown = sequences.show(found)
    names = ("minSequence", "maxSequence", "currentSequence", "isActive", "expireOn", "pausedAt")
    ahead = shown.get("nextRange")
    return {
        **{name: shown[name] for name in (*names, *(("users",) if shown.get("users") else ()))},
        **({} if ahead is None else {"nextRange": " ".join(one for one in _parts_of(ahead) if one)}),
    }


def _parts_of(ahead: Shown) -> tuple[str, str | None]:
    return f"{ahead['minSequence']}-{ahead['maxSequence']}", ahead["expireOn"]


async def retire_agent(conn: Conn, by: Author, tenant: Tenant, environment: Environment, agent_id: AgentId) -> bool:
    """Retire an agent: it gets no more leases, and delivers what it has. False: there is none at work."""
    done = await agents.retire(conn, tenant.tenant_id, environment, agent_id, by=by.by_whom, at=by.at)
    if done:
        await note(conn, tenant, by, "agent retired", str(agent_id), None, {"environment": environment.value})
    return done
