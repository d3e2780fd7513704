"""Opened certificates: opened once for all who wait, kept a short while, never shared between tenants."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import trio
from structlog.testing import capture_logs

from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.identifiers import CertificateId, TenantId, UserId
from fe.monitoring.metrics import Metrics
from fe.secrets.vault import Belongs, Tampered, UnknownKek, Vault
from fe.store.postgres.db import Database
from fe.store.records import tenants
from tests.factories.companies import NOT_AFTER, NOT_BEFORE, VAULT, company_credential, make_certificate
from tests.factories.tenants import make_tenant, rows
from tests.waiting import PATIENCE, until


class CountingVault(Vault):
    """Counts what it opens."""

    def __init__(self) -> None:
        super().__init__({"k1": bytes(range(32))})
        self.opened = 0

    def decrypt(self, encrypted: bytes, belongs: Belongs) -> bytes:
        self.opened += 1
        return super().decrypt(encrypted, belongs)


def make_credentials(db: Database, vault: Vault = VAULT, **more: Any) -> SigningCredentials:
    return SigningCredentials(db, vault, trio.CapacityLimiter(1), **more)


async def test_a_certificate_is_opened_once_for_all_who_wait_and_kept(db: Database) -> None:
    tenant = await make_tenant(db)
    certificate = await make_certificate(db, tenant)
    vault = CountingVault()
    cache = make_credentials(db, vault)
    got = []

    async def get() -> None:
        got.append(await cache.get(tenant, certificate))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(get)

    assert vault.opened == 2  # the file and its passphrase
    assert {id(opened) for opened in got} == {id(await cache.get(tenant, certificate))}
    assert got[0].credential.certificate == company_credential().certificate
    assert got[0].id == str(certificate)


async def test_a_key_is_opened_anew_after_its_time_and_dropped_without_being_asked_for(
    db: Database,
) -> None:
    tenant = await make_tenant(db)
    certificate = await make_certificate(db, tenant)
    vault = CountingVault()
    cache = make_credentials(db, vault, seconds=0.05)

    await cache.get(tenant, certificate)
    await trio.sleep(0.06)
    cache._seconds = PATIENCE  # the time of the next one is not over while we look
    await cache.get(tenant, certificate)
    assert vault.opened == 4
    cache.forget_expired()
    assert len(cache._slots) == 1

    idle = make_credentials(db, seconds=0.05)
    await idle.get(tenant, certificate)
    assert len(idle._slots) == 1
    async with trio.open_nursery() as nursery:
        nursery.start_soon(idle.forget_in_time)
        await until(lambda: not idle._slots)
        nursery.cancel_scope.cancel()


async def test_who_is_cancelled_while_opening_leaves_it_to_the_next(db: Database) -> None:
    tenant = await make_tenant(db)
    certificate = await make_certificate(db, tenant)
    cache = make_credentials(db)

    for delay in (0.0, 0.001, 0.003, 0.01, 0.02):
        with trio.move_on_after(delay):
            await make_credentials(db).get(tenant, certificate)
        with trio.move_on_after(delay):
            await cache.get(tenant, certificate)
        with trio.fail_after(60):
            assert (await cache.get(tenant, certificate)).id == str(certificate)
        cache = make_credentials(db)


async def test_a_certificate_of_another_tenant_is_not_there(db: Database) -> None:
    one, other = await make_tenant(db), await make_tenant(db)
    certificate = await make_certificate(db, one)

    with pytest.raises(CannotOpen, match="removed"):
        await make_credentials(db).get(other, certificate)
    with pytest.raises(CannotOpen, match="removed"):
        await make_credentials(db).get(one, CertificateId(uuid4()))


async def test_a_sealed_file_that_was_moved_to_another_tenant_does_not_open(db: Database) -> None:
    one, other = await make_tenant(db), await make_tenant(db)
    certificate = await make_certificate(db, one)
    await rows(db, "UPDATE certificates SET tenant_id = %(other)s", other=other)

    with pytest.raises(Tampered):
        await make_credentials(db).get(other, certificate)


async def test_a_passphrase_in_the_files_place_does_not_open(db: Database) -> None:
    tenant = await make_tenant(db)
    certificate = await make_certificate(db, tenant)
    await rows(db, "UPDATE certificates SET p12 = passphrase")

    with pytest.raises(Tampered):
        await make_credentials(db).get(tenant, certificate)


async def test_a_failure_to_open_is_not_kept(db: Database) -> None:
    tenant = await make_tenant(db)
    certificate = await make_certificate(db, tenant)
    limiter = trio.CapacityLimiter(1)
    cache = SigningCredentials(db, Vault({"other": b"x" * 32}), limiter)
    with pytest.raises(UnknownKek):
        await cache.get(tenant, certificate)
    cache._vault = VAULT

    assert (await cache.get(tenant, certificate)).id == str(certificate)


async def test_the_cache_has_a_size(db: Database) -> None:
    tenant = await make_tenant(db)
    cache = make_credentials(db, kept=2)
    for _ in range(4):
        await cache.get(tenant, await make_certificate(db, tenant))

    assert len(cache._slots) == 2


async def test_each_decryption_of_a_key_is_an_event_and_counted_and_says_no_secret(db: Database) -> None:
    tenant = await make_tenant(db)
    certificate = await make_certificate(db, tenant)
    metrics = Metrics()
    opens = SigningCredentials(db, VAULT, trio.CapacityLimiter(1), metrics)
    cannot = SigningCredentials(db, Vault({"other": b"x" * 32}), trio.CapacityLimiter(1), metrics)

    with capture_logs() as logs:
        for _ in range(2):
            await opens.get(tenant, certificate)
        with pytest.raises(UnknownKek):
            await cannot.get(tenant, certificate)

    assert logs == [
        {
            "event": "a key was decrypted",
            "log_level": "info",
            "outcome": outcome,
            "tenant_id": tenant,
            "certificate_id": str(certificate),
        }
        for outcome in ("opened", "failed")
    ]
    for outcome in ("opened", "failed"):
        counted = metrics.registry.get_sample_value("fe_certificates_decrypted_total", {"outcome": outcome})
        assert counted == 1


# --- Sessions ----------------------------------------------------------------------------------------------------


async def make_user(db: Database, tenant: TenantId) -> UserId:
    made = await db.run(tenants.create_user, tenant, UserId(uuid4()), f"{uuid4()}@example.com", None)
    assert made is not None
    return made.user_id


async def session_of(db: Database, tenant: TenantId, certificate: CertificateId, at: datetime = NOT_BEFORE) -> str:
    return (await make_credentials(db, clock=lambda: at).for_session(tenant, certificate)).id


async def test_a_session_is_opened_with_the_certificate_that_signed(db: Database) -> None:
    tenant = await make_tenant(db)
    signed_with = await make_certificate(db, tenant, user_id=await make_user(db, tenant))
    await make_certificate(db, tenant)

    assert await session_of(db, tenant, signed_with) == str(signed_with)


async def test_when_its_holder_has_another_by_now_with_that(db: Database) -> None:
    """Its own may have been revoked since; another holder's says nothing about it."""
    tenant = await make_tenant(db)
    holder = await make_user(db, tenant)
    signed_with = await make_certificate(db, tenant, user_id=holder)
    await rows(db, "UPDATE certificates SET retired_at = now()")
    await make_certificate(db, tenant)

    assert await session_of(db, tenant, signed_with) == str(signed_with)
    renewed = await make_certificate(db, tenant, user_id=holder)
    assert await session_of(db, tenant, signed_with) == str(renewed)
    sending = make_credentials(db, clock=lambda: NOT_BEFORE)
    assert (await sending.for_session(tenant, signed_with, though_replaced=True)).id == str(signed_with)


