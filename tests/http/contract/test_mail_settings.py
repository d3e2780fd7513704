"""A tenant's mail settings over HTTP: whole, checked, on record, and within the operator's limit."""

import httpx
import pytest

from fe.identifiers import TenantId
from fe.store.portal import changes
from fe.store.postgres.db import Database
from fe.store.records import mail
from tests.http.front import Key

DEFAULTS = {
    "enabled": False,
    "replyTo": None,
    "language": "es",
    "documents": "attached",
    "aDay": 2000,
    "aDayAllowed": None,
}
SETTINGS = {"enabled": True, "replyTo": "ventas@ozama.do", "language": "en", "documents": "linked", "aDay": 50}


async def test_mail_settings_are_set_kept_while_off_and_on_record(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, key: Key
) -> None:
    before = (await api.get("/mail")).json()
    put = await api.put("/mail", json=SETTINGS)
    off = (await api.put("/mail", json={"enabled": False})).json()

    assert before == DEFAULTS
    assert (put.status_code, put.json()) == (200, {**SETTINGS, "aDayAllowed": None})
    assert off == (await api.get("/mail")).json() == {**SETTINGS, "enabled": False, "aDayAllowed": None}
    assert (await db.run(mail.choice_of, tenant)).in_force is None
    second, first = await db.run(changes.latest, tenant, limit=9)
    assert (first.action, first.through, first.by_whom) == ("mail changed", "api", key.credentials["apiKeyId"])
    assert (second.before, second.after) == ({"enabled": True}, {"enabled": False})


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("replyTo", "a@b.do\nBcc: c@d.do", "replyTo: must be an e-mail address without line breaks"),
        ("replyTo", None, "replyTo: must be one e-mail address"),
        ("language", "fr", "language: must be one of: es, en"),
        ("documents", "none", "documents: must be one of: attached, linked"),
        ("aDay", 0, "aDay: must be a whole number from 1 to 1000000"),
        ("aDay", 10**9, "aDay: must be a whole number from 1 to 1000000"),
    ],
)
async def test_a_setting_out_of_range_is_refused_and_changes_nothing(
    api: httpx.AsyncClient, field: str, value: object, said: str
) -> None:
    refused = await api.put("/mail", json=SETTINGS | {field: value})

    assert (refused.status_code, refused.json()["message"].startswith(said)) == (400, True), refused.text
    assert (await api.get("/mail")).json() == DEFAULTS


async def test_the_operators_limit_is_shown_and_zero_keeps_mail_off(
    api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    await db.run(mail.set_limit, tenant, 7)
    limited = (await api.put("/mail", json=SETTINGS)).json()
    in_force = (await db.run(mail.choice_of, tenant)).in_force
    await db.run(mail.set_limit, tenant, 0)
    forbidden = await api.put("/mail", json=SETTINGS)

    assert (limited["aDay"], limited["aDayAllowed"]) == (50, 7)
    assert in_force is not None
    assert in_force.a_day == 7
    assert (forbidden.status_code, forbidden.json()["message"]) == (
        409,
        "the operator does not allow mail to buyers for this company",
    )
