"""The company that bench.portal looks at, and its people: made by the functions of portal and command line."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric import rsa

from bench.portal_history import COMPANIES
from fe.accounts import members, people, provision, totp
from fe.clock import system_clock
from fe.config import Settings, load_settings
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.selfmade import self_made, to_p12
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.portal.receipt.drafts import OpenDraft
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.receipt.layout import layout
from fe.secrets.vault import Vault
from fe.store.portal import drafts, second_factor
from fe.store.portal import people as memberships
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn, open_database
from fe.store.records import billing
from fe.store.records.tenants import Tenant
from fe.webhooks.accounts import Wanted, webhook_accounts

OWNER, OPERATOR_EMAIL, PASSWORD = "ana@example.do", "luis@example.do", "correct horse battery staple"
ACCOUNTANT = "contador@example.do"
#: Companies of the accountant: the one with the history, and others.
OF_ACCOUNTANT = 12
SEED = b"twenty bytes of seed"
_PASSPHRASE = "of the benchmark"
_ISSUER = {"RNCEmisor": "131880738", "RazonSocialEmisor": "Banco de pruebas", "DireccionEmisor": "Calle 1"}
VAULT = Vault({"k1": bytes(32)})


@dataclass(frozen=True)
class Made:
    """Records created by the service's own functions."""

    tenant: TenantId
    invitation: str
    reset: str


def settings_of(port: int) -> Settings:
    """The settings of what is measured."""
    return load_settings(
        development=True,
        portal_bind=f"127.0.0.1:{port}",
        portal_operators=True,
        webhook_keys=f"k1:{bytes(range(32)).hex()}",
    )


async def prepare(dsn: str) -> Made:
    """Make the company with all that it configures, and the people: by the functions of portal and command line."""
    now = system_clock()
    key = rsa.generate_private_key(65537, 2048)
    opened = self_made(
        key,
        holder="Ana",
        holder_id="00100000008",
        not_before=now - timedelta(days=1),
        not_after=now + timedelta(days=300),
    )
    p12 = to_p12(opened, _PASSPHRASE)
    password = await people.hash_password(PASSWORD)

    async def setting_up(conn: Conn, tenant: Tenant) -> list[TenantId]:
        await provision.add_certificate(
            conn, VAULT, tenant, None, p12=p12, passphrase=_PASSPHRASE, opened=opened, now=now
        )
        for n in range(50):
            email = f"caja{n}@example.do"
            user = await provision.create_user(conn, tenant, email, {"NombreComercial": f"Caja {n}"}, now=now)
            await provision.create_key(conn, tenant, Environment.ECF, pepper=bytes(32), name=f"caja {n}")
            if n < 10:
                await provision.add_certificate(
                    conn, VAULT, tenant, user, p12=p12, passphrase=_PASSPHRASE, opened=opened, now=now
                )
        accounts = webhook_accounts(settings_of(0))
        assert accounts is not None
        for environment in (Environment.ECF, Environment.TESTECF):
            wanted = Wanted(url="https://example.com/fe", events=[WebhookEvent.ACCEPTED], headers={"X-Key": "1"})
            await accounts.put(conn, tenant.tenant_id, environment, wanted, now)
        others = []
        for n in range(COMPANIES):
            other = {**_ISSUER, "RNCEmisor": f"1{n:08}"}
            others.append((await provision.create_tenant(conn, f"Otra {n} SRL", other, today=now.date())).tenant_id)
        return others

    async def peopling(conn: Conn, tenant: Tenant, others: list[TenantId]) -> tuple[str, str]:
        async def note(*_: object) -> None:
            """Changes are made by the thousand elsewhere."""

        owner = await people.create_person(conn, OWNER, "Ana", password_hash=password, now=now)
        await memberships.join(conn, tenant.tenant_id, owner.person_id, PortalRole.OWNER, now)
        draft = OpenDraft(ReceiptEntry.empty(layout(EcfType("31"))), is_checked=True).content(Environment.ECF)
        for _ in range(drafts.MOST):
            await drafts.save(conn, tenant.tenant_id, owner.person_id, uuid4(), draft, now)
        for n in range(20):
            one = await people.create_person(conn, f"m{n}@example.do", f"Miembro {n}", password_hash=None, now=now)
            await memberships.join(conn, tenant.tenant_id, one.person_id, PortalRole.MEMBER, now)
            _, token = await members.invite(
                conn, tenant.tenant_id, f"n{n}@example.do", PortalRole.MEMBER, by_whom=OWNER, now=now, note=note
            )
        accountant = await people.create_person(conn, ACCOUNTANT, "Contador", password_hash=password, now=now)
        for of in (tenant.tenant_id, *others[: OF_ACCOUNTANT - 1]):
            await memberships.join(conn, of, accountant.person_id, PortalRole.ACCOUNTANT, now)
        operator = await people.create_person(
            conn, OPERATOR_EMAIL, "Luis", password_hash=password, is_operator=True, now=now
        )
        encrypted = totp.encrypt_seed(VAULT, operator.person_id, SEED)
        await second_factor.offer(conn, operator.person_id, encrypted)
        await second_factor.enrol(conn, operator.person_id, encrypted, 0, now)
        return token, await people.issue_reset(conn, one, OWNER, now)

    async def work(conn: Conn) -> Made:
        tenant = await provision.create_tenant(conn, "Banco de pruebas SRL", _ISSUER, today=now.date())
        others = await setting_up(conn, tenant)
        begun = now - timedelta(days=400)
        await billing.enable(conn, tenant.tenant_id, subscription_id="sub_bench", unit_price=Decimal("0.035"), at=begun)
        return Made(tenant.tenant_id, *await peopling(conn, tenant, others))

    async with open_database(dsn) as db:
        return await db.transact(work)
