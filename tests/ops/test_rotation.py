"""Rotation of secrets as in ops/runbooks/rotate-secrets.md, process by process, without a refused request.

At any time some processes have the list of one step and the others the list of the next.
"""

import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise

import pytest
import trio

from fe.clock import system_clock
from fe.config import load_settings, named_keys
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.portal.serve import build_portal
from fe.portal.session import form_proof, is_proof
from fe.receiving.seeds_and_tokens import SupplierSessions, derive_keys
from fe.secrets.vault import Belongs, Vault
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import FRONT, PORTAL
from fe.store.queue.wakeups import Wakeups
from fe.store.records.throttle import AttemptLimits
from tests.http.front import PEPPER, make_key, make_tenant, start_front
from tests.ops.material import RUNBOOKS

OLD, NEW = PEPPER.hex(), (b"n" * 31 + b"!").hex()
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
PAGE = (RUNBOOKS / "rotate-secrets.md").read_text(encoding="utf-8")

#: A key logs in more often here than a real program does in a minute.
MANY = AttemptLimits(key=100)

Keys = Mapping[str, bytes]


def keys_of(written: str) -> Keys:
    """The keys of a list as the page writes it."""
    return named_keys(written.replace("old:HEX", f"old:{OLD}").replace("new:HEX", f"new:{NEW}"))


#: The lists of the page's steps, in their order, from the one that is there before.
STEPS = [keys_of("old:HEX"), *map(keys_of, dict.fromkeys(re.findall(r"`((?:(?:old|new):HEX,?)+)`", PAGE)))]
#: Two processes in the middle of a step: one was restarted with its list, the other was not.
SIDE_BY_SIDE = list(pairwise(STEPS))


@pytest.fixture
async def front_db(dsn: str) -> AsyncIterator[Database]:
    async with open_database(dsn, role=FRONT) as opened:
        yield opened


def test_the_steps_end_with_the_new_one_alone() -> None:
    assert [list(keys) for keys in STEPS] == [["old"], ["old", "new"], ["new", "old"], ["new"]]


async def test_tokens_are_taken_by_every_front(db: Database, front_db: Database, nursery: trio.Nursery) -> None:
    tenant = await make_tenant(db)
    for step in SIDE_BY_SIDE:
        key = await make_key(db, tenant)
        fronts = [await start_front(nursery, front_db, jwt_keys=dict(keys)) for keys in step]
        for one in fronts:
            token = await one.token(key)
            for other in fronts:
                async with other.client(token) as client:
                    assert (await client.get("/ncf")).status_code == 200, (list(step[0]), list(step[1]))


async def test_a_key_logs_in_at_every_front_whichever_it_came_to_before(
    db: Database, front_db: Database, nursery: trio.Nursery
) -> None:
    """Where it logs in its hash moves to what is first there."""
    key = await make_key(db, await make_tenant(db), pepper_id="old")
    for step in SIDE_BY_SIDE:
        for keys in (*step, *step):
            front = await start_front(nursery, front_db, peppers=keys, attempt_limits=MANY)
            await front.token(key)


def test_what_one_encrypts_the_others_open() -> None:
    belongs = Belongs(TenantId(1), "1", "p12")
    kept = Vault(STEPS[0]).encrypt(b"secret", belongs)
    for step in SIDE_BY_SIDE:
        if step[1] == STEPS[-1]:
            kept = Vault(step[0]).rewrap(kept, belongs)  # the page has that done before the old one is taken out
        for one in map(Vault, step):
            for other in map(Vault, step):
                assert other.decrypt(one.encrypt(b"secret", belongs), belongs) == b"secret"
            assert one.decrypt(kept, belongs) == b"secret"


def test_a_supplier_s_token_is_taken_by_every_process_of_reception() -> None:
    for step in SIDE_BY_SIDE:
        sessions = [SupplierSessions(derive_keys(Vault(keys).roots(b"sessions"))) for keys in step]
        for one in sessions:
            token = one.grant("131880738", "101000001", NOW).text
            assert [other.holder_of(token, "131880738", NOW) for other in sessions] == ["101000001"] * 2


async def test_a_form_that_one_portal_has_made_is_taken_by_the_others(db: Database) -> None:
    """The form may be a receipt that a person has typed for minutes."""
    settings = load_settings(development=True)
    for step in SIDE_BY_SIDE:
        portals = [
            build_portal(settings, {PORTAL: db}, Vault(keys), Wakeups(db), system_clock, Metrics()) for keys in step
        ]
        for one in portals:
            proof = form_proof(one.form_keys[0], "a browser's token")
            assert [is_proof(other.form_keys, "a browser's token", proof) for other in portals] == [True, True]
            assert not is_proof(one.form_keys, "another's", proof)
