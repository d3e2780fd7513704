"""`fe recurring` against a scripted API."""

from pathlib import Path

from tests.cli.in_process import FeHere
from tests.cli.integrator.scripted import Said, scripted, token
from tests.cli.integrator.test_catalogue import keep

ONE = {"id": "rent", "name": "Alquiler", "turns": []}


def test_recurring_receipt_is_written_listed_decided_and_deleted(here: FeHere, tmp_path: Path) -> None:
    file = tmp_path / "rent.json"
    file.write_text('{"name": "Alquiler", "day": 1}', encoding="utf-8")
    pages = [Said(200, {"limit": 200, "items": [ONE], "nextCursor": cursor}) for cursor in ("rent", None)]
    with scripted(token(), Said(200, ONE), *pages, *[Said(200, ONE)] * 3, Said(200, {"ok": True})) as server:
        keep(server)
        made = here.json("recurring", "put", "rent", str(file))
        listed = here.json("recurring", "list")
        shown = here.json("recurring", "show", "rent")
        here("recurring", "issue", "rent", "2026-12")
        here("recurring", "skip", "rent", "2027-01")
        here("recurring", "delete", "rent")
    file.write_text("{", encoding="utf-8")
    refused = here.refused("recurring", "put", "rent", str(file))

    assert (made, listed, shown) == (ONE, [ONE, ONE], ONE)
    assert "rent.json" in refused
    assert [call.partition("/fe")[2] for call in server.calls[1:]] == [
        "/recurring/rent",
        "/recurring?limit=200",
        "/recurring?limit=200&cursor=rent",
        "/recurring/rent",
        "/recurring/rent/turns/2026-12",
        "/recurring/rent/turns/2027-01",
        "/recurring/rent",
    ]
    assert [one.body for one in server.heard[5:7]] == [{"action": "issue"}, {"action": "skip"}]
