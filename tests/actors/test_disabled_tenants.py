"""Documents submitted before their tenant was disabled are signed, sent and judged."""

import pytest

from fe.authority.estado import Estado
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from tests.actors.authority import receipt, verdict
from tests.actors.road import make_road
from tests.factories.operators import disable
from tests.factories.tenants import claim_all, make_submission


@pytest.mark.usefixtures("lawful")
async def test_what_was_acknowledged_before_is_signed_sent_and_judged(db: Database) -> None:
    road = await make_road(db, submits=[receipt()], results={"track-1": verdict(Estado.ACCEPTED, used=True)})
    signed, sent = await road.make(Stage.SEND), await road.make(Stage.TRACK)
    unsigned = await make_submission(db, road.tenant)

    await disable(db, road.tenant)

    assert [work.subject for work in await claim_all(db, Stage.SIGN, [road.tenant])] == [unsigned]
    for subject in (signed, sent):
        assert (await road.steps(subject))[-1] == "Aceptado"
        assert await road.status(subject) == ("Aceptado", "used")
