"""A tenant's mail to its buyers: settings, the operator's limit, and suppressed addresses, each change with its record.

The API, the portal and the command line use these functions. Each runs in the caller's transaction.
"""

from typing import Any

from fe.accounts.audited_changes import Author, difference, note
from fe.accounts.provision import Unknown
from fe.ecf.mail_address import BadAddress, MailAddress, parse_address
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.records import mail, tenants
from fe.store.records.mail import MailChoice, MailSettings
from fe.store.records.tenants import Tenant

LANGUAGES = ("es", "en")
DOCUMENTS = ("attached", "linked")
MOST_A_DAY = 1_000_000

_ONE_OF = Text("must be one of: {names}", "debe ser uno de: {names}")
_A_DAY = Text("must be a whole number from 1 to {most}", "debe ser un número entero de 1 a {most}")
_FORBIDDEN = Text(
    "the operator does not allow mail to buyers for this company",
    "el operador no permite enviar correo a los compradores de esta empresa",
)


class BadMailSetting(LocalizedError):
    """A setting is out of range; `text` says what `field` must be, after its name."""

    def __init__(self, field: str, text: Text) -> None:
        super().__init__(text)
        self.field = field


class MailForbidden(LocalizedError):
    """The operator's limit is 0: mail cannot be switched on."""

    def __init__(self) -> None:
        super().__init__(_FORBIDDEN)


def check_settings(*, reply_to: str, language: str, documents: str, a_day: int | None) -> MailSettings:
    """Check a tenant's settings. Raises BadMailSetting; its fields have the names of the API."""
    try:
        address = parse_address(reply_to)
    except BadAddress as bad:
        raise BadMailSetting("replyTo", bad.text) from None
    if language not in LANGUAGES:
        raise BadMailSetting("language", _ONE_OF.fill(names=", ".join(LANGUAGES)))
    if documents not in DOCUMENTS:
        raise BadMailSetting("documents", _ONE_OF.fill(names=", ".join(DOCUMENTS)))
    if a_day is None or not 1 <= a_day <= MOST_A_DAY:
        raise BadMailSetting("aDay", _A_DAY.fill(most=MOST_A_DAY))
    return MailSettings(
        "en" if language == "en" else "es", address, a_day, "linked" if documents == "linked" else "attached"
    )


async def change_settings(
    conn: Conn, by: Author, tenant_id: TenantId, wanted: MailSettings | None, *, enabled: bool = True
) -> tuple[MailChoice, bool]:
    """Set a tenant's mail; return its choice and whether that changed it. None: off, with the settings it had.

    Mails that the cap put off are due again where it rises.

    Raises Unknown, and MailForbidden where the operator's limit is 0. Concurrent calls run one after the other.
    """
    tenant, before = await _locked(conn, tenant_id)
    if enabled and wanted is not None and before.limit == 0:
        raise MailForbidden
    await mail.set_settings(conn, tenant_id, wanted, enabled=enabled)
    return await _noted(conn, by, tenant, before)


async def limit(conn: Conn, by: Author, tenant_id: TenantId, a_day: int | None) -> bool:
    """Set the operator's limit; 0 forbids mail, None ends it. Returns whether it changed. Raises Unknown."""
    tenant, before = await _locked(conn, tenant_id)
    await mail.set_limit(conn, tenant_id, a_day)
    return (await _noted(conn, by, tenant, before))[1]


async def suppress(conn: Conn, by: Author, tenant: Tenant, address: MailAddress) -> bool:
    """Put an address on the list of those that get no mail; False where it was there."""
    reason = "operator" if by.through == "cli" else "tenant"
    is_new = await mail.suppress(conn, tenant.tenant_id, address, reason, by.at)
    if is_new:
        await note(conn, tenant, by, "mail address suppressed", address.lower(), None, None)
    return is_new


async def allow(conn: Conn, by: Author, tenant: Tenant, address: MailAddress) -> bool:
    """Take an address off that list; False where it was not there. A tenant cannot take off an operator's entry."""
    was_there = await mail.allow(conn, tenant.tenant_id, address, every=by.through == "cli")
    if was_there:
        await note(conn, tenant, by, "mail address allowed", address.lower(), None, None)
    return was_there


async def _locked(conn: Conn, tenant_id: TenantId) -> tuple[Tenant, MailChoice]:
    tenant = await tenants.locked(conn, tenant_id)
    if tenant is None:
        raise Unknown.tenant(str(tenant_id))
    return tenant, await mail.choice_of(conn, tenant_id)


async def _noted(conn: Conn, by: Author, tenant: Tenant, before: MailChoice) -> tuple[MailChoice, bool]:
    after = await mail.choice_of(conn, tenant.tenant_id)
    if before == after:
        return after, False
    if after.cap > before.cap:
        await mail.release(conn, tenant.tenant_id)
    old, new = difference(show_choice(before), show_choice(after))
    await note(conn, tenant, by, "mail changed", tenant.name, old or None, new or None)
    return after, True


def show_choice(choice: MailChoice) -> dict[str, Any]:
    """Show a choice in a record, and to see that a form is of what is there now."""
    settings = {} if choice.settings is None else choice.settings.written()
    limit = {} if choice.limit is None else {"aDayAllowed": choice.limit}
    return {"enabled": choice.enabled, **settings, **limit}
