"""Seeds and tokens: each seed another, ours, used once and for a short time; a token is for one receiver only."""

from datetime import datetime, timedelta

import httpx
import pytest
import trio
from lxml import etree

from fe.ecf.parse import parse_xml
from fe.receiving.seeds_and_tokens import SEED_LIFE, TOKEN_LIFE, SeedRefused, SupplierSessions
from fe.store.postgres.db import Database
from tests.factories.certificates import HOLDER_ID, WITHIN, make_credential, make_root
from tests.factories.tenants import rows
from tests.receiving.supplier import BASE, KEYS, OURS, TRUST, Running, document, read, sign, start_reception

SEED, TOKEN = f"{BASE}/autenticacion/api/semilla", f"{BASE}/autenticacion/api/validacioncertificado"
AUDIENCE = f"testecf/{OURS}"


@pytest.fixture
async def guarded(nursery: trio.Nursery, db: Database, reception_db: Database) -> Running:
    return await start_reception(nursery, db, reception_db, demands_token=True)


async def seed(reception: Running) -> bytes:
    async with reception.client() as client:
        answer = await client.get(SEED)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/xml; charset=utf-8")
    return answer.content


async def token(reception: Running, **headers: str) -> httpx.Response:
    return await reception.post(TOKEN, sign(await seed(reception)), headers=headers)


async def test_a_signed_seed_opens_a_session_that_reception_takes(guarded: Running, db: Database) -> None:
    assert (await guarded.send(document())).status_code == 401

    granted = (await token(guarded)).json()

    assert set(granted) == {"token", "expira", "expedido"}
    assert (granted["expedido"], granted["expira"]) == ("2026-11-06T14:15:30Z", "2026-11-06T14:25:30Z")
    answer = await guarded.send(document(), headers={"Authorization": f"bearer {granted['token']}"})
    assert read(answer).state == "0"
    (row,) = await rows(db, "SELECT presenter, signer FROM acknowledgements")
    assert (row["presenter"], row["signer"]) == (HOLDER_ID, HOLDER_ID)


async def test_the_answer_is_xml_where_that_is_asked_for(guarded: Running) -> None:
    answer = await token(guarded, accept="application/xml")

    root = parse_xml(answer.content)
    assert [child.tag for child in root] == ["token", "expira", "expedido"]
    assert root.tag == "RespuestaAutenticacion"


async def test_a_seed_is_used_once(guarded: Running) -> None:
    signed = sign(await seed(guarded))
    assert (await guarded.post(TOKEN, signed)).status_code == 200

    again = await guarded.post(TOKEN, signed)

    assert (again.status_code, again.json()["message"]) == (400, "the seed was used before: ask for another one")


async def test_asking_for_seeds_leaves_no_trace_and_each_is_another(guarded: Running, db: Database) -> None:
    seeds = {await seed(guarded) for _ in range(20)}

    assert len(seeds) == 20
    assert await rows(db, "SELECT 1 FROM spent_seeds") == []


async def test_invalid_token_is_ignored_without_authentication(reception: Running) -> None:
    assert read(await reception.send(document(), headers={"Authorization": "Bearer nonsense"})).state == "0"


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer x.y.z", "Basic abc", "Bearer " + "a" * 5000])
async def test_required_token_cannot_be_replaced(guarded: Running, authorization: str) -> None:
    answer = await guarded.send(document(), headers={"Authorization": authorization})

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


SESSIONS = SupplierSessions(KEYS)


def test_a_token_is_good_for_one_receiver_and_a_short_time() -> None:
    granted = SESSIONS.grant(AUDIENCE, "1", WITHIN).text

    assert SESSIONS.holder_of(granted, AUDIENCE, WITHIN) == "1"
    assert SESSIONS.holder_of(granted, AUDIENCE, WITHIN + TOKEN_LIFE - timedelta(seconds=1)) == "1"
    assert SESSIONS.holder_of(granted, AUDIENCE, WITHIN + TOKEN_LIFE + timedelta(seconds=1)) is None
    assert SESSIONS.holder_of(granted, f"ecf/{OURS}", WITHIN) is None
    assert SESSIONS.holder_of(granted, "testecf/131880738", WITHIN) is None


def test_keys_are_changed_with_overlap_and_not_without() -> None:
    (name, key), *_ = KEYS.items()
    later = SupplierSessions({"new": b"\x07" * 32, name: key})
    granted = SESSIONS.grant(AUDIENCE, "1", WITHIN).text
    signed = sign(SESSIONS.new_seed(AUDIENCE, WITHIN))

    assert later.holder_of(granted, AUDIENCE, WITHIN) == "1"
    assert later.read_seed(signed, AUDIENCE, TRUST, WITHIN).holder == HOLDER_ID
    strangers = SupplierSessions({"new": b"\x07" * 32})
    assert strangers.holder_of(granted, AUDIENCE, WITHIN) is None
    with pytest.raises(SeedRefused, match="none of ours"):
        strangers.read_seed(signed, AUDIENCE, TRUST, WITHIN)


def with_value(change: str) -> bytes:
    root = parse_xml(SESSIONS.new_seed(AUDIENCE, WITHIN))
    value = root.find("valor")
    assert value is not None
    value.text = change
    return sign(root)


@pytest.mark.parametrize(
    ("raw", "audience", "at", "says"),
    [
        (sign(SESSIONS.new_seed(AUDIENCE, WITHIN)), AUDIENCE, WITHIN + SEED_LIFE, "expired"),
        (sign(SESSIONS.new_seed(AUDIENCE, WITHIN)), AUDIENCE, WITHIN - timedelta(minutes=2), "expired"),
        (sign(SESSIONS.new_seed(AUDIENCE, WITHIN)), f"ecf/{OURS}", WITHIN, "none of ours"),
        (with_value("AAAA"), AUDIENCE, WITHIN, "none of ours"),
        (with_value("not base64!"), AUDIENCE, WITHIN, "none of ours"),
        (with_value(""), AUDIENCE, WITHIN, "none of ours"),
        (SESSIONS.new_seed(AUDIENCE, WITHIN), AUDIENCE, WITHIN, "no Signature"),
        (document(), AUDIENCE, WITHIN, "SemillaModel"),
        (
            sign(SESSIONS.new_seed(AUDIENCE, WITHIN), make_credential(issuer=make_root("OTRA RAIZ"))),
            AUDIENCE,
            WITHIN,
            "trusted certifier",
        ),
        (sign(SESSIONS.new_seed(AUDIENCE, WITHIN), make_credential(holder_id="")), AUDIENCE, WITHIN, "whose it is"),
    ],
)
def test_a_seed_that_is_not_ours_or_not_of_now_or_not_rightly_signed(
    raw: bytes, audience: str, at: datetime, says: str
) -> None:
    with pytest.raises(SeedRefused, match=says):
        SESSIONS.read_seed(raw, audience, TRUST, at)


def test_a_seed_is_signed_as_it_travels_indented() -> None:
    indented = SESSIONS.new_seed(AUDIENCE, WITHIN)
    assert b"\n  <valor>" in indented

    assert SESSIONS.read_seed(sign(etree.fromstring(indented)), AUDIENCE, TRUST, WITHIN).expires == WITHIN + SEED_LIFE
