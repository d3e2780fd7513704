"""How what is set up stands in records: what people know it by, and nothing secret."""

from collections.abc import Mapping
from typing import Any

from fe.accounts import sequences
from fe.clock import iso
from fe.store.records.certificates import CertificateRecord
from fe.store.records.keys import ApiKey
from fe.store.records.sequences import Sequence
from fe.store.records.tenants import Tenant, User

Shown = dict[str, Any]


def show_tenant(tenant: Tenant) -> Shown:
    """What a record says of a tenant: each field of Emisor by its name, beside the account's own."""
    return {"name": tenant.name, "consumerSummary": tenant.consumer_summary, **tenant.issuer}


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Shown, Shown]:
    """Leave out of both what is the same in both."""
    return (
        {name: value for name, value in before.items() if name not in after or after[name] != value},
        {name: value for name, value in after.items() if name not in before or before[name] != value},
    )


def show_user(user: User) -> Shown:
    """What a record says of a user."""
    return {"email": user.email, **(user.issuer_override or {})}


def show_certificate(record: CertificateRecord) -> Shown:
    """What a record says of a certificate."""
    return {
        "certificateId": str(record.certificate_id),
        "holder": record.holder,
        "holderId": record.holder_id,
        "notBefore": iso(record.not_before),
        "notAfter": iso(record.not_after),
    }


def show_key(record: ApiKey) -> Shown:
    """What a record says of a key."""
    return {
        "name": record.name,
        "environment": record.environment.value,
        "scopes": list(record.scopes),
        "expiresAt": iso(record.expires_at) if record.expires_at else None,
    }


def show_sequence(found: Sequence) -> Shown:
    """What a record says of a sequence."""
    shown = sequences.show(found)
    names = ("minSequence", "maxSequence", "currentSequence", "isActive", "expireOn", "pausedAt")
    return {name: shown[name] for name in names}