async def test_when_its_time_is_over_with_one_that_is_valid(db: Database) -> None:
    tenant = await make_tenant(db)
    holder, later = await make_user(db, tenant), NOT_AFTER + timedelta(days=365)
    signed_with = await make_certificate(db, tenant, user_id=holder)
    company = await make_certificate(db, tenant, not_after=later)

    assert await session_of(db, tenant, signed_with, NOT_AFTER - timedelta(seconds=1)) == str(signed_with)
    assert await session_of(db, tenant, signed_with, NOT_AFTER) == str(company)
    renewed = await make_certificate(db, tenant, user_id=holder, not_after=later)
    assert await session_of(db, tenant, signed_with, NOT_AFTER) == str(renewed)
    # Of those that are in use none is valid any more: it is as it was.
    assert await session_of(db, tenant, signed_with, later) == str(signed_with)


@pytest.mark.parametrize("how", ["passphrase = NULL", "p12 = NULL, passphrase = NULL, destroyed_at = now()"])
async def test_when_it_cannot_be_opened_any_more_with_another(db: Database, how: str) -> None:
    tenant = await make_tenant(db)
    signed_with = await make_certificate(db, tenant)
    await rows(db, f"UPDATE certificates SET retired_at = now(), {how}")

    with pytest.raises(CannotOpen):
        await session_of(db, tenant, signed_with)
    unopened = await make_certificate(db, tenant, user_id=await make_user(db, tenant), passphrase=None)
    with pytest.raises(CannotOpen):
        await session_of(db, tenant, signed_with)
    new = await make_certificate(db, tenant)
    assert await session_of(db, tenant, signed_with) == str(new)
    assert unopened != new
    with pytest.raises(CannotOpen):
        await make_credentials(db).get(tenant, signed_with)  # what it signs with is never another
