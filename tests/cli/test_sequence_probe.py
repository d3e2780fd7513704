"""`fe sequence probe`: after a failover the authority has numbers that the database would give again."""

from datetime import UTC, datetime

import httpx
import pytest
import trio

from fe.authority.client import Authority, Outgoing
from fe.authority.hosts import Hosts
from fe.ecf.catalogue import Environment, Service
from fe.identifiers import CertificateId
from fe.store.postgres.db import Database
from tests.authority.scripted import PATIENT, Owner
from tests.cli.running import Ended, Fe
from tests.cli.test_asking import certificate
from tests.factories.tenants import rows
from tests.simulator.conftest import http, start
from tests.simulator.support import ISSUER, Running, Start, ecf, number, sign, signer

__all__ = ["certificate", "http", "start"]

TEST = Environment.TESTECF
PROBE = ("sequence", "probe", "--unknown", "3", "--rate", "50", "--json")


@pytest.fixture
async def simulator(start: Start) -> Running:
    return await start(summary_port=0)


@pytest.fixture
async def lost(fe: Fe, certificate: CertificateId, simulator: Running, http: httpx.AsyncClient) -> None:
    """A sequence whose next number is 2; the authority has 2, 3 and 5, of which the database knows nothing."""
    made = fe("sequence", "put", "E31", "--tenant", "Ozama", "--environment", TEST, "--to", "100")
    assert made.code == 0, made
    assert fe("sequence", "set", "E31", "--tenant", "Ozama", "--environment", TEST, "--next", "2").code == 0
    client = Authority(Hosts(simulator.at.ecf, simulator.at.fc), clock=lambda: datetime.now(UTC), timeouts=PATIENT)
    for sequence in (2, 3, 5):
        outgoing = Outgoing(TEST, Service.RECEPTION, f"{ISSUER}{number(31, sequence)}.xml", sign(ecf(sequence)))
        await client.submit(outgoing, Owner("me", signer()))
    client.close()


async def probe(fe: Fe, simulator: Running, *more: str, **settings: str) -> Ended:
    at = {"authority_ecf_url": simulator.at.ecf, "authority_fc_url": simulator.at.fc} | settings
    return await trio.to_thread.run_sync(lambda: fe(*PROBE, *more, **at))


async def test_probe_proposes_the_number_past_the_last_known_and_changes_nothing(
    db: Database, fe: Fe, simulator: Running, lost: None
) -> None:
    (found,) = (await probe(fe, simulator)).json

    assert (found["tenant"], found["prefix"], found["next"], found["asked"]) == ("Ozama", "E31", "2", 7)
    assert found["known"] == [number(31, 2), number(31, 3), number(31, 5)]
    assert (found["proposedNext"], found["says"]) == ("6", "behind: the authority has 3 from here on")
    assert await rows(db, "SELECT current_number FROM sequences") == [{"current_number": 2}]


async def test_probe_with_apply_sets_the_next_number_and_resumes(
    db: Database, fe: Fe, simulator: Running, lost: None
) -> None:
    await rows(db, "UPDATE sequences SET paused_at = now(), paused_for = 'E310000000002'")

    (found,) = (await probe(fe, simulator, "--apply")).json
    (again,) = (await probe(fe, simulator, "--tenant", "Ozama", "--environment", TEST)).json

    assert found["says"] == "set to 6"
    assert (again["next"], again["paused"], again["says"]) == ("6", False, "as it should be")


async def test_probe_without_an_answer_proposes_nothing(db: Database, fe: Fe, simulator: Running, lost: None) -> None:
    (found,) = (await probe(fe, simulator, "--apply", authority_ecf_url="http://127.0.0.1:1")).json

    assert (found["asked"], found["proposedNext"]) == (0, None)
    assert found["says"].startswith("no answer: ")


async def test_probe_that_reaches_its_limit_proposes_nothing(fe: Fe, simulator: Running, lost: None) -> None:
    (found,) = (await probe(fe, simulator, "--limit", "2")).json

    assert (found["asked"], found["proposedNext"]) == (2, None)
    assert found["says"] == "not done: 2 numbers asked, raise --limit"


@pytest.mark.usefixtures("certificate")
async def test_resume_of_a_sequence_that_is_not_paused_is_refused(db: Database, fe: Fe) -> None:
    of = ("E31", "--tenant", "Ozama", "--environment", TEST)
    assert fe("sequence", "put", *of).code == 0
    assert fe.refused("sequence", "resume", *of).endswith("is not paused")

    await rows(db, "UPDATE sequences SET paused_at = now(), paused_for = 'E310000000001'")
    assert fe("sequence", "list", *of[1:], "--json").json[0]["pausedFor"] == "E310000000001"
    assert fe("sequence", "resume", *of, "--json").json["pausedAt"] is None
