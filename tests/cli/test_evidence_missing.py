"""`fe evidence missing`: what logs and clients know, and the database lost."""

import json
from uuid import uuid4

from fe.store.postgres.db import Database
from tests.cli.running import Fe
from tests.factories.tenants import make_submission, make_tenant, row


async def test_missing_lists_what_the_log_names_and_the_database_lacks(db: Database, fe: Fe) -> None:
    kept, lost = str(await make_submission(db, await make_tenant(db))), str(uuid4())
    log = fe.folder / "fe.log"
    lines = [
        {"event": "serving", "role": "actors"},
        {"event": "a submission was accepted", "submission": kept, "tenant_id": 1, "timestamp": "2026-11-26T14:00:00Z"},
        {"event": "a submission was accepted", "submission": lost, "tenant_id": 1, "timestamp": "2026-11-26T14:00:01Z"},
        {"event": "a submission was sent", "submission": lost, "track_id": "t-1", "timestamp": "2026-11-26T14:00:02Z"},
    ]
    # As journald and containers write them: something before each line, and lines that are none of ours.
    log.write_text("not json\n" + "".join(f"Nov 26 node7 fe[1]: {json.dumps(line)}\n" for line in lines) + "{cut off")

    found = fe("evidence", "missing", "--from-log", str(log), "--json")

    assert found.json == [
        {
            "taxLogId": lost,
            "eNCF": None,
            "source": "fe.log",
            "event": "a submission was sent",
            "at": "2026-11-26T14:00:02Z",
            "trackId": "t-1",
            "tenantId": "1",
            "environment": None,
        }
    ]
    assert found.err == "2 looked for, 1 missing\n"


async def test_missing_looks_for_the_ids_and_numbers_of_a_clients_list(db: Database, fe: Fe) -> None:
    tenant = await make_tenant(db)
    kept, lost = str(await make_submission(db, tenant, e_ncf="E310000000001")), str(uuid4())
    name = (await row(db, "SELECT name FROM tenants"))["name"]
    ids = fe.folder / "client.csv"
    ids.write_text(f"taxLogId;eNCF\n{kept.upper()};E310000000001\n{lost};E310000000044\n")

    found = fe("evidence", "missing", "--ids", str(ids), "--tenant", name, "--json").json

    assert {one["taxLogId"] or one["eNCF"] for one in found} == {lost, "E310000000044"}
    assert "say whose they are with --tenant" in fe.refused("evidence", "missing", "--ids", str(ids))
    assert "give --from-log, --ids, or both" in fe.refused("evidence", "missing", code=2)
