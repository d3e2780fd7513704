"""Failed requests of API keys in the portal."""

from datetime import UTC, datetime

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import ApiKeyId, TenantId
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.records import request_log
from fe.store.records.request_log import FailedRequest
from tests.http.front import make_key, make_tenant
from tests.portal.running import Running


def refused(tenant: TenantId, key: ApiKeyId, number: int, status: int = 400) -> FailedRequest:
    return FailedRequest(
        entry_id=new_id(datetime.now(UTC)),
        tenant_id=tenant,
        environment=Environment.ECF,
        api_key_id=key,
        request_id=f"request-{number}",
        method="POST",
        route="/api/v1/fe/invoices",
        path="/api/v1/fe/invoices",
        status=status,
        duration_ms=3,
        message="no <such> thing",
        message_es="no existe <tal> cosa",
        body=f'{{"number": {number}, "html": "<script>"}}',
    )


async def test_failed_requests_of_the_company_are_listed_filtered_and_turned_over(
    portal: Running, tenant: TenantId, db: Database
) -> None:
    key = await make_key(db, tenant, Environment.ECF)
    other = await make_tenant(db, "Otra SRL")
    entries = [refused(tenant, key.api_key_id, number) for number in range(51)]
    entries += [refused(tenant, ApiKeyId("fak_2"), 900, 503), refused(other, key.api_key_id, 901)]
    await db.run(request_log.keep, entries)
    here = f"/companies/{tenant}/ecf/requests"
    person = await portal.person(tenant, PortalRole.ACCOUNTANT)
    async with portal.browser(person) as browser:
        page = (await browser.get(here)).text
        older = (await browser.get(page.partition('rel="next" href="')[2].partition('"')[0])).text
        failed = (await browser.get(f"{here}?status=5xx")).text
        linked = (await browser.get(f"/companies/{tenant}/keys/{key.api_key_id}")).text
        of_key = (await browser.get(f"{here}?key={key.api_key_id}&request=request-7")).text
        odd = await browser.get(f"{here}?key=%00&before=x&status=9")
        none = (await browser.get(f"/companies/{tenant}/testecf/requests")).text

    shown = [number for number in (*range(51), 900, 901) if f"request-{number}</code>" in page + older]
    assert shown == [*range(51), 900]
    assert "no &lt;such&gt; thing" in page
    assert "<script>&#34;" not in page
    assert ("request-900" in failed, "request-50" in failed) == (True, False)
    assert f'href="{here}?key={key.api_key_id}"' in linked
    assert ("request-7</code>" in of_key, "request-8</code>" in of_key) == (True, False)
    assert odd.status_code == 200
    assert "No request failed." in none
