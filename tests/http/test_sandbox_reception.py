"""Answers that the simulator gets from another server than our reception: a proxy, or another installation."""

import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.egress.client import Egress
from fe.egress.target import CONFIGURED
from fe.http.simulator import ReceptionAnswer, Simulator
from fe.store.postgres.db import Database
from tests.http.front import Key, start_front


@pytest.mark.parametrize("heard", ["<html><body>Welcome", "", "<ARECF/>"])
async def test_acknowledgement_that_is_not_ours_is_said_to_be_away(
    front_db: Database, nursery: trio.Nursery, key: Key, heard: str
) -> None:
    class Elsewhere(Simulator):
        async def send_receipt(self, environment: Environment, rnc: str, e_ncf: str) -> tuple[str, ReceptionAnswer]:
            return "131880665", ReceptionAnswer(200, heard)

    nowhere = Elsewhere("http://127.0.0.1:1", "http://127.0.0.1:1", Egress(CONFIGURED))
    front = await start_front(nursery, front_db, simulator=nowhere, authority_simulated=True)
    async with front.client(await front.token(key)) as api:
        answer = await api.post("/sandbox/receipts")

    assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "5"), answer.text
