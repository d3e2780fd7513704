"""`fe billing`: terms, months, charges, and the audit records."""

import json
import subprocess
from datetime import datetime, timedelta

import httpx
import pytest

from fe.clock import system_clock
from fe.store.postgres.db import Database
from fe.store.records.months import month_before, month_of
from tests.cli.running import Fe, environment
from tests.cli.warm import warm_fe
from tests.factories.tenants import row, rows
from tests.metering.test_usage_days import accept
from tests.waiting import PATIENCE

WHY = ("--reason", "as agreed", "--by", "ana")


@pytest.fixture
def last() -> datetime:
    """When the last month began."""
    return month_before(month_of(system_clock()))


async def test_a_tenant_is_billed_shown_and_billed_no_more(fe: Fe, tenant: str, db: Database) -> None:
    enable = ("billing", "enable", tenant, "--subscription", "sub_7", "--price", "0.035", "--currency", "DOP", *WHY)

    first = fe(*enable, "--json").json
    dearer = fe("billing", "price", tenant, "--price", "0.04", "--tier", "volume", *WHY, "--json").json
    shown = fe("billing", "show", tenant, "--json").json
    over = fe("billing", "disable", tenant, *WHY, "--json").json

    assert first == {
        "enabled": True,
        "subscriptionId": "sub_7",
        "unitPrice": "0.0350",
        "currency": "DOP",
        "pricingTier": "standard",
    }
    assert dearer == first | {"unitPrice": "0.0400", "pricingTier": "volume"}
    assert shown == dearer | {"months": [], "charges": []}
    assert over == dearer | {"enabled": False}
    acts = await rows(db, "SELECT action, reason, detail FROM operator_actions ORDER BY at")
    assert [act["action"] for act in acts] == ["billing enable", "billing price", "billing disable"]
    assert acts[0]["detail"] == first
    links = await rows(db, "SELECT entry FROM audit_trail WHERE entry LIKE '%%billing_accounts%%' ORDER BY number")
    assert [json.loads(link["entry"])["row"]["enabled"] for link in links] == [True, True, False]


async def emit(last: datetime, fe: Fe, tenant: str, db: Database) -> None:
    """Two emissions of the last month, at 0.035 each."""
    fe("billing", "enable", tenant, "--subscription", "sub_7", "--price", "0.035", *WHY)
    await rows(db, "UPDATE billing_terms SET since = %(since)s", since=last)
    owner = (await row(db, "SELECT tenant_id FROM tenants"))["tenant_id"]
    for _ in range(2):
        await accept(db, owner, last + timedelta(days=1))


async def test_a_month_is_counted_again_closed_once_and_its_failed_charge_tried_again(
    fe: Fe, tenant: str, db: Database, last: datetime
) -> None:
    await emit(last, fe, tenant, db)
    month = ("--month", f"{last:%Y-%m}", "--json")

    counted = fe("billing", "reconcile", tenant, *month).json
    await rows(db, "UPDATE billing_months SET counted = counted + 3")
    wrong = fe("billing", "reconcile", tenant, *month).json
    (charge,) = fe("billing", "close", tenant, "--json").json
    again = fe("billing", "close", tenant, *month).json
    await rows(db, "UPDATE billing_charges SET stage = 'failed', last_error = 'HTTP 402'")
    (tried,) = fe("billing", "retry", tenant, *month, "--subscription", "sub_8", *WHY).json
    rebuilt = fe("billing", "rebuild-usage", tenant, "--json").json

    assert (counted["drift"], counted["emissions"], counted["subtotal"]) == (0, 2, "0.0700")
    assert (wrong["drift"], wrong["emissions"]) == (3, 2)
    assert (charge["state"], charge["amount"], charge["emissions"]) == ("waiting", "0.07", 2)
    assert again == [charge]
    assert (tried["id"], tried["state"], tried["subscriptionId"]) == (charge["id"], "waiting", "sub_8")
    assert rebuilt == {"tenant": tenant, "rebuilt": True}
    assert "0.0700" in fe("billing", "show", tenant).out
    assert (await row(db, "SELECT generation FROM billing_charges"))["generation"] == 1


def test_what_cannot_be_is_refused(fe: Fe, tenant: str) -> None:
    enable = ("billing", "enable", tenant, "--subscription", "sub_7", "--price", "1", *WHY)
    for wrong, said in (
        (("--price", "-1"), "at most four decimals"),
        (("--price", "0.00001"), "at most four decimals"),
        (("--price", "NaN"), "at most four decimals"),
        (("--price", "x"), "a number such as"),
        (("--currency", "JPY"), "hundredths"),
        (("--currency", "usd"), "hundredths"),
        (("--subscription", "x"), "sub_ and letters"),
    ):
        assert said in fe.refused(*enable, *wrong, code=2), wrong
    assert "Missing option '--reason'" in fe.refused(*enable[:7], code=2)
    assert "was never billed" in fe.refused("billing", "show", tenant)
    assert "was never billed" in fe.refused("billing", "disable", tenant, *WHY)
    assert "is not over" in fe.refused("billing", "close", tenant, "--month", f"{system_clock():%Y-%m}")
    assert "nothing of" in fe.refused("billing", "reconcile", tenant)
    assert "a month such as" in fe.refused("billing", "close", tenant, "--month", "2026-13", code=2)
    assert "no failed charge" in fe.refused("billing", "retry", tenant, "--month", "2026-10", *WHY)


@pytest.mark.parametrize("url", ["http://pay.example.com", "http://127.0.0.1:8092", "ftp://x"])
def test_a_processor_that_cannot_be_trusted_is_refused(fe: Fe, url: str) -> None:
    ended = fe("billing", "show", "x", stripe_url=url, stripe_key="sk_live_x")
    assert (ended.code, "FE_STRIPE_URL" in ended.err, "sk_live_x" in ended.err) == (3, True, False)


def test_nobody_is_charged_by_a_trial(fe: Fe) -> None:
    ended = fe("billing", "show", "x", development="1", stripe_key="sk_live_x")
    assert ended.code == 3
    assert "not a simulated processor" in ended.err


def test_a_simulated_processor_serves_until_sigterm() -> None:
    command = [str(warm_fe()), "billing", "simulate-processor", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        key = {"authorization": "Bearer x"}
        answer = httpx.get(f"{url}/v1/subscriptions/sub_7", headers=key, trust_env=False, timeout=PATIENCE)
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert answer.json()["customer"] == "cus_7"
