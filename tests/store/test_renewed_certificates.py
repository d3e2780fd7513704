"""A renewed certificate beside the one in use: the one that signs, the retired one, and the reported expiry."""

from datetime import UTC, datetime, timedelta

from fe.accounts.expiry import warnings
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Database
from fe.store.records import certificates
from fe.store.records.certificates import one_per_holder
from fe.store.webhooks import ending
from tests.factories.companies import NOT_BEFORE, make_certificate
from tests.factories.tenants import make_tenant
from tests.webhooks.receiver import make_endpoint

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


async def test_put_of_a_renewal_keeps_the_certificate_in_use(db: Database) -> None:
    tenant = await make_tenant(db)
    current = await make_certificate(db, tenant, not_after=NOW + 5 * DAY)
    renewed = await make_certificate(db, tenant, not_before=NOT_BEFORE + 2 * DAY, not_after=NOW + 400 * DAY)

    in_use = await db.run(certificates.in_use, tenant)

    assert [one.certificate_id for one in in_use] == [current, renewed]
    assert [one.certificate_id for one in one_per_holder(in_use, NOT_BEFORE + DAY)] == [current]
    assert [one.certificate_id for one in one_per_holder(in_use, NOW)] == [renewed]


async def test_put_of_a_second_renewal_retires_the_first(db: Database) -> None:
    tenant = await make_tenant(db)
    current = await make_certificate(db, tenant)
    await make_certificate(db, tenant, not_before=NOT_BEFORE + DAY)
    last = await make_certificate(db, tenant, not_before=NOT_BEFORE + 2 * DAY)

    assert [one.certificate_id for one in await db.run(certificates.in_use, tenant)] == [current, last]


async def test_certificate_with_a_renewal_in_time_is_not_reported_as_ending(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_endpoint(db, tenant, "https://example.com/", events=[WebhookEvent.CERTIFICATE_EXPIRING])
    await make_certificate(db, tenant, not_after=NOW + 5 * DAY)
    assert warnings(await db.run(certificates.in_use, tenant), NOW)
    assert len(await db.run(ending.certificates, NOW, 30 * DAY)) == 1

    await make_certificate(db, tenant, not_before=NOW + 4 * DAY, not_after=NOW + 400 * DAY)

    assert warnings(await db.run(certificates.in_use, tenant), NOW) == []
    assert await db.run(ending.certificates, NOW, 30 * DAY) == []


async def test_certificate_whose_renewal_begins_after_a_gap_is_reported_as_ending(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_certificate(db, tenant, not_after=NOW + 5 * DAY)
    await make_certificate(db, tenant, not_before=NOW + 6 * DAY, not_after=NOW + 400 * DAY)

    assert len(warnings(await db.run(certificates.in_use, tenant), NOW)) == 1
