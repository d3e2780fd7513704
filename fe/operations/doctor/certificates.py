"""Check tenants' certificates: are they valid, and can the present keys open them?"""

from collections import Counter
from datetime import datetime, timedelta

import psycopg

from fe.config import ConfigError, Settings
from fe.operations.doctor.finding import Finding, State
from fe.secrets.hsm import open_vault
from fe.secrets.vault import Tampered, Vault
from fe.store.postgres.errors import words
from fe.store.postgres.session import connected_once

#: A certifier needs days to issue a new certificate.
_EXPIRES_SOON = timedelta(days=30)

# A destroyed key needs no key-encryption key.
_CERTIFICATES = "SELECT p12, not_after, retired_at IS NULL FROM certificates WHERE destroyed_at IS NULL"


def check_certificates(dsn: str, settings: Settings, role: str, now: datetime) -> Finding:
    """Check that tenants' certificates are valid and their keys can be opened. Reports counts, not tenants."""
    lacking: Counter[str] = Counter()
    expired = soon = total = broken = 0
    try:
        keks = set(open_vault(settings).key_ids)
        with connected_once(dsn) as conn, conn.transaction():
            conn.execute("SET TRANSACTION READ ONLY")
            conn.execute("SELECT set_config('role', %s, true)", (role,))
            for p12, not_after, in_use in conn.execute(_CERTIFICATES):
                total += in_use
                expired += in_use and not_after <= now
                soon += in_use and now < not_after <= now + _EXPIRES_SOON
                try:
                    kek = Vault.kek_of(bytes(p12))
                except Tampered:
                    broken += 1
                else:
                    lacking[kek] += kek not in keks
    except (psycopg.Error, ConfigError) as error:
        return Finding("certificates", State.FAILED, words(error), "see to what the line says, and look again")
    missing = ", ".join(sorted(kek for kek, count in lacking.items() if count))
    if missing or broken:
        says = f"{lacking.total()} need keys that are not configured ({missing or 'none'}), {broken} are damaged"
        return Finding(
            "certificates", State.FAILED, says, "add the missing keys to FE_KEK: ops/runbooks/rotate-secrets.md"
        )
    says = f"{total} in use; {expired} have expired, {soon} will within {_EXPIRES_SOON.days} days"
    if expired or soon:
        return Finding("certificates", State.WARNING, says, "ops/runbooks/certificate-expiry.md")
    return Finding("certificates", State.OK, says)
